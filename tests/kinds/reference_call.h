/* reference_call.h - a call as the functions of reference.c see it; C and C++. */
#ifndef KINDS_REFERENCE_CALL_H
#define KINDS_REFERENCE_CALL_H

#include "elements.h"

/* The element of row `r` and place `j` in it is at + row[r] + element[j]. */
typedef struct reference_view {
    char *at;
    kiln_dtype dtype;
    const int64_t *row, *element;
    const int64_t *shape; /* of raw operands */
} reference_view;

/* Rows are what is not reduced, in C order; a row's elements are what is, in C order too. */
typedef struct reference_call {
    int64_t rows, length;
    const int64_t *row_number, *element_number; /* their sum is an element's index in C order */
    reference_view view[16];
    number (*load)(const void *at, kiln_dtype dtype);
    void (*store)(void *at, kiln_dtype dtype, number x);
} reference_call;

#endif
