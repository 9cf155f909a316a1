/* templates.c - reads templates and expands their slots. */
#include "codegen/templates.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/os.h"
#include "base/setting.h"

static const kn_template *find_embedded(const char *name)
{
    for (size_t k = 0; k < kn_template_count; ++k)
        if (strcmp(kn_templates[k].name, name) == 0)
            return &kn_templates[k];
    return NULL;
}

/* Templates become code that is run: nobody else may be able to write them. */
static kiln_status check_trust(const char *file)
{
    char folder[PATH_MAX], real[PATH_MAX], reason[PATH_MAX + 256];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(file, '/') - file), file);
    if (kn_os_folder_is_private(real, folder, reason, sizeof reason) &&
        kn_os_file_is_private(file, KN_OS_MAY_BE_LINKED, reason, sizeof reason))
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID, "a template of KILN_TEMPLATE_DIR is not taken: %s", reason);
}

static kiln_status read_own(kn_str *out, const char *file, const char *name)
{
    kn_blob text = KN_BLOB_INIT;
    kiln_status status = check_trust(file);
    if (status == KILN_OK)
        status = kn_os_read_file(&text, file);
    if (status == KILN_OK)
        kn_str_append_n(out, text.data, text.size);
    kn_blob_free(&text);
    return status == KILN_OK ? kn_str_status(out, name) : status;
}

kiln_status kn_template_read(kn_str *out, const char *name)
{
    const char *folder = kn_setting("KILN_TEMPLATE_DIR");
    const kn_template *embedded = find_embedded(name);
    char path[PATH_MAX];
    if (folder && (size_t)snprintf(path, sizeof path, "%s/%s", folder, name) < sizeof path &&
        kn_os_is_file(path))
        return read_own(out, path, name);
    if (!embedded)
        return kn_error(KILN_ERROR_INTERNAL, "there is no template '%s'", name);
    kn_str_append_n(out, embedded->text, embedded->length);
    return kn_str_status(out, name);
}

static const char *slot_value(kn_slot *slots, int count, const char *name, size_t length)
{
    for (int k = 0; k < count; ++k)
        if (strlen(slots[k].name) == length && memcmp(slots[k].name, name, length) == 0) {
            slots[k].is_used = true;
            return slots[k].value;
        }
    return NULL;
}

/* Appends a value of several lines, each indented, except preprocessor lines and the lines between "#line"
 * and the next "#line". */
static void put_indented(kn_str *out, const char *value, const char *indent, size_t width)
{
    bool verbatim = false;
    while (*value) {
        size_t length = strcspn(value, "\n");
        bool is_line = strncmp(value, "#line", 5) == 0;
        if (is_line)
            verbatim = value[6] != '0';
        if (!verbatim && length > 0 && value[0] != '#')
            kn_str_append_n(out, indent, width);
        kn_str_append_n(out, value, length);
        kn_str_append(out, "\n");
        value += length + (value[length] == '\n');
    }
}

/* The name of the slot on a line that has nothing else; or NULL. */
static const char *single_slot(const char *line, size_t length, size_t *indent, size_t *name_length)
{
    *indent = strspn(line, " ");
    if (length < *indent + 3 || line[*indent] != '$' || line[*indent + 1] != '{' || line[length - 1] != '}')
        return NULL;
    *name_length = length - *indent - 3;
    const char *name = line + *indent + 2;
    return memchr(name, '}', *name_length) ? NULL : name;
}

static kiln_status unknown_slot(const char *name, size_t length)
{
    return kn_error(KILN_ERROR_INTERNAL, "template: the slot '${%.*s}' is unknown", (int)length, name);
}

static kiln_status expand_line(kn_str *out, const char *line, size_t length, kn_slot *slots, int count)
{
    const char *end = line + length;
    while (line < end) {
        const char *open = memmem(line, (size_t)(end - line), "${", 2);
        const char *close = open ? memchr(open, '}', (size_t)(end - open)) : NULL;
        if (!close) {
            kn_str_append_n(out, line, (size_t)(end - line));
            break;
        }
        kn_str_append_n(out, line, (size_t)(open - line));
        const char *value = slot_value(slots, count, open + 2, (size_t)(close - open - 2));
        if (!value)
            return unknown_slot(open + 2, (size_t)(close - open - 2));
        kn_str_append(out, value);
        line = close + 1;
    }
    kn_str_append(out, "\n");
    return KILN_OK;
}

kiln_status kn_template_expand(kn_str *out, const char *text, kn_slot *slots, int count)
{
    while (*text) {
        size_t length = strcspn(text, "\n"), indent, name_length = 0;
        const char *name = single_slot(text, length, &indent, &name_length);
        if (name) {
            const char *value = slot_value(slots, count, name, name_length);
            if (!value)
                return unknown_slot(name, name_length);
            put_indented(out, value, text, indent);
        } else {
            kiln_status status = expand_line(out, text, length, slots, count);
            if (status != KILN_OK)
                return status;
        }
        text += length + (text[length] == '\n');
    }
    return KILN_OK;
}
