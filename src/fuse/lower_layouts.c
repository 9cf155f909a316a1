/* Inputs that a kernel would gather: they are stored in another order first, or few terms of a reduction
 * become a map. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fuse/fusion.h"
#include "fuse/lower_parts.h"
#include "schedule/kind.h"

/* True if a leaf has many elements side by side from the axis on: the axis is long, or the next ones continue
 * its rows with no more than gaps between them. */
enum { SHORT_SIDE = 32 };
static bool runs_on(const kn_group *g, const kn_leaf *leaf, int axis)
{
    int64_t run = g->extent[axis], step = llabs(leaf->stride[axis]);
    for (int next = axis; next >= 0 && run < SHORT_SIDE;) {
        int64_t end = step * g->extent[next];
        next = -1;
        for (int a = 0; a < g->ndim; ++a)
            if (g->extent[a] > 1 && llabs(leaf->stride[a]) >= end && llabs(leaf->stride[a]) <= 2 * end)
                next = a;
        step = next >= 0 ? llabs(leaf->stride[next]) : 0;
        run *= next >= 0 ? g->extent[next] : 1;
    }
    return run >= SHORT_SIDE;
}

static int item_of(const kn_lowering *l, const kn_leaf *leaf)
{
    return l->array[l->state.graph->node[leaf->node].index]->item_size;
}

/* The axis of the space along which the elements of a leaf are neighbours; -1: none, or it is short and
 * `long_ones` are wanted. */
static int axis_along(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf, bool long_ones)
{
    int along = -1, item = item_of(l, leaf);
    for (int a = 0; a < g->ndim; ++a)
        if (leaf->stride[a] == item && (g->extent[a] >= SHORT_SIDE || (!long_ones && runs_on(g, leaf, a))))
            along = a;
    return along;
}

static int64_t elements_of(const kn_group *g, const kn_leaf *leaf)
{
    int64_t count = 1;
    for (int a = 0; a < g->ndim; ++a)
        count *= leaf->stride[a] != 0 ? g->extent[a] : 1;
    return count;
}

/* The axis of the space along which a node's elements would be neighbours if it were stored; -1: it is used
 * more or less than once. */
static int axis_if_stored(const kn_lowering *l, const kn_group *g, const kn_use *u)
{
    const kn_typed *t = &l->typed[u->node];
    int64_t count = 1;
    int along = -1;
    for (int a = 0; a < t->ndim; ++a) {
        count *= t->shape[a];
        along = t->shape[a] > 1 ? u->map[a].to : along;
    }
    return count == elements_of(g, u->leaf) ? along : -1;
}

enum { FEW_GATHERED = 1 << 10, MANY_GATHERED = 1 << 18, MANY_RESULTS = 1 << 16 };
static bool is_large_input(const kn_group *g, const kn_leaf *leaf)
{
    return leaf && leaf->kind == KN_BASE_INPUT && elements_of(g, leaf) >= MANY_GATHERED;
}

/* True if no elements of a leaf are neighbours, and those along the axis share sectors (CUDA). */
enum { NEAR = 32 }; /* bytes */
static bool is_near_along(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf, int axis)
{
    return !l->state.is_host && axis_along(l, g, leaf, false) < 0 && leaf->stride[axis] != 0 &&
           llabs(leaf->stride[axis]) < NEAR && g->extent[axis] >= SHORT_SIDE;
}

/* True if a large input lies along the axis. */
static bool has_input_along(const kn_lowering *l, const kn_group *g, int axis, bool long_ones)
{
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        if (is_large_input(g, leaf) &&
            (axis_along(l, g, leaf, long_ones) == axis || (!long_ones && is_near_along(l, g, leaf, axis))))
            return true;
    return false;
}

static int64_t bytes_of(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf)
{
    return elements_of(g, leaf) * item_of(l, leaf);
}

/* Bytes of all inputs. */
static int64_t bytes_read(const kn_lowering *l, const kn_group *g)
{
    int64_t bytes = 0;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        bytes += leaf->kind == KN_BASE_INPUT ? bytes_of(l, g, leaf) : 0;
    return bytes;
}

/* True if results are so many that neighbours share the sectors of what is gathered, and the copy of this
 * input would move more than that saves. */
static bool is_costly_to_turn(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf)
{
    int64_t results = 1;
    for (int a = 0; a < g->ndim; ++a)
        results *= g->reduced >> a & 1 ? 1 : g->extent[a];
    return results >= MANY_RESULTS && 2 * bytes_of(l, g, leaf) > bytes_read(l, g);
}

/* The host gathers words as fast as it copies them, but not elements narrower than words, nor many words
 * beside such, which keep them out of vectors. */
enum { TURNED_BYTES = 2 << 20, NARROW_GATHERED = 2, WORD_BYTES = 4, NEAR_BYTES = 64, LONG_ROW = 256 };
static bool is_gathered_slowly(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf)
{
    bool is_mixed = false;
    for (const kn_leaf *other = g->leaf; other; other = other->next)
        is_mixed = is_mixed || (other->kind == KN_BASE_INPUT && item_of(l, other) <= NARROW_GATHERED);
    return item_of(l, leaf) <= NARROW_GATHERED || (is_mixed && bytes_of(l, g, leaf) >= TURNED_BYTES);
}

/* The large input with most bytes of those whose elements are neighbours along an output axis; NULL. */
static const kn_leaf *largest_across(const kn_lowering *l, const kn_group *g)
{
    const kn_leaf *largest = NULL;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
        int along = is_large_input(g, leaf) ? axis_along(l, g, leaf, true) : -1;
        if (along >= 0 && !(g->reduced >> along & 1) &&
            (!largest || bytes_of(l, g, leaf) > bytes_of(l, g, largest)))
            largest = leaf;
    }
    return largest;
}

/* Inputs along different output axes: one of them is stored as the largest one lies, since C order would be
 * a third layout. */
static bool turn_across(kn_lowering *l, const kn_group *g)
{
    const kn_leaf *largest = largest_across(l, g);
    for (const kn_use *u = g->first_use; u && largest; u = u->after) {
        int own = is_large_input(g, u->leaf) ? axis_along(l, g, u->leaf, true) : -1;
        int64_t like[KILN_MAX_NDIM];
        if (own < 0 || g->reduced >> own & 1 || own == axis_along(l, g, largest, true) ||
            axis_if_stored(l, g, u) < 0 || elements_of(g, u->leaf) != elements_of(g, largest) ||
            is_costly_to_turn(l, g, u->leaf))
            continue;
        for (int a = 0; a < l->typed[u->node].ndim; ++a)
            like[a] = u->map[a].to >= 0 ? largest->stride[u->map[a].to] : 0;
        kn_lowering_add_buffer_like(l, u->node, KN_WHY_LAYOUT, like);
        return true;
    }
    return false;
}

/* True if a leaf is worth a copy, which squares and shuffles make in registers, where the host's reduction
 * would load its elements one by one: narrow ones, or words that are near to each other or in short rows, as
 * long as caches hold them. */
static bool is_worth_straightening(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf, int stored)
{
    int item = item_of(l, leaf);
    bool is_long = llabs(leaf->stride[stored]) == 2 * item && g->extent[stored] >= LONG_ROW,
         is_near = g->extent[stored] < SHORT_SIDE || (llabs(leaf->stride[stored]) <= NEAR_BYTES && !is_long);
    return elements_of(g, leaf) >= FEW_GATHERED && leaf->stride[stored] != item &&
           (item <= NARROW_GATHERED ||
            (item <= WORD_BYTES && is_near && bytes_of(l, g, leaf) <= TURNED_BYTES));
}

/* Copies inputs that a reduction on the host gathers: in C order, or as one lies that it reads by vectors. */
static bool straighten(kn_lowering *l, const kn_lowered_part *part, const kn_group *g, const kn_resolved *r)
{
    const kn_text *t = &l->text[part - l->out->part];
    const kn_leaf *like = NULL;
    bool is_any = false;
    if (!r->spec.schedule.kind->gathers_singly)
        return false;
    for (int k = 0; k < part->program->n_in; ++k) {
        int array = r->spec.operand[k].array;
        if (array >= 0 && r->spec.schedule.access[array] == KN_DENSE)
            like = t->in[k].leaf;
    }
    for (int k = 0; k < part->program->n_in; ++k) {
        const kn_leaf *leaf = t->in[k].leaf;
        const int array = r->spec.operand[k].array;
        if (array < 0 || r->spec.schedule.access[array] != KN_GATHER || leaf->kind != KN_BASE_INPUT)
            continue;
        for (const kn_use *u = g->first_use; u; u = u->after) {
            int stored = u->leaf == leaf ? axis_if_stored(l, g, u) : -1;
            int64_t stride[KILN_MAX_NDIM];
            if (stored < 0 || l->state.is_buffered[u->node] || !is_worth_straightening(l, g, leaf, stored))
                continue;
            for (int a = 0; like && a < l->typed[u->node].ndim; ++a)
                stride[a] = u->map[a].to >= 0 ? like->stride[u->map[a].to] : 0;
            bool is_like = like && elements_of(g, like) == elements_of(g, leaf);
            kn_lowering_add_buffer_like(l, u->node, KN_WHY_LAYOUT, is_like ? stride : NULL);
            is_any = true;
        }
    }
    return is_any;
}

bool kn_lowering_turn_input(kn_lowering *l, const kn_lowered_part *part, const kn_group *g,
                            const kn_resolved *r)
{
    /* Other programs are split where they gather: a map behind a reduction transposes as maps do. */
    if (strcmp(part->program->pattern, "mrk") != 0)
        return false;
    if (l->state.is_host && r && straighten(l, part, g, r))
        return true;
    bool long_ones = !l->state.is_host && (!r || !kn_fusion_gathers_apart(&r->spec, &r->space));
    for (const kn_use *u = g->first_use; u; u = u->after) {
        if (!is_large_input(g, u->leaf))
            continue;
        int own = axis_along(l, g, u->leaf, long_ones), stored = axis_if_stored(l, g, u);
        if (own < 0 || stored < 0 || own == stored || !has_input_along(l, g, stored, long_ones))
            continue;
        /* reduce_slices stages rows along a reduction axis, and reads what lies along an output axis */
        if (long_ones && (g->reduced >> own & 1) != (g->reduced >> stored & 1))
            continue;
        if (l->state.is_host ? !is_gathered_slowly(l, g, u->leaf)
                             : !long_ones && is_costly_to_turn(l, g, u->leaf))
            continue;
        kn_lowering_add_buffer(l, u->node, KN_WHY_LAYOUT);
        return true;
    }
    return !l->state.is_host && turn_across(l, g);
}

/* Large inputs of a map by how they lie: along the axis of the results, or across it, all along one other
 * axis or not. */
typedef struct sides {
    int along, across;
    bool is_one_axis;
    int narrowest;     /* bytes of an element of those along the axis */
    int widest_across; /* the most bytes of an element of those across */
} sides;

static sides sides_of(const kn_lowering *l, const kn_group *g, int axis)
{
    sides all = {.is_one_axis = true};
    int other = -1;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
        int own = is_large_input(g, leaf) ? axis_along(l, g, leaf, false) : -1;
        bool is_across = own >= 0 && own != axis;
        all.across += is_across;
        all.is_one_axis = all.is_one_axis && (!is_across || other < 0 || own == other);
        other = is_across ? own : other;
        all.along += own == axis;
        if (is_across && item_of(l, leaf) > all.widest_across)
            all.widest_across = item_of(l, leaf);
        if (own == axis && (all.narrowest == 0 || item_of(l, leaf) < all.narrowest))
            all.narrowest = item_of(l, leaf);
    }
    return all;
}

/* True if an input of a map is worth a copy: one of those that lie along several axes, since one axis alone
 * has a tile and elements along another take a sector each; or a small one beside several that lie along the
 * results, which are gathered for its sake. The narrower these are, the more instructions that takes for each
 * byte. Narrower elements beside others across are gathered one by one, too, since a tile has elements of one
 * size. */
enum {
    SECTOR = 32,
    NARROW = 4,
    WIDEST_ITEM = 16,
    SMALL_PART = 5,
    SMALL_ACROSS = 7,
    LONG_ACROSS = 64, /* elements: of rows of 30 bytes copy and map take 1.7 times as long as a gather */
    WORTH_A_LAUNCH = 16 << 20
};
static bool is_worth_a_copy(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf, int stored,
                            int64_t size)
{
    const sides all = sides_of(l, g, stored);
    int64_t bytes = bytes_of(l, g, leaf);
    if (!all.is_one_axis)
        return 2 * bytes <= size && 4 * item_of(l, leaf) <= SECTOR && g->extent[stored] >= SHORT_SIDE;
    if (all.across > 1 && item_of(l, leaf) < all.widest_across)
        return SMALL_ACROSS * bytes <= size && g->extent[axis_along(l, g, leaf, false)] >= LONG_ACROSS;
    if (all.across > 1 || all.along < 2 || item_of(l, leaf) >= NARROW)
        return false;
    return (all.narrowest < NARROW ? 2 * all.narrowest : SMALL_PART) * bytes <= size;
}

/* Finds the smallest input of a large map that lies along another axis than the results, and that should lie
 * as they do; NULL: there is none. */
static const kn_use *find_narrow(const kn_lowering *l, const kn_group *g)
{
    const kn_use *best = NULL;
    int64_t size = (int64_t)kiln_dtype_size(l->typed[g->root[0]].dtype);
    for (int a = 0; a < g->ndim; ++a)
        size *= g->extent[a];
    size += bytes_read(l, g);
    for (const kn_use *u = g->first_use; u && size >= WORTH_A_LAUNCH; u = u->after) {
        int own = is_large_input(g, u->leaf) ? axis_along(l, g, u->leaf, false) : -1,
            stored = own < 0 ? -1 : axis_if_stored(l, g, u);
        if (stored < 0 || own == stored)
            continue;
        if (is_worth_a_copy(l, g, u->leaf, stored, size) &&
            (!best || bytes_of(l, g, u->leaf) < bytes_of(l, g, best->leaf)))
            best = u;
    }
    return best;
}

/* True if a kernel that takes a map apart stages what lies across, and loads all else as vectors, of so many
 * elements that this is faster than a copy and a map: 0.6 to 0.75 of the time of eight halves, 0.8 of that of
 * four words, but up to 1.2 where these are read from one bank of shared memory, whose rows are whole chunks
 * (H200). `step`: bytes from a staged element to the next one of a result's row. */
enum { MOST_LANES = 8, FEWEST_LANES = 4, CHUNK = 16 };
static bool loads_vectors(const kn_lowered_part *part, const kn_spec *spec, int64_t step)
{
    bool all = spec->schedule.vector >= (step % CHUNK != 0 ? FEWEST_LANES : MOST_LANES);
    for (int k = 0; k < part->program->n_in; ++k)
        all =
            all && (spec->operand[k].array < 0 || spec->schedule.access[spec->operand[k].array] != KN_GATHER);
    return all;
}

kiln_status kn_lowering_turn_narrow(kn_lowering *l, kn_lowered_part *part, const kn_group *g)
{
    const kn_use *narrow = l->state.is_host || g->n_roots > 1 || strcmp(part->program->pattern, "m") != 0
                               ? NULL
                               : find_narrow(l, g);
    kn_resolved *r = narrow ? kn_malloc(sizeof *r) : NULL;
    if (!narrow)
        return KILN_OK;
    if (!r)
        return kn_lowering_no_memory();
    kiln_status status = kn_resolve(r, &part->binding, &part->options, l->call->target);
    if (status == KILN_OK && r->spec.schedule.kind->takes_apart &&
        !loads_vectors(part, &r->spec, narrow->leaf->stride[axis_if_stored(l, g, narrow)]))
        kn_lowering_add_buffer(l, narrow->node, KN_WHY_LAYOUT);
    kn_free(r);
    return status;
}

/* The output axis along which elements of a leaf share the smallest transfers of memory; -1: none, or it is
 * short. */
static int nearest_output(const kn_group *g, const kn_leaf *leaf)
{
    int nearest = -1;
    for (int a = 0; a < g->ndim; ++a)
        if (!(g->reduced >> a & 1) && leaf->stride[a] != 0 && llabs(leaf->stride[a]) < SECTOR &&
            g->extent[a] >= SHORT_SIDE &&
            (nearest < 0 || llabs(leaf->stride[a]) < llabs(leaf->stride[nearest])))
            nearest = a;
    return nearest;
}

/* True if two large inputs lie along different output axes: a reduction would gather one of them, a map
 * transposes it in shared memory. */
static bool lie_crosswise(const kn_group *g)
{
    int axis = -1;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
        int own = leaf->kind == KN_BASE_INPUT && elements_of(g, leaf) >= MANY_GATHERED
                      ? nearest_output(g, leaf)
                      : -1;
        if (own >= 0 && axis >= 0 && own != axis)
            return true;
        axis = own >= 0 ? own : axis;
    }
    return false;
}

/* The axis with the smallest stride of those behind which memory is not yet counted, -1: none. */
static int nearest_axis(const kn_group *g, const kn_leaf *leaf, int64_t least)
{
    int nearest = -1;
    for (int a = 0; a < g->ndim; ++a)
        if (g->extent[a] > 1 && leaf->stride[a] >= least &&
            (nearest < 0 || leaf->stride[a] < leaf->stride[nearest]))
            nearest = a;
    return nearest;
}

/* True if a leaf's elements lie in the order of the results, the terms of each anywhere between them, and
 * follow each other in runs that are long beside what a run takes. Runs may be short where the terms of a
 * result lie apart, and where few terms of many results lie side by side in the only input: such results are
 * more than twice as fast by a map. */
enum { LONG_RUN = 256, FEW_TERMS = 3, FEW_RESULTS = 1, LEAST_ODD = 5, MOST_ODD = 7 };

/* True for the greatest or least of so many neighbouring floats that g++ loads them one by one: comparisons
 * by pairs take three times as long then as those of a loop over rows. */
static bool are_compared_singly(const kn_lowering *l, const kn_group *g, int64_t terms)
{
    bool are = false;
    for (const kn_use *u = g->first_use; u; u = u->after) {
        const char *name = l->state.graph->node[u->node].name;
        bool is_extreme =
            u->is_own_reduction && name && (strcmp(name, "max") == 0 || strcmp(name, "min") == 0);
        are = are || (is_extreme && kn_dtype_info_of(l->typed[u->node].dtype)->kind == KN_KIND_FLOAT);
    }
    return are && terms >= LEAST_ODD && terms <= MOST_ODD;
}

static bool follows_results(const kn_lowering *l, const kn_group *g, const kn_leaf *leaf, int64_t terms,
                            bool is_only)
{
    int64_t next = item_of(l, leaf), run = 1, least = 1;
    int last = g->ndim, a = nearest_axis(g, leaf, 1);
    if (a >= 0 && g->reduced >> a & 1 && are_compared_singly(l, g, terms))
        return false;
    if (a >= 0 && g->reduced >> a & 1)
        least = terms <= FEW_TERMS && is_only ? FEW_RESULTS * terms : LONG_RUN;
    for (; a >= 0; a = nearest_axis(g, leaf, next)) {
        bool is_result = !(g->reduced >> a & 1);
        bool is_first_result = is_result && run == terms && least < LONG_RUN;
        if ((leaf->stride[a] != next && run < least && !is_first_result) || leaf->stride[a] < next ||
            (is_result && a > last))
            return false;
        run *= g->extent[a];
        next = leaf->stride[a] * g->extent[a];
        last = is_result ? a : last;
    }
    for (a = 0; a < g->ndim; ++a)
        if (leaf->stride[a] < 0 && g->extent[a] > 1)
            return false;
    return true;
}

/* The host's loops read few terms of each result as neighbouring elements, those of one place together. Where
 * they are fewer than the results they need not lie so. Narrow elements beside float64, which a reduction
 * over short rows makes no vectors of, may be more. */
enum { MOST_TERMS = 8, MOST_TERMS_READ = 16, MOST_MIXED = 15, MANY_ON_HOST = 64 };

/* Inputs have elements of several widths, some of them narrower than words and some wider. */
static bool are_mixed(const kn_lowering *l, const kn_group *g)
{
    int narrowest = WIDEST_ITEM, widest = 0;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next) {
        int item = leaf->kind == KN_BASE_INPUT ? item_of(l, leaf) : 0;
        narrowest = item > 0 && item < narrowest ? item : narrowest;
        widest = item > widest ? item : widest;
    }
    return narrowest < NARROW && widest > NARROW;
}

static bool are_few_on_host(const kn_lowering *l, const kn_lowered_part *part, const kn_group *g,
                            int64_t terms, bool are_spread)
{
    int64_t read = 0;
    bool follows = true;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        read += leaf->kind == KN_BASE_INPUT ? terms : 0;
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        follows = follows &&
                  (leaf->kind != KN_BASE_INPUT || (follows_results(l, g, leaf, terms, read == terms) &&
                                                   (read <= MOST_TERMS || elements_of(g, leaf) > terms)));
    return are_spread || (follows && read <= MOST_TERMS_READ * (are_mixed(l, g) ? 2 : 1) &&
                          !(part->program->uses & KN_USES_REDUCTION_INDEX));
}

bool kn_lowering_make_terms(kn_lowering *l, const kn_lowered_part *part, const kn_group *g,
                            const kn_resolved *r)
{
    int64_t terms = 1, results = 1, elements = 0;
    if (g->n_roots > 1 || strcmp(part->program->pattern, "mrk") != 0 ||
        l->expression->options.flags & KILN_KERNEL_ROUND_EACH)
        return false;
    for (int a = 0; a < g->ndim; ++a)
        *(g->reduced >> a & 1 ? &terms : &results) *= g->extent[a];
    for (const kn_leaf *leaf = g->leaf; leaf; leaf = leaf->next)
        elements += elements_of(g, leaf);
    bool are_spread = elements <= results;
    if (terms > (l->state.is_host && are_mixed(l, g) ? MOST_MIXED : MOST_TERMS) || terms == 0)
        return false;
    if (l->state.is_host
            ? results < MANY_ON_HOST || !are_few_on_host(l, part, g, terms, are_spread)
            : results < MANY_GATHERED || (!are_spread && !lie_crosswise(g) &&
                                          !(r && kn_fusion_is_map_of_terms(&r->spec, &r->space))))
        return false;
    const kn_group_size one = kn_group_measure(g);
    const kn_group_size all = {one.uses * (int)terms, one.leaves * (int)terms, one.params * (int)terms,
                               one.levels, one.reductions};
    if (!kn_group_size_fits(&all))
        return false;
    for (const kn_use *u = g->first_use; u; u = u->after)
        if (u->is_own_reduction)
            l->state.is_terms[u->node] = true;
    l->is_again = true;
    if (l->own[g->root[0]])
        kn_lowering_drop_own(l, g->root[0]);
    return true;
}
