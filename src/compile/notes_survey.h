/* compile/notes_survey.h - the lines of notes, and one look at what they say. */
#ifndef KN_COMPILE_NOTES_SURVEY_H
#define KN_COMPILE_NOTES_SURVEY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* How lines begin; see notes.c. */
#define KN_NOTE_LOWERED "lowered "
#define KN_NOTE_FOLDER "folder "
#define KN_NOTE_SYSTEM "system "
#define KN_NOTE_FILE "file "
#define KN_NOTE_PROBE "probe "
#define KN_NOTE_ENVIRONMENT "environment "
#define KN_NOTE_LOOKUPS "lookups "
#define KN_NOTE_UNKNOWN "unknown\n"
enum { KN_HASH_DIGITS = 32 };

typedef struct kn_span {
    const char *text;
    size_t length;
} kn_span;

typedef struct kn_span_list {
    kn_span *items;
    size_t n, capacity;
    bool failed;
} kn_span_list;

void kn_span_push(kn_span_list *list, kn_span item);

/* The line at *at, which goes on behind it; false at the end. */
bool kn_notes_next_line(kn_span *line, const char **at, const char *end);
/* Takes the word from the beginning of the line. */
bool kn_notes_take_word(kn_span *line, const char *word);

typedef struct kn_noted_file {
    kn_span hash, name;
    int folder; /* -1: the name is a path */
} kn_noted_file;

typedef struct kn_survey {
    kn_span_list folders; /* of the options, then of the notes: the user's, then the system's */
    size_t first_system;
    kn_span_list files; /* what follows "file " */
    kn_span_list probes;
    kn_span environment, lookups;
    bool is_unknown;
} kn_survey;

/* options: the request's. The survey points into both, and is to be freed. */
void kn_survey_look(kn_survey *s, const char *notes, size_t size, const char *const *options, int n_options);
void kn_survey_free(kn_survey *s);
/* Without memory. */
bool kn_survey_has_failed(const kn_survey *s);
/* False where the line is damaged. */
bool kn_survey_read_file(kn_noted_file *out, const kn_survey *s, kn_span line);
bool kn_survey_path(char path[PATH_MAX], const kn_survey *s, const kn_noted_file *file);
/* Whether it is one of the toolchain's own. */
bool kn_survey_is_system(const kn_survey *s, const kn_noted_file *file);

/* folder: NULL where the name is a path; false where it is too long. */
bool kn_notes_join(char path[PATH_MAX], const kn_span *folder, const kn_span *name);
/* The part of path below folder; an empty one where it is not below. */
kn_span kn_notes_below(const char *path, const kn_span *folder);

#endif
