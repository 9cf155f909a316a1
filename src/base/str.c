/* base/str.c - appends to a growing string. */
#include "base/str.h"
#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Capacity for `extra` more characters and the terminator. */
static bool reserve(kn_str *s, size_t extra)
{
    size_t need, capacity;
    char *data;
    if (s->failed || __builtin_add_overflow(s->length, extra, &need) || need >= SIZE_MAX / 2)
        return !(s->failed = true);
    if (++need <= s->capacity)
        return true;
    capacity = s->capacity ? s->capacity * 2 : 64;
    if (capacity < need)
        capacity = need;
    data = kn_realloc(s->data, capacity);
    if (!data)
        return !(s->failed = true);
    s->data = data;
    s->capacity = capacity;
    return true;
}

void kn_str_append_n(kn_str *s, const char *text, size_t length)
{
    if (!reserve(s, length))
        return;
    if (length)
        memcpy(s->data + s->length, text, length);
    s->length += length;
    s->data[s->length] = 0;
}

void kn_str_append(kn_str *s, const char *text)
{
    kn_str_append_n(s, text, strlen(text));
}

void kn_str_vprintf(kn_str *s, const char *format, va_list args)
{
    va_list again;
    int length;
    va_copy(again, args);
    length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0 || !reserve(s, (size_t)length)) {
        s->failed = true;
        return;
    }
    vsnprintf(s->data + s->length, (size_t)length + 1, format, args);
    s->length += (size_t)length;
}

void kn_str_printf(kn_str *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    kn_str_vprintf(s, format, args);
    va_end(args);
}

void kn_str_clear(kn_str *s)
{
    s->length = 0;
    if (s->data)
        s->data[0] = 0;
}

void kn_str_free(kn_str *s)
{
    kn_free(s->data);
    *s = (kn_str)KN_STR_INIT;
}

const char *kn_str_text(const kn_str *s)
{
    return s->data ? s->data : "";
}

kiln_status kn_str_status(const kn_str *s, const char *what)
{
    return s->failed ? kn_error_memory(what) : KILN_OK;
}

char *kn_str_take(kn_str *s, const char *what)
{
    char *text;
    kn_str_append_n(s, "", 0); /* an empty string is text too */
    text = kn_str_status(s, what) == KILN_OK ? s->data : NULL;
    if (text)
        *s = (kn_str)KN_STR_INIT;
    kn_str_free(s);
    return text;
}
