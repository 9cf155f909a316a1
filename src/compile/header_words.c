/* compile/header_words.c - finds the names of kiln's that occur in the headers of a request. */
#include "compile/compile.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "compile/compiler.h"
#include "base/caret.h"

enum { HEADER_MAX_BYTES = 16 << 20 };

typedef struct name {
    const char *text;
    size_t length;
    bool is_found;
} name;

typedef struct names {
    name *list;
    size_t count;
} names;

static int compare(const void *a, const void *b)
{
    const name *x = a, *y = b;
    size_t length = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->text, y->text, length);
    return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* text: names with blanks between. */
static kiln_status read_names(names *out, const char *text)
{
    size_t capacity = strlen(text) / 2 + 1, length;
    out->list = kn_malloc(capacity * sizeof *out->list);
    if (!out->list)
        return kn_error_memory("names");
    for (text += strspn(text, " "); (length = strcspn(text, " ")) > 0; text += strspn(text, " ")) {
        out->list[out->count++] = (name){text, length, false};
        text += length;
    }
    qsort(out->list, out->count, sizeof *out->list, compare);
    return KILN_OK;
}

/* A word in a comment is one too: too many do no harm. */
static void take_text(const names *all, const char *text)
{
    while (*text) {
        name word = {text, 0, false};
        if (kn_is_name_start(*text))
            while (kn_is_name_char(text[word.length]))
                word.length++;
        name *known = word.length > 0 ? bsearch(&word, all->list, all->count, sizeof word, compare) : NULL;
        if (known)
            known->is_found = true;
        text += word.length > 0 ? word.length : 1;
    }
}

static void take_file(const names *all, const char *path)
{
    kn_blob content = KN_BLOB_INIT;
    kn_str text = KN_STR_INIT;
    if (kn_os_read_plain_file(&content, path, HEADER_MAX_BYTES, false) == KILN_OK)
        kn_str_append_n(&text, content.data, content.size);
    take_text(all, kn_str_text(&text));
    kn_str_free(&text);
    kn_blob_free(&content);
}

static void take_files(const names *all, const char *lines)
{
    while (*lines) {
        char path[PATH_MAX];
        size_t length = strcspn(lines, "\n");
        if (length < sizeof path) {
            snprintf(path, sizeof path, "%.*s", (int)length, lines);
            take_file(all, path);
        }
        lines += length + (lines[length] == '\n');
    }
}

kiln_status kn_compile_header_words(kn_str *out, const kn_compile_request *request)
{
    names all = {NULL, 0};
    kn_str known = KN_STR_INIT, files = KN_STR_INIT;
    kiln_status status = KILN_OK;
    if (!request->put_names || !kn_compile_reaches(request))
        return KILN_OK;
    request->put_names(&known, request->about);
    status = kn_str_status(&known, "names");
    if (status == KILN_OK)
        status = read_names(&all, kn_str_text(&known));
    if (status == KILN_OK)
        status = kn_compile_list_headers(&files, request);
    for (int i = 0; i < request->n_headers && status == KILN_OK; i++)
        take_text(&all, request->header_texts[i]);
    if (status == KILN_OK)
        take_files(&all, kn_str_text(&files));
    for (size_t k = 0; k < all.count && status == KILN_OK; k++)
        if (all.list[k].is_found)
            kn_str_printf(out, "%.*s ", (int)all.list[k].length, all.list[k].text);
    kn_free(all.list);
    kn_str_free(&known);
    kn_str_free(&files);
    return status == KILN_OK ? kn_str_status(out, "names") : status;
}
