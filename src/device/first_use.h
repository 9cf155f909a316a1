/* device/first_use.h - word that a back end is about to be used. */
#ifndef KN_DEVICE_FIRST_USE_H
#define KN_DEVICE_FIRST_USE_H

#include "base/target.h"

/* Calls back when a back end is about to be used for the first time, the driver's start and the context still
 * ahead: what can be done meanwhile on another thread is begun there. One callback a process, set before any
 * use (by a constructor); it must not use devices. */
void kn_device_on_first_use(void (*callback)(kn_backend_kind));
/* It is about to be used now. */
void kn_device_tell_first_use(kn_backend_kind kind);

#endif
