/* compile/dependencies.c - writes and verifies dependency files, which are stored beside the code: lowered
 * names, and the files that the compiler read. Lines:
 *
 *   lowered _Z5twiceIiEvPT_
 *   folder vendor/include             a search folder besides those of the options; "." is the caller's
 *   system /usr/include               a search folder of the toolchain's own files
 *   file 0f34...8a3b 0 math/const.h   a hash; the number of the folder (options first) or -; the name
 *   probe optional.h                  a name that __has_include asks for
 *   environment 91c0...               of CPATH and the like
 *   lookups 52b7...                   a hash: which of the names exist in which of the folders
 *   unknown                           dependencies are not known: never holds
 *
 * A compiler tells which files it read, not where it looked in vain. But it can only have looked for the name
 * of a file that it found, or that __has_include asks for, in one of the folders: so the whole table of names
 * and folders is hashed, and a file that comes to be in front of another changes it. It changes too often
 * rather than too seldom, and the cost of that is a compile. */
#include "compile/compile.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/os.h"
#include "compile/compiler.h"
#include "compile/dependency_lookups.h"
#include "compile/dependency_probes.h"
#include "compile/dependency_file.h"

enum { FILE_MAX_BYTES = 256 << 20 };

/* ---- writing ---- */

static void hash_of(const kn_blob *blob, char hex[KN_HASH_DIGITS + 1])
{
    kn_hash hash = kn_hash_128(blob->data, blob->size);
    kn_hash_hex(&hash, hex);
}

/* A file that cannot be read is an answer here, not an error. */
static bool read_quietly(kn_blob *out, const char *path)
{
    kn_error_state before;
    kn_error_save(&before);
    kiln_status status = kn_os_read_plain_file(out, path, FILE_MAX_BYTES, false);
    kn_error_restore(&before);
    return status == KILN_OK;
}

/* The first folder that the path lies below, and the name there; else the path itself. */
static kn_dependency place_file(const kn_dependency_file *s, const char *path)
{
    for (int f = 0; f < s->folders.n; f++) {
        kn_span name = kn_dependency_below(path, &s->folders.items[f]);
        if (name.length > 0)
            return (kn_dependency){{"", 0}, name, (int)f};
    }
    return (kn_dependency){{"", 0}, {path, strlen(path)}, -1};
}

static void put_file(kn_dependency_writer *w, const kn_dependency_file *s, kn_span path_text)
{
    char path[PATH_MAX], hex[KN_HASH_DIGITS + 1], number[16] = "-";
    kn_blob content = KN_BLOB_INIT;
    if (!kn_dependency_join_path(path, NULL, &path_text) || !read_quietly(&content, path)) {
        w->is_unknown = true;
        return;
    }
    kn_dependency file = place_file(s, path);
    hash_of(&content, hex);
    if (file.folder >= 0)
        snprintf(number, sizeof number, "%d", file.folder);
    kn_str_printf(w->out, "%s%s %s %.*s\n", KN_DEPENDENCY_FILE, hex, number, (int)file.name.length,
                  file.name.text);
    if (content.size > 0)
        kn_dependency_find_probes(w, content.data, content.size, !kn_dependency_file_is_system(s, &file));
    kn_blob_free(&content);
}

/* Compilers name a file as often as it is included. */
static kiln_status put_files(kn_dependency_writer *w, const kn_dependency_file *s, const kn_str *files)
{
    static char present;
    kn_map *seen = kn_map_create();
    bool is_full = !seen;
    kn_span path;
    for (const char *at = kn_str_text(files), *end = at + files->length;
         !is_full && kn_dependency_next_line(&path, &at, end);) {
        if (kn_map_get(seen, path.text, path.length))
            continue;
        is_full = !kn_map_put(seen, path.text, path.length, &present);
        put_file(w, s, path);
    }
    kn_map_free(seen, NULL);
    return is_full ? kn_error_memory("a list of headers") : KILN_OK;
}

static void put_folders(kn_str *out, const char *word, const kn_str *folders)
{
    kn_span line;
    for (const char *at = kn_str_text(folders), *end = at + folders->length;
         kn_dependency_next_line(&line, &at, end);)
        kn_str_printf(out, "%s%.*s\n", word, (int)line.length, line.text);
}

static kiln_status put_lookups(kn_str *text, const kn_compile_request *request)
{
    kn_dependency_file s;
    char hex[KN_HASH_DIGITS + 1];
    kn_dependency_file_read(&s, text->data, text->length, request->options, request->n_options);
    bool is_done = !kn_dependency_file_has_failed(&s) && kn_dependency_hash_lookups(hex, &s);
    kn_dependency_file_free(&s);
    if (!is_done)
        return kn_error_memory("a list of headers");
    kn_str_printf(text, "%s%s\n", KN_DEPENDENCY_LOOKUPS, hex);
    return kn_str_status(text, "dependencies");
}

static kiln_status put_reads(kn_dependency_writer *w, const kn_compile_request *request,
                             const kn_compile_reads *reads)
{
    char hex[KN_HASH_DIGITS + 1];
    kn_dependency_file s;
    put_folders(w->out, KN_DEPENDENCY_FOLDER, &reads->folders);
    put_folders(w->out, KN_DEPENDENCY_SYSTEM, &reads->system_folders);
    if (reads->uses_environment) {
        kn_compile_environment_hash(hex, KN_ENVIRONMENT_OF_FILES);
        kn_str_printf(w->out, "%s%s\n", KN_DEPENDENCY_ENVIRONMENT, hex);
    }
    kiln_status status = kn_str_status(w->out, "dependencies");
    if (status != KILN_OK)
        return status;
    /* The names of the folders are copied, since the text grows while files are added. */
    char *folders = kn_strdup(kn_str_text(w->out));
    if (!folders)
        return kn_error_memory("dependencies");
    kn_dependency_file_read(&s, folders, strlen(folders), request->options, request->n_options);
    status = kn_dependency_file_has_failed(&s) ? kn_error_memory("a list of headers")
                                               : put_files(w, &s, &reads->files);
    kn_dependency_file_free(&s);
    kn_free(folders);
    kn_dependency_find_probes_of(w, request);
    return status == KILN_OK ? kn_str_status(w->out, "dependencies") : status;
}

kiln_status kn_compile_dependencies(kn_str *out, const kn_compile_request *request,
                                    const kn_compile_result *result)
{
    kn_str text = KN_STR_INIT;
    kn_dependency_writer w = {&text, result->reads.is_unknown};
    kiln_status status = KILN_OK;
    if (result->reads.is_traced)
        status = put_reads(&w, request, &result->reads);
    if (status == KILN_OK && result->reads.is_traced && !w.is_unknown)
        status = put_lookups(&text, request);
    for (int i = 0; i < result->n_lowered_names; i++)
        kn_str_printf(out, "%s%s\n", KN_DEPENDENCY_LOWERED, result->lowered_names[i]);
    kn_str_append(out, w.is_unknown ? KN_DEPENDENCY_UNKNOWN : kn_str_text(&text));
    kn_str_free(&text);
    return status == KILN_OK ? kn_str_status(out, "dependencies") : status;
}

/* ---- verifying ---- */

static bool file_holds(const kn_dependency_file *s, const kn_dependency *file)
{
    char path[PATH_MAX], hex[KN_HASH_DIGITS + 1];
    kn_blob content = KN_BLOB_INIT;
    if (!kn_dependency_file_path(path, s, file) || !read_quietly(&content, path))
        return false;
    hash_of(&content, hex);
    kn_blob_free(&content);
    return memcmp(hex, file->hash.text, KN_HASH_DIGITS) == 0;
}

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* True if the folder exists in which the file was found. */
static bool has_home(const kn_dependency_file *s, const kn_dependency *file)
{
    char path[PATH_MAX];
    if (file->folder >= 0)
        return kn_dependency_join_path(path, NULL, &s->folders.items[file->folder]) && is_folder(path);
    if (!kn_dependency_file_path(path, s, file))
        return true;
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = 0;
    return !slash || is_folder(path);
}

static bool files_hold(const kn_dependency_file *s, bool *is_from_elsewhere)
{
    bool holds = true;
    *is_from_elsewhere = s->files.n > 0;
    for (int f = 0; f < s->files.n; f++) {
        kn_dependency file;
        if (!kn_dependency_file_read_entry(&file, s, s->files.items[f])) {
            *is_from_elsewhere = false;
            return false;
        }
        *is_from_elsewhere = *is_from_elsewhere && !has_home(s, &file);
        holds = holds && file_holds(s, &file);
        if (!holds && !*is_from_elsewhere)
            return false;
    }
    return holds;
}

static bool dependencies_hold(const kn_dependency_file *s)
{
    char hex[KN_HASH_DIGITS + 1];
    bool is_from_elsewhere;
    if (s->is_unknown || kn_dependency_file_has_failed(s))
        return false;
    if (s->files.n == 0 && s->lookups.length == 0)
        return true;
    bool holds = files_hold(s, &is_from_elsewhere);
    if (!holds)
        return is_from_elsewhere;
    kn_compile_environment_hash(hex, KN_ENVIRONMENT_OF_FILES);
    if (s->environment.length > 0 &&
        (s->environment.length != KN_HASH_DIGITS || memcmp(s->environment.text, hex, KN_HASH_DIGITS) != 0))
        return false;
    return kn_dependency_hash_lookups(hex, s) && s->lookups.length == KN_HASH_DIGITS &&
           memcmp(s->lookups.text, hex, KN_HASH_DIGITS) == 0;
}

bool kn_compile_dependencies_hold(const char *text, size_t size, const char *const *options, int n_options)
{
    kn_dependency_file s;
    if (!text || size == 0)
        return true;
    kn_dependency_file_read(&s, text, size, options, n_options);
    bool holds = dependencies_hold(&s);
    kn_dependency_file_free(&s);
    return holds;
}

const char *kn_compile_dependencies_lowered(const char *text, size_t size, int n, size_t *length)
{
    const char *at = text;
    kn_span line;
    for (int i = 0; text && kn_dependency_next_line(&line, &at, text + size);)
        if (kn_dependency_take_word(&line, KN_DEPENDENCY_LOWERED) && i++ == n) {
            *length = line.length;
            return line.text;
        }
    return NULL;
}
