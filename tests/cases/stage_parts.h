/* stage_parts.h - the inside of a stage, shared by the files that implement it. */
#ifndef CASES_STAGE_PARTS_H
#define CASES_STAGE_PARTS_H

#include "stage.h"

/* Device memory and three copies of it: as it was, as it should be, as it is. */
typedef struct buffer {
    size_t size;
    unsigned char *before, *expected, *after;
    kiln_array *array;
} buffer;

typedef struct operand {
    kiln_dtype dtype;
    bool is_output, is_scalar, is_fresh, is_raw;
    int ndim;
    int64_t shape[KILN_MAX_NDIM], stride[KILN_MAX_NDIM];
    int buffer; /* -1: none */
    int64_t at; /* bytes of the first element in the buffer */
    kiln_array *array;
    const void *scalar; /* what the expectation sees */
    unsigned char scalar_bytes[16];
} operand;

struct stage {
    kiln_kernel *kernel;
    bool owns_kernel, is_unfilled;
    dice dice;
    double tolerance;
    int n_in, n_out, n_operands, n_buffers;
    operand operand[STAGE_OPERANDS];
    buffer buffer[STAGE_OPERANDS];
    kiln_arg in[STAGE_OPERANDS];
    kiln_array *out[STAGE_OPERANDS];
    int ndim; /* of the broadcast shape */
    int64_t shape[KILN_MAX_NDIM];
};

int shape_from_text(int64_t *shape, const char *text);
void layout_from_text(layout *l, const char *text, int ndim);
void layout_strides(const layout *l, int ndim, const int64_t *shape, int64_t item_size, int64_t *strides);
void view_range(int ndim, const int64_t *shape, const int64_t *strides, int64_t item_size, int64_t *low,
                int64_t *high);

/* The operand that is output number j. */
operand *stage_output(stage *s, int j);
void stage_free_copies(buffer *b);
/* The broadcast shape of the inputs and the given outputs; `size` elements where every array is raw. */
void stage_broadcast(stage *s, int64_t size);
void stage_expect(stage *s, expectation expect);
bool stage_compare(stage *s);

#endif
