/*
 * kiln/benchmark.h - how long a call of a kernel takes, and how many bytes it moves.
 *
 *     const kiln_arg args[] = {kiln_arg_array(x), kiln_arg_array(y), kiln_arg_float(0.5)};
 *     kiln_benchmark found = KILN_BENCHMARK_INIT;
 *     if (kiln_kernel_benchmark(&found, kernel, &z, 1, args, 3, NULL, NULL) == KILN_OK)
 *         printf("%.1f us, %.0f GB/s\n", found.device_median_us, found.bytes_per_second / 1e9);
 *
 * Thread-safe; but whatever else the machine does meanwhile is measured as well.
 */
#ifndef KILN_BENCHMARK_H
#define KILN_BENCHMARK_H

#include <kiln/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The times of calls, in microseconds of one call. */
typedef struct kiln_benchmark {
    size_t struct_size;
    kiln_device device; /* on which the calls ran */
    int calls;          /* that were timed, each by itself, on the thread that calls */
    /* until the call returns: on CUDA until the work is queued, on the host until it is done */
    double cpu_median_us, cpu_min_us;
    /* On CUDA what the device needs for a call among others, by a graph of `batch` calls that is
     * launched `calls` times: nothing waits for the thread that calls. On the host the same as
     * above. */
    double device_median_us, device_min_us;
    int batch;
    /* of the arguments, each element once, however often it is read; what is broadcast counts as
     * what there is of it */
    uint64_t bytes_read, bytes_written;
    double bytes_per_second; /* read and written, in the median time of the device */
} kiln_benchmark;
#define KILN_BENCHMARK_INIT                                                                        \
    {                                                                                              \
        sizeof(kiln_benchmark), KILN_DEVICE_DEFAULT, 0, 0, 0, 0, 0, 0, 0, 0, 0                     \
    }

/* The number and kind of calls. */
typedef struct kiln_benchmark_options {
    size_t struct_size;
    int calls;   /* to be timed; 0: as many as take a quarter of a second, 10 to 1000 */
    int warm_up; /* calls before these, after the first, which compiles; 0: 3 */
} kiln_benchmark_options;
#define KILN_BENCHMARK_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(kiln_benchmark_options), 0, 0                                                       \
    }

/* Calls the kernel again and again with the same arguments, in its best form, on a stream of its
 * own, and waits. call as for kiln_kernel_call, but for its stream, which is left aside. out[j]
 * NULL: the first call allocates it, the others write there, and it is given back in the end;
 * arrays that are given are written by every call, and one that is an input too is changed as
 * often. The arguments are the same each time: what fits the device's caches is read from there.
 * *out_times, of which struct_size must be set, is unchanged on failure. KILN_ERROR_INVALID (NULL,
 * options), KILN_ERROR_CAPTURE while the device is captured, and the errors of kiln_kernel_call. */
KILN_NODISCARD KILN_API kiln_status kiln_kernel_benchmark(kiln_benchmark *out_times,
                                                          kiln_kernel *kernel,
                                                          kiln_array *const *out, int n_out,
                                                          const kiln_arg *in, int n_in,
                                                          const kiln_call_options *call,
                                                          const kiln_benchmark_options *options);

#ifdef __cplusplus
}
#endif
#endif
