/* compile/dependency_probes.c - finds the file names that texts pass to __has_include and the like. */
#include "compile/dependency_probes.h"

#include <ctype.h>
#include <string.h>

#include "compile/dependency_file.h"

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

/* Takes the name between the parentheses. A macro could be any name: in the user's own text the dependencies
 * are unknown then. */
static void take_probe(kn_dependency_writer *w, const char *at, const char *end, bool is_users)
{
    at = skip_blanks(at, end);
    if (at == end || *at != '(')
        return; /* defined(__has_include) */
    at = skip_blanks(at + 1, end);
    char closing = at == end ? 0 : *at == '<' ? '>' : *at == '"' ? '"' : 0;
    const char *close = closing ? memchr(at + 1, closing, (size_t)(end - at - 1)) : NULL;
    if (close && close > at + 1 && !memchr(at, '\n', (size_t)(close - at)))
        kn_str_printf(w->out, "%s%.*s\n", KN_DEPENDENCY_PROBE, (int)(close - at - 1), at + 1);
    else if (is_users)
        w->is_unknown = true;
}

void kn_dependency_find_probes(kn_dependency_writer *w, const char *text, size_t size, bool is_users)
{
    static const char *const words[] = {"has_include", "HAS_INCLUDE", "has_embed"};
    const char *end = text + size;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(words[i]);
        const char *at = memmem(text, size, words[i], length);
        while (at) {
            at += length;
            while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
                at++;
            take_probe(w, at, end, is_users);
            at = memmem(at, (size_t)(end - at), words[i], length);
        }
    }
}

void kn_dependency_find_probes_of(kn_dependency_writer *w, const kn_compile_request *request)
{
    kn_dependency_find_probes(w, request->source, strlen(request->source), !request->is_generated);
    for (int i = 0; i < request->n_user_texts; i++)
        kn_dependency_find_probes(w, request->user_texts[i], strlen(request->user_texts[i]), true);
    for (int i = 0; i < request->n_headers; i++)
        kn_dependency_find_probes(w, request->header_texts[i], strlen(request->header_texts[i]), true);
    for (int i = 0; i < request->n_options; i++)
        kn_dependency_find_probes(w, request->options[i], strlen(request->options[i]), true);
}
