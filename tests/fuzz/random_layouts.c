#include "random_layouts.h"

#include <string.h>

static const int64_t interesting[] = {1,  2,  3,  4,  7,  8,   15,  16,  17,  31,
                                      32, 33, 63, 64, 65, 100, 255, 256, 257, 1000};
enum { INTERESTING = sizeof interesting / sizeof interesting[0] };

static void shuffle(int *order, int count, dice *d)
{
    for (int k = 0; k < count; ++k)
        order[k] = k;
    for (int k = count; k-- > 1;) {
        int other = (int)dice_between(d, 0, k), swapped = order[k];
        order[k] = order[other];
        order[other] = swapped;
    }
}

/* Ways to draw extents. */
typedef enum extents { EXTENTS_ANY, EXTENTS_ROUND, EXTENTS_MIDDLING } extents;

static int64_t random_extent(dice *d, int64_t capacity, extents how)
{
    static const int64_t rounds[] = {8, 16, 24, 32, 48, 64, 80, 96, 128};
    int64_t extent = capacity;
    if (how == EXTENTS_MIDDLING && capacity >= 8)
        return dice_between(d, 8, capacity < 90 ? capacity : 90);
    do {
        if (capacity < 8 || how != EXTENTS_ROUND)
            extent = interesting[dice_between(d, 0, INTERESTING - 1)];
        else
            extent = rounds[dice_between(d, 0, sizeof rounds / sizeof rounds[0] - 1)];
    } while (extent > capacity);
    return extent;
}

/* One axis takes what is left of large limits, so that they are reached. */
static void stretch(scenery *s, int64_t limit, dice *d)
{
    int64_t size = 1;
    int axis = (int)dice_between(d, 0, s->ndim - 1);
    for (int a = 0; a < s->ndim; ++a)
        size *= s->shape[a];
    int64_t factor = size > 0 ? limit / size : 0;
    if (factor > 1)
        s->shape[axis] *= dice_between(d, 1, factor);
}

enum { WORTH_BOXES = 60000 }; /* elements, for windows */

/* Channels, positions (rather often whole vectors) and up to two short axes, in any order. The channels of
 * the inputs are now and then others than those of the outputs. */
static void narrow_scenery(scenery *s, dice *d, int64_t limit)
{
    int order[MAX_AXES];
    int64_t shape[MAX_AXES];
    shape[0] = dice_one_in(d, 2) ? dice_between(d, 2, 4) : dice_between(d, 2, 16);
    s->ndim = (int)dice_between(d, 2, 4);
    dice own = {d->state ^ 0x5bd1e995}; /* cases without two stay what their numbers have made them */
    bool are_two = s->ndim > 2 && dice_one_in(&own, 4);
    if (are_two && limit < WORTH_BOXES)
        limit = WORTH_BOXES;
    int64_t capacity = limit / shape[0];
    for (int a = 2; a < s->ndim; ++a) {
        shape[a] = a == 2 && are_two ? dice_between(&own, 2, 16) : dice_between(d, 2, 4);
        capacity /= shape[a];
    }
    int64_t most = dice_one_in(d, 2) && capacity > 400 ? 400 : capacity;
    shape[1] = most > 32 ? dice_between(d, 32, most) : 32;
    if (dice_one_in(d, 2))
        shape[1] -= shape[1] % 16;
    shuffle(order, s->ndim, d);
    for (int a = 0; a < s->ndim; ++a)
        s->shape[order[a]] = shape[a];
    s->narrow = order[0];
    s->positions = order[1];
    s->positions_in = dice_one_in(d, 2);
    s->inputs_narrow = order[are_two ? 2 : 0];
}

/* One to three axes, rather often rows of whole vectors. */
static void long_rows(scenery *s, dice *d, int64_t limit)
{
    s->ndim = (int)dice_between(d, s->style == STYLE_SHIFTED ? 2 : 1, 3);
    for (int a = 0; a + 1 < s->ndim; ++a)
        s->shape[a] = dice_between(d, 1,
                                   s->ndim == 3        ? (dice_one_in(d, 2) ? 6 : 30)
                                   : dice_one_in(d, 4) ? 300
                                                       : 40);
    int64_t most = limit / 200 > 300 ? 300 : limit / 200 > 8 ? limit / 200 : 8;
    s->shape[s->ndim - 1] = dice_between(d, 1, most) * (dice_one_in(d, 6) ? 1 : dice_one_in(d, 3) ? 4 : 16);
    if (s->style == STYLE_SHIFTED && dice_one_in(d, 3)) { /* long ones of no whole vectors */
        s->shape[0] = dice_between(d, 1, 40);
        s->shape[s->ndim - 1] = dice_between(d, 90, 1100);
    }
    if (s->style == STYLE_SHIFTED && s->ndim == 3 && dice_one_in(d, 2)) { /* long enough for a block's loop */
        s->shape[0] = dice_between(d, 4, 24);
        s->shape[1] = dice_between(d, 12, 40);
        s->shape[2] = 16 * dice_between(d, 3, 12);
    }
    if (s->style == STYLE_BROAD && s->ndim > 1)
        stretch(s, limit, d);
}

/* Squares, a few above each other; rather often whole vectors. */
static void square(scenery *s, dice *d, int64_t limit)
{
    s->ndim = (int)dice_between(d, 2, 3);
    s->shape[0] = s->ndim == 3 ? dice_between(d, 1, 3) : 1;
    int64_t side = 1;
    while ((side + 1) * (side + 1) * s->shape[0] <= limit)
        ++side;
    side -= dice_one_in(d, 4) ? 0 : side % 4;
    s->shape[s->ndim - 2] = s->shape[s->ndim - 1] = side > 1 ? side : 2;
}

void random_scenery(scenery *s, style how, dice *d, int64_t limit)
{
    memset(s, 0, sizeof *s);
    s->style = how;
    if (how == STYLE_NARROW) {
        narrow_scenery(s, d, limit);
        return;
    }
    if (how == STYLE_MIRRORED) {
        square(s, d, limit);
        return;
    }
    if (how == STYLE_WOVEN || how == STYLE_SHIFTED || how == STYLE_BROAD) {
        long_rows(s, d, limit);
        return;
    }
    s->ndim = (int)(dice_one_in(d, 3) ? dice_between(d, 0, MAX_AXES) : dice_between(d, 1, 4));
    /* Whole vectors along every axis, which transposes through shared memory ask for. */
    bool round = (how == STYLE_TURNED || how == STYLE_OUTER) && !dice_one_in(d, 3);
    /* Large ones are wanted for the rows that begin anywhere. */
    bool middling = how == STYLE_TURNED && limit > 100000 && !round;
    extents drawn = round ? EXTENTS_ROUND : middling ? EXTENTS_MIDDLING : EXTENTS_ANY;
    int64_t capacity = limit;
    for (int a = 0; a < s->ndim; ++a) {
        s->shape[a] = random_extent(d, capacity, drawn);
        capacity /= s->shape[a];
    }
    int order[MAX_AXES];
    int64_t shape[MAX_AXES];
    shuffle(order, s->ndim, d); /* the first axes drawn are the longest */
    for (int a = 0; a < s->ndim; ++a)
        shape[a] = s->shape[order[a]];
    memcpy(s->shape, shape, (size_t)s->ndim * sizeof *shape);
    if (s->ndim > 0 && (!round || limit > 4000000) && (limit > 100000 || dice_one_in(d, 4)))
        stretch(s, limit, d);
    if (s->ndim > 0 && dice_one_in(d, 40))
        s->shape[dice_between(d, 0, s->ndim - 1)] = 0;
    shuffle(s->order, s->ndim, d);
}

/* ---- places ---- */

static void random_order(place *p, const scenery *s, dice *d)
{
    if (s->style == STYLE_ORDERED) { /* the axes of the scenery that this operand has */
        int to = 0;
        for (int a = 0; a < s->ndim; ++a)
            if (s->order[a] >= s->ndim - p->ndim)
                p->layout.order[to++] = s->order[a] - (s->ndim - p->ndim);
    } else if (s->style != STYLE_PLAIN && s->style != STYLE_OUTER) {
        shuffle(p->layout.order, p->ndim, d);
    }
}

static void drop_axes(place *p, const scenery *s, dice *d)
{
    if (s->style == STYLE_TURNED || s->ndim == 0 || !dice_one_in(d, 5))
        return;
    int dropped = (int)dice_between(d, 1, s->ndim);
    p->ndim -= dropped;
    memmove(p->shape, p->shape + dropped, (size_t)p->ndim * sizeof *p->shape);
}

/* All axes but one or two are one long. */
static void keep_few_axes(place *p, dice *d)
{
    int64_t keep = p->ndim > 0 ? dice_between(d, 0, p->ndim - 1) : 0,
            other = p->ndim > 0 ? dice_between(d, 0, p->ndim - 1) : 0;
    for (int a = 0; a < p->ndim; ++a)
        if (a != keep && a != other)
            p->shape[a] = 1;
}

/* Extents of one, and strides of zero, both of which broadcast. */
static void broadcast_axes(place *p, dice *d)
{
    for (int a = 0; a < p->ndim; ++a) {
        if (!dice_one_in(d, 5))
            continue;
        if (dice_one_in(d, 2))
            p->shape[a] = 1;
        else
            p->layout.broadcast[a] = true;
    }
}

static void step_and_reverse(place *p, dice *d)
{
    int steps = 2; /* each multiplies the memory that is needed */
    for (int a = 0; a < p->ndim; ++a) {
        p->layout.reversed[a] = dice_one_in(d, 5);
        if (steps > 0 && dice_one_in(d, 6)) {
            p->layout.step[a] = (int)dice_between(d, 2, 3);
            --steps;
        }
    }
}

/* Interleaved or planar, with any alignment; some inputs have only the channels, or only the positions. */
static void narrow_place(place *p, const scenery *s, bool is_output, dice *d)
{
    int to = 0;
    int narrow = is_output ? s->narrow : s->inputs_narrow;
    bool are_interleaved = s->inputs_narrow != s->narrow || s->positions_in != is_output,
         is_interleaved = dice_one_in(d, 5) != are_interleaved, is_apart = dice_one_in(d, 2);
    if (!is_interleaved && !is_apart)
        p->layout.order[to++] = narrow;
    for (int a = 0; a < s->ndim; ++a)
        if (a != narrow && a != s->positions)
            p->layout.order[to++] = a;
    if (!is_interleaved && is_apart)
        p->layout.order[to++] = narrow;
    p->layout.order[to++] = s->positions;
    if (is_interleaved)
        p->layout.order[to++] = narrow;
    if (!is_output && dice_one_in(d, 4))
        for (int a = 0; a < s->ndim; ++a)
            p->shape[a] = a == s->narrow ? p->shape[a] : 1;
    else if (!is_output && dice_one_in(d, 6))
        p->shape[s->narrow] = 1;
    else if (!is_output && dice_one_in(d, 6))
        p->shape[s->positions] = 1;
    if (dice_one_in(d, 8))
        p->layout.reversed[dice_between(d, 0, s->ndim - 1)] = true;
    if (dice_one_in(d, 8))
        p->layout.step[dice_between(d, 0, s->ndim - 1)] = (int)dice_between(d, 2, 3);
    p->layout.shift = dice_one_in(d, 3) ? dice_between(d, 1, 17) : 0;
}

/* Rows, of which each may begin a few elements behind the one before. */
static void output_bound_place(place *p, bool is_output, dice *d)
{
    int last = p->ndim - 1;
    if (!is_output && dice_one_in(d, 2))
        keep_few_axes(p, d);
    else if (!is_output && last > 0 && dice_one_in(d, 2))
        p->layout.pad = dice_between(d, 1, 8) - p->shape[last];
    else if (dice_one_in(d, 6))
        p->layout.pad = dice_between(d, 1, 16);
    if (!is_output && dice_one_in(d, 8))
        p->layout.broadcast[dice_between(d, 0, last)] = true;
    p->layout.shift = dice_one_in(d, 4) ? dice_between(d, 1, 17) : 0;
}

void random_place(place *p, const scenery *s, bool is_output, dice *d)
{
    memset(p, 0, sizeof *p);
    p->ndim = s->ndim;
    memcpy(p->shape, s->shape, sizeof p->shape);
    if (s->style == STYLE_NARROW) {
        layout_plain(&p->layout, p->ndim);
        narrow_place(p, s, is_output, d);
        return;
    }
    if (s->style == STYLE_BROAD) {
        layout_plain(&p->layout, p->ndim);
        output_bound_place(p, is_output, d);
        return;
    }
    if (s->style == STYLE_WOVEN || s->style == STYLE_SHIFTED || s->style == STYLE_MIRRORED) {
        layout_plain(&p->layout, p->ndim);
        if (!is_output && dice_one_in(d, 2))
            keep_few_axes(p, d);
        p->layout.shift = dice_one_in(d, 6) ? dice_between(d, 1, 17) : 0;
        return;
    }
    if (!is_output)
        drop_axes(p, s, d);
    layout_plain(&p->layout, p->ndim);
    random_order(p, s, d);
    if (!is_output && s->style == STYLE_OUTER)
        keep_few_axes(p, d);
    if (!is_output && (s->style == STYLE_ORDERED || s->style == STYLE_WILD))
        broadcast_axes(p, d);
    if (s->style == STYLE_WILD || (s->style == STYLE_ORDERED && dice_one_in(d, 3)))
        step_and_reverse(p, d);
    p->layout.shift = dice_one_in(d, s->style == STYLE_TURNED || s->style == STYLE_OUTER ? 10 : 4)
                          ? dice_between(d, 1, 17)
                          : 0;
}
