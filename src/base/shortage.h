/* base/shortage.h - failures that pass: memory, descriptors, threads or processes that could not be had.
 *
 * An answer is remembered only if no shortage was met on the way to it: kn_lock_once, and all else that keeps
 * an answer for good, compares kn_shortages() before and after. Allocations, descriptors, the loader, threads
 * and programs note shortages by themselves; a function that asks the system in another way notes its errno.
 */
#ifndef KN_BASE_SHORTAGE_H
#define KN_BASE_SHORTAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Counts a shortage in the calling thread if reason, an errno, is one; returns whether it is. errno stays. */
bool kn_shortage_note(int reason);
/* Counts a shortage of memory: bytes that could not be had. */
void kn_shortage_of_memory(size_t bytes);
/* The same for the errno of a call, if it has not succeeded; returns whether it has. */
bool kn_shortage_unless(bool has_succeeded);
/* The same for a message that ends with the system's words for such a reason, as the loader's do. */
bool kn_shortage_note_words(const char *message);
/* The number that the calling thread has met, and the errno of the last one. */
unsigned kn_shortages(void);
int kn_shortage_last(void);
/* The bytes that the last shortage was one of; 0 where it was none of memory, or nobody said how many. */
size_t kn_shortage_bytes(void);

#endif
