/* store/store_request.h - a request for code, and how the code was found. */
#ifndef KN_STORE_STORE_REQUEST_H
#define KN_STORE_STORE_REQUEST_H

#include <kiln/kernel.h>
#include "store/single_flight.h"
#include "store/compile_job.h"

enum {
    KN_BUILD_NO_COMPILE = 1, /* KILN_ERROR_FORBIDDEN, naming the kernel, rather than compiling */
    /* KILN_ERROR_CAPTURE, with advice, instead of compiling or loading: the call's capture asks for it */
    KN_BUILD_CAPTURING = 2,
    /* KILN_ERROR_FORBIDDEN rather than compiling, or waiting for the thread that does; no miss is counted */
    KN_BUILD_FIND = 4,
    /* for plans: the baseline tier must not replace the optimised one */
    KN_BUILD_OPTIMISED = 8,
    KN_BUILD_QUICK = 16, /* for plans: the baseline tier for good, if the optimised one is not at hand */
    KN_BUILD_LATER = 32 /* for plans: an optimised tier that is not at hand is to come, and has no baseline */
};

/* KILN_COMPILE=never. */
bool kn_build_is_forbidden(void);

/* The code that is wanted. All pointers are read during the call alone. */
typedef struct kn_build_request {
    const kn_compile_job *job;
    unsigned flags; /* KN_BUILD_* */
    /* of one kernel, which keeps using the functions that it has met although headers change; NULL: the
     * current ones */
    kn_flight_table *own_functions;
    /* receives the dependencies of the code (kn_compile_dependencies, stored beside it), from any origin;
     * NULL: not wanted */
    kn_str *dependencies;
} kn_build_request;

/* The origin and times of kiln_call_info. */
typedef struct kn_build_info {
    kiln_origin origin;
    double generate_ms, compile_ms, cache_ms, load_ms;
    size_t code_bytes;
    bool waits_for_kernels; /* of the code: it may be launched before the kernel in front of it has ended */
    int baseline, pending;  /* plans in their baseline tier; those whose optimised tier is still to come */
} kn_build_info;

/* Adds the times of one build, and keeps the more expensive origin. */
static inline void kn_build_info_add(kn_build_info *to, const kn_build_info *one)
{
    to->origin = one->origin > to->origin ? one->origin : to->origin;
    to->generate_ms += one->generate_ms;
    to->compile_ms += one->compile_ms;
    to->cache_ms += one->cache_ms;
    to->load_ms += one->load_ms;
    to->code_bytes += one->code_bytes;
    to->baseline += one->baseline;
    to->pending += one->pending;
}

#endif
