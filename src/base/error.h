/* base/error.h - the calling thread's last error. The lowest function that knows the fact sets the message;
 * callers may add context in front. */
#ifndef KN_BASE_ERROR_H
#define KN_BASE_ERROR_H

#include <kiln/base.h>
#include <stdarg.h>

/* Sets the message of the calling thread and returns status, so that `return kn_error(KILN_ERROR_SHAPE,
 * "...")` reads well. Never allocates (a fixed buffer per thread, long messages are cut); clears the log. */
kiln_status kn_error(kiln_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts "context: " in front of the message; returns the status it already had. */
kiln_status kn_error_context(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* KILN_OK, or the error of the first text that is NULL: each comes behind its name, and NULL behind all. */
kiln_status kn_require_texts(const char *name, ...) __attribute__((sentinel));

/* Keeps a copy of a compiler's output for kiln_error_log(); a failing allocation drops it. */
void kn_error_set_log(const char *log);

/* "out of memory: N bytes for WHAT": those of the calling thread's last allocation that failed, or given
 * ones. */
kiln_status kn_error_memory(const char *what);
kiln_status kn_error_memory_of(size_t bytes, const char *what);
/* The same for what ended with the shortage that the thread noted last (base/shortage.h): KILN_ERROR_MEMORY,
 * or KILN_ERROR_IO with the system's reason. */
kiln_status kn_error_shortage(const char *what);

/* The calling thread's last error taken aside and put back, around clean-up that may fail itself. */
typedef struct kn_error_state {
    kiln_status status;
    char message[1024];
    char *log; /* moved, not copied */
} kn_error_state;
void kn_error_save(kn_error_state *state);
void kn_error_restore(kn_error_state *state);

#endif
