/* bench_error.c - the first error of a row, stored for its line of the report. */
#include "bench.h"
#include <stdarg.h>
#include <stdio.h>

bool bench_fail(bench *b, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(b->error, sizeof b->error, format, arguments);
    va_end(arguments);
    return false;
}

bool bench_check(bench *b, kiln_status status)
{
    return status == KILN_OK || bench_fail(b, "%s", kiln_error_message());
}
