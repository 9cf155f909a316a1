/* emit_rows.c - fills rows.cu. */
#include "codegen/writer.h"
#include "schedule/choice.h"
#include "program/cost.h"
#include "schedules/contiguous/kind_rows.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    FULL_THREADS =
        2048 /* threads of a multiprocessor for which registers are left if small elements are gathered */
};

/* Lanes of one row, and those of the next row behind its end, by `function`. */
static void put_gather_two_rows(const kn_writer *w, kn_str *out, const char *function, bool with_step)
{
    kn_put_gathers(w, out, function, with_step ? "crossing_stride" : "crossing");
    if (!(w->program->uses & KN_USES_INDEX))
        return;
    int index = w->spec->n_arrays;
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k)\n",
                  w->spec->schedule.vector);
    kn_str_printf(
        out,
        "        kn_i[kn_k] = kn.start + (kn_k < kn_left ? kn_here.at[%d] + kn_k * kn.axis[0].stride[%d] "
        ": kn_next.at[%d] + (kn_k - kn_left) * kn.axis[0].stride[%d]);\n",
        index, index, index, index);
}

/* Lanes in many short rows: each lane is located. */
static void put_gather_across(const kn_writer *w, kn_str *out)
{
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k) {\n",
                  w->spec->schedule.vector);
    kn_str_append(out, "        const kn_place kn_here = kn_locate(kn, kn_first + kn_k);\n");
    kn_put_gather_lane(w, out);
    kn_str_append(out, "    }\n");
    kn_put_words_of_lanes(w, out);
}

/* Elements of one row, or of this row and the next, one by one. */
static void put_gather_in_or_over(const kn_writer *w, kn_str *out)
{
    kn_str_printf(out, "if (%d <= kn_left) {\n", w->spec->schedule.vector);
    kn_put_gather_known(w, out, w->spec->schedule.variant == KN_ROWS_RUNS);
    kn_str_append(out, "} else {\n");
    kn_str_append(out, "    const kn_place kn_next = kn_next_row(kn, kn_here, kn_first);\n");
    put_gather_two_rows(w, out, "kn_gather_crossing", true);
    kn_str_append(out, "}\n");
}

/* The gathered operands of a thread, in the one way that the schedule's variant says. In rows that are not
 * long some lanes of a warp cross the row's end: all lanes take that path, so that the warp does not
 * diverge. */
static void put_gather(const kn_writer *w, kn_str *out)
{
    if (w->spec->schedule.variant != KN_ROWS_SHORT)
        kn_str_append(out, "const int kn_left = (int)(kn.axis[0].extent - kn_here.inner);\n");
    if (w->spec->schedule.variant == KN_ROWS_SHORT) {
        put_gather_across(w, out);
    } else if (w->spec->schedule.variant == KN_ROWS_CROSSED) {
        kn_str_printf(
            out, "const kn_place kn_next = kn_left < %d ? kn_next_row(kn, kn_here, kn_first) : kn_here;\n",
            w->spec->schedule.vector);
        put_gather_two_rows(w, out, "kn_load_crossing", false);
    } else {
        put_gather_in_or_over(w, out);
    }
}

static void fill_rows(kn_writer *w)
{
    if (kn_are_some_packed_in_words(w) && kn_cost_functions(w->program) == 0)
        kn_put_blocks(w, FULL_THREADS); /* the paths that need more registers are rare */
    kn_str_printf(&w->slot[KN_SLOT_RASTER_WIDTH], "%d", KN_RASTER_WIDTH);
    kn_put_single(w);
    kn_fill_located(w, put_gather);
}

const kn_recipe kn_recipe_rows = {
    .template_name = "schedules/contiguous/rows.cu", .fill = fill_rows, .fast_axis = "kn.axis[0]"};
