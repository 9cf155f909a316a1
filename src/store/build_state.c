/* The process's stores and loaded code: their opening, counts and end. */
#include "store/build_state.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/setting.h"
#include "base/shortage.h"
#include "base/lock.h"
#include "base/thread.h"
#include "base/unload.h"
#include "store/lifetime.h"
#include "store/record.h"

static _Atomic(kn_build_state *) current;

static kn_backend_kind warm_up_backend; /* whose compiler the thread that opens the stores looks for */
static bool is_warming_up;

static void free_module(void *value)
{
    kn_loaded_module *loaded = value;
    if (loaded->module)
        loaded->device->backend->module_unload(loaded->module);
    kn_free(loaded);
}

/* Loaded modules go before the code that they were loaded from. */
static void free_state(kn_build_state *state)
{
    if (!state)
        return;
    kn_flight_table_free(state->functions, kn_free);
    kn_flight_table_free(state->modules, free_module);
    for (int s = state->n_stores; s-- > 0;)
        if (state->store[s].store->close)
            state->store[s].store->close(state->store[s].self);
    kn_free(state);
}

/* False after a shortage. */
static bool open_stores(kn_build_state *state)
{
    bool is_open = true;
    for (const kn_store *const *store = kn_stores(); *store && is_open; store++) {
        kn_opened_store *opened = &state->store[state->n_stores++];
        opened->store = *store;
        is_open = !opened->store->open || opened->store->open(&opened->self);
    }
    return is_open;
}

static kn_build_state *create_state(void)
{
    kn_build_state *state = kn_calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->modules = kn_flight_table_create();
    state->functions = kn_flight_table_create();
    if (state->modules && state->functions && open_stores(state))
        return state;
    free_state(state);
    return NULL;
}

kiln_status kn_build_state_get(kn_build_state **out)
{
    kn_build_state *state = atomic_load_explicit(&current, memory_order_acquire);
    if (!state) {
        kn_log_hold();
        kn_lock_take(KN_LOCK_BUILD);
        state = atomic_load(&current);
        if (!state)
            atomic_store(&current, state = create_state());
        kn_lock_give(KN_LOCK_BUILD);
        kn_log_release();
        kiln_variables_check();
    }
    *out = state;
    return state ? KILN_OK : kn_error_shortage("opening the stores of kernels");
}

unsigned long long kn_stores_hits(kn_build_state *state, kiln_origin origin)
{
    unsigned long long hits = 0;
    for (int s = 0; s < state->n_stores; s++)
        if (kn_store_origin(state->store[s].store->roles) == origin)
            hits += atomic_load(&state->store[s].counts.hits);
    return hits;
}

double kn_stores_ms(kn_build_state *state, kiln_origin origin)
{
    unsigned long long us = 0;
    for (int s = 0; s < state->n_stores; s++)
        if (kn_store_origin(state->store[s].store->roles) == origin)
            us += atomic_load(&state->store[s].counts.us);
    return (double)us * 1e-3;
}

unsigned long long kn_stores_refusals(const kn_build_state *state)
{
    unsigned long long refusals = 0;
    for (int s = 0; s < state->n_stores; s++)
        refusals += atomic_load(&state->store[s].counts.refusals);
    return refusals;
}

void kn_stores_list_places(kn_str *out, const kn_build_state *state)
{
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store->list_places)
            state->store[s].store->list_places(out, state->store[s].self);
}

void kn_stores_list_refusals(kn_str *out, const kn_code_search *search)
{
    const kn_build_state *state = search->state;
    kn_str_append(out, kn_str_text(&search->refusals));
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store->list_refusals)
            state->store[s].store->list_refusals(out, state->store[s].self, search);
}

/* ---- what the first kernel needs, made ready meanwhile ---- */

static void warm_up(void *user)
{
    kn_build_state *state = user;
    for (int s = 0; s < state->n_stores; s++)
        if (state->store[s].store->warm_up)
            state->store[s].store->warm_up(state->store[s].self);
    kn_compile_identity(warm_up_backend);
}

/* Without a file to be read there is nothing to be made ready. */
static bool has_files(const kn_build_state *state)
{
    kn_str places = KN_STR_INIT;
    kn_stores_list_places(&places, state);
    bool found = places.length > 0 || places.failed;
    kn_str_free(&places);
    return found;
}

void kn_build_warm_up(kn_backend_kind backend)
{
    kn_build_state *state;
    kn_error_state before; /* without memory or threads the cache is opened later */
    kn_error_save(&before);
    if (kn_build_state_get(&state) == KILN_OK && has_files(state)) {
        kn_lock_take(KN_LOCK_BUILD);
        if (!is_warming_up) {
            warm_up_backend = backend;
            is_warming_up = kn_thread_start(warm_up, state) == 0;
        }
        kn_lock_give(KN_LOCK_BUILD);
    }
    kn_error_restore(&before);
}

void kn_build_shutdown(void)
{
    kn_thread_join_all();
    is_warming_up = false;
    free_state(atomic_exchange(&current, NULL));
    kn_record_forget();
}

static void leave_stores(const kn_build_state *state)
{
    for (int s = 0; state && s < state->n_stores; s++)
        if (state->store[s].store->leave)
            state->store[s].store->leave(state->store[s].self);
}

/* Kernels and the open cache go with the library. */
__attribute__((destructor(KN_UNLOAD_BUILD))) static void unload(void)
{
    if (kn_unload_is_exit())
        leave_stores(atomic_load(&current));
    else
        kn_build_shutdown();
}
