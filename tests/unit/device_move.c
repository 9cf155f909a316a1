/* kn_host_move against single elements: every size, every way in which strides go together, sides around
 * those of the squares. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "device/host_move.h"
#include "device/host_narrow.h"

enum { ROOM = 1 << 21, MAX_SIDE = 40, MOST_AXES = 5, FEW = 5, TURNS = 6000 };

static uint32_t state_of_dice = 1;

static int dice(int sides)
{
    state_of_dice = state_of_dice * 1664525u + 1013904223u;
    return (int)((state_of_dice >> 8) % (uint32_t)sides);
}

/* Strides under which no two elements share a byte: axes in some order, with gaps, backwards at times. Or all
 * alike. */
static void random_strides(int64_t *stride, int ndim, const int64_t *count, int item_size, int may_repeat)
{
    int64_t step = item_size * (1 + (dice(3) == 0 ? dice(3) : 0));
    int first = dice(ndim), by = ndim == MOST_AXES ? 1 + dice(MOST_AXES - 1) : 1;
    for (int k = 0; k < ndim; ++k) {
        int a = (first + k * by) % ndim;
        stride[a] = dice(5) == 0 ? -step : step;
        step *= count[a];
        step += item_size * (dice(3) == 0 ? dice(4) : 0);
        if (may_repeat && dice(5) == 0)
            stride[a] = 0;
    }
}

/* The place of an element, from the middle of the buffer. */
static int64_t place(int ndim, const int64_t *at, const int64_t *stride)
{
    int64_t result = ROOM / 2;
    for (int a = 0; a < ndim; ++a)
        result += at[a] * stride[a];
    return result;
}

static void move_one_by_one(char *to, const int64_t *to_stride, const char *from, const int64_t *from_stride,
                            int ndim, const int64_t *count, int item_size)
{
    int64_t at[MOST_AXES] = {0};
    for (int a = 0; a < ndim;) {
        memcpy(to + place(ndim, at, to_stride), from + place(ndim, at, from_stride), (size_t)item_size);
        for (a = 0; a < ndim && ++at[a] == count[a]; ++a)
            at[a] = 0;
    }
}

static void moves_are_exact(void **state)
{
    char *from = malloc(ROOM), *to = aligned_alloc(64, ROOM), *expected = malloc(ROOM);
    (void)state;
    assert_non_null(from);
    assert_non_null(to);
    assert_non_null(expected);
    for (int k = 0; k < ROOM; ++k)
        from[k] = (char)dice(256);
    memset(to, 0, ROOM);
    memset(expected, 0, ROOM);
    for (int turn = 0; turn < TURNS; ++turn) {
        int64_t count[MOST_AXES], to_stride[MOST_AXES], from_stride[MOST_AXES];
        int ndim = 1 + dice(MOST_AXES), item_size = 1 << dice(5), longest = dice(ndim);
        for (int a = 0; a < ndim; ++a)
            count[a] = 1 + dice(ndim > 2 && a != longest ? FEW : dice(3) == 0 ? 5 : MAX_SIDE);
        random_strides(to_stride, ndim, count, item_size, 0);
        random_strides(from_stride, ndim, count, item_size, 1);
        move_one_by_one(expected, to_stride, from, from_stride, ndim, count, item_size);
        kn_host_move(to + ROOM / 2, to_stride, from + ROOM / 2, from_stride, ndim, count, item_size,
                     dice(2) == 0);
        if (turn % 50 == 49) /* what is outside must not change either */
            assert_memory_equal(to, expected, ROOM);
    }
    free(from);
    free(to);
    free(expected);
}

/* ---- conversions between interleaved and planar are done by whole vectors ---- */

static int splits, joins;

int64_t __real_kn_host_split(kn_host_vectors vectors, char *planar, int64_t channel_stride,
                             const char *interleaved, int channels, int pitch, int64_t count, int log_size,
                             bool past_caches);
int64_t __wrap_kn_host_split(kn_host_vectors vectors, char *planar, int64_t channel_stride,
                             const char *interleaved, int channels, int pitch, int64_t count, int log_size,
                             bool past_caches);
int64_t __real_kn_host_join(kn_host_vectors vectors, char *interleaved, const char *planar,
                            int64_t channel_stride, int pitch, int64_t count, int log_size, bool past_caches);
int64_t __wrap_kn_host_join(kn_host_vectors vectors, char *interleaved, const char *planar,
                            int64_t channel_stride, int pitch, int64_t count, int log_size, bool past_caches);

int64_t __wrap_kn_host_split(kn_host_vectors vectors, char *planar, int64_t channel_stride,
                             const char *interleaved, int channels, int pitch, int64_t count, int log_size,
                             bool past_caches)
{
    ++splits;
    return __real_kn_host_split(vectors, planar, channel_stride, interleaved, channels, pitch, count,
                                log_size, past_caches);
}

int64_t __wrap_kn_host_join(kn_host_vectors vectors, char *interleaved, const char *planar,
                            int64_t channel_stride, int pitch, int64_t count, int log_size, bool past_caches)
{
    ++joins;
    return __real_kn_host_join(vectors, interleaved, planar, channel_stride, pitch, count, log_size,
                               past_caches);
}

/* Other ways to move them give the same elements, only slower. Channels are the first axis or the second one,
 * and may be reversed. */
static void channels_go_by_vectors(void **state)
{
    enum { COUNT = 100 };
    static char interleaved[KN_HOST_PITCH * COUNT * 4], planar[sizeof interleaved];
    (void)state;
    for (int channels = 2; channels <= KN_HOST_PITCH; ++channels)
        for (int way = 0; way < 16; ++way) {
            const int along = way & 1, size = way & 2 ? 4 : 1, is_join = way >> 2 & 1,
                      is_reversed = way >> 3 & 1;
            int64_t count[2], of_planar[2], of_interleaved[2];
            char *channel = interleaved + (is_reversed ? (channels - 1) * size : 0);
            count[along] = COUNT;
            count[1 - along] = channels;
            of_planar[along] = size;
            of_planar[1 - along] = (int64_t)COUNT * size;
            of_interleaved[along] = (int64_t)channels * size;
            of_interleaved[1 - along] = is_reversed ? -size : size;
            splits = joins = 0;
            if (is_join)
                kn_host_move(channel, of_interleaved, planar, of_planar, 2, count, size, false);
            else
                kn_host_move(planar, of_planar, channel, of_interleaved, 2, count, size, false);
            assert_int_equal(splits, !is_join);
            assert_int_equal(joins, is_join);
        }
}

/* ---- pixels: every pitch and size, with every kind of vectors that this processor has ---- */

enum { PIXELS = 150 };

static void split_and_join(kn_host_vectors vectors, int channels, int pitch, int count, int log_size)
{
    size_t size = (size_t)1 << log_size, stride = (size_t)count * size + 24;
    /* malloc's of just the right size: the sanitizer sees what is read or written outside */
    size_t bytes = ((size_t)(count - 1) * (size_t)pitch + (size_t)channels) * size;
    char *interleaved = malloc(bytes), *planar = malloc(stride * (size_t)channels);
    assert_non_null(interleaved);
    assert_non_null(planar);
    for (size_t k = 0; k < bytes; ++k)
        interleaved[k] = (char)dice(256);
    int64_t done = kn_host_split(vectors, planar, (int64_t)stride, interleaved, channels, pitch, count,
                                 log_size, dice(2) == 0);
    assert_in_range(done, 0, count);
    for (size_t k = 0; k < (size_t)done; ++k)
        for (size_t c = 0; c < (size_t)channels; ++c)
            assert_memory_equal(planar + c * stride + k * size, interleaved + (k * (size_t)pitch + c) * size,
                                size);
    if (channels == pitch) {
        for (size_t k = 0; k < stride * (size_t)channels; ++k)
            planar[k] = (char)dice(256);
        int64_t joined =
            kn_host_join(vectors, interleaved, planar, (int64_t)stride, pitch, count, log_size, dice(2) == 0);
        assert_int_equal(joined, done);
        for (size_t k = 0; k < (size_t)done; ++k)
            for (size_t c = 0; c < (size_t)channels; ++c)
                assert_memory_equal(planar + c * stride + k * size,
                                    interleaved + (k * (size_t)pitch + c) * size, size);
    }
    bool are_squares = log_size > 2 || channels << log_size >= 16;
    assert_true(done > 0 || vectors == KN_HOST_VECTORS_NONE || pitch > 4 || are_squares || count < 17);
    free(interleaved);
    free(planar);
}

static void channels_are_exact(void **state)
{
    (void)state;
    for (int vectors = KN_HOST_VECTORS_NONE; vectors <= (int)kn_host_vectors_here(); ++vectors)
        for (int log_size = 0; log_size < 5; ++log_size)
            for (int pitch = 2; pitch <= KN_HOST_PITCH; ++pitch)
                for (int channels = 1; channels <= pitch; ++channels) {
                    split_and_join((kn_host_vectors)vectors, channels, pitch, 1 + dice(PIXELS), log_size);
                    split_and_join((kn_host_vectors)vectors, channels, pitch, 64 >> log_size << dice(2),
                                   log_size);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves_are_exact),
                                       cmocka_unit_test(channels_go_by_vectors),
                                       cmocka_unit_test(channels_are_exact)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
