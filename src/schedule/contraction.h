/* schedule/contraction.h - whether two kernels of a reduction that combine in the same order give the same
 * bits. Compilers contract a * b + c to one operation, across the texts of a program too, and of several
 * products each kernel may have another contracted. So the sum, or product, of floats is written as a
 * function that is never contracted, but in kinds that arithmetic bounds (kn_kind.contracts); of other texts
 * it has to be clear that there is nothing to contract. Within one text kernels contract alike. */
#ifndef KN_SCHEDULE_CONTRACTION_H
#define KN_SCHEDULE_CONTRACTION_H

#include "schedule/spec.h"

/* The function of a and b that stands in the source for the text of a reduce stage, "__fadd_rn"; NULL: the
 * text does. */
const char *kn_contraction_function(const kn_spec *spec, int stage);

/* True if nothing is contracted across the texts of a reduction, or a scan (CUDA). */
bool kn_contraction_is_safe(const kn_spec *spec);

/* True if the compiler is told to contract nothing: the user wants that, or it is a scan in which kernels
 * might contract differently. Memory bounds scans, not arithmetic. */
bool kn_contraction_is_off(const kn_spec *spec);

#endif
