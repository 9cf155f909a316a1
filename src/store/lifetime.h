/* store/lifetime.h - begins and ends the state of the store layer. */
#ifndef KN_STORE_LIFETIME_H
#define KN_STORE_LIFETIME_H

#include "base/target.h"

/* Opens the stores and looks for the back end's compiler on another thread, so that it overlaps the creation
 * of a context. Begun by itself when a device is first used. */
void kn_build_warm_up(kn_backend_kind backend);

/* Unloads and forgets everything; the environment is read anew afterwards. For tests: no function that was
 * handed out may be used any more. */
void kn_build_shutdown(void);

#endif
