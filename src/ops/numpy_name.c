/* ops/numpy_name.c - looks a name up among those of NumPy's functions. */
#include "ops/numpy_name.h"

#include <string.h>

#include "ops/numpy_names.h"

bool kn_numpy_has(const char *name, size_t length)
{
    for (size_t k = 0; k < sizeof numpy_names / sizeof *numpy_names; k++)
        if (strlen(numpy_names[k]) == length && memcmp(numpy_names[k], name, length) == 0)
            return true;
    return false;
}
