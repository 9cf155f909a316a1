/* base/alloc.h - every allocation of the library goes through here, so that a test can make the nth one fail.
 */
#ifndef KN_BASE_ALLOC_H
#define KN_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Return NULL, without setting the last error, when there is no memory. */
void *kn_malloc(size_t size);
void *kn_calloc(size_t count, size_t size);
void *kn_realloc(void *pointer, size_t size);
/* Makes space for one more item in a list of `count`: list is the address of its pointer.
 * False: no memory, and the list is as before. */
bool kn_grow(void *list, int *capacity, int count, size_t item_size);
char *kn_strdup(const char *text);
char *kn_strndup(const char *text, size_t length);
void kn_free(void *pointer);

/* Asked before memory that does not come from malloc is taken: false where a test makes it fail. */
bool kn_alloc_may(size_t size);

/* For tests: the nth allocation from now (1 = the next) fails, and all after it where `forever`. 0 switches
 * it off. Returns how many allocations were made since the last call of this function. */
unsigned long kn_alloc_fail_at(unsigned long nth, int forever);
/* For tests: the bytes that were asked for since then, those that went back among them. */
unsigned long long kn_alloc_bytes(void);
/* For tests: the allocations that are not freed, without those from before it was first called. */
long kn_alloc_held(void);

#endif
