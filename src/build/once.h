/* build/once.h - things that are made once a key, however many threads ask at the same time: one makes, the
 * others wait and get the same thing or the same error. */
#ifndef KN_BUILD_ONCE_H
#define KN_BUILD_ONCE_H

#include <kiln/base.h>

typedef struct kn_once_table kn_once_table;

kn_once_table *kn_once_table_create(void);
/* No thread may use the table any more. release (may be NULL) is called for each value. Takes NULL. */
void kn_once_table_free(kn_once_table *table, void (*release)(void *value));

/* The value of a key: found, waited for, or made by make(user, value) in this thread, outside all locks. A
 * failure is given to all who wait for it; the next to come tries again. *is_mine (set in any case): whether
 * this thread made it, or failed to. */
kiln_status kn_once_get(kn_once_table *table, const void *key, size_t key_size, void **value,
                        kiln_status (*make)(void *user, void **value), void *user, bool *is_mine);
/* Where the key still stands for value, it is to be made anew. The old value lives on: others may use it. */
void kn_once_forget(kn_once_table *table, const void *key, size_t key_size, const void *value);

#endif
