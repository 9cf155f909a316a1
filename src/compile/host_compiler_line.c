/* compile/host_compiler_line.c - the command line of the host's compiler, and running it. */
#include "compile/host_compiler_line.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "compile/host_compiler_folder.h"
#include "compile/host_compiler_search.h"
#include "compile/timeout.h"

/* ---- the words ---- */

/* IEEE arithmetic, without errno, which no kernel can see and which keeps loops from being vectorised.
 * Integers wrap, as NumPy's do. Nothing of the place or the time of the compile gets into the output: the
 * same source gives the same bytes.
 *
 * Not -fno-trapping-math: with it gcc takes (double)(long)x for trunc(x), and -0.5 becomes -0.0. (The prelude
 * has floor and its like in a form that is vectorised without it.) And no vectors from straight code: gcc 12
 * drops the narrowing from two neighbours of (double)(float)x, as in a complex number. Neither costs anything
 * in the rows of the bench; loops are vectorised as ever.
 *
 * -fno-delete-null-pointer-checks: in loops over members of several sizes gcc 12 writes an address as 0 and a
 * register, then takes it for a null pointer, the code behind it for dead, and the function for one that
 * stores nothing, whose calls it removes. */
static const char *const base_options[] = {
    "-x",
    "c++",
    "-fPIC",
    "-pipe",
    "-fno-math-errno",
    "-fno-tree-slp-vectorize",
    "-fno-delete-null-pointer-checks",
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
    "-ftabstop=1", /* columns count bytes */
};
static const char *const linker_options[] = {
    "-shared",
    "-s",
    "-Wl,--build-id=none",
    /* Code and data share pages: an object has 2 to 5 KiB rather than 13, or 66 on aarch64, whose pages may
     * have 64 KiB. */
    "-Wl,-z,norelro,-z,noseparate-code",
};

static void add(kn_host_line *line, const char *word)
{
    kn_str_append_n(&line->text, word, strlen(word) + 1);
    line->n++;
}

/* "-I" and the like in front of a file of the private folder, or of the folder itself (""). */
static void add_private(kn_host_line *line, const char *option, const char *folder, const char *name)
{
    kn_str_printf(&line->text, "%s%s%s%s", option, folder, *name ? "/" : "", name);
    kn_str_append_n(&line->text, "", 1);
    line->n++;
}

void kn_host_line_free(kn_host_line *line)
{
    kn_str_free(&line->text);
    kn_free(line->items);
}

static kiln_status end_line(kn_host_line *line)
{
    size_t bytes = (size_t)(line->n + 1) * sizeof *line->items;
    kiln_status status = kn_str_status(&line->text, "a command line");
    if (status != KILN_OK)
        return status;
    line->items = kn_malloc(bytes);
    if (!line->items)
        return kn_error_memory("a command line");
    const char *word = line->text.data;
    for (int i = 0; i < line->n; i++, word = kn_host_next_word(word))
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

/* Linkers take from a library the symbols that earlier files lack. */
static bool names_library(const char *option)
{
    return strncmp(option, "-l", 2) == 0;
}

/* Only the text decides where a product and a sum become one operation: by default gcc's choice depends on
 * all else that it makes of a loop, and so on an element's place, on the layout and on the tier. (gcc before
 * 14 fuses nothing then.) */
static void add_contraction(kn_host_line *line, unsigned flags)
{
    if (flags & KN_COMPILE_NO_FMA)
        add(line, "-ffp-contract=off");
    else if (!(flags & (KN_COMPILE_FAST_MATH | KN_COMPILE_USER_MODULE)))
        add(line, "-ffp-contract=on");
}

/* The compiler, and all options that change how it reads a source. It runs in the caller's folder, so that
 * relative names in options keep their meaning. */
static void add_language(kn_host_line *line, const char *folder, const kn_compile_request *request)
{
    const kn_host_compiler *host = kn_host_compiler_find();
    const char *word = host->command.data;
    for (int i = 0; i < host->n_words; i++, word = kn_host_next_word(word))
        add(line, word);
    for (size_t i = 0; i < sizeof base_options / sizeof *base_options; i++)
        add(line, base_options[i]);
    const bool is_linked = !(request->flags & KN_COMPILE_OBJECT);
    for (size_t i = 0; is_linked && i < sizeof linker_options / sizeof *linker_options; i++)
        add(line, linker_options[i]);
    add(line, request->flags & KN_COMPILE_BASELINE ? "-Og" : "-O3");
    if (!(request->flags & KN_COMPILE_BASELINE)) /* loops of one vector take twice as long across a line */
        add(line, "-falign-loops=32");
    add_private(line, "-I", folder, "");
    kn_str_printf(&line->text, "-march=%s", request->target.architecture);
    kn_str_append_n(&line->text, "", 1);
    line->n++;
    if (!names_standard(request))
        add(line, "-std=c++17");
    if (request->flags & KN_COMPILE_FAST_MATH)
        add(line, "-ffast-math");
    if (request->flags & KN_COMPILE_NO_TRAPS)
        add(line, "-fno-trapping-math");
    add_contraction(line, request->flags);
    for (int i = 0; i < request->n_options; i++)
        if (!names_library(request->options[i]))
            add(line, request->options[i]);
}

/* Reading the symbols of libm takes a linker longer than all else that it does: 3 ms of 32 for a map. A
 * source that declares no function in C's way calls none but compilers' own; the linker says so if that is
 * wrong. */
bool kn_host_calls_no_library(const kn_compile_request *request)
{
    static const char declared[] = "extern \"C\"";
    const char *entry = strstr(request->source, declared);
    bool is_baseline = (request->flags & (KN_COMPILE_BASELINE | KN_COMPILE_LIBRARIES)) == KN_COMPILE_BASELINE;
    return is_baseline && request->n_options == 0 && entry && !strstr(entry + 1, declared);
}

/* gcc's start files of -ffast-math would set the processor to flush denormals, in the whole process, when the
 * object is loaded. */
static void add_libraries(kn_host_line *line, bool is_lean, const kn_compile_request *request)
{
    for (int i = 0; i < request->n_options; i++)
        if (names_library(request->options[i]))
            add(line, request->options[i]);
    bool is_alone = is_lean && kn_host_calls_no_library(request);
    if (is_lean)
        add(line, "-nostdlib");
    else if (request->flags & KN_COMPILE_FAST_MATH)
        add(line, "-nostartfiles");
    add(line, is_alone ? "-Wl,-z,defs" : "-lm");
    if (is_lean && !is_alone)
        add(line, "-lgcc");
}

static void add_trace(kn_host_line *line, const char *folder, kn_host_trace trace)
{
    if (trace == KN_HOST_TRACE_NOTHING)
        return;
    add(line, "-MD");
    add(line, "-MT");
    add(line, "code");
    add(line, "-MF");
    add_private(line, "", folder, KN_HOST_RULE_FILE);
    if (trace == KN_HOST_TRACE_ALL)
        add_private(line, "-Wl,--dependency-file=", folder, KN_HOST_LINK_RULE_FILE);
}

kiln_status kn_host_line_make(kn_host_line *line, const char *folder, const kn_compile_request *request,
                              kn_host_trace trace)
{
    bool is_lean = !(request->flags & KN_COMPILE_USER_MODULE) && trace == KN_HOST_TRACE_NOTHING;
    *line = (kn_host_line){KN_STR_INIT, 0, NULL};
    add_language(line, folder, request);
    add_trace(line, folder, trace);
    const bool is_object = request->flags & KN_COMPILE_OBJECT;
    if (is_object)
        add(line, "-c");
    add(line, "-o");
    add_private(line, "", folder, is_object ? KN_HOST_OBJECT_FILE : KN_HOST_CODE_FILE);
    add_private(line, "", folder, KN_HOST_SOURCE_FILE);
    if (!is_object)
        add_libraries(line, is_lean, request);
    return end_line(line);
}

kiln_status kn_host_line_ask(kn_host_line *line, const char *folder, const kn_compile_request *request)
{
    *line = (kn_host_line){KN_STR_INIT, 0, NULL};
    add_language(line, folder, request);
    add(line, "-E");
    add(line, "-v");
    add(line, "-o");
    add(line, "/dev/null");
    add(line, "/dev/null");
    return end_line(line);
}

kiln_status kn_host_line_list(kn_host_line *line, const char *folder, const kn_compile_request *request)
{
    *line = (kn_host_line){KN_STR_INIT, 0, NULL};
    add_language(line, folder, request);
    add(line, "-M");
    add(line, "-MT");
    add(line, "code");
    add(line, "-MF");
    add_private(line, "", folder, KN_HOST_RULE_FILE);
    add_private(line, "", folder, KN_HOST_SOURCE_FILE);
    return end_line(line);
}

/* ---- running it ---- */

/* The child's environment: this one, but messages in English (we read them), and temporary files where they
 * are removed with all else. */
static const char **make_environment(const char *temporary)
{
    static const char *const replaced[] = {"TMPDIR=", "LC_ALL=", "LANGUAGE="};
    enum { N_REPLACED = sizeof replaced / sizeof *replaced };
    char *const *here = kn_os_environment();
    size_t n = 0, count = 0;
    while (here && here[n])
        n++;
    const char **list = kn_malloc((n + N_REPLACED) * sizeof *list);
    for (size_t i = 0; list && i < n; i++) {
        bool is_passed_on = true;
        for (size_t r = 0; r < N_REPLACED; r++)
            is_passed_on = is_passed_on && strncmp(here[i], replaced[r], strlen(replaced[r])) != 0;
        if (is_passed_on)
            list[count++] = here[i];
    }
    if (list) {
        list[count++] = temporary;
        list[count++] = "LC_ALL=C";
        list[count] = NULL;
    }
    return list;
}

kiln_status kn_host_line_run(const kn_host_line *line, const char *folder, kn_str *output, int *exit_code)
{
    char temporary[PATH_MAX];
    snprintf(temporary, sizeof temporary, "TMPDIR=%s", folder);
    const char **environment = make_environment(temporary);
    if (!environment)
        return kn_error_memory("an environment");
    kn_os_command program = {line->items, NULL, environment, kn_compile_timeout_ms()};
    kiln_status status = kn_os_run_command(&program, output, exit_code);
    kn_free(environment);
    if (status == KILN_ERROR_IO)
        kn_error_context("the C++ compiler (KILN_COMPILE_TIMEOUT=SECONDS limits its time, now %g s)",
                         kn_compile_timeout_ms() * 1e-3);
    return status;
}
