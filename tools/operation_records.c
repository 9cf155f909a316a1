/* tools/operation_records.c - records of the table's operations, for the bundle that is installed with the
 * library (cmake/bake.cmake): each variant with its own dtypes, in the layouts that programs have most.
 * `kiln bake` compiles them.
 *
 *     operation_records FILE [LETTERS [NAME,NAME...]]
 *
 * LETTERS are the dtypes (NumPy's letters: "?lfd") that variants may have, for all inputs and outputs.
 *
 * Elementwise: contiguous arrays of one axis, small and large; a number by value in the place of each input
 * but one; a row beside a matrix. Reductions and scans: of all elements, along the last axis, along the
 * first. The baseline of elementwise operations, which takes any layout, comes with these. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln/kiln.h>

#include "types/dtype.h"

enum { MOST = 8, ROWS = 1000, COLUMNS = 1024, SMALL = 100 };

typedef struct job {
    FILE *out;
    const kiln_operation *operation;
    const char *letters; /* of dtypes; NULL: all */
    kiln_dtype in[MOST];
    int n_in, n_out;
    long lines, left_out;
} job;

/* ---- calls ---- */

/* The inputs of a call: bit i of `numbers` for a number as input i, of `rows` for a row. */
typedef struct layout {
    int ndim;
    unsigned numbers, rows;
    int axis; /* of reductions; -2: all */
    bool is_small;
} layout;

static bool make_input(kiln_arg *out, kiln_array **array, const job *j, const layout *l, int i)
{
    const int64_t whole[] = {ROWS, COLUMNS}, all = l->is_small ? SMALL : (int64_t)ROWS * COLUMNS;
    if (l->numbers >> i & 1) {
        *out = j->in[i] == KILN_BOOL ? kiln_arg_truth(true) : kiln_arg_int(1);
        return true;
    }
    bool is_row = l->ndim == 1 || l->rows >> i & 1;
    const int64_t *shape = l->ndim == 1 ? &all : is_row ? whole + 1 : whole;
    if (kiln_array_empty(array, j->in[i], is_row ? 1 : 2, shape, KILN_DEVICE_HOST) != KILN_OK)
        return false;
    *out = kiln_arg_array(*array);
    return true;
}

/* The lines of one call. A call that the operation refuses (a number where it wants an array) has none. */
static bool record_call(job *j, const layout *l)
{
    kiln_array *arrays[MOST] = {NULL}, *none[MOST] = {NULL};
    kiln_arg in[MOST];
    kiln_kernel *kernel = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    char *lines = NULL;
    bool done = kiln_operation_kernel(&kernel, j->operation->name, j->in, j->n_in) == KILN_OK;
    for (int i = 0; done && i < j->n_in; i++)
        done = make_input(&in[i], &arrays[i], j, l, i);
    if (j->operation->reduce && l->axis != -2) {
        options.axes = &l->axis;
        options.n_axes = 1;
    }
    done = done && kiln_kernel_record(&lines, kernel, none, j->n_out, in, j->n_in, &options) == KILN_OK;
    if (done) {
        fputs(lines, j->out);
        j->lines++;
    } else {
        j->left_out++;
    }
    kiln_free(lines);
    for (int i = 0; i < j->n_in; i++)
        kiln_array_free(arrays[i]);
    return done;
}

static void record_reduction(job *j)
{
    const unsigned numbers = ~1u; /* what else reductions take (ddof) is a number */
    for (int small = 0; small < 2; small++)
        record_call(j, &(layout){1, numbers, 0, -2, small});
    record_call(j, &(layout){2, numbers, 0, -1, false});
    record_call(j, &(layout){2, numbers, 0, 0, false});
}

static void record_elementwise(job *j)
{
    for (int small = 0; small < 2; small++)
        record_call(j, &(layout){1, 0, 0, -2, small});
    for (int i = 0; j->n_in > 1 && i < j->n_in; i++) {
        record_call(j, &(layout){1, 1u << i, 0, -2, false});
        record_call(j, &(layout){2, 0, 1u << i, -2, false});
    }
}

/* ---- the table ---- */

/* "ff->f": the dtypes of the inputs; false for a word that is none, or has dtypes that are not wanted. */
static bool read_inputs(job *j, const char *word)
{
    for (const char *c = word; j->letters && *c; c++)
        if (!strchr("->", *c) && !strchr(j->letters, *c))
            return false;
    for (j->n_in = 0; word[j->n_in] && word[j->n_in] != '-'; j->n_in++)
        if (j->n_in == MOST || !(j->in[j->n_in] = kn_dtype_of_letter(word[j->n_in])))
            return false;
    j->n_out = (int)strlen(word) - j->n_in - 2;
    return true;
}

static bool is_wanted(const char *name, const char *names)
{
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return !names;
}

static void record_operation(job *j)
{
    char types[4096];
    snprintf(types, sizeof types, "%s", j->operation->map ? j->operation->types : "");
    for (char *rest = types, *word; (word = strtok_r(rest, " ", &rest));)
        if (read_inputs(j, word))
            (j->operation->reduce ? record_reduction : record_elementwise)(j);
}

/* A name that no operation has is a mistake of who wrote the list. */
static bool are_known(const char *names)
{
    kiln_kernel *none = NULL;
    char list[4096];
    bool known = true;
    snprintf(list, sizeof list, "%s", names ? names : "");
    for (char *rest = list, *name; (name = strtok_r(rest, ",", &rest));)
        if (kiln_operation_kernel(&none, name, NULL, 0) == KILN_ERROR_NOT_FOUND) {
            fprintf(stderr, "operation_records: %s\n", kiln_error_message());
            known = false;
        }
    return known;
}

int main(int argc, char **argv)
{
    const char *names = argc > 3 && argv[3][0] ? argv[3] : NULL;
    job j = {.out = argc > 1 ? fopen(argv[1], "w") : NULL,
             .letters = argc > 2 && argv[2][0] ? argv[2] : NULL};
    if (!j.out) {
        fprintf(stderr, "usage: operation_records FILE [LETTERS [NAME,NAME...]]\n");
        return 2;
    }
    if (!are_known(names))
        return 1;
    for (int k = 0; k < kiln_operation_count(); k++) {
        kiln_operation o = KILN_OPERATION_INIT;
        if (kiln_operation_at(&o, k) != KILN_OK || !is_wanted(o.name, names))
            continue;
        j.operation = &o;
        record_operation(&j);
    }
    printf("%ld calls; %ld that operations refuse\n", j.lines, j.left_out);
    return fclose(j.out) == 0 && j.lines > 0 ? 0 : 1;
}
