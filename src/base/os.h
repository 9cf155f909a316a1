/* base/os.h - every operating-system primitive, on one page. */
#ifndef KN_BASE_OS_H
#define KN_BASE_OS_H

#include <kiln/base.h>
#include "base/blob.h"
#include "base/hash.h"
#include "base/str.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>

/* ---- time ---- */
double kn_os_now_ms(void);   /* monotonic */
void kn_os_sleep_us(int us); /* or until a signal comes */
int64_t kn_os_unix_seconds(void);

/* ---- the stack ---- */
/* The lowest stack address for recursive functions: the end of the calling thread's stack, and a reserve. It
 * may read a file: not for every call. */
uintptr_t kn_os_stack_floor(void);
/* True if the caller is below it. */
bool kn_os_stack_is_low(uintptr_t floor);

/* ---- environment ---- */
/* NULL where the variable is unset or empty, and in a program with rights that its caller lacks
 * (set-user-ID). */
const char *kn_os_env(const char *name);
/* The environment of programs that we start: the process's own, but a clean one in such a program. */
char **kn_os_environment(void);

/* ---- descriptors ---- */
/* open, openat, opendir, pipe2 and memfd_create, closed in programs that are started: the only ones that the
 * library has. None is 0, 1 or 2, where a program that has closed its standard output would write into them.
 * -1, NULL or false with errno. */
int kn_os_open(const char *path, int flags, unsigned mode);
int kn_os_open_at(int folder, const char *name, int flags);
DIR *kn_os_open_folder(const char *path);
bool kn_os_open_pipe(int ends[2]);
int kn_os_open_memory(const char *label);
/* Another descriptor of the same open file. */
int kn_os_copy_descriptor(int fd);

/* ---- files ---- */
/* Reads a whole file. KILN_ERROR_NOT_FOUND or KILN_ERROR_IO with the path and the system's reason. */
kiln_status kn_os_read_file(kn_blob *out, const char *path);
/* kiln_file_write: the target is the old or the new file, never half of one. is_durable: it is on the disk
 * when the call returns. */
kiln_status kn_os_replace_file(const char *path, const void *data, size_t size, bool is_durable);
/* The same, durable. */
kiln_status kn_os_write_file(const char *path, const void *data, size_t size);
/* read() until size bytes are there or the file ends: the number of bytes, or -1 with errno. */
ssize_t kn_os_read_full(int fd, void *data, size_t size);
/* All of it to an open file, without a signal; false with errno. */
bool kn_os_write_full(int fd, const void *data, size_t size);
bool kn_os_is_file(const char *path);
bool kn_os_is_folder(const char *path);
/* 128 unpredictable bits, unique even among copies of this library. */
void kn_os_make_nonce(kn_hash *out);
/* Creates path and its parents, the last with mode. */
kiln_status kn_os_make_folders(const char *path, unsigned mode);
/* Makes a private folder under TMPDIR (or /tmp, also if others could exchange files in TMPDIR); its path
 * without links is written to out (size bytes). */
kiln_status kn_os_make_temporary_folder(char *out, size_t size);
/* The same in that folder alone, with a name that begins with prefix. KILN_ERROR_FORBIDDEN where others could
 * exchange it. */
kiln_status kn_os_make_temporary_folder_in(char *out, size_t size, const char *parent, const char *prefix);
/* The same with a name that begins with prefix rather than "kiln-". */
kiln_status kn_os_make_temporary_folder_named(char *out, size_t size, const char *prefix);
/* Reads a regular file of at most limit bytes that another program made, such as a compiler: a pipe or a
 * device in its place is an error, without waiting for it; with own_only a symbolic link is, too. */
kiln_status kn_os_read_plain_file(kn_blob *out, const char *path, size_t limit, bool own_only);
/* A folder for the files of one piece of work, which other processes remove if this one dies: a lock on it
 * shows that it is in use. */
typedef struct kn_os_workplace {
    char path[4096 - 512]; /* absolute */
    int fd;                /* holds the lock */
} kn_os_workplace;
kiln_status kn_os_workplace_make(kn_os_workplace *out);
/* Removes it with all that is in it. Never fails loudly. */
void kn_os_workplace_remove(kn_os_workplace *workplace);
/* Removes the workplaces in the same folder whose processes, of this user, are dead. */
void kn_os_workplace_sweep(const kn_os_workplace *beside);
/* Removes the files directly in path, and path. Never fails loudly. */
void kn_os_remove_folder(const char *path);
/* True if path lies on a network file system (NFS, CIFS, Lustre, GPFS, ...). */
bool kn_os_is_network_path(const char *path);
/* The first executable NAME on PATH; KILN_ERROR_NOT_FOUND. */
kiln_status kn_os_find_program(char *out, size_t size, const char *name);
/* An identity of an ELF file that changes with each build of it: its GNU build id in hex, else a hash of its
 * content. Reads, never maps or loads. */
kiln_status kn_os_file_identity(char *out, size_t size, const char *path);

/* ---- trust in paths ---- */
/* True if only this user and root can put a file into the folder, or another folder in its place: each folder
 * of the path belongs to one of the two, and others can write to none (above it only to those with the sticky
 * bit). real (PATH_MAX bytes) is the path without links, to be used from then on; *reason: the fault and the
 * remedy. */
bool kn_os_folder_is_private(char *real, const char *folder, char *reason, size_t size);
enum { KN_OS_MAY_BE_MISSING = 1, KN_OS_MAY_BE_LINKED = 2 };
/* True if it is a plain file of this user's or root's that others cannot write, with one name (hard link)
 * alone. */
bool kn_os_file_is_private(const char *path, unsigned allowed, char *reason, size_t size);

/* ---- signals ---- */
typedef struct kn_os_guard {
    sigset_t before;
    bool was_pending[2];
} kn_os_guard;
/* Between the two SIGXFSZ (a file beyond `ulimit -f`) and SIGPIPE do not end the process: the thread's writes
 * fail with EFBIG or EPIPE. */
void kn_os_guard_writes(kn_os_guard *guard);
void kn_os_unguard_writes(kn_os_guard *guard);

/* ---- processes ---- */
typedef struct kn_os_command {
    const char *const *argv;        /* argv[0] is an absolute path; no shell is between */
    const char *folder;             /* where it runs; NULL: here */
    const char *const *environment; /* "NAME=value", ended by NULL; NULL: this process's */
    int timeout_ms;
} kn_os_command;
enum { KN_OS_USUAL_TIMEOUT_MS = 300 * 1000 };
/* Runs a program: standard input from /dev/null, standard output and error (the first 8 MiB) appended to
 * *output; *exit_code is the exit status, or 128 + signal (0 where the application ignores SIGCHLD and the
 * status is lost: look at what the program made). Failing to start is an error, so is not having ended in
 * time; a non-zero exit is not. What the program has left behind in its process group when it ends is ended
 * too. */
kiln_status kn_os_run_command(const kn_os_command *command, kn_str *output, int *exit_code);
/* The same in two steps: a program that has begun waits for its standard input, which it gets with its end.
 * Its output is read then. */
typedef struct kn_os_begun {
    int pid;
    int input, output;
} kn_os_begun;
kiln_status kn_os_begin_command(kn_os_begun *out, const kn_os_command *command);
kiln_status kn_os_end_command(kn_os_begun *begun, const kn_os_command *command, const void *input,
                              size_t size, kn_str *output, int *exit_code);
/* Stops it and its process group. */
void kn_os_abandon_command(kn_os_begun *begun);
/* In the child of a fork: the program is the parent's. */
void kn_os_forget_command(kn_os_begun *begun);
/* The process ends: programs that run are stopped, as if their time were over, and no more begun. */
void kn_os_stop_commands(void);
/* The same with this process's environment and the usual timeout. */
kiln_status kn_os_run(const char *const *argv, const char *folder, kn_str *output, int *exit_code);

/* ---- locks among processes ---- */
typedef struct kn_os_lock {
    int fd;
} kn_os_lock;
#define KN_OS_LOCK_INIT                                                                                      \
    {                                                                                                        \
        -1                                                                                                   \
    }
/* An exclusive lock on a file that is made where missing; the kernel releases it when the process dies. Waits
 * at most timeout_ms. false where it could not be had (no last error is set). */
bool kn_os_lock_file(kn_os_lock *lock, const char *path, int timeout_ms);
/* The same for one byte of the file at offset: many keys share one file. */
bool kn_os_lock_file_at(kn_os_lock *lock, const char *path, int64_t offset, int timeout_ms);
void kn_os_unlock_file(kn_os_lock *lock);

/* ---- shared libraries ---- */
typedef struct kn_library kn_library;
/* dlopen with local symbols. KILN_ERROR_NOT_FOUND with the loader's reason. */
kiln_status kn_os_library_open(kn_library **out, const char *path);
/* Loads a shared object from memory, leaving no file behind. */
kiln_status kn_os_library_open_memory(kn_library **out, const void *data, size_t size, const char *name);
void *kn_os_library_symbol(kn_library *library, const char *name);
/* Bytes of the object at this address, the symbol's; 0: not known. */
size_t kn_os_library_symbol_size(void *symbol);
void kn_os_library_close(kn_library *library);
/* Keeps this library loaded from now on: code that stays has pointers into it. */
void kn_os_library_pin_self(void);
/* The folder of the file that has this code: the shared library, or a program with the archive. By the name
 * that it was loaded by (false if this is relative), or by its path without links. */
bool kn_os_library_own_folder(char *out, size_t size, bool without_links);

/* ---- the processor ---- */
int kn_os_cpu_count(void);   /* usable by this process: affinity and cgroup quota respected */
int kn_os_cpu_current(void); /* the processor that runs this thread; negative: unknown */

/* Processors that a thread may run on. */
typedef struct kn_os_cpus {
    cpu_set_t before, now;
} kn_os_cpus;

/* Keeps this thread off a processor; false: as it was, for it has no other. */
bool kn_os_cpu_avoid(kn_os_cpus *out, int cpu);
/* Undoes that, unless the thread has been given other processors meanwhile. */
void kn_os_cpu_return(const kn_os_cpus *cpus);

void kn_os_cpu_name(char *out, size_t size);
/* "x86-64", "x86-64-v2", "-v3", "-v4" by what the processor and the system support; "armv8-a", "armv8.2-a" on
 * aarch64. Static string. */
const char *kn_os_cpu_architecture(void);
size_t kn_os_physical_memory(size_t *available);

/* The most bytes of addresses that the process may have (RLIMIT_AS); SIZE_MAX where nobody set one. */
size_t kn_os_address_limit(void);
/* Addresses without memory, page by page; NULL, noted as a shortage, where there are none. */
void *kn_os_reserve(size_t size);
void kn_os_unreserve(void *range, size_t size);
/* From now on the pages can be used; they are zero. False, noted as a shortage, where there is no memory. */
bool kn_os_commit(void *pages, size_t size);
/* Gives the memory of the pages back to the system; the addresses stay reserved. */
void kn_os_decommit(void *pages, size_t size);

#endif
