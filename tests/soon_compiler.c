/* soon_compiler - the host's compiler (CXX, else g++) for tests of results, whose time is mostly its own:
 * without optimisation, or at SOON_LEVEL where arrays are large. Of 96 sources one, chosen by its text,
 * is compiled as users have it, so that the short tests see what optimisation makes of each sort of kernel,
 * too; in tools/soak all are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARE = 96, MOST = 4096 };

static int ends_with(const char *word, const char *ending)
{
    size_t length = strlen(word), end = strlen(ending);
    return length >= end && strcmp(word + length - end, ending) == 0;
}

/* FNV-1a. */
static uint32_t hash_file(const char *path)
{
    uint32_t hash = 2166136261u;
    FILE *file = fopen(path, "rb");
    for (int c; file && (c = getc(file)) != EOF;)
        hash = (hash ^ (uint32_t)c) * 16777619u;
    if (file)
        fclose(file);
    return hash;
}

int main(int argc, char **argv)
{
    const char *compiler = getenv("CXX"), *level = getenv("SOON_LEVEL"), *words[MOST + 1];
    int is_users = 0;
    if (argc > MOST)
        return 2;
    for (int i = 1; i < argc; i++)
        is_users |= ends_with(argv[i], "/kernel.cpp") && hash_file(argv[i]) % SHARE == 0;
    level = level && *level ? level : "-O0";
    words[0] = compiler && *compiler ? compiler : "g++";
    for (int i = 1; i < argc; i++)
        words[i] = !is_users && (!strcmp(argv[i], "-O3") || !strcmp(argv[i], "-O1")) ? level : argv[i];
    words[argc] = NULL;
    execvp(words[0], (char *const *)words);
    perror(words[0]);
    return 127;
}
