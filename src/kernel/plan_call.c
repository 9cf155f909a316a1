/* From a binding to a plan: the space, the schedule and the specialisation of a call. */
#include "kernel/plan_steps.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "codegen/codegen.h"
#include "schedules/choose.h"
#include "schedule/widen.h"
#include "program/program.h"
#include "space/shape.h"

enum { WARP = 32, MOST_THREADS = 1024 }; /* of a block */

/* The views of a binding that take part in the broadcast: by array number, or those alone that are given. */
typedef struct views {
    int count;
    int param[KN_MAX_PARAMS];
    kn_view view[KN_MAX_PARAMS];
    const char *name[KN_MAX_PARAMS];
} views;

static void set_view(views *v, int at, const kn_binding *b, int k, int ndim, const int64_t *shape,
                     const int64_t *strides)
{
    v->param[at] = k;
    v->name[at] = b->program->param[k].name;
    v->view[at] = (kn_view){shape, strides, ndim, k >= b->program->n_in};
}

/* True if parameter k is an output that has no elements along reduced axes. */
static bool is_reduced_output(const kn_binding *b, int k)
{
    int n_in = b->program->n_in;
    return k >= n_in && b->program->reduced_outputs >> (k - n_in) & 1;
}

/* Collects the arrays that give the shape; outputs of reductions do not. */
static void gather_given(views *v, const kn_binding *b)
{
    v->count = 0;
    for (int k = 0; k < b->program->n_in + b->program->n_out; ++k)
        if (b->operand[k].array >= 0 && b->array[k] && !is_reduced_output(b, k))
            set_view(v, v->count++, b, k, b->array[k]->ndim, b->array[k]->shape, b->array[k]->strides);
}

static kiln_status refuse_shape(const kn_resolved *r, const kn_binding *b, const views *v,
                                const kiln_call_options *options)
{
    kn_str asked = KN_STR_INIT, actual = KN_STR_INIT;
    if (options->shape)
        kn_shape_format(&asked, options->ndim, options->shape);
    else
        kn_str_printf(&asked, "%lld", (long long)options->size);
    kn_shape_format(&actual, r->ndim, r->shape);
    kiln_status status = kn_error(KILN_ERROR_INVALID,
                                  "%s: options.%s: %s was given, but '%s' is an array that is not raw, and "
                                  "such arrays give the extents "
                                  "%s: leave the option out, or make every array raw",
                                  b->program->name, options->shape ? "shape" : "size", kn_str_text(&asked),
                                  v->name[0], kn_str_text(&actual));
    kn_str_free(&asked);
    kn_str_free(&actual);
    return status;
}

/* The shape of the arrays has to be that of the options, or have as many elements: so calls of a loop may go
 * on saying it once their output is there. */
static kiln_status check_shape(const kn_resolved *r, const kn_binding *b, const views *v,
                               const kiln_call_options *options)
{
    bool agrees = options->shape ? options->ndim == r->ndim && memcmp(options->shape, r->shape,
                                                                      (size_t)r->ndim * sizeof *r->shape) == 0
                                 : kn_shape_size(r->ndim, r->shape) == options->size;
    return agrees ? KILN_OK : refuse_shape(r, b, v, options);
}

static void take_shape(kn_resolved *r, const kiln_call_options *options)
{
    r->ndim = options->shape ? options->ndim : 1;
    if (r->ndim > 0)
        memcpy(r->shape, options->shape ? options->shape : &options->size,
               (size_t)r->ndim * sizeof *r->shape);
}

/* Without a shape from the options, arrays that are not raw have to say it. */
static kiln_status check_raw(const kn_binding *b, const views *v)
{
    const kn_program *p = b->program;
    bool any_raw = false;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        any_raw = any_raw || b->operand[k].pass == KN_PASS_RAW;
        if (b->operand[k].pass == KN_PASS_RAW && !b->array[k])
            return kn_error(
                KILN_ERROR_INVALID,
                "%s: output '%s' is raw, and nothing says its shape: pass an array, or, where every "
                "array is raw, options.size or options.shape",
                p->name, p->param[k].name);
    }
    if (v->count == 0 && any_raw)
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: every array is raw: options.size, the number of elements, or options.shape (which "
            "may have none) was expected",
            p->name);
    return KILN_OK;
}

static kiln_status find_shape(kn_resolved *r, const kn_binding *b, const views *v,
                              const kiln_call_options *options)
{
    bool is_asked = options->size > 0 || options->shape;
    kiln_status status = KILN_OK;
    if (is_asked && v->count == 0) {
        take_shape(r, options);
        return KILN_OK;
    }
    if (!is_asked)
        status = check_raw(b, v);
    if (status != KILN_OK)
        return status;
    status = kn_space_broadcast(&r->ndim, r->shape, v->view, v->name, v->count);
    if (status != KILN_OK)
        kn_error_context("%s", b->program->name);
    return status == KILN_OK && is_asked ? check_shape(r, b, v, options) : status;
}

/* True if every array that takes part has the whole shape in Fortran order alone, arrays without axes left
 * aside, and none would have to be converted to another's dtype. NumPy's ufuncs with one result do without
 * their iterator then. Elements lie where that would put them, but axes of extent 1 have other strides. */
static bool is_all_fortran(const kn_binding *b, const views *v)
{
    const kiln_array *first = NULL;
    kiln_dtype common = KILN_DTYPE_NONE;
    for (int o = 0; o < v->count; ++o) {
        const kiln_array *a = b->array[v->param[o]];
        if (o == 0)
            common = a->dtype;
        else
            KILN_IGNORE(kiln_dtype_promote(&common, common, a->dtype)); /* both are dtypes */
    }
    for (int o = 0; o < v->count; ++o) {
        const kiln_array *a = b->array[v->param[o]];
        if (a->ndim == 0)
            continue;
        if (!first)
            first = a;
        if (a->dtype != common || a->is_c_contiguous || !a->is_f_contiguous || a->ndim != first->ndim ||
            memcmp(a->shape, first->shape, (size_t)a->ndim * sizeof *a->shape) != 0)
            return false;
    }
    return first && b->program->n_out == 1;
}

static bool are_fortran(const kn_binding *b, const views *v)
{
    for (int o = 0; o < v->count; ++o)
        if (!b->array[v->param[o]]->is_f_contiguous)
            return false;
    return v->count > 0;
}

/* The axes of outputs that the call allocates, outermost in memory first. */
static void order_axes(int *axes, const kn_resolved *r, const kn_binding *b, const views *v, kiln_order order)
{
    bool reversed = order == KILN_ORDER_FORTRAN || (order == KILN_ORDER_KEEP && is_all_fortran(b, v)) ||
                    (order == KILN_ORDER_ANY && are_fortran(b, v));
    if (order == KILN_ORDER_KEEP && !reversed) {
        kn_space_memory_order(axes, r->ndim, v->view, v->count);
        return;
    }
    for (int a = 0; a < r->ndim; ++a)
        axes[a] = reversed ? r->ndim - 1 - a : a;
}

static const int64_t *shape_of_output(const kn_resolved *r, const kn_binding *b, int j)
{
    return is_reduced_output(b, b->program->n_in + j) ? r->reduced_shape : r->shape;
}

/* Strides of these outputs; as in any new array, 0 where there are no elements. */
static void find_out_strides(kn_resolved *r, const kn_binding *b, const views *v, kiln_order order)
{
    int axes[KILN_MAX_NDIM];
    order_axes(axes, r, b, v, b->program->is_in_c_order ? KILN_ORDER_C : order);
    for (int j = 0; j < b->program->n_out; ++j) {
        const int64_t *shape = shape_of_output(r, b, j);
        bool is_empty = kn_shape_size(r->ndim, shape) == 0;
        int64_t run = is_empty ? 0 : (int64_t)kiln_dtype_size(b->operand[b->program->n_in + j].dtype);
        for (int a = r->ndim; a-- > 0; run *= shape[axes[a]])
            r->out_stride[j][axes[a]] = run;
    }
}

/* The axes that the call names, as bits. An array without axes is reduced along its first
 * axis, or its last, as in NumPy. */
static kiln_status read_axes(uint64_t *out, const kn_resolved *r, const kn_program *p,
                             const kiln_call_options *options)
{
    *out = 0;
    if (r->ndim == 0 && options->n_axes == 1 && (options->axes[0] == 0 || options->axes[0] == -1) &&
        !kn_program_scans(p))
        return KILN_OK;
    for (int k = 0; k < options->n_axes; ++k) {
        int axis = options->axes[k] + (options->axes[k] < 0 ? r->ndim : 0);
        if (axis < 0 || axis >= r->ndim)
            return kn_error(KILN_ERROR_INVALID,
                            "%s: options.axes[%d]: axis %d was given; the arguments' shape has %d", p->name,
                            k, options->axes[k], r->ndim);
        if (*out >> axis & 1)
            return kn_error(KILN_ERROR_INVALID, "%s: options.axes[%d]: axis %d was given before", p->name, k,
                            options->axes[k]);
        *out |= UINT64_C(1) << axis;
    }
    return KILN_OK;
}

/* Those that the call names, all where it names none; or the last ones, as many as the program says. */
static kiln_status find_reduced(kn_resolved *r, const kn_program *p, const kiln_call_options *options)
{
    kiln_status status = KILN_OK;
    bool by_call = p->reduced == KN_REDUCED_BY_CALL;
    if (!by_call && (options->axes || options->flags & KILN_CALL_KEEPDIMS))
        return kn_error(KILN_ERROR_INVALID,
                        "%s: options.%s was given, but the kernel is no reduction, and has no axes to reduce",
                        p->name, options->axes ? "axes" : "flags: KILN_CALL_KEEPDIMS");
    if (kn_program_scans(p) && options->flags & KILN_CALL_KEEPDIMS)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: options.flags: KILN_CALL_KEEPDIMS was given, but the kernel is a scan, whose "
                        "results have all axes anyway",
                        p->name);
    int last = by_call ? KILN_MAX_NDIM : p->reduced;
    r->reduced = 0;
    for (int a = 0; a < r->ndim; ++a)
        r->reduced |= (uint64_t)(a >= r->ndim - last) << a;
    if (options->axes)
        status = read_axes(&r->reduced, r, p, options);
    for (int a = 0; a < r->ndim; ++a)
        r->reduced_shape[a] = r->reduced >> a & 1 ? 1 : r->shape[a];
    r->dropped = options->flags & KILN_CALL_KEEPDIMS ? 0 : r->reduced;
    return status;
}

/* A reduction of no elements needs an identity, as in NumPy where there are no results either. */
static kiln_status check_identity(const kn_resolved *r, const kn_program *p)
{
    int empty = -1;
    for (int a = 0; a < r->ndim; ++a)
        empty = r->reduced >> a & 1 && r->shape[a] == 0 ? a : empty;
    for (int s = 0; s < p->n_stages && empty >= 0; ++s)
        if (p->stage[s].kind == KN_REDUCE && !p->stage[s].identity[0])
            return kn_error(
                KILN_ERROR_INVALID,
                "%s: axis %d has no elements, and there is no identity for what is reduced over it", p->name,
                empty);
    return KILN_OK;
}

/* The axes that output j has, their extents and, behind them, its strides. */
static int set_extents(int64_t *extents, const kn_resolved *r, const kn_binding *b, int j)
{
    uint64_t gone = is_reduced_output(b, b->program->n_in + j) ? r->dropped : 0;
    int ndim = 0, own = 0;
    for (int a = 0; a < r->ndim; ++a)
        ndim += !(gone >> a & 1);
    for (int a = 0; a < r->ndim; ++a) {
        if (gone >> a & 1)
            continue;
        extents[own] = shape_of_output(r, b, j)[a];
        extents[ndim + own++] = r->out_stride[j][a];
    }
    return ndim;
}

/* An array given for a reduced output has the output axes and, unless they are dropped, the reduction axes
 * with extent 1. Its strides are stored at the axes of the broadcast shape. */
static kiln_status place_reduced_output(kn_resolved *r, const kn_binding *b, int k)
{
    const kiln_array *a = b->array[k];
    int own = 0;
    bool fits = true;
    for (int axis = 0; axis < r->ndim; ++axis) {
        if (r->dropped >> axis & 1)
            continue;
        fits = fits && own < a->ndim && a->shape[own] == r->reduced_shape[axis];
        r->out_stride[k - b->program->n_in][axis] = fits ? a->strides[own] : 0;
        ++own;
    }
    if (fits && own == a->ndim)
        return KILN_OK;
    kn_str given = KN_STR_INIT, expected = KN_STR_INIT;
    int64_t extents[2 * KILN_MAX_NDIM];
    kn_shape_format(&given, a->ndim, a->shape);
    kn_shape_format(&expected, set_extents(extents, r, b, k - b->program->n_in), extents);
    kiln_status status =
        kn_error(KILN_ERROR_SHAPE, "%s: output '%s' has shape %s, but the result has %s", b->program->name,
                 b->program->param[k].name, kn_str_text(&given), kn_str_text(&expected));
    kn_str_free(&given);
    kn_str_free(&expected);
    return status;
}

/* All operands of the space, by their number. */
static kiln_status gather_all(views *v, const kn_binding *b, kn_resolved *r)
{
    v->count = b->n_arrays;
    for (int k = 0; k < b->program->n_in + b->program->n_out; ++k) {
        int at = b->operand[k].array, j = k - b->program->n_in;
        const kiln_array *a = b->array[k];
        if (at < 0)
            continue;
        kiln_status status = a && is_reduced_output(b, k) ? place_reduced_output(r, b, k) : KILN_OK;
        if (status != KILN_OK)
            return status;
        if (a && !is_reduced_output(b, k))
            set_view(v, at, b, k, a->ndim, a->shape, a->strides);
        else
            set_view(v, at, b, k, r->ndim, shape_of_output(r, b, j), r->out_stride[j]);
    }
    return KILN_OK;
}

static kiln_status choose_schedule(kn_resolved *r, const kn_binding *b, const kiln_call_options *options,
                                   int block)
{
    kn_access access[KN_MAX_PARAMS];
    bool is_operand = false; /* the array before this one is one of the space */
    bool is_baseline = kn_tiers_mode() == KILN_FORMS_QUICK && !(options->flags & KILN_CALL_BEST);
    kn_spec_access(access, &r->spec);
    for (int k = 0; k < b->program->n_in + b->program->n_out; ++k) {
        int o = b->operand[k].array;
        if (o >= 0) {
            access[o].address =
                (b->array[k] ? (uintptr_t)b->array[k]->data : 0) + (uintptr_t)r->space.offset[o];
            r->space.after[o] = is_operand ? b->after[k] : 0;
        }
        is_operand = b->array[k] ? o >= 0 : is_operand;
    }
    kn_spec_widen(&r->spec, &r->space, access);
    if (is_baseline && kn_schedule_quick(&r->spec.schedule, r->spec.program, &r->spec.target, b->n_arrays,
                                         r->space.ndim, block))
        return KILN_OK;
    return kn_schedule_choose(&r->spec.schedule, &r->launch_params, r->spec.program, &r->space, access,
                              b->n_arrays, &r->spec.target, block);
}

/* The host has no blocks: limits of CUDA do not matter there. */
static kiln_status find_block(int *block, const kn_binding *b, int asked, const kn_target *target)
{
    *block = target->backend == KN_HOST ? 0 : asked;
    if (*block <= MOST_THREADS && *block % WARP == 0)
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID,
                    "%s: options.block: %d was given; 0 or a multiple of %d up to %d was expected for CUDA",
                    b->program->name, asked, WARP, MOST_THREADS);
}

/* Raw outputs that the call allocates have the shape of the call, in C order. */
static void set_raw_outputs(kn_resolved *r, const kn_binding *b)
{
    for (int k = b->program->n_in; k < b->program->n_in + b->program->n_out; ++k)
        if (b->operand[k].pass == KN_PASS_RAW && !b->array[k]) {
            r->spec.operand[k].raw_contiguous = true;
            r->spec.operand[k].raw_rank = r->ndim;
        }
}

/* The rows of counts and places have numbers: those of other kernels, and of the words of a sort. */
static kn_space_order order_of(const kn_program *p)
{
    return kn_pattern_has_rows(p->pattern) ? KN_IN_C_ORDER
           : !kn_program_scans(p)          ? KN_ANY_ORDER
           : p->is_reversed                ? KN_BACKWARD
                                           : KN_FORWARD;
}

kiln_status kn_resolve(kn_resolved *r, const kn_binding *b, const kiln_call_options *options,
                       const kn_target *target)
{
    const kn_program *p = b->program;
    int block;
    views v;
    gather_given(&v, b);
    kiln_status status = find_block(&block, b, options->block, target);
    if (status == KILN_OK)
        status = find_shape(r, b, &v, options);
    if (status != KILN_OK)
        return status;
    status = find_reduced(r, p, options);
    if (status == KILN_OK)
        status = check_identity(r, p);
    if (status != KILN_OK)
        return status;
    find_out_strides(r, b, &v, options->order);
    status = gather_all(&v, b, r);
    if (status != KILN_OK)
        return status;
    kn_space_make_in_order(&r->space, r->ndim, r->shape, r->reduced, v.view, v.count, kn_layout_indices(p),
                           order_of(p));
    r->spec.program = p;
    memcpy(r->spec.operand, b->operand, sizeof r->spec.operand);
    r->spec.n_arrays = b->n_arrays;
    set_raw_outputs(r, b);
    r->spec.loop_rank = p->uses & KN_USES_PLACE ? r->ndim : 0;
    r->spec.target = *target;
    r->spec.generator = kn_codegen_generator();
    memset(&r->launch_params, 0, sizeof r->launch_params);
    return choose_schedule(r, b, options, block);
}

/* ---- the plan ---- */

void kn_call_plan_free(kn_call_plan *plan)
{
    if (!plan)
        return;
    kn_plan_launch_free(&plan->launch);
    kn_plan_steps_free(plan->steps);
    kn_apart_free(&plan->apart);
    kn_free(plan->layout);
    kn_free(plan);
}

/* Same element size and, along each axis of the broadcast shape, the same stride. */
static bool has_same_layout(const kiln_array *a, const kiln_array *b)
{
    return a->item_size == b->item_size && a->ndim == b->ndim &&
           memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) == 0 &&
           memcmp(a->strides, b->strides, (size_t)a->ndim * sizeof *a->strides) == 0;
}

static void set_params(kn_plan_param *param, const kn_binding *b)
{
    int n_in = b->program->n_in, n_out = b->program->n_out;
    for (int k = 0; k < n_in + n_out; ++k) {
        const kiln_array *a = b->array[k];
        param[k] = (kn_plan_param){.pass = b->operand[k].pass, .dtype = b->operand[k].dtype};
        if (a)
            kn_shape_byte_range(a->ndim, a->shape, a->strides, a->item_size, &param[k].low, &param[k].high);
    }
    for (int j = n_in; j < n_in + n_out; ++j)
        for (int k = 0; k < n_in; ++k)
            if (b->array[k] && b->array[j] && has_same_layout(b->array[k], b->array[j]))
                param[j].same_layout |= UINT64_C(1) << k;
}

static bool covers_partly(const kiln_array *out, const kiln_array *in)
{
    int64_t in_low, in_high, out_low, out_high;
    kn_shape_byte_range(in->ndim, in->shape, in->strides, in->item_size, &in_low, &in_high);
    kn_shape_byte_range(out->ndim, out->shape, out->strides, out->item_size, &out_low, &out_high);
    return in->data + in_high > out->data + out_low && out->data + out_high > in->data + in_low &&
           !(in->data == out->data && has_same_layout(in, out));
}

uint64_t kn_binding_overlaps(const kn_binding *b)
{
    uint64_t overlaps = 0;
    for (int k = 0; k < b->program->n_in; ++k)
        for (int j = 0; j < b->program->n_out; ++j) {
            const kiln_array *out = b->array[b->program->n_in + j];
            if (out && b->operand[k].pass == KN_PASS_ARRAY && covers_partly(out, b->array[k]))
                overlaps |= UINT64_C(1) << k;
        }
    return overlaps;
}

/* Forms of the outputs, with their extents behind them in the same allocation. */
static kiln_status set_layouts(kn_call_plan *plan, const kn_binding *b, const kn_resolved *r)
{
    size_t row = (size_t)r->ndim * sizeof(int64_t), n_out = (size_t)plan->n_out;
    size_t size = n_out * (sizeof *plan->layout + 2 * row);
    plan->layout = kn_calloc(1, size > 0 ? size : 1);
    if (!plan->layout)
        return kn_error_memory("a call plan");
    int64_t *extents = (int64_t *)(void *)(plan->layout + n_out);
    for (size_t j = 0; j < n_out; ++j, extents += 2 * r->ndim) {
        int ndim = set_extents(extents, r, b, (int)j);
        if (b->array[plan->n_in + (int)j])
            continue;
        plan->zeroed |= b->program->left_outputs & UINT64_C(1) << j;
        kn_array_layout_make(&plan->layout[j], plan->param[plan->n_in + (int)j].dtype, ndim, extents);
    }
    return KILN_OK;
}

static kiln_status make_launch(kn_call_plan *plan, const kn_resolved *r, const kn_binding *b, int block,
                               unsigned flags, kn_build_info *info)
{
    kn_raw_shape raw[KN_MAX_PARAMS];
    const kn_launch_input input = {&r->spec, &r->space, &r->launch_params, NULL, r->ndim,
                                   r->shape, raw,       plan->device,      NULL, false};
    for (int k = 0; k < plan->n_in + plan->n_out; ++k)
        if (r->spec.operand[k].pass == KN_PASS_RAW)
            raw[k] = b->array[k]
                         ? (kn_raw_shape){b->array[k]->size, b->array[k]->ndim, b->array[k]->shape,
                                          b->array[k]->strides}
                         : (kn_raw_shape){r->space.size, r->ndim, r->shape, r->out_stride[k - plan->n_in]};
    kiln_status status =
        kn_plan_launch_create(&plan->launch, r, &input, block, b->own_functions, flags, info);
    plan->has_tiers = info->baseline > 0;
    return status;
}

/* Its parameters are behind the key. */
kn_call_plan *kn_call_plan_new(int n_in, int n_out, const int64_t *key, size_t key_words, uint64_t hash)
{
    size_t head = sizeof(kn_call_plan) + key_words * sizeof *key;
    kn_call_plan *plan = kn_calloc(1, head + (size_t)(n_in + n_out) * sizeof *plan->param);
    if (!plan)
        return NULL;
    plan->param = (kn_plan_param *)(void *)(plan->key + key_words);
    plan->n_in = n_in;
    plan->n_out = n_out;
    plan->hash = hash;
    plan->key_words = key_words;
    if (key_words > 0)
        memcpy(plan->key, key, key_words * sizeof *key);
    return plan;
}

static kn_call_plan *new_plan(const kn_binding *b, const int64_t *key, size_t key_words, uint64_t hash)
{
    kn_call_plan *plan = kn_call_plan_new(b->program->n_in, b->program->n_out, key, key_words, hash);
    if (!plan)
        return NULL;
    set_params(plan->param, b);
    plan->device = b->device;
    plan->launch_name = kn_device_launch_name(b->program->name);
    return plan;
}

kiln_status kn_call_plan_create(kn_call_plan **out, const kn_binding *b, const kiln_call_options *options,
                                const int64_t *key, size_t key_words, uint64_t hash, unsigned build_flags,
                                kn_build_info *info)
{
    kn_resolved *r = kn_malloc(sizeof *r);
    kn_call_plan *plan = new_plan(b, key, key_words, hash);
    kiln_status status = KILN_OK;
    if (!r || !plan) {
        status = kn_error_memory("a call plan");
        goto out;
    }
    status = kn_resolve(r, b, options, &b->device->target);
    if (status == KILN_OK)
        status = set_layouts(plan, b, r);
    if (status != KILN_OK)
        goto out;
    plan->is_empty =
        kn_space_output_size(&r->space) == 0 || (r->space.size == 0 && !b->program->reduced_outputs);
    if (!plan->is_empty)
        status = make_launch(plan, r, b, options->block, build_flags, info);
out:
    kn_free(r);
    if (status != KILN_OK) {
        kn_call_plan_free(plan);
        return status;
    }
    *out = plan;
    return KILN_OK;
}
