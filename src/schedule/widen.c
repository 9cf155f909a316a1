/* schedule/widen.c - turns copies of short contiguous ranges into copies of fewer, wider elements. */
#include "schedule/widen.h"

#include "program/pure.h"
#include "types/dtype.h"

enum {
    LONGEST_RANGE = 16, /* elements: vectors move longer ones as fast */
    WIDEST = 16         /* bytes of an element */
};

/* The element of a 16-bit float, converted to float32 and back, is the same: a copy converts none. */
static void leave_halves(kn_spec *spec)
{
    kn_operand *x = &spec->operand[0], *y = &spec->operand[1];
    if (kn_body_assigns(spec->program) && x->pass == KN_PASS_ARRAY && y->pass == KN_PASS_ARRAY &&
        kn_dtype_is_half(x->dtype) && x->dtype == y->dtype && x->seen == KILN_FLOAT32 &&
        y->seen == KILN_FLOAT32)
        x->seen = y->seen = x->dtype;
}

static bool is_copy_of_one_type(const kn_spec *spec)
{
    const kn_operand *x = &spec->operand[0], *y = &spec->operand[1];
    return kn_body_is_copy(spec->program) && x->pass == KN_PASS_ARRAY && y->pass == KN_PASS_ARRAY &&
           x->dtype == y->dtype && x->seen == x->dtype && y->seen == y->dtype;
}

/* True if contiguous ranges are whole elements of `size` bytes, and all of these lie at multiples of it. */
static bool is_made_of(const kn_space *space, const kn_access *access, int size)
{
    int inner = space->ndim - 1, item = access[0].item_size;
    uint64_t places = access[0].address | access[1].address | (uint64_t)(space->extent[inner] * item);
    for (int o = 0; o < 2; ++o)
        for (int a = 0; a < inner; ++a)
            places |= (uint64_t)space->stride[o][a];
    return places % (uint64_t)size == 0;
}

static void set_elements(kn_spec *spec, kn_space *space, kn_access *access, int size)
{
    int inner = space->ndim - 1, together = size / access[0].item_size;
    space->extent[inner] /= together;
    space->size /= together;
    for (int o = 0; o < 2; ++o) {
        space->stride[o][inner] = size;
        access[o].item_size = size;
        spec->operand[o].dtype = spec->operand[o].seen = kn_dtype_of_bits(size);
    }
    space->ndim -= space->extent[inner] == 1;
}

void kn_spec_widen(kn_spec *spec, kn_space *space, kn_access *access)
{
    leave_halves(spec);
    int inner = space->ndim - 1, item = access[0].item_size;
    if (space->ndim < 2 || space->size == 0 || space->extent[inner] > LONGEST_RANGE ||
        !is_copy_of_one_type(spec) || space->stride[0][inner] != item || space->stride[1][inner] != item)
        return;
    int size = WIDEST;
    while (size > item && !is_made_of(space, access, size))
        size /= 2;
    if (size > item)
        set_elements(spec, space, access, size);
}
