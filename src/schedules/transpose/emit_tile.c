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
    return w->spec->schedule.variant != 0;
}

/* NVRTC compiles the assembly instead; kn_stage of the template says what it means. */
static void put_stage(kn_writer *w, int k)
{
    kn_str *out = &w->slot[KN_SLOT_STAGE], call = KN_STR_INIT;
    const char *name = w->program->param[k].name;
    int vector = w->spec->schedule.vector, size = kn_item_size(w, k);
    char from[KN_NAME_MAX + 64], step[64], carry[160], to[KN_NAME_MAX + 128], pitch[64];
    kn_transpose_rows rows = {"0", "0", "0"};
    snprintf(from, sizeof from, "(const char *)kn.%s_ + kn_from.at[%d]", name, kn_array_of(w, k));
    snprintf(step, sizeof step, "kn_axis_p%s.stride[%d]", is_narrow(w) ? "2" : "", kn_array_of(w, k));
    if (is_narrow(w)) {
        snprintf(carry, sizeof carry, "kn_axis_p.stride[%d] - (int)kn.tile.p_narrow * kn_axis_p2.stride[%d]",
                 kn_array_of(w, k), kn_array_of(w, k));
        rows = (kn_transpose_rows){"kn_rows", "kn.tile.p_narrow", carry};
    }
    snprintf(to, sizeof to,
             "(unsigned)__cvta_generic_to_shared(kn_%s_tile) + (kn_b * kn_pitch + kn_slot) * %d", name,
             vector * size);
    snprintf(pitch, sizeof pitch, "kn_pitch * %d", size);
    kn_str_printf(&call, "kn_stage(kn_%s_tile, %s, %s, %s, %s, %s, kn_pitch, kn_b, kn_slot);\n", name, from,
                  step, rows.left, rows.row, rows.carry);
    kn_str_append(out, "#ifdef __CUDACC_RTC__\n");
    if (!kn_put_transposed(w, out, vector, size, from, step, is_narrow(w) ? &rows : NULL, to, pitch))
        kn_str_append(out, kn_str_text(&call));
    kn_str_printf(out, "#else\n%s#endif\n", kn_str_text(&call));
    out->failed = out->failed || call.failed;
    kn_str_free(&call);
}

/* The tiles of staged operands follow each other in shared memory, each at a multiple of 16 bytes. */
static void put_stages(kn_writer *w)
{
    int vector = w->spec->schedule.vector;
    kn_str before = KN_STR_INIT, bytes = KN_STR_INIT;
    kn_str_append(&before, "kn_shared");
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *name = w->program->param[k].name;
        if (kn_access_of(w, k) == KN_STAGED) {
            kn_str_printf(&w->slot[KN_SLOT_TILES], "%s *const kn_%s_tile = (%s *)%s;\n", kn_storage(w, k),
                          name, kn_storage(w, k), kn_str_text(&before));
            kn_str_clear(&before);
            kn_str_printf(&bytes, " + ((kn.tile.p * kn.tile.q * %d + 15) & ~15u)",
                          vector * vector * kn_item_size(w, k));
            kn_str_printf(&before, "((char *)kn_shared%s)", kn_str_text(&bytes));
            put_stage(w, k);
        }
    }
    w->slot[KN_SLOT_TILES].failed = w->slot[KN_SLOT_TILES].failed || before.failed || bytes.failed;
    kn_str_free(&before);
    kn_str_free(&bytes);
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

const kn_recipe kn_recipe_tile = {
    .template_name = "schedules/transpose/tile.cu", .fill = fill_tile, .fast_axis = "kn_axis_p"};
