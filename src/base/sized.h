/* base/sized.h - structs of callers that begin with struct_size: <kiln/base.h> has the rule. */
#ifndef KN_BASE_SIZED_H
#define KN_BASE_SIZED_H

#include <kiln/base.h>

/* KILN_ERROR_INVALID if a struct is NULL, or its size unknown to the library: at most `size`. what names it
 * in messages: "kiln_memory_get_stats: out". */
kiln_status kn_sized_check(const void *given, size_t size, const char *what, const char *initialiser);
/* *out, of `size` bytes, has the defaults; members of the caller's struct replace them. given NULL: none. */
kiln_status kn_sized_read(void *out, size_t size, const void *given, const char *what,
                          const char *initialiser);
/* The error of flags of options beyond the known ones, whose names are PREFIX_*. */
kiln_status kn_sized_check_flags(unsigned flags, unsigned known, const char *prefix);
/* Into a struct that was checked goes as much as the caller knows of. */
void kn_sized_answer(void *out, const void *all);

#endif
