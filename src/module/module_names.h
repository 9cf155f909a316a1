/* module/module_names.h - names that callers give, and their names in the code. */
#ifndef KN_MODULE_MODULE_NAMES_H
#define KN_MODULE_MODULE_NAMES_H

#include "module/module_parts.h"

/* Checks that `function` of the public interface has all its arguments, and that the module is loaded. */
kiln_status kn_module_check_names(const void *out, const kiln_module *module, const char *name,
                                  const char *function);
/* The name in the code of a name expression, "twice<int>" or "&space::table"; a copy of the caller's. Other
 * names are unchanged. NULL without memory. */
char *kn_module_lower(const kiln_module *module, const char *name);
/* The driver only reports that a name is missing: adds the existing names to the error. what: "function",
 * "global". */
kiln_status kn_module_explain_missing(kiln_status status, const kiln_module *module, const char *name,
                                      const char *what);

#endif
