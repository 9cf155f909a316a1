/* codegen/prelude.h - which preludes stand in front of a kernel.
 *
 * A prelude codegen/prelude/<target>_<name>.* (target: cuda, host, or both) says in its leading comment
 * lines when it is wanted: "// needs: word word" where the kernel's texts or types mention one of the words
 * (a prelude without such a line always is), and "// with: name name" which others it builds on: they come
 * first. A line that ends with "// needs: word word" is there only where the texts, or what else of the
 * preludes there is, mention one of the words. */
#ifndef KN_CODEGEN_PRELUDE_H
#define KN_CODEGEN_PRELUDE_H

#include "base/target.h"
#include "base/str.h"

/* What is known of an earlier try whose source a compiler refused: that, what the compiler said, and the
 * names of kiln's that headers mention which it read. */
typedef struct kn_failed_try {
    const char *source, *complaints, *header_words;
} kn_failed_try;

/* Appends the preludes that `texts` call for. failed NULL: this is the first try.
 *
 * Of what failed the headers' words call for preludes, too. And a name that it defined behind "#ifndef NAME"
 * is left out where the complaints have it: there is another definition of it, the user's or a header's. */
kiln_status kn_prelude_append(kn_str *out, kn_backend_kind backend, const char *const *texts, int count,
                              const kn_failed_try *failed);

/* Appends the words of preludes that texts may use, with blanks between. */
void kn_prelude_words(kn_str *out);

#endif
