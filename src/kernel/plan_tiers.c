/* The tier that a plan launches: the optimised one where it is at hand, else the baseline one, while the
 * optimised one is compiled in the background (store/tiers.h). */
#include "kernel/kernel.h"

#include "base/error.h"
#include "base/os.h"
#include "schedules/choose.h"
#include "schedule/layout.h"
#include "schedules/spec_text.h"

static kiln_status create(kn_launch_plan **out, const kn_launch_input *from, kn_function *function,
                          const kn_build_info *info)
{
    kn_launch_input input = *from;
    input.function = function;
    input.waits_for_kernels = info->waits_for_kernels;
    return kn_launch_plan_create(out, &input);
}

/* The arguments of a plan's launch, as they are handed on here. */
typedef struct question {
    const kn_resolved *resolved;
    const kn_launch_input *input;
    kn_flight_table *own_functions;
    unsigned flags;
    kn_build_info *info;
} question;

static kiln_status take_optimised(kn_plan_launch *out, const question *q, unsigned more_flags)
{
    kn_function *function = NULL;
    kiln_status status = kn_build_program(&function, &q->resolved->spec, q->own_functions,
                                          q->flags | more_flags, q->input->device, q->info);
    return status == KILN_OK ? create(&out->only, q->input, function, q->info) : status;
}

bool kn_resolved_make_baseline(kn_spec *out, const kn_resolved *r, int block)
{
    const kn_schedule *optimised = &r->spec.schedule;
    *out = r->spec;
    if (out->program->flags & KILN_KERNEL_CHECK || kn_schedule_is_baseline(optimised, out->target.backend))
        return false;
    if (kn_schedule_quick(&out->schedule, out->program, &out->target, out->n_arrays, r->space.ndim, block))
        return out->schedule.kind != optimised->kind;
    out->schedule = *optimised;
    return kn_schedule_make_baseline(out, &r->space) ||
           kn_schedule_keeps_order(&out->schedule, &r->spec, &r->space, &r->launch_params);
}

/* Only the code knows how large a struct is. */
static kiln_status check_value(const kn_spec *baseline, kn_function *function, const kn_device *device)
{
    const kn_backend *backend = device->backend;
    void *unused = NULL;
    size_t size = 0;
    size_t largest = baseline->schedule.kind->largest_value;
    if (!largest || kn_spec_value_dtype(baseline, kn_spec_reduced_value(baseline)) != KILN_DTYPE_NONE)
        return KILN_OK;
    kiln_status status =
        backend->module_global(backend->function_module(function), KN_VALUE_SYMBOL, &unused, &size);
    return status == KILN_OK && size > largest ? KILN_ERROR_NOT_FOUND : status;
}

static kiln_status take_baseline(kn_launch_plan **out, const question *q, const kn_spec *baseline)
{
    static const kn_launch_params none = {{0}};
    kn_launch_input input = *q->input;
    kn_function *function = NULL;
    const kn_kind *kind = baseline->schedule.kind;
    input.spec = baseline;
    if (kind->keeps_order)
        input.order = &q->resolved->spec;
    else if (kind != q->resolved->spec.schedule.kind)
        input.launch_params = &none;
    kiln_status status =
        kn_build_program(&function, baseline, q->own_functions, q->flags, q->input->device, q->info);
    if (status == KILN_OK)
        status = check_value(baseline, function, q->input->device);
    return status == KILN_OK ? create(out, &input, function, q->info) : status;
}

/* A plan that is to have both, neither of which is there yet. */
static kiln_status create_tiers(kn_tiers **out, const question *q)
{
    kn_launch_plan *optimised = NULL;
    kn_str what = KN_STR_INIT;
    kn_spec_format(&what, &q->resolved->spec);
    kiln_status status = kn_str_status(&what, "a specialisation");
    if (status == KILN_OK)
        status = kn_launch_plan_create(&optimised, q->input);
    if (status == KILN_OK)
        status = kn_tiers_create(out, optimised, q->input->device, kn_str_text(&what));
    kn_str_free(&what);
    return status;
}

/* Counts the tier as it is now, and whether the optimised one is still to come. */
static void count_tier(const kn_plan_launch *l, kn_build_info *info)
{
    bool is_optimised = l->tiers ? atomic_load(&l->tiers->state) == KN_TIERS_OPTIMISED : !l->is_baseline;
    info->baseline += !is_optimised;
    info->pending += l->tiers && !kn_tiers_are_settled(l->tiers);
}

/* The baseline tier now, the optimised one later. Both are compiled side by side where there is a second
 * processor: NVRTC's stages alternate, and the baseline tier, which is the first in each, comes as soon as by
 * itself. */
static kiln_status take_both(kn_plan_launch *out, const question *q, const kn_spec *baseline)
{
    kn_launch_plan *plan = NULL;
    kn_tiers *tiers = NULL;
    kiln_status status = create_tiers(&tiers, q);
    if (status != KILN_OK)
        return status;
    if (kn_os_cpu_count() > 1)
        kn_tiers_submit(tiers);
    status = take_baseline(&plan, q, baseline);
    if (status != KILN_OK) {
        kn_tiers_withdraw(tiers);
        return status;
    }
    kn_tiers_set_baseline(tiers, plan);
    kn_tiers_submit(tiers);
    out->tiers = tiers;
    count_tier(out, q->info);
    return KILN_OK;
}

/* It was not found where it was looked for. */
static bool is_missing(kiln_status status)
{
    return status == KILN_ERROR_FORBIDDEN || status == KILN_ERROR_NOT_FOUND;
}

/* The optimised tier may not be compiled, or there is no compiler: does the baseline one lie somewhere? The
 * last error is the optimised one's, in both cases. */
static kiln_status take_only_baseline(kn_plan_launch *out, const question *q, const kn_spec *baseline,
                                      kiln_status failure)
{
    kn_error_state before;
    question find_it = *q;
    find_it.flags |= KN_BUILD_FIND;
    kn_error_save(&before);
    kiln_status status = take_baseline(&out->only, &find_it, baseline);
    kn_error_restore(&before);
    if (status != KILN_OK)
        return failure;
    out->is_baseline = true;
    q->info->baseline = 1;
    kn_tiers_note_only_baseline(baseline->program->name);
    return KILN_OK;
}

static kiln_status wait_for_optimised(kn_plan_launch *out, const question *q, const kn_spec *baseline)
{
    kiln_status status = take_optimised(out, q, 0);
    return is_missing(status) && baseline ? take_only_baseline(out, q, baseline, status) : status;
}

/* A text that does not compile fails in its baseline tier. */
static kiln_status begin_with_baseline(kn_plan_launch *out, const question *q, const kn_spec *baseline)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = take_optimised(out, q, KN_BUILD_FIND);
    if (!is_missing(status))
        return status;
    kn_error_restore(&before);
    status = take_both(out, q, baseline);
    return is_missing(status) ? wait_for_optimised(out, q, baseline) : status;
}

/* Where the mode asks for it; those of elementwise programs have been chosen before. */
static kiln_status take_given_baseline(kn_plan_launch *out, const question *q, const kn_spec *baseline)
{
    kiln_status status = take_baseline(&out->only, q, baseline);
    if (is_missing(status))
        return take_optimised(out, q, 0);
    out->is_baseline = status == KILN_OK;
    if (status == KILN_OK)
        q->info->baseline = 1;
    return status;
}

/* As long as the optimised tier is to come, the launch has none. */
static kiln_status take_later(kn_plan_launch *out, const question *q)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = take_optimised(out, q, KN_BUILD_FIND);
    if (!is_missing(status))
        return status;
    kn_error_restore(&before);
    status = create_tiers(&out->tiers, q);
    if (status != KILN_OK)
        return status;
    out->tiers->is_beside = true;
    count_tier(out, q->info);
    return KILN_OK;
}

static kiln_status take_quick(kn_plan_launch *out, const question *q, const kn_spec *baseline)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = take_optimised(out, q, KN_BUILD_FIND);
    if (!is_missing(status))
        return status;
    kn_error_restore(&before);
    return take_given_baseline(out, q, baseline);
}

kiln_status kn_plan_launch_create(kn_plan_launch *out, const kn_resolved *r, const kn_launch_input *input,
                                  int block, kn_flight_table *own_functions, unsigned build_flags,
                                  kn_build_info *info)
{
    const question q = {r, input, own_functions, build_flags, info};
    kn_spec baseline;
    bool has_baseline = kn_resolved_make_baseline(&baseline, r, block);
    *out = (kn_plan_launch){NULL, NULL, false};
    const bool is_soon = kn_schedule_is_soon(&r->spec.schedule, r->spec.program);
    if (build_flags & KN_BUILD_QUICK && has_baseline && !is_soon)
        return take_quick(out, &q, &baseline);
    if (has_baseline && (baseline.schedule.baseline || baseline.schedule.kind->keeps_order) &&
        kn_tiers_mode() == KILN_FORMS_QUICK && !(build_flags & KN_BUILD_OPTIMISED))
        return take_given_baseline(out, &q, &baseline);
    if (build_flags & KN_BUILD_LATER && !(r->spec.program->flags & KILN_KERNEL_CHECK))
        return take_later(out, &q);
    bool comes_later = !(build_flags & (KN_BUILD_OPTIMISED | KN_BUILD_NO_COMPILE | KN_BUILD_QUICK)) &&
                       !kn_build_is_forbidden();
    if (has_baseline && comes_later && kn_tiers_mode() == KILN_FORMS_BOTH && !is_soon)
        return begin_with_baseline(out, &q, &baseline);
    return wait_for_optimised(out, &q, has_baseline ? &baseline : NULL);
}

void kn_plan_launch_free(kn_plan_launch *l)
{
    kn_launch_plan_free(l->only);
    kn_tiers_release(l->tiers);
}

void kn_plan_launch_look(const kn_plan_launch *l, bool wants_optimised, kn_build_info *info)
{
    if (l->tiers && !kn_tiers_are_settled(l->tiers)) {
        if (wants_optimised)
            kn_tiers_finish(l->tiers);
        else
            kn_tiers_submit(l->tiers);
    }
    count_tier(l, info);
}
