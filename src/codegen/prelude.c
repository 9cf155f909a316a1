/* prelude.c - selects preludes, and lines of them, by words. */
#include "codegen/prelude.h"

#include <string.h>

#include "base/error.h"
#include "codegen/templates.h"
#include "base/caret.h"
#include "program/signature.h"

enum { MAX_PRELUDES = 64, WORD_MAX = 64 };

typedef struct selection {
    const char *prefix; /* "codegen/prelude/cuda_" */
    const char *const *texts;
    int n_texts;
    const char *header_words;
    const char *taken[MAX_PRELUDES]; /* template names already appended */
    int n_taken;
} selection;

/* Takes the next word of a line; NULL at its end. */
static const char *next_word(const char *at, char word[WORD_MAX])
{
    at += strspn(at, " ");
    size_t length = strcspn(at, " \n");
    if (length == 0 || length >= WORD_MAX)
        return NULL;
    memcpy(word, at, length);
    word[length] = '\0';
    return at + length;
}

static bool is_opening(char c)
{
    return c == '(' || c == '<';
}

/* A name that a bracket follows, or a template's argument. */
static bool has_call(const char *text, const char *name, size_t name_length)
{
    size_t length;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length)
        if (kind == KN_TOKEN_NAME && length == name_length && memcmp(text, name, length) == 0 &&
            is_opening(text[length + strspn(text + length, " \n\t")]))
            return true;
    return false;
}

static bool is_used(const selection *s, const char *word)
{
    const size_t length = strlen(word) - 1;
    for (int t = 0; t < s->n_texts; ++t)
        if (word[length] == '(' ? has_call(s->texts[t], word, length) : kn_text_has_word(s->texts[t], word))
            return true;
    return kn_text_has_word(s->header_words, word);
}

/* The next leading comment line that begins with `tag`. */
static const char *tagged_line(const char *text, const char *tag)
{
    for (; strncmp(text, "//", 2) == 0; text += strcspn(text, "\n"), text += *text == '\n')
        if (strncmp(text, tag, strlen(tag)) == 0)
            return text;
    return NULL;
}

static bool is_wanted(const selection *s, const char *text)
{
    char word[WORD_MAX];
    const char *line = tagged_line(text, "// needs:");
    if (!line)
        return true;
    for (; line; line = tagged_line(line + strcspn(line, "\n") + 1, "// needs:"))
        for (const char *at = next_word(line + 9, word); at; at = next_word(at, word))
            if (is_used(s, word))
                return true;
    return false;
}

static bool is_taken(const selection *s, const char *name)
{
    for (int k = 0; k < s->n_taken; ++k)
        if (s->taken[k] == name)
            return true;
    return false;
}

/* The own name of a prelude of this target or of both ("half.cu" of "codegen/prelude/cuda_half.cu"); NULL for
 * other templates. */
static const char *own_name(const selection *s, const char *full)
{
    const char *prefixes[] = {s->prefix, "codegen/prelude/both_"};
    for (int p = 0; p < 2; ++p)
        if (strncmp(full, prefixes[p], strlen(prefixes[p])) == 0)
            return full + strlen(prefixes[p]);
    return NULL;
}

static const char *find_template(const selection *s, const char *name)
{
    size_t length = strlen(name);
    for (size_t k = 0; k < kn_template_count; ++k) {
        const char *own = own_name(s, kn_templates[k].name);
        if (own && strncmp(own, name, length) == 0 && own[length] == '.')
            return kn_templates[k].name;
    }
    return NULL;
}

/* The text without its leading tag lines. */
static const char *skip_tags(const char *text)
{
    while (strncmp(text, "// needs:", 9) == 0 || strncmp(text, "// with:", 8) == 0)
        text += strcspn(text, "\n"), text += *text == '\n';
    return text;
}

static kiln_status take(kn_str *out, selection *s, const char *name);

static kiln_status take_others(kn_str *out, selection *s, const char *text)
{
    char word[WORD_MAX];
    const char *line = tagged_line(text, "// with:");
    for (const char *at = line ? next_word(line + 8, word) : NULL; at; at = next_word(at, word)) {
        const char *other = find_template(s, word);
        if (!other)
            return kn_error(KILN_ERROR_INTERNAL, "prelude: there is no %s%s", s->prefix, word);
        kiln_status status = take(out, s, other);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

static void put_without_tags(kn_str *out, const char *text)
{
    while (*text) {
        const char *line = skip_tags(text);
        size_t length = strcspn(line, "\n");
        kn_str_append_n(out, line, length + (line[length] == '\n'));
        text = line + length + (line[length] == '\n');
    }
    kn_str_append(out, "\n");
}

static kiln_status take(kn_str *out, selection *s, const char *name)
{
    if (is_taken(s, name))
        return KILN_OK;
    if (s->n_taken == MAX_PRELUDES)
        return kn_error(KILN_ERROR_INTERNAL, "prelude: more than %d files", MAX_PRELUDES);
    s->taken[s->n_taken++] = name;
    kn_str text = KN_STR_INIT;
    kiln_status status = kn_template_read(&text, name);
    if (status == KILN_OK)
        status = take_others(out, s, kn_str_text(&text));
    if (status == KILN_OK)
        put_without_tags(out, kn_str_text(&text));
    kn_str_free(&text);
    return status;
}

static kiln_status consider(kn_str *out, selection *s, const char *name)
{
    kn_str text = KN_STR_INIT;
    kiln_status status = kn_template_read(&text, name);
    bool wanted = status == KILN_OK && is_wanted(s, kn_str_text(&text));
    kn_str_free(&text);
    return wanted ? take(out, s, name) : status;
}

/* ---- lines with words of their own ---- */

enum { MAX_LINES = 128 };
static const char line_tag[] = " // needs:";

typedef struct line {
    const char *text, *words, *end; /* without its end */
    bool is_wanted, is_counted;     /* of counted lines the names are used */
} line;

typedef struct lines {
    line item[MAX_LINES];
    int n;
} lines;

static kiln_status list_lines(lines *list, const char *text)
{
    list->n = 0;
    for (const char *tag = strstr(text, line_tag); tag; tag = strstr(tag, line_tag)) {
        const char *start = tag;
        while (start > text && start[-1] != '\n')
            start--;
        if (list->n == MAX_LINES)
            return kn_error(KILN_ERROR_INTERNAL, "prelude: more than %d lines with words", MAX_LINES);
        const char *words = tag + sizeof line_tag - 1, *end = words + strcspn(words, "\n");
        list->item[list->n++] = (line){start, words, end, false, false};
        tag = end;
    }
    return KILN_OK;
}

static bool is_called(const line *l, const char *name, size_t length)
{
    for (const char *at = l->words + strspn(l->words, " "); at < l->end; at += strspn(at, " ")) {
        size_t n = strcspn(at, " \n");
        if (n == length && memcmp(at, name, n) == 0)
            return true;
        at += n;
    }
    return false;
}

static void count_names(lines *list, const char *text, const char *end)
{
    size_t length;
    kn_token_kind kind;
    for (; text < end && (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length)
        for (line *l = list->item; kind == KN_TOKEN_NAME && l < list->item + list->n; l++)
            l->is_wanted = l->is_wanted || is_called(l, text, length);
}

/* Headers may use any name, but for those that only generated text has. */
static void want_all(lines *list)
{
    for (line *l = list->item; l < list->item + list->n; l++)
        for (const char *at = l->words + strspn(l->words, " "); at < l->end; at += strspn(at, " ")) {
            l->is_wanted |= strncmp(at, "kn_", 3) != 0;
            at += strcspn(at, " \n");
        }
}

/* The names of a line count if the line itself is wanted. */
static void want_lines(lines *list, const selection *s, const char *text)
{
    if (is_used(s, "include"))
        want_all(list);
    for (int t = 0; t < s->n_texts; t++)
        count_names(list, s->texts[t], s->texts[t] + strlen(s->texts[t]));
    count_names(list, s->header_words, s->header_words + strlen(s->header_words));
    for (int k = 0; k < list->n; text = list->item[k++].end)
        count_names(list, text, list->item[k].text);
    count_names(list, text, text + strlen(text));
    for (bool some = true; some;) {
        some = false;
        for (int k = 0; k < list->n; k++) {
            line *l = &list->item[k];
            if (!l->is_wanted || l->is_counted)
                continue;
            l->is_counted = some = true;
            count_names(list, l->text, l->words - (sizeof line_tag - 1));
        }
    }
}

static void put_wanted(kn_str *out, const lines *list, const char *text)
{
    for (int k = 0; k < list->n; k++) {
        const line *l = &list->item[k];
        kn_str_append_n(out, text, (size_t)(l->text - text));
        if (l->is_wanted)
            kn_str_printf(out, "%.*s\n", (int)(l->words - (sizeof line_tag - 1) - l->text), l->text);
        text = l->end + (*l->end == '\n');
    }
    kn_str_append(out, text);
}

static kiln_status put_lines(kn_str *out, const selection *s, const char *text)
{
    lines list;
    kiln_status status = list_lines(&list, text);
    if (status != KILN_OK)
        return status;
    want_lines(&list, s, text);
    put_wanted(out, &list, text);
    return KILN_OK;
}

static bool has_name(const char *text, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if ((at == text || !kn_is_name_char(at[-1])) && !kn_is_name_char(at[length]))
            return true;
    return false;
}

/* Names that others define are macros in front of the preludes, so that the guards leave them out, and are
 * undefined behind them. */
static void put_unwanted(kn_str *out, const kn_failed_try *failed, const char *directive)
{
    static const char guard[] = "\n#ifndef ";
    char name[WORD_MAX];
    for (const char *at = failed->source; (at = strstr(at, guard)) != NULL;) {
        const char *line = at + strlen(guard);
        at = next_word(line, name);
        if (!at)
            return;
        if (strncmp(name, "KN_", 3) != 0 && has_name(failed->complaints, name))
            kn_str_printf(out, "#%s %s\n", directive, name);
    }
}

static kiln_status append_all(kn_str *out, selection *s)
{
    kn_str all = KN_STR_INIT;
    const char *base = find_template(s, "base");
    kiln_status status = base ? take(&all, s, base) : KILN_OK;
    for (size_t k = 0; status == KILN_OK && k < kn_template_count; k++)
        if (own_name(s, kn_templates[k].name))
            status = consider(&all, s, kn_templates[k].name);
    if (status == KILN_OK)
        status = kn_str_status(&all, "the preludes");
    if (status == KILN_OK)
        status = put_lines(out, s, kn_str_text(&all));
    kn_str_free(&all);
    return status;
}

kiln_status kn_prelude_append(kn_str *out, kn_backend_kind backend, const char *const *texts, int count,
                              const kn_failed_try *failed)
{
    selection s = {backend == KN_CUDA ? "codegen/prelude/cuda_" : "codegen/prelude/host_",
                   texts,
                   count,
                   failed ? failed->header_words : "",
                   {NULL},
                   0};
    if (failed)
        put_unwanted(out, failed, "define");
    kiln_status status = append_all(out, &s);
    if (failed)
        put_unwanted(out, failed, "undef");
    return status;
}

static void put_words(kn_str *out, const char *text)
{
    char word[WORD_MAX];
    const char *line = tagged_line(text, "// needs:");
    for (; line; line = tagged_line(line + strcspn(line, "\n") + 1, "// needs:"))
        for (const char *at = next_word(line + 9, word); at; at = next_word(at, word))
            if (strncmp(word, "kn_", 3) != 0)
                kn_str_printf(out, "%.*s ", (int)strcspn(word, "("), word);
}

void kn_prelude_words(kn_str *out)
{
    for (size_t k = 0; k < kn_template_count; k++)
        if (strncmp(kn_templates[k].name, "codegen/prelude/", 16) == 0)
            put_words(out, kn_templates[k].text);
}
