/* ops/numpy_name.h - the names of NumPy's functions, whether kiln has them or not: for messages, which then
 * guess at no other name that is spelt alike. */
#ifndef KN_OPS_NUMPY_NAME_H
#define KN_OPS_NUMPY_NAME_H

#include <stdbool.h>
#include <stddef.h>

bool kn_numpy_has(const char *name, size_t length);

#endif
