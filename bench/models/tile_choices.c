/* tile_choices.c - the sides of tiles that schedules/transpose/tile_sides.c chooses from. Its text is taken
 * in, so that what it knows of a tile is at hand; the library's own object is not linked then. */
#include "schedules/transpose/tile_sides.h"

#include "choices.h"

#define kn_tile_choose_sides model_choose_sides
#include "schedules/transpose/tile_sides.c" /* NOLINT(bugprone-suspicious-include) */
#undef kn_tile_choose_sides

#include <stdio.h>

enum { SAMPLES = 24, DRAWN = 2000, FEWEST = 16 /* threads */ };

typedef struct pair {
    kn_tile_side p, q;
    double cost;
} pair;

static pair listed[MAX_CHOICES];

static int by_cost(const void *left, const void *right)
{
    double a = ((const pair *)left)->cost, b = ((const pair *)right)->cost;
    return (a > b) - (a < b);
}

/* Columns: sides; of both runs, bytes and log2 of what they are aligned to; thousandths that tiles go over
 * the ends; tiles; the model's cost. */
static void add(sides *s, const char *tag, const pair *t)
{
    char text[MAX_TEXT];
    double covered = 1, tiles = (double)s->space->size;
    take(s, &t->p, &t->q);
    for (int a = 0; a < s->space->ndim; ++a)
        if (s->taken[a] > 0) {
            int64_t extent = s->space->extent[a], there = (extent + s->taken[a] - 1) / s->taken[a];
            covered *= (double)(there * s->taken[a]) / (double)extent;
            tiles *= (double)there / (double)extent;
        }
    run read = run_of(s, s->staged, s->q), written = run_of(s, s->result, s->p);
    snprintf(text, sizeof text, "%d,%d,%d,%d,%lld,%d,%lld,%d,%.0f,%.0f,%.5g", t->p.vectors, t->p.steps,
             t->q.vectors, t->q.steps, (long long)read.bytes, (int)log2((double)read.aligned),
             (long long)written.bytes, (int)log2((double)written.aligned), 1000 * (covered - 1), tiles,
             rate(s, &t->p, &t->q));
    int at = choice_add(tag, text);
    if (at >= 0)
        listed[at] = *t;
}

/* At least so many vectors along an axis, in whole groups of interleaved channels, cut off at the extent. */
static int whole_pixels(const sides *s, int axis, int64_t length)
{
    int64_t vectors = s->space->extent[axis] / s->vector, parts = axis == s->p ? s->p_parts : s->q_parts;
    return (int)kn_least(kn_divide_up(length, parts) * parts, vectors);
}

/* One size for all layouts. */
static void add_fixed(sides *s, int p, int q)
{
    pair t = {{whole_pixels(s, s->p, p), 1, s->p2}, {whole_pixels(s, s->q, q), 1, s->q2}, 0};
    char tag[32];
    snprintf(tag, sizeof tag, "fixed_%dx%d", p, q);
    if (t.p.vectors * t.q.vectors <= s->most)
        add(s, tag, &t);
}

/* A side of random size, denser where it is small: equal parts of the axis, steps along the second one. */
static kn_tile_side random_side(const sides *s, int axis, int second)
{
    int64_t vectors = s->space->extent[axis] / s->vector, steps = second < 0 ? 1 : s->space->extent[second];
    int64_t length = 1 + choice_roll(1 << choice_roll(7)), step = 1 + choice_roll(1 << choice_roll(5));
    length = length < vectors ? length : vectors;
    int64_t parts = kn_divide_up(vectors, length);
    return (kn_tile_side){whole_pixels(s, axis, kn_divide_up(vectors, parts)),
                          step < steps ? (int)step : (int)steps, second};
}

/* Lists the model's choice, sizes that are the same for all layouts, and samples, more of them where the
 * model sees low costs. */
static void list(sides *s, const kn_tile_params *chosen)
{
    static const int fixed[][2] = {{8, 8}, {16, 8}, {8, 16}, {16, 16}, {32, 8}, {8, 32}, {12, 12}};
    static pair pairs[DRAWN];
    choices.count = 0;
    choice_kind = "tile";
    add(s, "model", &(pair){chosen->p, chosen->q, 0});
    for (size_t k = 0; k < sizeof fixed / sizeof fixed[0]; ++k)
        add_fixed(s, fixed[k][0], fixed[k][1]);
    for (int n = 0; n < DRAWN;) {
        kn_tile_side p = random_side(s, s->p, s->p2), q = random_side(s, s->q, s->q2);
        int threads = threads_of(&p, &q);
        if (threads >= FEWEST && threads <= s->most)
            pairs[n++] = (pair){p, q, rate(s, &p, &q)};
    }
    qsort(pairs, DRAWN, sizeof *pairs, by_cost);
    for (int k = 0; k < SAMPLES; ++k)
        add(s, "", &pairs[(int)(DRAWN * pow((double)k / SAMPLES, 3))]);
}

void kn_tile_choose_sides(kn_tile_params *f, const kn_choice *choice, const char *access, int vector,
                          int staged_bytes)
{
    sides s = sides_of(choice, access, vector, f, staged_bytes);
    if (choice_wanted >= 0) {
        set_sides(f, &s, &listed[choice_wanted].p, &listed[choice_wanted].q);
        return;
    }
    model_choose_sides(f, choice, access, vector, staged_bytes);
    if (choice_wanted == LIST)
        list(&s, f);
}
