/* base/shortage.c - the shortages that a thread has met. */
#include "base/shortage.h"

#include <errno.h>
#include <string.h>

static _Thread_local struct {
    unsigned count;
    int reason;   /* of the last one */
    size_t bytes; /* of the last one */
} met;

static const int passing[] = {ENOMEM, EMFILE, ENFILE, EAGAIN, EINTR};
enum { PASSING = sizeof passing / sizeof *passing };

bool kn_shortage_note(int reason)
{
    for (int i = 0; i < PASSING; i++)
        if (passing[i] == reason) {
            met.count++;
            met.reason = reason;
            met.bytes = 0;
            return true;
        }
    return false;
}

void kn_shortage_of_memory(size_t bytes)
{
    kn_shortage_note(ENOMEM);
    met.bytes = bytes;
}

bool kn_shortage_unless(bool has_succeeded)
{
    if (!has_succeeded)
        kn_shortage_note(errno);
    return has_succeeded;
}

bool kn_shortage_note_words(const char *message)
{
    for (int i = 0; i < PASSING; i++) {
        char words[128] = "";
        size_t length = strlen(message), end;
        const char *said = strerror_r(passing[i], words, sizeof words);
        end = strlen(said);
        if (end <= length && strcmp(message + length - end, said) == 0)
            return kn_shortage_note(passing[i]);
    }
    return false;
}

unsigned kn_shortages(void)
{
    return met.count;
}

int kn_shortage_last(void)
{
    return met.reason;
}

size_t kn_shortage_bytes(void)
{
    return met.bytes;
}
