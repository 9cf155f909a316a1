/* kind_host_select.c - selections on the host, of elements along one axis: programs that count the selected
 * elements, and store each by its number (kernel/select.c). A chunk is a task: it lists its selected
 * elements, waits for the number of those before it, and stores its own. */
#include "schedule/kind.h"

#include <string.h>

#include "program/cost.h"
#include "program/program.h"
#include "schedules/host/host_kinds.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"

enum { CHUNK = 1 << 13 /* elements: indices of 16 bits */, GRAIN = 1 << 14 /* worth another thread */ };

/* The kind's field. */
#define MEMBERS                                                                                              \
    long long length, chunk, chunks;                                                                         \
    int reduction_rank, padding;
typedef struct select_field {
    MEMBERS
} select_field;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    return c->program->is_selection && kn_space_output_size(c->space) == 1 && kn_reduce_set_elements(out, c);
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    select_field f = {.length = kn_reduce_size(part->space), .chunk = CHUNK};
    f.chunks = kn_divide_up(f.length, f.chunk);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = f.chunks;
    out->grain = 1 + GRAIN / (1 + 2 * kn_cost_functions(part->spec->program)) / CHUNK;
    if (f.chunks > 1) {
        out->counters = 3;
        out->partials = f.chunks;
    }
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_host_select = {.name = "select",
                                     .recipe = &kn_recipe_host_select,
                                     .pattern = "msm",
                                     .revision = 1,
                                     .choose = choose,
                                     .field = KN_FIELD(select_field, MEMBERS),
                                     .place = place,
                                     .has_wide_axes = true,
                                     .has_workspace = true};
