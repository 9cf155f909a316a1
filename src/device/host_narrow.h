/* device/host_narrow.h - converts between interleaved channels (NHWC) and planar ones in host memory, in
 * registers: whole vectors are loaded, permuted and stored on both sides. */
#ifndef KN_DEVICE_HOST_NARROW_H
#define KN_DEVICE_HOST_NARROW_H

#include <stdbool.h>
#include <stdint.h>

/* The vector instructions of a processor. Each level includes those before it. */
typedef enum kn_host_vectors { KN_HOST_VECTORS_NONE, KN_HOST_VECTORS_16, KN_HOST_VECTORS_64 } kn_host_vectors;
kn_host_vectors kn_host_vectors_here(void);

enum { KN_HOST_PITCH = 16 /* the most elements from one position to the next */ };

/* Moves `count` positions. Interleaved positions are `pitch` elements apart, and the first `channels` of each
 * are used; planar channels are dense and channel_stride bytes apart. log_size: of an element. Returns the
 * number of positions moved, from the first on, which is 0 if single elements are as fast: the caller moves
 * the others. A split reads nothing behind the last used channel of the last position; a join writes every
 * element: its pitch is the number of channels. past_caches: whole lines are stored past the caches,
 * unordered until a fence. */
int64_t kn_host_split(kn_host_vectors vectors, char *planar, int64_t channel_stride, const char *interleaved,
                      int channels, int pitch, int64_t count, int log_size, bool past_caches);
int64_t kn_host_join(kn_host_vectors vectors, char *interleaved, const char *planar, int64_t channel_stride,
                     int pitch, int64_t count, int log_size, bool past_caches);

#endif
