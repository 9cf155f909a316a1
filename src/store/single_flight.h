/* store/single_flight.h - single flight: the value of a key is made only one time, even if many threads ask
 * at once. One makes it, the others wait and get the same value or the same error. A thread with a flight is
 * not cancelled. */
#ifndef KN_STORE_SINGLE_FLIGHT_H
#define KN_STORE_SINGLE_FLIGHT_H

#include <kiln/base.h>

typedef struct kn_flight_table kn_flight_table;

kn_flight_table *kn_flight_table_create(void);
/* No thread may use the table any more. release (may be NULL) is called for each value. Takes NULL. */
void kn_flight_table_free(kn_flight_table *table, void (*release)(void *value));

/* The making of one key's value, by the thread that has the flight. */
typedef struct kn_flight kn_flight;

/* The value of a key, found or waited for. Or, with *value NULL, a flight: this thread makes the value, and
 * the others wait until it ends the flight, outside all locks. Or the failure of the thread that was waited
 * for: all its waiters get it, and the next caller tries again. KILN_ERROR_FORBIDDEN if another thread has
 * the flight and `waits` is false. */
kiln_status kn_flight_begin(kn_flight_table *table, const void *key, size_t key_size, bool waits,
                            void **value, kn_flight **flight);
/* Ends a flight with its value, or with the status and the thread's last error. */
void kn_flight_end(kn_flight_table *table, kn_flight *flight, void *value, kiln_status status);
/* If the key has this value, the next search makes it anew. The old value stays valid: others may use it. */
void kn_flight_forget(kn_flight_table *table, const void *key, size_t key_size, const void *value);

#endif
