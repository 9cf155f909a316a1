#include "device/device_private.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/unload.h"
#include "device/cuda_driver.h"
#include "device/pool.h"

/* Devices that are ready, by slot; each is made once and lives for ever. */
static _Atomic(kn_device *) ready[KN_CUDA_DEVICES_MAX + 1];

static _Thread_local kiln_device current_id; /* KILN_DEVICE_DEFAULT: the process's default */

static void (*first_use)(kn_backend_kind); /* set before there are threads */

void kn_device_on_first_use(void (*callback)(kn_backend_kind))
{
    first_use = callback;
}

void kn_device_tell_first_use(kn_backend_kind kind)
{
    if (first_use)
        first_use(kind);
}

/* ---- names ---- */

char *kiln_device_name(kiln_device device, char *buffer, size_t size)
{
    if (device == KILN_DEVICE_DEFAULT && kiln_device_current(&device) != KILN_OK)
        device = KILN_DEVICE_HOST;
    if (KILN_DEVICE_IS_CUDA(device))
        snprintf(buffer, size, "cuda:%d", (int)(device - KILN_DEVICE_CUDA(0)));
    else
        snprintf(buffer, size, device == KILN_DEVICE_HOST ? "host" : "device(%d)", (int)device);
    return buffer;
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

kiln_status kiln_device_count(int *out)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_count: out is NULL");
    *out = 0;
    if (!kn_cuda_why_not()[0]) {
        kiln_status status = kn_cuda_load(out);
        if (status != KILN_OK)
            return status;
    }
    if (*out > KN_CUDA_DEVICES_MAX)
        *out = KN_CUDA_DEVICES_MAX;
    return KILN_OK;
}

const char *kiln_device_why_no_cuda(void)
{
    return kn_cuda_why_not();
}

kiln_status kn_device_say_lost(void)
{
    return kn_error(KILN_ERROR_DEVICE, "the device cannot be used: %s", kn_cuda_why_not());
}

/* What KILN_TARGET names, else cuda:0 where there is one, else the host. The answer is remembered, a failure
 * is not. */
static kiln_status default_device(kiln_device *out)
{
    static _Atomic kiln_device remembered;
    kiln_device id = atomic_load_explicit(&remembered, memory_order_relaxed);
    if (KILN_DEVICE_IS_CUDA(id) && kn_cuda_lost)
        id = KILN_DEVICE_DEFAULT; /* it was the parent's */
    if (id == KILN_DEVICE_DEFAULT) {
        const char *name = kn_os_env("KILN_TARGET");
        kiln_status status = KILN_OK;
        if (name)
            status = read_name(&id, name, "KILN_TARGET");
        else
            id = kn_cuda_why_not()[0] ? KILN_DEVICE_HOST : KILN_DEVICE_CUDA(0);
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
    _Atomic(kn_device *) *slot = &ready[kn_device_slot(id)];
    kiln_status status = KILN_OK;
    kn_lock lock = id == KILN_DEVICE_HOST ? KN_LOCK_DEVICE_HOST : KN_LOCK_DEVICE_CUDA;
    kn_lock_take(lock);
    kn_device *device = atomic_load_explicit(slot, memory_order_acquire);
    kn_unload_watch();
    if (!device) {
        if (id == KILN_DEVICE_HOST) {
            kn_device_tell_first_use(KN_HOST);
            status = (device = kn_host_device_create()) ? KILN_OK : kiln_error_status();
        } else {
            status = kn_cuda_device_create(&device, id - KILN_DEVICE_CUDA(0));
        }
        if (status == KILN_OK)
            atomic_store_explicit(slot, device, memory_order_release);
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
        *out = atomic_load_explicit(&ready[kn_device_slot(id)], memory_order_acquire);
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

kn_device *kn_device_ready(int slot)
{
    return atomic_load_explicit(&ready[slot], memory_order_acquire);
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

/* ---- properties ---- */

kiln_status kiln_device_synchronize(kiln_device id)
{
    kn_device *device = NULL;
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK && device->backend->kind == KN_CUDA)
        status = kn_capture_forbids_device(device, "a device cannot be waited for");
    return status == KILN_OK ? device->backend->synchronize(device) : status;
}

kiln_status kiln_device_get_properties(kiln_device id, kiln_device_properties *out)
{
    kiln_device_properties all = KILN_DEVICE_PROPERTIES_INIT;
    kn_device *device = NULL;
    if (!out || out->struct_size < sizeof(size_t))
        return kn_error(KILN_ERROR_INVALID, "kiln_device_get_properties: %s",
                        out ? "out->struct_size is not set; use KILN_DEVICE_PROPERTIES_INIT" : "out is NULL");
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = device->backend->properties(device, &all);
    if (status != KILN_OK)
        return status;
    size_t size = out->struct_size < sizeof all ? out->struct_size : sizeof all;
    all.struct_size = out->struct_size;
    memcpy(out, &all, size);
    return KILN_OK;
}

kiln_status kiln_device_memory_info(kiln_device id, size_t *free_bytes, size_t *total_bytes)
{
    size_t available = 0, total = 0;
    kn_device *device = NULL;
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = device->backend->memory_info(device, &available, &total);
    if (status != KILN_OK)
        return status;
    if (free_bytes)
        *free_bytes = available;
    if (total_bytes)
        *total_bytes = total;
    return KILN_OK;
}

kiln_status kiln_device_can_access_peer(bool *out, kiln_device id, kiln_device peer_id)
{
    kn_device *device = NULL, *peer = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_can_access_peer: out is NULL");
    kiln_status status = kn_device_get(&device, id);
    if (status == KILN_OK)
        status = kn_device_get(&peer, peer_id);
    if (status != KILN_OK)
        return status;
    *out = device == peer;
    if (device == peer || device->backend->kind != KN_CUDA || peer->backend->kind != KN_CUDA)
        return KILN_OK;
    return kn_cuda_can_access_peer(out, device, peer);
}

kiln_status kiln_device_cuda_context(void **out, kiln_device id)
{
    kn_device *device = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_device_cuda_context: out is NULL");
    kiln_status status = kn_device_get(&device, id);
    if (status != KILN_OK)
        return status;
    if (device->backend->kind != KN_CUDA)
        return kn_error(KILN_ERROR_UNSUPPORTED, "the host has no CUDA context");
    *out = kn_cuda_context_of(device);
    return KILN_OK;
}

/* ---- the kernel launched last ----
 * Names are interned for ever: a program has a bounded number of kernels, and a late error may be asked about
 * long after one is gone. A small table per thread makes the usual case a compare and a store. */

typedef struct interned_name {
    struct interned_name *next;
    char text[];
} interned_name;

static struct {
    interned_name *buckets[256]; /* under KN_LOCK_LAUNCH_NAMES */
    _Atomic(const char *) last;
} launches;

static unsigned text_hash(const char *text)
{
    unsigned hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

const char *kn_device_launch_name(const char *text)
{
    interned_name **bucket = &launches.buckets[text_hash(text) & 255], *name;
    kn_lock_take(KN_LOCK_LAUNCH_NAMES);
    for (name = *bucket; name && strcmp(name->text, text) != 0; name = name->next)
        ;
    if (!name && (name = kn_malloc(sizeof *name + strlen(text) + 1))) {
        strcpy(name->text, text);
        name->next = *bucket;
        *bucket = name;
    }
    kn_lock_give(KN_LOCK_LAUNCH_NAMES);
    return name ? name->text : NULL;
}

/* Many threads launch the same: the line is shared as long as nobody writes. */
void kn_device_note_launch_name(const char *name)
{
    if (name && atomic_load_explicit(&launches.last, memory_order_relaxed) != name)
        atomic_store_explicit(&launches.last, name, memory_order_release);
}

void kn_device_note_launch(const char *kernel_name)
{
    static _Thread_local const char *recent[16]; /* interned, by the address that was given */
    if (!kernel_name)
        return;
    const char **slot = &recent[((uintptr_t)kernel_name >> 4) & 15];
    if (!*slot || strcmp(*slot, kernel_name) != 0) {
        const char *name = kn_device_launch_name(kernel_name);
        if (!name)
            return;
        *slot = name;
    }
    kn_device_note_launch_name(*slot);
}

const char *kn_device_last_launch(void)
{
    return atomic_load_explicit(&launches.last, memory_order_acquire);
}

/* ---- the end ---- */

/* With a CUDA driver the library is never unloaded: there is the host alone. */
__attribute__((destructor(KN_UNLOAD_DEVICE))) static void unload(void)
{
    kn_device *host = kn_device_ready(0);
    if (kn_unload_is_exit())
        return;
    if (host)
        kn_pool_free(host->pool);
    atomic_store(&ready[0], NULL);
    for (size_t b = 0; b < sizeof launches.buckets / sizeof *launches.buckets; b++)
        for (interned_name *next; launches.buckets[b]; launches.buckets[b] = next) {
            next = launches.buckets[b]->next;
            kn_free(launches.buckets[b]);
        }
}
