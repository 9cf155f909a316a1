#include "build/build_state.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/thread.h"
#include "base/unload.h"
#include "compile/compile.h"
#include "device/device.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static _Atomic(kn_build_state *) current;

static kn_backend_kind warm_up_backend; /* whose compiler the thread that opens the cache looks for */
static bool is_warming_up;

/* False without memory: having no place for a cache is no failure, and is remembered. */
static bool open_cache(kn_build_state *state)
{
    const char *setting = kn_os_env("KILN_CACHE");
    char folder[PATH_MAX];
    kn_error_state before;
    state->is_switched_off = setting && (!strcasecmp(setting, "off") || !strcmp(setting, "0"));
    if (state->is_switched_off)
        return true;
    kn_error_save(&before);
    if (kn_cache_default_folder(folder, sizeof folder) == KILN_OK)
        state->cache = kn_cache_create(folder, false);
    else
        snprintf(state->trouble, sizeof state->trouble, "%s", kiln_error_message());
    kn_error_restore(&before);
    return state->cache || state->trouble[0];
}

static void free_state(kn_build_state *state)
{
    if (!state)
        return;
    kn_once_table_free(state->functions, kn_loaded_function_free);
    kn_once_table_free(state->modules, kn_loaded_module_free);
    kn_once_table_free(state->codes, kn_code_free);
    kn_cache_free(state->cache);
    kn_free(state);
}

static kn_build_state *create_state(void)
{
    kn_build_state *state = kn_calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->codes = kn_once_table_create();
    state->modules = kn_once_table_create();
    state->functions = kn_once_table_create();
    if (state->codes && state->modules && state->functions && open_cache(state))
        return state;
    free_state(state);
    return NULL;
}

kiln_status kn_build_state_get(kn_build_state **out)
{
    kn_build_state *state = atomic_load_explicit(&current, memory_order_acquire);
    if (!state) {
        kn_lock_take(KN_LOCK_BUILD);
        state = atomic_load(&current);
        if (!state)
            atomic_store(&current, state = create_state());
        kn_lock_give(KN_LOCK_BUILD);
    }
    *out = state;
    return state ? KILN_OK : kn_error_memory(sizeof *state, "the table of kernels");
}

/* ---- what the first kernel needs, made ready meanwhile ---- */

static void warm_up(void *user)
{
    kn_build_state *state = user;
    kn_cache_warm_up(state->cache);
    kn_compile_identity(warm_up_backend);
}

void kn_build_warm_up(kn_backend_kind backend)
{
    kn_build_state *state;
    kn_error_state before; /* without memory or threads the cache is opened later */
    kn_error_save(&before);
    if (kn_build_state_get(&state) == KILN_OK && state->cache) {
        kn_lock_take(KN_LOCK_BUILD);
        if (!is_warming_up) {
            warm_up_backend = backend;
            is_warming_up = kn_thread_start(warm_up, state) == 0;
        }
        kn_lock_give(KN_LOCK_BUILD);
    }
    kn_error_restore(&before);
}

__attribute__((constructor)) static void register_warm_up(void)
{
    kn_device_on_first_use(kn_build_warm_up);
}

void kn_build_shutdown(void)
{
    kn_thread_join_all();
    is_warming_up = false;
    free_state(atomic_exchange(&current, NULL));
}

/* Kernels and the open cache go with the library. */
__attribute__((destructor(KN_UNLOAD_BUILD))) static void unload(void)
{
    if (!kn_unload_is_exit())
        kn_build_shutdown();
}
