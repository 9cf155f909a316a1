/* compile/hints.h - hints for frequent mistakes, in words of kernels rather than of C++, the same for each
 * compiler. Internal to this folder. */
#ifndef KN_COMPILE_HINTS_H
#define KN_COMPILE_HINTS_H

#include "compile/compile_request.h"

typedef struct kn_hint {
    char message[256];
    size_t at, length; /* the place in the text that is meant */
} kn_hint;

/* Finds the hint for the error at text[at], with the compiler's message `said`, in which all quotes are `'`.
 * at is the line's first character if the compiler gave no column. False: there is none. */
bool kn_hint_find(kn_hint *out, const kn_compile_request *request, const char *text, size_t at,
                  const char *said);

#endif
