/* compile/host_compiler.c - C++ source to a shared object by the host's compiler (gcc or clang), run as a
 * process in a private folder.
 *
 * * Most of such a compile is spent starting programs and linking. Generated code includes nothing and needs
 * only libm (which brings libmvec where there is one) and libgcc's helpers, so it is linked without start
 * files and standard libraries: 34 ms rather than 50 with gcc 12. */

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "base/shortage.h"
#include "compile/compiler.h"
#include "compile/host_compiler_ahead.h"
#include "compile/host_compiler_folder.h"
#include "compile/host_compiler_line.h"
#include "compile/host_compiler_reads.h"
#include "compile/host_compiler_search.h"
#include "compile/host_linker.h"
#include "program/operators.h"

static kiln_status fail(const kn_compile_request *request, const kn_str *log, int exit_code)
{
    char fallback[80];
    snprintf(fallback, sizeof fallback, "the C++ compiler ended with status %d and no message", exit_code);
    return kn_compile_failed(request, log, fallback);
}

static kiln_status run_line(kn_str *log, int *exit_code, const char *folder,
                            const kn_compile_request *request, kn_host_trace trace)
{
    kn_host_line line;
    kiln_status status = kn_host_line_make(&line, folder, request, trace);
    if (status == KILN_OK)
        status = kn_host_line_run(&line, folder, log, exit_code);
    kn_host_line_free(&line);
    return status;
}

/* Linkers before binutils 2.35, and gold, cannot list the files that they read. */
static bool is_silent_linker(const kn_str *log, kn_host_trace trace)
{
    return trace == KN_HOST_TRACE_ALL && strstr(kn_str_text(log), "dependency-file");
}

/* gcc 12 does so over minima of int8 that it makes vectors of with masks. */
static bool is_broken_compiler(const kn_str *log)
{
    return strstr(kn_str_text(log), "internal compiler error") != NULL;
}

/* Notes words by which gcc and clang say that the system ended a part of theirs, or gave it no memory. */
static void note_shortage(const kn_str *log)
{
    static const char *const signs[] = {"Killed signal terminated program", "out of memory allocating",
                                        "Cannot allocate memory", "Resource temporarily unavailable"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strstr(kn_str_text(log), signs[i]))
            kn_shortage_note(ENOMEM);
}

/* Compilers call functions of libraries for some operations, of which the source says nothing. */
static bool lacks_library(const kn_str *log, const kn_compile_request *request)
{
    return request->flags & KN_COMPILE_BASELINE &&
           (strstr(kn_str_text(log), "undefined reference") || strstr(kn_str_text(log), "undefined symbol"));
}

static kiln_status run_with_libraries(kn_str *log, int *exit_code, const char *folder,
                                      const kn_compile_request *request, kn_host_trace trace)
{
    kn_compile_request full = *request;
    full.flags |= KN_COMPILE_LIBRARIES;
    kn_str_clear(log);
    return run_line(log, exit_code, folder, &full, trace);
}

/* Slower code is better than none. */
static kiln_status run_without_vectors(kn_str *log, int *exit_code, const char *folder,
                                       const kn_compile_request *request, kn_host_trace trace)
{
    kn_compile_request plain = *request;
    size_t bytes = (size_t)(request->n_options + 1) * sizeof *request->options;
    const char **option = kn_malloc(bytes);
    if (!option)
        return kn_error_memory("a command line");
    for (int i = 0; i < request->n_options; i++)
        option[i] = request->options[i];
    option[plain.n_options++] = "-fno-tree-vectorize";
    plain.options = option;
    kn_str_clear(log);
    kiln_status status = run_line(log, exit_code, folder, &plain, trace);
    kn_free(option);
    return status;
}

/* Compiles without a linker. out->code stays empty where one is needed. */
static kiln_status run_without_linker(kn_compile_result *out, int *exit_code, const char *folder,
                                      const kn_compile_request *request)
{
    kn_compile_request plain = *request;
    kn_blob object = KN_BLOB_INIT;
    plain.flags |= KN_COMPILE_OBJECT;
    kiln_status status = run_line(&out->log, exit_code, folder, &plain, KN_HOST_TRACE_NOTHING);
    if (status != KILN_OK || *exit_code != 0)
        return status;
    status = kn_host_read_code(&object, folder, KN_HOST_OBJECT_FILE, request->name);
    if (status == KILN_OK)
        status = kn_host_link(&out->code, &object, request->name);
    kn_blob_free(&object);
    return status;
}

static kiln_status run_first(kn_compile_result *out, int *exit_code, const char *folder,
                             const kn_compile_request *request, kn_host_trace trace)
{
    if (trace == KN_HOST_TRACE_NOTHING && kn_host_can_link(request)) {
        kiln_status status = run_without_linker(out, exit_code, folder, request);
        if (status != KILN_OK || *exit_code != 0 || out->code.data)
            return status;
        kn_str_clear(&out->log);
    }
    return run_line(&out->log, exit_code, folder, request, trace);
}

static kiln_status run_compiler(kn_compile_result *out, const char *folder, const kn_compile_request *request)
{
    int exit_code = 0;
    kn_host_trace trace = kn_host_trace_of(request);
    struct timespec began;
    clock_gettime(CLOCK_REALTIME, &began);
    kiln_status status = run_first(out, &exit_code, folder, request, trace);
    if (status == KILN_OK && exit_code != 0 && is_silent_linker(&out->log, trace)) {
        kn_str_clear(&out->log);
        trace = KN_HOST_TRACE_HEADERS;
        out->reads.is_unknown = true;
        status = run_line(&out->log, &exit_code, folder, request, trace);
    }
    if (status == KILN_OK && exit_code != 0 && is_broken_compiler(&out->log))
        status = run_without_vectors(&out->log, &exit_code, folder, request, trace);
    if (status == KILN_OK && exit_code != 0 && lacks_library(&out->log, request))
        status = run_with_libraries(&out->log, &exit_code, folder, request, trace);
    kn_operators_unguard(&out->log, request->source);
    if (status == KILN_OK && exit_code != 0) {
        note_shortage(&out->log);
        status = fail(request, &out->log, exit_code);
    }
    if (status == KILN_OK && !out->code.data)
        status = kn_host_read_code(&out->code, folder, KN_HOST_CODE_FILE, request->name);
    if (status == KILN_OK && trace != KN_HOST_TRACE_NOTHING)
        status = kn_host_take_reads(&out->reads, folder, request, trace, &began);
    return status;
}

/* Once a process that has compiled. */
static void sweep(const kn_os_workplace *workplace)
{
    static atomic_flag is_swept = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&is_swept))
        kn_os_workplace_sweep(workplace);
}

static const kn_compiler_place *host_place(void)
{
    return &kn_host_compiler_find()->place;
}

static kiln_status host_compile(kn_compile_result *out, const kn_compile_request *request)
{
    kn_os_workplace workplace;
    const kn_compiler_place *place = host_place();
    if (!place->is_found)
        return kn_compiler_missing(place);
    if (request->n_name_expressions > 0)
        return kn_error(KILN_ERROR_UNSUPPORTED, "%s: name expressions are for CUDA sources", request->name);
    if (kn_host_ahead_compile(out, request)) {
        kn_operators_unguard(&out->log, request->source);
        kn_host_ahead_start(request);
        return KILN_OK;
    }
    kiln_status status = kn_os_workplace_make(&workplace);
    if (status != KILN_OK)
        return status;
    status = kn_host_fill_folder(workplace.path, request);
    if (status == KILN_OK)
        status = run_compiler(out, workplace.path, request);
    kn_os_workplace_remove(&workplace);
    sweep(&workplace);
    if (status == KILN_OK)
        kn_host_ahead_start(request);
    return status;
}

static void host_list_headers(kn_str *out, const kn_compile_request *request)
{
    kn_os_workplace workplace;
    if (!host_place()->is_found || kn_os_workplace_make(&workplace) != KILN_OK)
        return;
    if (kn_host_fill_folder(workplace.path, request) == KILN_OK)
        kn_host_list_headers(out, workplace.path, request);
    kn_os_workplace_remove(&workplace);
}

static kiln_status host_version(kn_str *out)
{
    const kn_compiler_place *place = host_place();
    if (!place->is_found)
        return kn_compiler_missing(place);
    const char *argv[] = {place->path, "--version", NULL};
    kn_str text = KN_STR_INIT;
    int exit_code = 0;
    kiln_status status = kn_os_run(argv, NULL, &text, &exit_code);
    if (status == KILN_OK)
        kn_str_append_n(out, kn_str_text(&text), strcspn(kn_str_text(&text), "\n"));
    kn_str_free(&text);
    return status == KILN_OK ? kn_str_status(out, "the compiler's version") : status;
}

const kn_compiler kn_compiler_host = {host_place, host_compile, host_version, host_list_headers};
