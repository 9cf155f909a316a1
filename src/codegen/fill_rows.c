/* fill_rows.c - templates/cuda/rows.cu. */
#include "codegen/writer.h"
#include "plan/choice.h"
#include "plan/cost.h"
#include "plan/kind_rows.h"

enum {
    FULL_THREADS =
        2048, /* of a multiprocessor that kernels are to leave registers for which gather small elements */
    LONG_ROW = 128 /* vectors, from which on most warps lie in one row */
};

/* Lanes in one row or over its end, by `function`. */
static void put_gather_two_rows(const kn_writer *w, kn_str *out, const char *function, bool with_step)
{
    kn_put_gathers(w, out, function, true, with_step);
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

/* Lanes in many short rows: each is located. */
static void put_gather_across(const kn_writer *w, kn_str *out)
{
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k) {\n",
                  w->spec->schedule.vector);
    kn_str_append(out, "        const kn_place kn_here = kn_locate<1>(kn, kn_first + kn_k);\n");
    kn_put_gather_lane(w, out);
    kn_str_append(out, "    }\n");
    kn_put_words_of_lanes(w, out);
}

/* What a thread of a rows kernel gathers. In short rows some of a warp go over the end: all do as if they
 * did. */
static void put_gather(const kn_writer *w, kn_str *out)
{
    int vector = w->spec->schedule.vector;
    kn_str runs = KN_STR_INIT;
    kn_put_all_runs(w, &runs);
    kn_str_append(out, "const int kn_left = (int)(kn.axis[0].extent - kn_here.inner);\n");
    if (runs.length > 0) {
        kn_str_printf(out, "if (%d <= kn.axis[0].extent && kn.axis[0].extent < %d && %s) {\n", vector,
                      LONG_ROW * vector, kn_str_text(&runs));
        kn_str_printf(
            out,
            "    const kn_place kn_next = kn_left < %d ? kn_next_row(kn, kn_here, kn_first) : kn_here;\n",
            vector);
        put_gather_two_rows(w, out, "kn_load_crossing", false);
        kn_str_append(out, "} else ");
    }
    kn_str_printf(out, "if (%d <= kn_left) {\n", vector);
    kn_put_gather_in_row(w, out);
    kn_str_printf(out, "} else if (%d <= kn.axis[0].extent) {\n", vector);
    kn_str_append(out, "    const kn_place kn_next = kn_next_row(kn, kn_here, kn_first);\n");
    put_gather_two_rows(w, out, "kn_gather_crossing", true);
    if (vector <= KN_MAX_LOCATED) {
        kn_str_append(out, "} else {\n");
        put_gather_across(w, out);
    }
    kn_str_append(out, "}\n");
    out->failed = out->failed || runs.failed;
    kn_str_free(&runs);
}

static void fill_rows(kn_writer *w)
{
    if (kn_are_some_kept_in_words(w) && kn_cost_functions(w->program) == 0)
        kn_put_blocks(w, FULL_THREADS); /* the ways that need more registers are rare */
    kn_str_printf(&w->slot[KN_SLOT_STRIPE_WIDTH], "%d", KN_STRIPE_WIDTH);
    kn_put_single(w);
    kn_fill_located(w, put_gather);
}

const kn_recipe kn_recipe_rows = {
    .kind = &kn_kind_rows, .template_name = "cuda/rows.cu", .fill = fill_rows, .fast_axis = "kn.axis[0]"};
