/* device/host_move.h - copies elements between layouts in host memory, for kernels that need contiguous
 * ranges of an operand that is strided. */
#ifndef KN_DEVICE_HOST_MOVE_H
#define KN_DEVICE_HOST_MOVE_H

#include <stdbool.h>
#include <stdint.h>

/* Copies a rectangle of ndim axes (fastest first) of elements of item_size bytes (1, 2, 4, 8, 16); strides in
 * bytes. Source and target do not overlap. past_caches: stores may go past the caches; the caller issues the
 * fence. */
void kn_host_move(char *to, const int64_t *to_stride, const char *from, const int64_t *from_stride, int ndim,
                  const int64_t *count, int item_size, bool past_caches);

/* True if conversions between interleaved and planar are stored past the caches on this machine. */
bool kn_host_moves_past_caches(int item_size);

#endif
