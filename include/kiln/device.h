/*
 * kiln/device.h - the devices kernels run on, the current one of the calling thread, and their
 * properties.
 *
 *     kiln_device d;
 *     if (kiln_device_parse(&d, "cuda:1") == KILN_OK)
 *         kiln_device_set_current(d);
 *     kiln_device_synchronize(KILN_DEVICE_DEFAULT);
 *
 * A device is a small integer. Zero, KILN_DEVICE_DEFAULT, means the calling thread's current
 * device, which is at first the one that KILN_TARGET names, else cuda:0 where a driver and a device
 * are present, else the host. Thread-safe.
 *
 * A child of fork() may use the host as its parent does, whatever the parent's threads were doing.
 * CUDA does not survive: where it had been started before, calls on its devices fail with
 * KILN_ERROR_DEVICE or KILN_ERROR_NOT_FOUND there and say so, and the default device is the host
 * unless KILN_TARGET names another. What belongs to such devices may still be freed.
 */
#ifndef KILN_DEVICE_H
#define KILN_DEVICE_H

#include <kiln/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A device, as a number. */
typedef int32_t kiln_device;
/* The calling thread's current device. */
#define KILN_DEVICE_DEFAULT ((kiln_device)0)
/* The processor. */
#define KILN_DEVICE_HOST ((kiln_device)1)
/* The CUDA device of an ordinal, from 0; and whether a device is one. */
#define KILN_DEVICE_CUDA(ordinal) ((kiln_device)(16 + (ordinal)))
#define KILN_DEVICE_IS_CUDA(device) ((device) >= 16)

/* Reads "host", "cuda" (= "cuda:0") or "cuda:N". KILN_ERROR_INVALID for other text;
 * KILN_ERROR_NOT_FOUND, with the reason (no driver, no device, ordinal out of range), where there
 * is no such device. */
KILN_NODISCARD KILN_API kiln_status kiln_device_parse(kiln_device *out, const char *name);

/* Writes "host" or "cuda:N" into buffer (at most size bytes with the terminator, 16 is enough) and
 * returns buffer. */
KILN_API char *kiln_device_name(kiln_device device, char *buffer, size_t size);

/* The number of CUDA devices; 0 where there is no driver. Never fails for the lack of one;
 * KILN_ERROR_MEMORY or KILN_ERROR_IO where memory or descriptors ran out when the driver was
 * loaded: the next call loads it again. */
KILN_NODISCARD KILN_API kiln_status kiln_device_count(int *out);

/* Why there is no CUDA device ("libcuda.so.1 was not found", ...), or "" where there is one. Static
 * lifetime. */
KILN_API const char *kiln_device_why_no_cuda(void);

/* The calling thread's current device, and its choice: KILN_ERROR_NOT_FOUND, with the reason, where
 * it is not there. */
KILN_NODISCARD KILN_API kiln_status kiln_device_current(kiln_device *out);
KILN_NODISCARD KILN_API kiln_status kiln_device_set_current(kiln_device device);

/* Waits for all work of the device. Errors that the device reports late surface here. */
KILN_NODISCARD KILN_API kiln_status kiln_device_synchronize(kiln_device device);

/* The properties of a device. */
typedef struct kiln_device_properties {
    size_t struct_size;
    char name[128];                                   /* "NVIDIA H200", or the processor's name */
    char architecture[32];                            /* "sm_90", "x86-64-v4" */
    int multiprocessors;                              /* or hardware threads of the host */
    int max_threads_per_block;                        /* the most threads a block */
    int max_threads_per_multiprocessor;               /* the most threads at once */
    int warp_size;                                    /* threads of a warp; on the host 1 */
    size_t shared_memory_per_block;                   /* bytes, without opting in to more */
    size_t shared_memory_per_block_optin;             /* bytes, at most */
    size_t l2_cache_size;                             /* bytes */
    size_t total_memory;                              /* bytes */
    int clock_khz, memory_clock_khz, memory_bus_bits; /* kHz, and the width of the memory's bus */
    int compute_major, compute_minor;                 /* compute capability; 0 on the host */
    /* CUDA version the driver supports, 13000 for 13.0; 0 on the host */
    int driver_version;
    int pci_domain, pci_bus, pci_device; /* where it is plugged in */
    bool cooperative_launch, unified_addressing,
        integrated; /* what it can do, and whether it shares the host's memory */
} kiln_device_properties;
#define KILN_DEVICE_PROPERTIES_INIT                                                                \
    {                                                                                              \
        sizeof(kiln_device_properties), {0}, {0}, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0, 0                                                                             \
    }

/* Fills *out; out->struct_size must be set. */
KILN_NODISCARD KILN_API kiln_status kiln_device_get_properties(kiln_device device,
                                                               kiln_device_properties *out);

/* Bytes of device memory that are free, and in all. On the host: available and total physical
 * memory. */
KILN_NODISCARD KILN_API kiln_status kiln_device_memory_info(kiln_device device, size_t *free_bytes,
                                                            size_t *total_bytes);

/* Writes the name of the target at an index from 0 of those that are known, as kernels are compiled
 * for without a device: "sm_90", "x86-64-v3". False beyond the last, or where size is too small. */
KILN_API bool kiln_architecture_at(char *buffer, size_t size, int index);

/* True if kernels on `device` can access memory of `peer` directly. */
KILN_NODISCARD KILN_API kiln_status kiln_device_can_access_peer(bool *out, kiln_device device,
                                                                kiln_device peer);

/* The CUcontext (the primary context) that kiln uses on a CUDA device. KILN_ERROR_UNSUPPORTED on
 * the host. Stays kiln's. */
KILN_NODISCARD KILN_API kiln_status kiln_device_cuda_context(void **out, kiln_device device);

#ifdef __cplusplus
}
#endif
#endif
