/*
 * kiln/dlpack.h - arrays to and from other libraries (NumPy, PyTorch, CuPy, JAX, ...) without a
 * copy, by DLPack 1.x.
 *
 *     // consuming what a producer's __dlpack__(stream=s, max_version=(1, 0)) gave:
 *     kiln_array *a = NULL;
 *     if (kiln_array_from_dlpack(&a, managed, true) != KILN_OK)
 *         give_back(managed);                          // to its producer: it is still the caller's
 *     // ... a is there ...
 *     kiln_array_free(a);              // the last view gone, the producer's deleter is called
 *
 * "Managed tensors" are the structs of <dlpack/dlpack.h>: DLManagedTensorVersioned (capsule name
 * "dltensor_versioned") where versioned is true, else DLManagedTensor ("dltensor"). That header is
 * not needed here. Thread-safe.
 */
#ifndef KILN_DLPACK_H
#define KILN_DLPACK_H

#include <kiln/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Streams as Python's protocol numbers them: on CUDA 1 is the legacy default stream, 2 the
 * per-thread default stream, a larger number a CUstream's address; 0 means different things to
 * different libraries and is refused. */
/* Python's None: on CUDA the legacy default stream; the only choice but NO_SYNC on the host. */
#define KILN_DLPACK_STREAM_NONE INT64_MIN
#define KILN_DLPACK_STREAM_NO_SYNC INT64_C(-1) /* the consumer sees to the order itself */

/* Takes the managed tensor over: an array over its memory. The producer's deleter is called once,
 * when the last array that uses the memory goes; work that is still queued then is the caller's
 * business, as with kiln_array_wrap. On failure the tensor is still the caller's, its deleter not
 * called. The result is read-only where the producer says so. KILN_ERROR_FORMAT: a version other
 * than 1.x; KILN_ERROR_TYPE: dtypes that kiln does not have, vector lanes; KILN_ERROR_UNSUPPORTED:
 * memory of other devices than CPU, CUDA (plain, pinned, managed); KILN_ERROR_NOT_FOUND: no such
 * CUDA device. */
KILN_NODISCARD KILN_API kiln_status kiln_array_from_dlpack(kiln_array **out, void *managed,
                                                           bool versioned);

/* The stream that a consumer passes to a producer's __dlpack__, so that the calling thread's
 * current stream on device may use the data. */
KILN_NODISCARD KILN_API kiln_status kiln_dlpack_stream(int64_t *out, kiln_device device);

/* A managed tensor over the array's memory, which it keeps: *out is released by its own deleter.
 * Work queued so far on the current stream is ordered before what the consumer's stream does from
 * now on. KILN_ERROR_UNSUPPORTED: a read-only array, which only the versioned form can express;
 * KILN_ERROR_INVALID: a stream that the protocol does not have for the array's device. */
KILN_NODISCARD KILN_API kiln_status kiln_array_to_dlpack(void **out, const kiln_array *array,
                                                         bool versioned, int64_t stream);

/* The pair that __dlpack_device__ returns: 1, 0 for the host, 2 and the ordinal for CUDA. */
KILN_NODISCARD KILN_API kiln_status kiln_array_dlpack_device(int32_t *type, int32_t *ordinal,
                                                             const kiln_array *array);

#ifdef __cplusplus
}
#endif
#endif
