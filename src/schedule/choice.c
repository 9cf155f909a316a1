/* schedule/choice.c - contiguity, alignment and vector sizes of operands, by which kinds choose (CUDA). */
#include "schedule/choice.h"

#include <stdlib.h>

enum {
    DEFAULT_BLOCK = 256,    /* threads */
    MAX_INPUT_BYTES = 64,   /* of one thread and operand */
    STAGED_AXES = 6,        /* axes of a kernel beside those of the space, at most */
    NEAR = 16 << 10,        /* bytes of an input that stay in a multiprocessor's cache; */
    LARGER = 16,            /* another input has so many times as many */
    MAX_EXTENT = 0x7fffffff /* the largest dividend of 32-bit divisions */
};

int kn_choice_inner(const kn_choice *c)
{
    return c->space->ndim - 1;
}

int kn_choice_block(const kn_choice *c)
{
    return c->block ? c->block : DEFAULT_BLOCK;
}

bool kn_choice_is_contiguous(const kn_space *space, int o, int64_t stride)
{
    for (int a = space->ndim; a-- > 0; stride *= space->extent[a])
        if (space->stride[o][a] != stride)
            return false;
    return true;
}

bool kn_choice_is_dense(const kn_choice *c, int o)
{
    return kn_choice_is_contiguous(c->space, o, c->access[o].item_size);
}

bool kn_choice_is_flat(const kn_choice *c)
{
    if (c->space->ndim != 1 ||
        (c->space->indices && !kn_choice_is_contiguous(c->space, c->space->n_operands - 1, 1)))
        return false;
    for (int o = 0; o < c->count; ++o)
        if (!kn_choice_is_dense(c, o))
            return false;
    return true;
}

int kn_choice_widest(const kn_choice *c, bool outputs)
{
    int size = 0;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output == outputs && c->access[o].item_size > size)
            size = c->access[o].item_size;
    return size;
}

int kn_choice_inputs(const kn_choice *c)
{
    int inputs = 0;
    for (int o = 0; o < c->count; ++o)
        inputs += !c->access[o].is_output;
    return inputs;
}

int kn_choice_input_bytes(const kn_choice *c)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += c->access[o].is_output ? 0 : c->access[o].item_size;
    return bytes;
}

int kn_choice_vector(const kn_choice *c)
{
    int result = kn_choice_widest(c, true), input = kn_choice_widest(c, false);
    if (result == 0)
        return 1;
    int vector = c->target->vector_bytes / result;
    while (vector > 1 && vector * input > MAX_INPUT_BYTES)
        vector /= 2;
    return vector > 0 ? vector : 1;
}

int kn_choice_alignment(const kn_choice *c, int o, int vector)
{
    int bytes = vector * c->access[o].item_size;
    return bytes < c->target->vector_bytes ? bytes : c->target->vector_bytes;
}

bool kn_choice_is_aligned(const kn_choice *c, int o, int but, int64_t bytes)
{
    bool is = c->access[o].address % (uintptr_t)bytes == 0;
    for (int a = 0; a < c->space->ndim; ++a)
        is = is && (a == but || c->space->stride[o][a] % bytes == 0);
    return is;
}

int64_t kn_choice_footprint(const kn_choice *c, int o)
{
    int64_t bytes = c->access[o].item_size;
    for (int a = 0; a < c->space->ndim; ++a)
        bytes *= c->space->stride[o][a] != 0 ? c->space->extent[a] : 1;
    return bytes;
}

bool kn_choice_stays_near(const kn_choice *c, int o)
{
    int64_t bytes = kn_choice_footprint(c, o), most = 0;
    for (int other = 0; other < c->count; ++other)
        if (!c->access[other].is_output)
            most = kn_choice_footprint(c, other) > most ? kn_choice_footprint(c, other) : most;
    return bytes <= NEAR && bytes <= most / LARGER;
}

bool kn_choice_is_vector(const kn_choice *c, int o, int vector)
{
    const kn_space *s = c->space;
    int alignment = kn_choice_alignment(c, o, vector), inner = kn_choice_inner(c);
    if (s->stride[o][inner] == 0 && s->extent[inner] % vector == 0 && !c->access[o].is_output)
        return true;
    return s->stride[o][inner] == c->access[o].item_size && s->extent[inner] % vector == 0 &&
           kn_choice_is_aligned(c, o, inner, alignment);
}

bool kn_choice_has_vector_input(const kn_choice *c, int vector)
{
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && kn_choice_is_vector(c, o, vector))
            return true;
    return false;
}

int kn_choice_misalignment(const kn_choice *c, int vector)
{
    int misalignment = -1;
    for (int o = 0; o < c->count; ++o) {
        if (!c->access[o].is_output)
            continue;
        int own = (int)(c->access[o].address % (uintptr_t)kn_choice_alignment(c, o, vector)) /
                  c->access[o].item_size;
        if (misalignment >= 0 && own != misalignment)
            return -1;
        misalignment = own;
    }
    return misalignment < 0 ? 0 : misalignment;
}

bool kn_choice_agrees(const kn_choice *c, int o, int vector, int misalignment)
{
    uintptr_t address = c->access[o].address - (uintptr_t)(misalignment * c->access[o].item_size);
    return address % (uintptr_t)kn_choice_alignment(c, o, vector) == 0;
}

bool kn_choice_is_near(const kn_choice *c, int vector)
{
    for (int o = 0; o < c->space->n_operands; ++o)
        if (llabs(c->space->stride[o][kn_choice_inner(c)]) > KN_MAX_OFFSET / (2 * vector))
            return false;
    return true;
}

int kn_choice_rank(int ndim)
{
    return ndim <= 8 ? 8 : KILN_MAX_NDIM;
}

/* ---- inputs that are contiguous along another axis than the results ---- */

int kn_choice_contiguous_axis(const kn_choice *c, int o)
{
    int inner = kn_choice_inner(c);
    int64_t item = c->access[o].item_size;
    if (c->space->stride[o][inner] == item || c->space->stride[o][inner] == 0)
        return -1;
    for (int a = inner; a-- > 0;)
        if (c->space->stride[o][a] == item && c->space->extent[a] > 1)
            return a;
    return -1;
}

int kn_choice_next_of_results(const kn_choice *c)
{
    int next = -1, inner = kn_choice_inner(c);
    for (int o = 0; o < c->count; ++o) {
        if (!c->access[o].is_output)
            continue;
        int own = kn_space_next_axis(c->space, o, inner);
        if (own < 0 || (next >= 0 && own != next))
            return -1;
        next = own;
    }
    return next;
}

bool kn_choice_is_narrow(const kn_choice *c, int axis)
{
    int64_t extent = c->space->extent[axis];
    for (int o = 0; o < c->space->n_operands; ++o)
        if (llabs(c->space->stride[o][axis]) * (extent - 1) > KN_MAX_OFFSET / 2)
            return false;
    return extent <= KN_MOST_CHANNELS;
}

int64_t kn_choice_side(const kn_choice *c, int o, int axis)
{
    int next = kn_space_next_axis(c->space, o, axis);
    return c->space->extent[axis] * (next < 0 ? 1 : c->space->extent[next]);
}

static int find_transposed(const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && !kn_choice_stays_near(c, o) && kn_choice_contiguous_axis(c, o) >= 0)
            return kn_choice_contiguous_axis(c, o);
    return -1;
}

int kn_choice_transposed_axis(const kn_choice *c)
{
    int axis = find_transposed(c);
    return axis < 0 || c->space->size == 0 || c->space->ndim + STAGED_AXES > KN_STAGED_RANK ||
                   c->space->extent[axis] < KN_SHORTEST_SIDE ||
                   c->space->extent[kn_choice_inner(c)] < KN_SHORTEST_SIDE
               ? -1
               : axis;
}

bool kn_choice_fits_transposed(const kn_choice *c, int axis, int vector)
{
    for (int o = 0; o < c->space->n_operands; ++o)
        if (llabs(c->space->stride[o][axis]) > KN_MAX_OFFSET / (2 * vector))
            return false;
    for (int a = 0; a < c->space->ndim; ++a)
        if (c->space->extent[a] > MAX_EXTENT)
            return false;
    return true;
}
