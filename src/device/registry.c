/* The devices of the process by name and number, and the current one of each thread. */
#include "device/registry.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/setting.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/unload.h"
#include "device/cuda.h"
#include "device/cuda_driver.h"
#include "device/device_table.h"
#include "device/first_use.h"
#include "device/host.h"
#include "device/lost.h"
#include "device/memory_profile.h"
#include "device/pool.h"

static _Thread_local kiln_device current_id; /* KILN_DEVICE_DEFAULT: the process's default */

/* ---- names ---- */

char *kiln_device_name(kiln_device device, char *buffer, size_t size)
{
    if (device == KILN_DEVICE_DEFAULT && kiln_device_current(&device) != KILN_OK)
        device = KILN_DEVICE_HOST;
    return kn_device_write_name(device, buffer, size);
}

/* KILN_ERROR_NOT_FOUND, with the reason, unless the device can be had. */
static kiln_status check_present(kiln_device id)
{
    int count = 0;
    if (!KILN_DEVICE_IS_CUDA(id))
        return KILN_OK;
    kiln_status status = kn_cuda_load(&count);
    if (status != KILN_OK)
        return status;
    if (count > KN_CUDA_DEVICES_MAX)
        count = KN_CUDA_DEVICES_MAX;
    if (id - KILN_DEVICE_CUDA(0) >= count)
        return kn_error(KILN_ERROR_NOT_FOUND,
                        "there is no device cuda:%d: the driver sees %d device%s, numbered from 0",
                        (int)(id - KILN_DEVICE_CUDA(0)), count, count == 1 ? "" : "s");
    return KILN_OK;
}

static kiln_status read_name(kiln_device *out, const char *name, const char *what)
{
    long ordinal = 0;
    if (strcmp(name, "host") == 0) {
        *out = KILN_DEVICE_HOST;
        return KILN_OK;
    }
    bool is_known = strncmp(name, "cuda", 4) == 0;
    if (is_known && name[4]) {
        char *end = NULL;
        is_known = name[4] == ':' && name[5] >= '0' && name[5] <= '9';
        ordinal = is_known ? strtol(name + 5, &end, 10) : 0;
        is_known = is_known && *end == 0 && ordinal < 1000000;
    }
    if (!is_known)
        return kn_error(KILN_ERROR_INVALID, "%s is \"%.40s\"; expected \"host\", \"cuda\" or \"cuda:N\"",
                        what, name);
    kiln_device id = KILN_DEVICE_CUDA((kiln_device)ordinal);
    kiln_status status = check_present(id);
    if (status == KILN_OK)
        *out = id;
    return status;
}

kiln_status kiln_device_parse(kiln_device *out, const char *name)
{
    if (!out || !name)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_parse: %s is NULL", out ? "name" : "out");
    return read_name(out, name, "the device's name");
}

/* ---- which devices there are ---- */

/* 0 if there is no driver. KILN_ERROR_MEMORY or KILN_ERROR_IO if a shortage leaves that open. */
static kiln_status count_cuda(int *out)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = kn_cuda_load(out);
    if (status != KILN_OK && status != KILN_ERROR_NOT_FOUND) {
        kn_free(before.log);
        return status;
    }
    kn_error_restore(&before);
    return KILN_OK;
}

kiln_status kiln_device_count(int *out)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_count: out is NULL");
    *out = 0;
    kiln_status status = count_cuda(out);
    if (status != KILN_OK)
        return status;
    if (*out > KN_CUDA_DEVICES_MAX)
        *out = KN_CUDA_DEVICES_MAX;
    return KILN_OK;
}

const char *kiln_device_why_no_cuda(void)
{
    return kn_cuda_why_not();
}

/* The device that KILN_TARGET names, else cuda:0 if there is one, else the host. The answer is remembered; a
 * failure is not. */
static kiln_status default_device(kiln_device *out)
{
    static _Atomic kiln_device remembered;
    kiln_device id = atomic_load_explicit(&remembered, memory_order_relaxed);
    if (KILN_DEVICE_IS_CUDA(id) && kn_cuda_lost)
        id = KILN_DEVICE_DEFAULT; /* it was the parent's */
    if (id == KILN_DEVICE_DEFAULT) {
        const char *name = kn_setting("KILN_TARGET");
        int count = 0;
        kiln_status status = name ? read_name(&id, name, "KILN_TARGET") : count_cuda(&count);
        if (!name)
            id = count > 0 ? KILN_DEVICE_CUDA(0) : KILN_DEVICE_HOST;
        if (status != KILN_OK)
            return status;
        atomic_store_explicit(&remembered, id, memory_order_relaxed);
    }
    *out = id;
    return KILN_OK;
}

/* The thread's own choice, but for one that it made in the parent and that is lost. */
static kiln_device chosen_device(void)
{
    return KILN_DEVICE_IS_CUDA(current_id) && kn_cuda_lost ? KILN_DEVICE_DEFAULT : current_id;
}

static kiln_status make_device(kn_device **out, kiln_device id)
{
    int slot = kn_device_slot(id);
    kiln_status status = KILN_OK;
    kn_lock lock = id == KILN_DEVICE_HOST ? KN_LOCK_DEVICE_HOST : KN_LOCK_DEVICE_CUDA;
    kn_lock_take(lock);
    kn_device *device = kn_device_ready(slot);
    kn_unload_watch();
    if (!device) {
        if (id == KILN_DEVICE_HOST) {
            kn_device_tell_first_use(KN_HOST);
            status = (device = kn_host_device_create()) ? KILN_OK : kiln_error_status();
        } else {
            status = kn_cuda_device_create(&device, id - KILN_DEVICE_CUDA(0));
        }
        if (status == KILN_OK)
            kn_device_set_ready(slot, device);
    }
    kn_lock_give(lock);
    if (status == KILN_OK)
        *out = device;
    return status;
}

kiln_status kn_device_get(kn_device **out, kiln_device id)
{
    if (id == KILN_DEVICE_DEFAULT)
        id = chosen_device();
    if (id == KILN_DEVICE_DEFAULT) {
        kiln_status status = default_device(&id);
        if (status != KILN_OK)
            return status;
    }
    if (id == KILN_DEVICE_HOST ||
        (KILN_DEVICE_IS_CUDA(id) && id - KILN_DEVICE_CUDA(0) < KN_CUDA_DEVICES_MAX)) {
        *out = kn_device_ready(kn_device_slot(id));
        if (*out)
            return kn_device_is_lost(*out) ? kn_device_say_lost() : KILN_OK;
    } else if (!KILN_DEVICE_IS_CUDA(id)) {
        return kn_error(KILN_ERROR_INVALID,
                        "%d is no device; expected KILN_DEVICE_HOST, KILN_DEVICE_CUDA(n) or "
                        "KILN_DEVICE_DEFAULT",
                        (int)id);
    }
    kiln_status status = check_present(id);
    return status == KILN_OK ? make_device(out, id) : status;
}

kiln_status kiln_device_current(kiln_device *out)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_current: out is NULL");
    *out = chosen_device();
    return *out == KILN_DEVICE_DEFAULT ? default_device(out) : KILN_OK;
}

kiln_status kiln_device_set_current(kiln_device id)
{
    kn_device *device = NULL;
    if (id == KILN_DEVICE_DEFAULT)
        return KILN_OK;
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        current_id = id;
    return status;
}

/* ---- the end ---- */

/* With a CUDA driver the library is never unloaded: there is the host alone. */
__attribute__((destructor(KN_UNLOAD_DEVICE))) static void unload(void)
{
    kn_device *host = kn_device_ready(0);
    if (kn_unload_is_exit())
        return;
    kn_memory_profile_forget();
    if (host)
        kn_pool_free(host->pool);
    kn_device_set_ready(0, NULL);
}
