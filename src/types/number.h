/* types/number.h - one number of any dtype, without loss, for the slow paths: scalars, ranges, printing,
 * files. */
#ifndef KN_TYPES_NUMBER_H
#define KN_TYPES_NUMBER_H

#include "types/dtype.h"

/* kind BOOL and INT: i. UINT: u, used only above INT64_MAX. FLOAT: re. COMPLEX: re and im. */
typedef struct kn_number {
    kn_dtype_kind kind;
    int64_t i;
    uint64_t u;
    double re, im;
} kn_number;

/* Reads one element, at any alignment. */
kn_number kn_number_load(const void *from, kiln_dtype dtype);
/* Writes one element, at any alignment; floats round once. False, and out unchanged, where the value does not
 * fit: an integer out of range, a fraction for an integer, a complex value for a real dtype. */
bool kn_number_store(void *out, kiln_dtype dtype, const kn_number *number);
/* Formats a number for a message: "300", "0.5", "1+2i". */
void kn_number_format(const kn_number *number, char *out, size_t size);

#endif
