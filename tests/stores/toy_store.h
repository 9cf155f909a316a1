/* toy_store.h - a store from outside: rows that are only read, as a bundle's would be. */
#ifndef TOY_STORE_H
#define TOY_STORE_H

#include "store/stores.h"

enum { TOY_ROWS = 16 };

typedef struct toy_row {
    char *what;
    kn_blob code, notes;
} toy_row;

extern struct toy_bundle {
    toy_row row[TOY_ROWS];
    int rows;
    atomic_int asked, found; /* questions, and those that had an answer */
} toy_bundle;

extern bool toy_list_is_without_compiler;

/* A row more; the bytes are copied. */
void toy_store_add(const char *what, const void *code, size_t size, const char *notes);
void toy_store_empty(void);

#endif
