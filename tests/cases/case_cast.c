/* Casts of values, every dtype to every dtype, against the table that NumPy made (tests/data/promotion.txt):
 * as the C cast of a kernel's text, and as the assignment to an output. */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table is part of the program, which may run far from the tree. */
__asm__(".pushsection .rodata\n"
        "cast_table:\n"
        ".incbin \"" CAST_TABLE "\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char cast_table[];

enum { ROWS = 128, ITEM = 16 };

static int last_dtype(void)
{
    int d = KILN_BOOL;
    while (kiln_dtype_size((kiln_dtype)(d + 1)) > 0)
        ++d;
    return d;
}

/* The numbers of one source dtype: by target, elements before and after. */
typedef struct cast_column {
    int rows;
    unsigned char from[ROWS * ITEM], to[ROWS * ITEM], got[ROWS * ITEM];
} cast_column;

static kiln_dtype dtype_named(const char *name)
{
    kiln_dtype dtype = KILN_DTYPE_NONE;
    succeeded(kiln_dtype_from_name(&dtype, name), name);
    return dtype;
}

static void from_hex(unsigned char *out, const char *hex)
{
    for (size_t k = 0; hex[2 * k]; ++k) {
        const char digits[3] = {hex[2 * k], hex[2 * k + 1], 0};
        out[k] = (unsigned char)strtoul(digits, NULL, 16);
    }
}

/* columns[target] for the lines that cast from source. */
static int read_table(cast_column *columns, kiln_dtype source)
{
    char name[40], target[40], before[40], after[40];
    int count = 0;
    for (const char *at = cast_table; at && *at; at = strchr(at, '\n'), at = at ? at + 1 : NULL) {
        if (sscanf(at, "cast %39s %39s %39s %39s", name, target, before, after) != 4 ||
            strcmp(name, kiln_dtype_name(source)) != 0)
            continue;
        kiln_dtype to = dtype_named(target);
        cast_column *c = &columns[to];
        if (!trouble_unless(c->rows < ROWS, "more than %d lines from %s to %s", ROWS, name, target))
            return 0;
        from_hex(c->from + (size_t)c->rows * kiln_dtype_size(source), before);
        from_hex(c->to + (size_t)c->rows++ * kiln_dtype_size(to), after);
        ++count;
    }
    return count;
}

/* All columns become as long as the longest, by their first line again. */
static int fill_up(cast_column *columns, kiln_dtype source)
{
    int longest = 0;
    for (int to = KILN_BOOL; to <= last_dtype(); ++to)
        longest = columns[to].rows > longest ? columns[to].rows : longest;
    for (int to = KILN_BOOL; to <= last_dtype(); ++to) {
        cast_column *c = &columns[to];
        size_t from_size = kiln_dtype_size(source), to_size = kiln_dtype_size((kiln_dtype)to);
        for (; c->rows > 0 && c->rows < longest; ++c->rows) {
            memcpy(c->from + (size_t)c->rows * from_size, c->from, from_size);
            memcpy(c->to + (size_t)c->rows * to_size, c->to, to_size);
        }
    }
    return longest;
}

static void compare_column(const cast_column *c, kiln_dtype source, kiln_dtype to)
{
    size_t size = kiln_dtype_size(to);
    for (size_t row = 0; row < (size_t)c->rows; ++row)
        if (!trouble_unless(elements_agree(c->got + row * size, c->to + row * size, to, 0),
                            "%s %s as %s is %s, NumPy has %s", kiln_dtype_name(source),
                            element_text(c->from + row * kiln_dtype_size(source), source),
                            kiln_dtype_name(to), element_text(c->got + row * size, to),
                            element_text(c->to + row * size, to)))
            return;
}

/* The type's name in a kernel's text. */
static const char *type_text(kiln_dtype dtype)
{
    return dtype == KILN_COMPLEX64    ? "complex<float>"
           : dtype == KILN_COMPLEX128 ? "complex<double>"
                                      : kiln_dtype_name(dtype);
}

/* One kernel casts to all targets; each has an input of its own, with the values whose cast is defined. */
static void cast_from(kiln_dtype source, bool is_explicit)
{
    cast_column *columns = calloc((size_t)last_dtype() + 1, sizeof *columns);
    values v = VALUES_INIT;
    char in[1024] = "", out[1024] = "", body[2048] = "", line[128];
    trouble_unless(read_table(columns, source) > 20, "the table has no casts from %s",
                   kiln_dtype_name(source));
    int n = fill_up(columns, source);
    for (int to = KILN_BOOL; to <= last_dtype(); ++to) {
        const char *comma = v.n_in ? ", " : "", *name = kiln_dtype_name((kiln_dtype)to);
        if (columns[to].rows == 0)
            continue;
        values_in(&v, source, columns[to].from);
        values_out(&v, (kiln_dtype)to, columns[to].got);
        snprintf(in + strlen(in), sizeof in - strlen(in), "%s%s x%d", comma, kiln_dtype_name(source), to);
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s%s y%d", comma, name, to);
        if (is_explicit)
            snprintf(line, sizeof line, "y%d = (%s)x%d; ", to, type_text((kiln_dtype)to), to);
        else
            snprintf(line, sizeof line, "y%d = x%d; ", to, to);
        strcat(body, line);
    }
    if (!in_trouble() && values_run(&v, in, out, body, n))
        for (int to = KILN_BOOL; to <= last_dtype(); ++to)
            compare_column(&columns[to], source, (kiln_dtype)to);
    free(columns);
}

static void cast_one(kiln_dtype source, kiln_dtype to)
{
    cast_column *columns = calloc((size_t)last_dtype() + 1, sizeof *columns), *c = &columns[to];
    values v = VALUES_INIT;
    read_table(columns, source);
    values_in(&v, source, c->from);
    values_out(&v, to, c->got);
    if (c->rows > 0 && !in_trouble() && values_run(&v, "X x", "Y y", "y = (Y)x", c->rows))
        compare_column(c, source, to);
    free(columns);
}

static void explicit_casts(void)
{
    for (int source = KILN_BOOL; source <= last_dtype() && !in_trouble(); ++source)
        if (is_run_here((size_t)source, 4))
            cast_from((kiln_dtype)source, true);
}

static void assignments(void)
{
    static const kiln_dtype sources[] = {KILN_BOOL,    KILN_INT8,     KILN_INT64,   KILN_UINT64,
                                         KILN_FLOAT16, KILN_BFLOAT16, KILN_FLOAT64, KILN_COMPLEX128};
    for (size_t s = 0; s < sizeof sources / sizeof sources[0] && !in_trouble(); ++s)
        if (is_run_here(100 + s, 4))
            cast_from(sources[s], false);
}

static void by_letters(void)
{
    static const kiln_dtype pairs[][2] = {{KILN_FLOAT32, KILN_FLOAT16},    {KILN_FLOAT64, KILN_BFLOAT16},
                                          {KILN_UINT64, KILN_FLOAT16},     {KILN_FLOAT16, KILN_INT32},
                                          {KILN_BFLOAT16, KILN_COMPLEX64}, {KILN_COMPLEX128, KILN_COMPLEX64},
                                          {KILN_BOOL, KILN_BFLOAT16},      {KILN_INT64, KILN_BOOL}};
    for (size_t p = 0; p < sizeof pairs / sizeof pairs[0] && !in_trouble(); ++p)
        if (is_run_here(200 + p, 4))
            cast_one(pairs[p][0], pairs[p][1]);
}

const test_case cast_cases[] = {
    {"explicit_casts", explicit_casts, 0},
    {"assignments", assignments, 0},
    {"by_letters", by_letters, 0},
    {NULL, NULL, 0},
};
