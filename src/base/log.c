/* base/log.c - passes messages to the callback or to standard error, by level. */
#include "base/log.h"
#include "base/cancel.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/str.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static kiln_log_callback callback;
static void *callback_user;
static atomic_bool is_installed; /* so that an unwanted message costs next to nothing */

void kiln_log_set_callback(kiln_log_callback new_callback, void *user)
{
    kn_lock_take(KN_LOCK_LOG);
    callback = new_callback;
    callback_user = user;
    atomic_store(&is_installed, new_callback != NULL);
    kn_lock_give(KN_LOCK_LOG);
}

/* ---- KILN_LOG ---- */

/* The index in KN_LOG_LEVELS; an unknown word, which the table of variables reports, counts as "warn". */
int kiln_log_wanted(int otherwise)
{
    const char *told = kn_os_env("KILN_LOG"), *word = KN_LOG_LEVELS;
    if (!told)
        return otherwise;
    for (int level = 0; *word; level++) {
        size_t length = strcspn(word, "|");
        if (strlen(told) == length && strncasecmp(told, word, length) == 0)
            return level;
        word += length + (word[length] == '|');
    }
    return KILN_LOG_WARNING;
}

/* Without a callback KILN_LOG alone asks for messages. */
static bool is_wanted(kiln_log_level level)
{
    return atomic_load_explicit(&is_installed, memory_order_relaxed) ||
           (int)level >= kiln_log_wanted(KILN_LOG_WARNING + 1);
}

static void deliver(kiln_log_level level, const char *message)
{
    KN_UNCANCELLED;
    kn_lock_take(KN_LOCK_LOG);
    kiln_log_callback call = callback;
    void *user = callback_user;
    kn_lock_give(KN_LOCK_LOG);
    if (call)
        call(level, message, user);
    else
        fprintf(stderr, "kiln: %s\n", message);
}

/* ---- messages that wait ---- */

/* One behind the other: a level's digit, a text, a NUL. Without memory one is lost. */
static _Thread_local struct {
    int depth;
    kn_str messages;
} held;

void kn_log_hold(void)
{
    held.depth++;
}

void kn_log_release(void)
{
    if (--held.depth > 0)
        return;
    kn_str messages = held.messages;
    held.messages = (kn_str)KN_STR_INIT;
    for (size_t at = 0; at < messages.length; at += strlen(messages.data + at) + 1)
        deliver((kiln_log_level)(messages.data[at] - '0'), messages.data + at + 1);
    kn_str_free(&messages);
}

static void hold_back(kiln_log_level level, const char *message)
{
    const char digit = (char)('0' + level);
    kn_str_append_n(&held.messages, &digit, 1);
    kn_str_append_n(&held.messages, message, strlen(message) + 1);
}

void kn_log(kiln_log_level level, const char *format, ...)
{
    char message[1024];
    va_list args;
    if (!is_wanted(level))
        return;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (held.depth > 0)
        hold_back(level, message);
    else
        deliver(level, message);
}
