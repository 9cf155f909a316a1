/* kind_host.c - the host's kernels know runs alone: one call goes over all, or a walk makes runs of any
 * layout. Two kinds, by what the kernel is told of the logical index: a number that counts up along a run, or
 * the index of each element. The second serves for all layouts, and has a quick form: the compiler makes no
 * vectors of it. */
#include "plan/kind.h"
#include "plan/layout.h"

#include "plan/choice.h"
#include "plan/cost.h"
#include "plan/pure.h"
#include "types/dtype.h"

enum { GRAIN = 1 << 16 /* fewest elements that are worth a thread, where a body is cheap */ };

static bool counts_up(const kn_space *space)
{
    return !space->indices || kn_choice_is_run(space, space->n_operands - 1, 1);
}

static bool choose_runs(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    (void)out;
    (void)kept;
    return counts_up(c->space);
}

static bool choose_indices(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    (void)out;
    (void)kept;
    (void)c;
    return true;
}

/* The operands as a walk sees them; whether all are one run each, the index left out. */
static bool list_operands(kn_walk_operand *operand, const kn_part *part)
{
    const kn_program *p = part->spec->program;
    bool is_run = part->space->ndim == 1, is_pure = kn_body_is_pure(p);
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        const kn_operand *o = &part->spec->operand[k];
        if (o->array < 0)
            continue;
        int item_size = kn_dtype_info_of(o->dtype)->size;
        const int64_t *stride = part->space->stride[o->array];
        is_run = is_run && stride[0] == item_size;
        operand[o->array] =
            (kn_walk_operand){k < p->n_in ? KN_WALK_INPUT : KN_WALK_OUTPUT, part->layout->param_at[k],
                              item_size, stride, k >= p->n_in && !is_pure};
    }
    return is_run;
}

static kiln_status place_walk(kn_placement *out, const kn_part *part, kn_walk_kind index, int index_size)
{
    kn_walk_operand operand[KN_MAX_OPERANDS];
    const kn_space *space = part->space;
    int count = part->spec->n_arrays;
    bool is_run = list_operands(operand, part) && index == KN_WALK_COUNT;
    if (part->layout->start_at >= 0) {
        operand[count] =
            (kn_walk_operand){index, part->layout->start_at, index_size, space->stride[count], false};
        ++count;
    }
    out->grain = GRAIN / (1 + 2 * kn_cost_functions(part->spec->program)) + 1;
    return is_run ? KILN_OK : kn_walk_create(&out->walk, space->ndim, space->extent, operand, count);
}

static kiln_status place_runs(kn_placement *out, const kn_part *part)
{
    return place_walk(out, part, KN_WALK_COUNT, 1);
}

static kiln_status place_indices(kn_placement *out, const kn_part *part)
{
    return place_walk(out, part, KN_WALK_INDICES, sizeof(int64_t));
}

const kn_kind kn_kind_host_runs = {"flat", "m",   choose_runs, kn_field_none, place_runs,
                                   NULL,   false, NULL,        false};
const kn_kind kn_kind_host_indices = {"strided", "m",   choose_indices, kn_field_none, place_indices,
                                      NULL,      false, NULL,           false};
const kn_kind kn_kind_host_quick = {"quick", "m",   choose_indices, kn_field_none, place_indices,
                                    NULL,    false, NULL,           false};
