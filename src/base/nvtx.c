/* Ranges for profilers, by the binary interface of NVTX 3: a profiler's library, whose path is in the
 * environment, is asked to start, and takes tables of pointers from here, which it fills with its own
 * functions. Ranges are of a domain "kiln". */
#include "base/nvtx.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/os.h"

/* The numbers of NVTX 3's interface. */
enum { CORE = 1, CUDA, OPENCL, CUDART, CORE2, SYNC, MODULES };              /* modules of functions */
enum { RANGE_PUSH = 4, RANGE_POP = 5, DOMAIN_CREATE = 12, FUNCTIONS = 16 }; /* those of CORE2 */
enum { CALLBACKS = 1, VERSION_INFO = 3 };                                   /* exported tables */
enum { VERSION = 3, ASCII = 1, NAME_MAX_BYTES = 256 };

typedef void (*any_function)(void);

typedef struct event {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const char *message;
} event;
_Static_assert(sizeof(event) == 48, "as NVTX 3 has it");

typedef struct callbacks {
    size_t struct_size;
    int (*get_functions)(int module, any_function ***table, unsigned *size);
} callbacks;

typedef struct version_info {
    size_t struct_size;
    uint32_t version, reserved;
    void (*set_version)(uint32_t version);
} version_info;

atomic_int kn_range_known;

/* The numbers that each module has; the first is no function. */
static const unsigned sizes[MODULES] = {
    [CORE] = 16, [CUDA] = 9, [OPENCL] = 15, [CUDART] = 7, [CORE2] = FUNCTIONS, [SYNC] = 7};
/* Functions of CORE2, and those of the other modules, which nothing calls; tables of pointers to them, which
 * end with NULL. */
static any_function own[FUNCTIONS], others[FUNCTIONS];
static any_function *tables[MODULES][FUNCTIONS + 1];
static void *domain;

static int get_functions(int module, any_function ***table, unsigned *size)
{
    if (module < CORE || module >= MODULES)
        return 0;
    if (size)
        *size = sizes[module];
    if (table)
        *table = tables[module];
    return 1;
}

static void set_version(uint32_t version)
{
    (void)version;
}

static const void *get_table(uint32_t id)
{
    static const callbacks functions = {sizeof functions, get_functions};
    static const version_info version = {sizeof version, VERSION, 0, set_version};
    return id == CALLBACKS ? (const void *)&functions : id == VERSION_INFO ? &version : NULL;
}

/* True if the library starts, and takes ranges. */
static bool start(kn_library *library)
{
    int (*initialize)(const void *(*)(uint32_t)) = NULL;
    void *symbol = kn_os_library_symbol(library, "InitializeInjectionNvtx2");
    memcpy(&initialize, &symbol, sizeof initialize);
    for (int m = CORE; m < MODULES; ++m)
        for (unsigned k = 1; k < sizes[m]; ++k)
            tables[m][k] = m == CORE2 ? &own[k] : &others[k];
    if (!initialize || !initialize(get_table) || !own[RANGE_PUSH] || !own[RANGE_POP] || !own[DOMAIN_CREATE])
        return false;
    domain = ((void *(*)(const char *))own[DOMAIN_CREATE])("kiln");
    return true;
}

/* The profiler's library stays, and so does this one, whose tables it has. */
static void look(void)
{
    const char *path = kn_os_env("NVTX_INJECTION64_PATH");
    kn_library *library = NULL;
    kn_error_state before;
    bool is_on = false;
    kn_error_save(&before);
    if (path && kn_os_library_open(&library, path) == KILN_OK) {
        is_on = start(library);
        if (is_on)
            kn_os_library_pin_self();
        else
            kn_log(KILN_LOG_INFO, "NVTX_INJECTION64_PATH: %s takes no ranges", path);
    } else if (path) {
        kn_log(KILN_LOG_INFO, "NVTX_INJECTION64_PATH: %s", kiln_error_message());
    }
    kn_error_restore(&before);
    atomic_store_explicit(&kn_range_known, is_on ? KN_RANGE_ON : KN_RANGE_OFF, memory_order_release);
}

bool kn_range_push(const char *what, const char *name)
{
    static atomic_bool is_known;
    char text[NAME_MAX_BYTES];
    kn_lock_once(&is_known, KN_LOCK_RANGES, look);
    if (atomic_load_explicit(&kn_range_known, memory_order_acquire) != KN_RANGE_ON)
        return false;
    snprintf(text, sizeof text, "%s%s%s", what, *what ? " " : "", name);
    const event range = {.version = VERSION, .size = sizeof range, .message_type = ASCII, .message = text};
    ((int (*)(void *, const event *))own[RANGE_PUSH])(domain, &range);
    return true;
}

void kn_range_pop(void)
{
    ((int (*)(void *))own[RANGE_POP])(domain);
}
