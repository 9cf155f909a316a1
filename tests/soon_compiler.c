/* soon_compiler - the host's compiler (CXX, else g++) for tests of results, whose time is mostly its own:
 * without optimisation, and by the linker that takes least. Of eight sources one, chosen by its text, is
 * compiled as users have it, so that the short tests see what optimisation makes of each sort of kernel, too;
 * in tools/soak all are. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHARE = 8, MOST = 4096 };

/* g++ 12 does not align its frame for vectors of 64 bytes at -O0. */
static const char vectors[] = "aligned(64)";

static int ends_with(const char *word, const char *ending)
{
    size_t length = strlen(word), end = strlen(ending);
    return length >= end && strcmp(word + length - end, ending) == 0;
}

/* What "-O3" becomes for this source: itself, "-O1" or "-O0". The hash is FNV-1a. */
static const char *choose_level(const char *path)
{
    uint32_t hash = 2166136261u;
    int has_vectors = 0;
    char line[1 << 16];
    FILE *file = fopen(path, "rb");
    while (file && fgets(line, sizeof line, file)) {
        has_vectors |= strstr(line, vectors) != NULL;
        for (const char *at = line; *at; at++)
            hash = (hash ^ (unsigned char)*at) * 16777619u;
    }
    if (file)
        fclose(file);
    return hash % SHARE == 0 ? "" : has_vectors ? "-O1" : "-O0";
}

static const char *translate(const char *word, const char *level)
{
    return *level && (strcmp(word, "-O3") == 0 || strcmp(word, "-O1") == 0) ? level : word;
}

int main(int argc, char **argv)
{
    const char *compiler = getenv("CXX"), *level = "", *words[MOST + 2];
    int n = 0, is_gold = LINKER[0];
    if (argc > MOST)
        return 2;
    for (int i = 1; i < argc; i++) {
        if (ends_with(argv[i], "/kernel.cpp"))
            level = choose_level(argv[i]);
        is_gold &= !strstr(argv[i], "--dependency-file"); /* of the other linkers alone */
    }
    words[n++] = compiler && *compiler ? compiler : "g++";
    for (int i = 1; i < argc; i++)
        if (!is_gold || !strstr(argv[i], "noseparate-code"))
            words[n++] = translate(argv[i], level);
    if (is_gold)
        words[n++] = LINKER;
    words[n] = NULL;
    execvp(words[0], (char *const *)words);
    perror(words[0]);
    return 127;
}
