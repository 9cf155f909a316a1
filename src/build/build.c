#include "build/build.h"
#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "build/build_state.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Longer than any compile should take; then two processes may compile the same. */
enum { LOCK_TIMEOUT_MS = 30000 };

static void empty(kn_code *code)
{
    kn_blob_free(&code->code);
    kn_blob_free(&code->notes);
}

void kn_code_free(void *value)
{
    kn_code *code = value;
    if (!code)
        return;
    empty(code);
    kn_free(code);
}

/* Whether the headers that went in are what they were, wherever they can be found. */
static bool is_current(const kn_code *code, const kn_build_request *request)
{
    return kn_compile_notes_hold(code->notes.data, code->notes.size, request->options, request->n_options);
}

/* PTX, which the driver reads up to a NUL. */
static bool is_text(const kn_blob *code)
{
    return code->size > 0 && strnlen(code->data, code->size) >= code->size - 1;
}

/* Whether it may be shown to a loader: those trust what the headers say. */
static kiln_status check_whole(const kn_build_request *request, const kn_code *code)
{
    const kn_blob *c = &code->code;
    bool is_cuda = request->target.backend == KN_CUDA;
    if (is_cuda && is_text(c))
        return KILN_OK;
    return kn_elf_check(c->data, c->size, is_cuda ? KN_ELF_CUBIN : KN_ELF_SHARED_OBJECT, request->name);
}

/* ---- the disk ---- */

/* A machine without a compiler takes what any compiler made: there is nothing it could be out of date
 * against. */
static const char *producer(const kn_build_request *request)
{
    const char *identity = kn_compile_identity(request->target.backend);
    return *identity ? identity : NULL;
}

/* What was stored by whatever wrote it, and is of no use to anybody. */
static void drop_from_disk(kn_build_job *job)
{
    kn_log(KILN_LOG_INFO, "%s in the cache is dropped: %s", job->request->name, kiln_error_message());
    kn_cache_remove(job->state->cache, job->request->what, strlen(job->request->what));
}

/* Whether what the disk had may be used: its headers are what they were, and it is whole. */
static bool is_usable(kn_build_job *job, const kn_code *code)
{
    kn_error_state before;
    bool is_whole;
    if (!is_current(code, job->request))
        return false;
    kn_error_save(&before);
    is_whole = check_whole(job->request, code) == KILN_OK;
    if (!is_whole)
        drop_from_disk(job);
    kn_error_restore(&before);
    return is_whole;
}

static bool find_on_disk(kn_build_job *job, kn_code *code)
{
    const kn_build_request *request = job->request;
    double start = kn_os_now_ms();
    bool is_found = !job->is_disk_barred && job->state->cache &&
                    kn_cache_get(job->state->cache, request->what, strlen(request->what), producer(request),
                                 &code->code, &code->notes);
    if (is_found && !is_usable(job, code)) {
        empty(code);
        is_found = false;
    }
    job->info->cache_ms += kn_os_now_ms() - start;
    if (!is_found)
        return false;
    code->is_from_disk = true;
    job->info->origin = KILN_ORIGIN_DISK;
    atomic_fetch_add(&job->state->counters.disk_hits, 1);
    return true;
}

static void put_on_disk(kn_build_state *state, const kn_build_request *request, const kn_code *code,
                        kn_build_info *info)
{
    double start = kn_os_now_ms();
    if (state->cache)
        kn_cache_put(state->cache, request->what, strlen(request->what),
                     kn_compile_identity(request->target.backend), &code->code, &code->notes);
    info->cache_ms += kn_os_now_ms() - start;
}

/* ---- the compiler ---- */

static const char *file_ending(kn_backend_kind backend)
{
    return backend == KN_CUDA ? "cu" : "cpp";
}

/* Trouble with it is logged: it must not change what a call does. */
static void dump_source(const kn_build_request *request, const char *source)
{
    const char *folder = kn_os_env("KILN_DUMP_SOURCE");
    kn_hash hash;
    char hex[33], path[PATH_MAX];
    kn_error_state before;
    if (!folder)
        return;
    hash = kn_hash_128(request->what, strlen(request->what));
    kn_hash_hex(&hash, hex);
    snprintf(path, sizeof path, "%s/%s-%s.%s", folder, request->name, hex,
             file_ending(request->target.backend));
    kn_error_save(&before);
    if (kn_os_make_folders(folder, 0777) != KILN_OK ||
        kn_os_write_file(path, source, strlen(source)) != KILN_OK)
        kn_log(KILN_LOG_WARNING, "the source of %s was not written down: %s", request->name,
               kiln_error_message());
    kn_error_restore(&before);
}

static kiln_status generate(const kn_build_request *request, kn_compile_request *compile, kn_str *source,
                            kn_build_info *info)
{
    double start = kn_os_now_ms();
    kiln_status status = request->generate(request->user, compile, source);
    if (status == KILN_OK)
        status = kn_str_status(source, "a kernel's source");
    info->generate_ms += kn_os_now_ms() - start;
    if (status == KILN_OK)
        dump_source(request, kn_str_text(source));
    return status;
}

static void count_compile(kn_build_state *state, double ms)
{
    atomic_fetch_add(&state->counters.compiles, 1);
    atomic_fetch_add(&state->counters.compile_us, (unsigned long long)(ms * 1e3));
}

static kiln_status compile_source(kn_build_job *job, kn_code *code, const kn_compile_request *compile)
{
    kn_build_info *info = job->info;
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_str notes = KN_STR_INIT;
    double start = kn_os_now_ms(), ms;
    kiln_status status = kn_compile(&result, compile);
    ms = kn_os_now_ms() - start;
    info->compile_ms += ms;
    count_compile(job->state, ms);
    if (status == KILN_OK)
        status = kn_compile_notes(&notes, compile, &result);
    if (status == KILN_OK)
        status = kn_str_status(&notes, "the notes of a compile");
    kn_str_append(&job->warnings, kn_str_text(&result.warnings));
    if (status == KILN_OK) {
        code->code = result.code;
        result.code = (kn_blob)KN_BLOB_INIT;
        code->notes.data = notes.data; /* both are plain allocations */
        code->notes.size = notes.length;
        notes = (kn_str)KN_STR_INIT;
        info->origin = KILN_ORIGIN_COMPILER;
    }
    kn_str_free(&notes);
    kn_compile_result_free(&result);
    return status;
}

static kiln_status compile(kn_build_job *job, kn_code *code)
{
    const kn_build_request *request = job->request;
    kn_str source = KN_STR_INIT;
    kn_compile_request compile = {.target = request->target, .name = request->name};
    kiln_status status = generate(request, &compile, &source, job->info);
    compile.source = kn_str_text(&source);
    if (status == KILN_OK)
        status = compile_source(job, code, &compile);
    kn_str_free(&source);
    return status;
}

/* ---- one compile a key ---- */

static bool is_forbidden_by_environment(void)
{
    const char *setting = kn_os_env("KILN_COMPILE");
    return setting && !strcmp(setting, "never");
}

static kiln_status check_allowed(kn_build_state *state, const kn_build_request *request)
{
    bool is_environment = is_forbidden_by_environment();
    char target[48];
    if (!is_environment && !(request->flags & KN_BUILD_NO_COMPILE))
        return KILN_OK;
    kn_target_format(&request->target, target, sizeof target);
    return kn_error(KILN_ERROR_FORBIDDEN,
                    "%s has not been compiled for %s, and compiling is forbidden by %s (looked in %s)",
                    request->name, target, is_environment ? "KILN_COMPILE=never" : "the call's flag",
                    state->cache ? kn_cache_file(state->cache) : "memory, there is no cache");
}

/* Loads it where it is wanted: what a compiler calls a success may be half an object, or lack its entry.
 * Without memory for it at this moment nobody knows, and it is kept in the process alone. */
static kiln_status try_and_store(kn_build_job *job, kn_code *code)
{
    kn_error_state before;
    kiln_status status = check_whole(job->request, code);
    if (status != KILN_OK)
        return kn_error_context(
            "the compiler reported success, but what it wrote cannot be used (is its disk full?)");
    kn_error_save(&before);
    status = job->load ? job->load(job, code) : KILN_OK;
    /* Code of which nobody can say whether it is current is good for this process alone. */
    if (status == KILN_OK && is_current(code, job->request))
        put_on_disk(job->state, job->request, code, job->info);
    if (status != KILN_OK && status != KILN_ERROR_MEMORY) {
        kn_free(before.log);
        return status;
    }
    kn_error_restore(&before);
    return KILN_OK;
}

/* Whoever had the lock before may have put there what is wanted. */
static kiln_status make_under_lock(kn_build_job *job, kn_code *code)
{
    const kn_build_request *request = job->request;
    kn_cache *cache = job->state->cache;
    kn_os_lock lock = KN_OS_LOCK_INIT;
    kiln_status status = KILN_OK;
    bool is_locked =
        cache && kn_cache_lock(cache, request->what, strlen(request->what), &lock, LOCK_TIMEOUT_MS);
    if (!is_locked || !find_on_disk(job, code)) {
        status = compile(job, code);
        if (status == KILN_OK)
            status = try_and_store(job, code);
    }
    kn_os_unlock_file(&lock);
    return status;
}

static kiln_status make_code(void *user, void **out)
{
    kn_build_job *job = user;
    kn_code *code = kn_calloc(1, sizeof *code);
    kiln_status status = KILN_OK;
    if (!code)
        return kn_error_memory(sizeof *code, job->request->name);
    if (!find_on_disk(job, code)) {
        atomic_fetch_add(&job->state->counters.misses, 1);
        status = check_allowed(job->state, job->request);
        if (status == KILN_OK)
            status = make_under_lock(job, code);
    }
    if (status == KILN_OK)
        *out = code;
    else
        kn_code_free(code);
    return status;
}

static bool may_compile(const kn_build_job *job)
{
    return !(job->request->flags & KN_BUILD_NO_COMPILE) && !is_forbidden_by_environment();
}

/* A refusal that was meant for the thread that made the value, not for this one. */
static bool is_others_limit(const kn_build_job *job, kiln_status status)
{
    return (status == KILN_ERROR_FORBIDDEN && may_compile(job)) ||
           (status == KILN_ERROR_CAPTURE && !(job->request->flags & KN_BUILD_CAPTURING));
}

kiln_status kn_build_once(kn_build_job *job, kn_once_table *table, const char *key, size_t key_size,
                          void **value, const kn_build_kind *kind)
{
    kiln_status status;
    bool is_mine, is_stale;
    do {
        status = kn_once_get(table, key, key_size, value, kind->make, job, &is_mine);
        is_stale = status == KILN_OK && !is_mine && kind->code_of &&
                   !is_current(kind->code_of(*value), job->request);
        if (is_stale)
            kn_once_forget(table, key, key_size, *value);
    } while (is_stale || (!is_mine && is_others_limit(job, status)));
    if (status == KILN_OK && !is_mine)
        job->info->origin = KILN_ORIGIN_MEMORY;
    return status;
}

/* The key has to say for what target: code for another one must never be found under it. */
static kiln_status check_key(const kn_build_request *request)
{
    char target[48];
    kn_target_format(&request->target, target, sizeof target);
    if (strstr(request->what, target))
        return KILN_OK;
    return kn_error(KILN_ERROR_INTERNAL, "the key of %s does not name its target %s", request->name, target);
}

static const kn_code *code_itself(const void *value)
{
    return value;
}

kiln_status kn_build_find_code(kn_build_job *job, kn_code **out)
{
    static const kn_build_kind kind = {make_code, code_itself};
    const char *what = job->request->what;
    void *value = NULL;
    kiln_status status = check_key(job->request);
    if (status == KILN_OK)
        status = kn_build_once(job, job->state->codes, what, strlen(what), &value, &kind);
    *out = value;
    return status;
}

/* ---- the way in and out ---- */

static void log_warnings(kn_str *warnings)
{
    kn_error_state before; /* the receiver may call us */
    kn_error_save(&before);
    for (const char *line = kn_str_text(warnings); *line;) {
        int length = (int)strcspn(line, "\n");
        kn_log(KILN_LOG_WARNING, "%.*s", length, line);
        line += length + (line[length] == '\n');
    }
    kn_error_restore(&before);
    kn_str_free(warnings);
}

kiln_status kn_build_end(kn_build_job *job, const kn_code *code, kiln_status status)
{
    kn_str *notes = job->request->notes;
    log_warnings(&job->warnings);
    if (status != KILN_OK)
        return status;
    job->info->code_bytes = code->code.size;
    if (job->info->origin == KILN_ORIGIN_MEMORY)
        atomic_fetch_add(&job->state->counters.memory_hits, 1);
    if (!notes)
        return KILN_OK;
    kn_str_append_n(notes, code->notes.data, code->notes.size);
    return kn_str_status(notes, "the notes of a kernel");
}

kiln_status kn_build_code(kn_blob *out, const kn_build_request *request, kn_build_info *info)
{
    kn_build_info unused = {0};
    kn_build_job job = {.request = request, .info = info ? info : &unused};
    kn_code *code = NULL;
    kiln_status status = kn_build_state_get(&job.state);
    if (status == KILN_OK)
        status = kn_build_find_code(&job, &code);
    status = kn_build_end(&job, code, status);
    if (status == KILN_OK && !kn_blob_copy(out, code->code.data, code->code.size))
        status = kn_error_memory(code->code.size, request->name);
    return status;
}
