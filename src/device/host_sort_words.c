/* Sorts elements of 16 bits: each of the 65,536 words is counted, and written as often as it came. */
#include <string.h>

#include "device/host_sort.h"
#include "device/host_threads.h"

enum { WORDS = 1 << 16, SIGN = 1 << 15, PIECES = 4 };

typedef uint16_t __attribute__((aligned(1), may_alias)) element;

typedef struct counting {
    const kn_host_words *of;
    const element *row;
} counting;

static void count_pieces(void *user, int64_t begin, int64_t end)
{
    const counting *c = user;
    for (int64_t k = begin; k < end; ++k) {
        uint32_t *counts = c->of->counts + k * WORDS;
        const int64_t last = (k + 1) * c->of->length / PIECES;
        memset(counts, 0, WORDS * sizeof *counts);
        for (int64_t at = k * c->of->length / PIECES; at < last; ++at)
            ++counts[c->row[at]];
    }
}

static bool is_zero(unsigned word)
{
    return (word & ~(unsigned)SIGN) == 0;
}

static bool is_nan(const kn_host_words *of, unsigned word)
{
    return (word & ~(unsigned)SIGN) > of->infinity;
}

/* The word that comes at this place among all. */
static unsigned word_at(const kn_host_words *of, unsigned place)
{
    const unsigned key = of->is_descending ? WORDS - 1 - place : place;
    if (of->is_float)
        return key & SIGN ? key ^ SIGN : WORDS - 1 - key;
    return of->is_signed ? key ^ SIGN : key;
}

/* Elements that are equal, but not the same, as they came. */
static void write_as_they_came(element *to, const counting *c, bool are_zeros)
{
    for (int64_t k = 0; k < c->of->length; ++k)
        if (are_zeros ? is_zero(c->row[k]) : is_nan(c->of, c->row[k]))
            *to++ = c->row[k];
}

static void write_row(element *to, const counting *c)
{
    const kn_host_words *of = c->of;
    uint32_t *counts = of->counts, nans = 0, zeros = 0;
    for (int k = 1; k < PIECES; ++k)
        for (int word = 0; word < WORDS; ++word)
            counts[word] += counts[k * WORDS + word];
    for (unsigned place = 0; place < WORDS; ++place) {
        const unsigned word = word_at(of, place);
        const uint32_t count = counts[word];
        if (of->is_float && is_nan(of, word)) {
            nans += count;
            continue;
        }
        if (of->is_float && is_zero(word)) { /* those of both signs are neighbours */
            zeros += count;
            if (zeros > count && count > 0)
                write_as_they_came(to + count - zeros, c, true);
        }
        if (!(of->is_float && is_zero(word) && zeros > count))
            for (uint32_t k = 0; k < count; ++k)
                to[k] = (uint16_t)word;
        to += count;
    }
    if (nans > 0)
        write_as_they_came(to, c, false);
}

void kn_host_sort_words(const kn_host_words *words)
{
    for (int64_t row = 0; row < words->rows; ++row) {
        counting c = {words, (const element *)words->from + row * words->length};
        kn_host_parallel(PIECES, 1, count_pieces, &c);
        write_row((element *)words->to + row * words->length, &c);
    }
}
