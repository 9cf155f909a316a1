/* fill_tile.c - templates/cuda/tile.cu. */
#include "codegen/writer.h"
#include "plan/cost.h"

enum {
    FULL_THREADS = 2048, /* of a multiprocessor that tiles of short vectors are to leave registers for */
    MOST_BOUND = 4,      /* elements of such a short vector */
    MOST_UNROLLED = 4    /* elements of a vector up to which the rows of a thread are unrolled */
};

/* The staged operands' tiles stand one behind the other in shared memory, each at a multiple of 16 bytes. */
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
            kn_str_printf(&w->slot[KN_SLOT_STAGE],
                          "kn_stage(kn_%s_tile, (const char *)kn.%s_ + kn_from.at[%d], kn_axis_p.stride[%d], "
                          "kn_pitch, kn_b, kn_slot);\n",
                          name, name, kn_array_of(w, k), kn_array_of(w, k));
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
    kn_fill_located(w, kn_put_gather_of_one_row);
}

const kn_recipe kn_recipe_tile = {
    .kind = &kn_kind_tile, .template_name = "cuda/tile.cu", .fill = fill_tile, .fast_axis = "kn_axis_p"};
