/* compile/host_compiler_search.c - finds the C++ compiler on PATH, or by KILN_CXX, and its identity. */
#include "compile/host_compiler_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/setting.h"
#include "base/shortage.h"

static kn_host_compiler host;

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Programs that hand the work to another compiler: their own build says nothing about the code. */
static bool is_wrapper(const char *path)
{
    static const char *const wrappers[] = {"ccache", "sccache", "distcc", "icecc"};
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (strcmp(base_name(path), wrappers[i]) == 0)
            return true;
    return false;
}

/* The path as it is called by, absolute: the process may change its folder before it compiles. */
static bool make_absolute(char *out, const char *path)
{
    char here[PATH_MAX];
    int length = path[0] == '/' ? snprintf(out, PATH_MAX, "%s", path)
                 : kn_shortage_unless(getcwd(here, sizeof here))
                     ? snprintf(out, PATH_MAX, "%s/%s", here, path)
                     : -1;
    return length > 0 && length < PATH_MAX;
}

static bool take_executable(const char *file, char *path, char *real)
{
    return kn_os_is_file(file) && kn_shortage_unless(access(file, X_OK) == 0) &&
           kn_shortage_unless(realpath(file, real)) && !is_wrapper(real) && make_absolute(path, file);
}

static const char *search_path(void)
{
    const char *list = kn_os_env("PATH");
    return list ? list : "/usr/bin:/bin";
}

/* The first program of that name on PATH that is no wrapper (Debian's /usr/lib/ccache/c++ is a link to
 * ccache). path keeps the name it was called by: c++ and clang++ may be links whose name decides the
 * language. */
static bool find_program(const char *name, char *path, char *real)
{
    if (strchr(name, '/'))
        return take_executable(name, path, real);
    for (const char *list = search_path(); *list;) {
        size_t length = strcspn(list, ":");
        char file[PATH_MAX];
        int written = snprintf(file, sizeof file, "%.*s/%s", (int)length, list, name);
        if (length > 0 && written < (int)sizeof file && take_executable(file, path, real))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

/* A word that names a file is meant from here: "wrap/launcher" as well as "-Iinclude". */
static void add_word(kn_str *out, const char *word, size_t length)
{
    static const char *const prefixes[] = {"",        "-I",         "-L",       "-B",       "-isystem",
                                           "-iquote", "-idirafter", "-include", "-imacros", "@"};
    char text[PATH_MAX], path[PATH_MAX];
    for (size_t f = 0; f < sizeof prefixes / sizeof *prefixes && length < sizeof text; f++) {
        size_t skipped = strlen(prefixes[f]);
        if (length <= skipped || memcmp(word, prefixes[f], skipped) != 0)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)(length - skipped), word + skipped);
        bool is_relative = text[0] != '/' && (skipped > 0 || strchr(text, '/'));
        if (!is_relative || !kn_shortage_unless(access(text, F_OK) == 0) || !make_absolute(path, text))
            continue;
        kn_str_append(out, prefixes[f]);
        kn_str_append_n(out, path, strlen(path) + 1);
        return;
    }
    kn_str_append_n(out, word, length);
    kn_str_append_n(out, "", 1);
}

/* Splits the words of KILN_CXX or CXX, as make does: "ccache g++ -m64". Wrappers that cache are left out,
 * since our own cache comes first. */
static void split_words(const char *text)
{
    static const char blanks[] = " \t\n";
    bool is_first = true;
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        size_t length = strcspn(text, blanks);
        char word[PATH_MAX];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        is_first = is_first && is_wrapper(word) && text[length + strspn(text + length, blanks)];
        if (!is_first) {
            add_word(&host.command, text, length);
            host.n_words++;
        }
        text += length;
    }
}

/* Appends the word and the identity of the file that it names: a program that the first one runs ("nice
 * g++"), or a file that it reads ("@options"). Else it is only a word. */
static void describe_word(kn_str *out, const char *word)
{
    char path[PATH_MAX], real[PATH_MAX], build[140] = "";
    kn_error_state before;
    kn_error_save(&before);
    const char *file = word + (word[0] == '@');
    if (word[0] != '-' && (kn_os_is_file(file) || find_program(file, path, real)))
        (void)kn_os_file_identity(build, sizeof build, kn_os_is_file(file) ? file : real);
    kn_error_restore(&before);
    kn_str_append_n(out, word, strlen(word) + 1);
    kn_str_append_n(out, build, strlen(build) + 1);
}

static void name_identity(const char *real)
{
    char build[140];
    kn_str all = KN_STR_INIT;
    const char *word = kn_host_next_word(host.command.data);
    host.place.is_found = kn_os_file_identity(build, sizeof build, real) == KILN_OK;
    if (!host.place.is_found) {
        snprintf(host.place.location, sizeof host.place.location, "the C++ compiler %.3000s cannot be read",
                 real);
        return;
    }
    for (int i = 1; i < host.n_words; i++, word = kn_host_next_word(word)) {
        describe_word(&all, word);
        host.words_reach = host.words_reach || kn_compile_option_reaches(word);
    }
    kn_compile_environment_hash(host.environment, KN_ENVIRONMENT_OF_CODE);
    kn_str_append(&all, host.environment);
    kn_compile_make_identity(&host.place, base_name(real), build, &all);
    kn_str_free(&all);
}

/* "/usr/" of "/usr/bin/g++". */
static void name_installation(const char *real)
{
    snprintf(host.installation, sizeof host.installation, "%s", real);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(host.installation, '/');
        if (slash && slash > host.installation)
            *slash = 0;
    }
    size_t length = strlen(host.installation);
    snprintf(host.installation + length, sizeof host.installation - length, "/");
}

static void take_first_word(const char *path)
{
    kn_str rest = KN_STR_INIT;
    kn_str_append_n(&rest, path, strlen(path) + 1);
    if (host.n_words > 1) {
        const char *second = kn_host_next_word(host.command.data);
        kn_str_append_n(&rest, second, host.command.length - (size_t)(second - host.command.data));
    }
    kn_str_free(&host.command);
    host.command = rest;
    host.n_words = host.n_words > 0 ? host.n_words : 1;
}

static void search_usual(char *path, char *real)
{
    static const char *const usual[] = {"c++", "g++", "clang++"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !host.place.is_found; i++)
        host.place.is_found = find_program(usual[i], path, real);
    snprintf(host.place.location, sizeof host.place.location,
             "no C++ compiler: KILN_CXX and CXX are not set, and there is no c++, g++ or clang++ on PATH "
             "(%.2000s)",
             kn_os_env("PATH") ? kn_os_env("PATH") : "which is not set");
}

/* Nobody reads what a shortage leaves: without memory a string may have lost its end. */
static void search(void)
{
    char path[PATH_MAX] = "", real[PATH_MAX] = "";
    kn_str_free(&host.command);
    memset(&host, 0, sizeof host);
    const char *variable = kn_setting("KILN_CXX") ? "KILN_CXX" : "CXX", *told = kn_os_env(variable);
    if (told)
        split_words(told);
    if (host.command.failed)
        return;
    if (host.n_words > 0) {
        host.place.is_found = find_program(host.command.data, path, real);
        snprintf(host.place.location, sizeof host.place.location,
                 "no C++ compiler: %s names %.3000s, which is not an executable file%s", variable,
                 host.command.data, strchr(host.command.data, '/') ? "" : " on PATH");
    } else {
        search_usual(path, real);
    }
    if (!host.place.is_found)
        return;
    take_first_word(path);
    if (host.command.failed)
        return;
    snprintf(host.place.path, sizeof host.place.path, "%s", path);
    memcpy(host.place.location, host.place.path, sizeof host.place.location);
    name_installation(real);
    name_identity(real);
}

const kn_host_compiler *kn_host_compiler_find(void)
{
    static const kn_host_compiler unknown = {.place = KN_COMPILER_PLACE_UNKNOWN};
    static atomic_bool is_searched;
    return kn_lock_once(&is_searched, KN_LOCK_HOST_COMPILER, search) ? &host : &unknown;
}
