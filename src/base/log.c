#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static kiln_log_callback callback;
static void *callback_user;
static atomic_bool is_installed; /* so that a message nobody wants costs next to nothing */

void kiln_log_set_callback(kiln_log_callback new_callback, void *user)
{
    pthread_mutex_lock(&mutex);
    callback = new_callback;
    callback_user = user;
    atomic_store(&is_installed, new_callback != NULL);
    pthread_mutex_unlock(&mutex);
}

void kn_log(kiln_log_level level, const char *format, ...)
{
    char message[1024];
    kiln_log_callback call;
    void *user;
    va_list args;
    if (!atomic_load_explicit(&is_installed, memory_order_relaxed))
        return;
    pthread_mutex_lock(&mutex);
    call = callback;
    user = callback_user;
    pthread_mutex_unlock(&mutex);
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (call)
        call(level, message, user);
}
