/* random_layouts.h - random shapes and memory layouts, biased towards what schedules care about. */
#ifndef FUZZ_RANDOM_LAYOUTS_H
#define FUZZ_RANDOM_LAYOUTS_H

#include "stage.h"

enum { MAX_AXES = 8 };

/* The properties that all operands of a call share. */
typedef enum style {
    STYLE_PLAIN,   /* everything C-ordered, now and then at an offset */
    STYLE_ORDERED, /* one order for all, some axes broadcast, padded or at an offset */
    STYLE_TURNED,  /* inputs in orders of their own, nothing else: transposes */
    STYLE_OUTER,   /* inputs with an axis or two of their own: results are far larger */
    STYLE_WILD,    /* anything */
    STYLE_NARROW, /* an axis of 2 to 16 elements, innermost in some operands; others run along a longer one */
    STYLE_WOVEN,  /* two outputs of one array with step 2, and inputs likewise */
    STYLE_SHIFTED,  /* inputs that are one array at offsets of rows and elements */
    STYLE_BROAD,    /* rows that are broadcast, a few rows again and again, and windows that overlap */
    STYLE_MIRRORED, /* inputs that are one square array, the second with its last two axes exchanged */
    STYLE_COUNT
} style;

/* One call's places: the broadcast shape and how operands lie. */
typedef struct scenery {
    style style;
    int ndim;
    int64_t shape[MAX_AXES];
    int order[MAX_AXES];                  /* the order that STYLE_ORDERED shares */
    int narrow, inputs_narrow, positions; /* the axes of STYLE_NARROW */
    bool positions_in; /* the narrow axis is rather innermost in the inputs than in the outputs */
} scenery;

typedef struct place {
    int ndim;
    int64_t shape[MAX_AXES];
    layout layout;
} place;

/* At most `limit` elements. */
void random_scenery(scenery *out, style how, dice *d, int64_t limit);
/* An input that broadcasts to the scenery's shape, or an output of exactly that shape whose elements are
 * apart. */
void random_place(place *out, const scenery *s, bool is_output, dice *d);

#endif
