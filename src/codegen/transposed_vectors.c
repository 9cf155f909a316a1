/* transposed_vectors.c - vectors that are loaded along one axis and stored to shared memory along another, in
 * assembly: elements are named, not moved, and those below four bytes are selected by byte permutations. In
 * C++ the optimiser, which looks at each element, takes 160 of 250 ms for sixteen vectors of sixteen bytes
 * (NVRTC 13.0, two Zen 4 cores). */
#include "codegen/writer.h"

/* `count` vectors of as many elements of `size` bytes. */
typedef struct turn {
    kn_str *out;
    int count, size, words; /* words of a vector */
    const kn_transpose_rows *rows;
} turn;

static void put_vector_type(const turn *t)
{
    static const char *const types[] = {"", "b32", "v2.b32", "", "v4.b32"};
    kn_str_append(t->out, types[t->words]);
}

/* Word w of vector j is register r[j * words + w]. */
static void put_loads(const turn *t)
{
    for (int j = 0; j < t->count; ++j) {
        kn_str_append(t->out, "\"ld.global.");
        put_vector_type(t);
        kn_str_append(t->out, " {");
        for (int w = 0; w < t->words; ++w)
            kn_str_printf(t->out, "%sr%d", w > 0 ? ", " : "", j * t->words + w);
        kn_str_append(t->out, "}, [from]; add.s64 from, from, step;\\n\"\n");
        if (t->rows)
            kn_str_append(t->out, "\"sub.u32 left, left, 1; setp.eq.u32 ends, left, 0;\\n\"\n"
                                  "\"@ends add.s64 from, from, carry; @ends mov.u32 left, row;\\n\"\n");
    }
}

/* A transposed vector, from the registers `name` with these numbers. */
static void put_store(const turn *t, char name, const int *number)
{
    kn_str_append(t->out, "\"st.shared.");
    put_vector_type(t);
    kn_str_append(t->out, " [to], {");
    for (int w = 0; w < t->words; ++w)
        kn_str_printf(t->out, "%s%c%d", w > 0 ? ", " : "", name, number[w]);
    kn_str_append(t->out, "}; add.u32 to, to, pitch;\\n\"\n");
}

/* Elements of whole words. */
static void transpose_words(const turn *t)
{
    int each = t->size / 4, number[4];
    for (int k = 0; k < t->count; ++k) {
        for (int w = 0; w < t->words; ++w)
            number[w] = w / each * t->words + k * each + w % each;
        put_store(t, 'r', number);
    }
}

static void put_pick(const turn *t, int to, char name, int one, int two, const char *order)
{
    kn_str_printf(t->out, "\"prmt.b32 t%d, %c%d, %c%d, %s;\\n\"\n", to, name, one, name, two, order);
}

/* A word has elements of two vectors. */
static void transpose_halves(const turn *t)
{
    static const char *const order[] = {"0x5410", "0x7632"};
    int number[4];
    for (int k = 0; k < t->count; ++k) {
        for (int w = 0; w < t->words; ++w) {
            number[w] = k * t->words + w;
            put_pick(t, number[w], 'r', 2 * w * t->words + k / 2, (2 * w + 1) * t->words + k / 2,
                     order[k % 2]);
        }
        put_store(t, 't', number);
    }
}

/* A word has elements of four vectors: pairs of rows are mixed, then pairs of pairs. */
static void transpose_bytes(const turn *t)
{
    int n = t->words, number[4],
        mixed = 4 * n * n; /* the first registers are those of the transposed words */
    for (int from = 0; from < n; ++from) {
        for (int w = 0; w < n; ++w) {
            int row = 4 * w * n + from, to = (from * n + w) * 4;
            put_pick(t, mixed + to, 'r', row, row + n, "0x5140");
            put_pick(t, mixed + to + 1, 'r', row + 2 * n, row + 3 * n, "0x5140");
            put_pick(t, mixed + to + 2, 'r', row, row + n, "0x7362");
            put_pick(t, mixed + to + 3, 'r', row + 2 * n, row + 3 * n, "0x7362");
            for (int k = 0; k < 4; ++k)
                put_pick(t, to + k, 't', mixed + to + k / 2 * 2, mixed + to + k / 2 * 2 + 1,
                         k % 2 ? "0x7632" : "0x5410");
        }
        for (int k = 0; k < 4; ++k) {
            for (int w = 0; w < n; ++w)
                number[w] = (from * n + w) * 4 + k;
            put_store(t, 't', number);
        }
    }
}

bool kn_put_transposed(kn_str *out, int count, int size, const char *from, const char *step,
                       const kn_transpose_rows *rows, const char *to, const char *pitch)
{
    turn t = {out, count, size, count * size / 4, rows};
    if (count * size % 4 != 0 || t.words > 4)
        return false;
    kn_str_printf(out, "asm volatile(\"{ .reg .b32 r<%d>, t<%d>, to, pitch; .reg .s64 from, step;\\n\"\n",
                  count * t.words, size == 1 ? 8 * t.words * t.words : count * t.words);
    kn_str_append(out, "\"mov.b64 from, %0; cvt.s64.s32 step, %1; mov.b32 to, %2; mov.b32 pitch, %3;\\n\"\n");
    if (rows)
        kn_str_append(out, "\".reg .b32 left, row; .reg .s64 carry; .reg .pred ends;\\n\"\n"
                           "\"mov.b32 left, %4; mov.b32 row, %5; cvt.s64.s32 carry, %6;\\n\"\n");
    put_loads(&t);
    (size == 1 ? transpose_bytes : size == 2 ? transpose_halves : transpose_words)(&t);
    kn_str_printf(out, "\"}\" :: \"l\"(%s), \"r\"(%s), \"r\"(%s), \"r\"(%s)", from, step, to, pitch);
    if (rows)
        kn_str_printf(out, ", \"r\"(%s), \"r\"(%s), \"r\"(%s)", rows->left, rows->row, rows->carry);
    kn_str_append(out, " : \"memory\");\n");
    return true;
}
