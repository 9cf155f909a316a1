/* types/dtype.c - the table of dtypes, and reading their names. */
#include "types/dtype.h"
#include "base/error.h"
#include <string.h>

/* clang-format off */
static const kn_dtype_info table[] = {
    {KILN_DTYPE_NONE, "none",       '-', KN_KIND_BOOL,    0,  1,  NULL,   NULL,                 NULL,                 0},
    {KILN_BOOL,       "bool",       '?', KN_KIND_BOOL,    1,  1,  "|b1",  "bool",               "unsigned char",      6},
    {KILN_INT8,       "int8",       'b', KN_KIND_INT,     1,  1,  "|i1",  "signed char",        "signed char",        0},
    {KILN_INT16,      "int16",      'h', KN_KIND_INT,     2,  2,  "<i2",  "short",              "short",              0},
    {KILN_INT32,      "int32",      'i', KN_KIND_INT,     4,  4,  "<i4",  "int",                "int",                0},
    {KILN_INT64,      "int64",      'l', KN_KIND_INT,     8,  8,  "<i8",  "long long",          "long long",          0},
    {KILN_UINT8,      "uint8",      'B', KN_KIND_UINT,    1,  1,  "|u1",  "unsigned char",      "unsigned char",      1},
    {KILN_UINT16,     "uint16",     'H', KN_KIND_UINT,    2,  2,  "<u2",  "unsigned short",     "unsigned short",     1},
    {KILN_UINT32,     "uint32",     'I', KN_KIND_UINT,    4,  4,  "<u4",  "unsigned int",       "unsigned int",       1},
    {KILN_UINT64,     "uint64",     'L', KN_KIND_UINT,    8,  8,  "<u8",  "unsigned long long", "unsigned long long", 1},
    {KILN_FLOAT16,    "float16",    'e', KN_KIND_FLOAT,   2,  2,  "<f2",  "float16",            "float16",            2},
    {KILN_BFLOAT16,   "bfloat16",   'E', KN_KIND_FLOAT,   2,  2,  NULL,   "bfloat16",           "bfloat16",           4},
    {KILN_FLOAT32,    "float32",    'f', KN_KIND_FLOAT,   4,  4,  "<f4",  "float",              "float",              2},
    {KILN_FLOAT64,    "float64",    'd', KN_KIND_FLOAT,   8,  8,  "<f8",  "double",             "double",             2},
    {KILN_COMPLEX64,  "complex64",  'F', KN_KIND_COMPLEX, 8,  8,  "<c8",  "complex<float>",     "complex<float>",     5},
    {KILN_COMPLEX128, "complex128", 'D', KN_KIND_COMPLEX, 16, 16, "<c16", "complex<double>",    "complex<double>",    5},
};

/* Names that numpy.dtype() takes beside those above. */
static const struct alias {
    const char *name;
    kiln_dtype dtype;
} aliases[] = {
    {"int", KILN_INT64},      {"uint", KILN_UINT64},    {"float", KILN_FLOAT64},      {"complex", KILN_COMPLEX128},
    {"half", KILN_FLOAT16},   {"single", KILN_FLOAT32}, {"double", KILN_FLOAT64},     {"intp", KILN_INT64},
    {"csingle", KILN_COMPLEX64}, {"cdouble", KILN_COMPLEX128}, {"uintp", KILN_UINT64},
};
/* clang-format on */

enum { TABLE_COUNT = sizeof table / sizeof table[0], ALIAS_COUNT = sizeof aliases / sizeof aliases[0] };
_Static_assert((int)TABLE_COUNT == KN_DTYPE_END, "KN_DTYPE_END");

const kn_dtype_info *kn_dtype_info_of(kiln_dtype dtype)
{
    return dtype > 0 && (unsigned)dtype < TABLE_COUNT ? &table[dtype] : NULL;
}

bool kn_dtype_is_half(kiln_dtype dtype)
{
    return dtype == KILN_FLOAT16 || dtype == KILN_BFLOAT16;
}

bool kn_dtype_is_complex(kiln_dtype dtype)
{
    return dtype == KILN_COMPLEX64 || dtype == KILN_COMPLEX128;
}

const char *kiln_dtype_name(kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    return info ? info->name : "none";
}

size_t kiln_dtype_size(kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    return info ? info->size : 0;
}

kiln_dtype kn_dtype_find(const char *name, size_t length)
{
    for (int i = 1; i < TABLE_COUNT; i++)
        if (strlen(table[i].name) == length && !memcmp(table[i].name, name, length))
            return table[i].dtype;
    for (int i = 0; i < ALIAS_COUNT; i++)
        if (strlen(aliases[i].name) == length && !memcmp(aliases[i].name, name, length))
            return aliases[i].dtype;
    return KILN_DTYPE_NONE;
}

/* "f4" for "<f4" of the table. The table has the order mark first. */
static kiln_dtype find_code(const char *code)
{
    for (int i = 1; i < TABLE_COUNT; i++)
        if (table[i].npy && !strcmp(table[i].npy + 1, code))
            return table[i].dtype;
    return strcmp(code, "?") == 0 ? KILN_BOOL : KILN_DTYPE_NONE;
}

kiln_dtype kn_dtype_of_letter(char letter)
{
    for (int i = 1; i < TABLE_COUNT; i++)
        if (table[i].letter == letter)
            return table[i].dtype;
    return KILN_DTYPE_NONE;
}

kiln_dtype kn_dtype_of_bits(int size)
{
    static const struct {
        int size;
        kiln_dtype dtype;
    } bits[] = {{1, KILN_UINT8}, {2, KILN_UINT16}, {4, KILN_UINT32}, {8, KILN_UINT64}};
    for (size_t b = 0; b < sizeof bits / sizeof bits[0]; ++b)
        if (bits[b].size == size)
            return bits[b].dtype;
    return KILN_COMPLEX128;
}

static kiln_status refuse_name(const char *name)
{
    const char *code = name + (*name && strchr("<>=|", *name) != NULL);
    if (*name == '>' && find_code(code))
        return kn_error(KILN_ERROR_TYPE, "dtype '%s' is big-endian: only little-endian data is supported",
                        name);
    if (!strcmp(code, "O") || !strcmp(code, "object"))
        return kn_error(KILN_ERROR_TYPE, "dtype '%s' holds Python objects, which have no meaning here", name);
    return kn_error(KILN_ERROR_TYPE,
                    "unknown dtype '%s': expected one of bool, int8 to int64, uint8 to uint64, float16, "
                    "bfloat16, float32, float64, complex64, complex128",
                    name);
}

kiln_status kiln_dtype_from_name(kiln_dtype *out, const char *name)
{
    if (!out || !name)
        return kn_error(KILN_ERROR_INVALID, "kiln_dtype_from_name: %s is NULL", out ? "name" : "out");
    kiln_dtype dtype = kn_dtype_find(name, strlen(name));
    if (!dtype) {
        dtype = find_code(name + (*name && strchr("<=|", *name) != NULL));
        /* One-byte elements have no byte order, so that ">u1" is as good as "|u1". */
        if (!dtype && *name == '>' && kiln_dtype_size(find_code(name + 1)) == 1)
            dtype = find_code(name + 1);
    }
    if (!dtype)
        return refuse_name(name);
    *out = dtype;
    return KILN_OK;
}
