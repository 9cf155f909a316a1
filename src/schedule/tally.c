/* schedule/tally.c - operators that CUDA has atomic functions for. */
#include "schedule/tally.h"

#include <stddef.h>
#include <string.h>

const char *kn_tally_atomic(const char *reduce, kiln_dtype dtype)
{
    static const struct {
        const char *text, *function;
    } operators[] = {{"a + b", "atomicAdd"},
                     {"min(a, b)", "atomicMin"},
                     {"max(a, b)", "atomicMax"},
                     {"kn_least(a, b)", "atomicMin"},
                     {"kn_greatest(a, b)", "atomicMax"},
                     {"a & b", "atomicAnd"},
                     {"a | b", "atomicOr"},
                     {"a ^ b", "atomicXor"}};
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    if (info && info->kind == KN_KIND_FLOAT && info->size >= 4)
        return strcmp(reduce, KN_TALLY_ARRIVED) == 0 ? "atomicAdd" : NULL;
    if (!info || (info->kind != KN_KIND_INT && info->kind != KN_KIND_UINT) || info->size < 4)
        return NULL;
    for (size_t k = 0; k < sizeof operators / sizeof operators[0]; ++k)
        if (strcmp(operators[k].text, reduce) == 0)
            return operators[k].function;
    return NULL;
}
