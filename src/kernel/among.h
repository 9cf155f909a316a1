/* kernel/among.h - whether elements are among those of another array. */
#ifndef KN_KERNEL_AMONG_H
#define KN_KERNEL_AMONG_H

#include "kernel/kernel.h"

/* A truth value for each element of x: it is one of the others, which have one axis and x's dtype. On the
 * host by a table of the others, where they have keys of up to 8 bytes; else by `sorted`, a kernel of the
 * same arguments and result. */
kiln_status kn_among_find(kiln_kernel **out, kiln_kernel *sorted);

#endif
