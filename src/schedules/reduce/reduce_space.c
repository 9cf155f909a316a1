/* reduce_space.c - questions of CUDA's reductions about a space. */
#include "schedules/reduce/reduce_space.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "schedule/choice.h"
#include "types/dtype.h"

enum {
    ACCESS = 16 /* bytes of one load */,
    GUESSED_STRUCT = 16 /* bytes */,
    WORD = 4,
    LEAST_GATHERED =
        8,             /* bytes of a vector that is gathered: elements of shorter ones are read one by one, */
    LEAST_VECTORS = 3, /* of rows of fewer vectors of several inputs, too */
    LEAST_PLAIN = 512, /* words of a row from which on, up to */
    MOST_PLAIN = 1500, /* so many, inputs that are misaligned in different ways are read as fast one by one */
    NEAR_AXES = 4, /* along which vectors are gathered: kn_go_near of src/codegen/prelude/cuda_reduce.cu */
    WHOLE_VECTORS = 64 /* elements: a multiple of any vector */
};

/* True if the operand has several elements: one alone is no vector. */
static bool has_several(const kn_choice *c, int o)
{
    bool moves = false;
    for (int a = 0; a < c->space->ndim; ++a)
        moves = moves || c->space->stride[o][a] != 0;
    return moves;
}

int kn_reduce_vector(const kn_choice *c)
{
    int widest = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->access[o].item_size > widest && has_several(c, o))
            widest = c->access[o].item_size;
    return widest == 0 ? 1 : ACCESS / widest;
}

int kn_reduce_vector_along(const kn_choice *c, int axis)
{
    int widest = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][axis] != 0 && c->access[o].item_size > widest)
            widest = c->access[o].item_size;
    return widest == 0 ? kn_reduce_vector(c) : ACCESS / widest;
}

static bool runs(const kn_choice *c, int o, int axis)
{
    return !c->access[o].is_output && c->space->stride[o][axis] == c->access[o].item_size;
}

static bool runs_backward(const kn_choice *c, int o, int axis)
{
    return !c->access[o].is_output && c->space->stride[o][axis] == -(int64_t)c->access[o].item_size;
}

double kn_reduce_bytes_along(const kn_choice *c, int axis)
{
    double bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += runs(c, o, axis) ? (double)kn_choice_footprint(c, o) : 0;
    return bytes;
}

bool kn_reduce_is_of_each_result(const kn_choice *c, int o)
{
    int results = c->space->ndim - c->space->n_reduction_axes;
    bool moves = results == 0;
    for (int a = 0; a < results; ++a)
        moves = moves || c->space->stride[o][a] != 0;
    return moves;
}

bool kn_reduce_is_weight(const kn_choice *c, int o)
{
    return !c->access[o].is_output && !kn_reduce_is_of_each_result(c, o);
}

bool kn_reduce_has_broadcast(const kn_choice *c, int axis)
{
    bool some = false;
    for (int o = 0; o < c->count; ++o)
        some = some || (!c->access[o].is_output && c->space->stride[o][axis] == 0);
    return some;
}

bool kn_reduce_is_off_as(const kn_choice *c, int o, int as, int axis, int vector)
{
    int item = c->access[o].item_size, other = as < 0 ? 1 : c->access[as].item_size;
    uintptr_t address = as < 0 ? 0 : c->access[as].address;
    if (c->access[o].address % (uintptr_t)item != 0 ||
        c->access[o].address / (uintptr_t)item % (uintptr_t)vector !=
            address / (uintptr_t)other % (uintptr_t)vector)
        return false;
    for (int a = 0; a < c->space->ndim; ++a) {
        int64_t step = c->space->stride[o][a], step_as = as < 0 ? 0 : c->space->stride[as][a];
        if (a != axis && (step % item != 0 || (step / item - step_as / other) % vector != 0))
            return false;
    }
    return true;
}

kn_reduce_fit kn_reduce_fit_of(const kn_choice *c, int axis, int vector, bool with_outputs)
{
    int first = -1;
    bool aligned = true;
    if (vector == 1)
        return KN_FIT_NONE;
    for (int o = 0; o < c->count; ++o) {
        int64_t stride = c->space->stride[o][axis];
        if (stride == 0 || (c->access[o].is_output && !with_outputs))
            continue;
        first = first < 0 ? o : first;
        if (stride != c->access[o].item_size || !kn_reduce_is_off_as(c, o, first, axis, vector))
            return KN_FIT_NONE;
        aligned = aligned && kn_reduce_is_off_as(c, o, -1, axis, vector);
    }
    return first < 0 ? KN_FIT_NONE : aligned ? KN_FIT_ALIGNED : KN_FIT_UNALIGNED;
}

static int reduced_value(const kn_choice *c)
{
    const kn_stage *reduce = &c->program->stage[1];
    return reduce->value[reduce->n_read];
}

bool kn_reduce_is_struct(const kn_choice *c)
{
    return c->program->param[reduced_value(c)].type == KN_TYPE_STRUCT;
}

bool kn_reduce_is_bool(const kn_choice *c)
{
    const kn_param *value = &c->program->param[reduced_value(c)];
    return value->type == KN_TYPE_DTYPE && value->dtype == KILN_BOOL;
}

int kn_reduce_truth_size(const kn_spec *spec)
{
    int narrowest = 0;
    for (int k = 0; k < spec->program->n_in; ++k) {
        int size = spec->operand[k].array < 0 ? 0 : kn_dtype_info_of(spec->operand[k].dtype)->size;
        narrowest = size > 0 && (narrowest == 0 || size < narrowest) ? size : narrowest;
    }
    bool is_truth = kn_spec_value_dtype(spec, kn_spec_reduced_value(spec)) == KILN_BOOL;
    return !is_truth ? 0 : narrowest > 8 ? 8 : narrowest;
}

/* The size of a placeholder, which is some parameter's dtype, is at most that of the widest operand. */
int kn_reduce_size_of_value(const kn_choice *c, int value)
{
    const kn_param *p = &c->program->param[value];
    int in = kn_choice_widest(c, false), out = kn_choice_widest(c, true), widest = in > out ? in : out;
    int size = p->type == KN_TYPE_STRUCT  ? GUESSED_STRUCT
               : p->type == KN_TYPE_DTYPE ? kn_dtype_info_of(p->dtype)->size
                                          : widest;
    return size < 4 ? 4 : size;
}

int kn_reduce_value_size(const kn_choice *c)
{
    return kn_reduce_size_of_value(c, reduced_value(c));
}

void kn_reduce_set_access(kn_schedule *out, const kn_choice *c, int vector)
{
    for (int o = 0; o < c->count; ++o)
        out->access[o] = c->access[o].is_output || vector == 1 ? KN_GATHER : KN_VECTOR;
}

bool kn_reduce_has_half_vectors(const kn_spec *spec)
{
    bool are_half = spec->schedule.vector == 2;
    for (int k = 0; k < spec->program->n_in; ++k)
        if (spec->operand[k].array >= 0)
            are_half = are_half && kn_dtype_info_of(spec->operand[k].dtype)->size <= WORD;
    return are_half;
}

void kn_reduce_set_access_along(kn_schedule *out, const kn_choice *c, int axis)
{
    kn_reduce_set_access(out, c, out->vector);
    for (int o = 0; o < c->count && out->vector > 1; ++o) {
        bool is_too_wide = out->vector > kn_reduce_vector(c) || out->vector * c->access[o].item_size > ACCESS;
        if (!c->access[o].is_output && c->space->stride[o][axis] == 0 && is_too_wide)
            out->access[o] = KN_BROADCAST;
    }
}

/* True if all inputs are contiguous along the axis, or broadcast, and vectors of the space may be gathered.
 */
static bool are_runs(const kn_choice *c, int axis, bool or_backward)
{
    bool are = kn_reduce_bytes_along(c, axis) > 0 && kn_reduce_size(c->space) < KN_REDUCE_STEPS &&
               c->space->n_reduction_axes <= NEAR_AXES;
    for (int o = 0; o < c->count; ++o)
        are = are && (c->access[o].is_output || c->space->stride[o][axis] == 0 || runs(c, o, axis) ||
                      (or_backward && runs_backward(c, o, axis)));
    return are;
}

static int vector_of_runs(const kn_choice *c, int axis, bool are)
{
    int vector = are ? kn_reduce_vector(c) : 1;
    while (vector > 1 && c->space->extent[axis] % vector != 0)
        vector /= 2;
    return vector;
}

int kn_reduce_unaligned_vector(const kn_choice *c, int axis)
{
    return vector_of_runs(c, axis, are_runs(c, axis, false));
}

/* Bytes of an element of the narrowest input of each result. */
static int narrowest(const kn_choice *c)
{
    int bytes = LEAST_GATHERED;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && !kn_reduce_is_weight(c, o) && c->access[o].item_size < bytes)
            bytes = c->access[o].item_size;
    return bytes;
}

/* Words that run forward, in rows that are read as fast one by one. */
static bool are_plain_words(const kn_choice *c)
{
    int inner = c->space->ndim - 1;
    bool are = c->space->n_reduction_axes == 1 && c->space->extent[inner] > LEAST_PLAIN &&
               c->space->extent[inner] <= MOST_PLAIN;
    for (int o = 0; o < c->count; ++o)
        are = are && (c->access[o].is_output ||
                      (c->access[o].item_size == WORD && runs(c, o, inner) && !kn_reduce_is_weight(c, o)));
    return are;
}

/* Bytes of a vector, at least: eight bytes of halves of one input take as long to be put together as elements
 * do one by one (H200). */
static int least_bytes(const kn_choice *c)
{
    bool are_halves = kn_choice_inputs(c) == 1 && c->space->n_reduction_axes == 1 && narrowest(c) > 1;
    return are_halves ? ACCESS : LEAST_GATHERED;
}

/* Values that take long to combine are not worth it: a lane has several vectors under way. */
static bool is_worth_it(const kn_choice *c, int vector)
{
    int inner = c->space->ndim - 1, few = kn_choice_inputs(c) == 1 ? 1 : LEAST_VECTORS;
    int item = kn_reduce_fit_of(c, inner, vector, false) == KN_FIT_ALIGNED ? kn_choice_widest(c, false)
                                                                           : narrowest(c);
    return vector * item >= least_bytes(c) && kn_reduce_size(c->space) >= (int64_t)few * vector &&
           !kn_reduce_is_struct(c) && !are_plain_words(c);
}

bool kn_reduce_lanes_mixes(const kn_choice *c)
{
    int inner = c->space->ndim - 1, vector = kn_reduce_vector(c);
    return c->space->n_reduction_axes == 1 && are_runs(c, inner, true) &&
           c->space->extent[inner] % vector != 0 && is_worth_it(c, vector);
}

int kn_reduce_lanes_vector(const kn_choice *c)
{
    int inner = c->space->ndim - 1, axes = c->space->n_reduction_axes,
        vector = axes > 0 ? vector_of_runs(c, inner, are_runs(c, inner, axes == 1)) : 1;
    return vector > 1 && is_worth_it(c, vector) ? vector : 1;
}

void kn_reduce_set_gathered(kn_schedule *out, const kn_choice *c, int axis, bool as_first)
{
    int first = -1;
    for (int o = 0; o < c->count; ++o) {
        bool is_broadcast = c->space->stride[o][axis] == 0;
        out->access[o] = KN_GATHER;
        if (c->access[o].is_output)
            continue;
        first = as_first && first < 0 && runs(c, o, axis) ? o : first;
        if (is_broadcast)
            out->access[o] = KN_BROADCAST;
        else if (runs_backward(c, o, axis))
            out->access[o] = KN_STAGED;
        else if (runs(c, o, axis) && kn_reduce_is_off_as(c, o, first, axis, out->vector))
            out->access[o] = KN_VECTOR;
    }
}

void kn_reduce_set_index_type(kn_schedule *out, const kn_choice *c)
{
    if (c->program->uses & KN_USES_INDEX_TYPE && kn_reduce_size(c->space) <= INT32_MAX)
        out->index = 32;
}

bool kn_reduce_set_elements(kn_schedule *out, const kn_choice *c)
{
    const kn_space *s = c->space;
    bool is_one_axis = s->n_reduction_axes == 1;
    out->rank = kn_reduce_rank(s);
    for (int o = 0; o < c->count; ++o)
        out->access[o] =
            is_one_axis && s->stride[o][s->ndim - 1] == c->access[o].item_size ? KN_DENSE : KN_GATHER;
    kn_reduce_set_index_type(out, c);
    return is_one_axis;
}

void kn_reduce_set_index(kn_schedule *out, const kn_choice *c)
{
    const kn_space *s = c->space;
    kn_reduce_set_index_type(out, c);
    out->order = c->program->uses & KN_USES_REDUCTION_INDEX && s->n_reduction_axes == 1 &&
                 s->stride[s->n_operands - 1][s->ndim - 1] > 0;
}

int64_t kn_reduce_size(const kn_space *space)
{
    int64_t size = 1;
    for (int a = space->ndim - space->n_reduction_axes; a < space->ndim; ++a)
        size *= space->extent[a];
    return size;
}

/* ---- narrow terms ---- */

enum {
    NARROW_ITEM = 2,       /* bytes of a term, at most; */
    MOST_NARROW = 1 << 15, /* so many terms of 16 bits have a sum of 32, */
    MOST_BYTES = 1 << 23,  /* and so many of 8; they are found by a name of */
    NAME = 64              /* characters, at most */
};

/* The name of so many characters is that of an input, or of a variable of the text, of so many bytes or
 * less. */
static bool is_narrow(const kn_program *p, const char *text, const char *name, int length, int most)
{
    static const char *const types[] = {"bool", "signed char", "unsigned char", "short", "unsigned short"};
    static const int bytes[] = {1, 1, 1, 2, 2};
    char declared[2 * NAME];
    bool is = false;
    for (int k = 0; k < p->n_in; ++k) {
        const kn_param *x = &p->param[k];
        const kn_dtype_info *info = x->type == KN_TYPE_DTYPE ? kn_dtype_info_of(x->dtype) : NULL;
        bool is_whole =
            info && (info->kind == KN_KIND_INT || info->kind == KN_KIND_UINT || info->kind == KN_KIND_BOOL);
        is = is || (is_whole && !x->is_raw && info->size <= most && (int)strlen(x->name) == length &&
                    memcmp(x->name, name, (size_t)length) == 0);
    }
    for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
        snprintf(declared, sizeof declared, "const %s %.*s = ", types[t], length, name);
        is = is || (bytes[t] <= most && strstr(text, declared) != NULL);
    }
    return is;
}

bool kn_reduce_are_terms_narrow(const kn_choice *c)
{
    const kn_program *p = c->program;
    static const char *const types[] = {"long long", "unsigned long long"};
    const char *text = p->stage[0].body, *last = strrchr(text, '=');
    char term[NAME], sum[NAME];
    const int64_t count = kn_reduce_size(c->space);
    for (int t = 0; t < 2 && last && count <= MOST_BYTES; ++t) {
        int length = snprintf(term, sizeof term, "= static_cast<%s>((%s)", types[t], types[t]);
        snprintf(sum, sizeof sum, "static_cast<%s>(a + b)", types[t]);
        size_t name = strcspn(last + length * (strncmp(last, term, (size_t)length) == 0), ")");
        if (strncmp(last, term, (size_t)length) == 0 && strcmp(p->stage[1].body, sum) == 0 && name < NAME &&
            last[length + name] == ')' && last[length + name + 1] == ';')
            return is_narrow(p, text, last + length, (int)name, count <= MOST_NARROW ? NARROW_ITEM : 1);
    }
    return false;
}

/* The text is a comparison with zero, or names a truth value: an input, or a variable of the text. */
static bool is_truth(const kn_program *p, const char *text, const char *term)
{
    char declared[2 * NAME];
    const int name = (int)strcspn(term, " )");
    for (int k = 0; k < p->n_in; ++k) {
        const kn_param *x = &p->param[k];
        if (!x->is_raw && (int)strlen(x->name) == name && memcmp(x->name, term, (size_t)name) == 0)
            return strncmp(term + name, " != (", 5) == 0 ||
                   (term[name] == ')' && x->type == KN_TYPE_DTYPE && x->dtype == KILN_BOOL);
    }
    snprintf(declared, sizeof declared, "const bool %.*s = ", name < NAME ? name : 0, term);
    return term[name] == ')' && name < NAME && strstr(text, declared);
}

/* The term of the text's last statement, which casts it to 64 bits; NULL: it does not. */
static const char *term_of(const char *text)
{
    static const char assigned[] = " = static_cast<long long>(", cast[] = "(long long)";
    const char *term = NULL;
    for (const char *at = strstr(text, assigned); at; at = strstr(term, assigned))
        term = at + sizeof assigned - 1;
    const char *end = term ? strchr(term, ';') : NULL;
    if (!end || end[1 + strspn(end + 1, " \n")])
        return NULL;
    return strncmp(term, cast, sizeof cast - 1) == 0 ? term + sizeof cast - 1 : term;
}

bool kn_reduce_are_terms_truths(const kn_choice *c)
{
    const kn_program *p = c->program;
    const char *text = p->stage[0].body, *term = term_of(text);
    return term && strcmp(p->stage[1].body, "static_cast<long long>(a + b)") == 0 && is_truth(p, text, term);
}

KN_CONFIG_TABLE(kn_reduce_axes_config, KN_REDUCE_AXES_CONFIG);

int kn_reduce_known_axes(const kn_space *space, int axes)
{
    bool is_near = axes <= NEAR_AXES && kn_reduce_size(space) < KN_REDUCE_STEPS;
    return axes < 2    ? KN_REDUCE_ONE_AXIS
           : axes == 2 ? KN_REDUCE_TWO_AXES
           : is_near   ? KN_REDUCE_NEAR_AXES
                       : KN_REDUCE_SEVERAL_AXES;
}

int kn_reduce_one_or_several(int axes)
{
    return axes < 2 ? KN_REDUCE_ONE_AXIS : KN_REDUCE_SEVERAL_AXES;
}

int kn_reduce_rank(const kn_space *space)
{
    return kn_choice_rank(space->ndim < KILN_MAX_NDIM ? space->ndim + 1 : space->ndim);
}

static void put_next(kn_space *out, const kn_space *space, int axis)
{
    kn_space_put_axis(out, out->ndim, space, axis, 1);
    ++out->ndim;
}

int kn_reduce_put_output_axes(kn_space *out, const kn_space *space, int last)
{
    int outputs = space->ndim - space->n_reduction_axes;
    kn_space_start(out, space);
    out->ndim = 0;
    for (int a = 0; a < outputs; ++a)
        if (a != last)
            put_next(out, space, a);
    if (last >= 0)
        put_next(out, space, last);
    return out->ndim;
}

int kn_reduce_put_reduction_axes(kn_space *out, const kn_space *space, int left_out)
{
    int before = out->ndim;
    for (int a = space->ndim - space->n_reduction_axes; a < space->ndim; ++a)
        if (a != left_out)
            put_next(out, space, a);
    if (out->ndim == before)
        put_next(out, space, -1);
    return out->ndim - before;
}

int kn_reduce_long_axis(const kn_space *space, int reduction_axes)
{
    int inner = space->ndim - 1;
    return reduction_axes != KN_REDUCE_ONE_AXIS && space->extent[inner] >= KN_REDUCE_STEPS ? inner : -1;
}

int kn_reduce_place_axes(kn_placement *out, const kn_space *space, int last, int outside)
{
    out->size = kn_space_output_size(space);
    kn_reduce_put_output_axes(&out->own_space, space, last);
    if (outside >= 0)
        put_next(&out->own_space, space, outside);
    int rank = kn_reduce_put_reduction_axes(&out->own_space, space, outside) + (outside >= 0);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim;
    return rank;
}

int64_t kn_reduce_place_beside(kn_placement *out, const kn_part *part, int64_t per_place)
{
    kn_reduce_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    int64_t run = part->space->extent[chosen.axis], across = kn_divide_up(run, per_place);
    kn_reduce_beside f = {.reduction_rank = kn_reduce_place_axes(out, part->space, chosen.axis, -1),
                          .rows = (uint32_t)kn_reduce_size(part->space),
                          .across = kn_divider_make((uint32_t)across)};
    f.per_row = kn_divider_make((uint32_t)out->own_space.extent[out->own_space.ndim - 1]);
    memcpy(out->field, &f, sizeof f);
    return out->size / run * across;
}

void kn_reduce_describe_beside(kn_str *out, const unsigned char *at)
{
    kn_reduce_beside f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " rows=\"%u\" across=\"%u\"", (unsigned)f.rows, (unsigned)f.across.extent);
}

/* The axis along which the first input that is not broadcast everywhere has the smallest stride; -1. */
static int nearest_axis(const kn_choice *c)
{
    const kn_space *s = c->space;
    int axis = -1;
    for (int o = 0; o < c->count && axis < 0; ++o)
        for (int a = 0; a < s->ndim && !c->access[o].is_output; ++a)
            if (s->stride[o][a] != 0 && (axis < 0 || llabs(s->stride[o][a]) <= llabs(s->stride[o][axis])))
                axis = a;
    return axis;
}

int kn_reduce_output_axis(const kn_choice *c)
{
    const kn_space *s = c->space;
    int outputs = s->ndim - s->n_reduction_axes, axis = -1;
    double most = s->n_reduction_axes > 0 ? kn_reduce_bytes_along(c, s->ndim - 1) : 0;
    bool none = most == 0;
    for (int a = 0; a < outputs; ++a)
        if (kn_reduce_bytes_along(c, a) > most) {
            most = kn_reduce_bytes_along(c, a);
            axis = a;
        }
    if (axis < 0 && none)
        axis = nearest_axis(c) < outputs ? nearest_axis(c) : -1;
    return axis;
}

int kn_reduce_cut_outermost(int64_t *align, const kn_part *part)
{
    int a = 0;
    *align = 1;
    if (kn_space_output_size(part->space) < KN_MAX_INDEX)
        return -1;
    while (part->space->extent[a] == 1) /* parts of parts */
        ++a;
    return a;
}

int kn_reduce_cut_beside(int64_t *align, const kn_part *part)
{
    const kn_space *s = part->space;
    kn_reduce_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    if (kn_space_output_size(s) < KN_MAX_INDEX)
        return -1;
    *align = 1;
    for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a)
        if (a != chosen.axis && s->extent[a] > 1)
            return a;
    *align = WHOLE_VECTORS;
    return chosen.axis;
}
