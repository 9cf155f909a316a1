/* Loads the CUDA driver and its functions; in a forked child they are replaced. */
#include "device/cuda_driver.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/setting.h"
#include "base/shortage.h"
#include "device/first_use.h"
#include "device/launch_name.h"
#include "device/lost.h"

kn_cu_driver kn_cuda;

static struct {
    kn_library *library;
    int device_count, version;
    char why_not[512];
} driver;
static atomic_bool is_begun, is_loaded;

typedef struct symbol_entry {
    const char *symbol;
    size_t offset;
    bool is_required;
} symbol_entry;

static const symbol_entry symbols[] = {
#define X(name, symbol, parameters) {#symbol, offsetof(kn_cu_driver, name), true},
    KN_CU_REQUIRED(X)
#undef X
#define X(name, symbol, parameters) {#symbol, offsetof(kn_cu_driver, name), false},
        KN_CU_OPTIONAL(X)
#undef X
};

static bool fetch_symbols(const char *path)
{
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = kn_os_library_symbol(driver.library, symbols[i].symbol);
        if (!address && symbols[i].is_required) {
            snprintf(driver.why_not, sizeof driver.why_not,
                     "%s has no %s: a driver of CUDA 11.4 or later is needed", path, symbols[i].symbol);
            return false;
        }
        *(void **)((char *)&kn_cuda + symbols[i].offset) = address;
    }
    return true;
}

static bool call_succeeded(kn_cu_result result, const char *call)
{
    if (result == KN_CU_SUCCESS)
        return true;
    if (result == KN_CU_OUT_OF_MEMORY)
        kn_shortage_note(ENOMEM);
    const char *name = NULL, *text = NULL;
    KN_CU_CALL(GetErrorName, result, &name);
    KN_CU_CALL(GetErrorString, result, &text);
    snprintf(driver.why_not, sizeof driver.why_not, "%s failed with %s (%s)", call,
             name ? name : "an unknown error", text ? text : "no description");
    return false;
}

/* The driver calls back when graphs end, and it is not made to be unloaded: so this library stays as well. */
static bool start_driver(void)
{
    kn_os_library_pin_self();
    atomic_store(&is_begun, true);
    kn_device_tell_first_use(KN_CUDA);
    return call_succeeded(KN_CU_CALL(Init, 0), "cuInit");
}

/* The reason is stored as text: asking for a device is no failure if the default falls back to the host. */
static void load(void)
{
    const char *path = kn_setting("KILN_LIBCUDA");
    kn_error_state before;
    if (!path)
        path = "libcuda.so.1";
    kn_error_save(&before);
    unsigned shortages = kn_shortages();
    driver.why_not[0] = 0;
    if (!driver.library && kn_os_library_open(&driver.library, path) != KILN_OK) {
        snprintf(driver.why_not, sizeof driver.why_not, "%s", kiln_error_message());
    } else if (fetch_symbols(path) && start_driver() &&
               call_succeeded(KN_CU_CALL(DriverGetVersion, &driver.version), "cuDriverGetVersion") &&
               call_succeeded(KN_CU_CALL(DeviceGetCount, &driver.device_count), "cuDeviceGetCount") &&
               driver.device_count == 0) {
        snprintf(driver.why_not, sizeof driver.why_not, "the CUDA driver sees no device");
    }
    if (driver.why_not[0])
        driver.device_count = 0;
    kn_error_restore(&before);
    if (kn_shortages() != shortages) /* the caller's failure, then: another thread may begin anew */
        kn_error(kn_shortage_last() == ENOMEM ? KILN_ERROR_MEMORY : KILN_ERROR_IO,
                 "CUDA devices cannot be looked for: %s", driver.why_not);
}

/* ---- forks ---- */

/* The functions that a child calls in place of the driver's, which would fail, or wait for threads that the
 * child lacks. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define X(name, symbol, parameters)                                                                          \
    static kn_cu_result lost_##name parameters                                                               \
    {                                                                                                        \
        return KN_CU_LOST;                                                                                   \
    }
KN_CU_REQUIRED(X)
KN_CU_OPTIONAL(X)
#undef X
#pragma GCC diagnostic pop

static const kn_cu_driver lost_driver = {
#define X(name, symbol, parameters) .name = lost_##name,
    KN_CU_REQUIRED(X) KN_CU_OPTIONAL(X)
#undef X
};

static void lose_in_child(void)
{
    bool had_none = atomic_load(&is_loaded) && driver.why_not[0]; /* and never will */
    if (!atomic_load(&is_begun) || had_none)
        return;
    kn_cuda = lost_driver;
    kn_cuda_lost = true;
    driver.device_count = 0;
    strcpy(driver.why_not, kn_cuda_lost_message);
    atomic_store(&is_loaded, true);
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(lose_in_child);
}

/* False with the last error after a load that met a shortage: `driver` is not to be read, and the next load
 * begins anew. */
static bool is_ready(void)
{
    return kn_lock_once(&is_loaded, KN_LOCK_CUDA_DRIVER, load);
}

kiln_status kn_cuda_load(int *device_count)
{
    if (!is_ready())
        return kiln_error_status();
    *device_count = driver.device_count;
    if (driver.device_count == 0)
        return kn_error(KILN_ERROR_NOT_FOUND, "there is no CUDA device: %s", driver.why_not);
    return KILN_OK;
}

const char *kn_cuda_why_not(void)
{
    kn_error_state before;
    kn_error_save(&before);
    bool is_known = is_ready();
    kn_error_restore(&before);
    return is_known ? driver.why_not
                    : "memory, or descriptors, ran out when CUDA devices were looked for; the next call "
                      "looks again";
}

int kn_cuda_version(void)
{
    return driver.version;
}

/* The status for each range of driver codes; any other code is KILN_ERROR_DEVICE. */
static const struct {
    int first, last;
    kiln_status status;
    bool is_late; /* a kernel that ran before may be the culprit */
} codes[] = {
    {KN_CU_OUT_OF_MEMORY, KN_CU_OUT_OF_MEMORY, KILN_ERROR_MEMORY, false},
    {KN_CU_ECC_UNCORRECTABLE, KN_CU_ECC_UNCORRECTABLE, KILN_ERROR_DEVICE, true},
    {KN_CU_CONTAINED, KN_CU_CONTAINED, KILN_ERROR_DEVICE, true},
    {KN_CU_NOT_FOUND, KN_CU_NOT_FOUND, KILN_ERROR_NOT_FOUND, false},
    {KN_CU_ILLEGAL_ADDRESS, KN_CU_ILLEGAL_ADDRESS, KILN_ERROR_DEVICE, true},
    {KN_CU_LAUNCH_TIMEOUT, KN_CU_LAUNCH_TIMEOUT, KILN_ERROR_DEVICE, true},
    {KN_CU_ASSERT, KN_CU_ASSERT, KILN_ERROR_DEVICE, true},
    {KN_CU_HARDWARE_STACK_ERROR, KN_CU_LAUNCH_FAILED, KILN_ERROR_DEVICE, true},
    {KN_CU_NOT_SUPPORTED, KN_CU_NOT_SUPPORTED, KILN_ERROR_UNSUPPORTED, false},
    {KN_CU_STREAM_CAPTURE_UNSUPPORTED, KN_CU_STREAM_CAPTURE_WRONG_THREAD, KILN_ERROR_CAPTURE, false},
};

kiln_status kn_cuda_error(kn_cu_result result, const char *call)
{
    const char *name = NULL, *text = NULL;
    kiln_status status = KILN_ERROR_DEVICE;
    bool is_late = false;
    if (result == KN_CU_LOST)
        return kn_error(status, "%s: %s", call, kn_cuda_lost_message);
    KN_CU_CALL(GetErrorName, result, &name);
    KN_CU_CALL(GetErrorString, result, &text);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (result >= codes[i].first && result <= codes[i].last) {
            status = codes[i].status;
            is_late = codes[i].is_late;
        }
    const char *kernel = is_late ? kn_device_last_launch() : NULL;
    if (kernel)
        return kn_error(status, "%s failed with %s (%s); the kernel launched last was \"%s\"", call,
                        name ? name : "an unknown error", text ? text : "no description", kernel);
    return kn_error(status, "%s failed with %s (%s)", call, name ? name : "an unknown error",
                    text ? text : "no description");
}
