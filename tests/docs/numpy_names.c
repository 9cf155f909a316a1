/* numpy_names - a line for each function of NumPy, and each operation: its name, then "operation ALIAS OF"
 * (of the table), "function NAME IN C" (of expressions; "": no row has it), "instead TEXT" or "missing"; then
 * random numbers: the name that NumPy's Generator has, "random", the function of expressions; then "KEYWORD
 * promise FUNCTIONS" of arguments on which no result depends; then "row PARAMS NUMBER OF RESULTS" of each row
 * of functions, with those that calls in C have. tools/numpy_page makes docs/numpy.md of them. */
#include <kiln/kiln.h>

#include <stdio.h>
#include <string.h>

#include "expr/composed_table.h"
#include "expr/grids.h"
#include "expr/names.h"
#include "expr/parser.h"
#include "expr/promised_arguments.h"
#include "kernel/random.h"
#include "ops/numpy_names.h"

/* "": it has no row. */
static const char *name_in_c(const char *name)
{
    int k = 0;
    while (kn_composed_at(k) && strcmp(kn_composed_at(k)->name, name) != 0)
        k++;
    return kn_composed_at(k) ? kn_composed_name_in_c(kn_composed_at(k)) : "";
}

static void put(const char *name)
{
    kn_known_operation found;
    kn_graph *graph = NULL;
    bool is_open;
    char text[96];
    if (kn_find_operation(&found, name, strlen(name))) {
        printf("%s\toperation\t%s\n", name, found.name);
        return;
    }
    if (kn_grid_is(&is_open, name, strlen(name))) {
        printf("%s\tinstead\t%s[0:3, 0:1:5j]\n", name, name);
        return;
    }
    snprintf(text, sizeof text, "%s(x, axis=7, no_such=1)", name);
    kiln_status status = kn_graph_parse(&graph, "x", text, 0, NULL);
    const char *message = kiln_error_message(), *instead = strstr(message, "; write ");
    if (status == KILN_OK || !strstr(message, "there is no function"))
        printf("%s\tfunction\t%s\n", name, name_in_c(name));
    else if (instead)
        printf("%s\tinstead\t%.*s\n", name, (int)strcspn(instead + 8, "\n"), instead + 8);
    else
        printf("%s\tmissing\t\n", name);
    kn_graph_free(graph);
}

/* Distributions, and functions composed of them: their first parameter is a key. */
static void put_random(void)
{
    static const char ours[] = "random_";
    for (int k = 0; kn_law_at(k); ++k) {
        const char *name = kn_law_at(k)->name;
        const bool is_longer = strncmp(name, ours, strlen(ours)) == 0 && strcmp(name, "random_bits") != 0;
        printf("%s\trandom\t%s\n", name + (is_longer ? strlen(ours) : 0), name);
    }
    for (int k = 0; kn_composed_at(k); ++k)
        if (strncmp(kn_composed_at(k)->params, "key", 3) == 0 &&
            (k == 0 || strcmp(kn_composed_at(k - 1)->name, kn_composed_at(k)->name) != 0))
            printf("%s\trandom\t%s\n", kn_composed_at(k)->name, kn_composed_at(k)->name);
}

static void put_promises(void)
{
    const char *functions, *keyword;
    for (int k = 0; kn_promised_at(k, &functions, &keyword); ++k)
        printf("%s\tpromise\t%s\n", keyword, functions);
}

int main(void)
{
    kiln_operation d = KILN_OPERATION_INIT;
    const char *last = "";
    for (size_t k = 0; k < sizeof numpy_names / sizeof *numpy_names; ++k)
        put(numpy_names[k]);
    for (int k = 0; k < kiln_operation_count(); ++k) {
        if (kiln_operation_at(&d, k) == KILN_OK && strcmp(d.name, last) != 0)
            printf("%s\town\t%s\n", d.name, d.reduce ? "reduction" : "elementwise");
        last = d.name;
    }
    put_random();
    put_promises();
    for (int k = 0; kn_composed_at(k); ++k)
        printf("%s\trow\t%.*s\t%d\n", kn_composed_at(k)->name, (int)strcspn(kn_composed_at(k)->params, ";"),
               kn_composed_at(k)->params, kn_composed_results(kn_composed_at(k)));
    return 0;
}
