/* build/build.h - key material -> code: memo in the process, the user's cache, the compiler; one compile a
 * key, among threads and among processes.
 *
 * Code is stored once it has been loaded (its entry found); code for another machine, which nothing here can
 * load, once it is known to be whole. What comes from the disk and is not whole, or does not load, is made
 * anew, once. */
#ifndef KN_BUILD_BUILD_H
#define KN_BUILD_BUILD_H

#include <kiln/kernel.h>
#include "base/blob.h"
#include "base/str.h"
#include "build/once.h"
#include "compile/compile.h"
#include "device/device.h"

enum {
    KN_BUILD_NO_COMPILE = 1, /* KILN_ERROR_FORBIDDEN, naming the kernel, rather than compiling */
    /* KILN_ERROR_CAPTURE, saying what to do, rather than compiling or loading: the call's capture wants it
     * so */
    KN_BUILD_CAPTURING = 2
};

/* What is wanted. All pointers are read during the call alone. */
typedef struct kn_build_request {
    const char *what; /* key material: the serialised specialisation, or what stands for a raw module */
    const char *name; /* for messages and the compiler: "squared_diff" */
    kn_target target;
    unsigned flags; /* KN_BUILD_* */
    /* Fills the compile request (its target, name and flags are set already) and the source; called on a miss
     * alone. source lives until the compile is done. */
    kiln_status (*generate)(void *user, kn_compile_request *compile, kn_str *source);
    void *user;
    /* the user's compiler options: where headers that a row names are looked for (kn_compile_notes_hold) */
    const char *const *options;
    int n_options;
    /* of one kernel, which keeps the functions it has met though headers change; NULL: the current ones */
    kn_once_table *kept;
    /* receives the row's notes (kn_compile_notes, stored as the cache's aux), from whatever origin; NULL:
     * not wanted */
    kn_str *notes;
} kn_build_request;

/* How it was found: origin and times of kiln_call_info. */
typedef struct kn_build_info {
    kiln_origin origin;
    double generate_ms, compile_ms, cache_ms, load_ms;
    size_t code_bytes;
} kn_build_info;

/* The code, found or made, as a copy of the caller's. */
kiln_status kn_build_code(kn_blob *out, const kn_build_request *request, kn_build_info *info);

/* The entry point `entry` of the code, loaded on the device (once a device and key). Lives until the process
 * ends. Where a header has changed since, it is compiled anew. info may be NULL. */
kiln_status kn_build_function(kn_function **out, const kn_build_request *request, kn_device *device,
                              const char *entry, kn_build_info *info);

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
