/* compile/reach.c - whether a request can make its compiler read files besides the source.
 *
 * * Where it cannot, the lean ways of compiling hold and no dependencies have to be recorded. So the answer
 * may be yes too often, which costs some milliseconds, and must never be no by mistake: no text is parsed
 * here. A word that can ask for a file is enough, wherever it stands, and so is an option that is not known
 * to be harmless. */
#include "compile/compile.h"
#include "compile/compiler.h"

#include <ctype.h>
#include <string.h>

static bool is_word_character(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* "#include", "include_next", "__has_include", "import", "#embed", but not "included" or "important". */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        if ((at == text || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[length]))
            return true;
    return false;
}

/* A word that goes on in the next line: it could be any. */
static bool has_cut_word(const char *text)
{
    for (const char *at = strchr(text, '\\'); at; at = strchr(at + 1, '\\')) {
        const char *next = at + 1 + strspn(at + 1, " \t\r");
        if (at > text && *next == '\n' && is_word_character(at[-1]) && is_word_character(next[1]))
            return true;
    }
    return strstr(text, "\?\?/") != NULL;
}

bool kn_compile_text_reaches(const char *text)
{
    return has_word(text, "include") || has_word(text, "import") || has_word(text, "embed") ||
           has_cut_word(text);
}

static bool begins_with_one_of(const char *text, const char *const *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(text, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

bool kn_compile_option_reaches(const char *option)
{
    static const char *const harmless[] = {
        "-D", "-U", "-std", "--std", "-O", "-g", "-m", "-w", "-W", "-f", "-pedantic", "-ansi", "-pthread",
        /* NVRTC's own */
        "-arch", "--gpu-architecture", "-ftz", "--ftz", "-prec-", "--prec-", "--fmad", "-use_fast_math",
        "--use_fast_math", "-maxrregcount", "--maxrregcount", "-lineinfo", "--generate-line-info", "-G",
        "--device-debug", "-default-device", "--device-as-default", "-dopt", "--dopt", "-restrict",
        "--restrict", "--define-macro", "--undefine-macro", "-diag-", "--diag-", "-rdc",
        "--relocatable-device-code", "-dc", "--device-c", "-extra-device-vectorization",
        "--extra-device-vectorization", "--disable-warnings", "-split-compile", "--split-compile"};
    static const char *const exceptions[] = {
        "-Wp,",           "-Wl,",  "-Wa,",    "-fplugin", "-fpass-",  "-fprof",
        "-fauto-profile", "-fmod", "-fsanit", "-fuse-",   "-fbuild",  "-fpch",
        "-fcallgraph",    "-fopt", "-fxray",  "-fthin",   "-foffload"};
    if (!begins_with_one_of(option, harmless, sizeof harmless / sizeof *harmless))
        return true;
    return begins_with_one_of(option, exceptions, sizeof exceptions / sizeof *exceptions) ||
           kn_compile_text_reaches(option);
}

bool kn_compile_reaches(const kn_compile_request *request)
{
    if (!request->is_generated && kn_compile_text_reaches(request->source))
        return true;
    for (int i = 0; i < request->n_user_texts; i++)
        if (kn_compile_text_reaches(request->user_texts[i]))
            return true;
    for (int i = 0; i < request->n_headers; i++)
        if (kn_compile_text_reaches(request->header_texts[i]))
            return true;
    for (int i = 0; i < request->n_options; i++)
        if (kn_compile_option_reaches(request->options[i]))
            return true;
    return request->n_headers > 0;
}
