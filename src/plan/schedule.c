#include "plan/schedule.h"

enum { DEFAULT_BLOCK = 256, MAX_INPUT_BYTES = 64, MAX_STRIDED_VECTOR = 8 };

const char *kn_schedule_name(kn_schedule_kind kind)
{
    static const char *const names[KN_SCHEDULE_KINDS] = {"none", "flat", "strided"};
    return kind > 0 && kind < KN_SCHEDULE_KINDS ? names[kind] : names[0];
}

static bool is_dense(const kn_space *space, int operand, int item_size)
{
    int64_t run = item_size;
    for (int a = space->ndim; a-- > 0; run *= space->extent[a])
        if (space->stride[operand][a] != run)
            return false;
    return true;
}

/* Elements a thread so that each result is stored in one access of the widest size and no input takes more than four of them. */
static int wide_vector(const kn_access *access, int count, int width)
{
    int result = 1, input = 1;
    for (int o = 0; o < count; ++o) {
        int *widest = access[o].is_output ? &result : &input;
        if (access[o].item_size > *widest)
            *widest = access[o].item_size;
    }
    int vector = width / result;
    while (vector > 1 && vector * input > MAX_INPUT_BYTES)
        vector /= 2;
    return vector > 0 ? vector : 1;
}

/* The widest vector, at most `vector`, whose accesses all of the dense operands' addresses allow. */
static int aligned_vector(int vector, const kn_access *access, int count, bool outputs_alone, int width)
{
    for (int o = 0; o < count; ++o)
        while (vector > 1 && (access[o].is_output || !outputs_alone)) {
            int bytes = vector * access[o].item_size;
            if (access[o].alignment >= (bytes < width ? bytes : width))
                break;
            vector /= 2;
        }
    return vector;
}

static int rank_class(int ndim)
{
    return ndim <= 4 ? 4 : ndim <= 8 ? 8 : KILN_MAX_NDIM;
}

void kn_schedule_choose(kn_schedule *out, const kn_space *space, const kn_access *access, int count, const kn_target *target, int block)
{
    bool flat = true, dense_outputs = true;
    for (int o = 0; o < count; ++o) {
        bool dense = is_dense(space, o, access[o].item_size);
        flat = flat && dense;
        dense_outputs = dense_outputs && (dense || !access[o].is_output);
    }
    flat = flat && space->ndim == 1;
    *out = (kn_schedule){flat ? KN_FLAT : KN_STRIDED, 0, 0, flat ? 0 : rank_class(space->ndim)};
    if (target->backend == KN_HOST)
        return;
    int vector = wide_vector(access, count, target->vector_bytes);
    if (!flat && vector > MAX_STRIDED_VECTOR)
        vector = MAX_STRIDED_VECTOR;
    out->vector = flat || dense_outputs ? aligned_vector(vector, access, count, !flat, target->vector_bytes) : 1;
    out->block = block ? block : DEFAULT_BLOCK;
}
