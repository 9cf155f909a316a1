/* types/promotion.c - NumPy 2's promotion, by kind and width. */
#include "types/dtype.h"
#include "base/error.h"

static kiln_dtype integer_of(kn_dtype_kind kind, int size)
{
    kiln_dtype first = kind == KN_KIND_INT ? KILN_INT8 : KILN_UINT8;
    return (kiln_dtype)(first + (size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3));
}

static kiln_dtype promote_integers(const kn_dtype_info *a, const kn_dtype_info *b)
{
    if (a->kind == b->kind)
        return a->size >= b->size ? a->dtype : b->dtype;
    const kn_dtype_info *u = a->kind == KN_KIND_UINT ? a : b, *s = u == a ? b : a;
    if (s->size > u->size)
        return s->dtype;
    return u->size == 8 ? KILN_FLOAT64 : integer_of(KN_KIND_INT, u->size * 2);
}

/* The narrowest float that NumPy takes to hold an integer of this width. */
static int float_size_for(const kn_dtype_info *info)
{
    if (info->kind == KN_KIND_FLOAT)
        return info->size;
    if (info->kind == KN_KIND_COMPLEX)
        return info->size / 2;
    return info->kind == KN_KIND_BOOL || info->size == 1 ? 2 : info->size == 2 ? 4 : 8;
}

static kiln_dtype promote_floats(const kn_dtype_info *a, const kn_dtype_info *b)
{
    int sa = float_size_for(a), sb = float_size_for(b), size = sa > sb ? sa : sb;
    if (a->kind == KN_KIND_COMPLEX || b->kind == KN_KIND_COMPLEX)
        return size == 8 ? KILN_COMPLEX128 : KILN_COMPLEX64;
    if (size == 2) { /* two different halves have only float32 in common */
        bool both = a->kind == KN_KIND_FLOAT && b->kind == KN_KIND_FLOAT && a->dtype != b->dtype;
        return both ? KILN_FLOAT32 : a->kind == KN_KIND_FLOAT ? a->dtype : b->dtype;
    }
    return size == 8 ? KILN_FLOAT64 : KILN_FLOAT32;
}

static kiln_dtype promote(const kn_dtype_info *a, const kn_dtype_info *b)
{
    if (a == b || b->kind == KN_KIND_BOOL)
        return a->dtype;
    if (a->kind == KN_KIND_BOOL)
        return b->dtype;
    if (a->kind <= KN_KIND_UINT && b->kind <= KN_KIND_UINT)
        return promote_integers(a, b);
    return promote_floats(a, b);
}

kiln_status kiln_dtype_promote(kiln_dtype *out, kiln_dtype a, kiln_dtype b)
{
    const kn_dtype_info *ia = kn_dtype_info_of(a), *ib = kn_dtype_info_of(b);
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_dtype_promote: out is NULL");
    if (!ia || !ib)
        return kn_error(KILN_ERROR_TYPE, "kiln_dtype_promote: %d is no dtype", ia ? (int)b : (int)a);
    *out = promote(ia, ib);
    return KILN_OK;
}

kiln_dtype kn_promote_all(const kiln_dtype *dtype, size_t apart, int count)
{
    const kn_dtype_info *common = NULL;
    for (int integers = 0; integers < 2; ++integers)
        for (int k = 0; k < count; ++k) {
            const kn_dtype_info *info = kn_dtype_info_of(
                *(const kiln_dtype *)(const void *)((const char *)dtype + apart * (size_t)k));
            if (info && (info->kind <= KN_KIND_UINT) == (integers == 1))
                common = kn_dtype_info_of(common ? promote(common, info) : info->dtype);
        }
    return common ? common->dtype : KILN_DTYPE_NONE;
}

bool kiln_dtype_can_cast(kiln_dtype from, kiln_dtype to)
{
    const kn_dtype_info *f = kn_dtype_info_of(from), *t = kn_dtype_info_of(to);
    /* NumPy's safe casts are exactly those whose target is the common type. */
    return f && t && promote(f, t) == to;
}

kiln_dtype kn_weak_dtype(const kiln_arg *arg)
{
    switch ((kiln_arg_kind)arg->kind) {
    case KILN_ARG_WEAK_BOOL:
        return KILN_BOOL;
    case KILN_ARG_WEAK_INT:
        return KILN_INT64;
    case KILN_ARG_WEAK_UINT:
        return arg->value.u > INT64_MAX ? KILN_UINT64 : KILN_INT64;
    case KILN_ARG_WEAK_FLOAT:
        return KILN_FLOAT64;
    case KILN_ARG_WEAK_COMPLEX:
        return KILN_COMPLEX128;
    default:
        return KILN_DTYPE_NONE;
    }
}

kiln_dtype kn_weak_promote(kiln_dtype dtype, kiln_arg_kind weak)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    if (!info)
        return KILN_DTYPE_NONE;
    if (weak == KILN_ARG_WEAK_INT || weak == KILN_ARG_WEAK_UINT)
        return info->kind == KN_KIND_BOOL ? KILN_INT64 : dtype;
    if (weak == KILN_ARG_WEAK_FLOAT)
        return info->kind <= KN_KIND_UINT ? KILN_FLOAT64 : dtype;
    if (weak == KILN_ARG_WEAK_COMPLEX && info->kind != KN_KIND_COMPLEX)
        return info->kind == KN_KIND_FLOAT && info->size < 8 ? KILN_COMPLEX64 : KILN_COMPLEX128;
    return dtype;
}

kiln_dtype kn_promote_scalars(const kiln_arg *in, uint64_t counted, int count)
{
    kiln_dtype typed[64] = {KILN_DTYPE_NONE};
    for (int k = 0; k < count; ++k)
        if (counted >> k & 1 && in[k].kind == KILN_ARG_TYPED)
            typed[k] = (kiln_dtype)in[k].dtype;
    kiln_dtype common = kn_promote_all(typed, sizeof *typed, count);
    for (int k = 0; k < count; ++k)
        if (counted >> k & 1 && in[k].kind != KILN_ARG_TYPED)
            common = common ? kn_weak_promote(common, (kiln_arg_kind)in[k].kind) : kn_weak_dtype(&in[k]);
    return common;
}
