/* module/module_function.h - functions of raw modules. */
#ifndef KN_MODULE_MODULE_FUNCTION_H
#define KN_MODULE_MODULE_FUNCTION_H

/* Takes a kiln_function. */
void kn_module_free_function(void *function);

#endif
