/* Tiers of launch plans: the queue of optimised tiers to be compiled, and the thread that compiles them. */
#include "store/tiers.h"

#include <string.h>

#include <kiln/kernel.h>
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/setting.h"
#include "base/shortage.h"
#include "base/os.h"
#include "base/thread.h"
#include "base/unload.h"
#include "compile/host_compiler_ahead.h"
#include "store/build.h"
#include "schedules/spec_text.h"

enum { MOST_QUEUED = 256, LOOK_US = 200 /* LOOK_US: the pause between two checks of a wait with a limit */ };

/* The optimised tiers that wait or are being made, in the order in which they came, with a reference each.
 * All under KN_LOCK_TIERS, which is held for a look, never while something is made. */
static struct {
    kn_tiers *first, **end;
    int count;
    bool is_working; /* the thread is there */
    bool is_closed;  /* the process ends: nothing more is begun */
} queue = {.end = &queue.first};

static atomic_ullong n_baseline, n_only_baseline, n_failed;
static atomic_int mode; /* kiln_forms; 0: KILN_FORMS was not looked at */

kiln_status kn_tiers_create(kn_tiers **out, kn_launch_plan *optimised, kn_device *device, const char *what)
{
    kn_tiers *tiers = kn_calloc(1, sizeof *tiers);
    char *copy = kn_strdup(what);
    if (!tiers || !copy) {
        kn_launch_plan_free(optimised);
        kn_free(tiers);
        kn_free(copy);
        return kn_error_memory("a call plan");
    }
    atomic_init(&tiers->current, NULL);
    atomic_init(&tiers->references, 1);
    tiers->optimised = optimised;
    tiers->device = device;
    tiers->what = copy;
    *out = tiers;
    return KILN_OK;
}

void kn_tiers_set_baseline(kn_tiers *tiers, kn_launch_plan *baseline)
{
    const kn_launch_plan *none = NULL;
    tiers->baseline = baseline;
    atomic_compare_exchange_strong(&tiers->current, &none, baseline);
    atomic_fetch_add(&n_baseline, 1);
}

void kn_tiers_release(kn_tiers *tiers)
{
    if (!tiers || atomic_fetch_sub_explicit(&tiers->references, 1, memory_order_acq_rel) != 1)
        return;
    kn_launch_plan_free(tiers->baseline);
    kn_launch_plan_free(tiers->optimised);
    kn_free(tiers->what);
    kn_free(tiers);
}

/* ---- making ---- */

static kiln_status build(kn_tiers *tiers, const kn_spec *spec)
{
    kn_build_info info = {0};
    kn_function *function = NULL;
    kiln_status status = kn_build_program(&function, spec, NULL, 0, tiers->device, &info);
    return status == KILN_OK ? kn_launch_plan_set_function(tiers->optimised, function, info.waits_for_kernels)
                             : status;
}

/* A failure then was caused by the end of the process, and is no trouble. */
static bool is_ending(void)
{
    kn_lock_take(KN_LOCK_TIERS);
    const bool is_closed = queue.is_closed;
    kn_lock_give(KN_LOCK_TIERS);
    return is_closed;
}

/* Makes the optimised tier, and returns the final state; the caller, who has set KN_TIERS_RUNNING, stores it.
 * A failure by a shortage is not final: the next call has it made again. Leaves the thread's last error
 * unchanged. */
static kn_tiers_state make(kn_tiers *tiers)
{
    kn_parsed_spec parsed;
    kn_error_state before;
    kn_error_save(&before);
    unsigned shortages = kn_shortages();
    kiln_status status = kn_spec_parse(&parsed, tiers->what);
    bool is_final = kn_shortages() == shortages;
    if (status == KILN_OK) {
        status = build(tiers, &parsed.spec);
        is_final = kn_shortages() == shortages && (tiers->is_beside || atomic_load(&tiers->current));
        if (status != KILN_OK && is_final && !is_ending()) {
            kn_log(KILN_LOG_WARNING,
                   "%s: the best form for a layout cannot be had, the quick one goes on: %s",
                   parsed.program->name, kiln_error_message());
            atomic_fetch_add(&n_failed, 1);
        }
        kn_parsed_spec_free(&parsed);
    }
    kn_error_restore(&before);
    if (status != KILN_OK)
        return is_final ? KN_TIERS_FAILED : KN_TIERS_IDLE;
    atomic_store_explicit(&tiers->current, tiers->optimised, memory_order_release);
    return KN_TIERS_OPTIMISED;
}

/* ---- the queue; these are called with the lock ---- */

static bool has_state(const kn_tiers *tiers, kn_tiers_state state)
{
    return atomic_load(&tiers->state) == (int)state;
}

/* True if it is queued, and its maker does not exist: a forked child has no threads of its parent. */
static bool is_waiting(const kn_tiers *tiers)
{
    return has_state(tiers, KN_TIERS_QUEUED) ||
           (has_state(tiers, KN_TIERS_RUNNING) && tiers->maker != kn_fork_count());
}

static void append(kn_tiers *tiers)
{
    atomic_fetch_add(&tiers->references, 1);
    tiers->next = NULL;
    *queue.end = tiers;
    queue.end = &tiers->next;
    ++queue.count;
    atomic_store(&tiers->state, KN_TIERS_QUEUED);
}

static void take_out(kn_tiers *tiers)
{
    kn_tiers **link = &queue.first;
    while (*link != tiers)
        link = &(*link)->next;
    *link = tiers->next;
    if (!*link)
        queue.end = link;
    --queue.count;
}

static void set_running(kn_tiers *tiers)
{
    tiers->maker = kn_fork_count();
    atomic_store(&tiers->state, KN_TIERS_RUNNING);
}

/* Makes the functions that are marked as running. */
static void make_and_settle(kn_tiers *tiers)
{
    kn_tiers_state state = make(tiers);
    kn_lock_take(KN_LOCK_TIERS);
    atomic_store_explicit(&tiers->state, state, memory_order_release);
    take_out(tiers);
    kn_lock_wake(KN_LOCK_TIERS);
    kn_lock_give(KN_LOCK_TIERS);
    kn_tiers_release(tiers);
}

/* ---- the thread ---- */

static kn_tiers *next_or_end(void)
{
    kn_lock_take(KN_LOCK_TIERS);
    kn_tiers *tiers = queue.first;
    while (tiers && !is_waiting(tiers))
        tiers = tiers->next;
    if (tiers)
        set_running(tiers);
    else
        queue.is_working = false;
    kn_lock_give(KN_LOCK_TIERS);
    return tiers;
}

static void work(void *user)
{
    (void)user;
    for (kn_tiers *tiers = next_or_end(); tiers; tiers = next_or_end())
        make_and_settle(tiers);
}

/* Without a thread, the next call tries again. */
static void start_thread(void)
{
    if (kn_thread_start(work, NULL) == 0)
        return;
    kn_lock_take(KN_LOCK_TIERS);
    queue.is_working = false;
    kn_lock_give(KN_LOCK_TIERS);
}

/* Makes sure that queued work is done: in a forked child the parent's thread is missing. */
static void work_on(void)
{
    kn_lock_take(KN_LOCK_TIERS);
    bool starts = queue.first && !queue.is_working && !queue.is_closed;
    queue.is_working |= starts;
    kn_lock_give(KN_LOCK_TIERS);
    if (starts)
        start_thread();
}

void kn_tiers_submit(kn_tiers *tiers)
{
    kn_lock_take(KN_LOCK_TIERS);
    if (has_state(tiers, KN_TIERS_IDLE) && !queue.is_closed && queue.count < MOST_QUEUED)
        append(tiers);
    kn_lock_give(KN_LOCK_TIERS);
    work_on();
}

/* Marks it as running in the calling thread; false: another thread has settled it. */
static bool take_or_wait(kn_tiers *tiers)
{
    while (has_state(tiers, KN_TIERS_RUNNING) && !is_waiting(tiers))
        kn_lock_wait(KN_LOCK_TIERS);
    if (kn_tiers_are_settled(tiers))
        return false;
    if (has_state(tiers, KN_TIERS_IDLE))
        append(tiers);
    set_running(tiers);
    return true;
}

void kn_tiers_finish(kn_tiers *tiers)
{
    kn_lock_take(KN_LOCK_TIERS);
    bool is_mine = take_or_wait(tiers);
    kn_lock_give(KN_LOCK_TIERS);
    if (is_mine)
        make_and_settle(tiers);
}

void kn_tiers_withdraw(kn_tiers *tiers)
{
    bool was_queued = false;
    kn_lock_take(KN_LOCK_TIERS);
    if (has_state(tiers, KN_TIERS_QUEUED)) {
        take_out(tiers);
        atomic_store(&tiers->state, KN_TIERS_IDLE);
        was_queued = true;
    }
    kn_lock_give(KN_LOCK_TIERS);
    if (was_queued)
        kn_tiers_release(tiers);
    kn_tiers_release(tiers);
}

/* With a reference for the caller; NULL. */
static kn_tiers *find_in_queue(const kn_device *device, const char *what)
{
    kn_lock_take(KN_LOCK_TIERS);
    kn_tiers *found = queue.first;
    while (found && (found->device != device || strcmp(found->what, what) != 0))
        found = found->next;
    if (found)
        atomic_fetch_add(&found->references, 1);
    kn_lock_give(KN_LOCK_TIERS);
    return found;
}

void kn_tiers_finish_all(const kn_device *device, const char *what)
{
    for (kn_tiers *tiers; (tiers = find_in_queue(device, what)); kn_tiers_release(tiers))
        kn_tiers_finish(tiers);
}

static void end_thread(void);

/* The thread is the parent's; its work is queued again (is_waiting). */
static void begin_in_child(void)
{
    queue.is_working = false;
}

__attribute__((constructor)) static void register_ends(void)
{
    kn_fork_on_child(begin_in_child);
    kn_unload_on_exit(end_thread);
}

/* Before threads are joined: drops queued work, and stops compilers in processes of their own. */
__attribute__((destructor(KN_UNLOAD_TIERS))) static void close_queue(void)
{
    kn_tiers *dropped = NULL;
    kn_lock_take(KN_LOCK_TIERS);
    queue.is_closed = true;
    for (kn_tiers **link = &queue.first; *link;) {
        kn_tiers *tiers = *link;
        if (!is_waiting(tiers)) {
            link = &tiers->next;
            continue;
        }
        take_out(tiers);
        atomic_store(&tiers->state, KN_TIERS_IDLE);
        tiers->next = dropped;
        dropped = tiers;
    }
    kn_lock_give(KN_LOCK_TIERS);
    while (dropped) {
        kn_tiers *next = dropped->next;
        kn_tiers_release(dropped);
        dropped = next;
    }
    kn_os_stop_commands();
    kn_host_ahead_end();
}

/* A compile by NVRTC that runs is waited for, before NVRTC takes itself down. */
static void end_thread(void)
{
    close_queue();
    kn_thread_join_all();
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

kiln_forms kn_tiers_mode(void)
{
    int found = atomic_load_explicit(&mode, memory_order_relaxed), unknown = 0;
    if (found)
        return (kiln_forms)found;
    found = (int)read_mode();
    return (kiln_forms)(atomic_compare_exchange_strong(&mode, &unknown, found) ? found : unknown);
}

kiln_status kiln_set_forms(kiln_forms tiers)
{
    if (tiers < KILN_FORMS_BOTH || tiers > KILN_FORMS_QUICK)
        return kn_error(KILN_ERROR_INVALID, "forms: %d was given; a KILN_FORMS_* was expected", (int)tiers);
    atomic_store(&mode, (int)tiers);
    return KILN_OK;
}

bool kiln_wait_for_best(int64_t timeout_ms)
{
    KN_UNCANCELLED;
    double end = kn_os_now_ms() + (double)timeout_ms;
    work_on();
    while (kn_tiers_count().pending > 0) {
        if (timeout_ms >= 0 && kn_os_now_ms() >= end)
            return false;
        kn_os_sleep_us(LOOK_US);
    }
    return true;
}

void kn_tiers_note_only_baseline(const char *name)
{
    if (atomic_fetch_add(&n_only_baseline, 1) == 0)
        kn_log(
            KILN_LOG_WARNING,
            "%s runs in its quick form, which is slower: the best one for the layout of its arrays was not "
            "compiled before, and cannot be now (%s). Others are counted, and not logged",
            name, kiln_error_message());
}

kn_tiers_counts kn_tiers_count(void)
{
    kn_tiers_counts counts = {atomic_load(&n_baseline), atomic_load(&n_only_baseline), atomic_load(&n_failed),
                              0};
    kn_lock_take(KN_LOCK_TIERS);
    counts.pending = (uint64_t)queue.count;
    kn_lock_give(KN_LOCK_TIERS);
    return counts;
}
