/*
 * kiln/base.h - status codes, the last error, logging and process-wide options.
 *
 *     kiln_array *a = NULL;
 *     if (kiln_array_load_npy(&a, "x.npy", KILN_DEVICE_DEFAULT) != KILN_OK) {
 *         fprintf(stderr, "%s\n", kiln_error_message());
 *         return 1;
 *     }
 *     // ... a is there ...
 *     kiln_array_free(a);
 *
 * Every function that can fail returns a kiln_status: 0 for success, negative for an error. The
 * message of the last failure of the calling thread stays until the next failure of that thread.
 * The library never exits or aborts, and prints nowhere but in kiln_array_print. All functions
 * here are thread-safe.
 * A thread that is cancelled (pthread_cancel, deferred) inside of a call ends after it: functions
 * that compile, wait, or use files are no cancellation points. CUDA's driver may be one.
 *
 * Structs of options and of answers begin with struct_size, the bytes that the caller knows of;
 * their initialiser macro sets it. They only ever grow at the end. Of a smaller struct the library
 * reads and writes those bytes alone: what the caller does not know of keeps its default, which is
 * all zero. A struct_size of 0, or beyond what the library knows, is KILN_ERROR_INVALID.
 *
 * So a program works, without being compiled anew, with any later library of the same major version
 * (before 1.0: of the same minor version), which is what the SONAME says. Within it no function
 * goes away or changes its parameters, enumerators keep their numbers, kiln_arg its 32 bytes, and
 * small structs without struct_size their members. What begins with KILN_PRIV_ or kiln_priv_, and
 * kiln::priv, is none of this: it may change with any header.
 *
 * A parameter `const kiln_array *` is an array that the call reads at most. What is made of it, a
 * view or one more reference, is as writable as it was (kiln_array_is_read_only).
 *
 * dlclose leaves nothing of the library where nothing of it is in use; once a CUDA driver has been
 * started it stays loaded, as the driver does.
 */
#ifndef KILN_BASE_H
#define KILN_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In front of every function that the library exports. */
#if defined(__GNUC__)
#define KILN_API __attribute__((visibility("default")))
#else
#define KILN_API
#endif

/* In front of every function that returns a kiln_status: compilers warn where nobody looks at it. A
 * program that wants no such warnings defines it, as nothing, before it includes a header. */
#ifndef KILN_NODISCARD
#if (defined(__cplusplus) && __cplusplus >= 201703L) ||                                            \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ > 201710L)
#define KILN_NODISCARD [[nodiscard]]
#elif defined(__GNUC__)
#define KILN_NODISCARD __attribute__((warn_unused_result))
#else
#define KILN_NODISCARD
#endif
#endif

/* A status that does not matter: KILN_IGNORE(kiln_cache_flush()). */
#define KILN_IGNORE(call) ((void)((call) == 0))

/* Functions that a header defines: inline where they are called, so that programs have them which
 * open the library at run time; it exports its own, under the same names, for other languages. */
#if defined(__cplusplus)
#define KILN_PRIV_INLINE inline
#elif !defined(KILN_PRIV_INLINE)
#define KILN_PRIV_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of these headers: three numbers, and their text. */
#define KILN_VERSION_MAJOR 0
#define KILN_VERSION_MINOR 1
#define KILN_VERSION_PATCH 0
#define KILN_VERSION "0.1.0"
/* For comparisons: 1.2.3 is 10203. */
#define KILN_VERSION_NUMBER                                                                        \
    (KILN_VERSION_MAJOR * 10000 + KILN_VERSION_MINOR * 100 + KILN_VERSION_PATCH)

/* The largest number of axes of an array. */
#define KILN_MAX_NDIM 64

/* The result of a function that can fail. */
typedef enum kiln_status {
    KILN_OK = 0, /* success */
    /* an argument is wrong: null, out of range, wrong count, reserved name */
    KILN_ERROR_INVALID = -1,
    KILN_ERROR_MEMORY = -2, /* no host or device memory */
    KILN_ERROR_TYPE = -3,   /* dtypes that do not fit each other or the signature */
    KILN_ERROR_SHAPE = -4,  /* shapes that do not broadcast, an axis out of range */
    /* text that does not parse: a signature, a snippet, an index string */
    KILN_ERROR_SYNTAX = -5,
    KILN_ERROR_COMPILE = -6, /* the compiler refused the source: see kiln_error_log() */
    /* a file, library, device, function or compiler that is not there */
    KILN_ERROR_NOT_FOUND = -7,
    KILN_ERROR_IO = -8,           /* the operating system refused to read or write */
    KILN_ERROR_FORMAT = -9,       /* a file or capsule that is damaged or of an unknown format */
    KILN_ERROR_DEVICE = -10,      /* the driver or the device reported an error */
    KILN_ERROR_UNSUPPORTED = -11, /* understood, but not possible on this target or build */
    KILN_ERROR_CAPTURE = -12,     /* not possible while a stream is being captured */
    KILN_ERROR_FORBIDDEN = -13,   /* compiling is needed but was forbidden */
    KILN_ERROR_INTERNAL = -14     /* a broken invariant: a bug in kiln */
} kiln_status;

/* "KILN_ERROR_SHAPE" for KILN_ERROR_SHAPE; "KILN_ERROR_UNKNOWN" for a value that is no status.
 * Static string. */
KILN_API const char *kiln_status_name(kiln_status status);

/* The message of the calling thread's last failure; "" before the first. Valid until the
 * thread's next failing call. About a text it has several lines: what is wrong, "NAME:LINE:
 * error: ..." where a compiler found it, then the user's line, and a caret under the place. */
KILN_API const char *kiln_error_message(void);

/* The compiler's whole output that belongs to the last failure of the calling thread, or "". Same
 * lifetime. */
KILN_API const char *kiln_error_log(void);

/* The status of the calling thread's last failure; KILN_OK before the first. */
KILN_API kiln_status kiln_error_status(void);

/* Forgets the calling thread's last failure. */
KILN_API void kiln_error_clear(void);

/* KILN_VERSION of the library that is loaded. Static string. */
KILN_API const char *kiln_version(void);
/* Its KILN_VERSION_NUMBER. */
KILN_API int kiln_version_number(void);

/* Frees a text that the library gave to its caller, as free() does: for programs that have another
 * one. NULL is taken. */
KILN_API void kiln_free(void *text);

enum { KILN_FILE_DURABLE = 1 /* on the disk before the call returns */ };

/* Writes a file as kiln writes its own: what kiln_cache_export or kiln_array_save_bytes gave, say.
 * Another process finds the old file or the new one, whole; of several that write, one is the last.
 * A new file has the permissions that the umask leaves; one that is replaced keeps its owner and
 * permissions (a further name, a hard link, keeps the old content). A symbolic link stays, and what
 * it leads to is written; pipes, devices and /dev/stdout take the bytes as they are; so does a file
 * in a folder that cannot be written to. flags: 0 or KILN_FILE_DURABLE. data may be NULL where size
 * is 0. KILN_ERROR_INVALID (NULL, a flag), KILN_ERROR_NOT_FOUND (no such folder), KILN_ERROR_IO.
 * Thread-safe. */
KILN_NODISCARD KILN_API kiln_status kiln_file_write(const char *path, const void *data, size_t size,
                                                    unsigned flags);

/* The importance of a log message. */
typedef enum kiln_log_level {
    KILN_LOG_DEBUG = 0,  /* what the library does */
    KILN_LOG_INFO = 1,   /* what a user may want to know */
    KILN_LOG_WARNING = 2 /* what works, and not as it should */
} kiln_log_level;

/* Called outside all locks, from any thread. message ends without a newline and is valid during the
 * call alone. */
typedef void (*kiln_log_callback)(kiln_log_level level, const char *message, void *user);

/* Installs the receiver of log messages, of all levels. NULL (the default): KILN_LOG (environment)
 * says which are printed on standard error. A compiler's warnings about the lines of a kernel of
 * yours are among them ("my_kernel:1: warning: ..."), when it is compiled: one that is found in the
 * cache is not warned about again. */
KILN_API void kiln_log_set_callback(kiln_log_callback callback, void *user);

/* The least level that the environment variable KILN_LOG asks for, 3 (none) for "off"; `otherwise`
 * where it is not set. For receivers that print. */
KILN_API int kiln_log_wanted(int otherwise);

#ifdef __cplusplus
}
#endif
#endif
