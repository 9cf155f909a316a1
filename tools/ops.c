/*
 * ops.c - writes kiln/ops.h and kiln/ops.hpp: a function for each operation of the table, and for each
 * function of expressions that has a row (expr/composed_table.h).
 *
 *     kiln_ops TEMPLATE OUTPUT
 *
 * The template is the header but for lines that are a word between '@'. Operations come in the order in
 * which their first row stands. One whose rows differ in how many inputs they take has a function for each
 * number; the names of the inputs that not all have stand behind the operation's. One that has several
 * results gives as many arrays, in C behind `out`, in C++ as a tuple. It is the same with functions: their
 * whole numbers are int64_t, and their axes stand behind their other parameters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expr/composed_table.h"
#include "ops/variant.h"

typedef struct function {
    const char *operation;
    char name[2 * KN_NAME_MAX];
    const char *input[KN_MAX_PARAMS]; /* names */
    int n_in, n_always;               /* inputs; those that all functions of the operation have */
    int n_out;
    bool is_reduction, scans;
} function;

static kn_param params[KN_MAX_PARAMS];
static char names[KN_MAX_PARAMS][KN_NAME_MAX];

static int complain(const char *what, const char *which)
{
    fprintf(stderr, "kiln_ops: %s: %s\n", what, which);
    exit(1);
}

static int count_inputs(int *n_out, const kiln_operation *d)
{
    int n_in = 0;
    *n_out = 0;
    if (kn_signature_parse(params, 0, KN_MAX_PARAMS, &n_in, d->in_params, "input", NULL) != KILN_OK ||
        kn_signature_parse(params, n_in, KN_MAX_PARAMS, n_out, d->out_params, "output", NULL) != KILN_OK ||
        *n_out < 1 || (*n_out > 1 && d->reduce))
        complain(d->name, "inputs, and outputs, one of a reduction, were expected");
    return n_in;
}

/* The function of a row; false where one before it has the same. */
static bool describe(function *f, int row)
{
    const kiln_operation *d = &kn_operation_table[row].definition;
    f->operation = d->name;
    f->is_reduction = d->reduce != NULL;
    f->scans = kn_operation_table[row].traits & KN_OP_SCANS;
    f->n_always = f->n_in = count_inputs(&f->n_out, d);
    for (int k = 0; k < kn_operation_table_count; ++k) {
        const kiln_operation *other = &kn_operation_table[k].definition;
        int n_out, others = strcmp(other->name, d->name) == 0 ? count_inputs(&n_out, other) : 0;
        if (others == f->n_in && k < row)
            return false;
        if (others > 0 && others < f->n_always)
            f->n_always = others;
    }
    count_inputs(&f->n_out, d);
    snprintf(f->name, sizeof f->name, "%s", d->name);
    for (int k = 0; k < f->n_in; ++k) {
        if (snprintf(names[k], sizeof names[k], "%s", params[k].name) >= (int)sizeof names[k])
            complain(d->name, "the name of an input is too long");
        f->input[k] = names[k];
        if (k >= f->n_always) {
            size_t length = strlen(f->name);
            snprintf(f->name + length, sizeof f->name - length, "_%s", names[k]);
        }
    }
    return true;
}

/* before x between y between z, from `first` on. */
static void put_inputs(FILE *to, const function *f, int first, const char *before, const char *between,
                       const char *after)
{
    for (int k = first; k < f->n_in; ++k)
        fprintf(to, "%s%s%s%s", k > first ? between : "", before, f->input[k], after);
}

static void put_function(FILE *to, const function *f)
{
    fprintf(to, "/* The operation %s", f->operation);
    if (f->n_in > f->n_always)
        put_inputs(to, f, f->n_always, ", with ", " and ", "");
    if (f->n_out > 1)
        fprintf(to, ": out has %d arrays", f->n_out);
    fprintf(to, ". */\nKILN_NODISCARD static inline kiln_status kiln_%s(kiln_array **out, ", f->name);
    put_inputs(to, f, 0, "kiln_arg ", ", ", "");
    fprintf(to, "%s)\n{\n    const kiln_arg in[] = {", f->is_reduction ? ", const kiln_axes *axes" : "");
    put_inputs(to, f, 0, "", ", ", "");
    if (f->is_reduction)
        fprintf(to, "};\n    return kiln_apply_over(out, \"%s\", in, %d, axes);\n}\n", f->operation, f->n_in);
    else
        fprintf(to, "};\n    return kiln_apply(out, %d, \"%s\", in, %d, NULL);\n}\n", f->n_out, f->operation,
                f->n_in);
}

static void put_macro(FILE *to, const function *f)
{
    const char *axes = f->is_reduction ? ", axes" : "";
    fprintf(to, "#define kiln_%s(out, ", f->name);
    put_inputs(to, f, 0, "", ", ", "");
    fprintf(to, "%s) kiln_%s(out, ", axes, f->name);
    put_inputs(to, f, 0, "KILN_PRIV_ARG(", ", ", ")");
    fprintf(to, "%s)\n", axes);
}

/* For a reduction the axes come behind its inputs, and numbers that not all rows have come behind the axes.
 */
static void put_cpp(FILE *to, const function *f)
{
    bool is_longer = f->n_in > f->n_always;
    function always = *f;
    always.n_in = f->n_always;
    fprintf(to, "/** The operation %s. */\n[[nodiscard]] inline ", f->operation);
    fprintf(to, "%s %s(", f->n_out > 1 ? "auto" : "array", f->operation);
    put_inputs(to, &always, 0, "const operand &", ", ", "");
    if (f->is_reduction)
        fprintf(to, f->scans    ? ", const axes &over = axes()"
                    : is_longer ? ", const axes &over, bool keepdims"
                                : ", const axes &over = axes(), bool keepdims = false");
    fprintf(to, is_longer ? ", " : "");
    put_inputs(to, f, f->n_always, "const operand &", ", ", "");
    fprintf(to, ")\n{\n    const kiln_arg in[] = {");
    put_inputs(to, f, 0, "", ", ", ".arg()");
    if (f->n_out > 1) {
        fprintf(to,
                "};\n    priv::results<%d> made;\n"
                "    check(kiln_apply(made.out(), made.count, \"%s\", in, %d, nullptr));\n"
                "    return made.take();\n}\n",
                f->n_out, f->operation, f->n_in);
        return;
    }
    fprintf(to, "};\n    array result;\n");
    if (f->is_reduction)
        fprintf(to,
                "    const kiln_axes list = over.get(%s);\n"
                "    check(kiln_apply_over(result.out(), \"%s\", in, %d, &list));\n",
                f->scans ? "false" : "keepdims", f->operation, f->n_in);
    else
        fprintf(to, "    check(kiln_apply(result.out(), 1, \"%s\", in, %d, nullptr));\n", f->operation,
                f->n_in);
    fprintf(to, "    return result;\n}\n");
}

/* ---- functions of expressions ---- */

typedef struct composed {
    const kn_composed *row;
    kn_composed_params of;
    char name[KN_NAME_MAX]; /* in C */
    int n_in, n_out;        /* arguments of kiln_function_call */
    bool has_axes, needs_axes, keeps;
} composed;

typedef enum param_kind { VALUE, WHOLE, WORD, ARRAYS, WHOLES, DTYPE, OF_CALL } param_kind;

static param_kind kind_of(const composed *c, int k)
{
    const char *name = c->of.name[k];
    const kn_composed_kind kind = c->of.kind[k];
    return strcmp(name, "keepdims") == 0 || (strcmp(name, "axis") == 0 && kind != KN_OF_WHOLE) ? OF_CALL
           : kind == KN_OF_VALUE && strcmp(name, "dtype") == 0                                 ? DTYPE
                                                               : (param_kind)kind;
}

static bool has_param(const composed *c, const char *name)
{
    for (int k = 0; k < c->of.count; ++k)
        if (strcmp(c->of.name[k], name) == 0)
            return true;
    return false;
}

/* The name of a row that is not the first of its name ends with the parameters that the first has not. */
static void describe_composed(composed *c, int row)
{
    *c = (composed){.row = kn_composed_at(row)};
    composed first = {.row = c->row};
    for (int k = row; k >= 0; --k)
        if (strcmp(kn_composed_at(k)->name, c->row->name) == 0)
            first.row = kn_composed_at(k);
    kn_composed_read(&c->of, c->row->params);
    kn_composed_read(&first.of, first.row->params);
    snprintf(c->name, sizeof c->name, "%s", kn_composed_name_in_c(c->row));
    c->n_out = kn_composed_results(c->row);
    for (int k = 0; k < c->of.count; ++k) {
        const size_t length = strlen(c->name);
        const bool is_of_call = kind_of(c, k) == OF_CALL, is_axis = is_of_call && c->of.name[k][0] == 'a';
        c->n_in += !is_of_call;
        c->has_axes |= is_axis;
        c->needs_axes |= is_axis && !c->of.value[k][0];
        c->keeps |= is_of_call && !is_axis;
        if (!has_param(&first, c->of.name[k]))
            snprintf(c->name + length, sizeof c->name - length, "_%s", c->of.name[k]);
    }
}

/* The name of a parameter, which may be a word of C. */
static const char *name_of(const composed *c, int k)
{
    return strcmp(c->of.name[k], "default") == 0 ? "otherwise" : c->of.name[k];
}

/* The arguments of kiln_function_call, each by the format of its kind, in which @ is its name. */
static void put_arguments(FILE *to, const composed *c, const char *const *format)
{
    for (int k = 0, given = 0; k < c->of.count; ++k) {
        if (kind_of(c, k) == OF_CALL)
            continue;
        fputs(given++ ? ", " : "", to);
        for (const char *f = format[kind_of(c, k)]; *f; ++f)
            if (*f == '@')
                fputs(name_of(c, k), to);
            else
                fputc(*f, to);
    }
}

/* "@": the name of the parameter. A list has its length behind it. */
static const char
    *const names_alone[] =
        {[VALUE] = "@", [WHOLE] = "@", [WORD] = "@", [ARRAYS] = "@, n_@", [WHOLES] = "@, n_@", [DTYPE] = "@"},
           *const typed[] = {[VALUE] = "kiln_arg @",
                             [WHOLE] = "int64_t @",
                             [WORD] = "const char *@",
                             [ARRAYS] = "const kiln_arg *@, int n_@",
                             [WHOLES] = "const int64_t *@, int n_@",
                             [DTYPE] = "kiln_dtype @"},
           *const as_args[] = {[VALUE] = "@",
                               [WHOLE] = "kiln_arg_int(@)",
                               [WORD] = "kiln_arg_struct(@, @ ? strlen(@) : 0)",
                               [ARRAYS] = "kiln_arg_struct(@, (size_t)n_@ * sizeof *@)",
                               [WHOLES] = "kiln_arg_struct(@, (size_t)n_@ * sizeof *@)",
                               [DTYPE] = "kiln_arg_int(@)"},
           *const as_macro[] = {[VALUE] = "KILN_PRIV_ARG(@)", [WHOLE] = "@",       [WORD] = "@",
                                [ARRAYS] = "@, n_@",          [WHOLES] = "@, n_@", [DTYPE] = "@"},
           *const as_cpp[] = {[VALUE] = "@.arg()",
                              [WHOLE] = "kiln_arg_int(@)",
                              [WORD] = "kiln_arg_struct(@, @ ? std::char_traits<char>::length(@) : 0)",
                              [ARRAYS] = "kiln_arg_struct(@.data(), @.size() * sizeof(kiln_arg))",
                              [WHOLES] = "kiln_arg_struct(@.data(), @.size() * sizeof(std::int64_t))",
                              [DTYPE] = "kiln_arg_int(@)"};

static void put_composed(FILE *to, const composed *c)
{
    fprintf(to, "/* %s(%s)", c->row->name, c->row->params);
    if (c->n_out > 1)
        fprintf(to, ": out has %d arrays", c->n_out);
    fprintf(to, ". */\nKILN_NODISCARD static inline kiln_status kiln_%s(kiln_array **out, ", c->name);
    put_arguments(to, c, typed);
    fprintf(to, "%s)\n{\n    const kiln_arg in[] = {", c->has_axes ? ", const kiln_axes *axes" : "");
    put_arguments(to, c, as_args);
    if (c->has_axes)
        fprintf(to, "};\n    kiln_call_options options;\n    kiln_axes_options(&options, axes);\n");
    else
        fprintf(to, "};\n");
    fprintf(to, "    return kiln_function_call(out, %d, \"%s\", in, %d, %s);\n}\n", c->n_out, c->row->name,
            c->n_in, c->has_axes ? "&options" : "NULL");
}

static void put_composed_macro(FILE *to, const composed *c)
{
    const char *axes = c->has_axes ? ", axes" : "";
    fprintf(to, "#define kiln_%s(out, ", c->name);
    put_arguments(to, c, names_alone);
    fprintf(to, "%s) kiln_%s(out, ", axes, c->name);
    put_arguments(to, c, as_macro);
    fprintf(to, "%s)\n", axes);
}

/* A usual value that is a number or a constant stands in C++, too. */
static void put_cpp_param(FILE *to, const composed *c, int k)
{
    const char *name = name_of(c, k), *value = c->of.value[k];
    const param_kind kind = kind_of(c, k);
    static const char *const types[] = {[VALUE] = "const operand &",
                                        [WHOLE] = "std::int64_t ",
                                        [WORD] = "const char *",
                                        [ARRAYS] = "const std::vector<operand> &",
                                        [WHOLES] = "const std::vector<std::int64_t> &",
                                        [DTYPE] = "kiln_dtype ",
                                        [OF_CALL] = ""};
    fprintf(to, "%s%s", types[kind], name);
    if (!value[0])
        return;
    const bool is_number = strspn(value, "0123456789.e-") == strlen(value);
    fprintf(to, " = %s",
            kind == WHOLE    ? "KILN_USUAL"
            : kind == DTYPE  ? "KILN_DTYPE_NONE"
            : kind == WORD   ? "nullptr"
            : kind == WHOLES ? "{}"
            : is_number      ? value
                             : "kiln_arg_none()");
}

/* Axes come behind what has to be given, and before what has a usual value. */
static void put_composed_cpp(FILE *to, const composed *c)
{
    int put = 0;
    fprintf(to, "/** %s(%s). */\n[[nodiscard]] inline %s %s(", c->row->name, c->row->params,
            c->n_out > 1 ? "auto" : "array", kn_composed_name_in_c(c->row));
    for (int is_usual = 0; is_usual < 2; ++is_usual) {
        for (int k = 0; k < c->of.count; ++k)
            if (kind_of(c, k) != OF_CALL && is_usual == !!c->of.value[k][0]) {
                fprintf(to, "%s", put++ ? ", " : "");
                put_cpp_param(to, c, k);
            }
        if (!is_usual && c->has_axes)
            fprintf(to, ", const axes &over%s%s", c->needs_axes ? "" : " = axes()",
                    c->keeps ? ", bool keepdims = false" : "");
    }
    fprintf(to, ")\n{\n    const kiln_arg in[] = {");
    put_arguments(to, c, as_cpp);
    fprintf(to, "};\n    priv::results<%d> made;\n", c->n_out);
    if (c->has_axes)
        fprintf(to,
                "    const kiln_axes list = over.get(%s);\n    kiln_call_options options;\n"
                "    kiln_axes_options(&options, &list);\n",
                c->keeps ? "keepdims" : "false");
    fprintf(to, "    check(kiln_function_call(made.out(), made.count, \"%s\", in, %d, %s));\n", c->row->name,
            c->n_in, c->has_axes ? "&options" : "nullptr");
    fprintf(to, "    return %s;\n}\n", c->n_out > 1 ? "made.take()" : "std::get<0>(made.take())");
}

static const struct {
    const char *line;
    void (*put)(FILE *to, const function *f);
    void (*put_composed)(FILE *to, const composed *c);
} parts[] = {{"@FUNCTIONS@\n", put_function, put_composed},
             {"@MACROS@\n", put_macro, put_composed_macro},
             {"@CPP@\n", put_cpp, put_composed_cpp}};

/* True if the line is a word between '@'. */
static bool put_part(FILE *to, const char *line)
{
    if (line[0] != '@')
        return false;
    for (size_t p = 0; p < sizeof parts / sizeof parts[0]; ++p) {
        if (strcmp(line, parts[p].line) != 0)
            continue;
        for (int row = 0; row < kn_operation_table_count; ++row) {
            function f;
            if (describe(&f, row))
                parts[p].put(to, &f);
        }
        for (int row = 0; kn_composed_at(row); ++row) {
            composed c;
            describe_composed(&c, row);
            parts[p].put_composed(to, &c);
        }
        return true;
    }
    return complain("no such part", line) == 0;
}

int main(int argc, char **argv)
{
    char line[512];
    size_t found = 0;
    if (argc != 3)
        return complain("usage", "kiln_ops TEMPLATE OUTPUT");
    FILE *from = fopen(argv[1], "r"), *to = fopen(argv[2], "w");
    if (!from || !to)
        complain(from ? argv[2] : argv[1], "cannot be opened");
    while (fgets(line, sizeof line, from)) {
        if (put_part(to, line))
            ++found;
        else
            fputs(line, to);
    }
    fclose(from);
    if (fclose(to) != 0 || found == 0)
        complain(argv[2], "was not written, or the template has no part");
    return 0;
}
