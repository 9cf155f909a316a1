/* emit_channels.c - fills channels.cu. */
#include "codegen/writer.h"
#include "schedules/interleave/kind_channels.h"
#include "schedules/interleave/interleave_kinds.h"

#include <stdio.h>

enum {
    VECTOR_BYTES = 16,
    MOST_WORD = 8 /* bytes of a word in which channels are loaded, unless elements are larger */
};

static int positions_of(const kn_writer *w)
{
    return w->spec->schedule.vector;
}

static int channels_of(const kn_writer *w)
{
    return w->spec->schedule.per_thread;
}

static bool looks_up(const kn_writer *w)
{
    return w->spec->schedule.variant & KN_CHANNELS_TABLE;
}

static bool is_interleaved(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_STAGED;
}

static bool is_staged(const kn_writer *w, int k)
{
    return kn_is_output(w, k) && kn_access_of(w, k) == KN_GATHER;
}

/* Bytes of a word in which a thread's channels are loaded: the largest that divides them. */
static int word_of(const kn_writer *w, int k)
{
    int size = kn_item_size(w, k), bytes = positions_of(w) * channels_of(w) * size, word = size;
    while (word < MOST_WORD && bytes % (2 * word) == 0)
        word *= 2;
    return word;
}

/* Channel kn_c of the position at kn_here. */
static void place_single(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    int array = kn_array_of(w, k);
    kn_str_printf(out,
                  "*(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d] + (long long)kn_c * kn_axis_c.stride[%d])",
                  qualifier, kn_storage(w, k), qualifier, w->program->param[k].name, array, array);
}

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name;
    if (is_interleaved(w, k))
        kn_str_printf(out, "kn_%s_.at[kn_k * %d + kn_c]", name, channels_of(w));
    else if (kn_access_of(w, k) == KN_BROADCAST)
        kn_str_printf(out, "kn_%s_[kn_c]", name);
    else
        kn_str_printf(out, "kn_%s_[kn_c].at[kn_k]", name);
}

/* "(const char *)kn.x_ + kn_here.at[0]": the first position; of_channel: of channel kn_c. */
static void put_address(const kn_writer *w, kn_str *out, int k, bool of_channel)
{
    int array = kn_array_of(w, k);
    kn_str_printf(out, "(%schar *)kn.%s_ + kn_here.at[%d]", kn_is_output(w, k) ? "" : "const ",
                  w->program->param[k].name, array);
    if (of_channel)
        kn_str_printf(out, " + (long long)kn_c * kn_axis_c.stride[%d]", array);
}

static void put_planar_load(const kn_writer *w, kn_str *out, int k)
{
    const char *type = kn_storage(w, k);
    int positions = positions_of(w);
    kn_str at = KN_STR_INIT;
    put_address(w, &at, k, true);
    if (kn_access_of(w, k) == KN_BROADCAST)
        kn_str_printf(out, "*(const %s *)(%s)", type, kn_str_text(&at));
    else
        kn_str_printf(out, "kn_load<%s, %d>((const %s *)(%s))", type, positions, type, kn_str_text(&at));
    out->failed = out->failed || at.failed;
    kn_str_free(&at);
}

/* All of a thread's elements of the operand. Results are loaded too, since not every body assigns them. */
static void put_load(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    kn_str *out = &w->slot[KN_SLOT_LOADS];
    int positions = positions_of(w), channels = channels_of(w);
    if (looks_up(w) && kn_access_of(w, k) == KN_BROADCAST)
        return;
    if (is_interleaved(w, k)) {
        kn_str_printf(out, "%sauto kn_%s_ = kn_load_run<%s, %d, %d>(", kn_is_output(w, k) ? "" : "const ",
                      name, type, positions * channels, word_of(w, k));
        put_address(w, out, k, false);
        kn_str_append(out, ");\n");
        return;
    }
    if (kn_access_of(w, k) == KN_BROADCAST)
        kn_str_printf(out, "%s kn_%s_[%d];\n", type, name, channels);
    else
        kn_str_printf(out, "kn_pack<%s, %d> kn_%s_[%d];\n", type, positions, name, channels);
    if (kn_access_of(w, k) == KN_GATHER) {
        kn_str_printf(out, "kn_load_planar(kn_%s_, ", name);
        put_address(w, out, k, false);
        kn_str_printf(out, ", kn_axis_p.stride[%d], kn_axis_c.stride[%d]);\n", kn_array_of(w, k),
                      kn_array_of(w, k));
        return;
    }
    kn_str_printf(out, "#pragma unroll\nfor (int kn_c = 0; kn_c < %d; ++kn_c)\n    kn_%s_[kn_c] = ", channels,
                  name);
    put_planar_load(w, out, k);
    kn_str_append(out, ";\n");
}

/* ---- results ---- */

/* Through the warp's part of shared memory, in aligned vectors. */
static void put_interleaved_store(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    int elements = positions_of(w) * channels_of(w), bytes = elements * kn_item_size(w, k);
    kn_str_printf(out,
                  "kn_stage_part<%s, %d>(kn_%s_laid + threadIdx.x * %d, kn_%s_.at);\n__syncwarp(kn_full);\n",
                  type, elements, name, bytes, name);
    kn_str_printf(out, "kn_store_run<%s, %d>(", type, bytes);
    put_address(w, out, k, false);
    kn_str_printf(out, ", kn_%s_laid + threadIdx.x / 32 * %d, kn_%s_run);\n", name, 32 * bytes, name);
}

static void put_planar_store(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    kn_str_printf(out, "#pragma unroll\nfor (int kn_c = 0; kn_c < %d; ++kn_c)\n", channels_of(w));
    if (is_staged(w, k)) {
        int bytes = positions_of(w) * kn_item_size(w, k);
        kn_str_printf(
            out, "    kn_stage_part<%s, %d>(kn_%s_laid + kn_c * %d + threadIdx.x * %d, kn_%s_[kn_c].at);\n",
            type, positions_of(w), name, w->spec->schedule.block * bytes, bytes, name);
    } else {
        kn_str_printf(out, "    kn_store((%s *)(", type);
        put_address(w, out, k, true);
        kn_str_printf(out, "), kn_%s_[kn_c]);\n", name);
    }
}

/* `function` for `count` parts of each channel. */
static void put_staged_loop(const kn_writer *w, kn_str *out, int k, const char *function, const char *count)
{
    const char *name = w->program->param[k].name;
    int array = kn_array_of(w, k), bytes = positions_of(w) * kn_item_size(w, k);
    kn_str_printf(out,
                  "#pragma unroll 1\n    for (int kn_j = threadIdx.x; kn_j < %d * %s; kn_j += blockDim.x) {\n"
                  "        const int kn_c = kn_j / %s;\n"
                  "        %s((%s *)((char *)kn.%s_ + kn_corner.at[%d] + (long long)kn_c * "
                  "kn_axis_c.stride[%d]), kn_%s_laid + kn_c * %d, kn_bytes, kn_j - kn_c * %s);\n    }\n",
                  channels_of(w), count, count, function, kn_storage(w, k), name, array, array, name,
                  w->spec->schedule.block * bytes, count);
}

/* The block's whole positions of each channel. */
static void put_staged_store(const kn_writer *w, kn_str *out, int k)
{
    int size = kn_item_size(w, k), bytes = positions_of(w) * size;
    char ends[16];
    kn_str_append(out, "{\n");
    kn_str_printf(out, "    const int kn_bytes = kn_whole * %d, kn_chunks = kn_bytes / 16;\n", bytes);
    put_staged_loop(w, out, k, "kn_store_chunk", "kn_chunks");
    snprintf(ends, sizeof ends, "%d", 2 * (VECTOR_BYTES / size) - 2);
    if (size < VECTOR_BYTES)
        put_staged_loop(w, out, k, "kn_store_end", ends);
    kn_str_append(out, "}\n");
}

/* The threads of the warp that have whole parts. */
static void put_full(kn_writer *w)
{
    kn_str_printf(&w->slot[KN_SLOT_FROM], "const unsigned kn_full = __ballot_sync(~0u, %d <= kn_left);\n",
                  positions_of(w));
}

/* This is computed in front of the loads, so that nothing waits for it afterwards. */
static void put_together(const kn_writer *w, kn_str *out, int k)
{
    int bytes = positions_of(w) * channels_of(w) * kn_item_size(w, k);
    kn_str_printf(
        out,
        "const kn_together kn_%s_run = kn_find_together(kn_here.at[%d] - (int)(threadIdx.x %% 32) * "
        "%d, kn_full);\n",
        w->program->param[k].name, kn_array_of(w, k), bytes);
}

static void put_result(kn_writer *w, int k)
{
    const char *name = w->program->param[k].name;
    int bytes = w->spec->schedule.block * positions_of(w) * channels_of(w) * kn_item_size(w, k);
    if (is_interleaved(w, k) || is_staged(w, k))
        kn_str_printf(&w->slot[KN_SLOT_TILES], "__shared__ __align__(16) char kn_%s_laid[%d];\n", name,
                      bytes);
    if (is_interleaved(w, k)) {
        put_together(w, &w->slot[KN_SLOT_FROM], k);
        put_interleaved_store(w, &w->slot[KN_SLOT_STORES], k);
        return;
    }
    put_planar_store(w, &w->slot[KN_SLOT_STORES], k);
    if (is_staged(w, k))
        put_staged_store(w, &w->slot[KN_SLOT_STAGE], k);
}

/* ---- the table ---- */

/* Entry kn_j of the table, of channel kn_c. */
static void place_entry(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name;
    int array = kn_array_of(w, k);
    if (kn_is_output(w, k))
        kn_str_printf(out, "kn_%s_table[kn_j]", name);
    else if (kn_access_of(w, k) == KN_BROADCAST)
        kn_str_printf(out, "*(const %s *)((const char *)kn.%s_ + (long long)kn_c * kn_axis_c.stride[%d])",
                      kn_storage(w, k), name, array);
    else
        kn_str_printf(out, "(%s)(kn_j & %d)", kn_storage(w, k), KN_TABLE_ENTRIES - 1);
}

static void put_table(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_TILES];
    int entries = channels_of(w) * KN_TABLE_ENTRIES;
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        const char *name = w->program->param[k].name, *type = kn_storage(w, k);
        kn_str_printf(&w->slot[KN_SLOT_TILES], "__shared__ __align__(16) char kn_%s_entries[%d];\n", name,
                      entries * kn_item_size(w, k));
        kn_str_printf(&w->slot[KN_SLOT_TILES], "%s *const kn_%s_table = (%s *)kn_%s_entries;\n", type, name,
                      type, name);
    }
    kn_str_printf(out, "#pragma unroll 1\nfor (int kn_j = threadIdx.x; kn_j < %d; kn_j += blockDim.x) {\n",
                  entries);
    kn_str_printf(out, "    const int kn_c = kn_j / %d;\n", KN_TABLE_ENTRIES);
    kn_put_call(w, out, place_entry, "");
    kn_str_append(out, "}\n__syncthreads();\n");
}

/* The results of the element at `place`. */
static void put_look_up(kn_writer *w, kn_str *out, kn_place_writer place)
{
    int byte = 0;
    while (kn_array_of(w, byte) < 0 || kn_access_of(w, byte) == KN_BROADCAST)
        ++byte;
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        place(w, out, k);
        kn_str_printf(out, " = kn_%s_table[kn_c * %d + (unsigned char)(", w->program->param[k].name,
                      KN_TABLE_ENTRIES);
        place(w, out, byte);
        kn_str_append(out, ")];\n");
    }
}

/* ---- where a thread begins ---- */

static void put_along_all(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_FROM];
    kn_str_printf(&w->slot[KN_SLOT_FIRST], "kn_block * %du + threadIdx.x", w->spec->schedule.block);
    kn_str_printf(
        out, "const int kn_left = kn_part < kn.size ? (int)(kn_axis_p.extent - kn_here.inner * %d) : 0;\n",
        positions_of(w));
}

static void put_in_one_run(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_FROM];
    kn_str_append(&w->slot[KN_SLOT_FIRST], "kn_block");
    kn_str_append(out, "const kn_place kn_corner = kn_here;\n");
    kn_str_printf(
        out,
        "const int kn_left = (int)(kn_axis_p.extent - (kn_here.inner * blockDim.x + threadIdx.x) * %d);\n",
        positions_of(w));
    kn_str_printf(out, "kn_move(kn_here, kn_axis_p, threadIdx.x * %d);\n", positions_of(w));
    kn_str_printf(&w->slot[KN_SLOT_STAGE],
                  "const int kn_rest = (int)(kn_axis_p.extent - kn_corner.inner * blockDim.x * %d) / %d, "
                  "kn_whole = kn_rest < (int)blockDim.x ? kn_rest : (int)blockDim.x;\n__syncthreads();\n",
                  positions_of(w), positions_of(w));
}

static void fill_channels(kn_writer *w)
{
    char lane[160], single[128];
    int index = w->spec->n_arrays;
    snprintf(single, sizeof single, "kn.start + kn_here.at[%d] + (long long)kn_c * kn_axis_c.stride[%d]",
             index, index);
    snprintf(lane, sizeof lane, "%s + kn_k * kn_axis_p.stride[%d]", single, index);
    if (looks_up(w))
        put_table(w);
    if (w->spec->schedule.variant & KN_CHANNELS_STAGED)
        put_in_one_run(w);
    else
        put_along_all(w);
    bool are_interleaved = false;
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        are_interleaved = are_interleaved || is_interleaved(w, k);
    if (are_interleaved)
        put_full(w);
    for (int k = 0; k < kn_param_count(w); ++k) {
        if (kn_array_of(w, k) < 0)
            continue;
        put_load(w, k);
        if (kn_is_output(w, k))
            put_result(w, k);
    }
    if (looks_up(w)) {
        put_look_up(w, &w->slot[KN_SLOT_LANE], place_lane);
        put_look_up(w, &w->slot[KN_SLOT_SINGLE], place_single);
        return;
    }
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_lane, lane);
    kn_put_call(w, &w->slot[KN_SLOT_SINGLE], place_single, single);
}

const kn_recipe kn_recipe_channels = {
    .template_name = "schedules/interleave/channels.cu", .fill = fill_channels, .preludes = "kn_gather"};
