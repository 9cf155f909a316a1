/* row_held.c - asks the kinds that hold rows. */
#include "schedules/rowprog/row_held.h"

#include <string.h>

#include "schedule/kind.h"

bool kn_row_is_held(const kn_choice *c)
{
    bool is_held = c->target->backend == KN_HOST || strcmp(c->program->pattern, "mrk") == 0;
    for (const kn_kind *const *kind = kn_kinds_of(c->target->backend); *kind && !is_held; ++kind) {
        kn_schedule schedule = {.kind = *kind};
        kn_launch_params launch_params = {{0}};
        is_held = (*kind)->holds_rows && (*kind)->choose(&schedule, &launch_params, c);
    }
    return is_held;
}
