/* The user's cache as a bundle, and a bundle's kernels in the cache. */
#include <kiln/cache.h>

#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "store/bundle_label.h"
#include "store/store_cache.h"
#include "cache/bundle.h"
#include "codegen/codegen.h"
#include "schedules/spec_text.h"

/* ---- out ---- */

typedef struct export
{
    kn_bundle_writer *writer;
    kiln_status status;
}
export;

static bool has_value(const char *line, const char *key, const char *value)
{
    size_t length;
    const char *found = kn_spec_field(line, key, &length);
    return found && length == strlen(value) && memcmp(found, value, length) == 0;
}

/* Reads the target and producer of a row; false if another generator wrote its source, since the revisions of
 * its argument blocks are unknown. */
static bool read_origin(kn_bundle_label *out, const char *line, const char *producer)
{
    size_t length, target_length;
    const char *generator = kn_spec_field(line, "generator", &length),
               *target = kn_spec_field(line, "target", &target_length);
    char name[48];
    bool is_module = has_value(line, "kind", "module");
    *out = (kn_bundle_label){.format = KN_CODE_BINARY};
    if (!target || target_length >= sizeof name || (!generator && !is_module) ||
        (generator && !has_value(line, "generator", kn_codegen_generator())))
        return false;
    memcpy(name, target, target_length);
    name[target_length] = '\0';
    if (generator)
        memcpy(out->generator, generator,
               length < sizeof out->generator ? length : sizeof out->generator - 1);
    strncpy(out->compiler, producer, sizeof out->compiler - 1);
    kn_error_state before;
    kn_error_save(&before);
    bool is_known = kn_target_parse(&out->target, name) == KILN_OK;
    kn_error_restore(&before);
    kn_bundle_label_set_kind(out, line);
    return is_known;
}

static kiln_status fill_row(kn_bundle_row *out, const kn_cache_row *row, const kn_bundle_label *label,
                            const char *line)
{
    kn_str text = KN_STR_INIT, portable = KN_STR_INIT;
    kn_bundle_label_write(&text, label);
    kiln_status status = kn_spec_make_portable(&portable, line);
    if (status == KILN_OK)
        status = kn_str_status(&text, "a bundle's label");
    out->label = (kn_blob){text.data, text.length};
    out->what = (kn_blob){portable.data, portable.length};
    if (status == KILN_OK && !(kn_blob_copy(&out->aux, row->aux.data, row->aux.size) &&
                               kn_blob_copy(&out->code, row->code.data, row->code.size)))
        status = kn_error_memory("a bundle's row");
    return status;
}

static bool add_row(const kn_cache_row *row, void *user)
{
    export *e = user;
    kn_bundle_label label;
    kn_bundle_row added = KN_BUNDLE_ROW_INIT;
    kn_str line = KN_STR_INIT;
    kn_str_append_n(&line, row->what.data, row->what.size);
    e->status = kn_str_status(&line, "a bundle's row");
    if (e->status == KILN_OK && read_origin(&label, kn_str_text(&line), row->producer)) {
        label.format = kn_code_format_of(&row->code);
        e->status = fill_row(&added, row, &label, kn_str_text(&line));
        if (e->status == KILN_OK)
            e->status = kn_bundle_writer_add(e->writer, &added);
        kn_bundle_row_free(&added);
    }
    kn_str_free(&line);
    return e->status == KILN_OK;
}

kiln_status kiln_cache_export(void **bytes, size_t *size)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    uint64_t damaged;
    if (!bytes || !size)
        return kn_error(KILN_ERROR_INVALID, "kiln_cache_export: %s is NULL", bytes ? "size" : "bytes");
    kiln_status status = kn_user_cache_get(&cache);
    if (status != KILN_OK)
        return status;
    export e = {kn_bundle_writer_create(), KILN_OK};
    status = e.writer ? kn_cache_read_all(cache, add_row, &e, &damaged) : kn_error_memory("a bundle");
    if (status == KILN_OK)
        status = e.status;
    if (status == KILN_OK)
        status = kn_bundle_writer_hand_out(bytes, size, e.writer);
    kn_bundle_writer_free(e.writer);
    return status;
}

/* ---- in ---- */

static kiln_status put_row(kn_cache *cache, const kn_bundle_row *row, uint64_t *added)
{
    kn_bundle_label label;
    kn_str line = KN_STR_INIT;
    if (!kn_bundle_label_read(&label, row->label.data, row->label.size) || label.format != KN_CODE_BINARY ||
        (label.generator[0] && strcmp(label.generator, kn_codegen_generator()) != 0))
        return KILN_OK;
    kiln_status status =
        kn_spec_make_line(&line, row->what.data, &label.target, label.generator[0] ? label.generator : NULL);
    if (status == KILN_OK) {
        kn_cache_put(cache, line.data, line.length, label.compiler, &row->code, &row->aux);
        ++*added;
    }
    kn_str_free(&line);
    return status;
}

static kiln_status put_rows(kn_cache *cache, const kn_bundle *bundle, uint64_t *added)
{
    kiln_status status = KILN_OK;
    for (int r = 0; r < kn_bundle_rows(bundle) && status == KILN_OK; r++) {
        kn_bundle_row row;
        status = kn_bundle_read(&row, bundle, r);
        if (status == KILN_OK)
            status = put_row(cache, &row, added);
        kn_bundle_row_free(&row);
    }
    if (status == KILN_OK && !kn_cache_flush(cache))
        status = kn_error(KILN_ERROR_IO, "the cache %s could not be written", kn_cache_file(cache));
    return status;
}

kiln_status kiln_cache_import(const void *bytes, size_t size, uint64_t *added)
{
    KN_UNCANCELLED;
    kn_cache *cache = NULL;
    kn_bundle *bundle = NULL;
    uint64_t count = 0;
    if (!bytes)
        return kn_error(KILN_ERROR_INVALID, "kiln_cache_import: bytes is NULL");
    kiln_status status = kn_user_cache_get(&cache);
    if (status == KILN_OK)
        status = kn_bundle_open_memory(&bundle, bytes, size, "the bundle");
    if (status == KILN_OK)
        status = put_rows(cache, bundle, &count);
    kn_bundle_free(bundle);
    if (added)
        *added = count;
    return status;
}
