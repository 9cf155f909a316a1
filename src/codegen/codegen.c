#include "codegen/codegen.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "codegen/prelude.h"
#include "codegen/templates.h"
#include "plan/choice.h"
#include "plan/cost.h"
#include "plan/kind.h"
#include "plan/kind_steps.h"
#include "types/dtype.h"
#include "types/operators.h"

enum {
    WORD = 4,                  /* bytes */
    WINDOWS_THREADS = 1536,    /* of a multiprocessor that a windows kernel is to leave registers for; */
    FULL_THREADS = 2048,       /* rows kernels that gather small elements, and tiles of vectors */
    MOST_BOUND = 4,            /* of so few elements */
    LONG_ROW = 128,            /* vectors, from which on most warps lie in one row */
    DEEP_CHAIN = 6,            /* functions of an element, from which on a loop is made wider */
    LINE = 64,                 /* bytes */
    STREAMED_BYTES = 16 << 20, /* of results, from which on they go past the caches */
    STREAMED_RUN = 256         /* fewest bytes of results of a call that does so */
};

enum text_id { TEXT_BODY, TEXT_PREAMBLE, TEXT_LOOP_PREP, TEXT_AFTER_LOOP, TEXT_COUNT };

/* What is being written, and the texts of its slots. */
enum slot_id {
    SLOT_HEAD,
    SLOT_AXES,
    SLOT_ENTRY,
    SLOT_BLOCK,
    SLOT_VECTOR,
    SLOT_RANK,
    SLOT_UNROLL,
    SLOT_OPERANDS,
    SLOT_FIELDS,
    SLOT_VALUES,
    SLOT_POINTERS,
    SLOT_LOOP_PREP,
    SLOT_ELEMENT,
    SLOT_LOADS,
    SLOT_PACKS,
    SLOT_GATHER,
    SLOT_LANE,
    SLOT_STORES,
    SLOT_SINGLE,
    SLOT_INDEPENDENT,
    SLOT_AFTER_LOOP,
    SLOT_TILES,
    SLOT_STAGE,
    SLOT_ROW_UNROLL,
    SLOT_WAIT,
    SLOT_STILL,
    SLOT_THREAD_STEPS,
    SLOT_STEP_PACKS,
    SLOT_STEP_LOADS,
    SLOT_STAGED,
    SLOT_STAGED_SIZE,
    SLOT_STAGED_FROM,
    SLOT_RESULT_FROM,
    SLOT_RESULT_SIZE,
    SLOT_BLOCKS,
    SLOT_COUNT
};
static const char *const slot_names[SLOT_COUNT] = {
    "head",       "axes",   "entry",       "block",       "vector",      "rank",         "unroll",
    "operands",   "fields", "values",      "pointers",    "loop_prep",   "element",      "loads",
    "packs",      "gather", "lane",        "stores",      "single",      "independent",  "after_loop",
    "tiles",      "stage",  "row_unroll",  "wait",        "still",       "thread_steps", "step_packs",
    "step_loads", "staged", "staged_size", "staged_from", "result_from", "result_size",  "blocks"};

typedef struct writer {
    const kn_spec *spec;
    const kn_program *program;
    bool is_cuda;
    kn_str user[TEXT_COUNT]; /* the user's texts as they stand in the source */
    kn_str slot[SLOT_COUNT];
} writer;

void kn_codegen_entry(char *out, size_t size, const kn_program *program)
{
    snprintf(out, size, "kiln_%s", program->name);
}

static int param_count(const writer *w)
{
    return w->program->n_in + w->program->n_out;
}

static bool is_output(const writer *w, int k)
{
    return k >= w->program->n_in;
}

static const char *storage(const writer *w, int k)
{
    return kn_dtype_info_of(w->spec->operand[k].dtype)->storage;
}

static bool is_bool(const writer *w, int k)
{
    return w->spec->operand[k].dtype == KILN_BOOL;
}

/* ---- what the snippet sees by name for the whole thread ---- */

/* "n", unless a parameter has taken that name. */
static const char *count_name(const writer *w)
{
    for (int k = 0; k < param_count(w); ++k)
        if (strcmp(w->program->param[k].name, "n") == 0)
            return "kn_n";
    return "n";
}

/* Its rank is known only where the snippet asks for the index along each axis. */
static void put_indexer(const writer *w, kn_str *out, const char *index)
{
    const char *count = count_name(w);
    if (w->program->uses & KN_USES_PLACE)
        kn_str_printf(out, "const kn_indexer_of<%d> _ind = {%s, (int)kn.logical_rank, kn.logical, %s};\n",
                      w->spec->loop_rank, count, index);
    else
        kn_str_printf(out, "const kn_indexer _ind = {%s, (int)kn.logical_rank, kn.logical};\n", count);
}

static void put_values(writer *w)
{
    kn_str *out = &w->slot[SLOT_VALUES];
    if (w->program->uses & KN_USES_COUNT)
        kn_str_printf(out, "const long long %s = kn.n;\n", count_name(w));
    if (w->program->uses & KN_USES_INDEXER_OUTSIDE)
        put_indexer(w, out, "0");
    for (int k = 0; k < param_count(w); ++k) {
        const char *name = w->program->param[k].name;
        kn_pass pass = w->spec->operand[k].pass;
        if (pass == KN_PASS_RAW)
            kn_str_printf(out, "const kn_raw<%s%s, %d, %s> %s = {kn.%s_};\n", kn_spec_constness(w->spec, k),
                          kn_spec_c_name(w->spec, k), w->spec->operand[k].raw_rank,
                          w->spec->operand[k].raw_contiguous ? "true" : "false", name, name);
        else if (pass != KN_PASS_ARRAY && !w->program->param[k].is_non_const)
            kn_str_printf(out, "const %s %s = kn.%s_%s;\n", kn_spec_c_name(w->spec, k), name, name,
                          is_bool(w, k) ? " != 0" : "");
    }
}

/* ---- the snippet as a function of one element ---- */

static bool is_element_param(const writer *w, int k)
{
    kn_pass pass = w->spec->operand[k].pass;
    return pass == KN_PASS_ARRAY || (pass != KN_PASS_RAW && w->program->param[k].is_non_const);
}

static void put_element(writer *w)
{
    kn_str *out = &w->slot[SLOT_ELEMENT];
    const char *separator = "";
    bool loop = w->program->uses & KN_USES_CONTINUE;
    kn_str_append(out, "const auto kn_element = [&](");
    for (int k = 0; k < param_count(w); ++k)
        if (is_element_param(w, k)) {
            kn_str_printf(out, "%s%s%s %s%s", separator, kn_spec_constness(w->spec, k),
                          kn_spec_c_name(w->spec, k), is_output(w, k) ? "&" : "", w->program->param[k].name);
            separator = ", ";
        }
    if (w->program->uses & KN_USES_INDEX)
        kn_str_printf(out, "%sconst long long i", separator);
    kn_str_append(out, ") {\n");
    if (kn_text_has_word(w->program->body, "_ind")) {
        kn_str_append(out, "    ");
        put_indexer(w, out, "i");
    }
    kn_str_append(out, loop ? "    do {\n" : "");
    kn_str_printf(out, "#line 1 \"%s\"\n%s\n;\n#line 0\n", w->program->name,
                  kn_str_text(&w->user[TEXT_BODY]));
    kn_str_append(out, loop ? "    } while (0);\n" : "");
    kn_str_append(out, "};\n");
}

/* The access letter of parameter k's array operand. */
static char access_of(const writer *w, int k)
{
    int array = 0;
    for (int j = 0; j < k; ++j)
        array += w->spec->operand[j].pass == KN_PASS_ARRAY;
    return w->spec->schedule.access[array];
}

/* ---- calls of that function ---- */

/* Text of one argument of kn_element. */
typedef void (*place_writer)(const writer *w, kn_str *out, int k, int array);

/* Booleans are read as bytes and normalised: a named bool goes in, and comes back as a byte. */
static void put_call(const writer *w, kn_str *out, place_writer place, const char *index)
{
    kn_str before = KN_STR_INIT, call = KN_STR_INIT, after = KN_STR_INIT;
    const char *separator = "";
    int array = 0;
    for (int k = 0; k < param_count(w); ++k) {
        const char *name = w->program->param[k].name;
        bool is_array = w->spec->operand[k].pass == KN_PASS_ARRAY;
        if (!is_element_param(w, k))
            continue;
        kn_str_append(&call, separator);
        separator = ", ";
        if (!is_array) {
            kn_str_printf(&call, "kn.%s_%s", name, is_bool(w, k) ? " != 0" : "");
        } else if (is_output(w, k) && is_bool(w, k)) {
            kn_str_printf(&before, "bool kn_%s_bit = ", name);
            place(w, &before, k, array);
            kn_str_append(&before, " != 0;\n");
            kn_str_printf(&call, "kn_%s_bit", name);
            place(w, &after, k, array);
            kn_str_printf(&after, " = kn_%s_bit;\n", name);
        } else {
            place(w, &call, k, array);
            kn_str_append(&call, is_bool(w, k) ? " != 0" : "");
        }
        array += is_array;
    }
    if (w->program->uses & KN_USES_INDEX)
        kn_str_printf(&call, "%s%s", separator, index);
    kn_str_printf(out, "%skn_element(%s);\n%s", kn_str_text(&before), kn_str_text(&call),
                  kn_str_text(&after));
    out->failed = out->failed || before.failed || call.failed || after.failed;
    kn_str_free(&before);
    kn_str_free(&call);
    kn_str_free(&after);
}

static void place_lane(const writer *w, kn_str *out, int k, int array)
{
    (void)array;
    kn_str_printf(out, "kn_%s_.at[kn_k]", w->program->param[k].name);
}

static void place_flat(const writer *w, kn_str *out, int k, int array)
{
    (void)array;
    kn_str_printf(out, w->is_cuda ? "kn.%s_[kn_at]" : "kn_%s_[kn_at]", w->program->param[k].name);
}

static void place_located(const writer *w, kn_str *out, int k, int array)
{
    const char *qualifier = is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d])", qualifier, storage(w, k), qualifier,
                  w->program->param[k].name, array);
}

/* Single elements of a windows kernel: what is staged is read where it lies. */
static void place_windowed(const writer *w, kn_str *out, int k, int array)
{
    if (access_of(w, k) == KN_STAGED)
        kn_str_printf(out, "kn_take<%s>(kn_turned)", storage(w, k));
    else
        place_located(w, out, k, array);
}

static void place_in_line(const writer *w, kn_str *out, int k, int array)
{
    if (is_output(w, k))
        kn_str_append(out, "kn_line[kn_k]");
    else
        place_flat(w, out, k, array);
}

/* ---- the parts of each template ---- */

/* "(float *)((char *)kn.z + kn_here.at[2])": the operand's place. */
static void put_place(const writer *w, kn_str *out, int k, int array)
{
    const char *qualifier = is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]", qualifier, storage(w, k), qualifier,
                  w->program->param[k].name, array);
    if (w->spec->schedule.kind == &kn_kind_steps && access_of(w, k) != KN_STILL)
        kn_str_printf(out, " + kn_m * kn_w.stride[%d]", array);
    kn_str_append(out, ")");
}

/* The axis along which a thread's lanes lie. */
static const char *fast_axis(const writer *w)
{
    const kn_kind *kind = w->spec->schedule.kind;
    return kind == &kn_kind_tile || kind == &kn_kind_windows ? "kn_p" : "kn.axis[0]";
}

/* Where a vector of the operand begins: by the element's index, or by its strides. */
static void put_vector_address(const writer *w, kn_str *out, int k, int array)
{
    if (access_of(w, k) == KN_DENSE)
        kn_str_printf(out, "kn.%s_ + kn_first", w->program->param[k].name);
    else
        put_place(w, out, k, array);
}

/* "kn_load<float, 4>(kn.x_ + kn_first);" */
static void put_vector_load(const writer *w, kn_str *out, int k, int array)
{
    char access = access_of(w, k);
    bool may_repeat = (access == KN_VECTOR || access == KN_STILL) && !is_output(w, k);
    kn_str_printf(out, "%s<%s, %d>(", may_repeat ? "kn_load_along" : "kn_load", storage(w, k),
                  w->spec->schedule.vector);
    if (access == KN_STAGED)
        kn_str_printf(out, "kn_%s_tile + kn_turned", w->program->param[k].name);
    else
        put_vector_address(w, out, k, array);
    if (may_repeat)
        kn_str_printf(out, ", %s.stride[%d]", fast_axis(w), array);
    kn_str_append(out, ");\n");
}

/* Bytes and halves that are gathered in one of several ways are kept as words meanwhile: the compiler would take them apart and put them together again. */
static bool is_kept_in_words(const writer *w, int k)
{
    int size = kn_dtype_info_of(w->spec->operand[k].dtype)->size, bytes = size * w->spec->schedule.vector;
    return w->spec->schedule.kind != &kn_kind_flat && w->spec->operand[k].pass == KN_PASS_ARRAY &&
           access_of(w, k) == KN_GATHER && size < WORD && bytes >= WORD;
}

/* One operand's elements for a thread, as a vector or gathered lane by lane. */
static void put_load(writer *w, int k, int array)
{
    const char *name = w->program->param[k].name, *type = storage(w, k);
    int vector = w->spec->schedule.vector;
    char access = access_of(w, k);
    kn_str *loads = &w->slot[access == KN_STILL ? SLOT_STILL : SLOT_LOADS];
    if (access == KN_GATHER || (access == KN_STAGED && w->spec->schedule.kind == &kn_kind_windows)) {
        kn_str_printf(&w->slot[SLOT_PACKS], "kn_pack<%s, %d> kn_%s_;\n", type, vector, name);
        if (is_kept_in_words(w, k))
            kn_str_printf(&w->slot[SLOT_PACKS], "kn_words<%d> kn_%s_words;\n",
                          vector * kn_dtype_info_of(w->spec->operand[k].dtype)->size / WORD, name);
        return;
    }
    if (w->spec->schedule.kind == &kn_kind_steps && access == KN_VECTOR && !is_output(w, k)) {
        kn_str_printf(&w->slot[SLOT_STEP_PACKS], "kn_pack<%s, %d> kn_%s_steps[%d];\n", type, vector, name,
                      KN_THREAD_STEPS);
        kn_str_printf(&w->slot[SLOT_STEP_LOADS], "kn_%s_steps[kn_m] = ", name);
        put_vector_load(w, &w->slot[SLOT_STEP_LOADS], k, array);
        kn_str_printf(loads, "const auto kn_%s_ = kn_%s_steps[kn_m];\n", name, name);
        return;
    }
    kn_str_printf(loads, "%sauto kn_%s_ = ", is_output(w, k) ? "" : "const ", name);
    put_vector_load(w, loads, k, array);
}

/* Results at places of their own: the address is kept, for `kn_here` moves on with the lanes. */
static void put_store(writer *w, int k, int array)
{
    const char *name = w->program->param[k].name;
    if (access_of(w, k) == KN_DENSE) {
        kn_str_printf(&w->slot[SLOT_STORES], "kn_store(kn.%s_ + kn_first, kn_%s_);\n", name, name);
        return;
    }
    kn_str_printf(&w->slot[SLOT_LOADS], "%s *const kn_%s_to = ", storage(w, k), name);
    put_place(w, &w->slot[SLOT_LOADS], k, array);
    kn_str_append(&w->slot[SLOT_LOADS], ";\n");
    kn_str_printf(&w->slot[SLOT_STORES], "kn_store(kn_%s_to, kn_%s_);\n", name, name);
}

static void put_vectors(writer *w)
{
    int array = 0;
    for (int k = 0; k < param_count(w); ++k) {
        if (w->spec->operand[k].pass != KN_PASS_ARRAY)
            continue;
        put_load(w, k, array);
        if (is_output(w, k))
            put_store(w, k, array);
        ++array;
    }
    if (w->program->uses & KN_USES_INDEX && w->spec->schedule.kind != &kn_kind_flat)
        kn_str_printf(&w->slot[SLOT_PACKS], "long long kn_i[%d];\n", w->spec->schedule.vector);
}

/* The address of an input's first lane, in bytes. */
static void put_bytes(const writer *w, kn_str *out, int k, int array)
{
    kn_str_printf(out, "(const char *)kn.%s_ + kn_here.at[%d]", w->program->param[k].name, array);
}

/* The gathered operands, by `function`: of one row, or of this one and the next; one that takes runs alone needs no step. */
static void put_gathers(const writer *w, kn_str *out, const char *function, bool two_rows, bool with_step)
{
    int array = 0;
    for (int k = 0; k < param_count(w); ++k) {
        if (w->spec->operand[k].pass != KN_PASS_ARRAY)
            continue;
        if (access_of(w, k) == KN_GATHER) {
            kn_str_printf(out, "        kn_%s_%s%s<%s, %d>(", w->program->param[k].name,
                          is_kept_in_words(w, k) ? "words = kn_words_of(" : " = ", function, storage(w, k),
                          w->spec->schedule.vector);
            put_bytes(w, out, k, array);
            if (two_rows)
                kn_str_printf(out, ", (const char *)kn.%s_ + kn_next.at[%d], kn_left",
                              w->program->param[k].name, array);
            if (with_step)
                kn_str_printf(out, ", %s.stride[%d]", fast_axis(w), array);
            kn_str_append(out, is_kept_in_words(w, k) ? "));\n" : ");\n");
        }
        ++array;
    }
}

/* After lanes have been gathered one by one. */
static void put_words_of_lanes(const writer *w, kn_str *out)
{
    for (int k = 0; k < param_count(w); ++k)
        if (is_kept_in_words(w, k))
            kn_str_printf(out, "    kn_%s_words = kn_words_of(kn_%s_);\n", w->program->param[k].name,
                          w->program->param[k].name);
}

/* After all ways to gather. */
static void put_lanes_of_words(const writer *w, kn_str *out)
{
    for (int k = 0; k < param_count(w); ++k)
        if (is_kept_in_words(w, k))
            kn_str_printf(out, "kn_%s_ = kn_elements_of<%s, %d>(kn_%s_words);\n", w->program->param[k].name,
                          storage(w, k), w->spec->schedule.vector, w->program->param[k].name);
}

/* "a.stride[0] == 4 && a.stride[1] == 4": all gathered operands are runs. Empty where they cannot be loaded as such. */
static void put_all_runs(const writer *w, kn_str *out)
{
    int array = 0;
    const char *and = "";
    for (int k = 0; k < param_count(w); ++k) {
        if (w->spec->operand[k].pass != KN_PASS_ARRAY)
            continue;
        int size = kn_dtype_info_of(w->spec->operand[k].dtype)->size, bytes = size * w->spec->schedule.vector;
        if (access_of(w, k) == KN_GATHER && bytes != 8 && bytes != 16) {
            kn_str_clear(out);
            return;
        }
        if (access_of(w, k) == KN_GATHER) {
            kn_str_printf(out, "%s%s.stride[%d] == %d", and, fast_axis(w), array, size);
            if (w->spec->schedule.kind == &kn_kind_windows)
                kn_str_printf(out, " && (kn_x.stride[%d] == %d * (int)kn_p.extent || kn_x.extent == 1)",
                              array, size);
            and = " && ";
        }
        ++array;
    }
}

static void put_index_in_row(const writer *w, kn_str *out)
{
    int index = kn_spec_count_arrays(w->spec);
    if (!(w->program->uses & KN_USES_INDEX))
        return;
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k)\n",
                  w->spec->schedule.vector);
    kn_str_printf(out, "        kn_i[kn_k] = kn.start + kn_here.at[%d] + kn_k * %s.stride[%d]", index,
                  fast_axis(w), index);
    if (w->spec->schedule.kind == &kn_kind_steps)
        kn_str_printf(out, " + kn_m * kn_w.stride[%d]", index);
    kn_str_append(out, ";\n");
}

/* Lanes of one row: at steps of the fast axis. One test for all operands, so that their loads stand together. */
static void put_gather_in_row(const writer *w, kn_str *out)
{
    kn_str runs = KN_STR_INIT;
    put_all_runs(w, &runs);
    if (runs.length > 0) {
        kn_str_printf(out, "    if (%s) {\n", kn_str_text(&runs));
        put_gathers(w, out, "kn_load_shifted", false, false);
        kn_str_append(out, "    } else {\n");
    } else {
        kn_str_append(out, "    {\n");
    }
    put_gathers(w, out, "kn_gather_apart", false, true);
    kn_str_append(out, "    }\n");
    put_index_in_row(w, out);
    out->failed = out->failed || runs.failed;
    kn_str_free(&runs);
}

/* What lane kn_k gathers at kn_here. */
static void put_gather_lane(const writer *w, kn_str *out)
{
    int array = 0;
    for (int k = 0; k < param_count(w); ++k) {
        if (w->spec->operand[k].pass != KN_PASS_ARRAY)
            continue;
        if (access_of(w, k) == KN_GATHER) {
            kn_str_printf(out, "        kn_%s_.at[kn_k] = ", w->program->param[k].name);
            place_located(w, out, k, array);
            kn_str_append(out, ";\n");
        }
        ++array;
    }
    if (w->program->uses & KN_USES_INDEX)
        kn_str_printf(out, "        kn_i[kn_k] = kn.start + kn_here.at[%d];\n", array);
}

/* Lanes in one row or over its end, by `function`. */
static void put_gather_two_rows(const writer *w, kn_str *out, const char *function, bool with_step)
{
    put_gathers(w, out, function, true, with_step);
    if (!(w->program->uses & KN_USES_INDEX))
        return;
    int index = kn_spec_count_arrays(w->spec);
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k)\n",
                  w->spec->schedule.vector);
    kn_str_printf(
        out,
        "        kn_i[kn_k] = kn.start + (kn_k < kn_left ? kn_here.at[%d] + kn_k * kn.axis[0].stride[%d] "
        ": kn_next.at[%d] + (kn_k - kn_left) * kn.axis[0].stride[%d]);\n",
        index, index, index, index);
}

/* Lanes in many short rows: each is located. */
static void put_gather_across(const writer *w, kn_str *out)
{
    kn_str_printf(out, "#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k) {\n",
                  w->spec->schedule.vector);
    kn_str_append(out, "        const kn_place kn_here = kn_locate<1>(kn, kn_first + kn_k);\n");
    put_gather_lane(w, out);
    kn_str_append(out, "    }\n");
    put_words_of_lanes(w, out);
}

static bool gathers(const writer *w)
{
    return strchr(w->spec->schedule.access, KN_GATHER) != NULL;
}

/* The other operands of a windows kernel: runs as the results are, or element by element. */
static void put_windows_gather(const writer *w, kn_str *out)
{
    kn_str runs = KN_STR_INIT;
    bool has_index = w->program->uses & KN_USES_INDEX;
    if (!gathers(w) && !has_index)
        return;
    if (!has_index)
        put_all_runs(w, &runs);
    if (runs.length > 0) {
        kn_str_printf(out, "if (%s) {\n", kn_str_text(&runs));
        put_gathers(w, out, "kn_load_shifted", false, false);
        kn_str_append(out, "} else ");
    }
    kn_str_printf(out, "{\n#pragma unroll\n    for (int kn_k = 0; kn_k < %d; ++kn_k) {\n",
                  w->spec->schedule.vector);
    put_gather_lane(w, out);
    kn_str_append(out, "        kn_move(kn_here, kn_p, 1);\n"
                       "        if (kn_k + 1 == kn_left) {\n"
                       "            kn_move(kn_here, kn_p, -kn_p.extent);\n"
                       "            kn_move(kn_here, kn_x, 1);\n        }\n    }\n");
    put_words_of_lanes(w, out);
    kn_str_append(out, "}\n");
    put_lanes_of_words(w, out);
    out->failed = out->failed || runs.failed;
    kn_str_free(&runs);
}

/* What a thread of a rows kernel gathers. In short rows some of a warp go over the end: all do as if they did. */
static void put_rows_gather(writer *w, kn_str *out)
{
    int vector = w->spec->schedule.vector;
    kn_str runs = KN_STR_INIT;
    put_all_runs(w, &runs);
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
    put_gather_in_row(w, out);
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

/* What a thread gathers. Lanes of tiles and of steps lie in one row. */
static void put_gather(writer *w)
{
    kn_str *out = &w->slot[SLOT_GATHER];
    if (!gathers(w) && !(w->program->uses & KN_USES_INDEX))
        return;
    if (w->spec->schedule.kind == &kn_kind_rows) {
        put_rows_gather(w, out);
    } else {
        kn_str_append(out, "{\n");
        put_gather_in_row(w, out);
        kn_str_append(out, "}\n");
    }
    put_lanes_of_words(w, out);
}

/* Flat operands that are off the results' vectors by something else. */
static void put_flat_gather(writer *w)
{
    for (int k = 0; k < param_count(w); ++k)
        if (w->spec->operand[k].pass == KN_PASS_ARRAY && access_of(w, k) == KN_GATHER)
            kn_str_printf(&w->slot[SLOT_GATHER],
                          "kn_%s_ = kn_gather<%s, %d>((const char *)(kn.%s_ + kn_first));\n",
                          w->program->param[k].name, storage(w, k), w->spec->schedule.vector,
                          w->program->param[k].name);
}

/* The staged operands' tiles stand one behind the other in shared memory, each at a multiple of 16 bytes. */
static void put_stages(writer *w)
{
    int array = 0, vector = w->spec->schedule.vector;
    kn_str before = KN_STR_INIT, bytes = KN_STR_INIT;
    kn_str_append(&before, "kn_shared");
    for (int k = 0; k < param_count(w); ++k) {
        const char *name = w->program->param[k].name;
        if (w->spec->operand[k].pass != KN_PASS_ARRAY)
            continue;
        if (access_of(w, k) == KN_STAGED) {
            kn_str_printf(&w->slot[SLOT_TILES], "%s *const kn_%s_tile = (%s *)%s;\n", storage(w, k), name,
                          storage(w, k), kn_str_text(&before));
            kn_str_clear(&before);
            kn_str_printf(&bytes, " + ((kn.tile.p * kn.tile.q * %d + 15) & ~15u)",
                          vector * vector * kn_dtype_info_of(w->spec->operand[k].dtype)->size);
            kn_str_printf(&before, "((char *)kn_shared%s)", kn_str_text(&bytes));
            kn_str_printf(&w->slot[SLOT_STAGE],
                          "kn_stage(kn_%s_tile, (const char *)kn.%s_ + kn_from.at[%d], kn_p.stride[%d], "
                          "kn_pitch, kn_b, kn_slot);\n",
                          name, name, array, array);
        }
        ++array;
    }
    w->slot[SLOT_TILES].failed = w->slot[SLOT_TILES].failed || before.failed || bytes.failed;
    kn_str_free(&before);
    kn_str_free(&bytes);
}

static void put_host_pointers(writer *w)
{
    for (int k = 0; k < param_count(w); ++k)
        if (w->spec->operand[k].pass == KN_PASS_ARRAY)
            kn_str_printf(&w->slot[SLOT_POINTERS], "%s%s *const kn_%s_ = kn.%s_;\n",
                          is_output(w, k) ? "" : "const ", storage(w, k), w->program->param[k].name,
                          w->program->param[k].name);
    if (w->program->uses & KN_USES_INDEX && w->spec->schedule.kind == &kn_kind_host_indices)
        kn_str_append(&w->slot[SLOT_POINTERS],
                      "const long long *const kn_indices = (const long long *)kn.start;\n");
}

/* Elements do not depend on each other unless the snippet indexes arrays by itself. */
static void put_independent(writer *w)
{
    bool raw = false;
    for (int k = 0; k < param_count(w); ++k)
        raw = raw || w->spec->operand[k].pass == KN_PASS_RAW;
    if (!raw)
        kn_str_append(&w->slot[SLOT_INDEPENDENT], "KN_INDEPENDENT\n");
}

/* Blocks side by side on a multiprocessor for which registers are to be left, by the threads that are wanted there. */
static void put_blocks(writer *w, int threads)
{
    int most = w->spec->target.threads_per_multiprocessor;
    kn_str_printf(&w->slot[SLOT_BLOCKS], ", %d", (threads < most ? threads : most) / w->spec->schedule.block);
}

static void fill_flat(writer *w)
{
    if (w->spec->schedule.vector > 1) {
        put_vectors(w);
        put_flat_gather(w);
        put_call(w, &w->slot[SLOT_LANE], place_lane, "kn.start + kn_first + kn_k");
    }
    put_call(w, &w->slot[SLOT_SINGLE], place_flat, "kn.start + kn_at");
}

static void fill_located(writer *w)
{
    char index[64];
    bool narrow = false;
    for (int k = 0; k < param_count(w); ++k)
        narrow = narrow || is_kept_in_words(w, k);
    if (narrow && w->spec->schedule.kind == &kn_kind_rows && kn_cost_functions(w->program) == 0)
        put_blocks(w, FULL_THREADS); /* the ways that need more registers are rare */
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d]", kn_spec_count_arrays(w->spec));
    put_call(w, &w->slot[SLOT_SINGLE], place_located, index);
    if (w->spec->schedule.kind == &kn_kind_strided)
        return;
    put_vectors(w);
    put_gather(w);
    put_call(w, &w->slot[SLOT_LANE], place_lane, "kn_i[kn_k]");
}

/* Of a windows kernel what is staged stands apart in shared memory. */
static void put_windows(writer *w)
{
    int array = 0;
    put_blocks(w, WINDOWS_THREADS);
    for (int k = 0; k < param_count(w); ++k) {
        const char *name = w->program->param[k].name;
        if (w->spec->operand[k].pass != KN_PASS_ARRAY)
            continue;
        int size = kn_dtype_info_of(w->spec->operand[k].dtype)->size;
        if (access_of(w, k) == KN_STAGED) {
            kn_str_printf(&w->slot[SLOT_STAGED], "%d", array);
            kn_str_printf(&w->slot[SLOT_STAGED_SIZE], "%d", size);
            kn_str_printf(&w->slot[SLOT_STAGED_FROM], "kn.%s_", name);
            kn_str_printf(&w->slot[SLOT_GATHER],
                          "kn_%s_ = kn_take_run<%s, %d>(kn_turned, kn_turned_on, kn_left, kn_w, kn_turn);\n",
                          name, storage(w, k), w->spec->schedule.vector);
        } else if (is_output(w, k) && w->slot[SLOT_RESULT_SIZE].length == 0) {
            kn_str_printf(&w->slot[SLOT_RESULT_FROM], "(char *)kn.%s_ + kn_slot_at.at[%d]", name, array);
            kn_str_printf(&w->slot[SLOT_RESULT_SIZE], "%d", size);
        }
        ++array;
    }
}

static void fill_windows(writer *w)
{
    char index[64];
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d]", kn_spec_count_arrays(w->spec));
    put_windows(w);
    put_call(w, &w->slot[SLOT_SINGLE], place_windowed, index);
    put_vectors(w);
    put_windows_gather(w, &w->slot[SLOT_GATHER]);
    put_call(w, &w->slot[SLOT_LANE], place_lane, "kn_i[kn_k]");
}

static void fill_tile(writer *w)
{
    if (w->spec->schedule.vector <= MOST_BOUND && kn_cost_functions(w->program) == 0)
        put_blocks(w, FULL_THREADS);
    put_stages(w);
    fill_located(w);
}

/* Chains of functions wait for one another, so several vectors are to be under way at a time. gcc goes by the smallest type in the loop: one
 * byte more makes them four of float32. */
static void put_lanes(writer *w)
{
    if (kn_cost_functions(w->program) < DEEP_CHAIN)
        return;
    kn_str_append(&w->slot[SLOT_POINTERS],
                  "signed char kn_lanes = 0; /* makes vectors of bytes, that is several of the others */\n");
    kn_str_append(&w->slot[SLOT_SINGLE], "kn_lanes |= (signed char)kn_at;\n");
    kn_str_append(&w->slot[SLOT_AFTER_LOOP], "__asm__ volatile(\"\" : : \"r\"(kn_lanes));\n");
}

/* The one result of a kernel whose time is that of memory; -1. What indexes arrays by itself keeps its order. */
static int find_streamed(const kn_spec *spec)
{
    int found = -1;
    for (int k = 0; k < spec->program->n_in + spec->program->n_out; ++k) {
        if (spec->operand[k].pass == KN_PASS_RAW || (k >= spec->program->n_in && found >= 0))
            return -1;
        if (k >= spec->program->n_in && spec->operand[k].pass == KN_PASS_ARRAY)
            found = k;
    }
    return kn_cost_functions(spec->program) == 0 ? found : -1;
}

static void put_streamed(writer *w, int k, const char *index)
{
    int size = kn_dtype_info_of(w->spec->operand[k].dtype)->size;
    const char *name = w->program->param[k].name;
    kn_str_printf(&w->slot[SLOT_POINTERS],
                  "enum { kn_width = %d };\n"
                  "const bool kn_streams = KN_STREAMS && kn.size >= %d && kn_end - kn_begin >= %d && "
                  "(size_t)kn_%s_ %% %d == 0;\n"
                  "const long long kn_whole = kn_begin + (0 - (size_t)(kn_%s_ + kn_begin)) %% %d / %d;\n",
                  LINE / size, STREAMED_BYTES / size, STREAMED_RUN / size, name, size, name, LINE, size);
    kn_str_printf(&w->slot[SLOT_LOADS], "alignas(%d) %s kn_line[kn_width];\n", LINE, storage(w, k));
    kn_str_printf(&w->slot[SLOT_GATHER], "kn_line[kn_k] = kn_%s_[kn_at];\n", name);
    put_call(w, &w->slot[SLOT_LANE], place_in_line, index);
    kn_str_printf(&w->slot[SLOT_STORES], "kn_stream(kn_%s_ + kn_first, kn_line);\n", name);
}

/* One loop over runs. Where the logical index does not count up along them, `start` is the address of all indices. */
static void fill_host(writer *w)
{
    put_host_pointers(w);
    const char *index =
        w->spec->schedule.kind == &kn_kind_host_indices ? "kn_indices[kn_at]" : "kn.start + kn_at";
    put_call(w, &w->slot[SLOT_SINGLE], place_flat, index);
    put_lanes(w);
    if (find_streamed(w->spec) >= 0)
        put_streamed(w, find_streamed(w->spec), index);
}

/* Template by kind. */
typedef struct recipe {
    const kn_kind *kind;
    const char *name;
    void (*fill)(writer *w);
} recipe;
static const recipe recipes[] = {
    {&kn_kind_flat, "cuda/flat.cu", fill_flat},          {&kn_kind_rows, "cuda/rows.cu", fill_located},
    {&kn_kind_strided, "cuda/strided.cu", fill_located}, {&kn_kind_steps, "cuda/steps.cu", fill_located},
    {&kn_kind_tile, "cuda/tile.cu", fill_tile},          {&kn_kind_windows, "cuda/windows.cu", fill_windows},
    {&kn_kind_host_runs, "host/flat.cpp", fill_host},    {&kn_kind_host_indices, "host/flat.cpp", fill_host}};

/* Where one element a thread, or results that go past the caches, have a template of their own. */
static const char *template_of(const recipe *r, const kn_spec *spec)
{
    if (r->kind == &kn_kind_flat && spec->schedule.vector == 1)
        return "cuda/flat_single.cu";
    if (r->fill == fill_host && find_streamed(spec) >= 0)
        return "host/streamed.cpp";
    return r->name;
}

static kiln_status find_recipe(const recipe **out, const kn_spec *spec)
{
    for (size_t k = 0; k < sizeof recipes / sizeof recipes[0]; ++k)
        if (recipes[k].kind == spec->schedule.kind) {
            *out = &recipes[k];
            return KILN_OK;
        }
    return kn_error(KILN_ERROR_UNSUPPORTED, "there is no template for the schedule '%s'",
                    spec->schedule.kind->name);
}

static void put_typedefs(const writer *w, kn_str *out)
{
    for (int k = 0; k < param_count(w); ++k) {
        char letter = w->program->param[k].placeholder;
        bool seen = w->program->param[k].type != KN_TYPE_PLACEHOLDER;
        for (int j = 0; j < k && !seen; ++j)
            seen = w->program->param[j].type == KN_TYPE_PLACEHOLDER &&
                   w->program->param[j].placeholder == letter;
        if (!seen)
            kn_str_printf(out, "typedef %s %c;\n", kn_spec_c_name(w->spec, k), letter);
    }
}

/* A struct of another size than the caller's would move everything behind it. */
static void put_struct_checks(const writer *w, kn_str *out)
{
    for (int k = 0; k < param_count(w); ++k)
        if (w->spec->operand[k].pass == KN_PASS_STRUCT)
            kn_str_printf(out, "static_assert(sizeof(%s) == %d, \"'%s' was given with %d bytes\");\n",
                          kn_spec_c_name(w->spec, k), w->spec->operand[k].struct_size,
                          w->program->param[k].name, w->spec->operand[k].struct_size);
}

/* The preludes are chosen by what the user's texts and the operands' types mention. */
static kiln_status put_head(writer *w)
{
    kn_str types = KN_STR_INIT, *out = &w->slot[SLOT_HEAD];
    for (int k = 0; k < param_count(w); ++k)
        kn_str_printf(&types, "%s %s ", kn_spec_c_name(w->spec, k),
                      w->spec->operand[k].pass == KN_PASS_RAW ? "kn_raw" : "");
    if (w->is_cuda)
        kn_str_printf(&types, "%s %s",
                      gathers(w) || w->spec->schedule.kind == &kn_kind_windows ? "kn_gather" : "",
                      strpbrk(w->spec->schedule.access, "vs") ? "kn_load_along" : "");
    const kn_program *p = w->program;
    const char *texts[TEXT_COUNT + 1] = {[TEXT_COUNT] = kn_str_text(&types)};
    for (int t = 0; t < TEXT_COUNT; ++t)
        texts[t] = kn_str_text(&w->user[t]);
    kn_str_printf(out, "// %s: %s\n\n", p->name, w->spec->schedule.kind->name);
    kiln_status status =
        kn_prelude_append(out, w->spec->target.backend, texts, sizeof texts / sizeof texts[0]);
    put_typedefs(w, out);
    if (p->preamble[0])
        kn_str_printf(out, "#line 1 \"%s.preamble\"\n%s\n#line 0\n", p->name, texts[TEXT_PREAMBLE]);
    put_struct_checks(w, out);
    out->failed = out->failed || types.failed;
    kn_str_free(&types);
    return status;
}

static void put_user_lines(writer *w, enum slot_id slot, enum text_id id, const char *what)
{
    const char *text = kn_str_text(&w->user[id]);
    if (text[0])
        kn_str_printf(&w->slot[slot], "#line 1 \"%s.%s\"\n%s\n;\n#line 0\n", w->program->name, what, text);
}

/* Integers divide and shift as NumPy's do. */
static kiln_status guard_texts(writer *w)
{
    const kn_program *p = w->program;
    const char *texts[TEXT_COUNT] = {p->body, p->preamble, p->loop_prep, p->after_loop};
    bool in_macros = true;
    kiln_status status = KILN_OK;
    for (int t = 0; t < TEXT_COUNT; ++t)
        in_macros = in_macros && !kn_text_has_conditions(texts[t]);
    for (int t = 0; t < TEXT_COUNT && status == KILN_OK; ++t) {
        kn_operators_guard(&w->user[t], texts[t], in_macros);
        status = kn_str_status(&w->user[t], "generated source");
    }
    return status;
}

static void put_numbers(writer *w)
{
    const kn_schedule *s = &w->spec->schedule;
    char entry[KN_NAME_MAX + 8];
    kn_codegen_entry(entry, sizeof entry, w->program);
    kn_str_append(&w->slot[SLOT_ENTRY], entry);
    kn_str_printf(&w->slot[SLOT_BLOCK], "%d", s->block);
    kn_str_printf(&w->slot[SLOT_VECTOR], "%d", s->vector);
    kn_str_printf(&w->slot[SLOT_RANK], "%d", s->rank);
    kn_str_printf(&w->slot[SLOT_UNROLL], "%d", s->rank > 8 ? 1 : 8);
    if (w->spec->target.waits_for_kernels)
        kn_str_append(&w->slot[SLOT_WAIT], "kn_wait();\n");
    kn_str_printf(&w->slot[SLOT_THREAD_STEPS], "%d", KN_THREAD_STEPS);
    kn_str_printf(&w->slot[SLOT_ROW_UNROLL], "%d", s->vector > 4 ? 1 : s->vector);
    kn_str_printf(&w->slot[SLOT_OPERANDS], "%d", kn_layout_space_operands(w->spec));
}

static int gather_slots(const writer *w, kn_slot *slots)
{
    for (int s = 0; s < SLOT_COUNT; ++s)
        slots[s] = (kn_slot){slot_names[s], kn_str_text(&w->slot[s])};
    return SLOT_COUNT;
}

static kiln_status expand_template(const writer *w, kn_str *out, const char *name)
{
    kn_slot slots[SLOT_COUNT];
    kn_str text = KN_STR_INIT;
    kiln_status status = kn_template_read(&text, name);
    if (status == KILN_OK)
        status = kn_str_status(&text, "a template");
    if (status == KILN_OK)
        status = kn_template_expand(out, kn_str_text(&text), slots, gather_slots(w, slots));
    kn_str_free(&text);
    return status;
}

/* "#line 0" marks the end of a user's text: the numbering of the generated file goes on there. */
static void restore_lines(kn_str *out, const char *text, const char *name, const char *suffix)
{
    for (int line = 1; *text; ++line) {
        size_t length = strcspn(text, "\n");
        if (length == 7 && memcmp(text, "#line 0", 7) == 0)
            kn_str_printf(out, "#line %d \"kiln_%s%s\"\n", line + 1, name, suffix);
        else
            kn_str_append_n(out, text, length + (text[length] == '\n'));
        text += length + (text[length] == '\n');
    }
}

static kiln_status write_source(writer *w, kn_str *out)
{
    const recipe *r = NULL;
    kiln_status status = find_recipe(&r, w->spec);
    if (status != KILN_OK)
        return status;
    status = guard_texts(w);
    if (status == KILN_OK)
        status = put_head(w);
    put_numbers(w);
    kn_layout_declare(&w->slot[SLOT_FIELDS], w->spec);
    put_values(w);
    put_element(w);
    put_independent(w);
    put_user_lines(w, SLOT_LOOP_PREP, TEXT_LOOP_PREP, "loop_prep");
    put_user_lines(w, SLOT_AFTER_LOOP, TEXT_AFTER_LOOP, "after_loop");
    r->fill(w);
    if (status == KILN_OK && w->is_cuda && w->spec->schedule.rank > 0)
        status = expand_template(w, &w->slot[SLOT_AXES], "cuda/axes.cu");
    kn_str text = KN_STR_INIT;
    for (int s = 0; s < SLOT_COUNT && status == KILN_OK; ++s)
        status = kn_str_status(&w->slot[s], "generated source");
    if (status == KILN_OK)
        status = expand_template(w, &text, template_of(r, w->spec));
    if (status == KILN_OK)
        status = kn_str_status(&text, "generated source");
    if (status == KILN_OK)
        restore_lines(out, kn_str_text(&text), w->program->name, w->is_cuda ? ".cu" : ".cpp");
    kn_str_free(&text);
    return status == KILN_OK ? kn_str_status(out, "generated source") : status;
}

kiln_status kn_codegen_source(kn_str *out, const kn_spec *spec)
{
    writer w = {.spec = spec, .program = spec->program, .is_cuda = spec->target.backend == KN_CUDA};
    kiln_status status = write_source(&w, out);
    for (int s = 0; s < SLOT_COUNT; ++s)
        kn_str_free(&w.slot[s]);
    for (int t = 0; t < TEXT_COUNT; ++t)
        kn_str_free(&w.user[t]);
    return status;
}
