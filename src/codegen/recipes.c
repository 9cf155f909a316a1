/* recipes.c - the table of recipes: a line for each kind. */
#include "codegen/writer.h"

#include <stddef.h>

extern const kn_recipe kn_recipe_flat, kn_recipe_rows, kn_recipe_strided, kn_recipe_steps, kn_recipe_tile,
    kn_recipe_windows, kn_recipe_pixels, kn_recipe_woven, kn_recipe_shifted, kn_recipe_broad,
    kn_recipe_planes, kn_recipe_mirrored, kn_recipe_fold_threads, kn_recipe_fold_rows, kn_recipe_fold_lanes,
    kn_recipe_fold_columns, kn_recipe_fold_tile, kn_recipe_row_lanes, kn_recipe_row_block, kn_recipe_row_long,
    kn_recipe_row_walked, kn_recipe_host_runs, kn_recipe_host_indices, kn_recipe_host_quick,
    kn_recipe_host_woven, kn_recipe_host_fold, kn_recipe_host_row;

static const kn_recipe *const recipes[] = {
    &kn_recipe_flat,         &kn_recipe_rows,      &kn_recipe_strided,      &kn_recipe_steps,
    &kn_recipe_tile,         &kn_recipe_windows,   &kn_recipe_pixels,       &kn_recipe_woven,
    &kn_recipe_shifted,      &kn_recipe_mirrored,  &kn_recipe_planes,       &kn_recipe_broad,
    &kn_recipe_fold_threads, &kn_recipe_fold_rows, &kn_recipe_fold_lanes,   &kn_recipe_fold_columns,
    &kn_recipe_fold_tile,    &kn_recipe_row_lanes, &kn_recipe_row_block,    &kn_recipe_row_long,
    &kn_recipe_row_walked,   &kn_recipe_host_runs, &kn_recipe_host_indices, &kn_recipe_host_quick,
    &kn_recipe_host_woven,   &kn_recipe_host_fold, &kn_recipe_host_row};

const kn_recipe *kn_recipe_find(const kn_kind *kind)
{
    for (size_t k = 0; k < sizeof recipes / sizeof recipes[0]; ++k)
        if (recipes[k]->kind == kind)
            return recipes[k];
    return NULL;
}
