/* module/module_parts.h - the inside of kiln_module: code, loaded modules, and functions. */
#ifndef KN_MODULE_MODULE_PARTS_H
#define KN_MODULE_MODULE_PARTS_H

#include <stdatomic.h>

#include <kiln/module.h>
#include "base/map.h"
#include "store/build.h"

struct kiln_module {
    atomic_int references; /* the user's, and those of arrays over globals and of graphs */
    char *name;
    kn_target target;
    kn_device *device; /* NULL: only compiled */
    kn_module *loaded;
    kn_blob code;
    kn_str dependencies; /* of the compile: lowered names */
    char **expression;   /* name expressions, in the order of the dependency file */
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

#endif
