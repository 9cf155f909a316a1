/* schedule/widen.h - copies of short contiguous ranges as fewer, wider elements: four channels of one byte
 * are one element of four. */
#ifndef KN_SCHEDULE_WIDEN_H
#define KN_SCHEDULE_WIDEN_H

#include "schedule/spec.h"

/* Makes spec, space and access those of a copy of wider elements, where the program only copies one array to
 * another of its type, and both lie along the fastest axis in contiguous ranges of up to 16 elements, which
 * an element of 2 to 16 bytes divides. access: of the space, addresses too. A copy of 16-bit floats that
 * the program sees as float32 becomes one that sees them as they are. */
void kn_spec_widen(kn_spec *spec, kn_space *space, kn_access *access);

#endif
