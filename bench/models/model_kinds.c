/* model_kinds.c - the library's table of kinds, with switches for measurements: the strided kernel for
 * everything, rows kernels without block rasterisation or without joining short rows. Linked before the
 * library's own. */
#include "schedules/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "choices.h"

#define kn_kind_rows model_rows
#define kn_rows_space model_rows_space
#include "schedules/contiguous/kind_rows.c" /* NOLINT(bugprone-suspicious-include) */
#undef kn_kind_rows
#undef kn_rows_space

static bool is_wanted(const char *tag)
{
    return choice_wanted >= 0 && strcmp(choices.text[choice_wanted], tag) == 0;
}

const kn_space *kn_rows_space(kn_space *out, const kn_space *space, const kn_schedule *schedule)
{
    return is_wanted("apart") ? space : model_rows_space(out, space, schedule);
}

static kiln_status place_rows(kn_placement *out, const kn_part *part)
{
    const kn_space *space = part->space;
    kiln_status status = model_rows.place(out, part);
    rows_field own;
    memcpy(&own, out->field, sizeof own);
    if (choice_wanted == LIST) {
        choices.count = 0;
        choice_kind = "rows";
        choice_add("model", "model");
        if (own.row_vectors > 0)
            choice_add("along", "along");
        if (out->kernel_space != space)
            choice_add("apart", "apart");
    }
    if (is_wanted("along")) {
        own.row_vectors = 0;
        memcpy(out->field, &own, sizeof own);
        kn_place_along(out, part, space->size + own.misalignment);
        out->grid[1] = 1;
    }
    if (is_wanted("apart")) {
        out->kernel_space = space;
        out->rank = space->ndim;
    }
    return status;
}

const kn_kind kn_kind_rows = {.name = "rows",
                              .pattern = "m",
                              .recipe = &kn_recipe_rows,
                              .config = &kn_rows_config_table,
                              .choose = choose,
                              .field = KN_FIELD(rows_field, MEMBERS),
                              .place = place_rows,
                              .cut = kn_cut_reach,
                              .describe = describe};

static const kn_kind *const all[] = {&kn_kind_tile, &kn_kind_windows, &kn_kind_flat, &kn_kind_coarsened,
                                     &kn_kind_rows, &kn_kind_strided, NULL};
static const kn_kind *const host[] = {&kn_kind_host_runs, &kn_kind_host_indices, NULL};

const kn_kind *const *kn_kinds_of(kn_backend_kind backend)
{
    return backend == KN_HOST ? host : choice_is_strided ? all + 5 : all;
}
