/* store/once.h - things that are made once a key, however many threads ask at the same time: one makes, the
 * others wait and get the same thing or the same error. A thread with a claim is not cancelled. */
#ifndef KN_STORE_ONCE_H
#define KN_STORE_ONCE_H

#include <kiln/base.h>

typedef struct kn_once_table kn_once_table;

kn_once_table *kn_once_table_create(void);
/* No thread may use the table any more. release (may be NULL) is called for each value. Takes NULL. */
void kn_once_table_free(kn_once_table *table, void (*release)(void *value));

/* A claim: the value of a key is this thread's to make. */
typedef struct kn_once kn_once;

/* The value of a key, found or waited for. Or, with *value NULL, a claim: no other thread makes it, and the
 * others wait until this one ends it, outside all locks. Or the failure of the thread that was waited for:
 * all who wait get it, the next to come tries again. */
/* Where another thread is at it and `waits` is false: KILN_ERROR_FORBIDDEN. */
kiln_status kn_once_begin(kn_once_table *table, const void *key, size_t key_size, bool waits, void **value,
                          kn_once **claim);
/* Ends a claim with its value, or with the status and the thread's last error. */
void kn_once_end(kn_once_table *table, kn_once *claim, void *value, kiln_status status);
/* Where the key still stands for value, it is to be made anew. The old value lives on: others may use it. */
void kn_once_forget(kn_once_table *table, const void *key, size_t key_size, const void *value);

#endif
