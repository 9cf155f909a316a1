/* emit_tile.c - fills tile.cu. */
#include "codegen/writer.h"

#include <stdio.h>

#include "program/cost.h"
#include "schedules/transpose/transpose_kinds.h"

enum {
    FULL_THREADS = 2048, /* threads of a multiprocessor for which tiles of short vectors leave registers */
    MOST_BOUND = 4,      /* elements of a short vector */
    MOST_UNROLLED = 4    /* elements of a vector, up to which the loop over a thread's rows is unrolled */
};

/* A side may be along a narrow axis and the next one, joined. */
static bool is_narrow(const kn_writer *w)
{
    return kn_transpose_config_of(&w->spec->schedule)->narrow_axis;
}

/* NVRTC compiles the assembly instead; kn_stage of the template says what it means. */
static void put_stage(kn_writer *w, int k)
{
    kn_str *from = kn_text(w), *to = kn_text(w), *step = kn_text(w), *carry = kn_text(w),
           *assembly = kn_text(w), *call = kn_text(w), *out = &w->slot[KN_SLOT_STAGE];
    int vector = w->spec->schedule.vector, size = kn_item_size(w, k);
    char pitch[64];
    kn_transpose_rows rows = {"0", "0", "0"};
    kn_put_part(w, from, "stage_from", k);
    kn_put_part_with(w, to, "stage_to", k, "bytes=%d", vector * size);
    kn_put_part_with(w, step, "stage_step", k, "along=%s", is_narrow(w) ? "kn_axis_p2" : "kn_axis_p");
    if (is_narrow(w)) {
        kn_put_part(w, carry, "stage_carry", k);
        rows = (kn_transpose_rows){"kn_rows", "kn.p_narrow", kn_str_text(carry)};
    }
    snprintf(pitch, sizeof pitch, "kn_pitch * %d", size);
    kn_put_part_with(w, call, "stage", k, "from=%s step=%s left=%s row=%s carry=%s", kn_str_text(from),
                     kn_str_text(step), rows.left, rows.row, rows.carry);
    bool has_assembly = kn_put_transposed(w, assembly, vector, size, kn_str_text(from), kn_str_text(step),
                                          is_narrow(w) ? &rows : NULL, kn_str_text(to), pitch);
    kn_put_part_with(w, out, "stage_by_compiler", KN_NO_VALUE, "assembly=%s call=%s",
                     kn_str_text(has_assembly ? assembly : call), kn_str_text(call));
}

/* The tiles of staged operands follow each other in shared memory, each at a multiple of 16 bytes. */
static void put_stages(kn_writer *w)
{
    int vector = w->spec->schedule.vector;
    kn_str *before = kn_text(w), *bytes = kn_text(w), *tiles = &w->slot[KN_SLOT_TILES];
    kn_str_append(before, "kn_shared");
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_access_of(w, k) != KN_STAGED)
            continue;
        kn_put_part_with(w, tiles, "tile_of", k, "before=%s", kn_str_text(before));
        kn_str_clear(before);
        kn_put_part_with(w, bytes, "bytes_of_tile", KN_NO_VALUE, "bytes=%d",
                         vector * vector * kn_item_size(w, k));
        kn_put_part_with(w, before, "next_tile", KN_NO_VALUE, "bytes=%s", kn_str_text(bytes));
        put_stage(w, k);
    }
}

static void fill_tile(kn_writer *w)
{
    int vector = w->spec->schedule.vector;
    if (vector <= MOST_BOUND && kn_cost_functions(w->program) == 0)
        kn_put_blocks(w, FULL_THREADS);
    kn_str_printf(&w->slot[KN_SLOT_ROW_UNROLL], "%d", vector > MOST_UNROLLED ? 1 : vector);
    put_stages(w);
    kn_put_corner(w);
    kn_fill_located(w, kn_put_gather_of_one_row);
}

KN_CONFIG_TABLE(kn_transpose_config, KN_TRANSPOSE_CONFIG);
const kn_recipe kn_recipe_tile = {.template_name = "schedules/transpose/tile.cu",
                                  .fill = fill_tile,
                                  .fast_axis = "kn_axis_p",
                                  .parts = "schedules/transpose/transpose_parts.cu"};
