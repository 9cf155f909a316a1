/* Copies between two layouts of the host's memory, transposed in registers where that pays. */
#include "device/host_move.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

#include "device/host_narrow.h"
#include "space/numbers.h"
#include "space/space.h"

enum {
    HOST_LINE = 64,      /* bytes of the caches' lines */
    AHEAD = 16,          /* rows */
    LEAST_REPEATED = 8,  /* bytes of a row, below which a loop over rows stores less often */
    MOST_REPEATED = 256, /* elements */
    MOST_SPREAD = 16,    /* of a row, which some vectors have together, of so many */
    FEWEST_SPREAD = 32,  /* rows; and */
    SHORT_RUN = 256,     /* bytes of a row, up to which a call of memcpy takes longer than the copy */
    SMALL_MATRIX = 256   /* elements, up to which looking for a way takes as long as the copy */
};

/* A rectangle of two axes. */
typedef struct matrix {
    char *to;
    const char *from;
    int64_t count[2], to_stride[2], from_stride[2];
    bool past_caches;
} matrix;
typedef void mover(const matrix *p);

/* ---- squares of 16 or 8 bytes a side, transposed in registers by interleaving halves ---- */

#define INLINED inline __attribute__((always_inline)) /* a call takes as long as a small square */
#if defined(__clang__) || __GNUC__ >= 12
#define INTERLEAVE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define SQUARE(bytes, type, lanes, ROUNDS, LOW, HIGH)                                                        \
    typedef type vector_##bytes##x##lanes __attribute__((vector_size(bytes * lanes)));                       \
    static INLINED void transpose_in_registers_##bytes##x##lanes(vector_##bytes##x##lanes *v)                \
    {                                                                                                        \
        vector_##bytes##x##lanes w[lanes];                                                                   \
        for (int round = 0; round < ROUNDS; ++round) {                                                       \
            for (int k = 0; k < lanes / 2; ++k) {                                                            \
                w[2 * k] = INTERLEAVE(v[k], v[k + lanes / 2], LOW);                                          \
                w[2 * k + 1] = INTERLEAVE(v[k], v[k + lanes / 2], HIGH);                                     \
            }                                                                                                \
            for (int k = 0; k < lanes; ++k)                                                                  \
                v[k] = w[k];                                                                                 \
        }                                                                                                    \
    }                                                                                                        \
    static INLINED void square_##bytes##x##lanes(char *to, int64_t to_stride, const char *from,              \
                                                 int64_t from_stride)                                        \
    {                                                                                                        \
        vector_##bytes##x##lanes v[lanes];                                                                   \
        for (int k = 0; k < lanes; ++k)                                                                      \
            memcpy(&v[k], from + k * from_stride, bytes * lanes);                                            \
        transpose_in_registers_##bytes##x##lanes(v);                                                         \
        for (int k = 0; k < lanes; ++k)                                                                      \
            memcpy(to + k * to_stride, &v[k], bytes * lanes);                                                \
    }                                                                                                        \
    static INLINED void listed_##bytes##x##lanes(char *to, int64_t to_stride, const char *from,              \
                                                 const int64_t *row)                                         \
    {                                                                                                        \
        vector_##bytes##x##lanes v[lanes];                                                                   \
        for (int k = 0; k < lanes; ++k)                                                                      \
            memcpy(&v[k], from + row[k], bytes * lanes);                                                     \
        transpose_in_registers_##bytes##x##lanes(v);                                                         \
        for (int k = 0; k < lanes; ++k)                                                                      \
            memcpy(to + k * to_stride, &v[k], bytes * lanes);                                                \
    }
#define LOW_16 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH_16 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define LOW_8 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH_8 4, 12, 5, 13, 6, 14, 7, 15
#define LOW_4 0, 4, 1, 5
#define HIGH_4 2, 6, 3, 7
#define LOW_2 0, 2
#define HIGH_2 1, 3
#else
#define SQUARE(bytes, type, lanes, ROUNDS, LOW, HIGH)                                                        \
    static INLINED void square_##bytes##x##lanes(char *to, int64_t to_stride, const char *from,              \
                                                 int64_t from_stride)                                        \
    {                                                                                                        \
        for (int k = 0; k < lanes; ++k)                                                                      \
            for (int j = 0; j < lanes; ++j)                                                                  \
                memcpy(to + j * to_stride + k * bytes, from + k * from_stride + j * bytes, bytes);           \
    }                                                                                                        \
    static INLINED void listed_##bytes##x##lanes(char *to, int64_t to_stride, const char *from,              \
                                                 const int64_t *row)                                         \
    {                                                                                                        \
        for (int k = 0; k < lanes; ++k)                                                                      \
            for (int j = 0; j < lanes; ++j)                                                                  \
                memcpy(to + j * to_stride + k * bytes, from + row[k] + j * bytes, bytes);                    \
    }
#endif
SQUARE(1, uint8_t, 16, 4, LOW_16, HIGH_16)
SQUARE(1, uint8_t, 8, 3, LOW_8, HIGH_8)
SQUARE(2, uint16_t, 8, 3, LOW_8, HIGH_8)
SQUARE(2, uint16_t, 4, 2, LOW_4, HIGH_4)
SQUARE(4, uint32_t, 4, 2, LOW_4, HIGH_4)
SQUARE(8, uint64_t, 2, 1, LOW_2, HIGH_2)

/* ---- loops over one axis and over two, for each size of elements ---- */

typedef struct wide {
    uint64_t half[2];
} wide;

/* Sizes for which compilers know shuffles are written apart. */
#define LOOPS(bytes, type)                                                                                   \
    static void step_##bytes(char *restrict to, int64_t to_stride, const char *restrict from,                \
                             int64_t from_stride, int64_t count)                                             \
    {                                                                                                        \
        for (int64_t k = 0; k < count; ++k)                                                                  \
            memcpy(to + k * to_stride, from + k * from_stride, bytes);                                       \
    }                                                                                                        \
    static void row_##bytes(char *restrict to, int64_t to_stride, const char *restrict from,                 \
                            int64_t from_stride, int64_t count)                                              \
    {                                                                                                        \
        type value;                                                                                          \
        if (to_stride != bytes) {                                                                            \
            step_##bytes(to, to_stride, from, from_stride, count);                                           \
        } else if (from_stride == 0) {                                                                       \
            memcpy(&value, from, bytes);                                                                     \
            for (int64_t k = 0; k < count; ++k)                                                              \
                memcpy(to + k * bytes, &value, bytes);                                                       \
        } else if (from_stride == bytes) {                                                                   \
            for (int64_t k = 0; k < count; ++k)                                                              \
                memcpy(to + k * bytes, from + k * bytes, bytes);                                             \
        } else if (from_stride == 2 * bytes) {                                                               \
            for (int64_t k = 0; k < count; ++k)                                                              \
                memcpy(to + k * bytes, from + 2 * k * bytes, bytes);                                         \
        } else if (from_stride == -bytes) {                                                                  \
            for (int64_t k = 0; k < count; ++k)                                                              \
                memcpy(to + k * bytes, from - k * bytes, bytes);                                             \
        } else {                                                                                             \
            step_##bytes(to, to_stride, from, from_stride, count);                                           \
        }                                                                                                    \
    }                                                                                                        \
    static void rows_##bytes(const matrix *p)                                                                \
    {                                                                                                        \
        for (int64_t k = 0; k < p->count[1]; ++k)                                                            \
            row_##bytes(p->to + k * p->to_stride[1], p->to_stride[0], p->from + k * p->from_stride[1],       \
                        p->from_stride[0], p->count[0]);                                                     \
    }
/* Adjacent rows, each of one repeated element. Stores of 16 bytes overrun a row into later ones, which are
 * stored afterwards. */
#define REPEATS(bytes, type)                                                                                 \
    static void repeat_##bytes(const matrix *p)                                                              \
    {                                                                                                        \
        int64_t row = p->count[0] * bytes, left = row * p->count[1];                                         \
        char *to = p->to;                                                                                    \
        const char *from = p->from;                                                                          \
        for (int64_t k = 0; k < p->count[1]; ++k, to += row, from += p->from_stride[1], left -= row) {       \
            type value, values[16 / bytes];                                                                  \
            memcpy(&value, from, bytes);                                                                     \
            for (int j = 0; j < 16 / bytes; ++j)                                                             \
                values[j] = value;                                                                           \
            int64_t at = 0;                                                                                  \
            for (; at < row && at + 16 <= left; at += 16)                                                    \
                memcpy(to + at, values, 16);                                                                 \
            for (; at < row; at += bytes)                                                                    \
                memcpy(to + at, &value, bytes);                                                              \
        }                                                                                                    \
    }
REPEATS(1, uint8_t)
REPEATS(2, uint16_t)
REPEATS(4, uint32_t)
REPEATS(8, uint64_t)
LOOPS(1, uint8_t)
LOOPS(2, uint16_t)
LOOPS(4, uint32_t)
LOOPS(8, uint64_t)
LOOPS(16, wide)

/* Rows that are runs on both sides, in words; the last word of each ends with it. Most rows are two words at
 * most. */
static inline __attribute__((always_inline)) void move_words(const matrix p, int word)
{
    int64_t row = p.count[0] * p.to_stride[0], last = row - word;
    char *to = p.to;
    const char *from = p.from;
    for (int64_t k = 0; k < p.count[1]; ++k, to += p.to_stride[1], from += p.from_stride[1]) {
        memcpy(to, from, (size_t)word);
        if (last > word)
            for (int64_t at = word; at < last; at += word)
                memcpy(to + at, from + at, (size_t)word);
        memcpy(to + last, from + last, (size_t)word);
    }
}
#define WORDS(bytes)                                                                                         \
    static void words_##bytes(const matrix *p)                                                               \
    {                                                                                                        \
        move_words(*p, bytes);                                                                               \
    }
WORDS(2)
WORDS(4)
WORDS(8)
WORDS(16)

/* The function for rows of so many bytes, at least two. */
static mover *words_of(int64_t row)
{
    return row >= 16 ? words_16 : row >= 8 ? words_8 : row >= 4 ? words_4 : words_2;
}

static bool move_runs(const matrix *p, int64_t size)
{
    int64_t row = p->count[0] * size;
    if (p->to_stride[0] != size || p->from_stride[0] != size || row > SHORT_RUN || row < 2 ||
        p->count[1] == 1)
        return false;
    words_of(row)(p);
    return true;
}

/* Elements of 8 and of 16 bytes are stored past the caches 16 bytes at a time: rows of whole lines, or that
 * are one run. False: nothing is. */
#if defined(__x86_64__)
static __m128i load_16(const char *at, int64_t stride, int log_size)
{
    if (log_size == 4)
        return _mm_loadu_si128((const void *)at);
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const void *)at),
                              _mm_loadl_epi64((const void *)(at + stride)));
}

/* The matrix is passed by value: the compiler could not know that stores leave it unchanged. */
static inline __attribute__((always_inline)) void stream_rows(const matrix p, int log_size)
{
    int64_t step = 16 >> log_size;
    for (int64_t r = 0; r < p.count[1]; ++r) {
        char *to = p.to + r * p.to_stride[1];
        const char *from = p.from + r * p.from_stride[1];
        for (int64_t k = 0; k < p.count[0]; k += step)
            _mm_stream_si128((void *)(to + (k << log_size)),
                             load_16(from + k * p.from_stride[0], p.from_stride[0], log_size));
    }
}

bool kn_host_moves_past_caches(int item_size)
{
    return item_size >= 8 || kn_host_vectors_here() == KN_HOST_VECTORS_64;
}

/* Short rows that follow each other and are read backwards, as interleaved channels are that are reversed: as
 * many at a time as 16 bytes hold. A store's bytes beyond them are stored again. Returns the number of
 * rows. */
__attribute__((target("ssse3"))) static int64_t reverse_rows(const matrix p, int size)
{
    int row = (int)p.count[0] * size, together = 16 / row;
    int64_t bytes = row * p.count[1], at = 0;
    const char *from = p.from - (p.count[0] - 1) * size;
    char place[16];
    for (int b = 0; b < 16; ++b)
        place[b] =
            (char)(b < together * row ? b / row * row + row - size - b % row / size * size + b % size : 0);
    const __m128i order = _mm_loadu_si128((const void *)place);
    for (; at + 16 <= bytes; at += together * row)
        _mm_storeu_si128((void *)(p.to + at),
                         _mm_shuffle_epi8(_mm_loadu_si128((const void *)(from + at)), order));
    return at / row;
}

/* Rows that follow each other, each of one element that is repeated, where these lie side by side: as many
 * elements at a time as 16 bytes hold, whose bytes are put in order for one vector of results after the
 * other. Returns the number of rows. */
__attribute__((target("ssse3"))) static int64_t spread_rows(const matrix p, int size)
{
    int n = (int)p.count[0], together = 16 / size, at = 0;
    char place[16 * MOST_SPREAD];
    for (int k = 0; k < together; ++k)
        for (int j = 0; j < n; ++j)
            for (int b = 0; b < size; ++b)
                place[at++] = (char)(k * size + b);
    int64_t row = 0;
    char *to = p.to;
    for (; row + together <= p.count[1]; row += together) {
        const __m128i elements = _mm_loadu_si128((const void *)(p.from + row * size));
        for (int j = 0; j < n; ++j, to += 16)
            _mm_storeu_si128((void *)to,
                             _mm_shuffle_epi8(elements, _mm_loadu_si128((const void *)(place + 16 * j))));
    }
    return row;
}

static int64_t move_spread(const matrix *p, int size)
{
    bool is_spread = p->from_stride[0] == 0 && p->from_stride[1] == size && p->to_stride[0] == size &&
                     p->to_stride[1] == p->count[0] * size && p->to_stride[1] >= LEAST_REPEATED &&
                     p->count[0] <= MOST_SPREAD;
    return is_spread && size < 16 && p->count[1] >= FEWEST_SPREAD &&
                   kn_host_vectors_here() != KN_HOST_VECTORS_NONE
               ? spread_rows(*p, size)
               : 0;
}

static int64_t move_reversed(const matrix *p, int size)
{
    int64_t row = p->count[0] * size;
    bool is_dense = p->to_stride[0] == size && p->from_stride[0] == -size && p->to_stride[1] == row &&
                    p->from_stride[1] == row;
    return is_dense && row > 0 && row <= 16 && kn_host_vectors_here() != KN_HOST_VECTORS_NONE
               ? reverse_rows(*p, size)
               : 0;
}

static bool move_past(const matrix *p, int log_size)
{
    int64_t row = p->count[0] << log_size;
    bool is_run = p->count[1] == 1 || p->to_stride[1] == row;
    if (!p->past_caches || log_size < 3 || p->to_stride[0] != 1 << log_size || row % 16 != 0 ||
        (uintptr_t)p->to % HOST_LINE != 0 || (!is_run && (row | p->to_stride[1]) % HOST_LINE != 0))
        return false;
    log_size == 4 ? stream_rows(*p, 4) : stream_rows(*p, 3);
    return true;
}
#else
bool kn_host_moves_past_caches(int item_size)
{
    (void)item_size;
    return false;
}

static int64_t move_reversed(const matrix *p, int size)
{
    (void)p, (void)size;
    return 0;
}

static int64_t move_spread(const matrix *p, int size)
{
    (void)p, (void)size;
    return 0;
}

static bool move_past(const matrix *p, int log_size)
{
    (void)p, (void)log_size;
    return false;
}
#endif

/* The part of p that begins at (a, b) and has `width` by `height` elements. */
static matrix part(const matrix *p, int64_t a, int64_t b, int64_t width, int64_t height)
{
    matrix result = *p;
    result.to += a * p->to_stride[0] + b * p->to_stride[1];
    result.from += a * p->from_stride[0] + b * p->from_stride[1];
    result.count[0] = width;
    result.count[1] = height;
    return result;
}

/* Prefetches rows that come later, which are too short for the processor's own prefetching. The next
 * rectangle mostly follows this one; prefetching beyond memory is harmless. */
static void fetch(const matrix *p, int64_t row, int rows, int64_t bytes)
{
    for (int64_t k = row; k < row + rows; ++k)
        for (int64_t byte = 0; byte < bytes; byte += HOST_LINE)
            __builtin_prefetch(
                (const char *)((uintptr_t)p->from + (uintptr_t)(k * p->from_stride[0] + byte)));
}

typedef void square_mover(char *to, int64_t to_stride, const char *from, int64_t from_stride);

/* Squares of rows from a on. The last one ends with the row, and copies some elements again. */
static inline __attribute__((always_inline)) void transpose_rows(square_mover *square, const matrix p,
                                                                 int64_t a, int side)
{
    char *to = p.to + a * p.to_stride[0];
    const char *from = p.from + a * p.from_stride[0];
    int64_t b = 0, last = p.count[1] - side;
    for (; b <= last; b += side)
        square(to + b * p.to_stride[1], p.to_stride[1], from + b * p.from_stride[1], p.from_stride[0]);
    if (b < p.count[1])
        square(to + last * p.to_stride[1], p.to_stride[1], from + last * p.from_stride[1], p.from_stride[0]);
}

/* The source is contiguous along axis 1: a few of its lines are used completely while they are cached. A
 * square is inlined: a call takes as long as a small one. (The matrix is passed by value; see
 * stream_rows.) */
static inline __attribute__((always_inline)) void transpose_by(square_mover *square, const matrix p, int side,
                                                               int size)
{
    int64_t a = 0, last = p.count[0] - side;
    for (; a <= last; a += side) {
        if (last >= AHEAD) /* beyond the rows of channels is other memory */
            fetch(&p, a + AHEAD, side, p.count[1] * size);
        transpose_rows(square, p, a, side);
    }
    if (a < p.count[0])
        transpose_rows(square, p, last, side);
}
#define TRANSPOSE(bytes, lanes)                                                                              \
    static void transpose_##bytes##x##lanes(const matrix *p)                                                 \
    {                                                                                                        \
        transpose_by(square_##bytes##x##lanes, *p, lanes, bytes);                                            \
    }
TRANSPOSE(1, 16)
TRANSPOSE(1, 8)
TRANSPOSE(2, 8)
TRANSPOSE(2, 4)
TRANSPOSE(4, 4)
TRANSPOSE(8, 2)

/* Rows of the source that begin anywhere, `n` of them in the order of the results, of which those of one
 * place in all rows lie side by side; `count` elements of each. */
typedef struct listed {
    char *to;
    const char *from;
    const int64_t *row;
    int64_t n, count, to_stride;
} listed;
typedef void listed_square(char *to, int64_t to_stride, const char *from, const int64_t *row);

/* Squares along all rows, for a few elements of each at a time. The last ones end with them. */
static inline __attribute__((always_inline)) void transpose_listed_by(listed_square *square, const listed p,
                                                                      int side, int size)
{
    for (int64_t b = 0;; b = kn_least(b + side, p.count - side)) {
        for (int64_t t = 0;; t = kn_least(t + side, p.n - side)) {
            square(p.to + b * p.to_stride + t * size, p.to_stride, p.from + b * size, p.row + t);
            if (t == p.n - side)
                break;
        }
        if (b == p.count - side)
            break;
    }
}
#define LISTED(bytes, lanes)                                                                                 \
    static void transpose_listed_##bytes(const listed *p)                                                    \
    {                                                                                                        \
        transpose_listed_by(listed_##bytes##x##lanes, *p, lanes, bytes);                                     \
    }
LISTED(1, 16)
LISTED(2, 8)
LISTED(4, 4)
LISTED(8, 2)

/* By the size's logarithm: loops, and squares, those of 16 bytes a side and those of 8. */
static const struct {
    mover *rows, *repeat, *transpose[2];
} by_size[] = {
    {rows_1, repeat_1, {transpose_1x16, transpose_1x8}},
    {rows_2, repeat_2, {transpose_2x8, transpose_2x4}},
    {rows_4, repeat_4, {transpose_4x4, NULL}},
    {rows_8, repeat_8, {transpose_8x2, NULL}},
    {rows_16, NULL, {NULL, NULL}},
};

/* The function that transposes such a matrix by squares; NULL: it is too narrow, or lies otherwise. */
static mover *transposing(const matrix *p, int log_size)
{
    int64_t size = INT64_C(1) << log_size, narrow = kn_least(p->count[0], p->count[1]) * size;
    if (p->to_stride[0] != size || p->from_stride[1] != size || narrow < 8)
        return NULL;
    return by_size[log_size].transpose[narrow < 16];
}

static void exchange(int64_t *values, int a, int b)
{
    int64_t before = values[a];
    values[a] = values[b];
    values[b] = before;
}

/* The pitch of an interleaved axis, in elements; 0: it is not interleaved, or not narrow. */
static int pitch_of(int64_t stride, int64_t size)
{
    return stride > size && stride % size == 0 && stride / size <= KN_HOST_PITCH ? (int)(stride / size) : 0;
}

/* Reverses the axis on both sides where one of them runs along it backward. */
static void make_forward(matrix *p, int axis, const int64_t *stride)
{
    if (stride[axis] >= 0)
        return;
    p->to += (p->count[axis] - 1) * p->to_stride[axis];
    p->from += (p->count[axis] - 1) * p->from_stride[axis];
    p->to_stride[axis] = -p->to_stride[axis];
    p->from_stride[axis] = -p->from_stride[axis];
}

/* Converts between interleaved and planar; the channels are the other axis. Returns the number of positions
 * that have been moved, from the first on. */
static int64_t move_interleaved(matrix p, int along, int log_size)
{
    int64_t size = INT64_C(1) << log_size, channels = p.count[1 - along];
    int across = 1 - along, from_pitch = pitch_of(p.from_stride[along], size),
        to_pitch = pitch_of(p.to_stride[along], size);
    if (p.to_stride[along] == size && channels <= from_pitch) {
        make_forward(&p, across, p.from_stride);
        if (channels == 1 || p.from_stride[across] == size)
            return kn_host_split(kn_host_vectors_here(), p.to, p.to_stride[across], p.from, (int)channels,
                                 from_pitch, p.count[along], log_size, p.past_caches);
    }
    if (p.from_stride[along] == size && channels == to_pitch) {
        make_forward(&p, across, p.to_stride);
        if (p.to_stride[across] == size)
            return kn_host_join(kn_host_vectors_here(), p.to, p.from, p.from_stride[across], to_pitch,
                                p.count[along], log_size, p.past_caches);
    }
    return 0;
}

/* False: all has been moved. */
static bool move_narrow(matrix *p, int log_size)
{
    for (int along = 0; along < 2; ++along) {
        int64_t moved = move_interleaved(*p, along, log_size);
        if (moved == 0)
            continue;
        *p = along == 0 ? part(p, moved, 0, p->count[0] - moved, p->count[1])
                        : part(p, 0, moved, p->count[0], p->count[1] - moved);
        return p->count[along] > 0;
    }
    return true;
}

/* Rows of one element each that are too short to be worth a loop. */
static bool is_repeated(const matrix *p, int log_size)
{
    int64_t size = INT64_C(1) << log_size;
    return by_size[log_size].repeat && p->from_stride[0] == 0 && p->to_stride[0] == size &&
           p->to_stride[1] == p->count[0] * size && p->to_stride[1] >= LEAST_REPEATED &&
           p->count[0] <= MOST_REPEATED && p->count[1] > 1;
}

static void move_matrix(matrix *p, int log_size)
{
    int64_t size = INT64_C(1) << log_size, spread = move_spread(p, (int)size);
    *p = part(p, 0, spread, p->count[0], p->count[1] - spread);
    if (p->count[1] > 0 && is_repeated(p, log_size)) {
        by_size[log_size].repeat(p);
        return;
    }
    int64_t reversed = move_reversed(p, (int)size);
    *p = part(p, 0, reversed, p->count[0], p->count[1] - reversed);
    if (p->count[1] == 0 || !move_narrow(p, log_size) || move_past(p, log_size) || move_runs(p, size))
        return;
    mover *transpose = transposing(p, log_size);
    if (transpose) {
        transpose(p);
        return;
    }
    if (p->count[0] <= KN_HOST_PITCH && p->count[1] > p->count[0]) { /* the longer loop inside */
        exchange(p->count, 0, 1);
        exchange(p->to_stride, 0, 1);
        exchange(p->from_stride, 0, 1);
    }
    by_size[log_size].rows(p);
}

static int log_of(int item_size)
{
    int log_size = 0;
    while (1 << log_size < item_size)
        ++log_size;
    return log_size;
}

/* A rectangle of any axes, made simpler. */
typedef struct rectangle {
    bool past_caches;
    int ndim;
    int64_t count[KILN_MAX_NDIM + 1], to_stride[KILN_MAX_NDIM + 1], from_stride[KILN_MAX_NDIM + 1];
} rectangle;

/* Axes that are one on both sides become one; those of a single step go. */
static void add_axis(rectangle *r, int64_t count, int64_t to_stride, int64_t from_stride)
{
    int last = r->ndim - 1;
    if (count == 1 && r->ndim > 0)
        return;
    if (r->ndim > 0 && r->count[last] == 1) {
        r->ndim = last--;
    } else if (r->ndim > 0 && to_stride == r->to_stride[last] * r->count[last] &&
               from_stride == r->from_stride[last] * r->count[last]) {
        r->count[last] *= count;
        return;
    }
    r->count[r->ndim] = count;
    r->to_stride[r->ndim] = to_stride;
    r->from_stride[r->ndim] = from_stride;
    ++r->ndim;
}

/* True if two axes are interleaved on one side and planar on the other. */
static bool are_interleaved(const rectangle *r, int along, int across, int64_t size)
{
    return r->count[across] <= KN_HOST_PITCH &&
           ((r->to_stride[along] == size && pitch_of(r->from_stride[along], size) > 0 &&
             kn_magnitude(r->from_stride[across]) == size) ||
            (r->from_stride[along] == size && pitch_of(r->to_stride[along], size) > 0 &&
             kn_magnitude(r->to_stride[across]) == size));
}

/* Chooses the axis beside the first one: one that makes the pair interleaved, else the one along which the
 * source has the smallest stride. */
static void choose_matrix(rectangle *r, int64_t size)
{
    int best = 1;
    for (int a = 2; a < r->ndim; ++a)
        if (kn_magnitude(r->from_stride[a]) < kn_magnitude(r->from_stride[best]))
            best = a;
    for (int a = 1; a < r->ndim; ++a)
        if (are_interleaved(r, 0, a, size) || are_interleaved(r, a, 0, size))
            best = a;
    exchange(r->count, 1, best);
    exchange(r->to_stride, 1, best);
    exchange(r->from_stride, 1, best);
}

/* A first axis that is a run of 2 to 16 bytes on both sides, a power of two, becomes one element. Returns the
 * size of elements. */
static int join_run(rectangle *r, int size)
{
    int64_t bytes = r->count[0] * size;
    if (r->ndim < 2 || r->to_stride[0] != size || r->from_stride[0] != size || bytes > 16 ||
        (bytes & (bytes - 1)) != 0)
        return size;
    --r->ndim;
    memmove(r->count, r->count + 1, (size_t)r->ndim * sizeof *r->count);
    memmove(r->to_stride, r->to_stride + 1, (size_t)r->ndim * sizeof *r->to_stride);
    memmove(r->from_stride, r->from_stride + 1, (size_t)r->ndim * sizeof *r->from_stride);
    return (int)bytes;
}

static matrix matrix_at(const rectangle *r, char *to, const char *from)
{
    return (matrix){to,
                    from,
                    {r->count[0], r->ndim > 1 ? r->count[1] : 1},
                    {r->to_stride[0], r->ndim > 1 ? r->to_stride[1] : 0},
                    {r->from_stride[0], r->ndim > 1 ? r->from_stride[1] : 0},
                    r->past_caches};
}

static void exchange_axes(rectangle *r, int a, int b)
{
    exchange(r->count, a, b);
    exchange(r->to_stride, a, b);
    exchange(r->from_stride, a, b);
}

static int longest_axis(const rectangle *r, int first)
{
    int longest = first;
    for (int a = first + 1; a < r->ndim; ++a)
        longest = r->count[a] > r->count[longest] ? a : longest;
    return longest;
}

/* Positions along the axis are interleaved on one side, as move_interleaved has them, and fill a vector. */
static bool is_narrow(const matrix *p, int along, int64_t size)
{
    int across = 1 - along, to_pitch = pitch_of(p->to_stride[along], size);
    bool splits = p->to_stride[along] == size && p->count[across] <= pitch_of(p->from_stride[along], size) &&
                  kn_magnitude(p->from_stride[across]) == size;
    bool joins = p->from_stride[along] == size && p->count[across] == to_pitch &&
                 kn_magnitude(p->to_stride[across]) == size;
    return (splits || joins) && p->count[along] * size >= 16;
}

/* The way in which all matrices of small rows and columns are moved: what is looked up for each would take
 * longer than they do. NULL: they are not so small. The longest axis becomes that of the inner loop. */
static mover *choose_small(rectangle *r, int log_size)
{
    int64_t size = INT64_C(1) << log_size;
    if (r->ndim < 3 || r->count[0] * r->count[1] > SMALL_MATRIX)
        return NULL;
    const matrix p = matrix_at(r, NULL, NULL);
    mover *transpose = transposing(&p, log_size);
    if (is_repeated(&p, log_size))
        return by_size[log_size].repeat;
    if (transpose || is_narrow(&p, 0, size) || is_narrow(&p, 1, size))
        return transpose;
    bool are_runs = r->to_stride[0] == size && r->from_stride[0] == size && r->count[0] * size >= 2;
    exchange_axes(r, are_runs, longest_axis(r, are_runs));
    if (are_runs)
        return words_of(r->count[0] * size);
    exchange_axes(r, 1, longest_axis(r, 1));
    return by_size[log_size].rows;
}

/* ---- several short axes across one that is contiguous in the source ---- */

enum {
    MOST_LISTED = 512,
    SHORT_SIDE = 32 /* bytes of the first axis, from which on it has squares of its own */
};

/* Axes that together are a run of results, but for one: the rows of the source that they list. */
typedef struct row_list {
    int along;        /* the axis that is contiguous in the source */
    unsigned is_used; /* a bit for each axis of the run */
    int64_t n, row[MOST_LISTED];
} row_list;

static void list_rows(row_list *list, const rectangle *r, int64_t size)
{
    list->n = 1;
    list->row[0] = 0;
    list->is_used = 0;
    for (int a = 0; a < r->ndim; ++a) {
        if (a == list->along || list->is_used >> a & 1 || r->to_stride[a] != list->n * size ||
            list->n * r->count[a] > MOST_LISTED)
            continue;
        for (int64_t k = 1; k < r->count[a]; ++k)
            for (int64_t t = 0; t < list->n; ++t)
                list->row[k * list->n + t] = list->row[t] + k * r->from_stride[a];
        list->n *= r->count[a];
        list->is_used |= 1u << a;
        a = -1; /* the next one may be in front of it */
    }
}

static void move_rows_listed(const row_list *list, const rectangle *r, char *to, const char *from, int axis,
                             int log_size)
{
    static void (*const transpose[])(const listed *) = {transpose_listed_1, transpose_listed_2,
                                                        transpose_listed_4, transpose_listed_8};
    while (axis >= 0 && (axis == list->along || list->is_used >> axis & 1))
        --axis;
    if (axis < 0) {
        const listed p = {to, from, list->row, list->n, r->count[list->along], r->to_stride[list->along]};
        transpose[log_size](&p);
        return;
    }
    for (int64_t k = 0; k < r->count[axis]; ++k)
        move_rows_listed(list, r, to + k * r->to_stride[axis], from + k * r->from_stride[axis], axis - 1,
                         log_size);
}

/* False: nothing is moved. */
static bool move_listed(const rectangle *r, char *to, const char *from, int log_size)
{
    int64_t size = INT64_C(1) << log_size, side = 16 / size;
    row_list list;
    list.along = -1;
    for (int a = 0; a < r->ndim; ++a)
        if (r->from_stride[a] == size && r->to_stride[a] != size && r->count[a] >= side)
            list.along = a;
    if (r->ndim < 3 || size > 8 || list.along < 0)
        return false;
    for (int a = 0; a < r->ndim; ++a)
        if (r->to_stride[a] == size && r->count[a] * size >= SHORT_SIDE)
            return false;
    list_rows(&list, r, size);
    if ((list.is_used & (list.is_used - 1)) == 0 || list.n < side)
        return false;
    move_rows_listed(&list, r, to, from, r->ndim - 1, log_size);
    return true;
}

static void move_alike(const rectangle *r, char *to, const char *from, int ndim, mover *move)
{
    if (ndim > 2) {
        for (int64_t k = 0; k < r->count[ndim - 1]; ++k)
            move_alike(r, to + k * r->to_stride[ndim - 1], from + k * r->from_stride[ndim - 1], ndim - 1,
                       move);
        return;
    }
    const matrix p = matrix_at(r, to, from);
    move(&p);
}

static void move_matrices(const rectangle *r, char *to, const char *from, int ndim, int log_size)
{
    if (ndim > 2) {
        for (int64_t k = 0; k < r->count[ndim - 1]; ++k)
            move_matrices(r, to + k * r->to_stride[ndim - 1], from + k * r->from_stride[ndim - 1], ndim - 1,
                          log_size);
        return;
    }
    matrix p = matrix_at(r, to, from);
    move_matrix(&p, log_size);
}

void kn_host_move(char *to, const int64_t *to_stride, const char *from, const int64_t *from_stride, int ndim,
                  const int64_t *count, int item_size, bool past_caches)
{
    rectangle r;
    r.past_caches = past_caches;
    r.ndim = 0;
    r.count[0] = 1; /* without axes one element */
    r.to_stride[0] = r.from_stride[0] = 0;
    for (int a = 0; a < ndim; ++a)
        add_axis(&r, count[a], to_stride[a], from_stride[a]);
    item_size = join_run(&r, item_size);
    if (move_listed(&r, to, from, log_of(item_size)))
        return;
    if (r.ndim > 2)
        choose_matrix(&r, item_size);
    mover *small = choose_small(&r, log_of(item_size));
    if (small) {
        move_alike(&r, to, from, r.ndim, small);
        return;
    }
    move_matrices(&r, to, from, r.ndim, log_of(item_size));
}
