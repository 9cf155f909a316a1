/* base/nearest.c - finds the name with the smallest edit distance. */
#include "base/nearest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A letter more or less, or two in the wrong order, costs 2, another letter 3, another case of a letter 1. */
enum { EDIT = 2, OTHER_LETTER = 3, OTHER_CASE = 1 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int letter_cost(char a, char b)
{
    return a == b ? 0 : tolower((unsigned char)a) == tolower((unsigned char)b) ? OTHER_CASE : OTHER_LETTER;
}

/* The Damerau-Levenshtein distance (optimal string alignment), three rows of its table at a time. */
static int distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[3][KN_NEAREST_SIZE + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[0][j] = EDIT * (int)j;
    for (size_t i = 1; i <= a_length; i++) {
        int *here = row[i % 3], *before = row[(i - 1) % 3];
        const int *before_that = row[(i + 1) % 3];
        here[0] = EDIT * (int)i;
        for (size_t j = 1; j <= b_length; j++) {
            here[j] = before[j - 1] + letter_cost(a[i - 1], b[j - 1]);
            here[j] = least(here[j], least(before[j], here[j - 1]) + EDIT);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                here[j] = least(here[j], before_that[j - 2] + EDIT);
        }
    }
    return row[a_length % 3][b_length];
}

kn_nearest kn_nearest_begin(const char *name, size_t length)
{
    int edits = length < 3 ? 0 : length < 5 ? 1 : length < 7 ? 2 : 3;
    return (kn_nearest){.name = name, .length = length, .distance = edits * EDIT + 2};
}

void kn_nearest_consider(kn_nearest *n, const char *name, size_t length)
{
    bool is_own = n->length == length && memcmp(n->name, name, length) == 0;
    if (n->length > KN_NEAREST_SIZE || length >= KN_NEAREST_SIZE || is_own)
        return;
    int found = distance_of(n->name, n->length, name, length);
    if (found >= n->distance)
        return;
    n->distance = found;
    snprintf(n->best, sizeof n->best, "%.*s", (int)length, name);
}
