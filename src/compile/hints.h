/* compile/hints.h - hints for frequent mistakes, in words of kernels rather than of C++, the same for each
 * compiler. Internal to this folder. */
#ifndef KN_COMPILE_HINTS_H
#define KN_COMPILE_HINTS_H

#include "compile/compile_request.h"

typedef struct kn_hint {
    char message[256];
    size_t at, length; /* the place in the text that is meant */
} kn_hint;

/* The hint for the error at text[at], of which a compiler says `said`, all quotes of which are `'`. at is the
 * line's first character where the compiler named no column. False: there is no hint for it. */
bool kn_hint_find(kn_hint *out, const kn_compile_request *request, const char *text, size_t at,
                  const char *said);

#endif
