#include "build/build.h"
#include "base/alloc.h"
#include "base/elf.h"
#include "base/error.h"
#include "base/log.h"
#include "build/store.h"

#include <string.h>

kn_code *kn_code_new(const kn_build_job *job)
{
    kn_code *code = kn_calloc(1, sizeof *code);
    if (!code)
        kn_error_memory(sizeof *code, job->subject->name);
    return code;
}

void kn_code_free(void *value)
{
    kn_code *code = value;
    if (!code)
        return;
    kn_blob_free(&code->code);
    kn_blob_free(&code->notes);
    kn_free(code);
}

bool kn_code_is_current(const kn_code *code, const kn_subject *subject)
{
    return kn_compile_notes_hold(code->notes.data, code->notes.size, subject->options, subject->n_options);
}

/* PTX, which the driver reads up to a NUL. */
static bool is_text(const kn_blob *code)
{
    return code->size > 0 && strnlen(code->data, code->size) >= code->size - 1;
}

kiln_status kn_code_check_whole(const kn_code *code, const kn_subject *subject)
{
    const kn_blob *c = &code->code;
    bool is_cuda = subject->target.backend == KN_CUDA;
    if (is_cuda && is_text(c))
        return KILN_OK;
    return kn_elf_check(c->data, c->size, is_cuda ? KN_ELF_CUBIN : KN_ELF_SHARED_OBJECT, subject->name);
}

/* ---- counts ---- */

static void count(kn_opened_store *opened, double ms)
{
    atomic_fetch_add(&opened->hits, 1);
    atomic_fetch_add(&opened->us, (unsigned long long)(ms * 1e3));
}

void kn_store_count(kn_build_job *job, double ms)
{
    count(&job->state->store[job->asked], ms);
}

unsigned long long kn_stores_hits(kn_build_state *state, kiln_origin origin)
{
    unsigned long long hits = 0;
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store->origin == origin)
            hits += atomic_load(&state->store[s].hits);
    return hits;
}

double kn_stores_ms(kn_build_state *state, kiln_origin origin)
{
    unsigned long long us = 0;
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store->origin == origin)
            us += atomic_load(&state->store[s].us);
    return (double)us * 1e-3;
}

/* ---- the search ---- */

/* What a store read may not be right: its headers have changed, or it is not whole. */
static bool is_usable(kn_build_job *job, const kn_opened_store *opened, const kn_code *code)
{
    kn_error_state before;
    bool is_whole;
    if (!kn_code_is_current(code, job->subject))
        return false;
    kn_error_save(&before);
    is_whole = kn_code_check_whole(code, job->subject) == KILN_OK;
    if (!is_whole) {
        kn_log(KILN_LOG_INFO, "%s in %s is dropped: %s", job->subject->name, opened->store->name,
               kiln_error_message());
        if (opened->store->drop)
            opened->store->drop(opened->self, job);
    }
    kn_error_restore(&before);
    return is_whole;
}

/* The same, of a store that reads what some process has written. */
static kiln_status read_store(kn_code **out, kn_build_job *job, const kn_opened_store *opened)
{
    double start = kn_os_now_ms(), ms;
    kiln_status status = opened->store->find(out, opened->self, job);
    if (*out && !is_usable(job, opened, *out)) {
        kn_code_free(*out);
        *out = NULL;
    }
    ms = kn_os_now_ms() - start;
    job->info->cache_ms += ms;
    if (*out)
        kn_store_count(job, ms);
    return status;
}

static kiln_status ask(kn_code **out, kn_build_job *job, int s)
{
    const kn_opened_store *opened = &job->state->store[s];
    kiln_status status;
    if (job->barred >> s & 1)
        return KILN_OK;
    job->asked = s;
    if (opened->store->origin == KILN_ORIGIN_DISK)
        status = read_store(out, job, opened);
    else
        status = opened->store->find(out, opened->self, job);
    if (!*out)
        return status;
    job->info->origin = opened->store->origin;
    if (opened->store->origin != KILN_ORIGIN_MEMORY)
        (*out)->from = s;
    return status;
}

static bool is_forbidden_by_environment(void)
{
    const char *setting = kn_os_env("KILN_COMPILE");
    return setting && !strcmp(setting, "never");
}

/* Where it was looked for: files. */
static void list_places(kn_str *out, const kn_build_state *state)
{
    for (int s = 0; s < state->n_stores; s++) {
        const kn_opened_store *opened = &state->store[s];
        const char *place = opened->store->place ? opened->store->place(opened->self) : NULL;
        if (place)
            kn_str_printf(out, "%s%s", out->length > 0 ? ", " : "", place);
    }
}

static kiln_status check_allowed(const kn_build_job *job)
{
    bool is_environment = is_forbidden_by_environment();
    kn_str places = KN_STR_INIT;
    char target[48];
    if (!is_environment && !(job->request->flags & KN_BUILD_NO_COMPILE))
        return KILN_OK;
    kn_target_format(&job->subject->target, target, sizeof target);
    list_places(&places, job->state);
    kiln_status status =
        kn_error(KILN_ERROR_FORBIDDEN,
                 "%s has not been compiled for %s, and compiling is forbidden by %s (looked in %s)",
                 job->subject->name, target, is_environment ? "KILN_COMPILE=never" : "the call's flag",
                 places.length > 0 ? kn_str_text(&places) : "memory, there is no cache");
    kn_str_free(&places);
    return status;
}

/* Nothing before the compiler had it. Where it may be made, other processes are kept from making it too; one
 * that did so until now has put it where it can be found. */
static kiln_status claim(kn_code **out, kn_build_job *job, int compiler)
{
    kiln_status status;
    atomic_fetch_add(&job->state->misses, 1);
    status = check_allowed(job);
    for (int s = 0; status == KILN_OK && !*out && s < compiler; s++) {
        const kn_opened_store *opened = &job->state->store[s];
        if (opened->store->claim && opened->store->claim(opened->self, job))
            status = ask(out, job, s);
    }
    return status;
}

static void settle(kn_build_job *job, int s, kn_code *code, kiln_status status)
{
    const kn_opened_store *opened = &job->state->store[s];
    double start;
    if (!opened->store->settle)
        return;
    start = kn_os_now_ms();
    opened->store->settle(opened->self, job, code, status);
    if (opened->store->origin == KILN_ORIGIN_DISK && job->is_proven)
        job->info->cache_ms += kn_os_now_ms() - start;
}

/* The key has to say for what target: code for another one must never be found under it. */
static kiln_status check_key(const kn_subject *subject)
{
    char target[48];
    kn_target_format(&subject->target, target, sizeof target);
    if (strstr(kn_str_text(&subject->what), target))
        return KILN_OK;
    return kn_error(KILN_ERROR_INTERNAL, "the key of %s does not name its target %s", subject->name, target);
}

kiln_status kn_build_find_code(kn_build_job *job, kn_code **out)
{
    const kn_build_state *state = job->state;
    kn_code *code = NULL;
    int s = 0;
    kiln_status status = check_key(job->subject);
    job->is_proven = false;
    for (; status == KILN_OK && !code && s < state->n_stores; s++) {
        if (state->store[s].store->origin == KILN_ORIGIN_COMPILER)
            status = claim(&code, job, s);
        if (status == KILN_OK && !code)
            status = ask(&code, job, s);
    }
    while (s-- > 0)
        settle(job, s, code, status);
    *out = status == KILN_OK ? code : NULL;
    return status;
}

/* ---- one search a key ---- */

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

kiln_status kn_build_claim(kn_build_job *job, kn_once_table *table, const void *key, size_t key_size,
                           void **value, kn_once **claim, kn_code_of *code_of)
{
    kiln_status status;
    bool is_stale;
    do {
        status = kn_once_begin(table, key, key_size, value, claim);
        is_stale = *value && code_of && !kn_code_is_current(code_of(*value), job->subject);
        if (is_stale)
            kn_once_forget(table, key, key_size, *value);
    } while (is_stale || (status != KILN_OK && is_others_limit(job, status)));
    return status;
}

/* ---- the way in and out ---- */

kiln_status kn_build_begin(kn_build_job *job, const kn_build_request *request, kn_device *device,
                           kn_build_info *info)
{
    *job = (kn_build_job){.request = request,
                          .subject = request->subject,
                          .device = device,
                          .info = info,
                          .lock = KN_OS_LOCK_INIT,
                          .warnings = KN_STR_INIT};
    return kn_build_state_get(&job->state);
}

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
    if (job->info->origin == KILN_ORIGIN_MEMORY) /* loaded already, or its code was there */
        count(&job->state->store[0], 0);
    if (!notes)
        return KILN_OK;
    kn_str_append_n(notes, code->notes.data, code->notes.size);
    return kn_str_status(notes, "the notes of a kernel");
}

kiln_status kn_build_code(kn_blob *out, const kn_build_request *request, kn_build_info *info)
{
    kn_build_info unused = {0};
    kn_build_job job;
    kn_code *code = NULL;
    kiln_status status = kn_build_begin(&job, request, NULL, info ? info : &unused);
    if (status == KILN_OK)
        status = kn_build_find_code(&job, &code);
    status = kn_build_end(&job, code, status);
    if (status == KILN_OK && !kn_blob_copy(out, code->code.data, code->code.size))
        status = kn_error_memory(code->code.size, request->subject->name);
    return status;
}

kiln_status kn_build_source(kn_str *out, const kn_subject *subject)
{
    kn_compile_request compile = {.target = subject->target, .name = subject->name};
    return subject->write(out, &compile, subject);
}
