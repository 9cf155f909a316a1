/* compile/dependency_file.h - the lines of a dependency file, and the struct into which they are parsed. */
#ifndef KN_COMPILE_DEPENDENCY_FILE_H
#define KN_COMPILE_DEPENDENCY_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The beginnings of lines; see dependencies.c. */
#define KN_DEPENDENCY_LOWERED "lowered "
#define KN_DEPENDENCY_FOLDER "folder "
#define KN_DEPENDENCY_SYSTEM "system "
#define KN_DEPENDENCY_FILE "file "
#define KN_DEPENDENCY_PROBE "probe "
#define KN_DEPENDENCY_ENVIRONMENT "environment "
#define KN_DEPENDENCY_LOOKUPS "lookups "
#define KN_DEPENDENCY_UNKNOWN "unknown\n"
enum { KN_HASH_DIGITS = 32 };

typedef struct kn_span {
    const char *text;
    size_t length;
} kn_span;

typedef struct kn_span_list {
    kn_span *items;
    int n, capacity;
    bool failed;
} kn_span_list;

void kn_span_push(kn_span_list *list, kn_span item);

/* The line at *at, which moves behind it; false at the end. */
bool kn_dependency_next_line(kn_span *line, const char **at, const char *end);
/* Takes the word from the beginning of the line. */
bool kn_dependency_take_word(kn_span *line, const char *word);

typedef struct kn_dependency {
    kn_span hash, name;
    int folder; /* -1: the name is a path */
} kn_dependency;

typedef struct kn_dependency_file {
    kn_span_list folders; /* of the options, then of the text: the user's, then the system's */
    int first_system;
    kn_span_list files; /* the lines, without "file " */
    kn_span_list probes;
    kn_span environment, lookups;
    bool is_unknown;
} kn_dependency_file;

/* Parses text. options: the request's. *s points into both, and is to be freed. */
void kn_dependency_file_read(kn_dependency_file *s, const char *text, size_t size, const char *const *options,
                             int n_options);
void kn_dependency_file_free(kn_dependency_file *s);
/* True if memory was lacking. */
bool kn_dependency_file_has_failed(const kn_dependency_file *s);
/* Parses the rest of a "file" line; false where it is damaged. */
bool kn_dependency_file_read_entry(kn_dependency *out, const kn_dependency_file *s, kn_span line);
bool kn_dependency_file_path(char path[PATH_MAX], const kn_dependency_file *s, const kn_dependency *file);
/* True if the file is one of the toolchain's own. */
bool kn_dependency_file_is_system(const kn_dependency_file *s, const kn_dependency *file);

/* Joins folder and name; folder: NULL where the name is a path; false where the path is too long. */
bool kn_dependency_join_path(char path[PATH_MAX], const kn_span *folder, const kn_span *name);
/* The part of path below folder; an empty one where it is not below. */
kn_span kn_dependency_below(const char *path, const kn_span *folder);

#endif
