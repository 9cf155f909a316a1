/* fill_strided.c - templates/cuda/strided.cu. */
#include "codegen/writer.h"

const kn_recipe kn_recipe_strided = {.kind = &kn_kind_strided,
                                     .template_name = "cuda/strided.cu",
                                     .fill = kn_put_single,
                                     .fast_axis = "kn.axis[0]",
                                     .has_places_alone = true};
