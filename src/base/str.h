/* base/str.h - a growing string. A failed allocation is remembered: append freely, ask once at the end. */
#ifndef KN_BASE_STR_H
#define KN_BASE_STR_H

#include <kiln/base.h>
#include <stdarg.h>

typedef struct kn_str {
    char *data; /* NUL-terminated once anything was appended; may be NULL while length is 0 */
    size_t length, capacity;
    bool failed;
} kn_str;
#define KN_STR_INIT                                                                                          \
    {                                                                                                        \
        NULL, 0, 0, false                                                                                    \
    }

void kn_str_append(kn_str *s, const char *text);
void kn_str_append_n(kn_str *s, const char *text, size_t length);
void kn_str_printf(kn_str *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kn_str_vprintf(kn_str *s, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* Empties it, for new text: a failure is remembered all the same. */
void kn_str_clear(kn_str *s);
void kn_str_free(kn_str *s);
/* "" instead of NULL. */
const char *kn_str_text(const kn_str *s);
/* The text, now the caller's (kn_free); NULL with the last error set where an append had failed. s is empty
 * afterwards. */
char *kn_str_take(kn_str *s, const char *what);
/* KILN_OK, or KILN_ERROR_MEMORY where an append had failed. */
kiln_status kn_str_status(const kn_str *s, const char *what);

#endif
