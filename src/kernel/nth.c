/* kernel/nth.c - a key by its place: a radix selection of 8 bits a pass; on the host a step of its own. */
#include "kernel/nth.h"

#include <string.h>

#include "base/error.h"
#include "device/device.h"
#include "device/host_select.h"
#include "device/host_sort.h"
#include "program/program.h"
#include "schedule/sort_tile.h"
#include "space/shape.h"

enum {
    MOST_ELEMENTS = 1 << 30, /* of a row: counts have 32 bits */
    MOST_KEY = 8             /* bytes */
};

/* ---- kernels ---- */

const char *kn_nth_key(unsigned flags)
{
    return flags & KILN_SORT_DESCENDING ? "kn_sort_key<1, 0>(x)" : "kn_sort_key<0, 0>(x)";
}

/* Elements that have other digits before are not counted. */
static kiln_status make_count(kiln_kernel **out, unsigned flags)
{
    kn_str digit = KN_STR_INIT;
    kn_str_printf(&digit, "kn_sort_digit(%s, prefix, shift)", kn_nth_key(flags));
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "key",
         .reads = "x, prefix, shift",
         .gives = "_kn_digit",
         .body = kn_str_text(&digit)},
        {.kind = KN_COUNT, .label = "count", .reads = "_kn_digit", .gives = "counts", .body = ""},
        {.kind = KN_MAP, .label = "put", .reads = "", .gives = "", .body = ""}};
    const kn_program_text text = {.name = "nth_count",
                                  .in = "T x, uint64 prefix, int32 shift",
                                  .out = "raw uint32 counts",
                                  .values = "int16 _kn_digit",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL};
    kiln_status status = kn_str_status(&digit, "the texts of a search");
    if (status == KILN_OK)
        status = kn_kernel_create_text(out, &text);
    kn_str_free(&digit);
    return status;
}

/* The one digit in which the place is. */
static kiln_status make_pick(kiln_kernel **out)
{
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "read",
         .reads = "counts",
         .gives = "_kn_found",
         .body = "counts"},
        {.kind = KN_SCAN, .label = "scan", .reads = "_kn_found", .gives = "_kn_sum", .body = "a + b"},
        {.kind = KN_MAP,
         .label = "pick",
         .reads = "_kn_sum, counts, rank, prefix, shift",
         .body = "const uint32 before = kn_sum - counts;\n"
                 "if (before <= rank && rank < kn_sum) {\n"
                 "    const int64 row = i >> 8;\n"
                 "    next_rank[row] = rank - before;\n"
                 "    next_total[row] = counts;\n"
                 "    next_prefix[row] = prefix | (uint64)_J << shift;\n"
                 "}\n"}};
    const kn_program_text text = {.name = "nth_pick",
                                  .in = "uint32 counts, uint32 rank, uint64 prefix, int32 shift",
                                  .out =
                                      "raw uint32 next_rank, raw uint32 next_total, raw uint64 next_prefix",
                                  .values = "uint32 _kn_found, uint32 _kn_sum",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL};
    return kn_kernel_create_text(out, &text);
}

kiln_status kn_nth_create(kn_nth *out, unsigned flags)
{
    kn_str body = KN_STR_INIT;
    kiln_status status = make_count(&out->count, flags);
    if (status == KILN_OK)
        status = make_pick(&out->pick);
    kn_str_printf(&body, "key = %s", kn_nth_key(flags));
    if (status == KILN_OK)
        status = kn_str_status(&body, "the texts of a search");
    if (status == KILN_OK)
        status = kiln_elementwise_create(&out->keys, "T x", "K key", kn_str_text(&body), "keys", NULL);
    kn_str_free(&body);
    return status;
}

void kn_nth_free(kn_nth *nth)
{
    kiln_kernel_free(nth->count);
    kiln_kernel_free(nth->pick);
    kiln_kernel_free(nth->keys);
}

/* ---- what is known of the rows ---- */

bool kn_nth_suits(const kn_sort_rows *r)
{
    return r->length > KN_SORT_ROW && r->length < MOST_ELEMENTS && r->rows > 0 &&
           kiln_dtype_size(r->dtype) <= MOST_KEY;
}

static size_t word_size(kn_nth_word word)
{
    return word == KN_NTH_KEY ? sizeof(uint64_t) : sizeof(uint32_t);
}

/* In front of pass `digit`, counted from the first one. The prefix in front of the first one is cleared with
 * the counts; the others follow each other by pass. */
static kn_source source_of(const kn_nth_search *s, kn_nth_word word, int digit)
{
    const int64_t rows = s->rows.rows;
    if (word == KN_NTH_KEY)
        return (kn_source){.kind = KN_FROM_BUFFER,
                           .index = digit > 0 ? s->prefixes : s->words,
                           .shift = digit > 0 ? (digit - 1) * rows * (int64_t)word_size(word) : 0};
    return (kn_source){.kind = KN_FROM_BUFFER,
                       .index = s->states,
                       .shift = ((int64_t)word * (s->digits + 1) + digit) * rows * (int64_t)word_size(word)};
}

static kiln_status bind_word(kn_lowered_part *part, int at, const kn_nth_search *s,
                             const kn_lowering_call *call, kn_nth_word word, int digit, int64_t length)
{
    const kn_source source = source_of(s, word, digit);
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    const int ndim = s->rows.ndim;
    memcpy(shape, s->rows.shape, (size_t)ndim * sizeof *shape);
    shape[ndim - 1] = length;
    kn_shape_c_strides(ndim - 1, shape, (int64_t)word_size(word), strides);
    strides[ndim - 1] = 0;
    return kn_lowered_bind(part, at, call, &source, word == KN_NTH_KEY ? KILN_UINT64 : KILN_UINT32,
                           length ? ndim : ndim - 1, shape, strides);
}

kiln_status kn_nth_bind(kn_lowered_part *part, int at, const kn_nth_search *s, const kn_lowering_call *call,
                        kn_nth_word word, bool is_found, bool has_length)
{
    return bind_word(part, at, s, call, word, is_found ? s->digits : 0, has_length ? s->rows.length : 0);
}

kiln_status kn_nth_bind_rank(kn_lowered_part *part, int at, const kn_nth_search *s,
                             const kn_lowering_call *call, kn_nth_word word, bool is_found, int64_t k)
{
    kn_source source = source_of(s, word, is_found ? s->digits : 0);
    source.shift += k * (s->rows.rows / s->rows.shape[0]) * (int64_t)word_size(word);
    return kn_lowered_bind(part, at, call, &source, word == KN_NTH_KEY ? KILN_UINT64 : KILN_UINT32,
                           s->rows.ndim - 2, s->rows.shape + 1, NULL);
}

/* The keys of the rows without ranks. */
static kiln_dtype key_dtype(const kn_nth_search *s)
{
    static const kiln_dtype by_size[] = {
        [1] = KILN_UINT8, [2] = KILN_UINT16, [4] = KILN_UINT32, [8] = KILN_UINT64};
    return by_size[kiln_dtype_size(s->rows.dtype)];
}

static kiln_status bind_flat(kn_lowered_part *part, int at, const kn_lowering_call *call,
                             const kn_source *source, kiln_dtype dtype, int64_t n)
{
    return kn_lowered_bind(part, at, call, source, dtype, 1, &n, NULL);
}

static kiln_status bind_state(kn_lowered_part *part, int at, const kn_nth_search *s,
                              const kn_lowering_call *call, kn_nth_word word, int digit)
{
    const kn_source source = source_of(s, word, digit);
    return bind_flat(part, at, call, &source, word == KN_NTH_KEY ? KILN_UINT64 : KILN_UINT32, s->rows.rows);
}

static kiln_status bind_stored(kn_lowered_part *part, int at, const kn_nth_search *s,
                               const kn_lowering_call *call, int buffer)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return bind_flat(part, at, call, &source, key_dtype(s), s->rows.rows / s->ranks * s->rows.length);
}

kiln_status kn_nth_bind_keys(kn_lowered_part *part, int at, const kn_nth_search *s,
                             const kn_lowering_call *call)
{
    static const kn_nth_word words[] = {KN_NTH_KEY, KN_NTH_RANK, KN_NTH_TOTAL};
    kiln_status status = bind_stored(part, at, s, call, s->keys);
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = bind_state(part, at + 1 + k, s, call, words[k], s->digits);
    return status;
}

kiln_status kn_nth_bind_elements(kn_lowered_part *part, int at, const kn_nth_search *s,
                                 const kn_lowering_call *call)
{
    const kn_sort_rows *r = &s->rows;
    return kn_lowered_bind(part, at, call, &r->source, r->dtype, r->ndim, r->shape, r->strides);
}

/* ---- steps ---- */

kiln_status kn_nth_begin(kn_nth_search *s, const kn_nth *nth, kn_lowered *out, const kn_lowering_call *call,
                         const kn_sort_rows *rows, int64_t ranks)
{
    *s = (kn_nth_search){.nth = nth,
                         .rows = *rows,
                         .digits = (int)kiln_dtype_size(rows->dtype),
                         .has_keys = call->target->backend == KN_HOST,
                         .has_vectors = kn_host_sort_vectors(call->target->architecture,
                                                             (int)kiln_dtype_size(rows->dtype)) == 64,
                         .has_ranks = ranks > 0,
                         .ranks = ranks > 0 ? ranks : 1};
    if (ranks > 0) {
        memmove(s->rows.shape + 1, rows->shape, (size_t)rows->ndim * sizeof *rows->shape);
        memmove(s->rows.strides + 1, rows->strides, (size_t)rows->ndim * sizeof *rows->strides);
        s->rows.shape[0] = ranks;
        s->rows.strides[0] = 0;
        s->rows.rows *= ranks;
        ++s->rows.ndim;
    }
    const size_t n = (size_t)s->rows.rows, passes = (size_t)s->digits;
    const size_t words = n * (2 + passes * KN_SORT_DIGITS),
                 bytes = (size_t)(rows->rows * rows->length) * kiln_dtype_size(rows->dtype);
    kiln_status status = kn_lowered_add_buffer(&s->states, out, 2 * (passes + 1) * n * sizeof(uint32_t));
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&s->prefixes, out, passes * n * sizeof(uint64_t));
    if (status == KILN_OK && s->has_keys)
        status = kn_lowered_add_buffer(&s->keys, out, bytes);
    if (status == KILN_OK && s->has_keys)
        return kn_lowered_add_buffer(&s->beside, out, bytes);
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&s->words, out, words * sizeof(uint32_t));
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = s->words};
    return status == KILN_OK ? kn_lowered_add_fill(out, call, &source, 0, (int64_t)words) : status;
}

kiln_status kn_nth_set_rank(const kn_nth_search *s, kn_lowered *out, const kn_lowering_call *call,
                            int64_t rank)
{
    const kn_source source = source_of(s, KN_NTH_RANK, 0);
    return kn_lowered_add_fill(out, call, &source, (uint32_t)rank, s->rows.rows);
}

/* The counts of pass `digit`: by row, behind the prefix. */
static kn_source counts_of(const kn_nth_search *s, int digit)
{
    return (kn_source){.kind = KN_FROM_BUFFER,
                       .index = s->words,
                       .shift = s->rows.rows * (int64_t)(sizeof(uint64_t) +
                                                         (size_t)digit * KN_SORT_DIGITS * sizeof(uint32_t))};
}

static kiln_status add_count(const kn_nth_search *s, kn_lowered *out, const kn_lowering_call *call, int digit,
                             const kiln_arg *shift)
{
    const kn_source counts = counts_of(s, digit);
    const int64_t n = s->rows.rows * KN_SORT_DIGITS;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_along(&part, out, s->nth->count, s->rows.ndim, s->rows.shape);
    if (status == KILN_OK)
        status = kn_nth_bind_elements(part, 0, s, call);
    if (status == KILN_OK)
        status = bind_word(part, 1, s, call, KN_NTH_KEY, digit, s->rows.length);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_number(part, 2, KILN_INT32, shift);
    return kn_lowered_bind(part, 3, call, &counts, KILN_UINT32, 1, &n, NULL);
}

static kiln_status add_pick(const kn_nth_search *s, kn_lowered *out, const kn_lowering_call *call, int digit,
                            const kiln_arg *shift)
{
    static const kn_nth_word words[] = {KN_NTH_RANK, KN_NTH_TOTAL, KN_NTH_KEY};
    const kn_source counts = counts_of(s, digit);
    int64_t shape[KILN_MAX_NDIM];
    kn_lowered_part *part;
    memcpy(shape, s->rows.shape, (size_t)s->rows.ndim * sizeof *shape);
    shape[s->rows.ndim - 1] = KN_SORT_DIGITS;
    kiln_status status = kn_lowered_add_along(&part, out, s->nth->pick, s->rows.ndim, shape);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, call, &counts, KILN_UINT32, s->rows.ndim, shape, NULL);
    if (status == KILN_OK)
        status = bind_word(part, 1, s, call, KN_NTH_RANK, digit, KN_SORT_DIGITS);
    if (status == KILN_OK)
        status = bind_word(part, 2, s, call, KN_NTH_KEY, digit, KN_SORT_DIGITS);
    if (status == KILN_OK)
        kn_lowered_bind_number(part, 3, KILN_INT32, shift);
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = bind_word(part, 4 + k, s, call, words[k], digit + 1, 0);
    return status;
}

/* value: keys, the keys found, ranks and totals, places, memory beside the keys; rows, their length, the
 * places of each, a key's bytes, whether by vectors. */
static kiln_status find_places(kn_device *device, const void *const *value, void *stream)
{
    (void)device, (void)stream;
    int64_t number[5];
    kn_step_integers(number, 5, value + 6);
    const kn_host_places of = {.keys = value[0],
                               .key = (uint64_t *)(uintptr_t)value[1],
                               .rank = (uint32_t *)(uintptr_t)value[2],
                               .total = (uint32_t *)(uintptr_t)value[3],
                               .place = value[4],
                               .beside = (void *)(uintptr_t)value[5],
                               .rows = number[0],
                               .length = number[1],
                               .places = number[2],
                               .key_size = (int)number[3],
                               .has_vectors = number[4] != 0};
    kn_host_find_places(&of);
    return KILN_OK;
}

static kiln_status add_keys(const kn_nth_search *s, kn_lowered *out, const kn_lowering_call *call)
{
    const kn_sort_rows *r = &s->rows;
    const int has_ranks = s->has_ranks; /* an axis */
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->nth->keys);
    const kn_source keys = {.kind = KN_FROM_BUFFER, .index = s->keys};
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, call, &r->source, r->dtype, r->ndim - has_ranks,
                                 r->shape + has_ranks, r->strides + has_ranks);
    return status == KILN_OK ? kn_lowered_bind(part, 1, call, &keys, key_dtype(s), r->ndim - has_ranks,
                                               r->shape + has_ranks, NULL)
                             : status;
}

static kiln_status add_step(const kn_nth_search *s, kn_lowered *out, const kn_lowering_call *call)
{
    const int64_t number[] = {s->rows.rows / s->ranks, s->rows.length, s->ranks, s->digits, s->has_vectors};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_function(&part, out, "find_places", find_places, 11);
    if (status == KILN_OK)
        status = kn_nth_bind_keys(part, 0, s, call);
    if (status == KILN_OK)
        status = bind_state(part, 4, s, call, KN_NTH_RANK, 0);
    if (status == KILN_OK)
        status = bind_stored(part, 5, s, call, s->beside);
    if (status == KILN_OK)
        kn_lowered_bind_integers(part, 6, 5, number);
    return status;
}

kiln_status kn_nth_find(const kn_nth_search *s, kn_lowered *out, const kn_lowering_call *call)
{
    kiln_status status = KILN_OK;
    if (s->has_keys) {
        status = add_keys(s, out, call);
        return status == KILN_OK ? add_step(s, out, call) : status;
    }
    for (int digit = 0; digit < s->digits && status == KILN_OK; ++digit) {
        const kiln_arg shift = kiln_arg_int32(8 * (s->digits - 1 - digit));
        status = add_count(s, out, call, digit, &shift);
        if (status == KILN_OK)
            status = add_pick(s, out, call, digit, &shift);
    }
    return status;
}
