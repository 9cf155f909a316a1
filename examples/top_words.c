/* top_words.c - the words of a text, as numbers, that come most often, and the longest run of one word. The
 * reference is a loop over the words. */
#include <kiln/kiln.h>
#include <kiln/ops.h>

#include <stdio.h>
#include <stdlib.h>

enum { WORDS = 50000, KINDS = 1000, TOP = 5 };

static void check(kiln_status status, const char *doing)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s\n", doing, kiln_error_message());
    exit(1);
}

/* Few kinds of words come often, most of them seldom; now and then one comes again and again. */
static void write_text(int32_t *word)
{
    unsigned state = 1;
    for (int w = 0; w < WORDS; ++w) {
        state = state * 1664525u + 1013904223u;
        const unsigned drawn = (state >> 12) % KINDS;
        word[w] = (int32_t)(w > 0 && state % 13 == 0 ? (unsigned)word[w - 1]
                                                     : drawn * drawn / KINDS * drawn / KINDS);
    }
}

int main(void)
{
    static int32_t word[WORDS];
    static int64_t count[KINDS];
    const int64_t shape[] = {WORDS};
    int32_t best[TOP];
    int64_t times[TOP], longest = 0, run = 0, found = 0;
    write_text(word);
    for (int w = 0; w < WORDS; ++w) {
        ++count[word[w]];
        run = w > 0 && word[w] == word[w - 1] ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }

    kiln_array *text = NULL, *kind[2] = {NULL, NULL}, *top[2] = {NULL, NULL}, *names = NULL;
    kiln_array *runs[2] = {NULL, NULL}, *most = NULL;
    check(kiln_array_from_host(&text, word, KILN_INT32, 1, shape, KILN_DEVICE_DEFAULT), "upload");
    check(kiln_unique(kind, kiln_arg_array(text), KILN_UNIQUE_COUNTS), "distinct words");
    check(kiln_topk(top, kiln_arg_array(kind[1]), TOP, -1, KILN_SORT_DESCENDING), "the largest counts");
    const kiln_index by_place[] = {kiln_index_array(top[1])};
    check(kiln_array_get(&names, kind[0], by_place, 1), "their words");
    check(kiln_run_lengths(runs, text), "runs");
    check(kiln_max(&most, runs[1], NULL), "the longest run");
    check(kiln_array_to_host(names, best, sizeof best), "download");
    check(kiln_array_to_host(top[0], times, sizeof times), "download");
    check(kiln_array_to_host(most, &found, sizeof found), "download");

    int wrong = found != longest;
    for (int t = 0; t < TOP; ++t) {
        int more = 0;
        for (int k = 0; k < KINDS; ++k)
            more += count[k] > times[t];
        printf("word %3d comes %5lld times\n", (int)best[t], (long long)times[t]);
        wrong += count[best[t]] != times[t] || more > t;
    }
    printf("longest run: %lld\n%s\n", (long long)found, wrong ? "wrong" : "right");
    kiln_array *const all[] = {text, kind[0], kind[1], top[0], top[1], names, runs[0], runs[1], most};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kiln_array_free(all[k]);
    return wrong != 0;
}
