/* schedule/widen.h - copies of short runs as fewer, wider elements: a pixel of four bytes is one element of
 * four. */
#ifndef KN_SCHEDULE_WIDEN_H
#define KN_SCHEDULE_WIDEN_H

#include "schedule/spec.h"

/* Where the program only copies one array to another of its type, and both lie along the fastest axis in runs
 * of up to 16 elements, which an element of 2 to 16 bytes divides: makes spec, space and access those of such
 * a copy. access: of the space, addresses too. */
void kn_spec_widen(kn_spec *spec, kn_space *space, kn_access *access);

#endif
