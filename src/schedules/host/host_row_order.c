/* host_row_order.c - the order of reductions of the host's row programs in their baseline tier: what
 * host_row.cpp does around its loops, which are the kernel's. */
#include "schedules/host/kind_host_row.h"

#include <stdbool.h>
#include <stddef.h>

#include "schedules/host/host_order.h"

enum {
    ACROSS = KN_HOST_ROW_ACROSS,
    SHORT = 8,  /* lanes for shorter rows; still shorter ones have one */
    SERIES = 64 /* turns of one series */
};

static unsigned char *value(const kn_host_row_loops *l, unsigned char *side, int k)
{
    return side + k * l->item_size;
}

/* to[k] from a[k] and b[k]; a NULL: a copy. */
static void both(const kn_host_row_loops *l, void *to, const void *a, const void *b, int count)
{
    kn_call call = {.loop = KN_HOST_ROW_BOTH, .to = to, .a = a, .b = b, .count = count};
    if (count > 0)
        l->run(l->of, &call);
}

/* to[k] from element first + k of the row at `from`, behind what is there in the first `with` lanes. */
static void lanes(const kn_host_row_loops *l, void *to, const long long *from, long long base,
                  long long first, int count, int with)
{
    kn_call call = {.loop = KN_HOST_ROW_LANES, .steps = with, .to = to, .place = from, .first = first};
    call.count = count;
    call.step = base;
    l->run(l->of, &call);
}

/* ---- one row of a lane or more ---- */

static void reduce_one_row(const kn_host_row_loops *l, long long length)
{
    int n = length >= ACROSS ? ACROSS : length >= SHORT ? SHORT : 1;
    unsigned char *near = l->side, *far = value(l, l->side, ACROSS);
    bool ends = false;
    for (long long first = 0, series = 0; !ends; ++series) {
        for (int turn = 0; turn < SERIES && first + n <= length; ++turn, first += n)
            lanes(l, near, l->here, 0, first, n, turn > 0 ? n : 0);
        int rest = (int)(length - first < n ? length - first : n);
        ends = rest < n;
        if (ends && rest > 0)
            lanes(l, value(l, near, n - rest), l->here, 0, first, rest, rest);
        if (series > 0)
            both(l, near, far, near, n);
        if (!ends)
            both(l, far, NULL, near, n);
    }
    for (int half = n / 2; half > 0; half /= 2)
        both(l, near, near, value(l, near, half), half);
    both(l, l->to, NULL, near, 1);
}

/* ---- several rows ---- */

/* Values of the lanes: of the last series, and of all series before it. */
typedef struct sides {
    unsigned char *near, *far;
    int in_near, in_far, turns; /* lanes that have a value; turns in the last series */
} sides;

static void end_series(const kn_host_row_loops *l, sides *s)
{
    int known = s->in_near < s->in_far ? s->in_near : s->in_far;
    both(l, s->far, s->far, s->near, known);
    both(l, value(l, s->far, known), NULL, value(l, s->near, known), s->in_near - known);
    s->in_far = s->in_near > s->in_far ? s->in_near : s->in_far;
    s->in_near = s->turns = 0;
}

static void reduce_row(const kn_host_row_loops *l, sides *s, const kn_host_place *from, long long base,
                       long long length)
{
    long long first = 0;
    for (; first + ACROSS <= length; first += ACROSS, ++s->turns, s->in_near = ACROSS) {
        if (s->turns == SERIES || (s->in_near > 0 && s->in_near < ACROSS))
            end_series(l, s);
        lanes(l, s->near, from->at, base, first, ACROSS, s->in_near);
    }
    int rest = (int)(length - first);
    if (rest > 0) {
        lanes(l, s->near, from->at, base, first, rest, s->in_near);
        ++s->turns;
    }
    s->in_near = rest > s->in_near ? rest : s->in_near;
    if (s->turns >= SERIES)
        end_series(l, s);
}

static void reduce_rows(const kn_host_row_loops *l, const kn_host_row_field *f)
{
    const kn_host_axes axes = {l->axis, l->operands};
    sides s = {l->side, value(l, l->side, ACROSS), 0, 0, 0};
    kn_host_place here = {{0}};
    for (int o = 0; o < l->operands; ++o)
        here.at[o] = l->here[o];
    for (long long r = 0; r < f->rows; ++r) {
        kn_host_place from = here;
        kn_host_move(&from, &axes, 1, f->reduction_rank, r);
        reduce_row(l, &s, &from, r * f->length, f->length);
    }
    if (s.in_near > 0)
        end_series(l, &s);
    for (int half = ACROSS / 2; half > 0; half /= 2)
        both(l, s.far, s.far, value(l, s.far, half), s.in_far - half < half ? s.in_far - half : half);
    both(l, l->to, NULL, s.far, s.in_far > 0);
}

void kn_host_row_in_order(const void *loops)
{
    const kn_host_row_loops *l = loops;
    const kn_host_row_field *f = l->field;
    if (f->rows == 1 && f->length > 0)
        reduce_one_row(l, f->length);
    else
        reduce_rows(l, f);
}
