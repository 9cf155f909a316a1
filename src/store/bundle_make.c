/* Records and bundles as callers see them: text and bytes in, bytes out. */
#include <kiln/bundle.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/sized.h"
#include "store/bake.h"
#include "store/bundle_label.h"
#include "store/record.h"
#include "schedules/spec_text.h"

static kiln_status hand_out_row(void **bytes, size_t *size, kn_bundle_row *row)
{
    kn_bundle_writer *writer = kn_bundle_writer_create();
    kiln_status status = writer ? kn_bundle_writer_add(writer, row) : kn_error_memory("a bundle");
    if (status == KILN_OK)
        status = kn_bundle_writer_hand_out(bytes, size, writer);
    kn_bundle_writer_free(writer);
    kn_bundle_row_free(row);
    return status;
}

static char *copy_field(const char *line, const char *key)
{
    size_t length = 0;
    const char *value = kn_spec_field(line, key, &length);
    return kn_strndup(value ? value : "", length);
}

/* ---- records ---- */

static kiln_status show_record(const kiln_record_line *shown, const kn_record *record,
                               bool (*visit)(const kiln_record_line *line, void *user), void *user,
                               bool *goes_on)
{
    kiln_record_line line = *shown;
    char *name = copy_field(record->portable, "name"), *types = copy_field(record->portable, "operands");
    if (name && types) {
        line.name = name;
        line.types = types;
        line.targets = record->targets;
        line.key = record->portable;
        *goes_on = visit(&line, user);
    }
    kiln_status status = name && types ? KILN_OK : kn_error_memory("a record");
    kn_free(name);
    kn_free(types);
    return status;
}

static bool looks_like_record(const char *line)
{
    return strncmp(line, "record/", 7) == 0;
}

static kiln_status read_line(char *text, uint64_t *damaged,
                             bool (*visit)(const kiln_record_line *line, void *user), void *user,
                             bool *goes_on)
{
    kiln_record_line line = {.text = text};
    kn_record record;
    kn_error_state before;
    if (!looks_like_record(text)) {
        *goes_on = visit(&line, user);
        return KILN_OK;
    }
    char *copy = kn_strdup(text);
    if (!copy)
        return kn_error_memory("a record");
    kn_error_save(&before);
    bool is_whole = kn_record_parse(&record, copy) == KILN_OK;
    kn_error_restore(&before);
    kiln_status status = is_whole ? show_record(&line, &record, visit, user, goes_on) : KILN_OK;
    *damaged += !is_whole;
    kn_free(copy);
    return status;
}

kiln_status kiln_record_read(const char *text, uint64_t *damaged,
                             bool (*visit)(const kiln_record_line *line, void *user), void *user)
{
    uint64_t unused = 0;
    bool goes_on = true;
    kiln_status status = KILN_OK;
    if (!text || !visit)
        return kn_error(KILN_ERROR_INVALID, "kiln_record_read: %s is NULL", text ? "visit" : "text");
    damaged = damaged ? damaged : &unused;
    for (*damaged = 0; *text && goes_on && status == KILN_OK; text += *text == '\n') {
        size_t length = strcspn(text, "\n");
        size_t blank = strspn(text, " \t\r");
        if (blank < length && text[blank] != '#') {
            char *line = kn_strndup(text, length);
            status = line ? read_line(line, damaged, visit, user, &goes_on) : kn_error_memory("a record");
            kn_free(line);
        }
        text += length;
    }
    return status;
}

bool kiln_record_needs(const char *targets, const char *target)
{
    kn_bake_target wanted;
    kn_error_state before;
    if (!targets || !target)
        return false;
    kn_error_save(&before);
    bool is_needed = kn_bake_target_parse(&wanted, target) == KILN_OK &&
                     kn_record_names(targets, wanted.target.architecture);
    kn_error_restore(&before);
    return is_needed;
}

kiln_status kiln_bake_check_target(const char *target)
{
    KN_UNCANCELLED;
    kn_bake_target unused;
    return target ? kn_bake_target_parse(&unused, target) : kn_error(KILN_ERROR_INVALID, "target is NULL");
}

/* The key of a record's line, or of a specialisation. */
static kiln_status find_key(kn_str *out, const char *line)
{
    kn_record record;
    if (!looks_like_record(line))
        return kn_spec_make_portable(out, line);
    char *copy = kn_strdup(line);
    if (!copy)
        return kn_error_memory("a record");
    copy[strcspn(copy, "\n")] = '\0';
    kiln_status status = kn_record_parse(&record, copy);
    if (status == KILN_OK)
        status = kn_spec_make_portable(out, record.portable);
    kn_free(copy);
    return status;
}

/* ---- one kernel ---- */

static kiln_status read_bake_options(kiln_bake_options *out, const kiln_bake_options *given)
{
    *out = (kiln_bake_options)KILN_BAKE_OPTIONS_INIT;
    kiln_status status =
        kn_sized_read(out, sizeof *out, given, "kiln_bake: options", "KILN_BAKE_OPTIONS_INIT");
    if (status != KILN_OK)
        return status;
    if (out->n_include_folders < 0 || (out->n_include_folders > 0 && !out->include_folders))
        return kn_error(KILN_ERROR_INVALID, "kiln_bake: options.include_folders: %d were announced",
                        out->n_include_folders);
    return KILN_OK;
}

kiln_status kiln_bake(void **bytes, size_t *size, const char *line, const char *target,
                      const kiln_bake_options *options)
{
    KN_UNCANCELLED;
    kiln_bake_options o;
    kn_bake_target wanted;
    kn_str key = KN_STR_INIT;
    kn_bundle_row row = KN_BUNDLE_ROW_INIT;
    if (!bytes || !size || !line || !target)
        return kn_error(KILN_ERROR_INVALID, "kiln_bake: %s is NULL",
                        !bytes  ? "bytes"
                        : !size ? "size"
                        : !line ? "line"
                                : "target");
    kiln_status status = read_bake_options(&o, options);
    if (status == KILN_OK)
        status = kn_bake_target_parse(&wanted, target);
    if (status == KILN_OK)
        status = find_key(&key, line);
    if (status == KILN_OK)
        status = kn_bake(&row, kn_str_text(&key), &wanted, o.include_folders, o.n_include_folders);
    if (status == KILN_OK)
        status = hand_out_row(bytes, size, &row);
    kn_str_free(&key);
    return status;
}

/* ---- bundles ---- */

static kiln_status open_part(kn_bundle **out, const void *bytes, size_t size)
{
    return kn_bundle_open_memory(out, bytes, size, "the bundle");
}

static kiln_status add_part(kn_bundle_writer *writer, const kiln_bytes *part)
{
    kn_bundle *bundle = NULL;
    kiln_status status = part->data ? open_part(&bundle, part->data, part->size)
                                    : kn_error(KILN_ERROR_INVALID, "data is NULL");
    if (status == KILN_OK)
        status = kn_bundle_writer_add_all(writer, bundle);
    kn_bundle_free(bundle);
    return status;
}

kiln_status kiln_bundle_merge(void **bytes, size_t *size, const kiln_bytes *bundles, int n_bundles)
{
    KN_UNCANCELLED;
    if (!bytes || !size || n_bundles < 0 || (n_bundles > 0 && !bundles))
        return kn_error(KILN_ERROR_INVALID, "kiln_bundle_merge: %s",
                        !bytes  ? "bytes is NULL"
                        : !size ? "size is NULL"
                                : "bundles is NULL, or n_bundles below 0");
    kn_bundle_writer *writer = kn_bundle_writer_create();
    kiln_status status = writer ? KILN_OK : kn_error_memory("a bundle");
    for (int b = 0; b < n_bundles && status == KILN_OK; b++) {
        status = add_part(writer, &bundles[b]);
        if (status != KILN_OK)
            kn_error_context("bundles[%d]", b);
    }
    if (status == KILN_OK)
        status = kn_bundle_writer_hand_out(bytes, size, writer);
    kn_bundle_writer_free(writer);
    return status;
}

static kiln_status show_row(const kn_bundle_row *row,
                            bool (*visit)(const kiln_bundle_entry *entry, void *user), void *user,
                            bool *goes_on)
{
    kn_bundle_label label;
    kiln_bundle_entry entry = {.key = row->what.data, .code = row->code.data, .code_bytes = row->code.size};
    char *name = copy_field(row->what.data, "name"), *types = copy_field(row->what.data, "operands");
    char target[48] = "?";
    bool is_known = kn_bundle_label_read(&label, row->label.data, row->label.size);
    if (is_known)
        kn_bake_target_format(&(kn_bake_target){label.target, label.format}, target, sizeof target);
    entry.name = name;
    entry.types = types;
    entry.target = target;
    entry.generator = is_known ? label.generator : "";
    entry.compiler = is_known ? label.compiler : "";
    entry.is_usable = is_known && kn_bundle_label_is_current(&label);
    if (name && types)
        *goes_on = visit(&entry, user);
    kiln_status status = name && types ? KILN_OK : kn_error_memory("a bundle's row");
    kn_free(name);
    kn_free(types);
    return status;
}

kiln_status kiln_bundle_visit(const void *bytes, size_t size,
                              bool (*visit)(const kiln_bundle_entry *entry, void *user), void *user)
{
    KN_UNCANCELLED;
    kn_bundle *bundle = NULL;
    bool goes_on = true;
    if (!bytes || !visit)
        return kn_error(KILN_ERROR_INVALID, "kiln_bundle_visit: %s is NULL", bytes ? "visit" : "bytes");
    kiln_status status = open_part(&bundle, bytes, size);
    for (int r = 0; status == KILN_OK && goes_on && r < kn_bundle_rows(bundle); r++) {
        kn_bundle_row row;
        status = kn_bundle_read(&row, bundle, r);
        if (status == KILN_OK)
            status = show_row(&row, visit, user, &goes_on);
        kn_bundle_row_free(&row);
    }
    kn_bundle_free(bundle);
    return status;
}

/* A request for PTX takes only PTX. */
static int rank(const char *text, size_t size, void *user)
{
    kn_bake_target *wanted = user;
    kn_bundle_label label;
    if (wanted->format == KN_CODE_PTX &&
        (!kn_bundle_label_read(&label, text, size) || label.format != KN_CODE_PTX))
        return 0;
    return kn_bundle_label_rank(text, size, &wanted->target);
}

static kiln_status not_there(const kn_str *key, const char *target)
{
    const char *text = kn_str_text(key);
    size_t name_length = 0, types_length = 0;
    const char *name = kn_spec_field(text, "name", &name_length),
               *types = kn_spec_field(text, "operands", &types_length);
    return kn_error(KILN_ERROR_NOT_FOUND, "the bundle has no code for %.*s (%.*s) that runs on %s",
                    (int)name_length, name ? name : "", (int)types_length, types ? types : "", target);
}

kiln_status kiln_bundle_find(void **bytes, size_t *size, const void *bundle, size_t bundle_size,
                             const char *line, const char *target)
{
    kn_bake_target wanted;
    kn_bundle *opened = NULL;
    kn_str key = KN_STR_INIT;
    int found = -1, ranked;
    if (!bundle || !line || !target || !bytes != !size)
        return kn_error(KILN_ERROR_INVALID, "kiln_bundle_find: %s",
                        !bundle   ? "bundle is NULL"
                        : !line   ? "line is NULL"
                        : !target ? "target is NULL"
                                  : "of bytes and size one is NULL");
    kiln_status status = kn_bake_target_parse(&wanted, target);
    if (status == KILN_OK)
        status = find_key(&key, line);
    if (status == KILN_OK)
        status = open_part(&opened, bundle, bundle_size);
    if (status == KILN_OK) {
        found = kn_bundle_find(opened, key.data, key.length, rank, &wanted, 0, &ranked);
        status = found < 0 ? not_there(&key, target) : KILN_OK;
    }
    if (status == KILN_OK && bytes) {
        kn_bundle_row row;
        status = kn_bundle_read(&row, opened, found);
        if (status == KILN_OK)
            status = hand_out_row(bytes, size, &row);
    }
    kn_bundle_free(opened);
    kn_str_free(&key);
    return status;
}
