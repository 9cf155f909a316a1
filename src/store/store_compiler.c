/* The last to be asked: writes the source and compiles it. */
#include "store/code_search.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/setting.h"

static const char *file_ending(kn_backend_kind backend)
{
    return backend == KN_CUDA ? "cu" : "cpp";
}

/* Failures are logged: they must not change the result of a call. */
static void dump_source(const kn_compile_job *job, const char *source)
{
    const char *folder = kn_setting("KILN_DUMP_SOURCE");
    kn_hash hash;
    char hex[33], path[PATH_MAX];
    kn_error_state before;
    if (!folder)
        return;
    hash = kn_hash_128(job->what.data, job->what.length);
    kn_hash_hex(&hash, hex);
    snprintf(path, sizeof path, "%s/%s-%s.%s", folder, job->name, hex, file_ending(job->target.backend));
    kn_error_save(&before);
    if (kn_os_make_folders(folder, 0777) != KILN_OK ||
        kn_os_replace_file(path, source, strlen(source), false) != KILN_OK)
        kn_log(KILN_LOG_WARNING, "the source of %s was not written down: %s", job->name,
               kiln_error_message());
    kn_error_restore(&before);
}

static kiln_status write_source(kn_code_search *search, kn_compile_request *compile, kn_str *source)
{
    double start = kn_os_now_ms();
    kiln_status status = search->job->write(source, compile, search->job);
    if (status == KILN_OK)
        status = kn_str_status(source, "a kernel's source");
    search->info->generate_ms += kn_os_now_ms() - start;
    if (status == KILN_OK)
        dump_source(search->job, kn_str_text(source));
    return status;
}

static kiln_status compile_source(kn_code_search *search, kn_code *code, const kn_compile_request *compile)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_str dependencies = KN_STR_INIT;
    double start = kn_os_now_ms(), ms;
    kiln_status status = kn_compile(&result, compile);
    ms = kn_os_now_ms() - start;
    search->info->compile_ms += ms;
    if (status != KILN_ERROR_NOT_FOUND) /* no compiler is no compile; a failure is one */
        kn_store_count(search->counts, ms);
    if (status == KILN_OK)
        status = kn_compile_dependencies(&dependencies, compile, &result);
    if (status == KILN_OK)
        status = kn_str_status(&dependencies, "the notes of a compile");
    kn_str_append(&search->warnings, kn_str_text(&result.warnings));
    if (status == KILN_OK) {
        code->code = result.code;
        result.code = (kn_blob)KN_BLOB_INIT;
        code->dependencies.data = dependencies.data; /* both are plain allocations */
        code->dependencies.size = dependencies.length;
        dependencies = (kn_str)KN_STR_INIT;
    }
    kn_str_free(&dependencies);
    kn_compile_result_free(&result);
    return status;
}

static kiln_status check_written(const kn_code *code, const kn_compile_job *job)
{
    if (kn_code_check_whole(code, job) == KILN_OK)
        return KILN_OK;
    return kn_error_context(
        "the compiler reported success, but what it wrote cannot be used (is its disk full?)");
}

/* Loads the code if it is wanted: a compiler's success may be half an object, or lack its entry. Without
 * memory for that the result is unknown, and only this process uses the code. */
static kiln_status prove(kn_code_search *search, const kn_code *code, const kn_compile_request *compile)
{
    kn_error_state before;
    kiln_status status = check_written(code, search->job);
    if (status != KILN_OK)
        return status;
    kn_error_save(&before);
    status = search->load ? search->load(search, code) : KILN_OK;
    if (status != KILN_OK && status != KILN_ERROR_MEMORY) {
        kn_free(before.log);
        return kn_compile_not_loaded(compile, status);
    }
    /* Code whose dependencies are unknown is used by this process only. */
    search->is_proven = status == KILN_OK && kn_code_is_current(code, search->job);
    kn_error_restore(&before);
    return KILN_OK;
}

static int count_errors(const char *log)
{
    int count = 0;
    for (const char *at = log ? log : ""; (at = strstr(at, "error")) != NULL; at++)
        count++;
    return count;
}

/* The last try, and the best error so far. */
typedef struct tries {
    kn_compile_request request;
    kn_str source[2], words, log;
    kn_error_state error;
} tries;

/* The error is that of the try with the fewest of them. */
static void keep_error(tries *t)
{
    const char *log = kiln_error_log();
    kn_str_clear(&t->log);
    kn_str_append(&t->log, log ? log : "");
    if (count_errors(log) >= count_errors(t->error.log))
        return;
    kn_free(t->error.log);
    kn_error_save(&t->error);
}

static kiln_status try_source(kn_code_search *search, kn_code *code, tries *t, kn_str *source,
                              const char *complaints)
{
    t->request.failed_source = t->request.source;
    t->request.complaints = complaints;
    kiln_status status = write_source(search, &t->request, source);
    if (status != KILN_OK || strcmp(kn_str_text(source), t->request.failed_source) == 0)
        return status == KILN_OK ? KILN_ERROR_COMPILE : status;
    t->request.source = kn_str_text(source);
    status = compile_source(search, code, &t->request);
    if (status == KILN_ERROR_COMPILE)
        keep_error(t);
    return status;
}

/* The words of a kernel's texts decide which names of kiln's it gets. When the compiler refuses the result,
 * it also gets the names that headers use, and then loses those that others define. */
static kiln_status compile_otherwise(kn_code_search *search, kn_code *code, const kn_compile_request *first)
{
    tries t = {.request = *first};
    kn_str_append(&t.log, kiln_error_log());
    kn_error_save(&t.error);
    kiln_status status = kn_compile_header_words(&t.words, first);
    t.request.header_words = kn_str_text(&t.words);
    if (status == KILN_OK)
        status = try_source(search, code, &t, &t.source[0], "");
    if (status == KILN_ERROR_COMPILE)
        status = try_source(search, code, &t, &t.source[1], kn_str_text(&t.log));
    kn_str_free(&t.source[0]);
    kn_str_free(&t.source[1]);
    kn_str_free(&t.words);
    kn_str_free(&t.log);
    if (status == KILN_OK) {
        kn_free(t.error.log);
        return status;
    }
    kn_error_restore(&t.error);
    return KILN_ERROR_COMPILE;
}

static kiln_status compile(kn_code_search *search, kn_code *code, unsigned flags)
{
    kn_str source = KN_STR_INIT;
    kn_compile_request compile = {.target = search->job->target, .name = search->job->name, .flags = flags};
    kiln_status status = write_source(search, &compile, &source);
    compile.source = kn_str_text(&source);
    if (status == KILN_OK)
        status = compile_source(search, code, &compile);
    if (status == KILN_ERROR_COMPILE)
        status = compile_otherwise(search, code, &compile);
    if (status == KILN_OK)
        status = prove(search, code, &compile);
    kn_str_free(&source);
    return status;
}

kiln_status kn_build_compile(kn_code *out, const kn_compile_job *job, unsigned flags)
{
    kn_store_counts counts = {0};
    kn_build_info info = {0};
    kn_code_search search = {.job = job, .info = &info, .counts = &counts, .warnings = KN_STR_INIT};
    kiln_status status = compile(&search, out, flags);
    kn_str_free(&search.warnings);
    if (status == KILN_OK && !kn_code_is_current(out, job))
        status = kn_error(KILN_ERROR_COMPILE, "%s: a file that it includes changed while it was compiled",
                          job->name);
    return status;
}

static kiln_status find(kn_code **out, void *self, kn_code_search *search)
{
    kn_code *code = kn_code_new(search);
    kiln_status status;
    (void)self;
    if (!code)
        return KILN_ERROR_MEMORY;
    status = compile(search, code, 0);
    if (status == KILN_OK)
        *out = code;
    else
        kn_code_free(code);
    return status;
}

const kn_store kn_store_compiler = {.name = "the compiler", .roles = KN_STORE_MAKES, .find = find};
