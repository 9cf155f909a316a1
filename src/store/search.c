/* The loop over the stores: the search for a compile job's code. */
#include "store/search.h"
#include "base/error.h"
#include "base/log.h"
#include "schedules/spec_text.h"

#include <string.h>

/* Code from a store may be no good: its headers have changed, or it is not whole. */
static bool is_usable(kn_code_search *search, const kn_opened_store *opened, const kn_code *code)
{
    kn_error_state before;
    bool is_whole;
    if (!kn_code_is_current(code, search->job)) {
        kn_search_add_refusal(search, "what %s had was made with other headers: `kiln bake` it with these",
                              opened->store->name);
        return false;
    }
    kn_error_save(&before);
    is_whole = kn_code_check_whole(code, search->job) == KILN_OK;
    if (!is_whole) {
        kn_log(KILN_LOG_INFO, "%s in %s is dropped: %s", search->job->name, opened->store->name,
               kiln_error_message());
        kn_search_add_refusal(search, "what %s had is not whole: %s", opened->store->name,
                              kiln_error_message());
        if (opened->store->drop)
            opened->store->drop(opened->self, search, code);
    }
    kn_error_restore(&before);
    return is_whole;
}

/* Fetched code is stored by other stores if it loads. If it does not, the caller meets the same failure, and
 * bars the store (kn_search_bar). */
static bool is_loadable(kn_code_search *search, const kn_code *code)
{
    kn_error_state before;
    kn_error_save(&before);
    bool loads = !search->load || search->load(search, code) == KILN_OK;
    kn_error_restore(&before);
    return loads;
}

/* The same, for a store that is read. */
static kiln_status read_store(kn_code **out, kn_code_search *search, const kn_opened_store *opened)
{
    double start = kn_os_now_ms(), ms;
    kiln_status status = opened->store->find(out, opened->self, search);
    if (*out && !is_usable(search, opened, *out)) {
        atomic_fetch_add(&search->counts->refusals, 1);
        kn_code_free(*out);
        *out = NULL;
    }
    ms = kn_os_now_ms() - start;
    search->info->cache_ms += ms;
    if (*out) {
        kn_store_count(search->counts, ms);
        search->is_proven = opened->store->roles & KN_STORE_REMOTE && is_loadable(search, *out);
    }
    return status;
}

static kiln_status ask(kn_code **out, kn_code_search *search, int s)
{
    kn_opened_store *opened = &search->state->store[s];
    kiln_status status;
    if (search->barred >> s & 1)
        return KILN_OK;
    search->counts = &opened->counts;
    if (opened->store->roles & KN_STORE_READS)
        status = read_store(out, search, opened);
    else
        status = opened->store->find(out, opened->self, search);
    if (!*out)
        return status;
    search->info->origin = kn_store_origin(opened->store->roles);
    if (!(opened->store->roles & KN_STORE_OWNS))
        (*out)->from = s;
    return status;
}

static kiln_status check_allowed(const kn_code_search *search)
{
    bool is_environment = kn_build_is_forbidden();
    kn_str places = KN_STR_INIT, refusals = KN_STR_INIT;
    char target[48];
    if (search->request->flags & KN_BUILD_FIND)
        return kn_error(KILN_ERROR_FORBIDDEN, "%s is not there", search->job->name);
    if (!is_environment && !(search->request->flags & KN_BUILD_NO_COMPILE))
        return KILN_OK;
    size_t types_length = 0;
    const char *types = kn_spec_field(kn_str_text(&search->job->what), "operands", &types_length);
    kn_target_format(&search->job->target, target, sizeof target);
    kn_stores_list_places(&places, search->state);
    kn_stores_list_refusals(&refusals, search);
    bool is_there = search->refusals.length > 0; /* and is no good, for reasons that are listed */
    kiln_status status = kn_error(
        KILN_ERROR_FORBIDDEN, "%s%s%.*s%s %s %s, %s is forbidden by %s%s (looked in %s)%s", search->job->name,
        types ? " (" : "", (int)types_length, types ? types : "", types ? ")" : "",
        is_there ? "is there for" : "has not been compiled for", target,
        is_there ? "but cannot be used, and compiling it anew" : "and compiling",
        is_environment ? "KILN_COMPILE=never" : "the call's flag",
        is_there ? "" : ": record the call with KILN_RECORD, and `kiln bake` it for this target",
        places.length > 0 ? kn_str_text(&places) : "memory, there is no cache", kn_str_text(&refusals));
    kn_str_free(&places);
    kn_str_free(&refusals);
    return status;
}

/* No store before the making one had it. If it may be made, other processes are locked out meanwhile; a
 * process that made it until now has stored it where it can be found. */
static kiln_status lock(kn_code **out, kn_code_search *search, int maker)
{
    kiln_status status;
    if (!(search->request->flags & KN_BUILD_FIND))
        atomic_fetch_add(&search->state->misses, 1);
    status = check_allowed(search);
    for (int s = 0; status == KILN_OK && !*out && s < maker; s++) {
        const kn_opened_store *opened = &search->state->store[s];
        if (opened->store->lock && opened->store->lock(opened->self, search))
            status = ask(out, search, s);
    }
    return status;
}

static void settle(kn_code_search *search, int s, kn_code *code, kiln_status status)
{
    const kn_opened_store *opened = &search->state->store[s];
    double start;
    if (!opened->store->settle)
        return;
    start = kn_os_now_ms();
    opened->store->settle(opened->self, search, code, status);
    if (opened->store->roles & KN_STORE_KEEPS && search->is_proven)
        search->info->cache_ms += kn_os_now_ms() - start;
}

/* The key must name its target: code for another one must never be found under it. */
static kiln_status check_key(const kn_compile_job *job)
{
    char target[48];
    kn_target_format(&job->target, target, sizeof target);
    if (strstr(kn_str_text(&job->what), target))
        return KILN_OK;
    return kn_error(KILN_ERROR_INTERNAL, "the key of %s does not name its target %s", job->name, target);
}

kiln_status kn_search_find(kn_code_search *search, kn_code **out)
{
    const kn_build_state *state = search->state;
    kn_code *code = NULL;
    int s = 0;
    kiln_status status = check_key(search->job);
    search->is_proven = false;
    for (; status == KILN_OK && !code && s < state->n_stores; s++) {
        if (state->store[s].store->roles & KN_STORE_MAKES)
            status = lock(&code, search, s);
        if (status == KILN_OK && !code)
            status = ask(&code, search, s);
    }
    if (status == KILN_OK && !code)
        status = kn_error(KILN_ERROR_NOT_FOUND, "%s is in no store, and there is none that makes it",
                          search->job->name);
    while (s-- > 0)
        settle(search, s, code, status);
    *out = status == KILN_OK ? code : NULL;
    return status;
}

bool kn_search_bar(kn_code_search *search, const kn_code *code)
{
    kn_build_state *state = search->state;
    kn_opened_store *from = &state->store[code->from];
    if (!(from->store->roles & KN_STORE_READS) || search->barred >> code->from & 1)
        return false;
    kn_log(KILN_LOG_INFO, "%s from %s does not load and is found elsewhere or compiled anew: %s",
           search->job->name, from->store->name, kiln_error_message());
    kn_search_add_refusal(search, "what %s had does not load: %s", from->store->name, kiln_error_message());
    atomic_fetch_add(&from->counts.refusals, 1);
    if (!from->store->pass_over || !from->store->pass_over(from->self, search, code))
        search->barred |= 1u << code->from;
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store->roles & KN_STORE_OWNS)
            state->store[s].store->drop(state->store[s].self, search, code);
    return true;
}

/* ---- the way in and out ---- */

kiln_status kn_search_begin(kn_code_search *search, const kn_build_request *request, kn_device *device,
                            kn_build_info *info)
{
    *search = (kn_code_search){.request = request,
                               .job = request->job,
                               .device = device,
                               .info = info,
                               .lock = KN_OS_LOCK_INIT,
                               .refusals = KN_STR_INIT,
                               .warnings = KN_STR_INIT};
    return kn_build_state_get(&search->state);
}

/* Hits of the memory are not logged: every call has one. */
static void log_origin(const kn_code_search *search)
{
    static const char *const from[] = {[KILN_ORIGIN_DISK] = "from disk", [KILN_ORIGIN_COMPILER] = "compiled"};
    const kn_build_info *info = search->info;
    char target[48];
    if (info->origin != KILN_ORIGIN_DISK && info->origin != KILN_ORIGIN_COMPILER)
        return;
    kn_target_format(&search->job->target, target, sizeof target);
    kn_log(KILN_LOG_DEBUG, "%s for %s: %s (in ms: looked %.2f, wrote source %.2f, compiled %.2f)",
           search->job->name, target, from[info->origin], info->cache_ms, info->generate_ms,
           info->compile_ms);
}

void kn_search_log(kn_code_search *search)
{
    kn_error_state before; /* the receiver may call us */
    kn_error_save(&before);
    log_origin(search);
    for (const char *line = kn_str_text(&search->warnings); *line;) {
        int length = (int)strcspn(line, "\n");
        kn_log(KILN_LOG_WARNING, "%.*s", length, line);
        line += length + (line[length] == '\n');
    }
    kn_error_restore(&before);
    kn_str_free(&search->warnings);
    kn_str_free(&search->refusals);
}

kiln_status kn_search_end(kn_code_search *search, const kn_code *code)
{
    kn_str *dependencies = search->request->dependencies;
    search->info->code_bytes = code->code.size;
    search->info->waits_for_kernels = code->waits_for_kernels;
    if (search->info->origin == KILN_ORIGIN_MEMORY) /* loaded already, or its code was there */
        kn_store_count(&search->state->store[0].counts, 0);
    if (!dependencies)
        return KILN_OK;
    kn_str_append_n(dependencies, code->dependencies.data, code->dependencies.size);
    return kn_str_status(dependencies, "the notes of a kernel");
}
