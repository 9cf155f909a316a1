/* compile/host_linker.h - a shared object out of the host compiler's relocatable one, without a linker. */
#ifndef KN_COMPILE_HOST_LINKER_H
#define KN_COMPILE_HOST_LINKER_H

#include "compile/compile_request.h"

/* True if a compile of the request is worth ending so. */
bool kn_host_can_link(const kn_compile_request *request);
/* out->data is NULL where the object has something that is left to a linker: names that it does not define,
 * variables, addresses in data. */
kiln_status kn_host_link(kn_blob *out, const kn_blob *object, const char *name);

#endif
