/* cache/bundle.h - many rows in one read-only file, or in memory: made once, never changed, the same bytes
 * from the same rows. Has never heard of kernels.
 *
 * A row has a key (`what`, any bytes) and a label. The label's first line says, with the key, which row it
 * is; what follows is told with it. Several rows of a key differ in that line, and who asks ranks them.
 *
 * The file, all numbers little-endian:
 *
 *   head     64 bytes: "KILNBNDL", version (4 bytes), rows (4), size of the whole (8), size of the labels
 *            (8), XXH3-128 of index and labels (16), XXH3-128 of the 48 bytes before (16)
 *   index    56 bytes a row: XXH3-128 of what (16), XXH3-128 over label, what, aux and code (16), the sizes
 *            of label (4), what (4), aux (8) and code (8); sorted by the first hash, then by what, then by
 *            label
 *   labels   one after the other, in that order
 *   rows     in that order: what, aux, code
 *
 * Nothing lies between, so that there is one file for a set of rows. The index is read and checked when a
 * bundle is opened; a row when it is asked for, by reading rather than by mapping: a file that somebody cuts
 * off meanwhile is a miss, and no signal. */
#ifndef KN_CACHE_BUNDLE_H
#define KN_CACHE_BUNDLE_H

#include "base/blob.h"
#include "base/str.h"

typedef struct kn_bundle kn_bundle;

/* Opens a file that only this user and root can have written to. KILN_ERROR_NOT_FOUND, KILN_ERROR_IO,
 * KILN_ERROR_FORMAT (another version, cut off, damaged, no bundle at all) with the path and the reason. */
kiln_status kn_bundle_open(kn_bundle **out, const char *path);
/* The bytes of such a file, unchecked. */
kiln_status kn_bundle_read_file(kn_blob *out, const char *path);
/* The bytes are the caller's, and stay as they are as long as the bundle. name is for messages. */
kiln_status kn_bundle_open_memory(kn_bundle **out, const void *bytes, size_t size, const char *name);
/* The same with a copy of the bytes. */
kiln_status kn_bundle_open_copy(kn_bundle **out, const void *bytes, size_t size, const char *name);
void kn_bundle_free(kn_bundle *bundle);

const char *kn_bundle_name(const kn_bundle *bundle);
int kn_bundle_rows(const kn_bundle *bundle);

/* The rank of a row by its label: 0: unusable; otherwise higher is better. */
typedef int kn_bundle_rank(const char *label, size_t size, void *user);

/* Finds the row of `what` with the highest rank below `below` (0: any). Returns its number, and its rank in
 * *best; -1: none. The whole key is compared; nothing else of the row is checked. */
int kn_bundle_find(const kn_bundle *bundle, const void *what, size_t size, kn_bundle_rank *rank, void *user,
                   int below, int *best);

typedef struct kn_bundle_row {
    kn_blob label, what, aux, code;
} kn_bundle_row;
#define KN_BUNDLE_ROW_INIT                                                                                   \
    {                                                                                                        \
        KN_BLOB_INIT, KN_BLOB_INIT, KN_BLOB_INIT, KN_BLOB_INIT                                               \
    }

/* A row, looked at: KILN_ERROR_FORMAT where its bytes are not those that were written. */
kiln_status kn_bundle_read(kn_bundle_row *out, const kn_bundle *bundle, int row);
void kn_bundle_row_free(kn_bundle_row *row);

/* ---- writing ---- */

typedef struct kn_bundle_writer kn_bundle_writer;

/* NULL without memory. */
kn_bundle_writer *kn_bundle_writer_create(void);
void kn_bundle_writer_free(kn_bundle_writer *writer);
/* A row more; its bytes are moved into the writer, and *row is empty. One that is there already (the same
 * key, the same first line of the label) stays, and the new one is dropped. */
kiln_status kn_bundle_writer_add(kn_bundle_writer *writer, kn_bundle_row *row);
/* All rows of a bundle. */
kiln_status kn_bundle_writer_add_all(kn_bundle_writer *writer, const kn_bundle *bundle);
int kn_bundle_writer_rows(const kn_bundle_writer *writer);
/* The file. */
kiln_status kn_bundle_writer_finish(kn_blob *out, kn_bundle_writer *writer);
/* The same for callers of the library: from malloc, whatever the library allocates with. */
kiln_status kn_bundle_writer_hand_out(void **bytes, size_t *size, kn_bundle_writer *writer);

#endif
