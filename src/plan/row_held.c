#include "plan/row_held.h"

#include <string.h>

#include "plan/kind.h"

/* The kinds that hold rows on CUDA. */
static const kn_kind *const holding[] = {&kn_kind_row_lanes, &kn_kind_row_block, &kn_kind_row_long};

bool kn_row_is_held(const kn_choice *c)
{
    bool is_held = c->target->backend == KN_HOST || strcmp(c->program->pattern, "mrk") == 0;
    for (size_t k = 0; k < sizeof holding / sizeof holding[0] && !is_held; ++k) {
        kn_schedule schedule = {.kind = holding[k]};
        kn_figures figures = {{0}};
        is_held = holding[k]->choose(&schedule, &figures, c);
    }
    return is_held;
}
