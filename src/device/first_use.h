/* device/first_use.h - word that a back end is about to be used. */
#ifndef KN_DEVICE_FIRST_USE_H
#define KN_DEVICE_FIRST_USE_H

#include "base/target.h"

/* Sets a function that is called before a back end is used for the first time, before the driver starts and
 * makes a context: it can begin other work on another thread meanwhile. One callback per process, set before
 * any use (by a constructor); it must not use devices. */
void kn_device_on_first_use(void (*callback)(kn_backend_kind));
/* It is about to be used now. */
void kn_device_tell_first_use(kn_backend_kind kind);

#endif
