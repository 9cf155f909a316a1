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
        kn_put_part_with(w, out, "step", KN_NO_VALUE, "axis=%s array=%d", w->recipe->step_axis, array);
}

static void put_step_of(const kn_writer *w, kn_str *out, int k)
{
    if (kn_access_of(w, k) != KN_BROADCAST)
        put_step(w, out, kn_array_of(w, k));
}

/* The address of a vector of the operand: by the element's index, or by its strides. */
static void put_vector_address(const kn_writer *w, kn_str *out, int k)
{
    char access = kn_access_of(w, k);
    if (access == KN_STAGED)
        kn_put_part(w, out, "staged", k);
    else if (access == KN_DENSE)
        kn_put_part(w, out, "first", k);
    else
        kn_put_part_with(w, out, "address", k, "step=%s", kn_text_by(w, put_step_of, k));
}

void kn_put_vector_load(const kn_writer *w, kn_str *out, int k)
{
    char access = kn_access_of(w, k);
    bool may_repeat = (access == KN_VECTOR || access == KN_BROADCAST) && !kn_is_output(w, k) &&
                      !w->recipe->vectors_are_whole;
    kn_put_part_with(w, out, may_repeat ? "load_along" : "load", k, "from=%s",
                     kn_text_by(w, put_vector_address, k));
}

/* True for bytes and halves, which are gathered as words: the compiler would otherwise unpack and pack them
 * again. */
static bool is_packed_in_words(const kn_writer *w, int k)
{
    if (!w->recipe->fast_axis || kn_access_of(w, k) != KN_GATHER)
        return false;
    int size = kn_item_size(w, k);
    return size < WORD && size * w->spec->schedule.vector >= WORD;
}

void kn_put_blocks(kn_writer *w, int threads)
{
    int most = w->spec->target.threads_per_multiprocessor, gathered = 0;
    for (int k = 0; k < kn_param_count(w); ++k)
        gathered += is_packed_in_words(w, k);
    if (gathered > FEW_GATHERED)
        threads /= 2;
    kn_str_printf(&w->slot[KN_SLOT_BLOCKS], ", %d",
                  (threads < most ? threads : most) / w->spec->schedule.block);
}

/* One operand's elements of a thread: a vector, or gathered one by one. */
static void put_load(kn_writer *w, int k)
{
    char access = kn_access_of(w, k);
    if (access == KN_GATHER || (access == KN_STAGED && w->recipe->takes_staged)) {
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "pack", k);
        if (is_packed_in_words(w, k))
            kn_put_part_with(w, &w->slot[KN_SLOT_PACKS], "words", k, "words=%d",
                             w->spec->schedule.vector * kn_item_size(w, k) / WORD);
    } else if (!w->recipe->load || !w->recipe->load(w, k)) {
        kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], "loaded", k, "load=%s",
                         kn_text_by(w, kn_put_vector_load, k));
    }
}

/* The store of a result. If it has a place of its own, the address is stored in a variable, since `kn_here`
 * moves with the lanes. */
static void put_store(kn_writer *w, int k)
{
    bool is_dense = kn_access_of(w, k) == KN_DENSE;
    if (!is_dense)
        kn_put_part_with(w, &w->slot[KN_SLOT_LOADS], "address_of_result", k, "address=%s",
                         kn_text_by(w, put_vector_address, k));
    kn_put_part(w, &w->slot[KN_SLOT_STORES], is_dense ? "store_first" : "store", k);
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
        kn_put_part(w, &w->slot[KN_SLOT_PACKS], "indices", KN_NO_VALUE);
}

/* A part for each operand that is gathered; those that are packed in words have one of their own, or none. */
static void put_gathered(const kn_writer *w, kn_str *out, const char *part, const char *part_of_words,
                         const char *function, const char *more)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *own = is_packed_in_words(w, k) ? part_of_words : part;
        kn_str *arguments = kn_text(w);
        if (kn_access_of(w, k) != KN_GATHER || !own)
            continue;
        if (more)
            kn_put_part(w, arguments, more, k);
        kn_put_part_with(w, out, own, k, "function=%s more=%s", function, kn_str_text(arguments));
    }
}

void kn_put_gathers(const kn_writer *w, kn_str *out, const char *function, const char *more)
{
    put_gathered(w, out, "gather", "gather_words", function, more);
}

void kn_put_words_of_lanes(const kn_writer *w, kn_str *out)
{
    put_gathered(w, out, NULL, "words_of_lanes", NULL, NULL);
}

void kn_put_lanes_of_words(const kn_writer *w, kn_str *out)
{
    put_gathered(w, out, NULL, "lanes_of_words", NULL, NULL);
}

void kn_put_all_runs(const kn_writer *w, kn_str *out)
{
    const char *and = "";
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_access_of(w, k) != KN_GATHER)
            continue;
        int bytes = kn_item_size(w, k) * w->spec->schedule.vector;
        if (bytes != 8 && bytes != 16) {
            kn_str_clear(out);
            return;
        }
        kn_str_append(out, and);
        kn_put_part(w, out, "is_run", k);
        if (w->recipe->put_run_condition)
            w->recipe->put_run_condition(out, kn_array_of(w, k), kn_item_size(w, k));
        and = " && ";
    }
}

static void put_index_in_row(const kn_writer *w, kn_str *out)
{
    if (!(w->program->uses & KN_USES_INDEX))
        return;
    kn_put_part_with(w, out, "indices_in_row", KN_NO_VALUE, "step=%s",
                     kn_text_by(w, put_step, w->spec->n_arrays));
}

/* Elements of one row, along the fast axis. One test for all operands, so that their loads are together. */
static void put_gather_in_row(const kn_writer *w, kn_str *out)
{
    kn_str *are_runs = kn_text(w), *runs = kn_text(w), *apart = kn_text(w);
    kn_put_all_runs(w, are_runs);
    kn_put_gathers(w, runs, "kn_load_unaligned", NULL);
    kn_put_gathers(w, apart, "kn_gather_apart", "stride");
    kn_put_part_with(w, out, are_runs->length > 0 ? "gather_in_row" : "gather_apart", KN_NO_VALUE,
                     "are_runs=%s runs=%s apart=%s", kn_str_text(are_runs), kn_str_text(runs),
                     kn_str_text(apart));
    put_index_in_row(w, out);
}

void kn_put_gather_known(const kn_writer *w, kn_str *out, bool are_runs)
{
    kn_put_gathers(w, out, are_runs ? "kn_load_unaligned" : "kn_gather_apart", are_runs ? NULL : "stride");
    put_index_in_row(w, out);
}

void kn_put_gather_lane(const kn_writer *w, kn_str *out)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_access_of(w, k) == KN_GATHER)
            kn_put_part_with(w, out, "gather_lane", k, "place=%s", kn_text_by(w, kn_place_located, k));
    if (w->program->uses & KN_USES_INDEX)
        kn_put_part(w, out, "index_of_lane", KN_NO_VALUE);
}

bool kn_are_some_packed_in_words(const kn_writer *w)
{
    bool some = false;
    for (int k = 0; k < kn_param_count(w); ++k)
        some = some || is_packed_in_words(w, k);
    return some;
}

void kn_put_gather_of_one_row(const kn_writer *w, kn_str *out)
{
    kn_str *lines = kn_text(w);
    put_gather_in_row(w, lines);
    kn_put_part_with(w, out, "block", KN_NO_VALUE, "lines=%s", kn_str_text(lines));
}

void kn_fill_located_by(kn_writer *w, void (*gather)(const kn_writer *w, kn_str *out), kn_place_writer lane)
{
    kn_str *gathered = &w->slot[KN_SLOT_GATHER];
    kn_put_vectors(w);
    if (kn_gathers(w) || w->program->uses & KN_USES_INDEX) {
        gather(w, gathered);
        kn_put_lanes_of_words(w, gathered);
    }
    kn_put_call(w, &w->slot[KN_SLOT_LANE], lane, "kn_i[kn_k]");
}

void kn_fill_located(kn_writer *w, void (*gather)(const kn_writer *w, kn_str *out))
{
    kn_fill_located_by(w, gather, kn_place_lane);
}
