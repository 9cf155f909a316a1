/* kernel/module.h - the inside of kiln_module: code, what is loaded of it, and the functions that were asked
 * for. */
#ifndef KN_KERNEL_MODULE_H
#define KN_KERNEL_MODULE_H

#include <stdatomic.h>

#include <kiln/module.h>
#include "base/map.h"
#include "build/build.h"

struct kiln_module {
    atomic_int references; /* the user's, and those of arrays over globals and of graphs */
    char *name;
    kn_target target;
    kn_device *device; /* NULL: only compiled */
    kn_module *loaded;
    kn_blob code;
    kn_str notes;      /* of the compile: lowered names */
    char **expression; /* name expressions, in the notes' order */
    int n_expressions;
    kn_map *functions; /* name in the code -> kiln_function; under KN_LOCK_MODULES */
    atomic_bool was_launched;
    kn_held held; /* by a capture that outlives it */
};

struct kiln_function {
    kiln_module *module;
    kn_function *native;
    int n_params; /* -1: not known */
    size_t *param_size;
    char name[];
};

/* Gives one reference back; takes a kiln_module. */
void kn_module_release(void *module);

/* Settled options: struct_size is checked, nothing that matters is NULL. */
kiln_status kn_module_options_read(kiln_module_options *out, const kiln_module_options *given);

/* What the code is; KILN_ERROR_FORMAT where it is nothing or not what options say. */
kiln_status kn_module_kind(kiln_code_kind *out, const void *code, size_t size, kiln_code_kind stated,
                           const char *name);
/* KILN_ERROR_UNSUPPORTED where a cubin is of an architecture that target does not run. */
kiln_status kn_module_check_cubin(const void *code, size_t size, const kn_target *target, const char *name);
/* Compiles source, or finds its code: fills module->code and notes. */
kiln_status kn_module_compile(kiln_module *module, const char *source, const kiln_module_options *options,
                              kn_build_info *info);

#endif
