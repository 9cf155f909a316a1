/* choices.c - the list of choices for one call, and the one that is taken. */
#include "choices.h"

#include <stdio.h>
#include <string.h>

choice_list choices;
const char *choice_kind;
int choice_wanted = MODEL;
bool choice_is_strided;
uint64_t choice_seed;

int choice_roll(int below)
{
    choice_seed = choice_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((choice_seed >> 33) % (uint64_t)below);
}

int choice_add(const char *tag, const char *text)
{
    choice_list *c = &choices;
    for (int k = 0; k < c->count; ++k)
        if (strcmp(c->text[k], text) == 0) {
            size_t length = strlen(c->tags[k]);
            if (*tag)
                snprintf(c->tags[k] + length, MAX_TAGS - length, "%s%s", length > 0 ? "|" : "", tag);
            return -1;
        }
    if (c->count == MAX_CHOICES)
        return -1;
    snprintf(c->tags[c->count], MAX_TAGS, "%s", tag);
    snprintf(c->text[c->count], MAX_TEXT, "%s", text);
    return c->count++;
}
