/* store/store_request.h - what is asked of build, and how it was found. */
#ifndef KN_STORE_STORE_REQUEST_H
#define KN_STORE_STORE_REQUEST_H

#include <kiln/kernel.h>
#include "store/once.h"
#include "store/subject.h"

enum {
    KN_BUILD_NO_COMPILE = 1, /* KILN_ERROR_FORBIDDEN, naming the kernel, rather than compiling */
    /* KILN_ERROR_CAPTURE, saying what to do, rather than compiling or loading: the call's capture wants it
     * so */
    KN_BUILD_CAPTURING = 2,
    /* KILN_ERROR_FORBIDDEN rather than compiling or waiting for who does: it is looked for, and no miss */
    KN_BUILD_FIND = 4,
    /* for plans: no quick form is to stand in for the best one */
    KN_BUILD_BEST = 8
};

/* KILN_COMPILE=never. */
bool kn_build_is_forbidden(void);

/* What is wanted. All pointers are read during the call alone. */
typedef struct kn_build_request {
    const kn_subject *subject;
    unsigned flags; /* KN_BUILD_* */
    /* of one kernel, which keeps the functions it has met though headers change; NULL: the current ones */
    kn_once_table *kept;
    /* receives the notes of the code (kn_compile_dependencies, stored beside it), from whatever origin; NULL:
     * not wanted */
    kn_str *notes;
} kn_build_request;

/* How it was found: origin and times of kiln_call_info. */
typedef struct kn_build_info {
    kiln_origin origin;
    double generate_ms, compile_ms, cache_ms, load_ms;
    size_t code_bytes;
    bool waits_for_kernels; /* of the code: it may be launched before the kernel in front of it has ended */
    int quick, pending;     /* plans with their quick form; of those, whose best form is still to come */
} kn_build_info;

/* What two builds have taken together, and the dearer origin. */
static inline void kn_build_info_add(kn_build_info *to, const kn_build_info *one)
{
    to->origin = one->origin > to->origin ? one->origin : to->origin;
    to->generate_ms += one->generate_ms;
    to->compile_ms += one->compile_ms;
    to->cache_ms += one->cache_ms;
    to->load_ms += one->load_ms;
    to->code_bytes += one->code_bytes;
    to->quick += one->quick;
    to->pending += one->pending;
}

#endif
