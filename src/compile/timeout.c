#include "compile/timeout.h"

#include <stdlib.h>

#include "base/os.h"

/* Generous: a kernel with large headers takes seconds. Whoever has none can wait as long as he likes. */
enum { USUAL_SECONDS = KN_OS_USUAL_TIMEOUT_MS / 1000, MOST_SECONDS = 1000000 };

int kn_compile_timeout_ms(void)
{
    const char *told = kn_os_env("KILN_COMPILE_TIMEOUT");
    char *end = NULL;
    double seconds = told ? strtod(told, &end) : 0;
    if (!told || end == told || !(seconds > 0) || seconds > MOST_SECONDS)
        seconds = USUAL_SECONDS;
    return (int)(seconds * 1e3 < 1 ? 1 : seconds * 1e3);
}
