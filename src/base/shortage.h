/* base/shortage.h - failures that pass: memory, descriptors, threads or processes that could not be had.
 *
 * An answer is remembered only if no shortage was met on the way to it: kn_lock_once, and all else that keeps
 * an answer for good, compares kn_shortages() before and after. Allocations, descriptors, the loader, threads
 * and programs note shortages by themselves; a function that asks the system in another way notes its errno.
 */
#ifndef KN_BASE_SHORTAGE_H
#define KN_BASE_SHORTAGE_H

#include <kiln/base.h>

#include <stdbool.h>

/* Counts a shortage in the calling thread if reason, an errno, is one; returns whether it is. errno stays. */
bool kn_shortage_note(int reason);
/* How many the calling thread has met. */
unsigned kn_shortages(void);
/* Sets the error for `what` ("looking for a C++ compiler") that ended with the shortage noted last:
 * KILN_ERROR_MEMORY, or KILN_ERROR_IO with the system's reason. */
kiln_status kn_shortage_error(const char *what);

#endif
