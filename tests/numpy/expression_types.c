/* expression_types: reads lines "names|arguments|expression" from standard input and answers each
 * with what inference says of its results, as infer_text.h writes it, or "refused: MESSAGE".
 * Expressions may call settled(x, y, z), a kernel of one placeholder; the expression "bound" is a call of it
 * by numbers, without a graph. */
#include <stdio.h>

#include "infer_text.h"
#include "kernel/kernel.h"

enum { SETTLED = 3 };

/* The dtype of the result, by kn_bind. */
static kiln_status bind_numbers(kn_str *words, const kiln_kernel *settled, const char *arguments)
{
    infer_arguments a;
    kiln_arg in[SETTLED];
    kn_binding b;
    infer_read(&a, arguments);
    for (int k = 0; k < SETTLED; ++k) {
        const kn_dtype_info *info = kn_dtype_info_of(a.list[k].dtype);
        const kiln_arg weak = info->kind == KN_KIND_BOOL      ? kiln_arg_bool(true)
                              : info->kind == KN_KIND_FLOAT   ? kiln_arg_float(1)
                              : info->kind == KN_KIND_COMPLEX ? kiln_arg_complex(1, 0)
                                                              : kiln_arg_int(1);
        in[k] = a.list[k].is_weak ? weak : kiln_arg_typed(a.list[k].dtype, "0123456789abcdef");
    }
    kiln_status status = kn_bind(&b, settled->program, NULL, 1, in, SETTLED);
    if (status == KILN_OK)
        kn_str_append(words, kiln_dtype_name(b.operand[SETTLED].dtype));
    return status;
}

static void answer(char *line, kiln_kernel *settled)
{
    kn_str words = KN_STR_INIT;
    kn_graph *graph = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    char *names = line, *arguments = strchr(names, '|'), *expression;
    *arguments++ = 0;
    expression = strchr(arguments, '|');
    *expression++ = 0;
    options.kernels = &settled;
    options.n_kernels = 1;
    const bool is_bound = strcmp(expression, "bound") == 0;
    kiln_status status = is_bound ? bind_numbers(&words, settled, arguments)
                                  : kn_graph_parse(&graph, names, expression, 0, &options);
    if (status == KILN_OK && !is_bound)
        status = infer_results(&words, graph, arguments);
    if (status == KILN_OK)
        printf("%s\n", kn_str_text(&words));
    else
        printf("refused: %.*s\n", (int)strcspn(kiln_error_message(), "\n"), kiln_error_message());
    kn_str_free(&words);
    kn_graph_free(graph);
}

int main(void)
{
    static char line[1 << 20];
    kiln_kernel *settled = NULL;
    if (kiln_elementwise_create(&settled, "T x, T y, T z", "T w", "w = x", "settled", NULL) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message());
        return 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(line, settled);
    }
    kiln_kernel_free(settled);
    return 0;
}
