/* NumPy's mgrid and ogrid, composed of ranges. */
#include "expr/grids.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "expr/call.h"
#include "expr/composed.h"

enum { MOST_SLICES = 16 };

bool kn_grid_is(bool *is_open, const char *name, size_t length)
{
    *is_open = name[0] == 'o';
    return length == strlen("mgrid") && (name[0] == 'm' || name[0] == 'o') &&
           memcmp(name + 1, "grid", 4) == 0;
}

typedef struct grid {
    char letter[MOST_SLICES * KN_GRID_PARTS][8]; /* names of the parts that are given */
    const char *name[MOST_SLICES * KN_GRID_PARTS];
    kn_value slot[MOST_SLICES * KN_GRID_PARTS];
    int n_names;
} grid;

/* An imaginary step is a number of elements, of which the last one is the stop. */
static bool is_count(double *count, const kn_parser *p, const kn_value *step)
{
    const kiln_arg *number = kn_parser_is_number(p, step) ? &p->graph->node[step->node].number : NULL;
    if (!number || number->kind != KILN_ARG_WEAK_COMPLEX)
        return false;
    *count = floor(hypot(number->value.d[0], number->value.d[1]));
    return true;
}

static const char *part_of(grid *g, const kn_value *value, const char *usual)
{
    if (value->kind == KN_VALUE_ABSENT)
        return usual;
    char *name = g->letter[g->n_names];
    snprintf(name, sizeof g->letter[0], "v%d", g->n_names);
    g->slot[g->n_names] = *value;
    g->slot[g->n_names].key_length = 0;
    return g->name[g->n_names++] = name;
}

/* The numbers of one slice. NumPy multiplies, so that the last one is not exactly the stop. */
static kiln_status put_slice(kn_str *text, grid *g, const kn_parser *p, const kn_value *part, bool is_one)
{
    double count;
    if (part[1].kind == KN_VALUE_ABSENT)
        return kn_parser_refuse(p, part[1].at, part[1].length, "a slice needs its stop here");
    const char *start = part_of(g, &part[0], "0"), *stop = part_of(g, &part[1], NULL);
    if (is_count(&count, p, &part[2])) {
        if (!(count >= 0 && count < 0x1p53))
            return kn_parser_refuse(p, part[2].at, part[2].length, "too many elements");
        kn_str_printf(text, "arange(%.0f) * 1.0", count);
        if (count != 1)
            kn_str_printf(text, " * ((%s - %s) / %.1f)", stop, start, count - 1);
        kn_str_printf(text, " + %s", start);
        return KILN_OK;
    }
    const char *step = part_of(g, &part[2], "1");
    kn_str_printf(text, is_one ? "arange(%s, %s, %s)" : "arange(len(arange(%s, %s, %s)))", start, stop, step);
    if (!is_one)
        kn_str_printf(text, " * %s + %s", step, start);
    return KILN_OK;
}

/* All numbers have the dtype of all parts: that of z. */
static kiln_status put_slices(kn_str *text, grid *g, const kn_parser *p, const kn_called *c, bool is_open)
{
    kn_str parts = KN_STR_INIT;
    kiln_status status = KILN_OK;
    double count;
    kn_str_append(text, "z = 0");
    for (int k = 0; k < c->count && status == KILN_OK; k += KN_GRID_PARTS) {
        const kn_value *part = &p->argument[c->first + k];
        kn_str_append(&parts, "where(True, ");
        status = put_slice(&parts, g, p, part, false);
        kn_str_append(&parts, ", z), ");
        kn_str_append(text, is_count(&count, p, &part[2]) ? " + 0.0" : "");
    }
    for (int k = 0; k < g->n_names; ++k)
        kn_str_printf(text, " + 0 * %s", g->name[k]);
    const bool is_one = c->count == KN_GRID_PARTS; /* of which meshgrid makes no tuple */
    kn_str_printf(text,
                  is_open  ? "; meshgrid(%sindexing='ij', sparse=True)"
                  : is_one ? "; meshgrid(%sindexing='ij')[None]"
                           : "; stack(meshgrid(%sindexing='ij'))",
                  kn_str_text(&parts));
    if (status == KILN_OK)
        status = kn_str_status(&parts, "the slices of a grid");
    kn_str_free(&parts);
    return status;
}

kiln_status kn_grid_add(kn_value *out, kn_parser *p, const kn_called *c, bool is_open, bool is_one)
{
    kn_str text = KN_STR_INIT;
    if (c->count > MOST_SLICES * KN_GRID_PARTS)
        return kn_call_refuse(p, c, "more slices were given than a grid has axes");
    grid *g = kn_calloc(1, sizeof *g);
    if (!g)
        return kn_error_memory("a grid");
    kiln_status status =
        is_one ? put_slice(&text, g, p, &p->argument[c->first], true) : put_slices(&text, g, p, c, is_open);
    if (status == KILN_OK)
        status = kn_str_status(&text, "a grid");
    if (status == KILN_OK)
        status = kn_compose(out, p, c, kn_str_text(&text), g->name, g->slot, g->n_names);
    kn_free(g);
    kn_str_free(&text);
    return status;
}
