/* store/build.h - finds the code of a specialisation: in the process, in the user's cache, or by the compiler
 * (store/store.h); one compile per key, among threads and among processes.
 *
 * Code is stored after it has been loaded (its entry found); code for another machine, which cannot be loaded
 * here, after a check that it is complete. Code from a store that is incomplete, or does not load, is looked
 * for in the next stores, and made anew in the end. */
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

/* The same for the specialisation of a program; own_functions and flags as in kn_build_request. */
kiln_status kn_build_program(kn_function **out, const kn_spec *spec, kn_flight_table *own_functions,
                             unsigned flags, kn_device *device, kn_build_info *info);

/* The code as a copy, and loaded on the device as a module of the caller's own, to be unloaded by the back
 * end. Neither on failure. */
kiln_status kn_build_module(kn_module **out, kn_blob *code, const kn_build_request *request,
                            kn_device *device, kn_build_info *info);

#endif
