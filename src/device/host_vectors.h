/* device/host_vectors.h - functions with vectors of 64 bytes, or of 32, in a library for all processors. */
#ifndef KN_DEVICE_HOST_VECTORS_H
#define KN_DEVICE_HOST_VECTORS_H

#include <immintrin.h>

#define WITH_VECTORS __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,popcnt,bmi2")))
#define WITH_VECTORS_32 __attribute__((target("avx2,popcnt,bmi,bmi2")))
#define INLINE_WITH static inline __attribute__((always_inline)) WITH
#define INLINE static inline __attribute__((always_inline)) WITH_VECTORS

#endif
