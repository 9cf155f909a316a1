/* cache/bundle.c - opens bundles, finds and reads their rows. */
#include "cache/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/shortage.h"
#include "cache/bundle_format.h"

typedef struct entry {
    kn_hash hash, checksum;
    const char *label;
    size_t label_size, what_size, aux_size, code_size;
    uint64_t at; /* where the row begins */
} entry;

struct kn_bundle {
    char *name;
    int fd;                     /* -1: in memory */
    const unsigned char *bytes; /* in memory */
    kn_blob copy;               /* of the caller's, which they lie in; else empty */
    uint64_t size;
    int rows;
    unsigned char *index; /* as it lies in the file, with the labels */
    entry *entry;
};

const char *kn_bundle_name(const kn_bundle *bundle)
{
    return bundle->name;
}

int kn_bundle_rows(const kn_bundle *bundle)
{
    return bundle->rows;
}

void kn_bundle_free(kn_bundle *bundle)
{
    if (!bundle)
        return;
    if (bundle->fd >= 0)
        close(bundle->fd);
    kn_free(bundle->name);
    kn_blob_free(&bundle->copy);
    kn_free(bundle->index);
    kn_free(bundle->entry);
    kn_free(bundle);
}

/* False if the file has been truncated meanwhile, or its disk fails. */
static bool read_at(const kn_bundle *b, void *out, uint64_t at, size_t size)
{
    if (at > b->size || size > b->size - at)
        return false;
    if (b->fd < 0) {
        memcpy(out, b->bytes + at, size);
        return true;
    }
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(b->fd, (char *)out + done, size - done, (off_t)(at + done));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* ---- opening ---- */

/* The error for a file that is no bundle, by its first bytes. */
static kiln_status not_a_bundle(const kn_bundle *b, const unsigned char *head, size_t size)
{
    static const char sqlite[] = "SQLite format 3";
    if (size >= sizeof sqlite && memcmp(head, sqlite, sizeof sqlite) == 0)
        return kn_error(
            KILN_ERROR_FORMAT,
            "%s is no bundle, but a database, such as the file of a cache: `kiln cache export` and "
            "`kiln bake` make bundles",
            b->name);
    return kn_error(KILN_ERROR_FORMAT, "%s is no bundle: its %llu bytes do not begin with " KN_BUNDLE_MAGIC,
                    b->name, (unsigned long long)b->size);
}

static kiln_status check_head(const kn_bundle *b, const unsigned char *head, size_t size)
{
    const size_t magic = sizeof KN_BUNDLE_MAGIC - 1;
    if (size < magic || memcmp(head, KN_BUNDLE_MAGIC, magic) != 0)
        return not_a_bundle(b, head, size);
    if (size < KN_BUNDLE_HEAD)
        return kn_error(KILN_ERROR_FORMAT, "%s was cut off: it has %llu bytes, less than a bundle's head",
                        b->name, (unsigned long long)b->size);
    unsigned version = (unsigned)kn_bundle_number(head + KN_AT_VERSION, 4);
    if (version != KN_BUNDLE_VERSION)
        return kn_error(KILN_ERROR_FORMAT,
                        "%s is a bundle of format %u, and this library reads format %d: bake it anew",
                        b->name, version, KN_BUNDLE_VERSION);
    kn_hash sum = kn_hash_128(head, KN_BUNDLE_HEAD_HASHED);
    if (memcmp(sum.bytes, head + KN_BUNDLE_HEAD_HASHED, sizeof sum.bytes) != 0)
        return kn_error(KILN_ERROR_FORMAT, "%s is damaged: the checksum of its head is wrong", b->name);
    uint64_t said = kn_bundle_number(head + KN_AT_SIZE, 8);
    if (said != b->size)
        return kn_error(KILN_ERROR_FORMAT, "%s has %llu bytes and should have %llu: it was not copied whole",
                        b->name, (unsigned long long)b->size, (unsigned long long)said);
    return KILN_OK;
}

static kiln_status inconsistent(const kn_bundle *b)
{
    return kn_error(KILN_ERROR_FORMAT, "%s is damaged: its index does not fit its size", b->name);
}

/* Places the rows without gaps, by the sizes in the index. */
static kiln_status place_rows(kn_bundle *b, uint64_t labels)
{
    const uint64_t index = (uint64_t)b->rows * KN_BUNDLE_ENTRY;
    uint64_t label = 0, at = KN_BUNDLE_HEAD + index + labels;
    for (int r = 0; r < b->rows; r++) {
        const unsigned char *from = b->index + (size_t)r * KN_BUNDLE_ENTRY;
        entry *e = &b->entry[r];
        uint64_t sizes[] = {kn_bundle_number(from + KN_AT_WHAT_SIZE, 4),
                            kn_bundle_number(from + KN_AT_AUX_SIZE, 8),
                            kn_bundle_number(from + KN_AT_CODE_SIZE, 8)};
        memcpy(e->hash.bytes, from, sizeof e->hash.bytes);
        memcpy(e->checksum.bytes, from + KN_AT_CHECKSUM, sizeof e->checksum.bytes);
        e->label_size = (size_t)kn_bundle_number(from + KN_AT_LABEL_SIZE, 4);
        e->label = (const char *)b->index + index + label;
        e->at = at;
        if (e->label_size > labels - label)
            return inconsistent(b);
        label += e->label_size;
        for (int i = 0; i < 3; i++) {
            if (sizes[i] > b->size - at)
                return inconsistent(b);
            at += sizes[i];
        }
        e->what_size = (size_t)sizes[0];
        e->aux_size = (size_t)sizes[1];
        e->code_size = (size_t)sizes[2];
    }
    return at == b->size && label == labels ? KILN_OK : inconsistent(b);
}

static kiln_status read_index(kn_bundle *b, const unsigned char *head)
{
    uint64_t rows = kn_bundle_number(head + KN_AT_ROWS, 4), labels = kn_bundle_number(head + KN_AT_LABELS, 8),
             index = rows * KN_BUNDLE_ENTRY;
    if (rows > KN_BUNDLE_MOST_ROWS || index > b->size - KN_BUNDLE_HEAD ||
        labels > b->size - KN_BUNDLE_HEAD - index)
        return inconsistent(b);
    size_t size = (size_t)(index + labels);
    b->rows = (int)rows;
    b->index = kn_malloc(size + 1);
    b->entry = kn_calloc(rows + 1, sizeof *b->entry);
    if (!b->index || !b->entry)
        return kn_error_memory(b->name);
    if (!read_at(b, b->index, KN_BUNDLE_HEAD, size))
        return kn_error(KILN_ERROR_IO, "%s: its index cannot be read", b->name);
    kn_hash sum = kn_hash_128(b->index, size);
    if (memcmp(sum.bytes, head + KN_AT_INDEX_HASH, sizeof sum.bytes) != 0)
        return kn_error(KILN_ERROR_FORMAT, "%s is damaged: the checksum of its index is wrong", b->name);
    return place_rows(b, labels);
}

static kiln_status read_bundle(kn_bundle *b)
{
    unsigned char head[KN_BUNDLE_HEAD];
    size_t size = b->size < sizeof head ? (size_t)b->size : sizeof head;
    if (!read_at(b, head, 0, size))
        return kn_error(KILN_ERROR_IO, "%s cannot be read", b->name);
    kiln_status status = check_head(b, head, size);
    return status == KILN_OK ? read_index(b, head) : status;
}

static kiln_status finish_opening(kn_bundle **out, kn_bundle *b)
{
    kiln_status status = read_bundle(b);
    if (status == KILN_OK)
        *out = b;
    else
        kn_bundle_free(b);
    return status;
}

static kn_bundle *new_bundle(const char *name)
{
    kn_bundle *b = kn_calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->fd = -1;
    b->name = kn_strdup(name);
    if (b->name)
        return b;
    kn_bundle_free(b);
    return NULL;
}

/* The file without links, in a folder where others can put no other in its place. */
static kiln_status find_file(char *real, const char *path)
{
    char folder[PATH_MAX], checked[PATH_MAX], reason[256];
    if (!kn_shortage_unless(realpath(path, real)))
        return kn_error(errno == ENOENT ? KILN_ERROR_NOT_FOUND : KILN_ERROR_IO, "%s: %s", path,
                        strerror(errno));
    strcpy(folder, real);
    *strrchr(folder, '/') = '\0';
    if (!kn_os_folder_is_private(checked, *folder ? folder : "/", reason, sizeof reason) ||
        !kn_os_file_is_private(real, KN_OS_MAY_BE_LINKED, reason, sizeof reason))
        return kn_error(KILN_ERROR_IO, "the bundle %s is not used: %s", path, reason);
    return KILN_OK;
}

static kiln_status open_file(kn_bundle *b, const char *path)
{
    char real[PATH_MAX];
    struct stat info;
    kiln_status status = find_file(real, path);
    if (status != KILN_OK)
        return status;
    b->fd = kn_os_open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    if (b->fd < 0 || fstat(b->fd, &info) != 0)
        return kn_error(KILN_ERROR_IO, "%s: %s", path, strerror(errno));
    b->size = (uint64_t)info.st_size;
    return KILN_OK;
}

kiln_status kn_bundle_open(kn_bundle **out, const char *path)
{
    kn_bundle *b = new_bundle(path);
    if (!b)
        return kn_error_memory(path);
    kiln_status status = open_file(b, path);
    if (status == KILN_OK)
        return finish_opening(out, b);
    kn_bundle_free(b);
    return status;
}

/* Reads as many bytes as the file has when it is opened: it may grow or shrink meanwhile. */
kiln_status kn_bundle_read_file(kn_blob *out, const char *path)
{
    kn_bundle *b = new_bundle(path);
    if (!b)
        return kn_error_memory(path);
    kiln_status status = open_file(b, path);
    out->data = status == KILN_OK ? kn_malloc(b->size + 1) : NULL;
    out->size = (size_t)b->size;
    if (status == KILN_OK && !out->data)
        status = kn_error_memory(path);
    if (status == KILN_OK && !read_at(b, out->data, 0, out->size))
        status = kn_error(KILN_ERROR_IO, "%s: it cannot be read", path);
    if (status != KILN_OK)
        kn_blob_free(out);
    kn_bundle_free(b);
    return status;
}

kiln_status kn_bundle_open_memory(kn_bundle **out, const void *bytes, size_t size, const char *name)
{
    kn_bundle *b = new_bundle(name);
    if (!b)
        return kn_error_memory(name);
    b->bytes = bytes;
    b->size = size;
    return finish_opening(out, b);
}

kiln_status kn_bundle_open_copy(kn_bundle **out, const void *bytes, size_t size, const char *name)
{
    kn_bundle *b = new_bundle(name);
    if (!b || !kn_blob_copy(&b->copy, bytes, size)) {
        kn_bundle_free(b);
        return kn_error_memory(name);
    }
    b->bytes = b->copy.data;
    b->size = size;
    return finish_opening(out, b);
}

/* ---- rows ---- */

/* The first row whose hash is not below. */
static int first_at(const kn_bundle *b, const kn_hash *hash)
{
    int low = 0, high = b->rows;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (memcmp(b->entry[middle].hash.bytes, hash->bytes, sizeof hash->bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* In pieces: without memory of its own nothing fails here. */
static bool has_key(const kn_bundle *b, const entry *e, const void *what, size_t size)
{
    char piece[512];
    if (e->what_size != size)
        return false;
    for (size_t at = 0; at < size; at += sizeof piece) {
        size_t n = size - at < sizeof piece ? size - at : sizeof piece;
        if (!read_at(b, piece, e->at + at, n) || memcmp(piece, (const char *)what + at, n) != 0)
            return false;
    }
    return true;
}

int kn_bundle_find(const kn_bundle *bundle, const void *what, size_t size, kn_bundle_rank *rank, void *user,
                   int below, int *best)
{
    const kn_hash hash = kn_hash_index(what, size);
    int found = -1;
    *best = 0;
    for (int r = first_at(bundle, &hash); r < bundle->rows; r++) {
        const entry *e = &bundle->entry[r];
        if (memcmp(e->hash.bytes, hash.bytes, sizeof hash.bytes) != 0)
            break;
        int ranked = rank(e->label, e->label_size, user);
        if (ranked <= *best || (below > 0 && ranked >= below) || !has_key(bundle, e, what, size))
            continue;
        *best = ranked;
        found = r;
    }
    return found;
}

static kiln_status read_part(kn_blob *out, const kn_bundle *b, uint64_t *at, size_t size)
{
    out->data = kn_malloc(size + 1);
    if (!out->data)
        return kn_error_memory(b->name);
    out->size = size;
    ((char *)out->data)[size] = '\0';
    if (!read_at(b, out->data, *at, size))
        return kn_error(KILN_ERROR_IO, "%s: a row cannot be read", b->name);
    *at += size;
    return KILN_OK;
}

static kiln_status check_row(const kn_bundle_row *row, const kn_bundle *b, const entry *e)
{
    kn_hash sum = kn_bundle_checksum(e->label, e->label_size, row->what.data, row->what.size, row->aux.data,
                                     row->aux.size, row->code.data, row->code.size);
    if (memcmp(sum.bytes, e->checksum.bytes, sizeof sum.bytes) == 0)
        return KILN_OK;
    return kn_error(KILN_ERROR_FORMAT, "%s: the checksum of a row is wrong", b->name);
}

kiln_status kn_bundle_read(kn_bundle_row *out, const kn_bundle *bundle, int row)
{
    const entry *e = &bundle->entry[row];
    uint64_t at = e->at;
    kiln_status status = KILN_OK;
    *out = (kn_bundle_row)KN_BUNDLE_ROW_INIT;
    if (!kn_blob_copy(&out->label, e->label, e->label_size))
        return kn_error_memory(bundle->name);
    status = read_part(&out->what, bundle, &at, e->what_size);
    if (status == KILN_OK)
        status = read_part(&out->aux, bundle, &at, e->aux_size);
    if (status == KILN_OK)
        status = read_part(&out->code, bundle, &at, e->code_size);
    if (status == KILN_OK)
        status = check_row(out, bundle, e);
    if (status != KILN_OK)
        kn_bundle_row_free(out);
    return status;
}

void kn_bundle_row_free(kn_bundle_row *row)
{
    kn_blob_free(&row->label);
    kn_blob_free(&row->what);
    kn_blob_free(&row->aux);
    kn_blob_free(&row->code);
}
