/* kind_reduce_levels.c - the baseline tier of reductions: one small kernel for any layout, launched once
 * for each level of the tree by which the optimised kernel combines elements (levels.h). A thread combines
 * items one after the other, and nothing else: nested groups are launches of their own, so that the source
 * is short. */
#include "schedules/reduce/levels.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "schedule/choice.h"
#include "schedules/reduce/reduce_kinds.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"
#include "types/dtype.h"

enum { THREADS = 128, AXES = 4 /* of a level's outputs */, MOST_SETS = 65535, NO_LIMIT = 0x7fffffff };
/* Kernels combine larger structs a few at a time, as shared memory holds them: in another order. */
enum { LARGEST_VALUE = 128 /* bytes */ };
#define MOST_VALUES (INT64_C(1) << 28) /* in scratch memory */

/* The kind's field. extent: of the first two axes; in, place, out: an element or value, its place in its
 * row, and the output, at first and with each step along an axis; from item to item: step, place_step. group:
 * the most items of a thread; limit: places end there. */
#define MEMBERS                                                                                              \
    int item_rank;                                                                                           \
    unsigned extent[2], in[5], place[5], out[5], step, place_step, group, limit;                             \
    unsigned char is_first, is_last, are_near, levels_unused;
typedef struct levels_field {
    MEMBERS
} levels_field;

/* An axis of the outputs of a level. */
typedef struct level_axis {
    int64_t extent, in, place, out;
} level_axis;

/* One launch. Of the first level items are elements, else values. */
typedef struct level {
    bool is_first, is_last, are_near;
    int64_t in, place, out;   /* the first */
    int64_t step, place_step; /* from item to item */
    int64_t group, limit;     /* the most items of a thread; the first place at which there is none */
    level_axis thread, group_axis, set;
    int64_t in_result, out_result;
} level;

struct kn_levels {
    const kn_part *own; /* as the baseline tier has it */
    kn_part part; /* as the kind has it whose levels are listed; its space may be a part of own->space */
    kn_space *all, *results; /* those of lists by kn_levels_each_head, and that part */
    const kn_space *base;    /* the space of which kn_levels_take_results takes some */
    int axis;             /* the reduction axis along which elements are numbered first; -1: the innermost */
    kn_placement *placed; /* of a launch, and of that kind */
    kn_take_launch take;
    void *user;
    int64_t values; /* in scratch memory */
    kiln_status status;
    bool cannot; /* say it by launches */
};

/* ---- one launch ---- */

/* Neighbouring threads have neighbouring results, or neighbouring items. */
static void fill_field(levels_field *f, const level *v, int64_t results)
{
    const level_axis result = {results, v->in_result, 0, v->out_result};
    const level_axis *axis[AXES] = {v->are_near ? &result : &v->thread,
                                    v->are_near ? &v->thread : &v->group_axis,
                                    v->are_near ? &v->group_axis : &result, &v->set};
    *f = (levels_field){.extent = {(unsigned)axis[0]->extent, (unsigned)axis[1]->extent},
                        .in = {(unsigned)v->in},
                        .place = {(unsigned)v->place},
                        .out = {(unsigned)v->out},
                        .step = (unsigned)v->step,
                        .place_step = (unsigned)v->place_step,
                        .group = (unsigned)v->group,
                        .limit = (unsigned)v->limit,
                        .is_first = v->is_first,
                        .is_last = v->is_last,
                        .are_near = v->are_near};
    for (int a = 0; a < AXES; ++a) {
        f->in[a + 1] = (unsigned)axis[a]->in;
        f->place[a + 1] = (unsigned)axis[a]->place;
        f->out[a + 1] = (unsigned)axis[a]->out;
    }
}

static int put_reduction_axes(kn_space *axes, const kn_space *space, int first)
{
    int others =
        first < 0 || space->n_reduction_axes > 1 ? kn_reduce_put_reduction_axes(axes, space, first) : 0;
    if (first >= 0)
        kn_space_put_axis(axes, axes->ndim++, space, first, 1);
    return others + (first >= 0);
}

static void put_level(kn_levels *l, const level *v)
{
    const kn_space *space = l->part.space;
    kn_part part = *l->own;
    levels_field f;
    l->cannot = l->cannot || v->set.extent > MOST_SETS;
    if (l->status != KILN_OK || l->cannot || !l->take)
        return;
    part.space = space;
    kn_placement *p = l->placed;
    kn_placement_begin(p, &part);
    int64_t results = kn_space_output_size(space);
    fill_field(&f, v, results);
    kn_reduce_put_output_axes(&p->own_space, space, -1);
    if (v->is_first)
        f.item_rank = put_reduction_axes(&p->own_space, space, l->axis);
    p->kernel_space = &p->own_space;
    p->rank = p->own_space.ndim;
    p->size = results * v->thread.extent * v->group_axis.extent;
    p->grid[0] = (unsigned)kn_divide_up(p->size, p->block);
    p->grid[1] = (unsigned)v->set.extent;
    p->partials = l->values;
    memcpy(p->field, &f, sizeof f);
    l->status = l->take(l->user, &part, p);
}

/* Values in scratch memory, `sets` sets of `each` of each result. */
static kn_level_values make_values(kn_levels *l, int64_t sets, int64_t each, int64_t last, bool are_near)
{
    int64_t results = kn_space_output_size(l->part.space), step = are_near ? results : 1;
    kn_level_values made = {.at = l->values,
                            .step = step,
                            .set_step = each * step,
                            .result_step = are_near ? 1 : sets * each,
                            .sets = sets,
                            .each = each,
                            .last = last,
                            .are_results_near = are_near};
    l->values += results * sets * each;
    l->cannot = l->cannot || l->values > MOST_VALUES;
    return made;
}

/* ---- stages: the items of each thread become fewer ---- */

/* The items of threads while level after level combines them. Item k of thread t is `k * count_step + t` of
 * its set, and has the place `s * set_place_step + k * place_step + t`; it exists if that is below the
 * limit. */
typedef struct items {
    kn_level_values of; /* of the first level: the elements of a row */
    bool is_first;
    int64_t threads, count, count_step;
    int64_t place_step, set_place_step, limit;
} items;

/* Combines `size` items at a time, from item `from` on, to value `to` of each thread, and the next. */
static void put_groups(kn_levels *l, const items *it, const kn_level_values *out, int64_t from, int64_t to,
                       int64_t groups, int64_t size, bool is_last)
{
    const kn_level_values *v = &it->of;
    int64_t step = it->count_step * v->step, out_step = it->threads * out->step;
    put_level(l, &(level){.is_first = it->is_first,
                          .is_last = is_last,
                          .are_near = v->are_results_near,
                          .in = v->at + from * step,
                          .place = from * it->place_step,
                          .out = out->at + to * out_step,
                          .step = step,
                          .place_step = it->place_step,
                          .group = size,
                          .limit = it->limit,
                          .thread = {it->threads, v->step, 1, out->step},
                          .group_axis = {groups, size * step, size * it->place_step, out_step},
                          .set = {v->sets, v->set_step, it->set_place_step, out->set_step},
                          .in_result = v->result_step,
                          .out_result = out->result_step});
}

/* Items become groups of so many, the last of which may have fewer. */
static void combine_groups(kn_levels *l, items *it, int64_t size, bool is_last)
{
    int64_t whole = it->count / size, rest = it->count % size, count = whole + (rest > 0);
    kn_level_values out =
        make_values(l, it->of.sets, count * it->threads, it->of.last, it->of.are_results_near);
    if (whole > 0)
        put_groups(l, it, &out, 0, 0, whole, size, is_last);
    if (rest > 0)
        put_groups(l, it, &out, whole * size, whole, 1, rest, is_last);
    it->of = out;
    it->is_first = false;
    it->count = count;
    it->count_step = it->threads;
    it->place_step *= size;
}

/* Elements of whole items, two by two. */
static void combine_vectors(kn_levels *l, items *it, const kn_level_threads *t)
{
    it->of.sets = it->threads = it->count_step = it->place_step = 1;
    it->of.set_step = it->set_place_step = 0;
    it->count = it->limit = t->items * t->vector;
    for (int left = t->vector; left > 1; left /= 2)
        combine_groups(l, it, 2, false);
}

/* A thread's items: turns, chains, and the rest. */
static void combine_items(kn_levels *l, items *it, const kn_level_threads *t, bool is_last)
{
    const int64_t sizes[] = {t->turn, t->chain, NO_LIMIT};
    if (it->count == 1 && !it->is_first && !is_last)
        return;
    for (int k = 0; k < 3; ++k) {
        bool is_done = sizes[k] >= it->count;
        if (sizes[k] > 1)
            combine_groups(l, it, is_done ? it->count : sizes[k], is_last && is_done);
        if (is_done && sizes[k] > 1)
            return;
    }
}

/* Combines the single elements of the last set with what its threads have: the values of threads `from` up
 * to `to`, whose elements begin at `at`. Threads from `held` on have nothing yet. */
static void add_ends(kn_levels *l, const kn_level_values *values, int64_t from, int64_t to, int64_t at,
                     int64_t held)
{
    bool joins = from < held;
    int64_t end = joins && to > held ? held : to;
    kn_level_values own = *values, single = own;
    if (from >= end)
        return;
    own.at += (own.sets - 1) * own.set_step + from * own.step;
    if (joins) /* the values of the threads, and behind them those of the elements */
        single = make_values(l, 1, 2 * (end - from), 0, false);
    level map = {.is_first = true,
                 .in = at,
                 .out = joins ? single.at + (end - from) : own.at,
                 .group = 1,
                 .limit = NO_LIMIT,
                 .thread = {end - from, 1, 0, joins ? 1 : own.step},
                 .group_axis = {.extent = 1},
                 .set = {.extent = 1},
                 .out_result = joins ? single.result_step : own.result_step};
    level copy = map, join = map;
    put_level(l, &map);
    copy.is_first = join.is_first = false;
    copy.in = own.at;
    copy.out = join.in = single.at;
    copy.in_result = join.out_result = own.result_step;
    copy.thread.in = join.thread.out = own.step;
    join.in_result = single.result_step;
    join.out = own.at;
    join.step = end - from;
    join.group = 2;
    if (joins) {
        put_level(l, &copy);
        put_level(l, &join);
    }
    add_ends(l, values, end, to, at + (end - from), held);
}

/* True if a value is a class in the source: a struct of the user's, a complex number, a 16-bit float. */
static bool are_classes(const kn_spec *spec)
{
    kiln_dtype dtype = kn_spec_value_dtype(spec, kn_spec_reduced_value(spec));
    const kn_dtype_info *info = dtype == KILN_DTYPE_NONE ? NULL : kn_dtype_info_of(dtype);
    return !info || info->kind == KN_KIND_COMPLEX || (info->kind == KN_KIND_FLOAT && info->size == 2);
}

/* Puts one value of each thread where those of sets stand, from set `set` and thread `from` on. */
static void move_values(kn_levels *l, const kn_level_values *to, int64_t set, int64_t from, const items *it)
{
    put_level(l, &(level){.are_near = it->of.are_results_near,
                          .in = it->of.at,
                          .out = to->at + set * to->set_step + from * to->step,
                          .group = 1,
                          .limit = NO_LIMIT,
                          .thread = {it->threads, it->of.step, 0, to->step},
                          .group_axis = {.extent = 1},
                          .set = {it->of.sets, it->of.set_step, 0, to->set_step},
                          .in_result = it->of.result_step,
                          .out_result = to->result_step});
}

/* The last set of structs, from the thread `from` on: behind `turns` whole turns of all threads the items of
 * each are one turn more (size: all of them), or as many turns of one item (size 1). */
static void combine_last_turns(kn_levels *l, const items *all, const kn_level_values *turns, int64_t whole,
                               const kn_level_threads *t, int64_t from, int64_t end, int size,
                               const kn_level_values *to)
{
    const kn_level_threads chains = {.chain = t->chain};
    int64_t more = size > 1 ? 1 : t->turn - 1;
    items it = *all;
    kn_level_values out = *turns;
    it.threads = end - from;
    it.of.at += from * it.of.step;
    it.limit -= from;
    out.at += from * out.step;
    if (from >= end)
        return;
    put_level(l, &(level){.is_first = it.is_first,
                          .are_near = out.are_results_near,
                          .in = it.of.at + whole * t->turn * t->lanes * it.of.step,
                          .place = whole * t->turn * t->lanes,
                          .out = out.at + whole * t->lanes * out.step,
                          .step = t->lanes * it.of.step,
                          .place_step = t->lanes,
                          .group = size,
                          .limit = it.limit,
                          .thread = {it.threads, it.of.step, 1, out.step},
                          .group_axis = {more, t->lanes * it.of.step, t->lanes, t->lanes * out.step},
                          .set = {.extent = 1},
                          .in_result = it.of.result_step,
                          .out_result = out.result_step});
    it.is_first = false;
    it.of = out;
    it.count = whole + more;
    it.limit = size > 1 ? NO_LIMIT : it.limit - whole * (t->turn - 1) * t->lanes;
    combine_items(l, &it, &chains, false);
    move_values(l, to, t->sets - 1, from, &it);
}

/* The last set, whose threads take whole turns of structs, then single items. */
static void combine_whole_turns(kn_levels *l, items *it, const kn_level_threads *t, const kn_level_values *to)
{
    int64_t behind = it->limit, turn = t->lanes * t->turn, whole = behind / turn, held = it->threads;
    int64_t full = kn_clamp(behind % turn - (t->turn - 1) * t->lanes, 0, held); /* threads with a turn more */
    kn_level_values turns = make_values(l, 1, (whole + t->turn) * t->lanes, 0, to->are_results_near);
    it->count = whole * t->turn;
    if (whole > 0)
        put_groups(l, it, &turns, 0, 0, whole, t->turn, false);
    combine_last_turns(l, it, &turns, whole, t, 0, full, t->turn, to);
    combine_last_turns(l, it, &turns, whole, t, full, held, 1, to);
}

/* The values of threads of whose sets the last one is combined otherwise than the others. */
static kn_level_values combine_last_apart(kn_levels *l, const items *all, const kn_level_threads *t,
                                          int64_t chunk, bool are_whole)
{
    int64_t behind = t->items - (t->sets - 1) * chunk;
    kn_level_values out = make_values(l, t->sets, t->threads, t->last, all->of.are_results_near);
    items others = *all, last = *all;
    others.of.sets = t->sets - 1;
    others.set_place_step = 0;
    others.limit = chunk;
    if (t->sets > 1) {
        combine_items(l, &others, t, false);
        move_values(l, &out, 0, 0, &others);
    }
    last.of.at += (t->sets - 1) * chunk * last.of.step;
    last.of.sets = 1;
    last.limit = behind;
    last.threads = behind < t->lanes ? behind : t->lanes;
    if (are_whole) {
        combine_whole_turns(l, &last, t, &out);
        return out;
    }
    last.count = kn_divide_up(behind, t->lanes);
    combine_items(l, &last, t, false);
    move_values(l, &out, t->sets - 1, 0, &last);
    return out;
}

kn_level_values kn_levels_threads(kn_levels *l, const kn_level_threads *t, bool is_last)
{
    int64_t chunk = t->sets > 1 ? t->chunk : t->items, count = kn_divide_up(chunk, t->lanes);
    int64_t behind = t->items - (t->sets - 1) * chunk, held = behind < t->lanes ? behind : t->lanes;
    bool are_whole = t->are_whole && are_classes(l->part.spec) && t->items > t->lanes &&
                     t->items % (t->lanes * t->turn) != 0;
    bool are_alike = behind == chunk;
    /* Threads whose only item is a vector keep its value where that lies. Others of the last set have single
     * elements alone, and their values would lie in those of the next result. */
    bool are_more = t->vector > 1 && count == 1 && t->last > behind;
    bool is_apart = are_whole || are_more || behind > chunk || (!are_alike && chunk % t->lanes != 0);
    items it = {.is_first = true,
                .of = {.at = t->begin, .step = 1, .are_results_near = t->are_results_near, .last = t->last}};
    if (t->vector > 1)
        combine_vectors(l, &it, t);
    it.of.sets = t->sets;
    it.of.set_step = chunk * it.of.step;
    it.threads = t->threads;
    it.count = count;
    it.count_step = it.place_step = t->lanes;
    it.set_place_step = are_alike ? 0 : chunk;
    it.limit = are_alike ? chunk : t->items;
    if (is_apart)
        it.of = combine_last_apart(l, &it, t, chunk, are_whole);
    else if (count > 0)
        combine_items(l, &it, t, is_last);
    if (count == 0) /* no thread has items */
        it.of = make_values(l, t->sets, t->threads, t->last, t->are_results_near);
    it.of.each = t->threads;
    it.of.last = t->last;
    for (int k = 0; k < 2; ++k)
        add_ends(l, &it.of, t->ends[k].thread, t->ends[k].thread + t->ends[k].count, t->ends[k].at, held);
    return it.of;
}

/* ---- values of several threads ---- */

static items items_of(const kn_level_values *in)
{
    return (items){.of = *in,
                   .threads = 1,
                   .count = in->each,
                   .count_step = 1,
                   .place_step = 1,
                   .set_place_step = in->each,
                   .limit = (in->sets - 1) * in->each + in->last};
}

kn_level_values kn_levels_pairs(kn_levels *l, kn_level_values in, bool is_last)
{
    for (bool ends = !is_last; in.each > 1 || !ends;) {
        items it = items_of(&in);
        int64_t last = kn_divide_up(in.last, 2);
        ends = in.each <= 2;
        combine_groups(l, &it, in.each < 2 ? 1 : 2, is_last && ends);
        in = it.of;
        in.last = last;
    }
    return in;
}

void kn_levels_lanes(kn_levels *l, int64_t length, int64_t lanes, int turn, int64_t head)
{
    const int vector = kn_levels_spec(l)->schedule.vector;
    const int64_t whole = length / vector, items = (length - head) / vector,
                  held = whole < lanes ? whole : lanes;
    const kn_level_threads threads = {
        .items = items,
        .chunk = items,
        .sets = 1,
        .threads = held,
        .last = held,
        .lanes = lanes,
        .vector = vector,
        .turn = turn,
        .begin = head,
        .ends = {{head, 0, 0}, {length - items * vector - head, head, items * vector + head}}};
    kn_levels_pairs(l, kn_levels_threads(l, &threads, false), true);
}

/* Combines sets that have as many values each, which end at their last value, not at the last set's. */
static kn_level_values combine_strided(kn_levels *l, kn_level_values in, int64_t lanes, bool is_last)
{
    items it = items_of(&in);
    it.threads = lanes < in.each ? lanes : in.each;
    it.count = kn_divide_up(in.each, lanes);
    it.count_step = it.place_step = lanes;
    it.set_place_step = 0;
    it.limit = in.each;
    combine_groups(l, &it, it.count, is_last);
    it.of.each = it.of.last = it.threads;
    return it.of;
}

kn_level_values kn_levels_strided(kn_levels *l, kn_level_values in, int64_t lanes, bool is_last)
{
    return in.each > lanes ? combine_strided(l, in, lanes, is_last) : in;
}

/* Leaves one row of `width` values of each set, at `to`. */
static void combine_apart(kn_levels *l, kn_level_values in, kn_level_values to, int64_t width, int parts,
                          bool is_last)
{
    for (bool ends = false; !ends;) {
        int64_t each = kn_divide_up(in.each / width, parts) * width;
        ends = each == width;
        kn_level_values out = ends ? to : make_values(l, in.sets, each, each, in.are_results_near);
        put_level(l, &(level){.is_last = is_last && ends,
                              .are_near = in.are_results_near,
                              .in = in.at,
                              .out = out.at,
                              .step = each * in.step,
                              .place_step = each,
                              .group = parts,
                              .limit = in.each,
                              .thread = {each, in.step, 1, out.step},
                              .group_axis = {.extent = 1},
                              .set = {in.sets, in.set_step, 0, out.set_step},
                              .in_result = in.result_step,
                              .out_result = out.result_step});
        in = out;
    }
}

/* The last set may have fewer values than the others, each of which begins with a level of its own then. */
static kn_level_values combine_sets_apart(kn_levels *l, kn_level_values in, int64_t lanes, int64_t width,
                                          int parts, bool is_last)
{
    kn_level_values out = make_values(l, in.sets, width, width, in.are_results_near), to = out, whole = in,
                    rest = in;
    bool differs = in.last != in.each;
    whole.sets -= differs;
    whole.last = whole.each;
    rest.at += whole.sets * in.set_step;
    rest.sets = 1;
    rest.each = in.last;
    to.at += whole.sets * to.set_step;
    if (whole.sets > 0)
        combine_apart(l, kn_levels_strided(l, whole, lanes, false), out, width, parts, is_last);
    if (differs)
        combine_apart(l, kn_levels_strided(l, rest, lanes, false), to, width, parts, is_last);
    return out;
}

kn_level_values kn_levels_apart(kn_levels *l, kn_level_values in, int64_t lanes, int parts, bool is_last)
{
    return in.each == 1 && !is_last ? in : combine_sets_apart(l, in, lanes, 1, parts, is_last);
}

kn_level_values kn_levels_rows_apart(kn_levels *l, kn_level_values in, int64_t width, int parts, bool is_last)
{
    return in.each == width && !is_last ? in : combine_sets_apart(l, in, in.each, width, parts, is_last);
}

kn_level_values kn_levels_sets(kn_levels *l, kn_level_values in, int64_t sets_each, int chain, bool is_last)
{
    const kn_level_threads turns = {.chain = chain};
    int64_t step = in.set_step / in.step;
    items it = {.of = in,
                .threads = in.each,
                .count = sets_each < in.sets ? sets_each : in.sets,
                .count_step = step,
                .place_step = step,
                .set_place_step = sets_each * step,
                .limit = (in.sets - 1) * step + in.last};
    it.of.sets = kn_divide_up(in.sets, sets_each);
    it.of.set_step = sets_each * in.set_step;
    combine_items(l, &it, &turns, is_last);
    it.of.each = in.each;
    it.of.last = in.sets % sets_each == 1 || sets_each == 1 ? in.last : in.each;
    return it.of;
}

kn_level_values kn_levels_join_sets(kn_level_values in)
{
    in.step = in.set_step;
    in.each = in.last = in.sets;
    in.sets = 1;
    return in;
}

void kn_levels_one_thread(kn_levels *l, int turn)
{
    const int64_t rows = kn_reduce_size(l->own->space);
    const kn_level_threads threads = {.items = rows,
                                      .chunk = rows,
                                      .sets = 1,
                                      .threads = 1,
                                      .last = 1,
                                      .lanes = 1,
                                      .turn = turn,
                                      .are_results_near = true};
    kn_levels_threads(l, &threads, true);
}

/* ---- the kind whose levels are listed ---- */

const unsigned char *kn_levels_field(kn_levels *l)
{
    if (l->status == KILN_OK)
        l->status = kn_part_place(l->placed, &l->part);
    return l->placed->field;
}

static void take_results(kn_space *s, const kn_space *all, int axis, int64_t first, int64_t end,
                         int64_t every)
{
    kn_space_copy(s, all);
    if (axis < 0)
        return;
    s->extent[axis] = kn_divide_up(end - first, every);
    s->size = all->size / all->extent[axis] * s->extent[axis];
    for (int o = 0; o < s->n_operands; ++o) {
        s->offset[o] += first * s->stride[o][axis];
        s->stride[o][axis] *= every;
    }
}

void kn_levels_take_results(kn_levels *l, int axis, int64_t first, int64_t end)
{
    take_results(l->results, l->base, axis, first, end, 1);
    l->part.space = l->results;
}

void kn_levels_number_along(kn_levels *l, int axis)
{
    l->axis = axis;
}

const kn_spec *kn_levels_spec(const kn_levels *l)
{
    return l->part.spec;
}

/* ---- unaligned rows ---- */

/* Elements by which an operand is off a vector's boundary, of 16 elements or fewer; behind the kind's own
 * parameters. */
enum { OWN_BYTES = sizeof(kn_reduce_params), KNOWN_OFFSETS = 48 /* operands */, WIDEST = 16 };
_Static_assert(OWN_BYTES + KNOWN_OFFSETS <= sizeof(kn_launch_params), "parameters of reductions");
typedef struct offsets {
    unsigned char of[KNOWN_OFFSETS];
} offsets;

void kn_levels_note_offsets(kn_launch_params *out, const kn_choice *c)
{
    offsets o = {{0}};
    for (int k = 0; k < c->count && k < KNOWN_OFFSETS; ++k)
        o.of[k] = (unsigned char)(c->access[k].address / (uintptr_t)c->access[k].item_size % WIDEST);
    memcpy(out->bytes + OWN_BYTES, &o, sizeof o);
}

/* The operand that says where a row's vectors begin: the first that the map reads by vectors; -1. */
static int find_aligned(const kn_part *part)
{
    const kn_spec *spec = part->spec;
    const kn_stage *map = &spec->program->stage[0];
    int found = -1, inner = part->space->ndim - 1;
    for (int v = 0; v < map->n_read; ++v) {
        int array = map->value[v] < spec->program->n_in ? spec->operand[map->value[v]].array : -1;
        char letter = array < 0 ? KN_GATHER : spec->schedule.access[array];
        if ((letter == KN_VECTOR || letter == KN_DENSE) && part->space->stride[array][inner] != 0 &&
            (found < 0 || array < found))
            found = array;
    }
    return found;
}

bool kn_levels_each_head(kn_levels *l, int along, kn_levels_list *list, const void *field)
{
    const kn_space *space = l->own->space;
    kn_access access[KN_MAX_PARAMS];
    offsets known;
    int operand = find_aligned(&l->part), axis = -1, axes = 0;
    memcpy(&known, l->own->launch_params->bytes + OWN_BYTES, sizeof known);
    kn_spec_access(access, l->part.spec);
    if (operand >= KNOWN_OFFSETS)
        return false;
    int64_t item = operand < 0 ? 1 : access[operand].item_size, vector = l->part.spec->schedule.vector;
    int64_t step = 0, off = 0, every = 1, extent = 1;
    for (int a = 0; operand >= 0 && a < space->ndim - space->n_reduction_axes; ++a)
        if (a != along && space->stride[operand][a] / item % vector != 0) {
            step = space->stride[operand][a] / item;
            axis = a;
            ++axes;
        }
    if (axes > 1)
        return false;
    if (operand >= 0)
        off = known.of[operand] + (space->offset[operand] - l->own->whole->offset[operand]) / item;
    if (axis >= 0) {
        extent = space->extent[axis];
        every = vector / kn_common_divisor(vector, (step % vector + vector) % vector);
    }
    bool can = true;
    for (int64_t row = 0; row < every && row < extent && can; ++row) {
        take_results(l->all, space, axis, row, extent, every);
        l->base = l->part.space = l->all;
        can = list(l, field, operand < 0 ? 0 : -(off + row * step) & (vector - 1));
    }
    return can;
}

/* ---- the kind ---- */

/* Lists the levels; *can: there is a list. take NULL: nothing is launched. */
static kiln_status list(bool *can, const kn_part *own, kn_take_launch take, void *user)
{
    kn_levels l = {.own = own, .part = *own, .base = own->space, .axis = -1, .take = take, .user = user};
    const kn_kind *kind = own->order->schedule.kind;
    const kn_space *space = own->space;
    l.part.spec = own->order;
    l.part.order = NULL;
    struct {
        kn_placement placed;
        kn_space all, results;
    } *own_memory = kn_malloc(sizeof *own_memory);
    if (!own_memory)
        return kn_error_memory("a launch plan");
    l.placed = &own_memory->placed;
    l.all = &own_memory->all;
    l.results = &own_memory->results;
    *can = kind->list_levels && space->size > 0 && space->size < KN_MAX_INDEX &&
           space->ndim < KILN_MAX_NDIM && kind->list_levels(&l, &l.part) && !l.cannot;
    kn_free(own_memory);
    return l.status;
}

static kiln_status place_each(const kn_part *part, kn_take_launch take, void *user)
{
    bool can = false;
    kiln_status status = list(&can, part, take, user);
    if (status == KILN_OK && !can)
        status = kn_error(KILN_ERROR_INTERNAL, "%s: the schedule '%s' has no list of levels here",
                          part->spec->program->name, part->order->schedule.kind->name);
    return status;
}

/* It is never asked for more than a baseline tier, whose schedule is the same for all layouts of so many
 * axes. */
static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    out->vector = 1;
    out->block = THREADS;
    out->rank = kn_reduce_rank(c->space);
    memset(out->access, KN_GATHER, (size_t)c->count);
    return true;
}

static bool keeps_order(const kn_part *part)
{
    bool can = false;
    return list(&can, part, NULL, NULL) == KILN_OK && can;
}

static void describe(kn_str *out, const unsigned char *at)
{
    levels_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " reads=\"%s\" writes=\"%s\" items=\"%u\"", f.is_first ? "arrays" : "values",
                  f.is_last ? "results" : "values", (unsigned)f.group);
}

const kn_kind kn_kind_reduce_levels = {.name = "reduce_levels",
                                       .pattern = "mrk",
                                       .recipe = &kn_recipe_reduce_levels,
                                       .choose = choose,
                                       .place_each = place_each,
                                       .keeps_order = keeps_order,
                                       .largest_value = LARGEST_VALUE,
                                       .revision = 1,
                                       .field = KN_FIELD(levels_field, MEMBERS),
                                       .describe = describe,
                                       .has_wide_axes = true,
                                       .has_workspace = true};
