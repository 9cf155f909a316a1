/* Labels of bundle rows: written, read and ranked for a target. */
#include "store/bundle_label.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "schedules/choose.h"
#include "schedule/layout.h"
#include "schedules/spec_text.h"

static const char *const format_names[] = {[KN_CODE_BINARY] = "binary", [KN_CODE_PTX] = "ptx"};
enum { FORMATS = sizeof format_names / sizeof *format_names, MOST_BYTES = 1024 };

kn_code_format kn_code_format_of(const kn_blob *code)
{
    static const char elf[] = "\177ELF";
    return code->size >= 4 && memcmp(code->data, elf, 4) == 0 ? KN_CODE_BINARY : KN_CODE_PTX;
}

void kn_bundle_label_set_kind(kn_bundle_label *out, const char *what)
{
    size_t length = 0;
    const char *name = kn_spec_field(what, "schedule", &length);
    out->block = out->revision = 0;
    out->kind[0] = '\0';
    if (!name || length >= sizeof out->kind)
        return;
    memcpy(out->kind, name, length);
    out->kind[length] = '\0';
    const kn_kind *kind = kn_kind_find(out->target.backend, out->kind);
    out->block = KN_BLOCK_REVISION;
    out->revision = kind ? kind->revision : 0;
}

bool kn_bundle_label_is_current(const kn_bundle_label *label)
{
    if (label->block == 0)
        return true;
    const kn_kind *kind = kn_kind_find(label->target.backend, label->kind);
    return label->block == KN_BLOCK_REVISION && kind && label->revision == kind->revision;
}

void kn_bundle_label_write(kn_str *out, const kn_bundle_label *label)
{
    char target[48];
    kn_target_format(&label->target, target, sizeof target);
    kn_str_printf(out, "%s %s", target, format_names[label->format]);
    if (label->block > 0)
        kn_str_printf(out, " block=%d kind=%s revision=%d", label->block, label->kind, label->revision);
    kn_str_append(out, "\n");
    if (label->generator[0])
        kn_str_printf(out, "generator %s\n", label->generator);
    kn_str_printf(out, "compiler %s\n", label->compiler);
}

static bool read_format(kn_code_format *out, const char *name)
{
    for (int f = 0; f < FORMATS; f++)
        if (strcmp(format_names[f], name) == 0) {
            *out = (kn_code_format)f;
            return true;
        }
    return false;
}

/* Targets of another version of the library are unknown, which is no error. */
static bool read_target(kn_target *out, const char *text)
{
    kn_error_state before;
    kn_error_save(&before);
    bool is_known = kn_target_parse(out, text) == KILN_OK;
    kn_error_restore(&before);
    return is_known;
}

static void read_rest(kn_bundle_label *out, char *line)
{
    for (char *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (strncmp(line, "generator ", 10) == 0)
            snprintf(out->generator, sizeof out->generator, "%s", line + 10);
        else if (strncmp(line, "compiler ", 9) == 0)
            snprintf(out->compiler, sizeof out->compiler, "%s", line + 9);
    }
}

/* The rest of the first line: nothing, or the kind and its revision. */
static bool read_kind(kn_bundle_label *out, const char *rest)
{
    if (*rest == '\0')
        return true;
    return sscanf(rest, " block=%d kind=%31s revision=%d", &out->block, out->kind, &out->revision) == 3 &&
           out->block > 0 && out->revision > 0;
}

bool kn_bundle_label_read(kn_bundle_label *out, const char *text, size_t size)
{
    char copy[MOST_BYTES], target[48], format[16];
    int length = 0;
    if (size >= sizeof copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    *out = (kn_bundle_label){.block = 0};
    char *more = strchr(copy, '\n');
    if (more)
        *more++ = '\0';
    if (sscanf(copy, "%47s %15s%n", target, format, &length) < 2 || !read_kind(out, copy + length))
        return false;
    read_rest(out, more);
    return read_format(&out->format, format) && read_target(&out->target, target);
}

int kn_bundle_label_rank(const char *text, size_t size, void *target)
{
    kn_bundle_label label;
    if (!kn_bundle_label_read(&label, text, size) || !kn_bundle_label_is_current(&label))
        return 0;
    return kn_target_fit(&label.target, label.format, target);
}
