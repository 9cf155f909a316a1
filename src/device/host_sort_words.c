/* Sorts elements of 8 and 16 bits: each of the 256 or 65,536 words is counted, and written as often as it
 * came. */
#include <string.h>

#include "device/host_neighbours.h"
#include "device/host_sort.h"
#include "device/host_threads.h"

enum {
    BYTES = 1 << 8,
    WORDS = 1 << 16,
    SIGN = 1 << 15,
    PIECES = 4,
    TABLES = 4,           /* of a piece of bytes: the same byte again waits for no sum */
    OF_A_PIECE = 1 << 15, /* elements that are worth tables of their own */
    WRITTEN_AT_ONCE = 4
};

typedef uint16_t __attribute__((aligned(1), may_alias)) element;
typedef uint64_t __attribute__((aligned(1), may_alias)) elements;

typedef struct counting {
    const kn_host_words *of;
    const void *row;
    uint32_t *counts;
    int pieces;
} counting;

static int64_t piece_at(const counting *c, int64_t piece)
{
    return piece * c->of->length / c->pieces;
}

static void count_bytes(uint32_t *counts, const uint8_t *row, int64_t n)
{
    int64_t at = 0;
    memset(counts, 0, TABLES * BYTES * sizeof *counts);
    for (; at + TABLES <= n; at += TABLES)
        for (int table = 0; table < TABLES; ++table)
            ++counts[table * BYTES + row[at + table]];
    for (; at < n; ++at)
        ++counts[row[at]];
    for (int table = 1; table < TABLES; ++table)
        for (int byte = 0; byte < BYTES; ++byte)
            counts[byte] += counts[table * BYTES + byte];
}

static void count_words(uint32_t *counts, const element *row, int64_t n)
{
    memset(counts, 0, WORDS * sizeof *counts);
    for (int64_t at = 0; at < n; ++at)
        ++counts[row[at]];
}

static void count_pieces(void *user, int64_t begin, int64_t end)
{
    const counting *c = user;
    for (int64_t k = begin; k < end; ++k) {
        const int64_t at = piece_at(c, k), n = piece_at(c, k + 1) - at;
        if (c->of->element_size == 1)
            count_bytes(c->counts + k * TABLES * BYTES, (const uint8_t *)c->row + at, n);
        else
            count_words(c->counts + k * WORDS, (const element *)c->row + at, n);
    }
}

/* ---- places of words ---- */

static bool is_zero(unsigned word)
{
    return (word & ~(unsigned)SIGN) == 0;
}

static bool is_nan(const kn_host_words *of, unsigned word)
{
    return of->is_float && (word & ~(unsigned)SIGN) > of->infinity;
}

/* The word that comes at this place among all of 16 bits. */
static unsigned word_at(const kn_host_words *of, unsigned place)
{
    const unsigned key = of->is_descending ? WORDS - 1 - place : place;
    if (of->is_float)
        return key & SIGN ? key ^ SIGN : WORDS - 1 - key;
    return of->is_signed ? key ^ SIGN : key;
}

/* The byte that comes at this place among all of them. */
static unsigned byte_at(const kn_host_words *of, unsigned place)
{
    const unsigned key = of->is_descending ? BYTES - 1 - place : place;
    return of->is_signed ? key ^ BYTES / 2 : key;
}

/* No element comes before the one in front of it: few elements of a random row tell. NaN that would lead are
 * left to the others. */
#define IS_IN_ORDER(name, type, place)                                                                       \
    static bool name(const kn_host_words *of, const type *row)                                               \
    {                                                                                                        \
        const unsigned sign = of->is_signed || of->is_float ? 1u << (8 * sizeof(type) - 1) : 0;              \
        const unsigned down = of->is_descending ? ~0u : 0;                                                   \
        KN_HOST_RETURN_NONE(k, of->length, (type)(down ^ place(row[k + 1])) < (type)(down ^ place(row[k]))); \
    }

#define PLACE(word) ((word) ^ sign)
#define PLACE_OF_FLOAT(word) ((word)&sign ? ~(unsigned)(word) : (word) ^ sign)
IS_IN_ORDER(are_bytes_in_order, uint8_t, PLACE)
IS_IN_ORDER(are_words_in_order, element, PLACE)
IS_IN_ORDER(are_floats_in_order, element, PLACE_OF_FLOAT)

static bool is_in_order(const kn_host_words *of, const void *row)
{
    if (of->element_size == 1)
        return are_bytes_in_order(of, row);
    if (of->is_float)
        return of->length > 0 && !is_nan(of, *(const element *)row) && are_floats_in_order(of, row);
    return are_words_in_order(of, row);
}

/* ---- rows ---- */

/* Elements that are equal, but not the same, as they came. */
static void write_as_they_came(element *to, const counting *c, bool are_zeros)
{
    const element *const row = c->row;
    for (int64_t k = 0; k < c->of->length; ++k)
        if (are_zeros ? is_zero(row[k]) : is_nan(c->of, row[k]))
            *to++ = row[k];
}

/* Most words came seldom: some are written at once, where there is space. */
static element *write_word(element *to, const element *end, unsigned word, uint32_t count)
{
    uint32_t k = 0;
    if (end - to >= WRITTEN_AT_ONCE) {
        *(elements *)to = word * UINT64_C(0x0001000100010001);
        k = WRITTEN_AT_ONCE;
    }
    for (; k < count; ++k)
        to[k] = (uint16_t)word;
    return to + count;
}

static void write_words(element *to, const counting *c)
{
    const kn_host_words *of = c->of;
    const element *const end = to + of->length;
    uint32_t *counts = c->counts, nans = 0, zeros = 0;
    for (int k = 1; k < c->pieces; ++k)
        for (int word = 0; word < WORDS; ++word)
            counts[word] += counts[k * WORDS + word];
    element *first_zero = to;
    bool has_both = false;
    for (unsigned place = 0; place < WORDS; ++place) {
        const unsigned word = word_at(of, place);
        const uint32_t count = counts[word];
        if (is_nan(of, word)) {
            nans += count;
            continue;
        }
        if (of->is_float && is_zero(word)) { /* those of both signs are neighbours */
            if (zeros == 0)
                first_zero = to;
            has_both = zeros > 0 && count > 0;
            zeros += count;
        }
        to = write_word(to, end, word, count);
    }
    if (has_both)
        write_as_they_came(first_zero, c, true);
    if (nans > 0)
        write_as_they_came(to, c, false);
}

static void write_bytes(uint8_t *to, const counting *c)
{
    for (int place = 0; place < BYTES; ++place) {
        const unsigned byte = byte_at(c->of, (unsigned)place);
        uint32_t count = 0;
        for (int k = 0; k < c->pieces; ++k)
            count += c->counts[k * TABLES * BYTES + (int)byte];
        memset(to, (int)byte, count);
        to += count;
    }
}

static void sort_row(const kn_host_words *of, int64_t row)
{
    const int64_t bytes = of->length * of->element_size, pieces = of->length / OF_A_PIECE;
    uint32_t bytes_counts[PIECES * TABLES * BYTES]; /* rows of bytes are sorted by several threads */
    char *const to = (char *)of->to + row * bytes;
    counting c = {.of = of,
                  .row = (const char *)of->from + row * bytes,
                  .counts = of->element_size == 1 ? bytes_counts : of->memory,
                  .pieces = pieces < 1        ? 1
                            : pieces < PIECES ? (int)pieces
                                              : PIECES};
    if (is_in_order(of, c.row)) {
        memcpy(to, c.row, (size_t)bytes);
        return;
    }
    kn_host_parallel(c.pieces, 1, count_pieces, &c);
    if (of->element_size == 1)
        write_bytes((uint8_t *)to, &c);
    else
        write_words((element *)to, &c);
}

static void sort_rows(void *user, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; ++row)
        sort_row(user, row);
}

/* ---- short rows of 16 bits: keys of 32 bits, which vectors sort ---- */

/* As kn_sort_exact of host_sort_exact.cpp makes keys. */
static void make_keys(void *user, int64_t begin, int64_t end)
{
    const kn_host_words *of = user;
    const element *from = of->from;
    uint32_t *keys = of->memory;
    const uint32_t down = of->is_descending ? WORDS - 1 : 0, sign = of->is_float || of->is_signed ? SIGN : 0;
    const uint32_t nans = of->is_float ? SIGN - 1u - of->infinity : 0; /* of either sign */
    for (int64_t k = begin; k < end; ++k) {
        const uint32_t word = from[k], flip = of->is_float && word & SIGN ? WORDS - 1 : sign;
        keys[k] = ((word ^ flip ^ down) - nans) & (WORDS - 1);
    }
}

static void make_elements(void *user, int64_t begin, int64_t end)
{
    const kn_host_words *of = user;
    element *to = of->to;
    const uint32_t *keys = (const uint32_t *)of->memory + of->rows * of->length;
    const uint32_t down = of->is_descending ? WORDS - 1 : 0, sign = of->is_float || of->is_signed ? SIGN : 0;
    const uint32_t nans = of->is_float ? SIGN - 1u - of->infinity : 0; /* of either sign */
    for (int64_t k = begin; k < end; ++k) {
        const uint32_t word = ((keys[k] + nans) & (WORDS - 1)) ^ down;
        to[k] = (uint16_t)(word ^ (of->is_float && !(word & SIGN) ? WORDS - 1 : sign));
    }
}

static void sort_short_rows(kn_host_words *of)
{
    const int64_t n = of->rows * of->length;
    int64_t row = 0;
    while (row < of->rows && is_in_order(of, (const element *)of->from + row * of->length))
        ++row;
    if (row == of->rows) {
        memcpy(of->to, of->from, (size_t)n * sizeof(element));
        return;
    }
    uint32_t *const keys = of->memory;
    const kn_host_keys sorted = {.from = keys,
                                 .to = keys + n,
                                 .beside = of->is_float ? keys + 2 * n : keys,
                                 .rows = of->rows,
                                 .length = of->length,
                                 .key_size = 4,
                                 .vector_size = of->vector_size,
                                 .infinity = of->is_float ? of->infinity : 0};
    kn_host_parallel(n, OF_A_PIECE, make_keys, of);
    kn_host_sort_keys(&sorted);
    kn_host_parallel(n, OF_A_PIECE, make_elements, of);
}

static bool are_rows_short(const kn_host_words *of)
{
    return of->element_size == 2 && of->length < KN_HOST_WORDS_ROW;
}

int64_t kn_host_words_memory(const kn_host_words *words)
{
    const int64_t keys = 3 * words->rows * words->length;
    return (int64_t)sizeof(uint32_t) * (are_rows_short(words) ? keys : PIECES * WORDS);
}

void kn_host_sort_words(const kn_host_words *words)
{
    kn_host_words of = *words;
    if (are_rows_short(words))
        sort_short_rows(&of);
    else if (words->element_size == 1)
        kn_host_parallel_rows(of.rows, of.length, PIECES * OF_A_PIECE, sort_rows, sort_rows, &of);
    else
        sort_rows(&of, 0, of.rows);
}
