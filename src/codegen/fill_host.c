/* fill_host.c - templates/host/flat.cpp, and streamed.cpp where results go past the caches: one loop over a
 * run. */
#include "codegen/writer.h"

#include "plan/cost.h"
#include "plan/pure.h"

enum {
    DEEP_CHAIN = 6,            /* functions of an element, from which on a loop is made wider */
    HOST_LINE = 64,            /* bytes that a processor stores past its caches at once */
    STREAMED_BYTES = 16 << 20, /* of results, from which on they go past the caches */
    STREAMED_ELEMENTS = 128,   /* that are computed before they are stored */
    STREAMED_RUN = 256         /* fewest bytes of results of a call that does so */
};

extern const kn_recipe kn_recipe_host_runs;

/* Compilers make no vectors of loops that copy structs: what is read of those of one member is copied by
 * it. */
static const char *copied(const kn_writer *w, int k)
{
    kiln_dtype dtype = w->spec->operand[k].dtype;
    bool is_struct = kn_array_of(w, k) >= 0 && (dtype == KILN_FLOAT16 || dtype == KILN_BFLOAT16);
    return is_struct ? "kn_by_bits" : "";
}

static void place_in_line(const kn_writer *w, kn_str *out, int k)
{
    if (kn_is_output(w, k)) {
        kn_str_append(out, "kn_line[kn_k]");
        return;
    }
    kn_str_printf(out, "%s", copied(w, k));
    kn_str_append(out, copied(w, k)[0] ? "(" : "");
    kn_place_flat(w, out, k);
    kn_str_append(out, copied(w, k)[0] ? ")" : "");
}

static void put_host_pointers(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            kn_str_printf(&w->slot[KN_SLOT_POINTERS], "%s%s *const kn_%s_ = kn.%s_;\n",
                          kn_is_output(w, k) ? "" : "const ", kn_storage(w, k), w->program->param[k].name,
                          w->program->param[k].name);
    if (w->program->uses & KN_USES_INDEX && w->recipe != &kn_recipe_host_runs)
        kn_str_append(&w->slot[KN_SLOT_POINTERS],
                      "const long long *const kn_indices = (const long long *)kn.start;\n");
}

/* Elements do not depend on each other unless the snippet indexes arrays by itself. */
static void put_independent(kn_writer *w)
{
    bool raw = false;
    for (int k = 0; k < kn_param_count(w); ++k)
        raw = raw || w->spec->operand[k].pass == KN_PASS_RAW;
    if (!raw)
        kn_str_append(&w->slot[KN_SLOT_INDEPENDENT], "KN_INDEPENDENT\n");
}

/* Chains of functions wait for one another, so several vectors are to be under way at a time. gcc goes by the
 * smallest type in the loop: one byte more makes them four of float32. */
static void put_lanes(kn_writer *w)
{
    if (kn_cost_functions(w->program) < DEEP_CHAIN)
        return;
    kn_str_append(&w->slot[KN_SLOT_POINTERS],
                  "signed char kn_lanes = 0; /* makes vectors of bytes, that is several of the others */\n");
    kn_str_append(&w->slot[KN_SLOT_SINGLE], "kn_lanes |= (signed char)kn_at;\n");
    kn_str_append(&w->slot[KN_SLOT_AFTER_LOOP], "__asm__ volatile(\"\" : : \"r\"(kn_lanes));\n");
}

/* The one result of a kernel whose time is that of memory; -1. What indexes arrays by itself keeps its order.
 */
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

static void put_streamed(kn_writer *w, int k, const char *index)
{
    int size = kn_item_size(w, k);
    const char *name = w->program->param[k].name;
    kn_str_printf(&w->slot[KN_SLOT_POINTERS],
                  "enum { kn_width = %d, kn_most = %d }; /* elements of a line; lines of the buffer */\n"
                  "const bool kn_streams = KN_STREAMS && kn.size >= %d && kn_end - kn_begin >= %d && "
                  "(size_t)kn_%s_ %% %d == 0;\n"
                  "const long long kn_whole = kn_begin + (0 - (size_t)(kn_%s_ + kn_begin)) %% %d / %d;\n",
                  HOST_LINE / size, STREAMED_ELEMENTS * size / HOST_LINE, STREAMED_BYTES / size,
                  STREAMED_RUN / size, name, size, name, HOST_LINE, size);
    kn_str_printf(&w->slot[KN_SLOT_LOADS], "alignas(%d) %s kn_line[kn_width * kn_most];\n", HOST_LINE,
                  kn_storage(w, k));
    if (!kn_body_is_pure(w->program)) /* what a body may leave as it was, or read */
        kn_str_printf(&w->slot[KN_SLOT_GATHER], "kn_line[kn_k] = %s(kn_%s_[kn_at]);\n", copied(w, k), name);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_in_line, index);
    kn_str_printf(&w->slot[KN_SLOT_STORES], "kn_stream(kn_%s_ + kn_first, kn_line + kn_l * kn_width);\n",
                  name);
}

/* One loop over runs. Where the logical index does not count up along them, `start` is the address of all
 * indices. */
static void fill_host(kn_writer *w)
{
    put_host_pointers(w);
    put_independent(w);
    const char *index = w->recipe == &kn_recipe_host_runs ? "kn.start + kn_at" : "kn_indices[kn_at]";
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_flat, index);
    put_lanes(w);
    if (find_streamed(w->spec) >= 0)
        put_streamed(w, find_streamed(w->spec), index);
}

static const char *choose_template(const kn_spec *spec)
{
    return find_streamed(spec) >= 0 ? "host/streamed.cpp" : "host/flat.cpp";
}

const kn_recipe kn_recipe_host_runs = {
    .kind = &kn_kind_host_runs, .choose_template = choose_template, .fill = fill_host};
const kn_recipe kn_recipe_host_indices = {
    .kind = &kn_kind_host_indices, .choose_template = choose_template, .fill = fill_host};

static void fill_quick(kn_writer *w)
{
    put_host_pointers(w);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], kn_place_flat, "kn_indices[kn_at]");
}

const kn_recipe kn_recipe_host_quick = {
    .kind = &kn_kind_host_quick, .template_name = "host/flat.cpp", .fill = fill_quick};
