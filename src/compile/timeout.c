/* compile/timeout.c - the time limit of a compile, from KILN_COMPILE_TIMEOUT. */
#include "compile/timeout.h"

#include <stdlib.h>

#include "base/os.h"
#include "base/setting.h"

/* Generous: a kernel with large headers takes seconds. */
enum { USUAL_SECONDS = KN_OS_USUAL_TIMEOUT_MS / 1000 };

int kn_compile_timeout_ms(void)
{
    const char *told = kn_setting("KILN_COMPILE_TIMEOUT");
    double seconds = told ? strtod(told, NULL) : USUAL_SECONDS;
    return (int)(seconds * 1e3 < 1 ? 1 : seconds * 1e3);
}
