/* device/host_narrow.h - pixels to planes and back in host memory, in registers: of a narrow axis that runs
 * innermost on one side only, whole vectors are loaded, permuted and stored on both. */
#ifndef KN_DEVICE_HOST_NARROW_H
#define KN_DEVICE_HOST_NARROW_H

#include <stdbool.h>
#include <stdint.h>

/* What a processor has for it. Each does what those before it do. */
typedef enum kn_host_vectors { KN_HOST_VECTORS_NONE, KN_HOST_VECTORS_16, KN_HOST_VECTORS_64 } kn_host_vectors;
kn_host_vectors kn_host_vectors_here(void);

enum { KN_HOST_PITCH = 16 /* most elements from one pixel to the next */ };

/* `count` pixels, `pitch` elements apart, of which the first `channels` are wanted; planes are dense, and
 * channel_stride bytes apart. log_size: of an element. Each returns how many pixels it has moved from the first
 * on, which is 0 where single elements are as good: the others are the caller's. Of pixels nothing behind the
 * last wanted channel of the last one is read, of joined ones every element is written: pitch is the number
 * of channels. past_caches: what lies in whole lines is stored past them, unordered until a fence. */
int64_t kn_host_split(kn_host_vectors vectors, char *planar, int64_t channel_stride, const char *interleaved,
                      int channels, int pitch, int64_t count, int log_size, bool past_caches);
int64_t kn_host_join(kn_host_vectors vectors, char *interleaved, const char *planar, int64_t channel_stride,
                     int pitch, int64_t count, int log_size, bool past_caches);

#endif
