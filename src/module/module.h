/* module/module.h - how long a raw module lives. */
#ifndef KN_MODULE_MODULE_H
#define KN_MODULE_MODULE_H

#include "module/module_parts.h"

/* Gives one reference back; takes a kiln_module. */
void kn_module_release(void *module);

#endif
