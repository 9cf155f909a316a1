/* parts.c - pieces of source that are written for an operand or a stage, from files of parts: templates in
 * which "#part NAME" begins lines, up to the next empty one, and "#inline NAME TEXT" is text within a line;
 * "#inline NAME" begins lines without the end of the last one. */
#include "codegen/writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "codegen/templates.h"

enum { MOST_SLOTS = 28, NAME_SIZE = 24, NUMBER_SIZE = 16 };

typedef struct part_slots {
    kn_slot slot[MOST_SLOTS];
    int count;
    char name[MOST_SLOTS][NAME_SIZE], number[MOST_SLOTS][NUMBER_SIZE];
} part_slots;

static void add(part_slots *s, const char *name, size_t length, const char *value)
{
    if (s->count == MOST_SLOTS)
        return;
    snprintf(s->name[s->count], NAME_SIZE, "%.*s", (int)length, name);
    s->slot[s->count] = (kn_slot){s->name[s->count], value ? value : "", false};
    ++s->count;
}

static void add_number(part_slots *s, const char *name, size_t length, int number)
{
    if (s->count == MOST_SLOTS)
        return;
    snprintf(s->number[s->count], NUMBER_SIZE, "%d", number);
    add(s, name, length, s->number[s->count]);
}

/* "place=%s count=%d": slots of the caller's own, in front of the others. */
static void add_given(part_slots *s, const char *format, va_list arguments)
{
    while (*format) {
        size_t length = strcspn(format, "=");
        if (strncmp(format + length, "=%d", 3) == 0)
            add_number(s, format, length, va_arg(arguments, int));
        else
            add(s, format, length, va_arg(arguments, const char *));
        format += length + strcspn(format + length, " ");
        format += *format == ' ';
    }
}

#define ADD(name, value) add(s, name, sizeof name - 1, value)
#define ADD_NUMBER(name, value) add_number(s, name, sizeof name - 1, value)

static void add_operand(part_slots *s, const kn_writer *w, int k)
{
    ADD("name", w->program->param[k].name);
    ADD("value", kn_text_by(w, kn_put_value, k));
    ADD("value_type", kn_text_by(w, kn_put_type, k));
    if (k >= kn_param_count(w) || kn_array_of(w, k) < 0)
        return;
    ADD("const", kn_is_output(w, k) ? "" : "const ");
    ADD("type", kn_storage(w, k));
    ADD_NUMBER("array", kn_array_of(w, k));
    ADD_NUMBER("size", kn_item_size(w, k));
}

static void add_schedule(part_slots *s, const kn_writer *w)
{
    const kn_schedule *schedule = &w->spec->schedule;
    const kn_config_table *config = schedule->kind->config;
    ADD_NUMBER("vector", schedule->vector);
    ADD_NUMBER("block", schedule->block);
    ADD_NUMBER("arrays", w->spec->n_arrays);
    ADD("axis", w->recipe->fast_axis);
    for (int n = 0; config && n < config->count; ++n)
        add_number(s, config->number[n].name, strlen(config->number[n].name), schedule->config[n]);
}

/* The text of the part and its length, without the end of its last line; NULL: the file does not have it. */
static const char *find_part(const char *text, const char *name, bool *is_inline, size_t *length)
{
    size_t n = strlen(name);
    for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
        *is_inline = strncmp(text, "#inline ", 8) == 0;
        const char *at = text + (*is_inline ? 8 : 6);
        if ((!*is_inline && strncmp(text, "#part ", 6) != 0) || strncmp(at, name, n) != 0 ||
            (at[n] != '\n' && (!*is_inline || at[n] != ' ')))
            continue;
        const char *end = at[n] == '\n' ? strstr(at, "\n\n") : strchr(at, '\n');
        *length = (end ? (size_t)(end - at) : strlen(at)) - n - 1;
        return at + n + 1;
    }
    return NULL;
}

/* The text of a file of parts, read at its first use; NULL: there is none, or it could not be read. */
static const char *read_parts(const kn_writer *w, int f)
{
    const char *files[KN_PART_FILES] = {w->recipe->parts, w->recipe->more_parts, "codegen/shared/parts.cpp"};
    kn_str *text = &w->texts->file[f];
    if (files[f] && text->length == 0 && w->texts->status == KILN_OK)
        w->texts->status = kn_template_read(text, files[f]);
    return text->length > 0 ? kn_str_text(text) : NULL;
}

static kiln_status put_found(const kn_writer *w, kn_str *out, const char *found, size_t length,
                             bool is_inline, part_slots *s)
{
    kn_str *own = kn_text(w), *expanded = kn_text(w);
    kn_str_append_n(own, found, length);
    kiln_status status = kn_template_expand(expanded, kn_str_text(own), s->slot, s->count);
    kn_str_append_n(out, kn_str_text(expanded), expanded->length - (expanded->length > 0 && is_inline));
    return status;
}

static void put_part(const kn_writer *w, kn_str *out, const char *part, int k, part_slots *s)
{
    const char *found = NULL;
    size_t length = 0;
    bool is_inline = false;
    if (k != KN_NO_VALUE)
        add_operand(s, w, k);
    add_schedule(s, w);
    for (int f = 0; f < KN_PART_FILES && !found; ++f) {
        const char *text = read_parts(w, f);
        found = text ? find_part(text, part, &is_inline, &length) : NULL;
    }
    if (w->texts->status != KILN_OK) /* the first error stays */
        return;
    w->texts->status = found ? put_found(w, out, found, length, is_inline, s)
                             : kn_error(KILN_ERROR_INTERNAL, "no file of parts has '%s'", part);
}

void kn_put_part(const kn_writer *w, kn_str *out, const char *part, int k)
{
    put_part(w, out, part, k, &(part_slots){.count = 0});
}

void kn_put_part_with(const kn_writer *w, kn_str *out, const char *part, int k, const char *format, ...)
{
    part_slots slots = {.count = 0};
    va_list arguments;
    va_start(arguments, format);
    add_given(&slots, format, arguments);
    va_end(arguments);
    put_part(w, out, part, k, &slots);
}
