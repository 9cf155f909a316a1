/* drawn.h - the cases of many that a short test takes, others at each run. KILN_SOAK=1 takes all;
 * KILN_SEED=N takes those of the run that printed it. */
#ifndef TESTS_DRAWN_H
#define TESTS_DRAWN_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline bool drawn_all(void)
{
    const char *soak = getenv("KILN_SOAK");
    return soak && soak[0] == '1';
}

static inline unsigned drawn_seed(void)
{
    static unsigned seed;
    const char *given = getenv("KILN_SEED");
    if (!seed) {
        seed = (unsigned)(given ? strtoul(given, NULL, 10) : (unsigned long)time(NULL)) | 1;
        printf("KILN_SEED=%u\n", seed);
        fflush(stdout);
    }
    return seed;
}

/* True of one in `share` of the cases. */
static inline bool is_drawn(size_t number, unsigned share)
{
    if (share <= 1 || drawn_all())
        return true;
    unsigned long long x = (unsigned long long)drawn_seed() << 32 ^ (number + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull; /* splitmix64, by S. Vigna */
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return (x ^ x >> 31) % share == 0;
}

/* The same of a few numbers, 0 to count - 1: one at least is drawn. */
static inline bool is_drawn_of(size_t number, size_t count, unsigned share)
{
    return is_drawn(number, share) || number == drawn_seed() % count;
}

/* The cases of a test that makes as many as it is asked for, and their seed: both as given by the test's
 * arguments, else as long or as short as the run. */
static inline long drawn_count(int argc, char **argv, long all, long few)
{
    return argc > 1 ? atol(argv[1]) : drawn_all() ? all : few;
}

static inline unsigned long long drawn_state(int argc, char **argv)
{
    return argc > 2 ? strtoull(argv[2], NULL, 10) : drawn_seed();
}

/* From `number` to the next of those that fail in turn: one in `share`, in the mean. */
static inline unsigned long drawn_next(unsigned long number, unsigned share)
{
    do
        number++;
    while (!is_drawn(number, share));
    return number;
}

#endif
