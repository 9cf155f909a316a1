/* base/shortage.c - the shortages that a thread has met. */
#include "base/shortage.h"
#include "base/error.h"

#include <errno.h>
#include <string.h>

static _Thread_local struct {
    unsigned count;
    int reason; /* of the last one */
} met;

bool kn_shortage_note(int reason)
{
    static const int passing[] = {ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR};
    for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
        if (passing[i] == reason) {
            met.count++;
            met.reason = reason;
            return true;
        }
    return false;
}

unsigned kn_shortages(void)
{
    return met.count;
}

kiln_status kn_shortage_error(const char *what)
{
    return met.reason == ENOMEM ? kn_error_memory(0, what)
                                : kn_error(KILN_ERROR_IO, "%s: %s", what, strerror(met.reason));
}
