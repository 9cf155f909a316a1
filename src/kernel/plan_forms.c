/* What a plan launches: the best form where it is at hand, else the quick one, behind which the best one is
 * made (store/forms.h). */
#include "kernel/kernel.h"

#include "base/error.h"
#include "base/os.h"
#include "schedules/choose.h"
#include "schedules/spec_text.h"

static kiln_status create(kn_launch_plan **out, const kn_launch_input *from, kn_function *function,
                          const kn_build_info *info)
{
    kn_launch_input input = *from;
    input.function = function;
    input.waits_for_kernels = info->waits_for_kernels;
    return kn_launch_plan_create(out, &input);
}

/* What is asked for on the way to a launch. */
typedef struct question {
    const kn_resolved *resolved;
    const kn_launch_input *input;
    kn_once_table *kept;
    unsigned flags;
    kn_build_info *info;
} question;

static kiln_status take_best(kn_plan_launch *out, const question *q, unsigned more_flags)
{
    kn_function *function = NULL;
    kiln_status status = kn_build_program(&function, &q->resolved->spec, q->kept, q->flags | more_flags,
                                          q->input->device, q->info);
    return status == KILN_OK ? create(&out->only, q->input, function, q->info) : status;
}

bool kn_resolved_make_quick(kn_spec *out, const kn_resolved *r, int block)
{
    const kn_kind *kind = r->spec.schedule.kind;
    *out = r->spec;
    return !(out->program->flags & KILN_KERNEL_CHECK) &&
           kn_schedule_quick(&out->schedule, out->program, &out->target, out->n_arrays, r->space.ndim,
                             block) &&
           out->schedule.kind != kind;
}

static kiln_status take_quick(kn_launch_plan **out, const question *q, const kn_spec *quick)
{
    static const kn_launch_params none = {{0}};
    kn_launch_input input = *q->input;
    kn_function *function = NULL;
    input.spec = quick;
    input.figures = &none;
    kiln_status status = kn_build_program(&function, quick, q->kept, q->flags, q->input->device, q->info);
    return status == KILN_OK ? create(out, &input, function, q->info) : status;
}

/* A plan that is to have both, neither of which is there yet. */
static kiln_status create_forms(kn_forms **out, const question *q)
{
    kn_launch_plan *best = NULL;
    kn_str what = KN_STR_INIT;
    kn_spec_format(&what, &q->resolved->spec);
    kiln_status status = kn_str_status(&what, "a specialisation");
    if (status == KILN_OK)
        status = kn_launch_plan_create(&best, q->input);
    if (status == KILN_OK)
        status = kn_forms_create(out, best, q->input->device, kn_str_text(&what));
    kn_str_free(&what);
    return status;
}

/* Which it is now, and whether the best one is still to come. */
static void count_form(const kn_plan_launch *l, kn_build_info *info)
{
    bool is_best = l->forms ? atomic_load(&l->forms->state) == KN_FORMS_BEST : !l->is_quick;
    info->quick += !is_best;
    info->pending += l->forms && !kn_forms_are_settled(l->forms);
}

/* The quick form now, the best one later. Both are compiled side by side where there is a second processor:
 * NVRTC's stages take turns, and the quick form, which is the first in each, comes as soon as by itself. */
static kiln_status take_both(kn_plan_launch *out, const question *q, const kn_spec *quick)
{
    kn_launch_plan *plan = NULL;
    kn_forms *forms = NULL;
    kiln_status status = create_forms(&forms, q);
    if (status != KILN_OK)
        return status;
    if (kn_os_cpu_count() > 1)
        kn_forms_submit(forms);
    status = take_quick(&plan, q, quick);
    if (status != KILN_OK) {
        kn_forms_withdraw(forms);
        return status;
    }
    kn_forms_set_quick(forms, plan);
    kn_forms_submit(forms);
    out->forms = forms;
    count_form(out, q->info);
    return KILN_OK;
}

/* It was not found where it was looked for. */
static bool is_missing(kiln_status status)
{
    return status == KILN_ERROR_FORBIDDEN || status == KILN_ERROR_NOT_FOUND;
}

/* The best form may not be compiled, or there is no compiler: does the quick one lie somewhere? The last
 * error is the best one's, in both cases. */
static kiln_status take_only_quick(kn_plan_launch *out, const question *q, const kn_spec *quick,
                                   kiln_status failure)
{
    kn_error_state before;
    question find_it = *q;
    find_it.flags |= KN_BUILD_FIND;
    kn_error_save(&before);
    kiln_status status = take_quick(&out->only, &find_it, quick);
    kn_error_restore(&before);
    if (status != KILN_OK)
        return failure;
    out->is_quick = true;
    q->info->quick = 1;
    kn_forms_note_only_quick(quick->program->name);
    return KILN_OK;
}

static kiln_status wait_for_best(kn_plan_launch *out, const question *q, const kn_spec *quick)
{
    kiln_status status = take_best(out, q, 0);
    return is_missing(status) && quick ? take_only_quick(out, q, quick, status) : status;
}

/* A text that does not compile fails in its quick form. */
static kiln_status begin_quickly(kn_plan_launch *out, const question *q, const kn_spec *quick)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = take_best(out, q, KN_BUILD_FIND);
    if (!is_missing(status))
        return status;
    kn_error_restore(&before);
    status = take_both(out, q, quick);
    return is_missing(status) ? wait_for_best(out, q, quick) : status;
}

kiln_status kn_plan_launch_create(kn_plan_launch *out, const kn_resolved *r, const kn_launch_input *input,
                                  int block, kn_once_table *kept, unsigned build_flags, kn_build_info *info)
{
    const question q = {r, input, kept, build_flags, info};
    kn_spec quick;
    bool has_quick = kn_resolved_make_quick(&quick, r, block);
    *out = (kn_plan_launch){NULL, NULL, false};
    bool comes_later = !(build_flags & (KN_BUILD_BEST | KN_BUILD_NO_COMPILE)) && !kn_build_is_forbidden();
    if (has_quick && comes_later && kn_forms_mode() == KILN_FORMS_BOTH &&
        !kn_schedule_is_soon(&r->spec.schedule, r->spec.program))
        return begin_quickly(out, &q, &quick);
    return wait_for_best(out, &q, has_quick ? &quick : NULL);
}

void kn_plan_launch_free(kn_plan_launch *l)
{
    kn_launch_plan_free(l->only);
    kn_forms_release(l->forms);
}

void kn_plan_launch_look(const kn_plan_launch *l, bool wants_best, kn_build_info *info)
{
    if (l->forms && !kn_forms_are_settled(l->forms)) {
        if (wants_best)
            kn_forms_finish(l->forms);
        else
            kn_forms_submit(l->forms);
    }
    count_form(l, info);
}
