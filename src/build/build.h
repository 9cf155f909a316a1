/* build/build.h - specialisation -> code: what was used before in the process, the user's cache, the compiler
 * (build/store.h); one compile a key, among threads and among processes.
 *
 * Code is stored once it has been loaded (its entry found); code for another machine, which nothing here can
 * load, once it is known to be whole. What comes from a store and is not whole, or does not load, is looked
 * for further down, and made anew at last. */
#ifndef KN_BUILD_BUILD_H
#define KN_BUILD_BUILD_H

#include <kiln/kernel.h>
#include "base/blob.h"
#include "base/str.h"
#include "build/once.h"
#include "build/subject.h"
#include "device/device.h"

enum {
    KN_BUILD_NO_COMPILE = 1, /* KILN_ERROR_FORBIDDEN, naming the kernel, rather than compiling */
    /* KILN_ERROR_CAPTURE, saying what to do, rather than compiling or loading: the call's capture wants it
     * so */
    KN_BUILD_CAPTURING = 2
};

/* What is wanted. All pointers are read during the call alone. */
typedef struct kn_build_request {
    const kn_subject *subject;
    unsigned flags; /* KN_BUILD_* */
    /* of one kernel, which keeps the functions it has met though headers change; NULL: the current ones */
    kn_once_table *kept;
    /* receives the notes of the code (kn_compile_notes, stored beside it), from whatever origin; NULL: not
     * wanted */
    kn_str *notes;
} kn_build_request;

/* How it was found: origin and times of kiln_call_info. */
typedef struct kn_build_info {
    kiln_origin origin;
    double generate_ms, compile_ms, cache_ms, load_ms;
    size_t code_bytes;
} kn_build_info;

/* The code, found or made, as a copy of the caller's: for any target, on a machine without its devices, too.
 * info may be NULL. */
kiln_status kn_build_code(kn_blob *out, const kn_build_request *request, kn_build_info *info);

/* The source that a compiler would be given. */
kiln_status kn_build_source(kn_str *out, const kn_subject *subject);

/* The subject's entry point in the code, loaded on the device (once a device and key). Lives until the process
 * ends. Where a header has changed since, it is compiled anew. */
kiln_status kn_build_function(kn_function **out, const kn_build_request *request, kn_device *device,
                              kn_build_info *info);

/* The code as a copy, and loaded on the device as a module of the caller's own, to be unloaded by the back
 * end. Neither on failure. */
kiln_status kn_build_module(kn_module **out, kn_blob *code, const kn_build_request *request,
                            kn_device *device, kn_build_info *info);

/* Opens the cache and looks for the back end's compiler on another thread, so that it overlaps the creation
 * of a context. Begun by itself when a device is first used. */
void kn_build_warm_up(kn_backend_kind backend);

/* Unloads and forgets everything; the environment is read anew afterwards. For tests: no function that was
 * handed out may be used any more. */
void kn_build_shutdown(void);

#endif
