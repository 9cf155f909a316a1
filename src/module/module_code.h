/* module/module_code.h - the kinds of raw code, and the way from source to code. */
#ifndef KN_MODULE_MODULE_CODE_H
#define KN_MODULE_MODULE_CODE_H

#include "module/module_parts.h"

/* Settled options: struct_size is checked, nothing that matters is NULL. */
kiln_status kn_module_options_read(kiln_module_options *out, const kiln_module_options *given);

/* The kind of the code; KILN_ERROR_FORMAT where it is none, or another than options say. */
kiln_status kn_module_kind(kiln_code_kind *out, const void *code, size_t size, kiln_code_kind stated,
                           const char *name);
/* KILN_ERROR_UNSUPPORTED where a cubin is of an architecture that target does not run. */
kiln_status kn_module_check_cubin(const void *code, size_t size, const kn_target *target, const char *name);
/* Compiles source, or finds its code: fills module->code and module->dependencies. */
kiln_status kn_module_compile(kiln_module *module, const char *source, const kiln_module_options *options,
                              kn_build_info *info);

#endif
