/* toy_store.h - two stores from outside: rows that are only read, as a bundle's would be, and the same as if
 * they were far away. */
#ifndef TOY_STORE_H
#define TOY_STORE_H

#include <stdatomic.h>

#include "store/stores.h"

enum { TOY_ROWS = 16 };

typedef struct toy_row {
    char *what;
    kn_blob code, dependencies;
} toy_row;

typedef struct toy_rows {
    toy_row row[TOY_ROWS];
    int rows;
    atomic_int asked, found; /* questions, and those that had an answer */
} toy_rows;

extern toy_rows toy_bundle, toy_remote;

extern bool toy_list_is_without_compiler;

/* One more row; the bytes are copied. */
void toy_store_add(toy_rows *rows, const char *what, const void *code, size_t size, const char *dependencies);
void toy_store_empty(toy_rows *rows);

#endif
