/* kernel/partition.h - topk, partition and argpartition of long rows, without a sort of all elements. */
#ifndef KN_KERNEL_PARTITION_H
#define KN_KERNEL_PARTITION_H

#include "kernel/sort.h"

/* A kernel of the same calls as `sort`, which is taken over, and does those that do not suit. */
kiln_status kn_partition_create(kiln_kernel **out, const kn_named_sort *of, kiln_kernel *sort);

#endif
