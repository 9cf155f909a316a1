// The element at i of a random permutation of n things, without the others. Up to 64 of them are ranked by their random words, so that each order is as likely. More
// are enciphered: a place's row and column in a table of about as many rows as columns are moved in turn, each by a hash of the other one (a Feistel network over
// numbers of any size: Black and Rogaway 2002; for permutations: Mitchell and others 2021). Places behind the last thing are enciphered again until one of the
// things comes. Small tables need more moves than large ones: simulations found no pattern from 16 on in tables of 257 places, from 12 on in those of 300, from
// 10 on in those of 1,000 and more, which is why the least table has 1,024. tests/numpy/check_permuted.py looks at the 20 that are made.
// needs: permuted_index(
// with: random

#ifndef permuted_index
enum { kn_permuted_ranked = 64, kn_permuted_least = 1024 };

// Moves of one side by the other; a side stays below its count: what is taken off too much is larger. `key`: another one for each move.
#define KN_PERMUTED_MOVE(side, of, count, key, factor)                    \
    side += kn_high_product((of ^ (key)) * factor, count);                \
    side = min(side, side - count);
#define KN_PERMUTED_MOVES(a, b)                                           \
    KN_PERMUTED_MOVE(row, column, rows, r.word[a] + turn, 0x85EBCA6Bu)    \
    turn += 0x9E3779B9u;                                                  \
    KN_PERMUTED_MOVE(column, row, columns, r.word[b] + turn, 0x9E3779B1u) \
    turn += 0x9E3779B9u;
static __device__ __forceinline__ kn_word64 kn_permuted_place(kn_word64 place, unsigned rows, unsigned columns, const kn_philox &r) {
    unsigned row = place >> 32 ? (unsigned)(place / columns) : (unsigned)place / columns, column = (unsigned)(place - (kn_word64)row * columns), turn = 0;
    KN_PERMUTED_MOVES(0, 1) KN_PERMUTED_MOVES(2, 3) KN_PERMUTED_MOVES(0, 1) KN_PERMUTED_MOVES(2, 3) KN_PERMUTED_MOVES(0, 1)
    KN_PERMUTED_MOVES(2, 3) KN_PERMUTED_MOVES(0, 1) KN_PERMUTED_MOVES(2, 3) KN_PERMUTED_MOVES(0, 1) KN_PERMUTED_MOVES(2, 3)
    return (kn_word64)row * columns + column;
}
#undef KN_PERMUTED_MOVES
#undef KN_PERMUTED_MOVE

static __device__ __forceinline__ kn_word64 kn_permuted_rank(kn_word64 key, kn_word64 i, kn_word64 n) {
    const kn_word64 own = kn_random_word64(key, i);
    kn_word64 rank = 0;
    for (kn_word64 k = 0; k < n; ++k) {
        const kn_word64 other = kn_random_word64(key, k);
        rank += other < own || (other == own && k < i);
    }
    return rank;
}

// A place that is none of the n stays.
template <class... Spare> __device__ __forceinline__ long long permuted_index(kn_word64 key, long long i, long long n, Spare...) {
    const kn_word64 count = (kn_word64)n;
    if ((kn_word64)i >= count)
        return i;
    if (count <= kn_permuted_ranked)
        return (long long)kn_permuted_rank(key, i, count);
    const kn_word64 places = count > kn_permuted_least ? count : kn_permuted_least;
    unsigned rows = (unsigned)sqrt((double)places);
    rows += (kn_word64)rows * rows < places;
    const kn_word64 last = places - 1;
    const unsigned columns = 1 + (last >> 32 ? (unsigned)(last / rows) : (unsigned)last / rows);
    // No element's own block has this number.
    const kn_philox r = kn_philox_block(key, count, ~0ull);
    kn_word64 place = (kn_word64)i;
    do
        place = kn_permuted_place(place, rows, columns, r);
    while (place >= count);
    // An odd order, or an even one: moves alone give one of both where all places are things.
    return (long long)(place < 2 ? place ^ ((r.word[0] ^ r.word[1]) >> 31) : place);
}
#endif
