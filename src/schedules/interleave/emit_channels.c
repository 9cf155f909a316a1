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

static const kn_channels_config *config_of(const kn_writer *w)
{
    return kn_channels_config_of(&w->spec->schedule);
}

static int channels_of(const kn_writer *w)
{
    return config_of(w)->channels;
}

static bool looks_up(const kn_writer *w)
{
    return config_of(w)->table;
}

static bool is_interleaved(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_STAGED;
}

static bool is_backward(const kn_writer *w, int k)
{
    return kn_access_of(w, k) == KN_DENSE;
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

static void put_position(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "position", k);
}

static void put_channel(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out, "channel", k);
}

/* Channel kn_c of the position at kn_here. */
static void place_single(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part_with(w, out, "single", k, "channel=%s", kn_text_by(w, put_channel, k));
}

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part(w, out,
                is_interleaved(w, k)                 ? "lane_interleaved"
                : is_backward(w, k)                  ? "lane_backward"
                : kn_access_of(w, k) == KN_BROADCAST ? "lane_broadcast"
                                                     : "lane_planar",
                k);
}

/* Bytes of all channels of a thread, or of one channel. */
static int bytes_of(const kn_writer *w, int k, int channels)
{
    return positions_of(w) * channels * kn_item_size(w, k);
}

/* All of a thread's elements of the operand. Results are loaded too, since not every body assigns them. */
static void put_load(kn_writer *w, int k)
{
    char access = kn_access_of(w, k);
    kn_str *out = &w->slot[KN_SLOT_LOADS], *position = kn_text(w);
    if (looks_up(w) && access == KN_BROADCAST)
        return;
    kn_put_part(w, position, is_backward(w, k) ? "position_of_last" : "position", k);
    if (is_interleaved(w, k) || is_backward(w, k))
        kn_put_part_with(w, out, "load_interleaved", k, "elements=%d word=%d position=%s",
                         positions_of(w) * channels_of(w), word_of(w, k), kn_str_text(position));
    else if (access == KN_GATHER)
        kn_put_part_with(w, out, "gather_planar", k, "position=%s", kn_str_text(position));
    else
        kn_put_part_with(w, out, access == KN_BROADCAST ? "load_broadcast" : "load_planar", k, "channel=%s",
                         kn_text_by(w, put_channel, k));
}

/* ---- results ---- */

/* Through the warp's part of shared memory, in aligned vectors. */
static void put_interleaved_store(const kn_writer *w, kn_str *out, int k)
{
    int bytes = bytes_of(w, k, channels_of(w));
    kn_put_part_with(w, out, "store_interleaved", k, "elements=%d bytes=%d bytes_of_warp=%d position=%s",
                     positions_of(w) * channels_of(w), bytes, 32 * bytes, kn_text_by(w, put_position, k));
}

static void put_planar_store(const kn_writer *w, kn_str *out, int k)
{
    if (is_staged(w, k))
        kn_put_part_with(w, out, "stage_planar", k, "bytes=%d bytes_of_block=%d", bytes_of(w, k, 1),
                         w->spec->schedule.block * bytes_of(w, k, 1));
    else
        kn_put_part_with(w, out, "store_planar", k, "channel=%s", kn_text_by(w, put_channel, k));
}

/* `function` for `count` parts of each channel. */
static void put_staged_parts(const kn_writer *w, kn_str *out, int k, const char *function, const char *count)
{
    kn_put_part_with(w, out, "store_staged_parts", k, "function=%s count=%s bytes_of_block=%d", function,
                     count, w->spec->schedule.block * bytes_of(w, k, 1));
}

/* The block's whole positions of each channel. */
static void put_staged_store(const kn_writer *w, kn_str *out, int k)
{
    int size = kn_item_size(w, k);
    char count[16];
    kn_str *chunks = kn_text(w), *ends = kn_text(w);
    put_staged_parts(w, chunks, k, "kn_store_chunk", "kn_chunks");
    snprintf(count, sizeof count, "%d", 2 * (VECTOR_BYTES / size) - 2);
    if (size < VECTOR_BYTES)
        put_staged_parts(w, ends, k, "kn_store_end", count);
    kn_put_part_with(w, out, "store_staged", k, "bytes=%d chunks=%s ends=%s", bytes_of(w, k, 1),
                     kn_str_text(chunks), kn_str_text(ends));
}

/* Threads that store together are found in front of the loads, so that nothing waits for it afterwards. */
static void put_result(kn_writer *w, int k)
{
    int bytes = bytes_of(w, k, channels_of(w));
    if (is_interleaved(w, k) || is_staged(w, k))
        kn_put_part_with(w, &w->slot[KN_SLOT_TILES], "staged", k, "bytes=%d",
                         w->spec->schedule.block * bytes);
    if (is_interleaved(w, k)) {
        kn_put_part_with(w, &w->slot[KN_SLOT_FROM], "together", k, "bytes=%d", bytes);
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
    if (kn_is_output(w, k))
        kn_put_part(w, out, "entry_of_result", k);
    else if (kn_access_of(w, k) == KN_BROADCAST)
        kn_put_part(w, out, "entry_of_channel", k);
    else
        kn_put_part_with(w, out, "entry_of_byte", k, "mask=%d", KN_TABLE_ENTRIES - 1);
}

static void put_table(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_TILES], *call = kn_text(w);
    int entries = channels_of(w) * KN_TABLE_ENTRIES;
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        kn_put_part_with(w, out, "table_of_result", k, "bytes=%d", entries * kn_item_size(w, k));
    kn_put_call(w, call, place_entry, "");
    kn_put_part_with(w, out, "fill_table", KN_NO_VALUE, "all=%d each=%d call=%s", entries, KN_TABLE_ENTRIES,
                     kn_str_text(call));
}

/* The results of the element at `place`. */
static void put_look_up(kn_writer *w, kn_str *out, kn_place_writer place)
{
    int byte = 0;
    while (kn_array_of(w, byte) < 0 || kn_access_of(w, byte) == KN_BROADCAST)
        ++byte;
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        kn_put_part_with(w, out, "look_up", k, "to=%s from=%s each=%d", kn_text_by(w, place, k),
                         kn_text_by(w, place, byte), KN_TABLE_ENTRIES);
    }
}

/* ---- a thread's part ---- */

static void put_part(kn_writer *w)
{
    if (config_of(w)->through_shared) {
        kn_str_append(&w->slot[KN_SLOT_FIRST], "kn_block");
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "left_in_block", KN_NO_VALUE);
        kn_put_part(w, &w->slot[KN_SLOT_STAGE], "whole_of_block", KN_NO_VALUE);
    } else {
        kn_str_printf(&w->slot[KN_SLOT_FIRST], "kn_block * %du + threadIdx.x", w->spec->schedule.block);
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "left_of_part", KN_NO_VALUE);
    }
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
    put_part(w);
    bool are_interleaved = false;
    for (int k = w->program->n_in; k < kn_param_count(w); ++k)
        are_interleaved = are_interleaved || is_interleaved(w, k);
    if (are_interleaved)
        kn_put_part(w, &w->slot[KN_SLOT_FROM], "full", KN_NO_VALUE);
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

KN_CONFIG_TABLE(kn_channels_config, KN_CHANNELS_CONFIG);
const kn_recipe kn_recipe_channels = {.template_name = "schedules/interleave/channels.cu",
                                      .fill = fill_channels,
                                      .preludes = "kn_gather kn_load_series",
                                      .parts = "schedules/interleave/interleave_parts.cu"};
