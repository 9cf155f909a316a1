/*
 * kiln/environment.h - the environment variables that kiln reads.
 *
 *     kiln_variable v = KILN_VARIABLE_INIT;
 *     for (int k = 0; k < kiln_variable_count(); k++)
 *         if (kiln_variable_at(&v, k) == KILN_OK)
 *             printf("%-20s %s: %s\n", v.name, v.values, v.meaning);
 *
 * A program need not call this: a variable is read where it matters, and a value that is not one of
 * those allowed is logged then, or refused. Thread-safe.
 */
#ifndef KILN_ENVIRONMENT_H
#define KILN_ENVIRONMENT_H

#include <kiln/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An environment variable. All texts are static. */
typedef struct kiln_variable {
    size_t struct_size;
    const char *name;   /* "KILN_FORMS" */
    const char *values; /* what it may be: words with bars between, "both|best|quick", or prose */
    const char *otherwise; /* what is taken where it is not set; NULL: nothing */
    const char *meaning;   /* one sentence or more, without a final point */
} kiln_variable;
#define KILN_VARIABLE_INIT                                                                         \
    {                                                                                              \
        sizeof(kiln_variable), NULL, NULL, NULL, NULL                                              \
    }

/* The number of variables. */
KILN_API int kiln_variable_count(void);
/* The one at an index from 0. KILN_ERROR_INVALID for another index, or a struct that was not
 * initialised. */
KILN_NODISCARD KILN_API kiln_status kiln_variable_at(kiln_variable *out, int index);

/* Logs, as warnings, each variable whose value is not allowed, and each that is set under a name
 * which is nearly one of the table. What was logged before is not logged again. The library does so
 * itself before the first kernel is looked for. */
KILN_API void kiln_variables_check(void);

#ifdef __cplusplus
}
#endif
#endif
