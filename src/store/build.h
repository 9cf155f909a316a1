/* store/build.h - specialisation -> code: what was used before in the process, the user's cache, the compiler
 * (store/store.h); one compile a key, among threads and among processes.
 *
 * Code is stored once it has been loaded (its entry found); code for another machine, which nothing here can
 * load, once it is known to be whole. What comes from a store and is not whole, or does not load, is looked
 * for further down, and made anew at last. */
#ifndef KN_STORE_BUILD_H
#define KN_STORE_BUILD_H

#include "base/blob.h"
#include "store/lifetime.h"
#include "store/store_request.h"
#include "device/device.h"

/* The code, found or made, as a copy of the caller's: for any target, on a machine without its devices, too.
 * info may be NULL. */
kiln_status kn_build_code(kn_blob *out, const kn_build_request *request, kn_build_info *info);

/* The source that a compiler would be given. */
kiln_status kn_build_source(kn_str *out, const kn_compile_job *job);

/* The compile job's entry point in the code, loaded on the device (once a device and key). Lives until the
 * process ends. Where a header has changed since, it is compiled anew. */
kiln_status kn_build_function(kn_function **out, const kn_build_request *request, kn_device *device,
                              kn_build_info *info);

/* The same for the specialisation of a program; kept and flags as in kn_build_request. */
kiln_status kn_build_program(kn_function **out, const kn_spec *spec, kn_flight_table *own_functions, unsigned flags,
                             kn_device *device, kn_build_info *info);

/* The code as a copy, and loaded on the device as a module of the caller's own, to be unloaded by the back
 * end. Neither on failure. */
kiln_status kn_build_module(kn_module **out, kn_blob *code, const kn_build_request *request,
                            kn_device *device, kn_build_info *info);

#endif
