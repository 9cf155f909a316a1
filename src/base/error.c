/* base/error.c - the last error of each thread: its status, message and log. */
#include "base/error.h"
#include "base/alloc.h"
#include "base/lock.h"
#include "base/shortage.h"
#include "base/unload.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_SIZE = sizeof((kn_error_state *)0)->message };

static _Thread_local struct {
    kiln_status status;
    char message[MESSAGE_SIZE];
    char *log;
} last;

static atomic_bool is_key_made;
static pthread_key_t log_key;
static atomic_bool has_log_key; /* a thread may still run when the library goes */

static const struct {
    kiln_status status;
    const char *name;
} names[] = {
    {KILN_OK, "KILN_OK"},
    {KILN_ERROR_INVALID, "KILN_ERROR_INVALID"},
    {KILN_ERROR_MEMORY, "KILN_ERROR_MEMORY"},
    {KILN_ERROR_TYPE, "KILN_ERROR_TYPE"},
    {KILN_ERROR_SHAPE, "KILN_ERROR_SHAPE"},
    {KILN_ERROR_SYNTAX, "KILN_ERROR_SYNTAX"},
    {KILN_ERROR_COMPILE, "KILN_ERROR_COMPILE"},
    {KILN_ERROR_NOT_FOUND, "KILN_ERROR_NOT_FOUND"},
    {KILN_ERROR_IO, "KILN_ERROR_IO"},
    {KILN_ERROR_FORMAT, "KILN_ERROR_FORMAT"},
    {KILN_ERROR_DEVICE, "KILN_ERROR_DEVICE"},
    {KILN_ERROR_UNSUPPORTED, "KILN_ERROR_UNSUPPORTED"},
    {KILN_ERROR_CAPTURE, "KILN_ERROR_CAPTURE"},
    {KILN_ERROR_FORBIDDEN, "KILN_ERROR_FORBIDDEN"},
    {KILN_ERROR_INTERNAL, "KILN_ERROR_INTERNAL"},
};

const char *kiln_status_name(kiln_status status)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status)
            return names[i].name;
    return "KILN_ERROR_UNKNOWN";
}

/* ---- the log, the one part that is allocated: freed when its thread ends ---- */

static void create_key(void)
{
    int reason = pthread_key_create(&log_key, free); /* the C library's: it stays where it is */
    kn_shortage_note(reason);
    has_log_key = reason == 0;
}

static void replace_log(char *log);

/* The last to go: others wait for threads. */
__attribute__((destructor(KN_UNLOAD_ERROR))) static void delete_key(void)
{
    replace_log(NULL);
    if (has_log_key)
        pthread_key_delete(log_key);
    has_log_key = false;
}

/* Takes over log. */
static void replace_log(char *log)
{
    char *before = last.log;
    if (!before && !log)
        return;
    kn_lock_once(&is_key_made, KN_LOCK_ERROR, create_key);
    if (log && (!has_log_key || pthread_setspecific(log_key, log) != 0)) {
        kn_free(log); /* otherwise it would leak at the thread's end */
        log = NULL;
    }
    if (!log && has_log_key)
        pthread_setspecific(log_key, NULL);
    last.log = log;
    kn_free(before);
}

/* ---- the message ---- */

/* A message that was cut says so. */
static void mark_cut(char *message, int length)
{
    if (length >= MESSAGE_SIZE)
        memcpy(message + MESSAGE_SIZE - 4, "...", 4);
}

kiln_status kn_error(kiln_status status, const char *format, ...)
{
    char message[MESSAGE_SIZE]; /* an argument may point into the message before */
    va_list args;
    va_start(args, format);
    mark_cut(message, vsnprintf(message, sizeof message, format, args));
    va_end(args);
    last.status = status;
    memcpy(last.message, message, strlen(message) + 1);
    replace_log(NULL);
    return status;
}

kiln_status kn_error_context(const char *format, ...)
{
    char context[MESSAGE_SIZE], message[MESSAGE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    memcpy(message, last.message, sizeof message);
    mark_cut(last.message, snprintf(last.message, sizeof last.message, "%s: %s", context, message));
    return last.status;
}

void kn_error_set_log(const char *log)
{
    replace_log(log && *log ? kn_strdup(log) : NULL);
}

kiln_status kn_require_texts(const char *name, ...)
{
    va_list args;
    va_start(args, name);
    while (name && va_arg(args, const char *))
        name = va_arg(args, const char *);
    va_end(args);
    return name ? kn_error(KILN_ERROR_INVALID, "%s is NULL; a string was expected", name) : KILN_OK;
}

kiln_status kn_error_memory_of(size_t bytes, const char *what)
{
    return kn_error(KILN_ERROR_MEMORY, "out of memory: %zu bytes for %s", bytes, what);
}

kiln_status kn_error_memory(const char *what)
{
    return kn_error_memory_of(kn_shortage_bytes(), what);
}

kiln_status kn_error_shortage(const char *what)
{
    int reason = kn_shortage_last();
    return reason == ENOMEM ? kn_error_memory(what)
                            : kn_error(KILN_ERROR_IO, "%s: %s", what, strerror(reason));
}

void kn_error_save(kn_error_state *state)
{
    state->status = last.status;
    memcpy(state->message, last.message, sizeof state->message);
    state->log = last.log;
    last.log = NULL;
    if (has_log_key)
        pthread_setspecific(log_key, NULL);
}

void kn_error_restore(kn_error_state *state)
{
    last.status = state->status;
    memcpy(last.message, state->message, sizeof last.message);
    replace_log(state->log);
    state->log = NULL;
}

const char *kiln_error_message(void)
{
    return last.message;
}

const char *kiln_error_log(void)
{
    return last.log ? last.log : "";
}

kiln_status kiln_error_status(void)
{
    return last.status;
}

void kiln_error_clear(void)
{
    last.status = KILN_OK;
    last.message[0] = 0;
    replace_log(NULL);
}

const char *kiln_version(void)
{
    return KILN_VERSION;
}

int kiln_version_number(void)
{
    return KILN_VERSION_NUMBER;
}

void kiln_free(void *text)
{
    free(text);
}
