/* cache/bundle_write.c - writes bundles: rows collected, sorted and laid out as one file. */
#include "cache/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "cache/bundle_format.h"

typedef struct written {
    kn_bundle_row row;
    kn_hash hash;
} written;

struct kn_bundle_writer {
    written *rows;
    int count, capacity;
    kn_map *keys; /* a row's first line and its key: is there already */
};

kn_bundle_writer *kn_bundle_writer_create(void)
{
    kn_bundle_writer *w = kn_calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->keys = kn_map_create();
    if (w->keys)
        return w;
    kn_free(w);
    return NULL;
}

void kn_bundle_writer_free(kn_bundle_writer *w)
{
    if (!w)
        return;
    for (int r = 0; r < w->count; r++)
        kn_bundle_row_free(&w->rows[r].row);
    kn_free(w->rows);
    kn_map_free(w->keys, NULL);
    kn_free(w);
}

int kn_bundle_writer_rows(const kn_bundle_writer *w)
{
    return w->count;
}

/* The first line of the label, then the key. */
static bool make_key(kn_blob *out, const kn_bundle_row *row)
{
    const char *end = row->label.size ? memchr(row->label.data, '\n', row->label.size) : NULL;
    size_t line = end ? (size_t)(end - (const char *)row->label.data) : row->label.size;
    char *key = kn_malloc(line + 1 + row->what.size);
    if (!key)
        return false;
    memcpy(key, row->label.data, line);
    key[line] = '\n';
    memcpy(key + line + 1, row->what.data, row->what.size);
    *out = (kn_blob){key, line + 1 + row->what.size};
    return true;
}

static bool add(kn_bundle_writer *w, kn_bundle_row *row, const kn_blob *key)
{
    static char present;
    if (kn_map_get(w->keys, key->data, key->size)) {
        kn_bundle_row_free(row);
        return true;
    }
    if (!kn_grow(&w->rows, &w->capacity, w->count, sizeof *w->rows) ||
        !kn_map_put(w->keys, key->data, key->size, &present))
        return false;
    w->rows[w->count++] = (written){*row, kn_hash_index(row->what.data, row->what.size)};
    *row = (kn_bundle_row)KN_BUNDLE_ROW_INIT;
    return true;
}

kiln_status kn_bundle_writer_add(kn_bundle_writer *w, kn_bundle_row *row)
{
    kn_blob key = KN_BLOB_INIT;
    if (row->label.size > UINT32_MAX || row->what.size > UINT32_MAX || w->count >= KN_BUNDLE_MOST_ROWS)
        return kn_error(KILN_ERROR_INVALID, "a bundle holds %d rows with keys of 4 GiB at most",
                        KN_BUNDLE_MOST_ROWS);
    bool is_added = make_key(&key, row) && add(w, row, &key);
    kn_blob_free(&key);
    return is_added ? KILN_OK : kn_error_memory("a bundle's rows");
}

kiln_status kn_bundle_writer_add_all(kn_bundle_writer *w, const kn_bundle *bundle)
{
    kiln_status status = KILN_OK;
    for (int r = 0; r < kn_bundle_rows(bundle) && status == KILN_OK; r++) {
        kn_bundle_row row;
        status = kn_bundle_read(&row, bundle, r);
        if (status == KILN_OK)
            status = kn_bundle_writer_add(w, &row);
        if (status != KILN_OK)
            kn_bundle_row_free(&row);
    }
    return status;
}

/* ---- the file ---- */

static int compare_bytes(const kn_blob *a, const kn_blob *b)
{
    size_t shorter = a->size < b->size ? a->size : b->size;
    int order = shorter ? memcmp(a->data, b->data, shorter) : 0;
    return order ? order : (a->size > b->size) - (a->size < b->size);
}

static int compare_rows(const void *a, const void *b)
{
    const written *x = a, *y = b;
    int order = memcmp(x->hash.bytes, y->hash.bytes, sizeof x->hash.bytes);
    if (order == 0)
        order = compare_bytes(&x->row.what, &y->row.what);
    return order ? order : compare_bytes(&x->row.label, &y->row.label);
}

static void put_entry(unsigned char *at, const written *w)
{
    const kn_bundle_row *r = &w->row;
    kn_hash sum = kn_bundle_checksum(r->label.data, r->label.size, r->what.data, r->what.size, r->aux.data,
                                     r->aux.size, r->code.data, r->code.size);
    memcpy(at, w->hash.bytes, sizeof w->hash.bytes);
    memcpy(at + KN_AT_CHECKSUM, sum.bytes, sizeof sum.bytes);
    kn_bundle_put_number(at + KN_AT_LABEL_SIZE, r->label.size, 4);
    kn_bundle_put_number(at + KN_AT_WHAT_SIZE, r->what.size, 4);
    kn_bundle_put_number(at + KN_AT_AUX_SIZE, r->aux.size, 8);
    kn_bundle_put_number(at + KN_AT_CODE_SIZE, r->code.size, 8);
}

static unsigned char *put_bytes(unsigned char *at, const kn_blob *bytes)
{
    if (bytes->size)
        memcpy(at, bytes->data, bytes->size);
    return at + bytes->size;
}

static void put_head(unsigned char *head, const kn_bundle_writer *w, size_t size, size_t labels)
{
    size_t index = (size_t)w->count * KN_BUNDLE_ENTRY + labels;
    memcpy(head, KN_BUNDLE_MAGIC, sizeof KN_BUNDLE_MAGIC - 1);
    kn_bundle_put_number(head + KN_AT_VERSION, KN_BUNDLE_VERSION, 4);
    kn_bundle_put_number(head + KN_AT_ROWS, (uint64_t)w->count, 4);
    kn_bundle_put_number(head + KN_AT_SIZE, size, 8);
    kn_bundle_put_number(head + KN_AT_LABELS, labels, 8);
    kn_hash sum = kn_hash_128(head + KN_BUNDLE_HEAD, index);
    memcpy(head + KN_AT_INDEX_HASH, sum.bytes, sizeof sum.bytes);
    sum = kn_hash_128(head, KN_BUNDLE_HEAD_HASHED);
    memcpy(head + KN_BUNDLE_HEAD_HASHED, sum.bytes, sizeof sum.bytes);
}

static void put_all(unsigned char *bytes, const kn_bundle_writer *w, size_t size, size_t labels)
{
    unsigned char *at = bytes + KN_BUNDLE_HEAD;
    for (int r = 0; r < w->count; r++, at += KN_BUNDLE_ENTRY)
        put_entry(at, &w->rows[r]);
    for (int r = 0; r < w->count; r++)
        at = put_bytes(at, &w->rows[r].row.label);
    for (int r = 0; r < w->count; r++) {
        at = put_bytes(at, &w->rows[r].row.what);
        at = put_bytes(at, &w->rows[r].row.aux);
        at = put_bytes(at, &w->rows[r].row.code);
    }
    put_head(bytes, w, size, labels);
}

kiln_status kn_bundle_writer_finish(kn_blob *out, kn_bundle_writer *w)
{
    size_t labels = 0, size = KN_BUNDLE_HEAD + (size_t)w->count * KN_BUNDLE_ENTRY;
    if (w->count > 0)
        qsort(w->rows, (size_t)w->count, sizeof *w->rows, compare_rows);
    for (int r = 0; r < w->count; r++) {
        const kn_bundle_row *row = &w->rows[r].row;
        labels += row->label.size;
        size += row->label.size + row->what.size + row->aux.size + row->code.size;
    }
    unsigned char *bytes = kn_malloc(size);
    if (!bytes)
        return kn_error_memory("a bundle");
    put_all(bytes, w, size, labels);
    *out = (kn_blob){bytes, size};
    return KILN_OK;
}

kiln_status kn_bundle_writer_hand_out(void **bytes, size_t *size, kn_bundle_writer *w)
{
    kn_blob file = KN_BLOB_INIT;
    kiln_status status = kn_bundle_writer_finish(&file, w);
    void *copy = status == KILN_OK ? kn_malloc(file.size) : NULL;
    if (status == KILN_OK && !copy)
        status = kn_error_memory("a bundle");
    if (status == KILN_OK) {
        memcpy(copy, file.data, file.size);
        *bytes = copy;
        *size = file.size;
    }
    kn_blob_free(&file);
    return status;
}
