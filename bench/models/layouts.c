/* layouts.c - the layouts over which choices are measured. */
#include "layouts.h"

#include <string.h>

enum {
    BYTES = 256 << 20,      /* of an array, at least */
    SMALL_BYTES = 12 << 20, /* the same of the class "small" */
    MOST_ROUND = 32,        /* the extent that fills the array is a multiple of it, or one less; */
    LEAST_ROUND = 8         /* of this where the array would be twice as large */
};

#define ALL "1248g"
#define ORDERS(name, body, a, b, c, d)                                                                       \
    {name, body, ALL, 0, 5, {0, a, b, c, d}, {4, 3, 2, 1, 0}},                                               \
        {name, body, ALL, 0, 5, {0, a, b, c, d}, {4, 2, 0, 1, 3}},                                           \
        {name, body, ALL, 0, 5, {0, a, b, c, d}, {0, 4, 3, 2, 1}},                                           \
        {name, body, ALL, 0, 5, {0, a, b, c, d}, {3, 1, 4, 0, 2}},                                           \
        {name, body, ALL, 0, 5, {0, a, b, c, d}, {2, 1, 0, 4, 3}},                                           \
        {name, body, ALL, 0, 5, {0, a, b, c, d}, {1, 2, 3, 4, 0}},                                           \
        {name, body, ALL, 0, 5, {0, a, b, c, d}, {3, 4, 0, 1, 2}},                                           \
    {                                                                                                        \
        name, body, ALL, 0, 5, {0, a, b, c, d},                                                              \
        {                                                                                                    \
            0, 1, 2, 4, 3                                                                                    \
        }                                                                                                    \
    }
#define MATRIX(name, body, items, cut, a, b)                                                                 \
    {                                                                                                        \
        name, body, items, cut, 2, {a, b},                                                                   \
        {                                                                                                    \
            1, 0                                                                                             \
        }                                                                                                    \
    }
/* A narrow axis and two others, one of them 1,024 long. */
#define NARROW(items, a, n)                                                                                  \
    {"narrow", COPIED, items, 0, 3, {a, n, 1024}, {2, 0, 1}},                                                \
        {"narrow", COPIED, items, 0, 3, {n, a, 1024}, {2, 0, 1}},                                            \
        {"narrow", COPIED, items, 0, 3, {a, 1024, n}, {1, 2, 0}},                                            \
        {"narrow", COPIED, items, 0, 3, {n, a, 1024}, {0, 2, 1}},                                            \
        {"narrow", COPIED, items, 0, 3, {n, a, 1024}, {2, 1, 0}},                                            \
    {                                                                                                        \
        "narrow", COPIED, items, 0, 3, {a, n, 1024},                                                         \
        {                                                                                                    \
            1, 2, 0                                                                                          \
        }                                                                                                    \
    }
#define SMALL(name, a, b)                                                                                    \
    {                                                                                                        \
        name, COPIED, ALL, 0, 2, {a, b},                                                                     \
        {                                                                                                    \
            1, 0                                                                                             \
        }                                                                                                    \
    }
#define BATCH(name, body, items, cut, a, b)                                                                  \
    {                                                                                                        \
        name, body, items, cut, 3, {0, a, b},                                                                \
        {                                                                                                    \
            0, 2, 1                                                                                          \
        }                                                                                                    \
    }

const layout layouts[] = {
    ORDERS("orders", COPIED, 32, 48, 80, 96),
    MATRIX("matrices", COPIED, ALL, 0, 0, 32),
    MATRIX("matrices", COPIED, ALL, 0, 0, 48),
    MATRIX("matrices", COPIED, ALL, 0, 0, 112),
    MATRIX("matrices", COPIED, ALL, 0, 0, 1008),
    MATRIX("matrices", COPIED, ALL, 0, 0, 4096),
    MATRIX("matrices", COPIED, ALL, 0, 0, 16384),
    MATRIX("matrices", COPIED, ALL, 0, 32, 0),
    MATRIX("matrices", COPIED, ALL, 0, 112, 0),
    BATCH("batches", COPIED, ALL, 0, 32, 96),
    BATCH("batches", COPIED, ALL, 0, 48, 64),
    BATCH("batches", COPIED, ALL, 0, 80, 80),
    BATCH("batches", COPIED, ALL, 0, 16, 256),
    BATCH("batches", COPIED, ALL, 0, 256, 16),
    BATCH("batches", COPIED, ALL, 0, 192, 160),
    {"images", COPIED, ALL, 0, 4, {0, 256, 56, 56}, {0, 2, 3, 1}},
    {"images", COPIED, ALL, 0, 4, {0, 56, 56, 256}, {0, 3, 1, 2}},

    ORDERS("odd orders", COPIED, 23, 31, 39, 95),
    MATRIX("odd matrices", COPIED, ALL, 0, 0, 33),
    MATRIX("odd matrices", COPIED, ALL, 0, 0, 97),
    MATRIX("odd matrices", COPIED, ALL, 0, 0, 1001),
    MATRIX("odd matrices", COPIED, ALL, 0, 0, 5793),
    MATRIX("odd matrices", COPIED, ALL, 0, 33, 0),
    MATRIX("odd matrices", COPIED, ALL, 0, 101, 0),
    BATCH("odd batches", COPIED, ALL, 0, 31, 95),
    BATCH("odd batches", COPIED, ALL, 0, 47, 63),
    BATCH("odd batches", COPIED, ALL, 0, 15, 255),
    BATCH("odd batches", COPIED, ALL, 0, 255, 15),
    BATCH("odd batches", COPIED, ALL, 0, 191, 161),
    {"odd images", COPIED, ALL, 0, 4, {0, 255, 55, 55}, {0, 2, 3, 1}},
    {"odd images", COPIED, ALL, 0, 4, {0, 55, 55, 255}, {0, 3, 1, 2}},
    {"odd images", COPIED, ALL, 0, 4, {0, 3, 255, 255}, {0, 2, 3, 1}},
    MATRIX("shifted", COPIED, ALL, 1, 0, 1008),
    MATRIX("shifted", COPIED, ALL, 1, 0, 4096),
    BATCH("shifted", COPIED, ALL, 1, 80, 80),

    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 1024}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 2048}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 4095}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 8192}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 16383}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 2500}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 6000}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 2, {0, 12345}, {0, 1}},
    {"shared rows", SHARED_ROWS, "1248", 1, 3, {0, 100, 3000}, {0, 1, 2}},
    {"shared rows", SHARED_ROWS, "1248", 1, 3, {0, 512, 1024}, {0, 1, 2}},

    {"short rows", COPIED, ALL, 0, 3, {0, 96, 8}, {1, 0, 2}},
    {"short rows", COPIED, ALL, 0, 4, {0, 48, 80, 16}, {2, 1, 0, 3}},
    {"short rows", COPIED, ALL, 0, 4, {0, 30, 100, 24}, {2, 0, 1, 3}},
    {"short rows", COPIED, ALL, 0, 4, {0, 60, 40, 96}, {1, 2, 0, 3}},
    {"short rows", COPIED, ALL, 0, 5, {0, 32, 48, 80, 16}, {3, 2, 1, 0, 4}},
    {"short rows", COPIED, ALL, 0, 5, {0, 32, 48, 80, 16}, {2, 0, 3, 1, 4}},
    {"short rows", COPIED, ALL, 0, 4, {0, 56, 56, 32}, {0, 2, 1, 3}},
    {"short rows", COPIED, ALL, 0, 3, {0, 64, 64}, {1, 0, 2}},
    {"short rows", COPIED, ALL, 0, 4, {0, 100, 24, 48}, {2, 1, 0, 3}},

    SMALL("small", 0, 2048),
    SMALL("small", 0, 512),
    SMALL("small", 0, 96),
    SMALL("small", 48, 0),
    {"small", COPIED, ALL, 0, 3, {0, 48, 64}, {0, 2, 1}},
    {"small", COPIED, ALL, 0, 4, {0, 256, 56, 56}, {0, 2, 3, 1}},
    {"small", COPIED, ALL, 0, 3, {0, 47, 63}, {0, 2, 1}},
    {"small", COPIED, ALL, 0, 2, {0, 1001}, {1, 0}},

    MATRIX("beside", WITH_BESIDE, "124", 0, 0, 1008),
    MATRIX("beside", WITH_BESIDE, "124", 0, 0, 4096),
    BATCH("beside", WITH_BESIDE, "124", 0, 80, 80),
    BATCH("beside", WITH_BESIDE, "124", 0, 48, 64),
    MATRIX("odd beside", WITH_BESIDE, "124", 0, 0, 1001),
    MATRIX("odd beside", WITH_BESIDE, "124", 0, 0, 5793),
    BATCH("odd beside", WITH_BESIDE, "124", 0, 47, 63),
    BATCH("odd beside", WITH_BESIDE, "124", 0, 191, 161),

    MATRIX("pitches", COPIED, ALL, 0, 12000, 12000),
    MATRIX("pitches", COPIED, ALL, 0, 10000, 10000),
    MATRIX("pitches", COPIED, ALL, 0, 12064, 12064),
    MATRIX("pitches", COPIED, ALL, 0, 12032, 12064),
    MATRIX("pitches", COPIED, ALL, 0, 12064, 12032),
    MATRIX("pitches", COPIED, ALL, 0, 12016, 12016),
    MATRIX("pitches", COPIED, ALL, 0, 12288, 12032),
    MATRIX("pitches", COPIED, ALL, 0, 9080, 9080),
    {"pitches", COPIED, ALL, 0, 3, {0, 1024, 512}, {2, 0, 1}},
    NARROW(ALL, 0, 3),
    NARROW(ALL, 0, 5),
    NARROW(ALL, 0, 12),
    NARROW("124", 87376, 3),
    NARROW("124", 52432, 5),
    NARROW("124", 21840, 12),
    {"axes", COPIED, "1", 0, 5, {32, 48, 64, 80, 96}, {3, 1, 0, 4, 2}},
    {"axes", COPIED, "1", 0, 5, {32, 48, 64, 80, 96}, {3, 0, 1, 4, 2}},
    {"axes", COPIED, "1", 0, 5, {32, 48, 64, 80, 96}, {1, 4, 3, 2, 0}},
    {"axes", COPIED, "1", 0, 5, {32, 48, 64, 80, 96}, {2, 4, 3, 0, 1}},
    {"axes", COPIED, "1", 0, 5, {32, 48, 64, 80, 96}, {3, 0, 4, 1, 2}},
    {"axes", COPIED, "1", 0, 5, {32, 48, 64, 80, 96}, {3, 2, 4, 0, 1}},
    {"axes", COPIED, "1", 0, 5, {32, 48, 64, 80, 96}, {2, 0, 4, 1, 3}},
    {"axes", COPIED, "2", 0, 5, {16, 32, 64, 80, 96}, {4, 1, 2, 3, 0}},
    {"axes", COPIED, "2", 0, 5, {16, 32, 64, 80, 96}, {2, 4, 1, 3, 0}},
    {"axes", COPIED, "2", 0, 5, {16, 32, 64, 80, 96}, {3, 2, 0, 4, 1}},
    {"axes", COPIED, "2", 0, 5, {16, 32, 64, 80, 96}, {3, 0, 1, 4, 2}},
    {"axes", COPIED, "2", 0, 5, {16, 32, 64, 80, 96}, {2, 1, 4, 3, 0}},
    {"axes", COPIED, "2", 0, 5, {16, 32, 64, 80, 96}, {4, 3, 0, 2, 1}},
    {"axes", COPIED, "4", 0, 5, {16, 24, 64, 80, 96}, {3, 2, 0, 4, 1}},
    {"axes", COPIED, "4", 0, 5, {16, 24, 64, 80, 96}, {2, 3, 0, 4, 1}},
    {"axes", COPIED, "4", 0, 5, {16, 24, 64, 80, 96}, {0, 4, 2, 3, 1}},
    {"axes", COPIED, "4", 0, 5, {16, 24, 64, 80, 96}, {4, 0, 3, 2, 1}},
    {"axes", COPIED, "4", 0, 5, {16, 24, 64, 80, 96}, {3, 0, 4, 2, 1}},
    {"axes", COPIED, "4", 0, 5, {16, 24, 64, 80, 96}, {0, 2, 4, 3, 1}},
    {"axes", COPIED, "4", 0, 5, {16, 24, 64, 80, 96}, {1, 2, 4, 3, 0}},
    {"axes", COPIED, "8", 0, 5, {16, 24, 32, 80, 96}, {3, 2, 0, 4, 1}},
    {"axes", COPIED, "8", 0, 5, {16, 24, 32, 80, 96}, {0, 3, 2, 4, 1}},
    {"axes", COPIED, "8", 0, 5, {16, 24, 32, 80, 96}, {4, 0, 1, 2, 3}},
    {"axes", COPIED, "8", 0, 5, {16, 24, 32, 80, 96}, {0, 4, 1, 2, 3}},
    {"axes", COPIED, "8", 0, 5, {16, 24, 32, 80, 96}, {1, 0, 3, 4, 2}},
    {"axes", COPIED, "8", 0, 5, {16, 24, 32, 80, 96}, {0, 1, 4, 2, 3}},
    {"axes", COPIED, "8", 0, 5, {16, 24, 32, 80, 96}, {0, 1, 3, 4, 2}},
};
const int n_layouts = sizeof layouts / sizeof layouts[0];

bool layout_is_small(const layout *l)
{
    return strcmp(l->of_class, "small") == 0;
}

void layout_extents(int64_t *out, const layout *l, int item)
{
    int64_t others = 1, round = MOST_ROUND, bytes = layout_is_small(l) ? SMALL_BYTES : BYTES;
    bool is_odd = strncmp(l->of_class, "odd", 3) == 0;
    for (int a = 0; a < l->ndim; ++a)
        others *= l->extent[a] > 0 ? l->extent[a] : 1;
    while (round > LEAST_ROUND && others * item * round > 2 * bytes)
        round /= 2;
    int64_t filling = (bytes / item / others / round + 1) * round - is_odd;
    for (int a = 0; a < l->ndim; ++a)
        out[a] = l->extent[a] > 0 ? l->extent[a] : filling;
}
