/* expression_types: reads lines "names|arguments|expression" from standard input and answers each
 * with what inference says of its results, written as infer_text.h has it, or "refused: MESSAGE". */
#include <stdio.h>

#include "infer_text.h"

static void answer(char *line)
{
    kn_str words = KN_STR_INIT;
    kn_graph *graph = NULL;
    char *names = line, *arguments = strchr(names, '|'), *expression;
    *arguments++ = 0;
    expression = strchr(arguments, '|');
    *expression++ = 0;
    kiln_status status = kn_graph_parse(&graph, names, expression, 0, NULL);
    if (status == KILN_OK)
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
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        answer(line);
    }
    return 0;
}
