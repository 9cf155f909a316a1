/* emit_strided.c - fills strided.cu. */
#include "codegen/writer.h"
#include "schedules/contiguous/contiguous_kinds.h"

const kn_recipe kn_recipe_strided = {.template_name = "schedules/contiguous/strided.cu",
                                     .fill = kn_put_single,
                                     .fast_axis = "kn.axis[0]",
                                     .has_places_alone = true};
