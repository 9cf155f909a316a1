/* infer_text.h - what inference says of expressions, as text: for tests, and for comparing with NumPy.
 * Arguments: "float32[3,4]" is an array, "float32[]" one without axes, "float32" a number of a dtype,
 * "~float64" a weak number. Results are written alike. */
#ifndef INFER_TEXT_H
#define INFER_TEXT_H

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/str.h"
#include "graph/infer.h"
#include "types/dtype.h"

enum { INFER_ARGUMENTS = 64 };

typedef struct infer_arguments {
    kn_argument list[INFER_ARGUMENTS];
    int64_t shape[INFER_ARGUMENTS][KILN_MAX_NDIM];
} infer_arguments;

/* Arguments separated by blanks. */
static void infer_read(infer_arguments *out, const char *text)
{
    memset(out, 0, sizeof *out);
    for (int k = 0; *(text += strspn(text, " ")) && k < INFER_ARGUMENTS; ++k) {
        kn_argument *a = &out->list[k];
        a->is_weak = *text == '~';
        text += a->is_weak;
        size_t length = strcspn(text, " [");
        a->dtype = kn_dtype_find(text, length);
        text += length;
        a->is_scalar = *text != '[';
        a->shape = out->shape[k];
        if (a->is_scalar)
            continue;
        for (++text; *text && *text != ']'; text += *text == ',') {
            char *end;
            out->shape[k][a->ndim++] = strtoll(text, &end, 10);
            text = end;
        }
        text += *text == ']';
    }
}

static void infer_write(kn_str *out, const kn_typed *t)
{
    kn_str_printf(out, "%s%s", t->is_weak ? "~" : "", kiln_dtype_name(t->dtype));
    if (t->is_scalar)
        return;
    for (int a = 0; a < t->ndim; ++a)
        kn_str_printf(out, "%s%lld", a > 0 ? "," : "[", (long long)t->shape[a]);
    kn_str_append(out, t->ndim > 0 ? "]" : "[]");
}

/* "float32[3,4] int64[]" of the results; *out stays as it is on failure. */
static kiln_status infer_results(kn_str *out, const kn_graph *graph, const char *arguments)
{
    infer_arguments a;
    kn_typed *typed = NULL;
    infer_read(&a, arguments);
    kiln_status status = kn_graph_infer(&typed, graph, a.list);
    for (int r = 0; r < graph->n_out && status == KILN_OK; ++r) {
        kn_str_append(out, r > 0 ? " " : "");
        infer_write(out, &typed[graph->out[r]]);
    }
    kn_free(typed);
    return status;
}

#endif
