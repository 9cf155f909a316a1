/* codegen/prelude.h - the preludes in front of a kernel.
 *
 * The leading comment lines of a prelude codegen/prelude/<target>_<name>.* (target: cuda, host, or both) say
 * when it is wanted. "// needs: word word": if the kernel's texts or types use one of the words; without such
 * a line, always. A word that ends with "(" counts where it is called, since it may also be the name of a
 * parameter. "// with: name name": other preludes that it needs, which come first. A line that ends with
 * "// needs: word word" is included only if the texts, or other lines of the preludes, use one of these. */
#ifndef KN_CODEGEN_PRELUDE_H
#define KN_CODEGEN_PRELUDE_H

#include "base/target.h"
#include "base/str.h"

/* An earlier try whose source a compiler refused: the source, the compiler's messages, and kiln's names that
 * are used in the headers which it read. */
typedef struct kn_failed_try {
    const char *source, *complaints, *header_words;
} kn_failed_try;

/* Appends the preludes that `texts` need. failed NULL: this is the first try.
 *
 * After a failed try, the words in headers count too. A name that the preludes define behind "#ifndef NAME"
 * is left out if the messages name it: then there is another definition, the user's or a header's. */
kiln_status kn_prelude_append(kn_str *out, kn_backend_kind backend, const char *const *texts, int count,
                              const kn_failed_try *failed);

/* Appends the names of preludes that texts may use, with blanks between. */
void kn_prelude_words(kn_str *out);

#endif
