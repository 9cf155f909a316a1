/* host_compiler.c - C++ source to a shared object by the host's compiler (gcc or clang), run as a process in
 * a private folder.
 *
 * Most of such a compile is spent starting programs and linking. Generated code includes nothing and needs
 * only libm (which brings libmvec where there is one) and libgcc's helpers, so it is linked without start
 * files and standard libraries: 34 ms rather than 50 with gcc 12.
 */
#include "compile/compiler.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "types/operators.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_WORDS = 16, MAX_OWN_OPTIONS = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static kn_compiler_place place;
static char
    command[KN_COMPILER_PATH_SIZE];  /* the words of CXX, each ended by a NUL: wrapper, compiler, options */
static const char *words[MAX_WORDS]; /* into command, or place.path */
static int n_words;

/* ---- finding the compiler ---- */

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

static bool take_executable(const char *file, char *path, char *real)
{
    if (!kn_os_is_file(file) || access(file, X_OK) != 0 || !realpath(file, real) || is_wrapper(real))
        return false;
    snprintf(path, KN_COMPILER_PATH_SIZE, "%s", file);
    return true;
}

/* The first program of that name on PATH that is no wrapper (Debian's /usr/lib/ccache/c++ is a link to
 * ccache). path keeps the name it was called by: c++ and clang++ may be links whose name decides the
 * language. */
static bool find_program(const char *name, char *path, char *real)
{
    if (strchr(name, '/'))
        return take_executable(name, path, real);
    const char *list = kn_os_env("PATH");
    while (list && *list) {
        size_t length = strcspn(list, ":");
        char file[PATH_MAX];
        int written = snprintf(file, sizeof file, "%.*s/%s", (int)length, list, name);
        if (length > 0 && written < (int)sizeof file && take_executable(file, path, real))
            return true;
        list += length + (list[length] == ':');
    }
    return false;
}

/* Splits what KILN_CXX or CXX says, as make does: "ccache g++ -m64". */
static void split_words(const char *text)
{
    snprintf(command, sizeof command, "%s", text);
    char *state = NULL;
    for (char *w = strtok_r(command, " \t", &state); w && n_words < MAX_WORDS;
         w = strtok_r(NULL, " \t", &state))
        words[n_words++] = w;
    while (n_words > 1 && is_wrapper(words[0])) /* our own cache stands in front */
        memmove(words, words + 1, (size_t)--n_words * sizeof *words);
}

static void name_identity(const char *real)
{
    char file[128];
    if (kn_os_file_identity(file, sizeof file, real) != KILN_OK) {
        snprintf(place.location, sizeof place.location, "the C++ compiler %.3000s cannot be read", real);
        place.is_found = false;
        return;
    }
    size_t used =
        (size_t)snprintf(place.identity, sizeof place.identity, "%.40s %.80s", base_name(real), file);
    for (int i = 1; i < n_words && used < sizeof place.identity; i++)
        used += (size_t)snprintf(place.identity + used, sizeof place.identity - used, " %s", words[i]);
    memcpy(place.location, place.path, sizeof place.location);
}

static void search(void)
{
    static const char *const usual[] = {"c++", "g++", "clang++"};
    char real[PATH_MAX] = "";
    const char *variable = kn_os_env("KILN_CXX") ? "KILN_CXX" : "CXX", *told = kn_os_env(variable);
    if (told)
        split_words(told);
    if (n_words > 0) {
        place.is_found = find_program(words[0], place.path, real);
        snprintf(place.location, sizeof place.location,
                 "no C++ compiler: %s names %.3000s, which is not an executable file%s", variable, words[0],
                 strchr(words[0], '/') ? "" : " on PATH");
    } else {
        n_words = 1;
        for (size_t i = 0; i < sizeof usual / sizeof *usual && !place.is_found; i++)
            place.is_found = find_program(usual[i], place.path, real);
        snprintf(place.location, sizeof place.location,
                 "no C++ compiler: KILN_CXX and CXX are not set, and there is no c++, g++ or clang++ on PATH "
                 "(%.2000s)",
                 kn_os_env("PATH") ? kn_os_env("PATH") : "which is not set");
    }
    words[0] = place.path;
    if (place.is_found)
        name_identity(real);
}

static const kn_compiler_place *host_place(void)
{
    pthread_mutex_lock(&mutex);
    if (!place.is_searched) {
        place.is_searched = true;
        search();
    }
    pthread_mutex_unlock(&mutex);
    return &place;
}

/* ---- the command line ---- */

/* IEEE arithmetic, without errno, which no kernel can see and which keeps loops from being vectorised. Integers
 * wrap, as NumPy's do. Nothing of the place or the time of the compile gets into the output: the same source
 * gives the same bytes.
 *
 * Not -fno-trapping-math: with it gcc takes (double)(long)x for trunc(x), and -0.5 becomes -0.0. (The prelude
 * has floor and its like in a form that is vectorised without it.) And no vectors from straight code: gcc 12
 * drops the narrowing from two neighbours of (double)(float)x, as in a complex number. Neither costs anything
 * in the rows of the bench; loops are vectorised as ever. */
static const char *const base_options[] = {
    "-x",
    "c++",
    "-O3",
    "-shared",
    "-fPIC",
    "-pipe",
    "-s",
    "-I.",
    "-fno-math-errno",
    "-fno-tree-slp-vectorize",
    "-fwrapv",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",
    "-fvisibility=hidden",
    "-Wno-psabi",
    "-fdiagnostics-color=never",
    "-Wl,--build-id=none",
};
static const char source_file[] = "kernel.cpp", code_file[] = "kernel.so";

typedef struct command_line {
    const char **items;
    int n;
    char architecture[48];
} command_line;

static void add(command_line *line, const char *word)
{
    line->items[line->n++] = word;
}

static bool names_standard(const kn_compile_request *request)
{
    for (int i = 0; i < request->n_options; i++)
        if (strncmp(request->options[i], "-std=", 5) == 0)
            return true;
    return false;
}

static void add_libraries(command_line *line, bool is_lean, unsigned flags)
{
    if (is_lean)
        add(line, "-nostdlib");
    else if (flags & KN_COMPILE_FAST_MATH)
        add(line, "-nostartfiles"); /* gcc's would set the processor to flush denormals, in the whole process,
                                       when the object is loaded */
    add(line, "-o");
    add(line, code_file);
    add(line, source_file);
    add(line, "-lm");
    if (is_lean)
        add(line, "-lgcc");
    add(line, NULL);
}

static kiln_status make_command_line(command_line *line, const kn_compile_request *request)
{
    size_t bytes = (size_t)(n_words + MAX_OWN_OPTIONS + request->n_options) * sizeof *line->items;
    *line = (command_line){kn_malloc(bytes), 0, ""};
    if (!line->items)
        return kn_error_memory(bytes, "a command line");
    for (int i = 0; i < n_words; i++)
        add(line, words[i]);
    for (size_t i = 0; i < sizeof base_options / sizeof *base_options; i++)
        add(line, base_options[i]);
    snprintf(line->architecture, sizeof line->architecture, "-march=%s", request->target.architecture);
    add(line, line->architecture);
    if (!names_standard(request))
        add(line, "-std=c++17");
    if (request->flags & KN_COMPILE_FAST_MATH)
        add(line, "-ffast-math");
    if (request->flags & KN_COMPILE_NO_FMA)
        add(line, "-ffp-contract=off");
    for (int i = 0; i < request->n_options; i++)
        add(line, request->options[i]);
    add_libraries(line, !(request->flags & KN_COMPILE_USER_MODULE) && !kn_compile_has_includes(request),
                  request->flags);
    return KILN_OK;
}

/* ---- the private folder ---- */

/* A header may be named with folders ("math/constants.h"), but must stay inside. */
static bool is_safe_header_name(const char *name)
{
    if (name[0] == '/' || name[0] == 0)
        return false;
    for (const char *part = name; *part;) {
        size_t length = strcspn(part, "/");
        if (length == 0 || (length == 2 && part[0] == '.' && part[1] == '.'))
            return false;
        part += length + (part[length] == '/');
    }
    return strcmp(name, source_file) != 0 && strcmp(name, code_file) != 0;
}

static kiln_status write_header(const char *folder, const char *name, const char *text)
{
    char path[PATH_MAX];
    if (!is_safe_header_name(name))
        return kn_error(KILN_ERROR_INVALID, "header name \"%s\": expected a relative path without \"..\"",
                        name);
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return kn_error(KILN_ERROR_INVALID, "header name is too long: \"%.80s...\"", name);
    char *slash = strrchr(path, '/');
    kiln_status status = KILN_OK;
    if (strchr(name, '/')) {
        *slash = 0;
        status = kn_os_make_folders(path, 0700);
        *slash = '/';
    }
    return status == KILN_OK ? kn_os_write_file(path, text, strlen(text)) : status;
}

/* The folders of "a/b/c.h", innermost first; the files in them go too. */
static void remove_header_folders(const char *folder, const char *name)
{
    char path[PATH_MAX];
    if (!is_safe_header_name(name) || snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return;
    size_t root = strlen(folder);
    for (char *slash = strrchr(path, '/'); slash && (size_t)(slash - path) > root;
         slash = strrchr(path, '/')) {
        *slash = 0;
        kn_os_remove_folder(path);
    }
}

/* #line makes messages name the kernel and not our file. */
static kiln_status write_source(const char *folder, const kn_compile_request *request)
{
    char path[PATH_MAX];
    kn_str text = KN_STR_INIT;
    kn_str_append(&text, "#line 1 \"");
    for (const char *c = request->name; *c; c++)
        if (*c != '"' && *c != '\\' && *c != '\n')
            kn_str_append_n(&text, c, 1);
    kn_str_append(&text, "\"\n");
    kn_str_append(&text, request->source);
    kn_str_append(&text, "\n");
    snprintf(path, sizeof path, "%.4000s/%s", folder, source_file);
    kiln_status status = kn_str_status(&text, "source text");
    if (status == KILN_OK)
        status = kn_os_write_file(path, text.data, text.length);
    kn_str_free(&text);
    return status;
}

static kiln_status fill_folder(const char *folder, const kn_compile_request *request)
{
    kiln_status status = write_source(folder, request);
    for (int i = 0; i < request->n_headers && status == KILN_OK; i++)
        status = write_header(folder, request->header_names[i], request->header_texts[i]);
    return status;
}

static void remove_all(const char *folder, const kn_compile_request *request)
{
    for (int i = 0; i < request->n_headers; i++)
        remove_header_folders(folder, request->header_names[i]);
    kn_os_remove_folder(folder);
}

/* ---- compiling ---- */

static kiln_status run_compiler(kn_compile_result *out, const char *folder, const kn_compile_request *request)
{
    command_line line;
    int exit_code = 0;
    kiln_status status = make_command_line(&line, request);
    if (status == KILN_OK)
        status = kn_os_run(line.items, folder, &out->log, &exit_code);
    kn_free(line.items);
    if (status != KILN_OK)
        return status;
    kn_operators_unguard(&out->log, request->source);
    if (exit_code != 0) {
        char fallback[80];
        snprintf(fallback, sizeof fallback, "the C++ compiler ended with status %d and no message",
                 exit_code);
        return kn_compile_failed(request->name, &out->log, fallback);
    }
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.4000s/%s", folder, code_file);
    return kn_os_read_file(&out->code, path);
}

static kiln_status host_compile(kn_compile_result *out, const kn_compile_request *request)
{
    char folder[PATH_MAX - 64];
    if (!host_place()->is_found)
        return kn_error(KILN_ERROR_NOT_FOUND, "%s", place.location);
    if (request->n_name_expressions > 0)
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s: name expressions are for CUDA sources", request->name);
    kiln_status status = kn_os_make_temporary_folder(folder, sizeof folder);
    if (status != KILN_OK)
        return status;
    status = fill_folder(folder, request);
    if (status == KILN_OK)
        status = run_compiler(out, folder, request);
    remove_all(folder, request);
    return status;
}

static kiln_status host_version(kn_str *out)
{
    if (!host_place()->is_found)
        return kn_error(KILN_ERROR_NOT_FOUND, "%s", place.location);
    const char *argv[] = {place.path, "--version", NULL};
    kn_str text = KN_STR_INIT;
    int exit_code = 0;
    kiln_status status = kn_os_run(argv, NULL, &text, &exit_code);
    if (status == KILN_OK)
        kn_str_append_n(out, kn_str_text(&text), strcspn(kn_str_text(&text), "\n"));
    kn_str_free(&text);
    return status == KILN_OK ? kn_str_status(out, "the compiler's version") : status;
}

const kn_compiler kn_compiler_host = {host_place, host_compile, host_version};
