/*
 * kiln/bundle.h - compiled kernels that ship with a program: bundles, made by `kiln bake`.
 *
 *     kiln_bundle_attach("/opt/app/app.kiln");
 *
 * A kernel that an attached bundle holds is neither compiled nor copied. A bundle is one file that
 * is only read: it serves machines without a compiler, and machines whose cache cannot be written.
 *
 * Kernels are looked for in the process's memory, in bundles, in the user's cache, and are compiled
 * where none has them. Bundles are those that the program attached, the last one first; then those
 * of KILN_BUNDLE_PATH (files, or folders whose *.kiln are taken in the order of their names, with
 * colons between); then those in /usr/local/share/kiln and /usr/share/kiln; then those in the
 * folder kiln beside the library's file (beside the program, of one with the static library), where
 * it was installed with a bundle of its operations (KILN_BAKE_ARCHS and KILN_BAKE_HOSTS at
 * configure time). Where bundles have code
 * of several targets for a kernel, kiln takes the code that was made for the device, else that for
 * the highest target below it, else PTX; where two bundles have the same, that of the first. Code
 * that does not run on the device is never tried.
 *
 * A bundle's code came from any compiler and may come from an earlier version of this library: it
 * is taken as long as that passes arguments in the same way. Headers that a kernel includes are
 * compared where they can be found, as for the cache.
 *
 * The file holds code that is run: where others than this user and root may write to it, or to a
 * folder above it without the sticky bit, it is refused. What KILN_BUNDLE_PATH names and cannot be
 * used is left out: counted in kiln_cache_stats and said once through the log.
 *
 * Thread-safe.
 */
#ifndef KILN_BUNDLE_H
#define KILN_BUNDLE_H

#include <kiln/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Adds the bundle in a file, in front of all others, until the process ends. KILN_ERROR_INVALID
 * where path is NULL; KILN_ERROR_NOT_FOUND where there is no file; KILN_ERROR_IO where it cannot be
 * read or others may write to it; KILN_ERROR_FORMAT where it is no bundle, of another version, cut
 * off or damaged; KILN_ERROR_MEMORY. Nothing is attached then. */
KILN_NODISCARD KILN_API kiln_status kiln_bundle_attach(const char *path);
/* The same of a bundle in memory: one linked into the program, say. The bytes stay the caller's,
 * and have to be there, unchanged, until the process ends (or the library is unloaded): they are
 * not copied. */
KILN_NODISCARD KILN_API kiln_status kiln_bundle_attach_memory(const void *bytes, size_t size);

/* The same of bytes that are copied: those of kiln_kernel_export, say. */
KILN_NODISCARD KILN_API kiln_status kiln_bundle_attach_copy(const void *bytes, size_t size);

/* Reads the file of a bundle whose code is to be run, with all that kiln_bundle_attach asks of a
 * file: where others may write to it, or to a folder above it, it is refused. For kiln_cache_import
 * and kiln_bundle_merge, which are given bytes and cannot ask. *bytes is the caller's, for free().
 * The errors of kiln_bundle_attach, but the content is not looked at. */
KILN_NODISCARD KILN_API kiln_status kiln_bundle_read_file(void **bytes, size_t *size,
                                                          const char *path);

/* ---- making bundles; what `kiln bake` does ---- */

/*
 * A record is a text file with a line for each specialisation that was used. A program writes one
 * where KILN_RECORD names a file: every kernel that it calls or prepares, with the targets on which
 * such a call needs it; many processes may write to one file. kiln_kernel_record gives the lines of
 * one call.
 *
 * Targets are "sm_90", "sm_90a", "sm_100f"; "compute_90", which is PTX for this and all later
 * devices; "x86-64-v3". What is allocated is the caller's, to be given to free().
 */

/* One line of a record. The strings live during the call that passes them. */
typedef struct kiln_record_line {
    const char *text; /* the line, without its end */
    const char
        *name; /* of the kernel; NULL where the line is no record: then it is handed as it is */
    const char *types;   /* of its operands, "array:float32 array:float32"; "" for a module */
    const char *targets; /* "cuda:sm_80 cuda:sm_90", on which it was needed */
    const char *key;     /* what bundles find it by */
} kiln_record_line;

/* Calls visit for each line of a record in a text, until it returns false; empty lines and those
 * that begin with '#' are left out. *damaged (may be NULL): lines of records that are not whole,
 * since the process that wrote them died, and that are passed over. KILN_ERROR_INVALID (NULL),
 * KILN_ERROR_MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_record_read(const char *text, uint64_t *damaged,
                                                     bool (*visit)(const kiln_record_line *line,
                                                                   void *user),
                                                     void *user);
/* True if such targets (those of a line) include this one, which may have a suffix or be PTX. */
KILN_API bool kiln_record_needs(const char *targets, const char *target);

/* KILN_OK where a kernel can be baked for this target; KILN_ERROR_INVALID, naming those that are
 * known, where it cannot. */
KILN_NODISCARD KILN_API kiln_status kiln_bake_check_target(const char *target);

/* Options of kiln_bake. */
typedef struct kiln_bake_options {
    size_t struct_size;
    int n_include_folders;              /* where the headers of raw modules lie */
    const char *const *include_folders; /* n_include_folders of them */
} kiln_bake_options;
#define KILN_BAKE_OPTIONS_INIT                                                                     \
    {                                                                                              \
        sizeof(kiln_bake_options), 0, NULL                                                         \
    }

/* Compiles what a record's line says for a target, whatever device is here, into a bundle of one
 * kernel. KILN_ERROR_INVALID (NULL, or an unknown target), KILN_ERROR_FORMAT (the line),
 * KILN_ERROR_COMPILE with the compiler's text in kiln_error_log(), KILN_ERROR_UNSUPPORTED where
 * the compiler does not know the target, KILN_ERROR_NOT_FOUND where there is none,
 * KILN_ERROR_MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_bake(void **bytes, size_t *size, const char *line,
                                              const char *target, const kiln_bake_options *options);

/* A bundle in memory. */
typedef struct kiln_bytes {
    const void *data; /* its first byte */
    size_t size;      /* bytes */
} kiln_bytes;
/* One bundle of several, in which each kernel and target stands once: that of the first that has
 * it. Equal rows give equal bytes, in whatever order they come. KILN_ERROR_INVALID,
 * KILN_ERROR_FORMAT with the number of the bundle that is damaged, KILN_ERROR_MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_bundle_merge(void **bytes, size_t *size,
                                                      const kiln_bytes *bundles, int n_bundles);

/* A kernel of a bundle, for one target. */
typedef struct kiln_bundle_entry {
    const char *name;                 /* of the kernel */
    const char *types;                /* as in kiln_record_line */
    const char *target;               /* "sm_90a", "compute_120", "x86-64-v3" */
    const char *key;                  /* as in kiln_record_line */
    const char *generator, *compiler; /* with what it was made; the generator may be "" */
    bool is_usable;                   /* here: this library passes arguments as its code expects */
    const void *code;                 /* the binary */
    size_t code_bytes;                /* its size */
} kiln_bundle_entry;
/* Calls visit for each kernel and target of a bundle, in the order of the file, until it returns
 * false; each is checked. The strings live during the call alone. KILN_ERROR_INVALID,
 * KILN_ERROR_FORMAT (no bundle, or damaged), KILN_ERROR_MEMORY. */
KILN_NODISCARD KILN_API kiln_status kiln_bundle_visit(const void *bytes, size_t size,
                                                      bool (*visit)(const kiln_bundle_entry *entry,
                                                                    void *user),
                                                      void *user);
/* The code that a device of this target would be given for a record's line, as a bundle of one (to
 * be handed to other processes, say); bytes NULL: whether there is one. KILN_ERROR_NOT_FOUND,
 * naming kernel, types and target, where the bundle has none that runs there. */
KILN_NODISCARD KILN_API kiln_status kiln_bundle_find(void **bytes, size_t *size, const void *bundle,
                                                     size_t bundle_size, const char *line,
                                                     const char *target);

#ifdef __cplusplus
}
#endif
#endif
