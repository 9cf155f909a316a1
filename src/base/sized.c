/* base/sized.c - checks, reads and fills structs of callers that begin with struct_size. */
#include "base/sized.h"

#include <string.h>

#include "base/error.h"

static size_t size_of(const void *given)
{
    size_t size;
    memcpy(&size, given, sizeof size);
    return size;
}

kiln_status kn_sized_check(const void *given, size_t size, const char *what, const char *initialiser)
{
    if (!given)
        return kn_error(KILN_ERROR_INVALID, "%s is NULL", what);
    if (size_of(given) >= sizeof(size_t) && size_of(given) <= size)
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID, "%s.struct_size: %zu was given, %zu is known; start from %s", what,
                    size_of(given), size, initialiser);
}

kiln_status kn_sized_read(void *out, size_t size, const void *given, const char *what,
                          const char *initialiser)
{
    kiln_status status = given ? kn_sized_check(given, size, what, initialiser) : KILN_OK;
    if (given && status == KILN_OK)
        memcpy(out, given, size_of(given));
    return status;
}

kiln_status kn_sized_check_flags(unsigned flags, unsigned known, const char *prefix)
{
    return flags & ~known ? kn_error(KILN_ERROR_INVALID, "options.flags: 0x%x was given; only %s_* are known",
                                     flags, prefix)
                          : KILN_OK;
}

void kn_sized_answer(void *out, const void *all)
{
    size_t size = size_of(out);
    memcpy(out, all, size);
    memcpy(out, &size, sizeof size);
}
