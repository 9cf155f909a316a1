#include "base/log.h"
#include "base/lock.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static kiln_log_callback callback;
static void *callback_user;
static atomic_bool is_installed; /* so that a message nobody wants costs next to nothing */

void kiln_log_set_callback(kiln_log_callback new_callback, void *user)
{
    kn_lock_take(KN_LOCK_LOG);
    callback = new_callback;
    callback_user = user;
    atomic_store(&is_installed, new_callback != NULL);
    kn_lock_give(KN_LOCK_LOG);
}

void kn_log(kiln_log_level level, const char *format, ...)
{
    char message[1024];
    kiln_log_callback call;
    void *user;
    va_list args;
    if (!atomic_load_explicit(&is_installed, memory_order_relaxed))
        return;
    kn_lock_take(KN_LOCK_LOG);
    call = callback;
    user = callback_user;
    kn_lock_give(KN_LOCK_LOG);
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (call)
        call(level, message, user);
}
