#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *golden_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t size = 0, got;
    char *text = calloc(1, 1);
    if (!file || !text) {
        free(text);
        if (file)
            fclose(file);
        return NULL;
    }
    do {
        char *grown = realloc(text, size + 4097);
        if (!grown)
            abort();
        text = grown;
        got = fread(text + size, 1, 4096, file);
        size += got;
        text[size] = '\0';
    } while (got > 0);
    fclose(file);
    return text;
}

static bool write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    bool written = file && fputs(text, file) >= 0;
    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        printf("FAILED: %s cannot be written\n", path);
    return written;
}

static bool show_difference(const char *path, const char *expected, const char *text)
{
    int line = 1;
    while (*expected) {
        size_t a = strcspn(expected, "\n"), b = strcspn(text, "\n");
        if (a != b || memcmp(expected, text, a) != 0 || expected[a] != text[b])
            break;
        expected += a + 1;
        text += b + 1;
        ++line;
    }
    printf("FAILED %s:%d:\n  expected: %.*s\n  came:     %.*s\n", path, line, (int)strcspn(expected, "\n"),
           expected, (int)strcspn(text, "\n"), text);
    return false;
}

bool golden_matches(const char *path, const char *text, bool update)
{
    if (update)
        return write_text(path, text);
    char *expected = golden_read(path);
    if (!expected) {
        printf("FAILED: %s is missing; --update writes it\n", path);
        return false;
    }
    bool same = !strcmp(expected, text) || show_difference(path, expected, text);
    free(expected);
    return same;
}
