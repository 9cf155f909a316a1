#include "codegen/prelude.h"

#include <string.h>

#include "base/error.h"
#include "codegen/templates.h"
#include "types/signature.h"

enum { MAX_PRELUDES = 64, WORD_MAX = 64 };

typedef struct selection {
    const char *prefix; /* "prelude/cuda_" */
    const char *const *texts;
    int n_texts;
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

static bool is_mentioned(const selection *s, const char *word)
{
    for (int t = 0; t < s->n_texts; ++t)
        if (kn_text_has_word(s->texts[t], word))
            return true;
    return false;
}

/* The leading comment lines that begin with `tag`, one after the other. */
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
            if (is_mentioned(s, word))
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

/* The own name of a prelude of this target or of both ("half.cu" of "prelude/cuda_half.cu"); NULL for other
 * templates. */
static const char *own_name(const selection *s, const char *full)
{
    const char *prefixes[] = {s->prefix, "prelude/both_"};
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
        const char *kept = skip_tags(text);
        size_t length = strcspn(kept, "\n");
        kn_str_append_n(out, kept, length + (kept[length] == '\n'));
        text = kept + length + (kept[length] == '\n');
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

kiln_status kn_prelude_append(kn_str *out, kn_backend_kind backend, const char *const *texts, int count)
{
    selection s = {backend == KN_CUDA ? "prelude/cuda_" : "prelude/host_", texts, count, {NULL}, 0};
    const char *base = find_template(&s, "base");
    kiln_status status = base ? take(out, &s, base) : KILN_OK;
    for (size_t k = 0; status == KILN_OK && k < kn_template_count; ++k)
        if (own_name(&s, kn_templates[k].name))
            status = consider(out, &s, kn_templates[k].name);
    return status;
}

static void put_words(kn_str *out, const char *text)
{
    char word[WORD_MAX];
    const char *line = tagged_line(text, "// needs:");
    for (; line; line = tagged_line(line + strcspn(line, "\n") + 1, "// needs:"))
        for (const char *at = next_word(line + 9, word); at; at = next_word(at, word))
            if (strncmp(word, "kn_", 3) != 0)
                kn_str_printf(out, "%s ", word);
}

void kn_prelude_words(kn_str *out)
{
    for (size_t k = 0; k < kn_template_count; ++k)
        if (strncmp(kn_templates[k].name, "prelude/", 8) == 0)
            put_words(out, kn_templates[k].text);
}
