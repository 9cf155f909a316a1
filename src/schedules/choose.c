/* choose.c - asks the kinds of a target in turn, without those that KILN_KINDS switches off. */
#include "schedules/choose.h"

#include <string.h>

#include "base/error.h"
#include "base/setting.h"
#include "program/cost.h"
#include "schedule/contraction.h"
#include "types/dtype.h"

/* Calls of functions in the texts of a flat kernel up to which it compiles nearly as soon as the baseline
 * tier: each is repeated for each element of a vector. An add takes 30 ms instead of 23, with exp 33 instead
 * of 25 (NVRTC 13.0, two Zen 4 cores). */
enum { SOON_FUNCTIONS = 2 };

const kn_kind *kn_kind_find(kn_backend_kind backend, const char *name)
{
    const kn_kind *const *kind = kn_kinds_of(backend);
    while (*kind && strcmp((*kind)->name, name) != 0)
        ++kind;
    return *kind;
}

/* A pattern that ends in '*' matches all programs that begin so, and scan nothing; "*l" those that end by
 * combining columns. */
static bool computes(const kn_kind *kind, const char *pattern)
{
    size_t length = strcspn(kind->pattern, "*");
    bool begins = strncmp(kind->pattern, pattern, length) == 0;
    if (kind->pattern[length] == '*' && kind->pattern[length + 1])
        return pattern[0] && pattern[strlen(pattern) - 1] == kind->pattern[length + 1];
    return begins && (kind->pattern[length] == '*' ? !kn_pattern_scans(pattern) : pattern[length] == '\0');
}

static bool has_kind(kn_backend_kind backend, const char *name, size_t length)
{
    const kn_kind *const *kind = kn_kinds_of(backend);
    while (*kind && (strncmp((*kind)->name, name, length) != 0 || (*kind)->name[length] != '\0'))
        ++kind;
    return *kind != NULL;
}

/* The limits below which kinds are not asked, which KILN_KINDS switches off, too. */
static const char limits[] = "fewest";

static bool is_limits(const char *name, size_t length)
{
    return length == sizeof limits - 1 && strncmp(name, limits, length) == 0;
}

/* The value of KILN_KINDS, "-tile,-windows", with the names of any target's kinds; NULL: it is not set. */
static kiln_status read_switched_off(const char **out)
{
    kiln_status status = kn_setting_read(out, "KILN_KINDS");
    for (const char *at = *out; status == KILN_OK && at && *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (at[0] != '-' || (!has_kind(KN_HOST, at + 1, length - 1) &&
                             !has_kind(KN_CUDA, at + 1, length - 1) && !is_limits(at + 1, length - 1)))
            return kn_error(KILN_ERROR_INVALID,
                            "KILN_KINDS: '%.*s' is not - and the name of a kind, as in -tile,-windows",
                            (int)(length < 100 ? length : 100), at);
        at += length;
    }
    return status;
}

static bool is_switched_off(const char *switched_off, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = switched_off; at && *at; at += strcspn(at, ","), at += strspn(at, ","))
        if (strcspn(at, ",") == length + 1 && strncmp(at + 1, name, length) == 0)
            return true;
    return false;
}

/* True if the kind is asked for a space of so many elements. */
static bool is_asked(const char *switched_off, const kn_kind *kind, int64_t size)
{
    return !is_switched_off(switched_off, kind->name) &&
           (size >= kind->fewest || is_switched_off(switched_off, limits));
}

kiln_status kn_schedule_choose(kn_schedule *out, kn_launch_params *launch_params, const kn_program *program,
                               const kn_space *space, const kn_access *access, int count,
                               const kn_target *target, int block)
{
    const char *pattern = program ? program->pattern : "m", *switched_off = NULL;
    kiln_status status = read_switched_off(&switched_off);
    if (status != KILN_OK)
        return status;
    const kn_choice choice = {.program = program,
                              .space = space,
                              .access = access,
                              .count = count,
                              .target = target,
                              .block = block,
                              .takes_few = is_switched_off(switched_off, limits)};
    for (const kn_kind *const *kind = kn_kinds_of(target->backend); *kind; ++kind) {
        *out = (kn_schedule){.kind = *kind};
        *launch_params = (kn_launch_params){{0}};
        if (computes(*kind, pattern) && !(*kind)->keeps_order && is_asked(switched_off, *kind, space->size) &&
            (*kind)->choose(out, launch_params, &choice))
            return KILN_OK;
    }
    return kn_error(
        KILN_ERROR_UNSUPPORTED, "%s: no kernel for %s computes stages of the pattern '%s' here%s%s",
        program ? program->name : "kernel", target->architecture, pattern,
        switched_off ? " and is not switched off by KILN_KINDS=" : "", switched_off ? switched_off : "");
}

/* The baseline tier: the last kind of elementwise programs in a table. */
static const kn_kind *quick_kind(kn_backend_kind backend)
{
    const kn_kind *quick = NULL;
    for (const kn_kind *const *kind = kn_kinds_of(backend); *kind; ++kind)
        if (strcmp((*kind)->pattern, "m") == 0)
            quick = *kind;
    return quick;
}

bool kn_kind_is_quick(kn_backend_kind backend, const kn_kind *kind)
{
    return kind == quick_kind(backend) || kind->keeps_order;
}

bool kn_schedule_is_baseline(const kn_schedule *s, kn_backend_kind backend)
{
    return s->baseline || kn_kind_is_quick(backend, s->kind);
}

bool kn_schedule_make_baseline(kn_spec *spec, const kn_space *space)
{
    const kn_kind *kind = spec->schedule.kind;
    bool keeps_bits = !(spec->program->flags & KILN_KERNEL_FAST_MATH) && spec->program->n_options == 0;
    spec->schedule.baseline =
        kind->has_baseline && keeps_bits && (!kind->baseline_takes || kind->baseline_takes(spec, space));
    if (spec->schedule.baseline && kind->make_baseline)
        kind->make_baseline(&spec->schedule);
    return spec->schedule.baseline;
}

bool kn_schedule_is_soon(const kn_schedule *s, const kn_program *program)
{
    return s->kind->compiles_soon && kn_cost_functions(program) <= SOON_FUNCTIONS;
}

bool kn_schedule_quick(kn_schedule *out, const kn_program *program, const kn_target *target, int count,
                       int ndim, int block)
{
    const kn_space space = {.ndim = ndim, .n_operands = count};
    const kn_choice choice = {
        .program = program, .space = &space, .count = count, .target = target, .block = block};
    kn_launch_params unused = {{0}};
    const kn_kind *quick = quick_kind(target->backend);
    *out = (kn_schedule){.kind = quick};
    return quick && computes(quick, program->pattern) && quick->choose(out, &unused, &choice);
}

/* The kind that computes such programs in another kind's order; NULL. */
static const kn_kind *order_keeper(kn_backend_kind backend, const char *pattern)
{
    const kn_kind *const *kind = kn_kinds_of(backend);
    while (*kind && !((*kind)->keeps_order && computes(*kind, pattern)))
        ++kind;
    return *kind;
}

static kiln_status look_at_part(void *user, const kn_part *part)
{
    bool *keeps = user;
    *keeps = *keeps && part->spec->schedule.kind->keeps_order(part);
    return KILN_OK;
}

bool kn_schedule_keeps_order(kn_schedule *out, const kn_spec *optimised, const kn_space *space,
                             const kn_launch_params *launch_params)
{
    const kn_target *target = &optimised->target;
    const kn_choice choice = {
        .program = optimised->program, .space = space, .count = optimised->n_arrays, .target = target};
    kn_launch_params unused = {{0}};
    kn_spec baseline = *optimised;
    bool keeps = true;
    *out = (kn_schedule){.kind = order_keeper(target->backend, optimised->program->pattern)};
    if (!out->kind || !kn_contraction_is_safe(optimised) || !out->kind->choose(out, &unused, &choice))
        return false;
    baseline.schedule = *out;
    const kn_part whole = {&baseline, NULL, launch_params, space, space, optimised};
    return kn_part_each(&whole, look_at_part, &keeps) == KILN_OK && keeps;
}
