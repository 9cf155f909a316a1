/* The one loop over the stores. */
#include "store/search.h"
#include "base/error.h"
#include "base/log.h"
#include "schedules/spec_text.h"

#include <string.h>

/* What a store read may not be right: its headers have changed, or it is not whole. */
static bool is_usable(kn_build_job *job, const kn_opened_store *opened, const kn_code *code)
{
    kn_error_state before;
    bool is_whole;
    if (!kn_code_is_current(code, job->subject)) {
        kn_store_add_refusal(&job->refusals,
                             "what %s had was made with other headers: `kiln bake` it with these",
                             opened->store->name);
        return false;
    }
    kn_error_save(&before);
    is_whole = kn_code_check_whole(code, job->subject) == KILN_OK;
    if (!is_whole) {
        kn_log(KILN_LOG_INFO, "%s in %s is dropped: %s", job->subject->name, opened->store->name,
               kiln_error_message());
        kn_store_add_refusal(&job->refusals, "what %s had is not whole: %s", opened->store->name,
                             kiln_error_message());
        if (opened->store->drop)
            opened->store->drop(opened->self, job, code);
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
        kn_store_count(job->counts, ms);
    return status;
}

static kiln_status ask(kn_code **out, kn_build_job *job, int s)
{
    kn_opened_store *opened = &job->state->store[s];
    kiln_status status;
    if (job->barred >> s & 1)
        return KILN_OK;
    job->counts = &opened->counts;
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

static kiln_status check_allowed(const kn_build_job *job)
{
    bool is_environment = kn_build_is_forbidden();
    kn_str places = KN_STR_INIT, refusals = KN_STR_INIT;
    char target[48];
    if (job->request->flags & KN_BUILD_FIND)
        return kn_error(KILN_ERROR_FORBIDDEN, "%s is not there", job->subject->name);
    if (!is_environment && !(job->request->flags & KN_BUILD_NO_COMPILE))
        return KILN_OK;
    size_t types_length = 0;
    const char *types = kn_spec_field(kn_str_text(&job->subject->what), "operands", &types_length);
    kn_target_format(&job->subject->target, target, sizeof target);
    kn_stores_list_places(&places, job->state);
    kn_stores_list_refusals(&refusals, job);
    bool is_there = job->refusals.length > 0; /* and is no good, for reasons that are listed */
    kiln_status status = kn_error(
        KILN_ERROR_FORBIDDEN, "%s%s%.*s%s %s %s, %s is forbidden by %s%s (looked in %s)%s",
        job->subject->name, types ? " (" : "", (int)types_length, types ? types : "", types ? ")" : "",
        is_there ? "is there for" : "has not been compiled for", target,
        is_there ? "but cannot be used, and compiling it anew" : "and compiling",
        is_environment ? "KILN_COMPILE=never" : "the call's flag",
        is_there ? "" : ": record the call with KILN_RECORD, and `kiln bake` it for this target",
        places.length > 0 ? kn_str_text(&places) : "memory, there is no cache", kn_str_text(&refusals));
    kn_str_free(&places);
    kn_str_free(&refusals);
    return status;
}

/* Nothing before the compiler had it. Where it may be made, other processes are kept from making it too; one
 * that did so until now has put it where it can be found. */
static kiln_status claim(kn_code **out, kn_build_job *job, int compiler)
{
    kiln_status status;
    if (!(job->request->flags & KN_BUILD_FIND))
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
    if (status == KILN_OK && !code)
        status = kn_error(KILN_ERROR_NOT_FOUND, "%s is in no store, and there is none that makes it",
                          job->subject->name);
    while (s-- > 0)
        settle(job, s, code, status);
    *out = status == KILN_OK ? code : NULL;
    return status;
}

bool kn_build_bar(kn_build_job *job, const kn_code *code)
{
    const kn_build_state *state = job->state;
    const kn_opened_store *from = &state->store[code->from];
    if (from->store->origin != KILN_ORIGIN_DISK || job->barred >> code->from & 1)
        return false;
    kn_log(KILN_LOG_INFO, "%s from %s does not load and is found elsewhere or compiled anew: %s",
           job->subject->name, from->store->name, kiln_error_message());
    kn_store_add_refusal(&job->refusals, "what %s had does not load: %s", from->store->name,
                         kiln_error_message());
    if (!from->store->pass_over || !from->store->pass_over(from->self, job, code))
        job->barred |= 1u << code->from;
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store->origin == KILN_ORIGIN_MEMORY)
            state->store[s].store->drop(state->store[s].self, job, code);
    return true;
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
                          .refusals = KN_STR_INIT,
                          .warnings = KN_STR_INIT};
    return kn_build_state_get(&job->state);
}

/* What memory had is found at every call. */
static void log_origin(const kn_build_job *job)
{
    static const char *const from[] = {[KILN_ORIGIN_DISK] = "from disk", [KILN_ORIGIN_COMPILER] = "compiled"};
    const kn_build_info *info = job->info;
    char target[48];
    if (info->origin != KILN_ORIGIN_DISK && info->origin != KILN_ORIGIN_COMPILER)
        return;
    kn_target_format(&job->subject->target, target, sizeof target);
    kn_log(KILN_LOG_DEBUG, "%s for %s: %s (in ms: looked %.2f, wrote source %.2f, compiled %.2f)",
           job->subject->name, target, from[info->origin], info->cache_ms, info->generate_ms,
           info->compile_ms);
}

void kn_build_log(kn_build_job *job)
{
    kn_error_state before; /* the receiver may call us */
    kn_error_save(&before);
    log_origin(job);
    for (const char *line = kn_str_text(&job->warnings); *line;) {
        int length = (int)strcspn(line, "\n");
        kn_log(KILN_LOG_WARNING, "%.*s", length, line);
        line += length + (line[length] == '\n');
    }
    kn_error_restore(&before);
    kn_str_free(&job->warnings);
    kn_str_free(&job->refusals);
}

kiln_status kn_build_end(kn_build_job *job, const kn_code *code)
{
    kn_str *notes = job->request->notes;
    job->info->code_bytes = code->code.size;
    job->info->waits_for_kernels = code->waits_for_kernels;
    if (job->info->origin == KILN_ORIGIN_MEMORY) /* loaded already, or its code was there */
        kn_store_count(&job->state->store[0].counts, 0);
    if (!notes)
        return KILN_OK;
    kn_str_append_n(notes, code->notes.data, code->notes.size);
    return kn_str_status(notes, "the notes of a kernel");
}
