/* The list of captures of the process. */
#include "device/capture_list.h"

#include "base/alloc.h"
#include "device/device_table.h"

kn_capture *kn_captures;
_Atomic int kn_captures_dead;
_Atomic int kn_captures_open;

/* Captures of the parent are lost in a child, and the list may have been in the middle of a change. */
static void forget_in_child(void)
{
    kn_captures = NULL;
    atomic_store(&kn_captures_dead, 0);
    atomic_store(&kn_captures_open, 0);
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(forget_in_child);
}

kn_capture *kn_capture_find(uint64_t id)
{
    kn_capture *r = kn_captures;
    while (r && r->id != id)
        r = r->next;
    return r;
}

kn_capture *kn_capture_find_origin(const kn_device *device, const void *stream)
{
    kn_capture *r = kn_captures;
    while (r && !(r->is_open && r->device == device && r->origin == stream))
        r = r->next;
    return r;
}

kn_capture *kn_capture_find_here(bool prepared)
{
    kn_capture *r = kn_captures;
    while (r && !(r->is_open && (r->is_prepared || !prepared) && pthread_equal(r->thread, pthread_self())))
        r = r->next;
    return r;
}

kn_capture *kn_capture_list(kn_device *device, uint64_t id, bool is_foreign)
{
    kn_capture *r = kn_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->device = device;
    r->id = id;
    r->is_foreign = is_foreign;
    atomic_init(&r->references, 1);
    r->run_lock = KN_LOCK_GRAPH_RUNS + (kn_lock)kn_device_slot(device->id);
    r->next = kn_captures;
    kn_captures = r;
    return r;
}

void kn_capture_unlist(kn_capture *r)
{
    kn_capture **link = &kn_captures;
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
}
