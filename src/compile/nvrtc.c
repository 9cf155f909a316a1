/* nvrtc.c - CUDA source to a cubin (or PTX) by NVRTC, which is loaded at the first compile and stays loaded.
 */
#include "compile/compiler.h"
#include "compile/reads.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "types/operators.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* NVRTC's C interface, as much of it as we call; stable since CUDA 8 (the cubin functions since 11.1). */
typedef struct nvrtc_program *nvrtc_program;
enum { NVRTC_OK = 0, NVRTC_OUT_OF_MEMORY = 1, NVRTC_INVALID_OPTION = 5 };

typedef struct nvrtc_api {
    int (*version)(int *major, int *minor);
    const char *(*error_string)(int result);
    int (*create)(nvrtc_program *, const char *source, const char *name, int n_headers,
                  const char *const *texts, const char *const *names);
    int (*destroy)(nvrtc_program *);
    int (*compile)(nvrtc_program, int n_options, const char *const *options);
    int (*log_size)(nvrtc_program, size_t *);
    int (*log)(nvrtc_program, char *);
    int (*ptx_size)(nvrtc_program, size_t *);
    int (*ptx)(nvrtc_program, char *);
    int (*cubin_size)(nvrtc_program, size_t *);
    int (*cubin)(nvrtc_program, char *);
    int (*add_name)(nvrtc_program, const char *expression);
    int (*lowered_name)(nvrtc_program, const char *expression, const char **name);
    int (*n_architectures)(int *);
    int (*architectures)(int *);
} nvrtc_api;

#define ENTRY(field, name)                                                                                   \
    {                                                                                                        \
        offsetof(nvrtc_api, field), name                                                                     \
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

enum { MAX_ARCHITECTURES = 64 };

static kn_compiler_place place;
static nvrtc_api api;
static kn_library *loaded; /* for good: NVRTC is not made to be unloaded */
static kn_library *builtins;
static int api_version; /* 13000 for 13.0 */
static int known[MAX_ARCHITECTURES], n_known;

/* ---- finding and loading ---- */

static void search_once(void)
{
    if (place.is_searched)
        return;
    place.is_searched = true;
    kn_nvrtc_search(&place);
    if (!place.is_found)
        return;
    char file[128];
    if (kn_os_file_identity(file, sizeof file, place.path) != KILN_OK) {
        place.is_found = false;
        snprintf(place.location, sizeof place.location, "NVRTC cannot be read: %.3000s", place.path);
        return;
    }
    kn_str nothing = KN_STR_INIT;
    kn_compile_make_identity(&place, "nvrtc", file, &nothing);
    memcpy(place.location, place.path, sizeof place.location);
}

static const kn_compiler_place *nvrtc_place(void)
{
    kn_lock_take(KN_LOCK_NVRTC);
    search_once();
    kn_lock_give(KN_LOCK_NVRTC);
    return &place;
}

static kiln_status resolve(kn_library *library, nvrtc_api *out)
{
    for (size_t i = 0; i < sizeof api_table / sizeof *api_table; i++) {
        void *symbol = kn_os_library_symbol(library, api_table[i].name);
        if (!symbol) {
            kn_error(KILN_ERROR_UNSUPPORTED, "%s has no %s: NVRTC 11.2 or newer is needed", place.path,
                     api_table[i].name);
            return KILN_ERROR_UNSUPPORTED;
        }
        memcpy((char *)out + api_table[i].offset, &symbol, sizeof symbol);
    }
    return KILN_OK;
}

static void ask_what_it_knows(const nvrtc_api *a)
{
    int major = 0, minor = 0, n = 0;
    a->version(&major, &minor);
    api_version = major * 1000 + minor * 10;
    if (a->n_architectures(&n) == NVRTC_OK && n > 0 && n <= MAX_ARCHITECTURES &&
        a->architectures(known) == NVRTC_OK)
        n_known = n;
}

/* NVRTC opens a library of built-in functions by its bare name when it first compiles. pip's wheel lies where
 * the loader does not look: so the one beside NVRTC is loaded by its path, and the loader then knows the
 * name. Where it is not there, NVRTC says so itself. */
static void load_builtins(void)
{
    char path[KN_COMPILER_PATH_SIZE + 64];
    const char *end = strrchr(place.path, '/');
    snprintf(path, sizeof path, "%.*s/libnvrtc-builtins.so.%d.%d", end ? (int)(end - place.path) : 0,
             place.path, api_version / 1000, api_version % 1000 / 10);
    if (end && kn_os_is_file(path))
        (void)kn_os_library_open(&builtins, path);
}

static kiln_status load_locked(void)
{
    if (loaded)
        return KILN_OK;
    search_once();
    if (!place.is_found)
        return kn_error(KILN_ERROR_NOT_FOUND, "%s", place.location);
    kn_library *library = NULL;
    nvrtc_api found;
    kiln_status status = kn_os_library_open(&library, place.path);
    if (status != KILN_OK)
        return kn_error_context("NVRTC cannot be loaded");
    status = resolve(library, &found);
    if (status != KILN_OK) {
        kn_os_library_close(library);
        return status;
    }
    ask_what_it_knows(&found);
    load_builtins();
    api = found;
    loaded = library;
    return KILN_OK;
}

static kiln_status load(void)
{
    kn_lock_take(KN_LOCK_NVRTC);
    kiln_status status = load_locked();
    kn_lock_give(KN_LOCK_NVRTC);
    return status;
}

static kiln_status nvrtc_version(kn_str *out)
{
    kiln_status status = load();
    if (status != KILN_OK)
        return status;
    kn_str_printf(out, "%d.%d", api_version / 1000, api_version % 1000 / 10);
    return kn_str_status(out, "the version of NVRTC");
}

/* ---- options ---- */

/* What makes compiling faster, and the first version that takes it. */
static const struct {
    const char *option;
    int since;
    bool with_includes; /* for sources with includes, and a user's modules, too */
} lean_options[] = {
    /* The driver's own cache on disk, which is kept twice for each compile: ours serves as well. */
    {"-no-cache", 12090, true},
    /* The limit is the whole process's: other threads would see it change. */
    {"-modify-stack-limit=false", 11020, false},
    {"-no-source-include", 12040, false},
    {"-minimal", 12060, false},
};

enum { MAX_OWN_OPTIONS = 24 };

typedef struct option_list {
    const char **items;
    int n;
    int first_lean, n_lean; /* where the lean options are */
    char architecture[48];
    int first_trace, n_trace; /* and those that make it say what it reads */
    kn_str include_options;
    kn_str listing_option;
    bool is_ptx;
} option_list;

/* For an architecture that this NVRTC does not know: the newest older one, 0 where there is none. */
static int newest_known_below(int compute_capability)
{
    int best = 0;
    for (int i = 0; i < n_known; i++)
        if (known[i] <= compute_capability && known[i] > best)
            best = known[i];
    return best;
}

/* A device newer than NVRTC gets PTX of the newest architecture that both know: the driver translates it. */
static kiln_status choose_architecture(option_list *list, const kn_compile_request *request)
{
    const kn_target *target = &request->target;
    const char *number = target->architecture + (strncmp(target->architecture, "sm_", 3) == 0 ? 3 : 0);
    int best = n_known ? newest_known_below(target->compute_capability) : target->compute_capability;
    if (best == 0)
        return kn_error(KILN_ERROR_UNSUPPORTED, "NVRTC %d.%d compiles for sm_%d and newer, not for %s",
                        api_version / 1000, api_version % 1000 / 10, known[0], target->architecture);
    list->is_ptx = (request->flags & KN_COMPILE_TO_PTX) || best != target->compute_capability;
    if (best != target->compute_capability)
        snprintf(list->architecture, sizeof list->architecture, "-arch=compute_%d", best);
    else
        snprintf(list->architecture, sizeof list->architecture, "-arch=%s_%s",
                 list->is_ptx ? "compute" : "sm", number);
    return KILN_OK;
}

static bool names_standard(const kn_compile_request *request)
{
    for (int i = 0; i < request->n_options; i++)
        if (strncmp(request->options[i], "-std", 4) == 0 || strncmp(request->options[i], "--std", 5) == 0)
            return true;
    return false;
}

static void add(option_list *list, const char *option)
{
    list->items[list->n++] = option;
}

static void add_lean_options(option_list *list, bool has_includes)
{
    list->first_lean = list->n;
    for (size_t i = 0; i < sizeof lean_options / sizeof *lean_options; i++)
        if (api_version >= lean_options[i].since && (lean_options[i].with_includes || !has_includes))
            add(list, lean_options[i].option);
    list->n_lean = list->n - list->first_lean;
}

/* The lean options only save time, and a listing only serves the next process: a version that refuses one of
 * them compiles without. */
static bool drop_options(option_list *list, int first, int *n)
{
    int end = first + *n;
    if (*n == 0)
        return false;
    memmove(list->items + first, list->items + end, (size_t)(list->n - end) * sizeof *list->items);
    list->n -= *n;
    *n = 0;
    return true;
}

static bool drop_lean_options(option_list *list)
{
    list->first_trace -= list->n_lean;
    return drop_options(list, list->first_lean, &list->n_lean);
}

/* NVRTC has no way of its own to say what it read. Its front end has: a raw listing, in which each file
 * begins with a line (`L 1 "folder/file.h" 1`). Tried with NVRTC 11.7, 12.0, 12.4 and 13.0. */
static void add_listing(option_list *list, const char *file)
{
    list->first_trace = list->n;
    kn_str_printf(&list->listing_option, "--list=%s", file);
    add(list, "-Xcudafe");
    add(list, kn_str_text(&list->listing_option));
    list->n_trace = 2;
}

static void add_include_options(option_list *list)
{
    int n = kn_nvrtc_include_options(&list->include_options, place.path);
    const char *option = list->include_options.data;
    for (int i = 0; option && i < n; i++, option += strlen(option) + 1)
        add(list, option);
}

static kiln_status make_options(option_list *list, const kn_compile_request *request, const char *listing)
{
    *list = (option_list){.include_options = KN_STR_INIT, .listing_option = KN_STR_INIT};
    size_t bytes = (size_t)(request->n_options + MAX_OWN_OPTIONS) * sizeof *list->items;
    list->items = kn_malloc(bytes);
    if (!list->items)
        return kn_error_memory(bytes, "compiler options");
    kiln_status status = choose_architecture(list, request);
    if (status != KILN_OK)
        return status;
    add(list, list->architecture);
    if (!names_standard(request))
        add(list, "-std=c++17");
    if (request->flags & KN_COMPILE_FAST_MATH)
        add(list, "-use_fast_math");
    if (request->flags & KN_COMPILE_NO_FMA)
        add(list, "-fmad=false");
    bool is_module = request->flags & KN_COMPILE_USER_MODULE;
    bool is_lean = !is_module && !listing;
    if (!is_module)
        add(list, "-default-device");
    add_lean_options(list, !is_lean);
    for (int i = 0; i < request->n_options; i++)
        add(list, request->options[i]);
    if (!is_lean) /* after the user's own folders */
        add_include_options(list);
    if (listing)
        add_listing(list, listing);
    if (list->listing_option.failed)
        return kn_error_memory(0, "compiler options");
    return kn_str_status(&list->include_options, "include folders");
}

static void free_options(option_list *list)
{
    kn_free(list->items);
    kn_str_free(&list->include_options);
    kn_str_free(&list->listing_option);
}

/* ---- compiling ---- */

static kiln_status nvrtc_failed(int result, const char *what)
{
    kiln_status status = result == NVRTC_OUT_OF_MEMORY ? KILN_ERROR_MEMORY : KILN_ERROR_COMPILE;
    return kn_error(status, "%s: %s", what, api.error_string(result));
}

static kiln_status read_log(kn_str *log, nvrtc_program program)
{
    size_t size = 0;
    if (api.log_size(program, &size) != NVRTC_OK || size <= 1)
        return KILN_OK;
    char *text = kn_malloc(size);
    if (!text)
        return kn_error_memory(size, "a compiler's log");
    if (api.log(program, text) == NVRTC_OK)
        kn_str_append_n(log, text, strnlen(text, size));
    kn_free(text);
    return kn_str_status(log, "a compiler's log");
}

static kiln_status read_code(kn_blob *code, nvrtc_program program, bool is_ptx)
{
    size_t size = 0;
    int result = is_ptx ? api.ptx_size(program, &size) : api.cubin_size(program, &size);
    if (result != NVRTC_OK)
        return nvrtc_failed(result, "reading the size of the code from NVRTC");
    if (size == 0)
        return kn_error(KILN_ERROR_COMPILE, "NVRTC gave no code");
    char *data = kn_malloc(size);
    if (!data)
        return kn_error_memory(size, "compiled code");
    result = is_ptx ? api.ptx(program, data) : api.cubin(program, data);
    if (result != NVRTC_OK) {
        kn_free(data);
        return nvrtc_failed(result, "reading the code from NVRTC");
    }
    *code = (kn_blob){data, size};
    return KILN_OK;
}

static kiln_status add_names(nvrtc_program program, const kn_compile_request *request)
{
    for (int i = 0; i < request->n_name_expressions; i++) {
        int result = api.add_name(program, request->name_expressions[i]);
        if (result != NVRTC_OK)
            return kn_error(KILN_ERROR_INVALID, "name expression \"%s\": %s", request->name_expressions[i],
                            api.error_string(result));
    }
    return KILN_OK;
}

static kiln_status read_lowered_names(kn_compile_result *out, nvrtc_program program,
                                      const kn_compile_request *request)
{
    int n = request->n_name_expressions;
    if (n == 0)
        return KILN_OK;
    out->lowered_names = kn_calloc((size_t)n, sizeof *out->lowered_names);
    if (!out->lowered_names)
        return kn_error_memory((size_t)n * sizeof *out->lowered_names, "lowered names");
    out->n_lowered_names = n;
    for (int i = 0; i < n; i++) {
        const char *name = NULL;
        int result = api.lowered_name(program, request->name_expressions[i], &name);
        if (result != NVRTC_OK)
            return kn_error(KILN_ERROR_NOT_FOUND, "name expression \"%s\": %s", request->name_expressions[i],
                            api.error_string(result));
        out->lowered_names[i] = kn_strdup(name);
        if (!out->lowered_names[i])
            return kn_error_memory(strlen(name) + 1, "a lowered name");
    }
    return KILN_OK;
}

/* ---- what it read ---- */

enum { LISTING_MAX_BYTES = 1 << 30 };

static void take_reads(kn_compile_reads *reads, const option_list *list, const char *listing,
                       const kn_compile_request *request, const struct timespec *began)
{
    kn_blob text = KN_BLOB_INIT;
    kn_error_state before;
    reads->is_traced = true;
    kn_error_save(&before);
    if (list->n_trace > 0 && kn_os_read_plain_file(&text, listing, LISTING_MAX_BYTES, true) == KILN_OK)
        kn_reads_take_listing(reads, text.data, text.size, request);
    else
        reads->is_unknown = true;
    kn_error_restore(&before);
    kn_blob_free(&text);
    const char *option = list->include_options.data;
    const char *end = option ? option + list->include_options.length : NULL;
    for (; option && option < end; option += strlen(option) + 1)
        kn_reads_add_folder(reads, option + 2, strlen(option + 2), true);
    if (kn_reads_are_newer(reads, began))
        reads->is_unknown = true;
}

static int compile_with(nvrtc_program program, option_list *list)
{
    int result = api.compile(program, list->n, list->items);
    if (result == NVRTC_INVALID_OPTION && drop_lean_options(list))
        result = api.compile(program, list->n, list->items);
    if (result == NVRTC_INVALID_OPTION && drop_options(list, list->first_trace, &list->n_trace))
        result = api.compile(program, list->n, list->items);
    return result;
}

/* listing is where the compiler says what it read; NULL for a request that reaches for no file. */
static kiln_status compile_program(kn_compile_result *out, nvrtc_program program,
                                   const kn_compile_request *request, const char *listing)
{
    option_list list;
    struct timespec began;
    clock_gettime(CLOCK_REALTIME, &began);
    kiln_status status = make_options(&list, request, listing);
    if (status == KILN_OK)
        status = add_names(program, request);
    if (status != KILN_OK)
        goto out;
    int result = compile_with(program, &list);
    status = read_log(&out->log, program);
    kn_operators_unguard(&out->log, request->source);
    if (status == KILN_OK && result != NVRTC_OK)
        status = kn_compile_failed(request->name, &out->log, api.error_string(result));
    if (status == KILN_OK)
        status = read_code(&out->code, program, list.is_ptx);
    if (status == KILN_OK)
        status = read_lowered_names(out, program, request);
    if (status == KILN_OK && listing)
        take_reads(&out->reads, &list, listing, request, &began);
out:
    free_options(&list);
    return status;
}

static kiln_status compile_listed(kn_compile_result *out, nvrtc_program program,
                                  const kn_compile_request *request)
{
    kn_os_workplace workplace;
    char listing[sizeof workplace.path + 16];
    kiln_status status = kn_os_workplace_make(&workplace);
    if (status != KILN_OK)
        return status;
    snprintf(listing, sizeof listing, "%s/listing", workplace.path);
    status = compile_program(out, program, request, listing);
    kn_os_workplace_remove(&workplace);
    return status;
}

/* NVRTC has locks of its own, of which a fork knows nothing. */
static atomic_int n_inside;
static bool is_stuck;

static void look_in_child(void)
{
    is_stuck = is_stuck || atomic_load(&n_inside) > 0;
    atomic_store(&n_inside, 0);
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(look_in_child);
}

static kiln_status nvrtc_compile(kn_compile_result *out, const kn_compile_request *request)
{
    nvrtc_program program = NULL;
    kn_str name = KN_STR_INIT;
    kiln_status status = load();
    if (status != KILN_OK)
        return status;
    if (is_stuck)
        return kn_error(KILN_ERROR_UNSUPPORTED,
                        "NVRTC was compiling in another thread when this process was forked, and cannot be "
                        "used here: compile before fork(), or when no thread compiles");
    atomic_fetch_add(&n_inside, 1);
    kn_compile_source_name(&name, request);
    status = kn_str_status(&name, "a source's name");
    if (status != KILN_OK)
        goto out;
    int result = api.create(&program, request->source, name.data, request->n_headers, request->header_texts,
                            request->header_names);
    if (result != NVRTC_OK) {
        status = nvrtc_failed(result, "nvrtcCreateProgram");
        goto out;
    }
    status = kn_compile_reaches(request) ? compile_listed(out, program, request)
                                         : compile_program(out, program, request, NULL);
    api.destroy(&program);
out:
    atomic_fetch_sub(&n_inside, 1);
    kn_str_free(&name);
    return status;
}

const kn_compiler kn_compiler_nvrtc = {nvrtc_place, nvrtc_compile, nvrtc_version};
