/* compile/nvrtc_library.c - loads NVRTC and looks up its functions. */
#include "compile/nvrtc_library.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/shortage.h"
#include "base/unload.h"

kn_nvrtc_library kn_nvrtc;
static kn_library *loaded;
static kn_library *builtins;

#define ENTRY(field, name)                                                                                   \
    {                                                                                                        \
        offsetof(kn_nvrtc_api, field), name                                                                  \
    }
static const struct {
    size_t offset;
    const char *name;
} api_table[] = {
    ENTRY(version, "nvrtcVersion"),
    ENTRY(error_string, "nvrtcGetErrorString"),
    ENTRY(create, "nvrtcCreateProgram"),
    ENTRY(destroy, "nvrtcDestroyProgram"),
    ENTRY(compile, "nvrtcCompileProgram"),
    ENTRY(log_size, "nvrtcGetProgramLogSize"),
    ENTRY(log, "nvrtcGetProgramLog"),
    ENTRY(ptx_size, "nvrtcGetPTXSize"),
    ENTRY(ptx, "nvrtcGetPTX"),
    ENTRY(cubin_size, "nvrtcGetCUBINSize"),
    ENTRY(cubin, "nvrtcGetCUBIN"),
    ENTRY(add_name, "nvrtcAddNameExpression"),
    ENTRY(lowered_name, "nvrtcGetLoweredName"),
    ENTRY(n_architectures, "nvrtcGetNumSupportedArchs"),
    ENTRY(architectures, "nvrtcGetSupportedArchs"),
};

static void search(void)
{
    kn_nvrtc.place.is_found = false;
    kn_nvrtc_search(&kn_nvrtc.place);
    if (!kn_nvrtc.place.is_found)
        return;
    char file[128];
    if (kn_os_file_identity(file, sizeof file, kn_nvrtc.place.path) != KILN_OK) {
        kn_nvrtc.place.is_found = false;
        snprintf(kn_nvrtc.place.location, sizeof kn_nvrtc.place.location, "NVRTC cannot be read: %.3000s",
                 kn_nvrtc.place.path);
        return;
    }
    kn_str nothing = KN_STR_INIT;
    kn_compile_make_identity(&kn_nvrtc.place, "nvrtc", file, &nothing);
    memcpy(kn_nvrtc.place.location, kn_nvrtc.place.path, sizeof kn_nvrtc.place.location);
}

const kn_compiler_place *kn_nvrtc_place(void)
{
    static const kn_compiler_place unknown = KN_COMPILER_PLACE_UNKNOWN;
    static atomic_bool is_searched;
    return kn_lock_once(&is_searched, KN_LOCK_NVRTC, search) ? &kn_nvrtc.place : &unknown;
}

static kiln_status resolve(kn_library *library, kn_nvrtc_api *out)
{
    for (size_t i = 0; i < sizeof api_table / sizeof *api_table; i++) {
        void *symbol = kn_os_library_symbol(library, api_table[i].name);
        if (!symbol) {
            kn_error(KILN_ERROR_UNSUPPORTED, "%s has no %s: NVRTC 11.2 or newer is needed",
                     kn_nvrtc.place.path, api_table[i].name);
            return KILN_ERROR_UNSUPPORTED;
        }
        memcpy((char *)out + api_table[i].offset, &symbol, sizeof symbol);
    }
    return KILN_OK;
}

static void ask_what_it_knows(const kn_nvrtc_api *a)
{
    int major = 0, minor = 0, n = 0;
    a->version(&major, &minor);
    kn_nvrtc.version = major * 1000 + minor * 10;
    if (a->n_architectures(&n) == KN_NVRTC_OK && n > 0 && n <= KN_NVRTC_ARCHITECTURES_MAX &&
        a->architectures(kn_nvrtc.known) == KN_NVRTC_OK)
        kn_nvrtc.n_known = n;
}

/* NVRTC opens a library of built-in functions by its bare name when it first compiles. The loader does not
 * search the folder of pip's wheel, so the library beside NVRTC is loaded by its path, and then the loader
 * knows the name. If it is missing, NVRTC says so. False, with the last error, after a shortage. */
static bool load_builtins(void)
{
    unsigned before = kn_shortages();
    char path[KN_COMPILER_PATH_SIZE + 64];
    const char *end = strrchr(kn_nvrtc.place.path, '/');
    snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", end ? (int)(end - kn_nvrtc.place.path) : 0,
             kn_nvrtc.place.path, kn_nvrtc.version / 1000, kn_nvrtc.version % 1000 / 10);
    if (end && kn_os_is_file(path))
        (void)kn_os_library_open(&builtins, path);
    return kn_shortages() == before;
}

static kiln_status load_locked(void)
{
    if (loaded)
        return KILN_OK;
    kn_library *library = NULL;
    kn_nvrtc_api found;
    kiln_status status = kn_os_library_open(&library, kn_nvrtc.place.path);
    if (status != KILN_OK)
        return kn_error_context("NVRTC cannot be loaded");
    status = resolve(library, &found);
    if (status == KILN_OK) {
        ask_what_it_knows(&found);
        if (!load_builtins())
            status = kn_error_context("NVRTC cannot be loaded");
    }
    if (status != KILN_OK) {
        kn_os_library_close(library);
        return status;
    }
    kn_nvrtc.api = found;
    loaded = library;
    kn_unload_watch_library();
    return KILN_OK;
}

kiln_status kn_nvrtc_load(void)
{
    const kn_compiler_place *place = kn_nvrtc_place();
    if (!place->is_found)
        return kn_compiler_missing(place);
    kn_lock_take(KN_LOCK_NVRTC);
    kiln_status status = load_locked();
    kn_lock_give(KN_LOCK_NVRTC);
    return status;
}
