/* base/target.h - the target of code: a back end, an architecture and its limits. A plain value, no device
 * behind it. */
#ifndef KN_BASE_TARGET_H
#define KN_BASE_TARGET_H

#include <kiln/base.h>

typedef enum kn_backend_kind { KN_HOST = 1, KN_CUDA = 2 } kn_backend_kind;

/* The limits are those of the device if there is one, else those of the architecture's name; 0 on the host.
 */
typedef struct kn_target {
    kn_backend_kind backend;
    char architecture[32];                /* "sm_90", "x86-64-v4" */
    int compute_capability;               /* 90 for sm_90; 0 on the host */
    int vector_bytes;                     /* widest useful access of one thread: 16 on CUDA */
    int shared_memory_per_block;          /* bytes, when a kernel asks for them */
    int shared_memory_per_multiprocessor; /* bytes, */
    int shared_memory_reserved;           /* bytes that each block takes besides its own */
    int threads_per_multiprocessor;
    int registers_per_multiprocessor; /* of 32 bits */
    int multiprocessors;              /* without a device: of a usual product */
    int64_t l2_bytes;                 /* likewise */
    bool waits_for_kernels;           /* programmatic stream serialisation: kernels wait by themselves */
} kn_target;

/* Reads "sm_90" (any of 75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121, with an optional a or f), "host"
 * (this machine's processor) or a processor's architecture ("x86-64-v3"). KILN_ERROR_INVALID with the given
 * and the known names. */
kiln_status kn_target_parse(kn_target *out, const char *text);
/* The target of a CUDA device of compute capability major.minor, which may be newer than the table. */
void kn_target_cuda(kn_target *out, int major, int minor);
/* The device's own limits in place of those that its architecture's name says. */
void kn_target_set_limits(kn_target *target, const kn_target *limits);
void kn_target_host(kn_target *out);
/* "cuda:sm_90", "host:x86-64-v4": how a specialisation names it. size 48 is enough. */
void kn_target_format(const kn_target *target, char *out, size_t size);
bool kn_target_equal(const kn_target *a, const kn_target *b);

/* The formats of code: machine code, or text that the driver compiles for its device. */
typedef enum kn_code_format { KN_CODE_BINARY, KN_CODE_PTX } kn_code_format;

/* Ranks code made for one target on another: 0: it cannot run there; otherwise higher is better. The same
 * target is best; NVIDIA's rules give the rest. A cubin runs on devices of the same major number and at least
 * its minor one, but never between other devices and the processors of NVIDIA's boards (Orin, Thor); a cubin
 * for "a" runs on that device only, for "f" on its family. PTX is compiled for any later device, with "a" and
 * "f" as for cubins. A processor runs code for lesser ones. */
int kn_target_fit(const kn_target *made_for, kn_code_format format, const kn_target *target);
/* The known targets, by number: all of the table above without a and f; false beyond the last. */
bool kn_target_known(kn_target *out, int number);

#endif
