/* vectors.c - loads, gathers and stores of a thread's vectors. */
#include "codegen/writer.h"

#include <string.h>

enum { WORD = 4 /* bytes */ };

/* Gathered operands of small elements up to which the registers suffice for all wanted threads; with more of
 * them a thread gets twice as many registers: bench/results/nvidia-h200-blocks.md. */
enum { FEW_GATHERED = 2 };

/* The offset of step kn_m, if a thread takes several. */
static void put_step(const kn_writer *w, kn_str *out, int array)
{
    if (w->recipe->step_axis)
        kn_str_printf(out, " + kn_m * %s.stride[%d]", w->recipe->step_axis, array);
}

/* The operand's address: "(float *)((char *)kn.z + kn_here.at[2])". */
static void put_place(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name, kn_array_of(w, k));
    if (kn_access_of(w, k) != KN_BROADCAST)
        put_step(w, out, kn_array_of(w, k));
    kn_str_append(out, ")");
}

/* The address of a vector of the operand: by the element's index, or by its strides. */
static void put_vector_address(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) == KN_DENSE)
        kn_str_printf(out, "kn.%s_ + kn_first", w->program->param[k].name);
    else
        put_place(w, out, k);
}

/* "kn_load<float, 4>(kn.x_ + kn_first);" */
void kn_put_vector_load(const kn_writer *w, kn_str *out, int k)
{
    char access = kn_access_of(w, k);
    bool may_repeat = (access == KN_VECTOR || access == KN_BROADCAST) && !kn_is_output(w, k);
    kn_str_printf(out, "%s<%s, %d>(", may_repeat ? "kn_load_along" : "kn_load", kn_storage(w, k),
                  w->spec->schedule.vector);
    if (access == KN_STAGED)
        kn_str_printf(out, "kn_%s_tile + kn_transposed", w->program->param[k].name);
    else
        put_vector_address(w, out, k);
    if (may_repeat)
        kn_str_printf(out, ", %s.stride[%d]", w->recipe->fast_axis, kn_array_of(w, k));
    kn_str_append(out, ");\n");
}

bool kn_is_packed_in_words(const kn_writer *w, int k)
{
    int size = kn_item_size(w, k), bytes = size * w->spec->schedule.vector;
    return w->recipe->fast_axis && kn_array_of(w, k) >= 0 && kn_access_of(w, k) == KN_GATHER && size < WORD &&
           bytes >= WORD;
}

void kn_put_blocks(kn_writer *w, int threads)
{
    int most = w->spec->target.threads_per_multiprocessor, gathered = 0;
    for (int k = 0; k < kn_param_count(w); ++k)
        gathered += kn_is_packed_in_words(w, k);
    if (gathered > FEW_GATHERED)
        threads /= 2;
    kn_str_printf(&w->slot[KN_SLOT_BLOCKS], ", %d",
                  (threads < most ? threads : most) / w->spec->schedule.block);
}

/* One operand's elements of a thread: a vector, or gathered one by one. */
static void put_load(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    int vector = w->spec->schedule.vector;
    char access = kn_access_of(w, k);
    kn_str *loads = &w->slot[KN_SLOT_LOADS];
    if (access == KN_GATHER || (access == KN_STAGED && w->recipe->takes_staged)) {
        kn_str_printf(&w->slot[KN_SLOT_PACKS], "kn_pack<%s, %d> kn_%s_;\n", type, vector, name);
        if (kn_is_packed_in_words(w, k))
            kn_str_printf(&w->slot[KN_SLOT_PACKS], "kn_words<%d> kn_%s_words;\n",
                          vector * kn_item_size(w, k) / WORD, name);
        return;
    }
    if (w->recipe->load && w->recipe->load(w, k))
        return;
    kn_str_printf(loads, "%sauto kn_%s_ = ", kn_is_output(w, k) ? "" : "const ", name);
    kn_put_vector_load(w, loads, k);
}

/* The store of a result. If it has a place of its own, the address is stored in a variable, since `kn_here`
 * moves with the lanes. */
static void put_store(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name;
    if (kn_access_of(w, k) == KN_DENSE) {
        kn_str_printf(&w->slot[KN_SLOT_STORES], "kn_store(kn.%s_ + kn_first, kn_%s_);\n", name, name);
        return;
    }
    kn_str_printf(&w->slot[KN_SLOT_LOADS], "%s *const kn_%s_to = ", kn_storage(w, k), name);
    put_place(w, &w->slot[KN_SLOT_LOADS], k);
    kn_str_append(&w->slot[KN_SLOT_LOADS], ";\n");
    kn_str_printf(&w->slot[KN_SLOT_STORES], "kn_store(kn_%s_to, kn_%s_);\n", name, name);
}

void kn_put_vectors(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        put_load(w, k);
        if (kn_is_output(w, k))
            put_store(w, k);
    }
    if (w->program->uses & KN_USES_INDEX && w->recipe->fast_axis)
        kn_str_printf(&w->slot[KN_SLOT_PACKS], "long long kn_i[%d];\n", w->spec->schedule.vector);
}

/* The address of an input's first lane, in bytes. */
static void put_bytes(const kn_writer *w, kn_str *out, int k)
{
    kn_str_printf(out, "(const char *)kn.%s_ + kn_here.at[%d]", w->program->param[k].name, kn_array_of(w, k));
}

void kn_put_gathers(const kn_writer *w, kn_str *out, const char *function, bool two_rows, bool with_step)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_access_of(w, k) == KN_GATHER) {
            kn_str_printf(out, "        kn_%s_%s%s<%s, %d>(", w->program->param[k].name,
                          kn_is_packed_in_words(w, k) ? "words = kn_words_of(" : " = ", function,
                          kn_storage(w, k), w->spec->schedule.vector);
            put_bytes(w, out, k);
            if (two_rows)
                kn_str_printf(out, ", (const char *)kn.%s_ + kn_next.at[%d], kn_left",
                              w->program->param[k].name, kn_array_of(w, k));
            if (with_step)
                kn_str_printf(out, ", %s.stride[%d]", w->recipe->fast_axis, kn_array_of(w, k));
            kn_str_append(out, kn_is_packed_in_words(w, k) ? "));\n" : ");\n");
        }
    }
}

void kn_put_words_of_lanes(const kn_writer *w, kn_str *out)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_is_packed_in_words(w, k))
            kn_str_printf(out, "    kn_%s_words = kn_words_of(kn_%s_);\n", w->program->param[k].name,
                          w->program->param[k].name);
}

void kn_put_lanes_of_words(const kn_writer *w, kn_str *out)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_is_packed_in_words(w, k))
            kn_str_printf(out, "kn_%s_ = kn_elements_of<%s, %d>(kn_%s_words);\n", w->program->param[k].name,
                          kn_storage(w, k), w->spec->schedule.vector, w->program->param[k].name);
}

void kn_put_all_runs(const kn_writer *w, kn_str *out)
{
    const char *and = "";
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        int size = kn_item_size(w, k), bytes = size * w->spec->schedule.vector;
        if (kn_access_of(w, k) == KN_GATHER && bytes != 8 && bytes != 16) {
            kn_str_clear(out);
            return;
        }
        if (kn_access_of(w, k) == KN_GATHER) {
            kn_str_printf(out, "%s%s.stride[%d] == %d", and, w->recipe->fast_axis, kn_array_of(w, k), size);
            if (w->recipe->put_run_condition)
                w->recipe->put_run_condition(out, kn_array_of(w, k), size);
            and = " && ";
        }
    }
}

static void put_index_in_row(const kn_writer *w, kn_str *out)
{
    int index = w->spec->n_arrays;
    if (!(w->program->uses & KN_USES_INDEX))
        return;
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k)\n",
                  w->spec->schedule.vector);
    kn_str_printf(out, "        kn_i[kn_k] = kn.start + kn_here.at[%d] + kn_k * %s.stride[%d]", index,
                  w->recipe->fast_axis, index);
    put_step(w, out, index);
    kn_str_append(out, ";\n");
}

/* Elements of one row, along the fast axis. One test for all operands, so that their loads are together. */
void kn_put_gather_in_row(const kn_writer *w, kn_str *out)
{
    kn_str runs = KN_STR_INIT;
    kn_put_all_runs(w, &runs);
    if (runs.length > 0) {
        kn_str_printf(out, "    if (%s) {\n", kn_str_text(&runs));
        kn_put_gathers(w, out, "kn_load_unaligned", false, false);
        kn_str_append(out, "    } else {\n");
    } else {
        kn_str_append(out, "    {\n");
    }
    kn_put_gathers(w, out, "kn_gather_apart", false, true);
    kn_str_append(out, "    }\n");
    put_index_in_row(w, out);
    out->failed = out->failed || runs.failed;
    kn_str_free(&runs);
}

void kn_put_gather_known(const kn_writer *w, kn_str *out, bool are_runs)
{
    kn_put_gathers(w, out, are_runs ? "kn_load_unaligned" : "kn_gather_apart", false, !are_runs);
    put_index_in_row(w, out);
}

void kn_put_gather_lane(const kn_writer *w, kn_str *out)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_access_of(w, k) == KN_GATHER) {
            kn_str_printf(out, "        kn_%s_.at[kn_k] = ", w->program->param[k].name);
            kn_place_located(w, out, k);
            kn_str_append(out, ";\n");
        }
    }
    if (w->program->uses & KN_USES_INDEX)
        kn_str_printf(out, "        kn_i[kn_k] = kn.start + kn_here.at[%d];\n", w->spec->n_arrays);
}

bool kn_are_some_packed_in_words(const kn_writer *w)
{
    bool some = false;
    for (int k = 0; k < kn_param_count(w); ++k)
        some = some || kn_is_packed_in_words(w, k);
    return some;
}

void kn_put_gather_of_one_row(const kn_writer *w, kn_str *out)
{
    kn_str_append(out, "{\n");
    kn_put_gather_in_row(w, out);
    kn_str_append(out, "}\n");
}

void kn_fill_located(kn_writer *w, void (*gather)(const kn_writer *w, kn_str *out))
{
    kn_str *gathered = &w->slot[KN_SLOT_GATHER];
    kn_put_vectors(w);
    if (kn_gathers(w) || w->program->uses & KN_USES_INDEX) {
        gather(w, gathered);
        kn_put_lanes_of_words(w, gathered);
    }
    kn_put_call(w, &w->slot[KN_SLOT_LANE], kn_place_lane, "kn_i[kn_k]");
}
