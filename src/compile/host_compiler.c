/* host_compiler.c - C++ source to a shared object by the host's compiler (gcc or clang), run as a process in
 * a private folder.
 *
 * Most of such a compile is spent starting programs and linking. Generated code includes nothing and needs
 * only libm (which brings libmvec where there is one) and libgcc's helpers, so it is linked without start
 * files and standard libraries: 34 ms rather than 50 with gcc 12.
 */
#include "compile/compiler.h"
#include "compile/reads.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "types/operators.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static kn_compiler_place place;
static kn_str command; /* the words of KILN_CXX, each ended by a NUL; the first is the program's path */
static int n_words;
static char installation[PATH_MAX]; /* "/usr/" of /usr/bin/g++-12: where the toolchain's own files are */
static char environment_then[33];   /* the hash of what steers it, as its identity has it */
static bool words_reach;            /* the words alone make it read files: "g++ -include x.h" */

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

/* The path as it is called by, absolute: the process may change its folder before it compiles. */
static bool make_absolute(char *out, const char *path)
{
    char here[PATH_MAX];
    int length = path[0] == '/'              ? snprintf(out, PATH_MAX, "%s", path)
                 : getcwd(here, sizeof here) ? snprintf(out, PATH_MAX, "%s/%s", here, path)
                                             : -1;
    return length > 0 && length < PATH_MAX;
}

static bool take_executable(const char *file, char *path, char *real)
{
    return kn_os_is_file(file) && access(file, X_OK) == 0 && realpath(file, real) && !is_wrapper(real) &&
           make_absolute(path, file);
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

/* The words are kept one after the other: the next begins behind the NUL of the last. */
static const char *next_word(const char *word)
{
    return word + strlen(word) + 1;
}

/* A word that names a file is meant from here: "wrap/launcher" as well as "-Iinclude". */
static void add_word(kn_str *out, const char *word, size_t length)
{
    static const char *const forms[] = {"",        "-I",         "-L",       "-B",       "-isystem",
                                        "-iquote", "-idirafter", "-include", "-imacros", "@"};
    char text[PATH_MAX], path[PATH_MAX];
    for (size_t f = 0; f < sizeof forms / sizeof *forms && length < sizeof text; f++) {
        size_t skipped = strlen(forms[f]);
        if (length <= skipped || memcmp(word, forms[f], skipped) != 0)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)(length - skipped), word + skipped);
        bool is_relative = text[0] != '/' && (skipped > 0 || strchr(text, '/'));
        if (!is_relative || access(text, F_OK) != 0 || !make_absolute(path, text))
            continue;
        kn_str_append(out, forms[f]);
        kn_str_append_n(out, path, strlen(path) + 1);
        return;
    }
    kn_str_append_n(out, word, length);
    kn_str_append_n(out, "", 1);
}

/* Splits what KILN_CXX or CXX says, as make does: "ccache g++ -m64". Our own cache stands in front of such
 * wrappers: they are left out. */
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
            add_word(&command, text, length);
            n_words++;
        }
        text += length;
    }
}

/* What a word stands for: a program that the first one runs ("nice g++"), or a file that it reads
 * ("@options"). Else it is only a word. */
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
    const char *word = next_word(command.data);
    place.is_found = kn_os_file_identity(build, sizeof build, real) == KILN_OK;
    if (!place.is_found) {
        snprintf(place.location, sizeof place.location, "the C++ compiler %.3000s cannot be read", real);
        return;
    }
    for (int i = 1; i < n_words; i++, word = next_word(word)) {
        describe_word(&all, word);
        words_reach = words_reach || kn_compile_option_reaches(word);
    }
    kn_compile_environment_hash(environment_then, KN_ENVIRONMENT_OF_CODE);
    kn_str_append(&all, environment_then);
    place.is_found = !all.failed;
    if (place.is_found)
        kn_compile_make_identity(&place, base_name(real), build, &all);
    else
        snprintf(place.location, sizeof place.location, "there is no memory to look for a C++ compiler");
    kn_str_free(&all);
}

/* "/usr/" of "/usr/bin/g++". */
static void name_installation(const char *real)
{
    snprintf(installation, sizeof installation, "%s", real);
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(installation, '/');
        if (slash && slash > installation)
            *slash = 0;
    }
    size_t length = strlen(installation);
    snprintf(installation + length, sizeof installation - length, "/");
}

static void take_first_word(const char *path)
{
    kn_str rest = KN_STR_INIT;
    kn_str_append_n(&rest, path, strlen(path) + 1);
    if (n_words > 1) {
        const char *second = next_word(command.data);
        kn_str_append_n(&rest, second, command.length - (size_t)(second - command.data));
    }
    kn_str_free(&command);
    command = rest;
    n_words = n_words > 0 ? n_words : 1;
}

static void search_usual(char *path, char *real)
{
    static const char *const usual[] = {"c++", "g++", "clang++"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !place.is_found; i++)
        place.is_found = find_program(usual[i], path, real);
    snprintf(place.location, sizeof place.location,
             "no C++ compiler: KILN_CXX and CXX are not set, and there is no c++, g++ or clang++ on PATH "
             "(%.2000s)",
             kn_os_env("PATH") ? kn_os_env("PATH") : "which is not set");
}

static void search(void)
{
    char path[PATH_MAX] = "", real[PATH_MAX] = "";
    const char *variable = kn_os_env("KILN_CXX") ? "KILN_CXX" : "CXX", *told = kn_os_env(variable);
    if (told)
        split_words(told);
    if (n_words > 0 && !command.failed) {
        place.is_found = find_program(command.data, path, real);
        snprintf(place.location, sizeof place.location,
                 "no C++ compiler: %s names %.3000s, which is not an executable file%s", variable,
                 command.data, strchr(command.data, '/') ? "" : " on PATH");
    } else {
        search_usual(path, real);
    }
    if (!place.is_found)
        return;
    take_first_word(path);
    place.is_found = !command.failed;
    snprintf(place.path, sizeof place.path, "%s", path);
    memcpy(place.location, place.path, sizeof place.location);
    name_installation(real);
    if (place.is_found)
        name_identity(real);
}

static const kn_compiler_place *host_place(void)
{
    kn_lock_take(KN_LOCK_HOST_COMPILER);
    if (!place.is_searched) {
        place.is_searched = true;
        search();
    }
    kn_lock_give(KN_LOCK_HOST_COMPILER);
    return &place;
}

/* ---- the command line ---- */

/* IEEE arithmetic, without errno, which no kernel can see and which keeps loops from being vectorised.
 * Integers wrap, as NumPy's do. Nothing of the place or the time of the compile gets into the output: the
 * same source gives the same bytes.
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
    "-fno-math-errno",
    "-fno-tree-slp-vectorize",
    "-fwrapv",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-asynchronous-unwind-tables",
    "-fvisibility=hidden",
    "-Wall",
    "-Wno-psabi",
    "-Wno-unused-function",
    "-Wno-unknown-pragmas",
    "-Wno-int-in-bool-context", /* x * 2 of a boolean x, in kernels for any type */
    "-fdiagnostics-color=never",
    "-Wl,--build-id=none",
};
static const char source_file[] = "kernel.cpp", code_file[] = "kernel.so", rule_file[] = "kernel.d",
                  link_rule_file[] = "link.d";

/* Words, each ended by a NUL, and pointers to them once all are there. */
typedef struct command_line {
    kn_str text;
    int n;
    const char **items;
} command_line;

static void add(command_line *line, const char *word)
{
    kn_str_append_n(&line->text, word, strlen(word) + 1);
    line->n++;
}

/* "-I" and the like in front of a file of the private folder, or of the folder itself (""). */
static void add_private(command_line *line, const char *option, const char *folder, const char *name)
{
    kn_str_printf(&line->text, "%s%s%s%s", option, folder, *name ? "/" : "", name);
    kn_str_append_n(&line->text, "", 1);
    line->n++;
}

static void free_command_line(command_line *line)
{
    kn_str_free(&line->text);
    kn_free(line->items);
}

static kiln_status end_command_line(command_line *line)
{
    size_t bytes = (size_t)(line->n + 1) * sizeof *line->items;
    kiln_status status = kn_str_status(&line->text, "a command line");
    if (status != KILN_OK)
        return status;
    line->items = kn_malloc(bytes);
    if (!line->items)
        return kn_error_memory(bytes, "a command line");
    const char *word = line->text.data;
    for (int i = 0; i < line->n; i++, word = next_word(word))
        line->items[i] = word;
    line->items[line->n] = NULL;
    return KILN_OK;
}

static bool names_standard(const kn_compile_request *request)
{
    for (int i = 0; i < request->n_options; i++)
        if (strncmp(request->options[i], "-std=", 5) == 0)
            return true;
    return false;
}

/* The compiler, and all that decides how it reads a source. It runs in the caller's folder, so that relative
 * names in options mean what they mean to the caller. */
static void add_language(command_line *line, const char *folder, const kn_compile_request *request)
{
    const char *word = command.data;
    for (int i = 0; i < n_words; i++, word = next_word(word))
        add(line, word);
    for (size_t i = 0; i < sizeof base_options / sizeof *base_options; i++)
        add(line, base_options[i]);
    add_private(line, "-I", folder, "");
    kn_str_printf(&line->text, "-march=%s", request->target.architecture);
    kn_str_append_n(&line->text, "", 1);
    line->n++;
    if (!names_standard(request))
        add(line, "-std=c++17");
    if (request->flags & KN_COMPILE_FAST_MATH)
        add(line, "-ffast-math");
    if (request->flags & KN_COMPILE_NO_FMA)
        add(line, "-ffp-contract=off");
    for (int i = 0; i < request->n_options; i++)
        add(line, request->options[i]);
}

/* gcc's start files of -ffast-math would set the processor to flush denormals, in the whole process, when the
 * object is loaded. */
static void add_libraries(command_line *line, bool is_lean, unsigned flags)
{
    if (is_lean)
        add(line, "-nostdlib");
    else if (flags & KN_COMPILE_FAST_MATH)
        add(line, "-nostartfiles");
    add(line, "-lm");
    if (is_lean)
        add(line, "-lgcc");
}

/* How much the compiler is asked to say of what it reads. */
typedef enum trace_kind { TRACE_NOTHING, TRACE_HEADERS, TRACE_ALL } trace_kind;

static void add_trace(command_line *line, const char *folder, trace_kind trace)
{
    if (trace == TRACE_NOTHING)
        return;
    add(line, "-MD");
    add(line, "-MT");
    add(line, "code");
    add(line, "-MF");
    add_private(line, "", folder, rule_file);
    if (trace == TRACE_ALL)
        add_private(line, "-Wl,--dependency-file=", folder, link_rule_file);
}

static kiln_status make_command_line(command_line *line, const char *folder,
                                     const kn_compile_request *request, trace_kind trace)
{
    bool is_lean = !(request->flags & KN_COMPILE_USER_MODULE) && trace == TRACE_NOTHING;
    *line = (command_line){KN_STR_INIT, 0, NULL};
    add_language(line, folder, request);
    add_trace(line, folder, trace);
    add(line, "-o");
    add_private(line, "", folder, code_file);
    add_private(line, "", folder, source_file);
    add_libraries(line, is_lean, request->flags);
    return end_command_line(line);
}

/* The same compiler, asked where it looks for headers. */
static kiln_status make_question(command_line *line, const char *folder, const kn_compile_request *request)
{
    *line = (command_line){KN_STR_INIT, 0, NULL};
    add_language(line, folder, request);
    add(line, "-E");
    add(line, "-v");
    add(line, "-o");
    add(line, "/dev/null");
    add(line, "/dev/null");
    return end_command_line(line);
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
    return strcmp(name, source_file) != 0 && strcmp(name, code_file) != 0 && strcmp(name, rule_file) != 0 &&
           strcmp(name, link_rule_file) != 0;
}

/* #line makes messages name the kernel, or the header, and not our file. */
static kiln_status write_text(const char *path, const kn_str *name, const char *content)
{
    kn_str text = KN_STR_INIT;
    kn_str_printf(&text, "#line 1 \"%s\"\n", kn_str_text(name));
    kn_str_append(&text, content);
    kn_str_append(&text, "\n");
    kiln_status status =
        name->failed ? kn_error_memory(0, "a source's name") : kn_str_status(&text, "source text");
    if (status == KILN_OK)
        status = kn_os_write_file(path, text.data, text.length);
    kn_str_free(&text);
    return status;
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
    kn_str as_written = KN_STR_INIT;
    kn_str_append(&as_written, name);
    if (status == KILN_OK)
        status = write_text(path, &as_written, text);
    kn_str_free(&as_written);
    return status;
}

static kiln_status write_source(const char *folder, const kn_compile_request *request)
{
    char path[PATH_MAX];
    kn_str name = KN_STR_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, source_file);
    kn_compile_source_name(&name, request);
    kiln_status status = write_text(path, &name, request->source);
    kn_str_free(&name);
    return status;
}

static kiln_status fill_folder(const char *folder, const kn_compile_request *request)
{
    kiln_status status = write_source(folder, request);
    for (int i = 0; i < request->n_headers && status == KILN_OK; i++)
        status = write_header(folder, request->header_names[i], request->header_texts[i]);
    return status;
}

/* ---- running it ---- */

/* Generous: a kernel with large headers takes seconds. Whoever has none can wait as long as he likes. */
enum { USUAL_SECONDS = KN_OS_USUAL_TIMEOUT_MS / 1000, MOST_SECONDS = 1000000, CODE_MAX_BYTES = 1 << 30 };

static int timeout_ms(void)
{
    const char *told = kn_os_env("KILN_COMPILE_TIMEOUT");
    char *end = NULL;
    double seconds = told ? strtod(told, &end) : 0;
    if (!told || end == told || !(seconds > 0) || seconds > MOST_SECONDS)
        seconds = USUAL_SECONDS;
    return (int)(seconds * 1e3 < 1 ? 1 : seconds * 1e3);
}

/* The child's environment: this one, but messages in English (we read them), and temporary files where they
 * are removed with all else. */
static const char **make_environment(const char *temporary)
{
    static const char *const replaced[] = {"TMPDIR=", "LC_ALL=", "LANGUAGE="};
    enum { N_REPLACED = sizeof replaced / sizeof *replaced };
    char *const *here = kn_os_environment();
    size_t n = 0, kept = 0;
    while (here && here[n])
        n++;
    const char **list = kn_malloc((n + N_REPLACED) * sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        bool is_kept = true;
        for (size_t r = 0; r < N_REPLACED; r++)
            is_kept = is_kept && strncmp(here[i], replaced[r], strlen(replaced[r])) != 0;
        if (is_kept)
            list[kept++] = here[i];
    }
    if (list) {
        list[kept++] = temporary;
        list[kept++] = "LC_ALL=C";
        list[kept] = NULL;
    }
    return list;
}

static kiln_status run_line(const command_line *line, const char *folder, kn_str *output, int *exit_code)
{
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    const char **environment = make_environment(temporary);
    if (!environment)
        return kn_error_memory(0, "an environment");
    kn_os_command program = {line->items, NULL, environment, timeout_ms()};
    kiln_status status = kn_os_run_command(&program, output, exit_code);
    kn_free(environment);
    if (status == KILN_ERROR_IO)
        kn_error_context("the C++ compiler (KILN_COMPILE_TIMEOUT=SECONDS limits its time, now %g s)",
                         timeout_ms() * 1e-3);
    return status;
}

/* ---- what it read ---- */

static void take_rule(kn_compile_reads *reads, const char *folder, const char *name)
{
    char path[PATH_MAX];
    kn_blob rule = KN_BLOB_INIT;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (kn_os_read_plain_file(&rule, path, CODE_MAX_BYTES, true) == KILN_OK)
        kn_reads_take_rule(reads, rule.data, rule.size, folder);
    else
        reads->is_unknown = true;
    kn_blob_free(&rule);
}

static kiln_status ask_search_list(kn_compile_reads *reads, const char *folder,
                                   const kn_compile_request *request)
{
    command_line line;
    kn_str text = KN_STR_INIT;
    int exit_code = 0;
    kiln_status status = make_question(&line, folder, request);
    if (status == KILN_OK)
        status = run_line(&line, folder, &text, &exit_code);
    if (status == KILN_OK &&
        (exit_code != 0 || !kn_reads_take_search_list(reads, kn_str_text(&text), installation)))
        reads->is_unknown = true;
    kn_str_free(&text);
    free_command_line(&line);
    return status;
}

/* Files that a word names are read, whatever for: "@options", "-specs=x", "x.o". What such a file names in
 * turn cannot be told where it is a list of options. */
static void take_named_file(kn_compile_reads *reads, const char *word)
{
    const char *equals = strchr(word, '=');
    const char *file = word[0] == '@' ? word + 1 : word[0] != '-' ? word : equals ? equals + 1 : "";
    kn_blob content = KN_BLOB_INIT;
    if (!kn_os_is_file(file))
        return;
    kn_reads_add_file(reads, file, strlen(file));
    if (word[0] != '@')
        return;
    if (kn_os_read_plain_file(&content, file, CODE_MAX_BYTES, false) != KILN_OK ||
        memchr(content.data, '@', content.size))
        reads->is_unknown = true;
    kn_blob_free(&content);
}

static void take_named_files(kn_compile_reads *reads, const kn_compile_request *request)
{
    const char *word = next_word(command.data);
    for (int i = 1; i < n_words; i++, word = next_word(word))
        take_named_file(reads, word);
    for (int i = 0; i < request->n_options; i++)
        take_named_file(reads, request->options[i]);
}

static kiln_status take_reads(kn_compile_reads *reads, const char *folder, const kn_compile_request *request,
                              trace_kind trace, const struct timespec *began)
{
    char environment_now[33];
    kn_error_state before;
    reads->is_traced = reads->uses_environment = true;
    kn_error_save(&before);
    take_rule(reads, folder, rule_file);
    if (trace == TRACE_ALL)
        take_rule(reads, folder, link_rule_file);
    take_named_files(reads, request);
    kn_error_restore(&before);
    kiln_status status = ask_search_list(reads, folder, request);
    kn_compile_environment_hash(environment_now, KN_ENVIRONMENT_OF_CODE);
    if (kn_reads_are_newer(reads, began) || strcmp(environment_now, environment_then) != 0)
        reads->is_unknown = true;
    return status;
}

/* Options that bring in more than headers: libraries, objects, scripts of the linker. */
static trace_kind trace_of(const kn_compile_request *request)
{
    static const char *const forms[] = {"-l", "-L", "-Wl,", "-X", "-T", "-B", "@", "-specs", "--"};
    if (!words_reach && !kn_compile_reaches(request))
        return TRACE_NOTHING;
    for (int i = 0; i < request->n_options; i++) {
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
            if (strncmp(request->options[i], forms[f], strlen(forms[f])) == 0)
                return TRACE_ALL;
        if (request->options[i][0] != '-' && kn_os_is_file(request->options[i]))
            return TRACE_ALL;
    }
    return TRACE_HEADERS;
}

/* ---- compiling ---- */

static kiln_status fail(const kn_compile_request *request, const kn_str *log, int exit_code)
{
    char fallback[80];
    snprintf(fallback, sizeof fallback, "the C++ compiler ended with status %d and no message", exit_code);
    return kn_compile_failed(request->name, log, fallback);
}

static kiln_status run_once(kn_str *log, int *exit_code, const char *folder,
                            const kn_compile_request *request, trace_kind trace)
{
    command_line line;
    kiln_status status = make_command_line(&line, folder, request, trace);
    if (status == KILN_OK)
        status = run_line(&line, folder, log, exit_code);
    free_command_line(&line);
    return status;
}

/* Linkers before binutils 2.35, and gold, cannot say what they read. */
static bool is_silent_linker(const kn_str *log, trace_kind trace)
{
    return trace == TRACE_ALL && strstr(kn_str_text(log), "dependency-file");
}

static kiln_status read_code(kn_blob *out, const char *folder, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, code_file);
    kiln_status status = kn_os_read_plain_file(out, path, CODE_MAX_BYTES, true);
    return status == KILN_OK ? status : kn_error_context("%s: what the C++ compiler made", name);
}

static kiln_status run_compiler(kn_compile_result *out, const char *folder, const kn_compile_request *request)
{
    int exit_code = 0;
    trace_kind trace = trace_of(request);
    struct timespec began;
    clock_gettime(CLOCK_REALTIME, &began);
    kiln_status status = run_once(&out->log, &exit_code, folder, request, trace);
    if (status == KILN_OK && exit_code != 0 && is_silent_linker(&out->log, trace)) {
        kn_str_clear(&out->log);
        trace = TRACE_HEADERS;
        out->reads.is_unknown = true;
        status = run_once(&out->log, &exit_code, folder, request, trace);
    }
    kn_operators_unguard(&out->log, request->source);
    if (status == KILN_OK && exit_code != 0)
        status = fail(request, &out->log, exit_code);
    if (status == KILN_OK)
        status = read_code(&out->code, folder, request->name);
    if (status == KILN_OK && trace != TRACE_NOTHING)
        status = take_reads(&out->reads, folder, request, trace, &began);
    return status;
}

/* Once a process that has compiled. */
static void sweep(const kn_os_workplace *workplace)
{
    static atomic_flag is_swept = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_swept))
        kn_os_workplace_sweep(workplace);
}

static kiln_status host_compile(kn_compile_result *out, const kn_compile_request *request)
{
    kn_os_workplace workplace;
    if (!host_place()->is_found)
        return kn_error(KILN_ERROR_NOT_FOUND, "%s", place.location);
    if (request->n_name_expressions > 0)
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s: name expressions are for CUDA sources", request->name);
    kiln_status status = kn_os_workplace_make(&workplace);
    if (status != KILN_OK)
        return status;
    status = fill_folder(workplace.path, request);
    if (status == KILN_OK)
        status = run_compiler(out, workplace.path, request);
    kn_os_workplace_remove(&workplace);
    sweep(&workplace);
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
