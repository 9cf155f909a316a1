#include "store/forms.h"

#include <string.h>

#include <kiln/kernel.h>
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/setting.h"
#include "base/os.h"
#include "base/thread.h"
#include "base/unload.h"
#include "store/build.h"
#include "schedules/spec_text.h"

enum { MOST_QUEUED = 256, LOOK_US = 200 /* between two looks of who waits with a limit */ };

/* What is to be made or is being made, in the order in which it came, with a reference each. All under
 * KN_LOCK_FORMS, which is held for a look, never while something is made. */
static struct {
    kn_forms *first, **end;
    int count;
    bool is_working; /* the thread is there */
    bool is_closed;  /* the process ends: nothing more is begun */
} queue = {.end = &queue.first};

static atomic_ullong n_quick, n_only_quick, n_failed;
static atomic_int mode; /* kiln_forms; 0: KILN_FORMS was not looked at */

kiln_status kn_forms_create(kn_forms **out, kn_launch_plan *best, kn_device *device, const char *what)
{
    kn_forms *forms = kn_calloc(1, sizeof *forms);
    char *copy = kn_strdup(what);
    if (!forms || !copy) {
        kn_launch_plan_free(best);
        kn_free(forms);
        kn_free(copy);
        return kn_error_memory(sizeof *forms + strlen(what), "a call plan");
    }
    atomic_init(&forms->current, NULL);
    atomic_init(&forms->references, 1);
    forms->best = best;
    forms->device = device;
    forms->what = copy;
    *out = forms;
    return KILN_OK;
}

void kn_forms_set_quick(kn_forms *forms, kn_launch_plan *quick)
{
    const kn_launch_plan *none = NULL;
    forms->quick = quick;
    atomic_compare_exchange_strong(&forms->current, &none, quick);
    atomic_fetch_add(&n_quick, 1);
}

void kn_forms_release(kn_forms *forms)
{
    if (!forms || atomic_fetch_sub_explicit(&forms->references, 1, memory_order_acq_rel) != 1)
        return;
    kn_launch_plan_free(forms->quick);
    kn_launch_plan_free(forms->best);
    kn_free(forms->what);
    kn_free(forms);
}

/* ---- making ---- */

static kiln_status build(kn_forms *forms, const kn_spec *spec)
{
    kn_build_info info = {0};
    kn_function *function = NULL;
    kiln_status status = kn_build_program(&function, spec, NULL, 0, forms->device, &info);
    return status == KILN_OK ? kn_launch_plan_set_function(forms->best, function, info.waits_for_kernels)
                             : status;
}

/* What fails then was stopped by the end, and is no trouble. */
static bool is_ending(void)
{
    kn_lock_take(KN_LOCK_FORMS);
    const bool is_closed = queue.is_closed;
    kn_lock_give(KN_LOCK_FORMS);
    return is_closed;
}

/* What it ended with; the caller, who has set KN_FORMS_RUNNING, takes it from there. Leaves the thread's last
 * error. */
static kn_forms_state make(kn_forms *forms)
{
    kn_parsed_spec parsed;
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = kn_spec_parse(&parsed, forms->what);
    bool had_quick = true;
    if (status == KILN_OK) {
        status = build(forms, &parsed.spec);
        had_quick = atomic_load(&forms->current) != NULL;
        if (status != KILN_OK && had_quick && !is_ending()) {
            kn_log(KILN_LOG_WARNING,
                   "%s: the best form for a layout cannot be had, the quick one goes on: %s",
                   parsed.program->name, kiln_error_message());
            atomic_fetch_add(&n_failed, 1);
        }
        kn_parsed_spec_free(&parsed);
    }
    kn_error_restore(&before);
    if (status != KILN_OK)
        return had_quick ? KN_FORMS_FAILED : KN_FORMS_IDLE;
    atomic_store_explicit(&forms->current, forms->best, memory_order_release);
    return KN_FORMS_BEST;
}

/* ---- the queue; these are called with the lock ---- */

static bool has_state(const kn_forms *forms, kn_forms_state state)
{
    return atomic_load(&forms->state) == (int)state;
}

/* In the queue, and nobody makes it: of a forked child's parent's threads there is none. */
static bool is_waiting(const kn_forms *forms)
{
    return has_state(forms, KN_FORMS_QUEUED) ||
           (has_state(forms, KN_FORMS_RUNNING) && forms->maker != kn_fork_count());
}

static void append(kn_forms *forms)
{
    atomic_fetch_add(&forms->references, 1);
    forms->next = NULL;
    *queue.end = forms;
    queue.end = &forms->next;
    ++queue.count;
    atomic_store(&forms->state, KN_FORMS_QUEUED);
}

static void take_out(kn_forms *forms)
{
    kn_forms **link = &queue.first;
    while (*link != forms)
        link = &(*link)->next;
    *link = forms->next;
    if (!*link)
        queue.end = link;
    --queue.count;
}

static void set_running(kn_forms *forms)
{
    forms->maker = kn_fork_count();
    atomic_store(&forms->state, KN_FORMS_RUNNING);
}

/* Makes what has been set running. */
static void make_and_settle(kn_forms *forms)
{
    kn_forms_state state = make(forms);
    kn_lock_take(KN_LOCK_FORMS);
    atomic_store_explicit(&forms->state, state, memory_order_release);
    take_out(forms);
    kn_lock_wake(KN_LOCK_FORMS);
    kn_lock_give(KN_LOCK_FORMS);
    kn_forms_release(forms);
}

/* ---- the thread ---- */

static kn_forms *next_or_end(void)
{
    kn_lock_take(KN_LOCK_FORMS);
    kn_forms *forms = queue.first;
    while (forms && !is_waiting(forms))
        forms = forms->next;
    if (forms)
        set_running(forms);
    else
        queue.is_working = false;
    kn_lock_give(KN_LOCK_FORMS);
    return forms;
}

static void work(void *user)
{
    (void)user;
    for (kn_forms *forms = next_or_end(); forms; forms = next_or_end())
        make_and_settle(forms);
}

/* Where no thread can be had it is tried again at the next call. */
static void start_thread(void)
{
    if (kn_thread_start(work, NULL) == 0)
        return;
    kn_lock_take(KN_LOCK_FORMS);
    queue.is_working = false;
    kn_lock_give(KN_LOCK_FORMS);
}

/* Sees to it that what waits is made: in a forked child the thread of the parent is missing. */
static void work_on(void)
{
    kn_lock_take(KN_LOCK_FORMS);
    bool starts = queue.first && !queue.is_working && !queue.is_closed;
    queue.is_working |= starts;
    kn_lock_give(KN_LOCK_FORMS);
    if (starts)
        start_thread();
}

void kn_forms_submit(kn_forms *forms)
{
    kn_lock_take(KN_LOCK_FORMS);
    if (has_state(forms, KN_FORMS_IDLE) && !queue.is_closed && queue.count < MOST_QUEUED)
        append(forms);
    kn_lock_give(KN_LOCK_FORMS);
    work_on();
}

/* Sets it running for the calling thread; false where another has settled it. */
static bool take_or_wait(kn_forms *forms)
{
    while (has_state(forms, KN_FORMS_RUNNING) && !is_waiting(forms))
        kn_lock_wait(KN_LOCK_FORMS);
    if (kn_forms_are_settled(forms))
        return false;
    if (has_state(forms, KN_FORMS_IDLE))
        append(forms);
    set_running(forms);
    return true;
}

void kn_forms_finish(kn_forms *forms)
{
    kn_lock_take(KN_LOCK_FORMS);
    bool is_mine = take_or_wait(forms);
    kn_lock_give(KN_LOCK_FORMS);
    if (is_mine)
        make_and_settle(forms);
}

void kn_forms_withdraw(kn_forms *forms)
{
    bool was_queued = false;
    kn_lock_take(KN_LOCK_FORMS);
    if (has_state(forms, KN_FORMS_QUEUED)) {
        take_out(forms);
        atomic_store(&forms->state, KN_FORMS_IDLE);
        was_queued = true;
    }
    kn_lock_give(KN_LOCK_FORMS);
    if (was_queued)
        kn_forms_release(forms);
    kn_forms_release(forms);
}

/* With a reference for the caller; NULL. */
static kn_forms *find_in_queue(const kn_device *device, const char *what)
{
    kn_lock_take(KN_LOCK_FORMS);
    kn_forms *found = queue.first;
    while (found && (found->device != device || strcmp(found->what, what) != 0))
        found = found->next;
    if (found)
        atomic_fetch_add(&found->references, 1);
    kn_lock_give(KN_LOCK_FORMS);
    return found;
}

void kn_forms_finish_all(const kn_device *device, const char *what)
{
    for (kn_forms *forms; (forms = find_in_queue(device, what)); kn_forms_release(forms))
        kn_forms_finish(forms);
}

/* The thread is the parent's; what it was at is waiting again (is_waiting). */
static void begin_in_child(void)
{
    queue.is_working = false;
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(begin_in_child);
}

/* Before threads are joined: what waits is dropped, and what runs in a process of its own is stopped. */
__attribute__((destructor(KN_UNLOAD_FORMS))) static void close_queue(void)
{
    kn_forms *dropped = NULL;
    kn_lock_take(KN_LOCK_FORMS);
    queue.is_closed = true;
    for (kn_forms **link = &queue.first; *link;) {
        kn_forms *forms = *link;
        if (!is_waiting(forms)) {
            link = &forms->next;
            continue;
        }
        take_out(forms);
        atomic_store(&forms->state, KN_FORMS_IDLE);
        forms->next = dropped;
        dropped = forms;
    }
    kn_lock_give(KN_LOCK_FORMS);
    while (dropped) {
        kn_forms *next = dropped->next;
        kn_forms_release(dropped);
        dropped = next;
    }
    kn_os_stop_commands();
}

/* ---- settings and counts ---- */

static const char *const mode_names[] = {
    [KILN_FORMS_BOTH] = "both", [KILN_FORMS_BEST] = "best", [KILN_FORMS_QUICK] = "quick"};

static kiln_forms read_mode(void)
{
    for (int m = KILN_FORMS_BOTH; m <= KILN_FORMS_QUICK; ++m)
        if (kn_setting_is("KILN_FORMS", mode_names[m]))
            return (kiln_forms)m;
    return KILN_FORMS_BOTH;
}

kiln_forms kn_forms_mode(void)
{
    int found = atomic_load_explicit(&mode, memory_order_relaxed), unknown = 0;
    if (found)
        return (kiln_forms)found;
    found = (int)read_mode();
    return (kiln_forms)(atomic_compare_exchange_strong(&mode, &unknown, found) ? found : unknown);
}

kiln_status kiln_set_forms(kiln_forms forms)
{
    if (forms < KILN_FORMS_BOTH || forms > KILN_FORMS_QUICK)
        return kn_error(KILN_ERROR_INVALID, "forms: %d was given; a KILN_FORMS_* was expected", (int)forms);
    atomic_store(&mode, (int)forms);
    return KILN_OK;
}

bool kiln_wait_for_best(int64_t timeout_ms)
{
    KN_UNCANCELLED;
    double end = kn_os_now_ms() + (double)timeout_ms;
    work_on();
    while (kn_forms_count().pending > 0) {
        if (timeout_ms >= 0 && kn_os_now_ms() >= end)
            return false;
        kn_os_sleep_us(LOOK_US);
    }
    return true;
}

void kn_forms_note_only_quick(const char *name)
{
    if (atomic_fetch_add(&n_only_quick, 1) == 0)
        kn_log(
            KILN_LOG_WARNING,
            "%s runs in its quick form, which is slower: the best one for the layout of its arrays was not "
            "compiled before, and cannot be now (%s). Others are counted, and not logged",
            name, kiln_error_message());
}

kn_forms_counts kn_forms_count(void)
{
    kn_forms_counts counts = {atomic_load(&n_quick), atomic_load(&n_only_quick), atomic_load(&n_failed), 0};
    kn_lock_take(KN_LOCK_FORMS);
    counts.pending = (uint64_t)queue.count;
    kn_lock_give(KN_LOCK_FORMS);
    return counts;
}
