/* golden.h - texts beside the tests: compared, or, with --update, written anew. */
#ifndef GOLDEN_GOLDEN_H
#define GOLDEN_GOLDEN_H

#include <stdbool.h>

/* The whole file, malloc'd; NULL where there is none. */
char *golden_read(const char *path);
/* True if the file `path` has this text; otherwise says where it differs. update: writes it instead. */
bool golden_matches(const char *path, const char *text, bool update);

#endif
