/* compile/nvrtc.c - CUDA source to a cubin (or PTX) by NVRTC, which is loaded at the first compile and stays
 * loaded. */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/shortage.h"
#include "base/unload.h"
#include "compile/compiler.h"
#include "compile/nvrtc_library.h"
#include "compile/nvrtc_options.h"
#include "compile/reads.h"
#include "program/operators.h"

static kiln_status nvrtc_version(kn_str *out)
{
    kiln_status status = kn_nvrtc_load();
    if (status != KILN_OK)
        return status;
    kn_str_printf(out, "%d.%d", kn_nvrtc.version / 1000, kn_nvrtc.version % 1000 / 10);
    return kn_str_status(out, "the version of NVRTC");
}

static kiln_status nvrtc_failed(int result, const char *what)
{
    if (result == KN_NVRTC_OUT_OF_MEMORY)
        kn_shortage_note(ENOMEM);
    kiln_status status = result == KN_NVRTC_OUT_OF_MEMORY ? KILN_ERROR_MEMORY : KILN_ERROR_COMPILE;
    return kn_error(status, "%s: %s", what, kn_nvrtc.api.error_string(result));
}

static kiln_status read_log(kn_str *log, kn_nvrtc_program program)
{
    size_t size = 0;
    if (kn_nvrtc.api.log_size(program, &size) != KN_NVRTC_OK || size <= 1)
        return KILN_OK;
    char *text = kn_malloc(size);
    if (!text)
        return kn_error_memory("a compiler's log");
    if (kn_nvrtc.api.log(program, text) == KN_NVRTC_OK)
        kn_str_append_n(log, text, strnlen(text, size));
    kn_free(text);
    return kn_str_status(log, "a compiler's log");
}

static kiln_status read_code(kn_blob *code, kn_nvrtc_program program, bool is_ptx)
{
    size_t size = 0;
    int result = is_ptx ? kn_nvrtc.api.ptx_size(program, &size) : kn_nvrtc.api.cubin_size(program, &size);
    if (result != KN_NVRTC_OK)
        return nvrtc_failed(result, "reading the size of the code from NVRTC");
    if (size == 0)
        return kn_error(KILN_ERROR_COMPILE, "NVRTC gave no code");
    char *data = kn_malloc(size);
    if (!data)
        return kn_error_memory("compiled code");
    result = is_ptx ? kn_nvrtc.api.ptx(program, data) : kn_nvrtc.api.cubin(program, data);
    if (result != KN_NVRTC_OK) {
        kn_free(data);
        return nvrtc_failed(result, "reading the code from NVRTC");
    }
    *code = (kn_blob){data, size};
    return KILN_OK;
}

static kiln_status add_names(kn_nvrtc_program program, const kn_compile_request *request)
{
    for (int i = 0; i < request->n_name_expressions; i++) {
        int result = kn_nvrtc.api.add_name(program, request->name_expressions[i]);
        if (result != KN_NVRTC_OK)
            return kn_error(KILN_ERROR_INVALID, "name expression \"%s\": %s", request->name_expressions[i],
                            kn_nvrtc.api.error_string(result));
    }
    return KILN_OK;
}

static kiln_status read_lowered_names(kn_compile_result *out, kn_nvrtc_program program,
                                      const kn_compile_request *request)
{
    int n = request->n_name_expressions;
    if (n == 0)
        return KILN_OK;
    out->lowered_names = kn_calloc((size_t)n, sizeof *out->lowered_names);
    if (!out->lowered_names)
        return kn_error_memory("lowered names");
    out->n_lowered_names = n;
    for (int i = 0; i < n; i++) {
        const char *name = NULL;
        int result = kn_nvrtc.api.lowered_name(program, request->name_expressions[i], &name);
        if (result != KN_NVRTC_OK)
            return kn_error(KILN_ERROR_NOT_FOUND, "name expression \"%s\": %s", request->name_expressions[i],
                            kn_nvrtc.api.error_string(result));
        out->lowered_names[i] = kn_strdup(name);
        if (!out->lowered_names[i])
            return kn_error_memory("a lowered name");
    }
    return KILN_OK;
}

/* ---- the files that it read ---- */

enum { LISTING_MAX_BYTES = 1 << 30 };

static void take_reads(kn_compile_reads *reads, const kn_nvrtc_options *list, const char *listing,
                       const kn_compile_request *request, const struct timespec *began)
{
    kn_blob text = KN_BLOB_INIT;
    kn_error_state before;
    reads->is_traced = true;
    kn_error_save(&before);
    if (list->n_trace > 0 && kn_os_read_plain_file(&text, listing, LISTING_MAX_BYTES, true) == KILN_OK)
        kn_reads_take_listing(reads, text.data, text.size, request);
    else
        reads->is_unknown = true;
    kn_error_restore(&before);
    kn_blob_free(&text);
    const char *option = list->include_options.data;
    const char *end = option ? option + list->include_options.length : NULL;
    kn_reads_add_folder(reads, ".", 1, false); /* the folder where a program without a place begins to look */
    for (; option && option < end; option += strlen(option) + 1)
        kn_reads_add_folder(reads, option + 2, strlen(option + 2), true);
    if (kn_reads_are_newer(reads, began))
        reads->is_unknown = true;
}

/* ---- compiling ---- */

static int compile_with(kn_nvrtc_program program, kn_nvrtc_options *list)
{
    int result = kn_nvrtc.api.compile(program, list->n, list->items);
    kn_unload_watch_library(); /* it makes more of itself at its first use */
    if (result == KN_NVRTC_INVALID_OPTION && kn_nvrtc_options_drop_lean(list))
        result = kn_nvrtc.api.compile(program, list->n, list->items);
    if (result == KN_NVRTC_INVALID_OPTION && kn_nvrtc_options_drop_listing(list))
        result = kn_nvrtc.api.compile(program, list->n, list->items);
    return result;
}

/* listing: the file in which the compiler lists the files that it reads; NULL for a request that uses no
 * file. */
static kiln_status compile_program(kn_compile_result *out, kn_nvrtc_program program,
                                   const kn_compile_request *request, const char *listing)
{
    kn_nvrtc_options list;
    struct timespec began;
    clock_gettime(CLOCK_REALTIME, &began);
    kiln_status status = kn_nvrtc_options_make(&list, request, listing);
    if (status == KILN_OK)
        status = add_names(program, request);
    if (status != KILN_OK)
        goto out;
    int result = compile_with(program, &list);
    status = read_log(&out->log, program);
    kn_operators_unguard(&out->log, request->source);
    if (status == KILN_OK && result != KN_NVRTC_OK)
        status = kn_compile_failed(request, &out->log, kn_nvrtc.api.error_string(result));
    if (status == KILN_OK)
        status = read_code(&out->code, program, list.is_ptx);
    if (status == KILN_OK)
        status = read_lowered_names(out, program, request);
    if (listing) /* of what failed, too: for nvrtc_list_headers */
        take_reads(&out->reads, &list, listing, request, &began);
out:
    kn_nvrtc_options_free(&list);
    return status;
}

static kiln_status compile_listed(kn_compile_result *out, kn_nvrtc_program program,
                                  const kn_compile_request *request)
{
    kn_os_workplace workplace;
    char listing[sizeof workplace.path + 16];
    kiln_status status = kn_os_workplace_make(&workplace);
    if (status != KILN_OK)
        return status;
    snprintf(listing, sizeof listing, "%s/listing", workplace.path);
    status = compile_program(out, program, request, listing);
    kn_os_workplace_remove(&workplace);
    return status;
}

/* The number of threads inside NVRTC, whose own locks a fork cannot take. */
static atomic_int n_inside;
static bool is_stuck;

static void look_in_child(void)
{
    is_stuck = is_stuck || atomic_load(&n_inside) > 0;
    atomic_store(&n_inside, 0);
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(look_in_child);
}

static kiln_status nvrtc_compile(kn_compile_result *out, const kn_compile_request *request)
{
    kn_nvrtc_program program = NULL;
    kn_str name = KN_STR_INIT;
    kiln_status status = kn_nvrtc_load();
    if (status != KILN_OK)
        return status;
    if (is_stuck)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "NVRTC was compiling in another thread when this process was forked, and cannot be "
                        "used here: compile before fork(), or when no thread compiles");
    atomic_fetch_add(&n_inside, 1);
    kn_compile_source_name(&name, request);
    status = kn_str_status(&name, "a source's name");
    if (status != KILN_OK)
        goto out;
    int result = kn_nvrtc.api.create(&program, request->source, name.data, request->n_headers,
                                     request->header_texts, request->header_names);
    if (result != KN_NVRTC_OK) {
        status = nvrtc_failed(result, "nvrtcCreateProgram");
        goto out;
    }
    status = kn_compile_reaches(request) ? compile_listed(out, program, request)
                                         : compile_program(out, program, request, NULL);
    kn_nvrtc.api.destroy(&program);
out:
    atomic_fetch_sub(&n_inside, 1);
    kn_str_free(&name);
    return status;
}

static bool is_toolkits(const kn_compile_reads *reads, const char *path, size_t length)
{
    for (const char *folder = kn_str_text(&reads->system_folders); *folder;) {
        size_t n = strcspn(folder, "\n");
        if (n > 0 && length > n && memcmp(path, folder, n) == 0)
            return true;
        folder += n + (folder[n] == '\n');
    }
    return false;
}

/* The headers that the compiler lists when it compiles the request again. */
static void nvrtc_list_headers(kn_str *out, const kn_compile_request *request)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_compile_request plain = *request;
    plain.n_name_expressions = 0;
    (void)!nvrtc_compile(&result, &plain);
    for (const char *path = kn_str_text(&result.reads.files); *path;) {
        size_t length = strcspn(path, "\n");
        if (!is_toolkits(&result.reads, path, length))
            kn_str_printf(out, "%.*s\n", (int)length, path);
        path += length + (path[length] == '\n');
    }
    kn_blob_free(&result.code);
    kn_str_free(&result.log);
    kn_str_free(&result.reads.files);
    kn_str_free(&result.reads.folders);
    kn_str_free(&result.reads.system_folders);
}

const kn_compiler kn_compiler_nvrtc = {kn_nvrtc_place, nvrtc_compile, nvrtc_version, nvrtc_list_headers};
