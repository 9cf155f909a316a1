/* store/bundle_label.h - what a bundle says of a row: for what the code was made, and with what. As text:
 *
 *   cuda:sm_90 binary block=4 kind=flat revision=1   with the key, which row it is; a module's has no block
 *   generator 1-89ab...                 who wrote the source; not there for modules that need no generator
 *   compiler nvrtc 65be0d...            who compiled it
 */
#ifndef KN_STORE_BUNDLE_LABEL_H
#define KN_STORE_BUNDLE_LABEL_H

#include "base/blob.h"
#include "base/str.h"
#include "base/target.h"

typedef struct kn_bundle_label {
    kn_target target;
    kn_code_format format;
    /* KN_BLOCK_REVISION of the library that made it, the kind of its schedule, and that kind's revision
     * there; 0 and empty: a module's, whose arguments are the user's */
    int block, revision;
    char kind[32];
    char generator[96], compiler[256]; /* for people alone */
} kn_bundle_label;

/* The form of code, by its first bytes. */
kn_code_format kn_code_format_of(const kn_blob *code);

/* Takes block, kind and revision from a specialisation's text; target is set. */
void kn_bundle_label_set_kind(kn_bundle_label *out, const char *what);
/* True if launches of this library suit the code. */
bool kn_bundle_label_is_current(const kn_bundle_label *label);

void kn_bundle_label_write(kn_str *out, const kn_bundle_label *label);
/* False where it is none, or of a target that is not known here. */
bool kn_bundle_label_read(kn_bundle_label *out, const char *text, size_t size);

/* Ranks code with this label for a target (a kn_target *); 0: it cannot run there. A kn_bundle_rank. */
int kn_bundle_label_rank(const char *text, size_t size, void *target);

#endif
