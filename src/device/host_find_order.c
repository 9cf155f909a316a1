/* The order of elements by their keys: bits of all keys and the number of the element in its row become one
 * key of 64 bits, or of 32, which vectors sort. Each is another, so that such a sort is stable. Where the
 * bits of keys are too many, elements that are alike in the first of them are ordered by the others. Keys of
 * few bits are counted instead, and rows in order are left as they are. */
#include "device/host_find_order.h"

#include <string.h>

#include "device/host_neighbours.h"
#include "device/host_sort.h"
#include "device/host_threads.h"

#if defined(__x86_64__)
#include "device/host_vectors.h"
#define WITH WITH_VECTORS_32 /* other processors never come here */
#else
#define WITH
#endif

enum {
    LONG_ROW = 1 << 16, /* elements that are worth several threads ... */
    CHUNKS = 8,         /* ... which have so many parts of a row */
    PACKED_AT_ONCE = 512,
    DIGIT_BITS = 11,
    ELEMENTS_OF_DIGIT = 4, /* that are worth the counting of one */
    FEW_ALIKE = 16         /* elements that are inserted */
};

/* Bits of a key, less the least key. */
typedef struct field {
    uint64_t least, mask;
    int shift, bits;
} field;

#define KEY uint8_t
#define NAME(of) of##_8
#include "device/host_find_order_keys.h"

#define KEY uint16_t
#define NAME(of) of##_16
#include "device/host_find_order_keys.h"

#define KEY uint32_t
#define NAME(of) of##_32
#include "device/host_find_order_keys.h"

#define KEY uint64_t
#define NAME(of) of##_64
#include "device/host_find_order_keys.h"

/* By the size of keys. */
typedef struct reader {
    bool (*rises)(const void *keys, int64_t n);
    bool (*falls)(const void *keys, int64_t n);
    void (*find_range)(const void *keys, int64_t n, uint64_t *least, uint64_t *most);
    void (*add_field)(uint64_t *to, const void *keys, const uint32_t *order, int64_t n, const field *f);
    bool (*are_same)(const void *keys, const uint32_t *order, int64_t n);
    void (*count_digits)(uint32_t *counts, const void *keys, int64_t n, const field *f);
    void (*place_digits)(uint32_t *place, const void *keys, int64_t n, const field *f, uint32_t first,
                         uint32_t *order, uint64_t *both);
} reader;

#define READER(bits)                                                                                         \
    {                                                                                                        \
        rises_##bits, falls_##bits, find_range_##bits, add_field_##bits, are_same_##bits,                    \
            count_digits_##bits, place_digits_##bits                                                         \
    }
static const reader readers[] = {[1] = READER(8), [2] = READER(16), [4] = READER(32), [8] = READER(64)};

/* A row. */
typedef struct ordering {
    const kn_host_order *of;
    int64_t first, n;
    int chunks;
    uint32_t *order; /* of the row, whose numbers begin with `first` */
    uint64_t *from, *to;
    uint64_t least[KN_HOST_ORDER_KEYS];
    int width[KN_HOST_ORDER_KEYS], bits; /* of keys less the least one; of all */
} ordering;

static const reader *reader_of(const ordering *o, int key)
{
    return &readers[o->of->key_size[key]];
}

/* Keys of the row, from element k on. */
static const void *keys_of(const ordering *o, int key, int64_t k)
{
    return (const char *)o->of->key[key] + (o->first + k) * o->of->key_size[key];
}

static uint64_t key_at(const ordering *o, int key, uint32_t element)
{
    const void *const at = (const char *)o->of->key[key] + (int64_t)element * o->of->key_size[key];
    switch (o->of->key_size[key]) {
    case 1:
        return *(const uint8_t *)at;
    case 2:
        return *(const uint16_t *)at;
    case 4:
        return *(const uint32_t *)at;
    default:
        return *(const uint64_t *)at;
    }
}

/* Negative: element a comes before b. */
static int compare(const ordering *o, uint32_t a, uint32_t b)
{
    for (int key = 0; key < o->of->keys; ++key) {
        const uint64_t x = key_at(o, key, a), y = key_at(o, key, b);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static int width_of(uint64_t number)
{
    return number == 0 ? 0 : 64 - __builtin_clzll(number);
}

/* ---- rows in order, or in reverse order ---- */

/* No element comes before the one in front of it; with `falls`, each does. */
static bool is_ordered(const ordering *o, bool falls)
{
    const reader *r = reader_of(o, 0);
    if (o->of->keys == 1)
        return (falls ? r->falls : r->rises)(keys_of(o, 0, 0), o->n);
    for (int64_t k = 1; k < o->n; ++k)
        if ((compare(o, (uint32_t)(o->first + k), (uint32_t)(o->first + k - 1)) < 0) != falls)
            return false;
    return true;
}

/* ---- chunks ---- */

/* A step over elements from `begin` on, of which threads have chunks. */
typedef struct step {
    ordering *o;
    int64_t begin, n;
    int key, skip, taken, index_bits; /* bits of keys that have been ordered by, and that are now */
    bool is_narrow, is_first, is_last;
    field digit;
    uint64_t found[CHUNKS][2];
    bool has_many_alike[CHUNKS];
    uint32_t (*counts)[1 << DIGIT_BITS]; /* by chunk */
} step;

static int64_t chunk_at(const step *s, int64_t chunk)
{
    return s->n * chunk / s->o->chunks;
}

static void run(step *s, void (*body)(void *user, int64_t begin, int64_t end))
{
    kn_host_parallel(s->o->chunks, 1, body, s);
}

static void find_ranges(void *user, int64_t begin, int64_t end)
{
    step *s = user;
    for (int64_t c = begin; c < end; ++c)
        reader_of(s->o, s->key)
            ->find_range(keys_of(s->o, s->key, chunk_at(s, c)), chunk_at(s, c + 1) - chunk_at(s, c),
                         &s->found[c][0], &s->found[c][1]);
}

static void find_widths(ordering *o)
{
    o->bits = 0;
    for (int key = 0; key < o->of->keys; ++key) {
        step s = {.o = o, .n = o->n, .key = key};
        uint64_t most = 0;
        run(&s, find_ranges);
        o->least[key] = UINT64_MAX;
        for (int c = 0; c < o->chunks; ++c) {
            o->least[key] = s.found[c][0] < o->least[key] ? s.found[c][0] : o->least[key];
            most = s.found[c][1] > most ? s.found[c][1] : most;
        }
        o->width[key] = width_of(most - o->least[key]);
        o->bits += o->width[key];
    }
}

/* ---- keys of few bits ---- */

static void count(void *user, int64_t begin, int64_t end)
{
    step *s = user;
    const ordering *o = s->o;
    for (int64_t c = begin; c < end; ++c) {
        uint32_t *counts = s->counts[c];
        const int64_t at = chunk_at(s, c), n = chunk_at(s, c + 1) - at;
        memset(counts, 0, sizeof *counts << s->digit.bits);
        if (s->is_first)
            reader_of(o, 0)->count_digits(counts, keys_of(o, 0, at), n, &s->digit);
        else
            for (int64_t k = at; k < at + n; ++k)
                ++counts[o->from[k] >> s->digit.shift];
    }
}

static void place(void *user, int64_t begin, int64_t end)
{
    step *s = user;
    const ordering *o = s->o;
    for (int64_t c = begin; c < end; ++c) {
        uint32_t *to = s->counts[c];
        const int64_t at = chunk_at(s, c), n = chunk_at(s, c + 1) - at;
        if (s->is_first)
            reader_of(o, 0)->place_digits(to, keys_of(o, 0, at), n, &s->digit, (uint32_t)(o->first + at),
                                          s->is_last ? o->order : NULL, o->from);
        else
            for (int64_t k = at; k < at + n; ++k)
                o->order[to[o->from[k] >> s->digit.shift]++] = (uint32_t)o->from[k];
    }
}

/* Makes places of counts: those of a digit lie one after the other, in the order of chunks. */
static void add_counts(const step *s)
{
    uint32_t sum = 0;
    for (int digit = 0; digit < 1 << s->digit.bits; ++digit)
        for (int c = 0; c < s->o->chunks; ++c) {
            const uint32_t here = s->counts[c][digit];
            s->counts[c][digit] = sum;
            sum += here;
        }
}

static void place_by_digit(step *s)
{
    run(s, count);
    add_counts(s);
    run(s, place);
}

static int digits_of(const ordering *o)
{
    const int digits = (o->bits + DIGIT_BITS - 1) / DIGIT_BITS;
    const bool is_worth =
        o->of->keys == 1 && digits <= 2 &&
        (int64_t)ELEMENTS_OF_DIGIT << (o->bits + digits - 1) / (digits > 0 ? digits : 1) <= o->n;
    return is_worth ? digits : 0;
}

static void order_by_digits(ordering *o, int digits)
{
    uint32_t counts[CHUNKS][1 << DIGIT_BITS];
    const int bits = (o->bits + digits - 1) / digits;
    step s = {.o = o,
              .n = o->n,
              .is_first = true,
              .is_last = digits == 1,
              .digit = {.least = o->least[0], .mask = (UINT64_C(1) << bits) - 1, .bits = bits},
              .counts = counts};
    place_by_digit(&s);
    s.is_first = false;
    s.digit = (field){.shift = 32 + bits, .bits = o->bits - bits};
    if (digits == 2)
        place_by_digit(&s);
}

/* ---- bits of keys and numbers of elements ---- */

/* The bits of all keys, one after the other, from `skip` on. */
WITH static void put_bits(const step *s, uint64_t *to, int64_t at, int64_t n)
{
    const ordering *o = s->o;
    int first = 0; /* bits before those of a key */
    memset(to, 0, (size_t)n * sizeof *to);
    for (int key = 0; key < o->of->keys; first += o->width[key++]) {
        const int begin = s->skip > first ? s->skip : first, last = first + o->width[key],
                  end = s->skip + s->taken < last ? s->skip + s->taken : last;
        if (begin >= end)
            continue;
        const field f = {.least = o->least[key],
                         .mask = UINT64_MAX >> (64 - (end - begin)),
                         .shift = last - end,
                         .bits = end - begin};
        if (s->is_first)
            reader_of(o, key)->add_field(to, keys_of(o, key, at), NULL, n, &f);
        else
            reader_of(o, key)->add_field(to, o->of->key[key], o->order + at, n, &f);
    }
}

WITH static void pack(void *user, int64_t begin, int64_t end)
{
    step *s = user;
    uint64_t some[PACKED_AT_ONCE];
    for (int64_t k = chunk_at(s, begin), last = chunk_at(s, end); k < last; k += PACKED_AT_ONCE) {
        const int64_t n = last - k < PACKED_AT_ONCE ? last - k : PACKED_AT_ONCE;
        put_bits(s, some, s->begin + k, n);
        if (s->is_narrow) {
            uint32_t *to = (uint32_t *)(s->o->from + s->begin) + k;
            for (int64_t j = 0; j < n; ++j)
                to[j] = (uint32_t)(some[j] << s->index_bits) | (uint32_t)(k + j);
        } else {
            uint64_t *to = s->o->from + s->begin + k;
            for (int64_t j = 0; j < n; ++j)
                to[j] = some[j] << s->index_bits | (uint64_t)(k + j);
        }
    }
}

WITH static void unpack(void *user, int64_t begin, int64_t end)
{
    step *s = user;
    const uint64_t *wide = s->o->to + s->begin, mask = (UINT64_C(1) << s->index_bits) - 1;
    const uint32_t *narrow = (const uint32_t *)wide, first = (uint32_t)(s->o->first + s->begin),
                   *before = (const uint32_t *)(s->o->from + s->begin);
    uint32_t *order = s->o->order + s->begin;
    const int64_t last = chunk_at(s, end);
    int64_t k = chunk_at(s, begin);
    if (!s->is_first)
        for (; k < last; ++k)
            order[k] = before[(s->is_narrow ? narrow[k] : wide[k]) & mask];
    else if (s->is_narrow)
        for (; k < last; ++k)
            order[k] = first + (narrow[k] & (uint32_t)mask);
    else
        for (; k < last; ++k)
            order[k] = first + (uint32_t)(wide[k] & mask);
}

/* The bits of keys in the sorted element k: 64 of these and of its number, as some are left. */
WITH static uint64_t bits_at(const step *s, int64_t k)
{
    return s->o->to[s->begin + k] >> s->index_bits;
}

/* No element from k on, before `end`, is alike the next one: most are not. */
WITH static bool is_none_alike(const step *s, int64_t k, int64_t end)
{
    const uint64_t *const to = s->o->to + s->begin, least = UINT64_C(1) << s->index_bits;
    int64_t alike = 0;
    for (; k < end; ++k)
        alike |= (to[k] ^ to[k + 1]) < least;
    return alike == 0;
}

/* Where elements end that are alike in these bits. */
WITH static int64_t end_of_alike(const step *s, int64_t k)
{
    const uint64_t bits = bits_at(s, k);
    do
        ++k;
    while (k < s->n && bits_at(s, k) == bits);
    return k;
}

static void insert(const ordering *o, uint32_t *order, int64_t n)
{
    for (int64_t k = 1; k < n; ++k) {
        const uint32_t element = order[k];
        int64_t to = k;
        for (; to > 0 && compare(o, element, order[to - 1]) < 0; --to)
            order[to] = order[to - 1];
        order[to] = element;
    }
}

static bool are_same(const ordering *o, const uint32_t *order, int64_t n)
{
    bool are = true;
    for (int key = 0; key < o->of->keys && are; ++key)
        are = reader_of(o, key)->are_same(o->of->key[key], order, n);
    return are;
}

/* Orders the few elements that are alike in bits, and tells of many. A chunk has those that begin in it. */
WITH static void order_few_alike(void *user, int64_t begin, int64_t end)
{
    step *s = user;
    for (int64_t c = begin; c < end; ++c) {
        int64_t k = chunk_at(s, c);
        if (k > 0 && k < s->n && bits_at(s, k) == bits_at(s, k - 1))
            k = end_of_alike(s, k);
        for (int64_t next; k < chunk_at(s, c + 1); k = next) {
            next = k + KN_HOST_SEEN_AT_ONCE;
            if (next < s->n && is_none_alike(s, k, next))
                continue;
            next = end_of_alike(s, k);
            if (next - k == 1 || are_same(s->o, s->o->order + s->begin + k, next - k))
                continue;
            if (next - k > FEW_ALIKE)
                s->has_many_alike[c] = true;
            else
                insert(s->o, s->o->order + s->begin + k, next - k);
        }
    }
}

/* Orders elements from `begin` on, which are alike in the first `skip` bits of their keys: at first all, and
 * these lie as they came. */
static void order_by_bits(ordering *o, int64_t begin, int64_t n, int skip)
{
    step s = {.o = o, .begin = begin, .n = n, .skip = skip, .is_first = skip == 0};
    bool has_many_alike = false;
    s.index_bits = width_of((uint64_t)(n - 1));
    s.taken = o->bits - skip < 64 - s.index_bits ? o->bits - skip : 64 - s.index_bits;
    s.is_narrow = s.taken + s.index_bits <= 32;
    run(&s, pack);
    const kn_host_keys keys = {.from = o->from + begin,
                               .to = o->to + begin,
                               .beside = o->from + begin,
                               .rows = 1,
                               .length = n,
                               .key_size = s.is_narrow ? 4 : 8,
                               .vector_size = o->of->vector_size};
    kn_host_sort_keys(&keys);
    if (!s.is_first)
        memcpy(o->from + begin, o->order + begin, (size_t)n * sizeof *o->order);
    run(&s, unpack);
    if (skip + s.taken == o->bits)
        return;
    run(&s, order_few_alike);
    for (int c = 0; c < o->chunks; ++c)
        has_many_alike |= s.has_many_alike[c];
    for (int64_t k = 0, next; has_many_alike && k < n; k = next) {
        next = end_of_alike(&s, k);
        if (next - k > FEW_ALIKE && !are_same(o, o->order + begin + k, next - k))
            order_by_bits(o, begin + k, next - k, skip + s.taken);
    }
}

/* ---- rows ---- */

enum { SHORT_ROW = 24 /* elements that are inserted one after the other */ };

static void insert_row(const ordering *o)
{
    uint64_t key[SHORT_ROW];
    for (int k = 0; k < (int)o->n; ++k) {
        const uint64_t own = key_at(o, 0, (uint32_t)(o->first + k));
        int to = k;
        for (; to > 0 && own < key[to - 1]; --to) {
            key[to] = key[to - 1];
            o->order[to] = o->order[to - 1];
        }
        key[to] = own;
        o->order[to] = (uint32_t)(o->first + k);
    }
}

static void order_row(const kn_host_order *of, int64_t row, int chunks)
{
    const int64_t first = row * of->length;
    ordering o = {.of = of,
                  .first = first,
                  .n = of->length,
                  .chunks = chunks,
                  .order = of->order + first,
                  .from = of->from + first,
                  .to = of->to + first};
    if (o.n <= SHORT_ROW) {
        o.of->keys == 1 ? insert_row(&o) : insert(&o, o.order, o.n);
        return;
    }
    if (is_ordered(&o, false))
        return;
    if (is_ordered(&o, true)) {
        for (int64_t k = 0; k < o.n; ++k)
            o.order[k] = (uint32_t)(first + o.n - 1 - k);
        return;
    }
    find_widths(&o);
    const int digits = digits_of(&o);
    if (digits > 0)
        order_by_digits(&o, digits);
    else
        order_by_bits(&o, 0, o.n, 0);
}

static void order_rows(void *user, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; ++row)
        order_row(user, row, 1);
}

static void order_long_rows(void *user, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; ++row)
        order_row(user, row, CHUNKS);
}

void kn_host_find_order(const kn_host_order *order)
{
    kn_host_order of = *order;
    kn_host_parallel_rows(of.rows, of.length, LONG_ROW, order_rows, order_long_rows, &of);
}
