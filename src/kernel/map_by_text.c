/* kiln_map, kiln_select and others by name: kernels that are remembered by their texts. */
#include "kernel/kernel.h"

#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/str.h"
#include "base/unload.h"
#include "kernel/sort.h"

/* More than people write; a program that generates texts exceeds it, and the table is emptied. */
enum { REMEMBERED_MAX = 1024 };

static kn_map *remembered;

static void release(void *kernel)
{
    kiln_kernel_free(kernel);
}

/* Without memory to remember it the kernel is as good. */
static void remember(const kn_str *key, kiln_kernel *kernel)
{
    if (remembered && kn_map_count(remembered) >= REMEMBERED_MAX) {
        kn_map_free(remembered, release);
        remembered = NULL;
    }
    if (!remembered)
        remembered = kn_map_create();
    if (remembered && kn_map_put(remembered, key->data, key->length, kernel))
        kiln_kernel_retain(kernel);
}

/* Under the lock: one more reference, or NULL. */
static kiln_kernel *find(const kn_str *key)
{
    kiln_kernel *known = remembered ? kn_map_get(remembered, key->data, key->length) : NULL;
    return known ? kiln_kernel_retain(known) : NULL;
}

/* The texts of a map, or of a selection. */
typedef struct texts {
    kn_map_texts map;
    bool is_selection;
    const char *keep;
} texts;

kiln_status kn_kernel_remembered(kiln_kernel **out, const kn_str *key,
                                 kiln_status (*make)(kiln_kernel **out, const void *of), const void *of)
{
    kiln_kernel *made = NULL;
    kiln_status status = kn_str_status(key, "the texts of a kernel");
    if (status != KILN_OK)
        return status;
    kn_lock_take(KN_LOCK_MAPPED);
    kiln_kernel *known = find(key);
    kn_lock_give(KN_LOCK_MAPPED);
    /* Without the lock: what is made may need others that are remembered. */
    if (!known)
        status = make(&made, of);
    if (known || status != KILN_OK) {
        *out = known ? known : *out;
        return status;
    }
    kn_lock_take(KN_LOCK_MAPPED);
    known = find(key);
    if (!known)
        remember(key, made);
    kn_lock_give(KN_LOCK_MAPPED);
    if (known)
        kiln_kernel_free(made);
    *out = known ? known : made;
    return KILN_OK;
}

static kiln_status create(kiln_kernel **out, const void *of)
{
    const texts *t = of;
    const kn_map_texts *m = &t->map;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.flags = m->flags;
    if (t->is_selection)
        return kiln_select_create(out, m->in_params, m->out_params, t->keep, m->body, "select", NULL);
    kiln_status status = kiln_elementwise_create(out, m->in_params, m->out_params, m->body,
                                                 m->name ? m->name : "map", &options);
    if (status == KILN_OK)
        (*out)->whole_inputs = m->whole_inputs;
    return status;
}

static kiln_status find_kernel(kiln_kernel **out, const texts *t)
{
    const kn_map_texts *m = &t->map;
    const char *const text[] = {m->in_params, m->out_params, m->body, t->keep};
    kn_str key = KN_STR_INIT;
    for (int k = 0; k < (t->is_selection ? 4 : 3); ++k)
        kn_str_append_n(&key, text[k] ? text[k] : "", text[k] ? strlen(text[k]) + 1 : 1);
    kn_str_printf(&key, "%s %u %llx", m->name ? m->name : "", m->flags, (unsigned long long)m->whole_inputs);
    kiln_status status = kn_kernel_remembered(out, &key, create, t);
    kn_str_free(&key);
    return status;
}

kiln_status kiln_map_call(kiln_array **out, int n_out, const char *in_params, const char *out_params,
                          const char *body, const kiln_arg *in, int n_in, const kiln_call_options *options)
{
    kiln_kernel *kernel = NULL;
    const texts t = {.map = {.in_params = in_params, .out_params = out_params, .body = body}};
    kiln_status status = find_kernel(&kernel, &t);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, out, n_out, in, n_in, options);
    kiln_kernel_free(kernel);
    return status;
}

kiln_status kiln_map(kiln_array **out, int n_out, const char *in_params, const char *out_params,
                     const char *body, const kiln_arg *in, int n_in)
{
    return kiln_map_call(out, n_out, in_params, out_params, body, in, n_in, NULL);
}

kiln_status kn_map_find(kiln_kernel **out, const kn_map_texts *map)
{
    const texts t = {.map = *map};
    return find_kernel(out, &t);
}

kiln_status kn_select_find(kiln_kernel **out, const char *in_params, const char *out_params, const char *keep,
                           const char *body)
{
    const texts t = {.map = {.in_params = in_params, .out_params = out_params, .body = body},
                     .is_selection = true,
                     .keep = keep};
    return find_kernel(out, &t);
}

kiln_status kiln_select(kiln_array **out, int n_out, const char *in_params, const char *out_params,
                        const char *keep, const char *body, const kiln_arg *in, int n_in)
{
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_select_find(&kernel, in_params, out_params, keep, body);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, out, n_out, in, n_in, NULL);
    kiln_kernel_free(kernel);
    return status;
}

__attribute__((destructor(KN_UNLOAD_KERNEL))) static void unload(void)
{
    if (kn_unload_is_exit())
        return;
    kn_map_free(remembered, release);
    remembered = NULL;
}
