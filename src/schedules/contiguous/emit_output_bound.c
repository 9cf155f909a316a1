/* emit_output_bound.c - fills output_bound.cu. */
#include "codegen/divisor.h"
#include "codegen/writer.h"
#include "schedules/contiguous/kind_output_bound.h"
#include "schedules/contiguous/contiguous_kinds.h"

#include <stdio.h>

enum {
    FULL_THREADS = 1024 /* threads of a multiprocessor for which registers are left */
};

static int vector_of(const kn_writer *w)
{
    return w->spec->schedule.vector;
}

static bool is_one_row(const kn_writer *w)
{
    return w->spec->schedule.variant & KN_OUTPUT_BOUND_ONE_ROW;
}

/* The operand has one value for all vectors of a thread. */
static bool is_hoisted(const kn_writer *w, int k)
{
    return is_one_row(w) && kn_access_of(w, k) == KN_BROADCAST;
}

/* The place of vector kn_u of an operand: within one row the vectors are a fixed distance apart. */
static void put_place(const kn_writer *w, kn_str *out, int array, int64_t step)
{
    if (is_one_row(w))
        kn_str_printf(out, "kn_here.at[%d] + kn_u * %lld", array,
                      (long long)step * KN_OUTPUT_BOUND_WARP * vector_of(w));
    else
        kn_str_printf(out, "kn_here[kn_u].at[%d]", array);
}

static void put_address(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "(%s%s *)((%schar *)kn.%s_ + ", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name);
    put_place(w, out, kn_array_of(w, k), kn_access_of(w, k) == KN_BROADCAST ? 0 : kn_item_size(w, k));
    kn_str_append(out, ")");
}

/* Results are loaded too, since not every body assigns them. */
static void put_load(kn_writer *w, int k)
{
    kn_str *out = &w->slot[KN_SLOT_LOADS];
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    if (is_hoisted(w, k)) {
        kn_str_printf(out, "const %s kn_%s_ = *(const %s *)((const char *)kn.%s_ + kn_here.at[%d]);\n", type,
                      name, type, name, kn_array_of(w, k));
        return;
    }
    bool is_broadcast = kn_access_of(w, k) == KN_BROADCAST;
    if (is_broadcast)
        kn_str_printf(out, "%s kn_%s_[%d];\n", type, name, w->spec->schedule.per_thread);
    else
        kn_str_printf(out, "kn_pack<%s, %d> kn_%s_[%d];\n", type, vector_of(w), name,
                      w->spec->schedule.per_thread);
    kn_str_printf(out, "#pragma unroll\nfor (int kn_u = 0; kn_u < %d; ++kn_u)\n    kn_%s_[kn_u] = ",
                  w->spec->schedule.per_thread, name);
    if (is_broadcast)
        kn_str_append(out, "*");
    else
        kn_str_printf(out, "%s<%s, %d>(%s", kn_access_of(w, k) == KN_GATHER ? "kn_load_unaligned" : "kn_load",
                      type, vector_of(w), kn_access_of(w, k) == KN_GATHER ? "(const char *)" : "");
    put_address(w, out, k);
    kn_str_append(out, is_broadcast ? ";\n" : ");\n");
}

/* If vectors are located one by one, some of the last warp may lie beyond the end. */
static void put_store(kn_writer *w, int k)
{
    kn_str *out = &w->slot[KN_SLOT_STORES];
    kn_str_printf(out, "#pragma unroll\nfor (int kn_u = 0; kn_u < %d; ++kn_u)\n",
                  w->spec->schedule.per_thread);
    if (!is_one_row(w))
        kn_str_printf(out, "    if (kn_first + kn_u * %d < kn.size)\n", KN_OUTPUT_BOUND_WARP * vector_of(w));
    kn_str_append(out, w->spec->schedule.variant & KN_OUTPUT_BOUND_STREAMED ? "    kn_store_streaming("
                                                                            : "    kn_store(");
    put_address(w, out, k);
    kn_str_printf(out, ", kn_%s_[kn_u]);\n", w->program->param[k].name);
}

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name;
    const char *subscript = is_hoisted(w, k) ? "" : "[kn_u]";
    if (kn_is_divisor(w, k))
        kn_str_printf(out, "kn_divisor(kn_%s_%s, kn_seen)", name, subscript);
    else if (is_hoisted(w, k))
        kn_str_printf(out, "kn_%s_", name);
    else
        kn_str_printf(out, "kn_%s_[kn_u]%s", name, kn_access_of(w, k) == KN_BROADCAST ? "" : ".at[kn_k]");
}

/* Element kn_k of vector kn_u, in memory. */
static void place_single(const kn_writer *w, kn_str *out, int k)
{
    bool is_broadcast = kn_access_of(w, k) == KN_BROADCAST;
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    int size = kn_item_size(w, k), array = kn_array_of(w, k);
    kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name, array);
    if (is_one_row(w) && !is_broadcast)
        kn_str_printf(out, " + kn_u * %d", KN_OUTPUT_BOUND_WARP * vector_of(w) * size);
    kn_str_printf(out, is_broadcast ? ")" : " + kn_k * %d)", size);
}

/* Runs if a quotient was out of the range of kn_divisor's reciprocals: computes the thread's elements again,
 * one by one, in place of its stores. The body is pure and does not use the index. */
static void put_again(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_SINGLE];
    kn_str_printf(out, "else\n#pragma unroll 1\nfor (int kn_j = 0; kn_j < %d; ++kn_j) {\n",
                  w->spec->schedule.per_thread * vector_of(w));
    kn_str_printf(out, "    const int kn_u = kn_j / %d, kn_k = kn_j %% %d;\n", vector_of(w), vector_of(w));
    if (!is_one_row(w)) {
        kn_str_printf(out,
                      "    const unsigned kn_at = kn_first + kn_u * %d;\n    if (kn_at >= kn.size)\n        "
                      "break;\n    const kn_place kn_here = kn_locate(kn, kn_at);\n",
                      KN_OUTPUT_BOUND_WARP * vector_of(w));
    }
    kn_put_call(w, out, place_single, "0");
    kn_str_append(out, "}\n");
}

static void put_places(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_FROM];
    if (is_one_row(w)) {
        kn_str_append(out, "const kn_place kn_here = kn_locate(kn, kn_first);\n");
        return;
    }
    kn_str_printf(out, "kn_place kn_here[%d];\n", w->spec->schedule.per_thread);
    for (int u = 0; u < w->spec->schedule.per_thread; ++u) {
        int64_t apart = (int64_t)u * KN_OUTPUT_BOUND_WARP * vector_of(w);
        kn_str_printf(
            out, "kn_here[%d] = kn_locate(kn, kn_first + %lld < kn.size ? kn_first + %lld : kn_first);\n", u,
            (long long)apart, (long long)apart);
    }
}

/* The first threads prefetch a line each. */
static void put_prefetch(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0 && kn_array_of(w, k) == kn_output_bound_resident(&w->spec->schedule))
            kn_str_printf(&w->slot[KN_SLOT_STAGE],
                          "if (kn_thread < kn.lines)\n    kn_make_resident((const char *)kn.%s_ + kn_thread "
                          "* 128ll);\n",
                          w->program->param[k].name);
}

static void fill_output_bound(kn_writer *w)
{
    int array = w->spec->n_arrays;
    kn_str index = KN_STR_INIT;
    kn_put_blocks(w, FULL_THREADS);
    put_prefetch(w);
    put_places(w);
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        put_load(w, k);
        if (kn_is_output(w, k))
            put_store(w, k);
    }
    kn_str_append(&index, "kn.start + ");
    if (is_one_row(w))
        kn_str_printf(&index, "kn_here.at[%d] + (kn_u * %d + kn_k) * kn.axis[0].stride[%d]", array,
                      KN_OUTPUT_BOUND_WARP * vector_of(w), array);
    else
        kn_str_printf(&index, "kn_here[kn_u].at[%d] + kn_k * kn.axis[0].stride[%d]", array, array);
    w->slot[KN_SLOT_LANE].failed = w->slot[KN_SLOT_LANE].failed || index.failed;
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_lane, kn_str_text(&index));
    if (kn_has_divisors(w)) {
        kn_str_append(&w->slot[KN_SLOT_FROM], "kn_dividends kn_seen;\n");
        kn_str_append(&w->slot[KN_SLOT_RESULT], "if (kn_seen.are_near())\n");
        put_again(w);
    }
    kn_str_free(&index);
}

const kn_recipe kn_recipe_output_bound = {.template_name = "schedules/contiguous/output_bound.cu",
                                          .fill = fill_output_bound,
                                          .takes_divisors = true};
