/* compile/dependency_lookups.c - hashes which names exist in which search folders. */
#include "compile/dependency_lookups.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/str.h"

typedef struct table {
    kn_span_list columns; /* search folders, and those of the user's own files: names in quotes begin there */
    kn_span_list names;
    kn_map *seen;
    kn_str paths; /* each ended by a NUL; fixed once columns point into it */
    bool failed;
} table;

static void add_name(table *t, kn_span name)
{
    static char present;
    if (name.length == 0 || kn_map_get(t->seen, name.text, name.length))
        return;
    t->failed = t->failed || !kn_map_put(t->seen, name.text, name.length, &present);
    kn_span_push(&t->names, name);
}

/* All paths come first, one after the other, since a growing text moves. */
static void add_paths(table *t, const kn_dependency_file *s)
{
    for (int f = 0; f < s->files.n; f++) {
        kn_dependency file;
        char path[PATH_MAX] = "";
        if (!kn_dependency_file_read_entry(&file, s, s->files.items[f]) ||
            !kn_dependency_file_path(path, s, &file)) {
            t->failed = true;
            return;
        }
        kn_str_append_n(&t->paths, path, strlen(path) + 1);
        kn_str_append_n(&t->paths, kn_dependency_file_is_system(s, &file) ? "s" : "u", 1);
    }
    t->failed = t->failed || t->paths.failed;
}

static bool is_column(const table *t, kn_span folder)
{
    for (int c = 0; c < t->columns.n; c++)
        if (t->columns.items[c].length == folder.length &&
            memcmp(t->columns.items[c].text, folder.text, folder.length) == 0)
            return true;
    return false;
}

static void add_columns(table *t, const kn_dependency_file *s)
{
    for (int f = 0; f < s->folders.n; f++)
        kn_span_push(&t->columns, s->folders.items[f]);
    const char *path = t->paths.data;
    for (int f = 0; f < s->files.n; f++, path += strlen(path) + 2) {
        const char *slash = strrchr(path, '/');
        kn_span folder = {path, slash ? (size_t)(slash - path) : 0};
        if (path[strlen(path) + 1] == 'u' && folder.length > 0 && !is_column(t, folder))
            kn_span_push(&t->columns, folder);
    }
}

static void add_names(table *t, const kn_dependency_file *s)
{
    const char *path = t->paths.data;
    for (int f = 0; f < s->files.n; f++, path += strlen(path) + 2) {
        if (path[0] != '/')
            add_name(t, (kn_span){path, strlen(path)});
        for (int c = 0; c < t->columns.n; c++)
            add_name(t, kn_dependency_below(path, &t->columns.items[c]));
    }
    for (int p = 0; p < s->probes.n; p++)
        add_name(t, s->probes.items[p]);
    t->failed = t->failed || t->names.failed || t->columns.failed;
}

static void look_up(table *t, kn_str *bits)
{
    for (int n = 0; n < t->names.n; n++)
        for (int c = 0; c < t->columns.n; c++) {
            char path[PATH_MAX];
            bool is_there = kn_dependency_join_path(path, &t->columns.items[c], &t->names.items[n]) &&
                            access(path, F_OK) == 0;
            kn_str_append_n(bits, is_there ? "1" : "0", 1);
        }
}

bool kn_dependency_hash_lookups(char hex[KN_HASH_DIGITS + 1], const kn_dependency_file *s)
{
    table t = {.seen = kn_map_create(), .paths = KN_STR_INIT};
    kn_str bits = KN_STR_INIT;
    bool is_done = false;
    if (!t.seen)
        return false;
    add_paths(&t, s);
    if (!t.failed) {
        add_columns(&t, s);
        add_names(&t, s);
    }
    if (!t.failed) {
        look_up(&t, &bits);
        kn_hash hash = kn_hash_128(kn_str_text(&bits), bits.length);
        kn_hash_hex(&hash, hex);
        is_done = !bits.failed;
    }
    kn_str_free(&bits);
    kn_str_free(&t.paths);
    kn_map_free(t.seen, NULL);
    kn_free(t.columns.items);
    kn_free(t.names.items);
    return is_done;
}
