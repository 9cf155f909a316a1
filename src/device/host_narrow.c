/* Splits and joins interleaved channels in registers: vectors are loaded, permuted and stored whole. */
#include "device/host_narrow.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <string.h>

enum {
    WIDE = 64, /* bytes of a vector ... */
    NARROW = 16,
    PAIRS = KN_HOST_PITCH / 2,
    MOST_NARROW = 8 /* narrow vectors that are made of each other */
};

/* The parameters that determine a mix. */
typedef struct mix_key {
    int to_planar, channels, pitch, log_size, width;
} mix_key;

/* The permutations that make n_out vectors of n_in. */
typedef struct mix {
    mix_key key;
    int n_in, n_out;
    /* wide ones, of two at a time: the place of each byte in those two, and which bytes come from each two */
    _Alignas(WIDE) uint8_t lane[KN_HOST_PITCH][WIDE];
    uint64_t mask[KN_HOST_PITCH][PAIRS];
    /* narrow ones, of one at a time: the place of each byte; its highest bit: it comes from another */
    _Alignas(NARROW) uint8_t shuffle[MOST_NARROW][MOST_NARROW][NARROW];
} mix;

/* Byte b of the j-th is byte `place` of the from-th. */
static void set_byte(mix *m, int j, int b, int from, int place)
{
    if (m->key.width == WIDE) {
        m->lane[j][b] = (uint8_t)(place + from % 2 * WIDE);
        m->mask[j][from / 2] |= UINT64_C(1) << b;
        return;
    }
    for (int k = 0; k < m->n_in; ++k)
        m->shuffle[j][k][b] = k == from ? (uint8_t)place : 0x80;
}

/* Element e of a planar vector is a channel of position e; an interleaved vector has all channels of one
 * position, then those of the next. */
static void mix_make(mix *m, mix_key key)
{
    int size = 1 << key.log_size, lanes = key.width / size;
    m->key = key;
    m->n_in = key.pitch;
    m->n_out = key.channels;
    memset(m->mask, 0, sizeof m->mask);
    for (int j = 0; j < m->n_out; ++j)
        for (int b = 0; b < key.width; ++b) {
            int element = key.to_planar ? b / size * key.pitch + j : j * lanes + b / size;
            if (key.to_planar)
                set_byte(m, j, b, element / lanes, element % lanes * size + b % size);
            else
                set_byte(m, j, b, element % key.pitch, element / key.pitch * size + b % size);
        }
}

/* The mix for these parameters: usually that of the previous call in the same direction, since a loop nest
 * needs the same one in each block. */
static const mix *mix_for(mix_key key)
{
    static _Thread_local mix last[2];
    mix *m = &last[key.to_planar];
    if (memcmp(&m->key, &key, sizeof key) != 0)
        mix_make(m, key);
    return m;
}

/* The addresses of the vectors of one iteration, and the distance to the next iteration. */
typedef struct streams {
    char *to;
    const char *from;
    int64_t to_step, from_step, to_advance, from_advance, iterations;
    bool is_past_caches; /* wide vectors alone, which are lines then */
} streams;

/* Vectors have the elements between the channels, too, which another thread may be writing; they are not
 * used. */
#define READS_MORE __attribute__((no_sanitize("thread")))

/* ---- wide vectors: a permutation of each two that are read, for those bytes that come from them ---- */

#define WITH_WIDE __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))

/* The counts are known where this is inlined, but for many: masks and places stay in registers. They and the
 * streams are copied, since nothing says that stores leave them alone. */
WITH_WIDE READS_MORE static inline __attribute__((always_inline)) void
run_wide_of(const mix *m, const streams s, int n_in, int n_out)
{
    __m512i lane[KN_HOST_PITCH];
    __mmask64 mask[KN_HOST_PITCH][PAIRS];
    for (int j = 0; j < n_out; ++j) {
        lane[j] = _mm512_load_si512(m->lane[j]);
        for (int k = 2; k < n_in; k += 2)
            mask[j][k / 2] = m->mask[j][k / 2];
    }
    for (int64_t iteration = 0; iteration < s.iterations; ++iteration) {
        const char *from = s.from + iteration * s.from_advance;
        char *to = s.to + iteration * s.to_advance;
        __m512i in[KN_HOST_PITCH];
        for (int k = 0; k < n_in; ++k)
            in[k] = _mm512_loadu_si512(from + k * s.from_step);
        for (int j = 0; j < n_out; ++j) {
            __m512i made = _mm512_permutex2var_epi8(in[0], lane[j], in[1]);
            for (int k = 2; k + 1 < n_in; k += 2)
                made = _mm512_mask_mov_epi8(made, mask[j][k / 2],
                                            _mm512_permutex2var_epi8(in[k], lane[j], in[k + 1]));
            if (n_in > 2 && n_in % 2 == 1)
                made = _mm512_mask_permutexvar_epi8(made, mask[j][n_in / 2], lane[j], in[n_in - 1]);
            if (s.is_past_caches)
                _mm512_stream_si512((void *)(to + j * s.to_step), made);
            else
                _mm512_storeu_si512(to + j * s.to_step, made);
        }
    }
}

READS_MORE WITH_WIDE static void run_wide(const mix *m, const streams *s)
{
#define KNOWN(n)                                                                                             \
    case n:                                                                                                  \
        run_wide_of(m, *s, n, n);                                                                            \
        break
    switch (m->n_in == m->n_out ? m->n_in : 0) {
        KNOWN(2);
        KNOWN(3);
        KNOWN(4);
        KNOWN(5);
        KNOWN(6);
        KNOWN(7);
        KNOWN(8);
    default:
        run_wide_of(m, *s, m->n_in, m->n_out);
    }
#undef KNOWN
}

/* ---- narrow ones: a shuffle of each, which leaves zeros where bytes come from another ---- */

#define WITH_NARROW __attribute__((target("ssse3")))

/* The counts of few channels are known where this is inlined: shuffles stay in registers. */
WITH_NARROW READS_MORE static inline __attribute__((always_inline)) void
run_narrow_of(const mix *m, const streams s, int n_in, int n_out)
{
    __m128i shuffle[MOST_NARROW][MOST_NARROW];
    for (int j = 0; j < n_out; ++j)
        for (int k = 0; k < n_in; ++k)
            shuffle[j][k] = _mm_load_si128((const void *)m->shuffle[j][k]);
    for (int64_t iteration = 0; iteration < s.iterations; ++iteration) {
        const char *from = s.from + iteration * s.from_advance;
        char *to = s.to + iteration * s.to_advance;
        __m128i in[MOST_NARROW];
        for (int k = 0; k < n_in; ++k)
            in[k] = _mm_loadu_si128((const void *)(from + k * s.from_step));
        for (int j = 0; j < n_out; ++j) {
            __m128i made = _mm_shuffle_epi8(in[0], shuffle[j][0]);
            for (int k = 1; k < n_in; ++k)
                made = _mm_or_si128(made, _mm_shuffle_epi8(in[k], shuffle[j][k]));
            _mm_storeu_si128((void *)(to + j * s.to_step), made);
        }
    }
}

READS_MORE WITH_NARROW static void run_narrow(const mix *m, const streams *s)
{
#define KNOWN(in, out)                                                                                       \
    case (in)*MOST_NARROW + (out):                                                                           \
        run_narrow_of(m, *s, in, out);                                                                       \
        break
    switch (m->n_in * MOST_NARROW + m->n_out) {
        KNOWN(2, 1);
        KNOWN(2, 2);
        KNOWN(3, 1);
        KNOWN(3, 3);
        KNOWN(4, 1);
        KNOWN(4, 3);
        KNOWN(4, 4);
    default:
        run_narrow_of(m, *s, m->n_in, m->n_out);
    }
#undef KNOWN
}

kn_host_vectors kn_host_vectors_here(void)
{
    if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return KN_HOST_VECTORS_64;
    return __builtin_cpu_supports("ssse3") ? KN_HOST_VECTORS_16 : KN_HOST_VECTORS_NONE;
}

/* The bytes of a vector; 0: there are too few positions for one, or squares of 16 bytes a side are faster. */
static int width_of(kn_host_vectors vectors, int channels, int pitch, int64_t count, int log_size)
{
    if (pitch > MOST_NARROW && pitch % (NARROW >> log_size) == 0)
        return 0;
    if (vectors == KN_HOST_VECTORS_64 && pitch <= WIDE >> log_size && count >= WIDE >> log_size)
        return WIDE;
    if (vectors >= KN_HOST_VECTORS_16 && pitch <= MOST_NARROW && channels < NARROW >> log_size &&
        log_size < 3 && count >= NARROW >> log_size)
        return NARROW;
    return 0;
}

/* Runs all whole iterations over `count` positions. */
static int64_t run(mix_key key, streams s, int64_t count)
{
    int interleaved = key.width >> key.log_size;
    s.iterations = count / interleaved;
    (key.width == WIDE ? run_wide : run_narrow)(mix_for(key), &s);
    return s.iterations * interleaved;
}

int64_t kn_host_split(kn_host_vectors vectors, char *planar, int64_t channel_stride, const char *interleaved,
                      int channels, int pitch, int64_t count, int log_size, bool past_caches)
{
    int64_t whole = channels < pitch ? count - 1 : count; /* positions that may be read up to the next one */
    int width = width_of(vectors, channels, pitch, whole, log_size);
    bool is_past = past_caches && ((uintptr_t)planar | (uintptr_t)channel_stride) % WIDE == 0;
    streams s = {planar, interleaved, channel_stride, width, width, (int64_t)width * pitch, 0, is_past};
    return width ? run((mix_key){1, channels, pitch, log_size, width}, s, whole) : 0;
}

int64_t kn_host_join(kn_host_vectors vectors, char *interleaved, const char *planar, int64_t channel_stride,
                     int pitch, int64_t count, int log_size, bool past_caches)
{
    int width = width_of(vectors, pitch, pitch, count, log_size);
    bool is_past = past_caches && (uintptr_t)interleaved % WIDE == 0;
    streams s = {interleaved, planar, width, channel_stride, (int64_t)width * pitch, width, 0, is_past};
    return width ? run((mix_key){0, pitch, pitch, log_size, width}, s, count) : 0;
}

#else

kn_host_vectors kn_host_vectors_here(void)
{
    return KN_HOST_VECTORS_NONE;
}

int64_t kn_host_split(kn_host_vectors vectors, char *planar, int64_t channel_stride, const char *interleaved,
                      int channels, int pitch, int64_t count, int log_size, bool past_caches)
{
    (void)vectors, (void)planar, (void)channel_stride, (void)interleaved;
    (void)channels, (void)pitch, (void)count, (void)log_size, (void)past_caches;
    return 0;
}

int64_t kn_host_join(kn_host_vectors vectors, char *interleaved, const char *planar, int64_t channel_stride,
                     int pitch, int64_t count, int log_size, bool past_caches)
{
    (void)vectors, (void)interleaved, (void)planar, (void)channel_stride;
    (void)pitch, (void)count, (void)log_size, (void)past_caches;
    return 0;
}

#endif
