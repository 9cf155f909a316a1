/* Names are interned for ever: a program has a bounded number of kernels, and a late error may be asked about
 * long after one is gone. A small table per thread makes the usual case a compare and a store. */
#include "device/launch_name.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/unload.h"

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

/* Many threads launch the same kernel: the cache line is shared as long as none writes. */
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

__attribute__((destructor(KN_UNLOAD_DEVICE))) static void unload(void)
{
    if (kn_unload_is_exit())
        return;
    for (size_t b = 0; b < sizeof launches.buckets / sizeof *launches.buckets; b++)
        for (interned_name *next; launches.buckets[b]; launches.buckets[b] = next) {
            next = launches.buckets[b]->next;
            kn_free(launches.buckets[b]);
        }
}
