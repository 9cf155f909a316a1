/* device/memory_profile.h - counts pooled blocks by the label of the thread that allocated them. */
#ifndef KN_DEVICE_MEMORY_PROFILE_H
#define KN_DEVICE_MEMORY_PROFILE_H

#include <stdatomic.h>

#include "device/backend.h"

extern _Atomic bool kn_memory_profile_is_on;

/* A block was handed out, or is about to come back. One that there is no memory to count is not counted. */
void kn_memory_profile_add(const void *pointer, size_t size);
void kn_memory_profile_remove(const void *pointer);
/* The library is about to be unloaded. */
void kn_memory_profile_forget(void);

#endif
