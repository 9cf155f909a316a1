/* row_space.c - questions of row programs about a program and a space. */
#include "schedules/rowprog/row_space.h"

#include <stdio.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "types/dtype.h"

enum {
    ACCESS = 16,      /* bytes of one load */
    HELD_BYTES = 176, /* bytes of a thread's 64 registers for held elements and the values of a reduction */
    MOST_HELD = 64,   /* elements */
    WARP = 32,
    LEAST_PIECED = 512,      /* elements of a row in pieces, which has a block at least */
    UNKNOWN = 1 << 20,       /* bytes */
    PLAIN_SHARED = 48 << 10, /* bytes of shared memory that a block has without asking */
    WITH_CLUSTERS = 90,      /* compute capability from which on there are clusters */
    WITHOUT_LARGE = 110,     /* compute capability from which on clusters have at most */
    PORTABLE_CLUSTER = 8,
    LARGEST_CLUSTER = 16
};

/* ---- the program ---- */

static int param_count(const kn_program *p)
{
    return p->n_in + p->n_out;
}

bool kn_stage_gives(const kn_stage *s, int value)
{
    for (int v = s->n_read; v < s->n_read + s->n_given; ++v)
        if (s->value[v] == value)
            return true;
    return false;
}

static bool reads(const kn_stage *s, int value)
{
    for (int v = 0; v < s->n_read; ++v)
        if (s->value[v] == value)
            return true;
    return false;
}

/* The first stage over all elements, from `first` on, that reads the value; the number of stages if none
 * does. */
static int next_read(const kn_program *p, int value, int first)
{
    int s = first;
    while (s < p->n_stages && !(p->stage[s].over == KN_OVER_ALL && reads(&p->stage[s], value)))
        ++s;
    return s;
}

bool kn_row_is_read(const kn_program *p, int value, int first)
{
    return next_read(p, value, first) < p->n_stages;
}

bool kn_row_is_wide(const kn_program *p, int value)
{
    if (value < p->n_in)
        return kn_row_is_read(p, value, 0);
    for (int s = 0; s < p->n_stages; ++s)
        if (kn_stage_gives(&p->stage[s], value))
            return p->stage[s].kind != KN_REDUCE && p->stage[s].over == KN_OVER_ALL;
    return false;
}

int kn_row_first_read(const kn_program *p, int value)
{
    return next_read(p, value, 0);
}

static int first_reduce(const kn_program *p)
{
    int s = 0;
    while (s < p->n_stages && p->stage[s].kind != KN_REDUCE)
        ++s;
    return s;
}

bool kn_row_is_early(const kn_program *p, int value)
{
    return value < p->n_in && kn_row_first_read(p, value) < first_reduce(p);
}

uint32_t kn_row_stages_for(const kn_program *p, bool *wanted)
{
    uint32_t stages = 0;
    for (int t = p->n_stages; t-- > 0;) {
        const kn_stage *s = &p->stage[t];
        bool is_needed = false;
        for (int v = s->n_read; v < s->n_read + s->n_given; ++v)
            is_needed = is_needed || wanted[s->value[v]];
        if (!is_needed || s->kind == KN_REDUCE || s->over != KN_OVER_ALL)
            continue;
        stages |= UINT32_C(1) << t;
        for (int v = 0; v < s->n_read; ++v)
            wanted[s->value[v]] = true;
    }
    return stages;
}

/* ---- the space ---- */

static int inner(const kn_choice *c)
{
    return c->space->ndim - 1;
}

/* False for results of a row and for broadcast inputs: they have stride 0 along it. */
static bool is_along(const kn_choice *c, int o)
{
    return c->space->stride[o][inner(c)] != 0;
}

bool kn_row_writes(const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && is_along(c, o))
            return true;
    return false;
}

/* An input with one element for each piece of a row, as a weight of channels in groups is. */
static bool is_of_pieces(const kn_choice *c, int o)
{
    const kn_space *s = c->space;
    return s->n_reduction_axes == 2 && !is_along(c, o) && s->stride[o][inner(c) - 1] != 0;
}

/* Elements in 16 bytes of the widest operand of which each row has other elements. */
static int wide_vector(const kn_choice *c)
{
    int widest = 0, any = 0;
    for (int o = 0; o < c->count; ++o) {
        int size = c->access[o].item_size;
        any = size > any ? size : any;
        if (is_along(c, o) && kn_reduce_is_of_each_result(c, o) && size > widest)
            widest = size;
    }
    return ACCESS / (widest ? widest : any ? any : ACCESS);
}

int kn_row_vector(const kn_choice *c)
{
    int vector = wide_vector(c), most = kn_row_most_held(c);
    return vector < most ? vector : most;
}

kn_row_fit kn_row_fit_of(const kn_choice *c, int vector)
{
    kn_reduce_fit fit = kn_reduce_fit_of(c, inner(c), vector, true);
    int64_t length = c->space->extent[inner(c)];
    if (fit == KN_FIT_ALIGNED && length % vector == 0)
        return KN_ROW_ALIGNED;
    return fit != KN_FIT_NONE && length >= 2 * vector && c->space->n_reduction_axes == 1 ? KN_ROW_UNALIGNED
                                                                                         : KN_ROW_SINGLE;
}

int64_t kn_row_length(const kn_choice *c)
{
    return c->space->n_reduction_axes == 1 ? c->space->extent[inner(c)] : 0;
}

int64_t kn_row_length_in_pieces(bool *is_pieced, const kn_choice *c)
{
    int64_t length = kn_reduce_size(c->space);
    *is_pieced = c->space->n_reduction_axes == 2 && !c->space->indices && length >= LEAST_PIECED;
    return *is_pieced ? length : kn_row_length(c);
}

/* An upper bound, since the parameters that are arrays are unknown here. Inputs that are broadcast along the
 * row have one element, unless rows are read by single elements. */
static int bytes_of_inputs(const kn_choice *c, int inputs, bool with_broadcast)
{
    int most = 0, widest = 0;
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output || (!with_broadcast && !is_along(c, o) && !is_of_pieces(c, o)))
            continue;
        widest = c->access[o].item_size > widest ? c->access[o].item_size : widest;
        ++most;
    }
    return (inputs < most ? inputs : most) * widest;
}

/* True if a stage before the reduction gives each element the value, and a stage behind it reads the value.
 * */
static bool is_given_across(const kn_program *p, int value, int reduce)
{
    bool is_given = false;
    for (int s = 0; s < reduce; ++s)
        is_given = is_given || kn_stage_gives(&p->stage[s], value);
    return is_given && kn_row_is_wide(p, value) && kn_row_is_read(p, value, reduce + 1);
}

/* Bytes of an element that are needed on both sides of a reduction. */
static int held_across(const kn_choice *c, int reduce, bool recomputes)
{
    const kn_program *p = c->program;
    int inputs = 0;
    for (int k = 0; k < p->n_in; ++k)
        inputs += kn_row_first_read(p, k) < reduce && kn_row_is_read(p, k, reduce + 1);
    int bytes = bytes_of_inputs(c, inputs, false);
    for (int k = p->n_in; k < param_count(p) + p->n_values && !recomputes; ++k)
        bytes += is_given_across(p, k, reduce) ? kn_reduce_size_of_value(c, k) : 0;
    return bytes;
}

int64_t kn_row_given_across(const kn_choice *c)
{
    const kn_program *p = c->program;
    int64_t bytes = 0;
    for (int k = param_count(p); k < param_count(p) + p->n_values; ++k) {
        bool is_across = false;
        for (int s = 0; s < p->n_stages; ++s)
            is_across = is_across || (p->stage[s].kind == KN_REDUCE && is_given_across(p, k, s));
        bytes += !is_across                           ? 0
                 : p->param[k].type == KN_TYPE_STRUCT ? UNKNOWN
                                                      : kn_reduce_size_of_value(c, k);
    }
    return bytes;
}

int kn_row_early_bytes(const kn_choice *c, int vector)
{
    int inputs = 0;
    for (int k = 0; k < c->program->n_in; ++k)
        inputs += kn_row_is_early(c->program, k);
    return bytes_of_inputs(c, inputs, vector == 1);
}

int kn_row_held_bytes(const kn_choice *c, bool recomputes)
{
    const kn_program *p = c->program;
    int held = kn_row_early_bytes(c, 0);
    for (int s = 0; s < p->n_stages; ++s) {
        int across = p->stage[s].kind == KN_REDUCE ? held_across(c, s, recomputes) : 0;
        held = across > held ? across : held;
    }
    return held;
}

/* Bytes of a struct of reductions that are joined (fuse/text_stage.c) whose members are numbers; 0: it is
 * another one. */
static int joined_size(const kn_program *p, const char *name)
{
    static const char *const types[] = {"float", "double", "int", "unsigned", "long long"};
    static const int sizes[] = {4, 8, 4, 4, 8};
    char begin[KN_NAME_MAX + 64];
    snprintf(begin, sizeof begin, "struct %s {\ntypedef int joined;\n", name);
    const char *at = strstr(p->preamble, begin);
    int bytes = 0;
    for (at = at ? at + strlen(begin) : "}"; *at && *at != '}'; at += strcspn(at, "\n") + 1) {
        int size = 0;
        for (size_t t = 0; t < sizeof types / sizeof *types; ++t) {
            size_t length = strlen(types[t]);
            size = strncmp(at, types[t], length) == 0 && strncmp(at + length, " f", 2) == 0 ? sizes[t] : size;
        }
        if (size == 0)
            return 0;
        bytes += size;
    }
    return bytes;
}

static int size_of_reduced(const kn_choice *c, int value)
{
    const kn_param *p = &c->program->param[value];
    int joined = p->type == KN_TYPE_STRUCT ? joined_size(c->program, p->struct_name) : 0;
    return joined > 0 ? joined : kn_reduce_size_of_value(c, value);
}

static int most_held(const kn_choice *c, bool recomputes)
{
    const kn_program *p = c->program;
    int held = kn_row_held_bytes(c, recomputes), reduced = 0, elements = MOST_HELD;
    for (int s = 0; s < p->n_stages; ++s)
        if (p->stage[s].kind == KN_REDUCE) {
            int size = size_of_reduced(c, p->stage[s].value[p->stage[s].n_read]);
            reduced = size > reduced ? size : reduced;
        }
    while (elements > 1 && elements * held + (wide_vector(c) + 2) * reduced > HELD_BYTES)
        elements /= 2;
    return elements;
}

int kn_row_most_held(const kn_choice *c)
{
    return most_held(c, false);
}

int kn_row_most_inputs_held(const kn_choice *c)
{
    return most_held(c, true);
}

void kn_row_set_access(kn_schedule *out, const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o) {
        bool is_run = out->vector == 1 && c->space->stride[o][inner(c)] == c->access[o].item_size;
        bool is_single = out->vector == 1 || (c->access[o].is_output && !is_along(c, o));
        out->access[o] = is_run               ? KN_DENSE
                         : is_single          ? KN_GATHER
                         : is_along(c, o)     ? KN_VECTOR
                         : is_of_pieces(c, o) ? KN_STAGED
                                              : KN_BROADCAST;
    }
    out->order = c->program->uses & KN_USES_REDUCTION_INDEX && kn_row_length(c) > 0 &&
                 c->space->stride[c->space->n_operands - 1][inner(c)] == 1;
}

kn_divider kn_row_per_piece(const kn_space *axes)
{
    return kn_divider_make((uint32_t)axes->extent[axes->ndim - 1]);
}

KN_CONFIG_TABLE(kn_row_config, KN_ROW_CONFIG);

int64_t kn_row_items(int64_t length, int vector, kn_row_fit fit)
{
    return fit == KN_ROW_UNALIGNED ? (length + 2 * vector - 2) / vector : (length + vector - 1) / vector;
}

int kn_row_largest_cluster(const kn_target *t)
{
    return t->compute_capability < WITH_CLUSTERS   ? 1
           : t->compute_capability < WITHOUT_LARGE ? LARGEST_CLUSTER
                                                   : PORTABLE_CLUSTER;
}

int kn_row_staged_bytes(const kn_spec *spec)
{
    int bytes = 0;
    for (int k = 0; k < spec->program->n_in; ++k)
        if (spec->operand[k].array >= 0 && kn_row_is_early(spec->program, k) &&
            spec->schedule.access[spec->operand[k].array] != KN_BROADCAST)
            bytes += spec->schedule.vector * kn_dtype_info_of(spec->operand[k].dtype)->size;
    return bytes;
}

void kn_row_ask_shared(kn_placement *out, unsigned beside)
{
    if (out->shared_bytes > PLAIN_SHARED - beside && out->shared_bytes <= PLAIN_SHARED)
        out->shared_bytes = PLAIN_SHARED + 1;
}

int kn_row_whole(int items)
{
    return items * 3 / 4;
}

int kn_row_loads_sectors(const kn_schedule *s, int64_t length)
{
    (void)s, (void)length;
    return WARP;
}

int kn_row_warps(unsigned threads)
{
    int warps = 1;
    while (warps * WARP < (int)threads)
        warps *= 2;
    return warps;
}
