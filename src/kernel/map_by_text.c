/* kiln_map: elementwise kernels that are remembered by their texts. */
#include "kernel/kernel.h"

#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/str.h"
#include "base/unload.h"

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

static kiln_status find_kernel(kiln_kernel **out, const char *in_params, const char *out_params,
                               const char *body)
{
    const char *const text[] = {in_params, out_params, body};
    kn_str key = KN_STR_INIT;
    for (int t = 0; t < 3; ++t)
        kn_str_append_n(&key, text[t] ? text[t] : "", text[t] ? strlen(text[t]) + 1 : 1);
    kiln_status status = kn_str_status(&key, "the texts of a kernel");
    if (status != KILN_OK)
        return status;
    kn_lock_take(KN_LOCK_MAPPED);
    kiln_kernel *known = remembered ? kn_map_get(remembered, key.data, key.length) : NULL;
    if (!known)
        status = kiln_elementwise_create(out, in_params, out_params, body, "map", NULL);
    if (!known && status == KILN_OK)
        remember(&key, *out);
    if (known)
        *out = kiln_kernel_retain(known);
    kn_lock_give(KN_LOCK_MAPPED);
    kn_str_free(&key);
    return status;
}

kiln_status kiln_map_call(kiln_array **out, int n_out, const char *in_params, const char *out_params,
                          const char *body, const kiln_arg *in, int n_in, const kiln_call_options *options)
{
    kiln_kernel *kernel = NULL;
    kiln_status status = find_kernel(&kernel, in_params, out_params, body);
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

__attribute__((destructor(KN_UNLOAD_KERNEL))) static void unload(void)
{
    if (kn_unload_is_exit())
        return;
    kn_map_free(remembered, release);
    remembered = NULL;
}
