/* compile/dependency_file.c - parses the lines of a dependency file. */
#include "compile/dependency_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

void kn_span_push(kn_span_list *list, kn_span item)
{
    if (kn_grow(&list->items, &list->capacity, list->n, sizeof item))
        list->items[list->n++] = item;
    else
        list->failed = true;
}

/* ---- lines ---- */

bool kn_dependency_next_line(kn_span *line, const char **at, const char *end)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    stop = stop ? stop : end;
    *line = (kn_span){*at, (size_t)(stop - *at)};
    *at = stop + (stop < end);
    return true;
}

bool kn_dependency_take_word(kn_span *line, const char *word)
{
    size_t length = strlen(word);
    if (line->length < length || memcmp(line->text, word, length) != 0)
        return false;
    line->text += length;
    line->length -= length;
    return true;
}

/* ---- the folders of the user's options ---- */

/* The folder that the option i names, "-Idir", "-I dir" or another spelling; NULL where it names none. */
static const char *folder_of(const char *const *options, int n, int i)
{
    static const char *const spellings[] = {"-I",      "--include-path", "-include-path",      "-isystem",
                                            "-iquote", "-idirafter",     "--include-directory"};
    for (size_t f = 0; f < sizeof spellings / sizeof *spellings; f++) {
        size_t length = strlen(spellings[f]);
        if (strncmp(options[i], spellings[f], length) != 0)
            continue;
        const char *folder = options[i] + length;
        folder += *folder == '=';
        if (*folder)
            return folder;
        return i + 1 < n ? options[i + 1] : NULL;
    }
    return NULL;
}

/* Compilers drop slashes at the end. */
static kn_span as_folder(const char *text, size_t length)
{
    while (length > 1 && text[length - 1] == '/')
        length--;
    return (kn_span){text, length};
}

/* ---- parsing ---- */

void kn_dependency_file_free(kn_dependency_file *s)
{
    kn_free(s->folders.items);
    kn_free(s->files.items);
    kn_free(s->probes.items);
}

static void take_line(kn_dependency_file *s, kn_span line)
{
    if (kn_dependency_take_word(&line, KN_DEPENDENCY_FOLDER)) {
        kn_span_push(&s->folders, as_folder(line.text, line.length));
        s->first_system = s->folders.n;
    } else if (kn_dependency_take_word(&line, KN_DEPENDENCY_SYSTEM)) {
        kn_span_push(&s->folders, as_folder(line.text, line.length));
    } else if (kn_dependency_take_word(&line, KN_DEPENDENCY_FILE)) {
        kn_span_push(&s->files, line);
    } else if (kn_dependency_take_word(&line, KN_DEPENDENCY_PROBE)) {
        kn_span_push(&s->probes, line);
    } else if (kn_dependency_take_word(&line, KN_DEPENDENCY_ENVIRONMENT)) {
        s->environment = line;
    } else if (kn_dependency_take_word(&line, KN_DEPENDENCY_LOOKUPS)) {
        s->lookups = line;
    } else if (!kn_dependency_take_word(&line, KN_DEPENDENCY_LOWERED)) {
        s->is_unknown = true;
    }
}

void kn_dependency_file_read(kn_dependency_file *s, const char *text, size_t size, const char *const *options,
                             int n_options)
{
    kn_span line;
    *s = (kn_dependency_file){.is_unknown = false};
    for (int i = 0; i < n_options; i++) {
        const char *folder = folder_of(options, n_options, i);
        if (folder)
            kn_span_push(&s->folders, as_folder(folder, strlen(folder)));
    }
    s->first_system = s->folders.n;
    for (const char *at = text, *end = text + size; kn_dependency_next_line(&line, &at, end);)
        take_line(s, line);
}

bool kn_dependency_file_has_failed(const kn_dependency_file *s)
{
    return s->folders.failed || s->files.failed || s->probes.failed;
}

bool kn_dependency_file_read_entry(kn_dependency *out, const kn_dependency_file *s, kn_span line)
{
    if (line.length < KN_HASH_DIGITS + 4 || line.text[KN_HASH_DIGITS] != ' ')
        return false;
    const char *number = line.text + KN_HASH_DIGITS + 1, *end = line.text + line.length;
    const char *blank = memchr(number, ' ', (size_t)(end - number));
    if (!blank || blank + 1 == end)
        return false;
    out->hash = (kn_span){line.text, KN_HASH_DIGITS};
    out->name = (kn_span){blank + 1, (size_t)(end - blank - 1)};
    out->folder = *number == '-' ? -1 : atoi(number);
    return out->folder < s->folders.n;
}

bool kn_dependency_join_path(char path[PATH_MAX], const kn_span *folder, const kn_span *name)
{
    int length = folder && name->text[0] != '/'
                     ? snprintf(path, PATH_MAX, "%.*s/%.*s", (int)folder->length, folder->text,
                                (int)name->length, name->text)
                     : snprintf(path, PATH_MAX, "%.*s", (int)name->length, name->text);
    return length > 0 && length < PATH_MAX;
}

bool kn_dependency_file_path(char path[PATH_MAX], const kn_dependency_file *s, const kn_dependency *file)
{
    return kn_dependency_join_path(path, file->folder >= 0 ? &s->folders.items[file->folder] : NULL,
                                   &file->name);
}

bool kn_dependency_file_is_system(const kn_dependency_file *s, const kn_dependency *file)
{
    return file->folder >= 0 && file->folder >= s->first_system;
}

kn_span kn_dependency_below(const char *path, const kn_span *folder)
{
    size_t length = folder->length;
    if (length == 0 || strncmp(path, folder->text, length) != 0 ||
        (path[length] != '/' && folder->text[length - 1] != '/'))
        return (kn_span){"", 0};
    const char *name = path + length + strspn(path + length, "/");
    return (kn_span){name, strlen(name)};
}
