/* layouts.h - the layouts over which choices are measured. */
#ifndef BENCH_MODELS_LAYOUTS_H
#define BENCH_MODELS_LAYOUTS_H

#include <stdbool.h>
#include <stdint.h>

enum { LAYOUT_AXES = 5 };

/* The computation; y is the operand beside the transposed input. */
typedef enum layout_body { COPIED, SHARED_ROWS, WITH_BESIDE } layout_body;

typedef struct layout {
    const char *of_class;
    layout_body body;
    const char *items; /* bytes of an element: a letter each, '1' to '8', 'g' for 16 */
    int cut;           /* elements that are left out in front of each row of the input's memory */
    int ndim;
    int extent[LAYOUT_AXES]; /* of the input's memory, outermost first; 0: what fills the array */
    int axes[LAYOUT_AXES];   /* the result's, as axes of the input */
} layout;

extern const layout layouts[];
extern const int n_layouts;

/* Extents of the input's memory: at least 256 MB, several times the L2, or 12 MB, which stay in it. */
void layout_extents(int64_t *out, const layout *l, int item);
bool layout_is_small(const layout *l);

#endif
