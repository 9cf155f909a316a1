/* transposed_vectors.c - vectors that are loaded along one axis and stored to shared memory along another, in
 * assembly: elements are named, not moved, and those below four bytes are selected by byte permutations. In
 * C++ the optimiser, which looks at each element, takes 160 of 250 ms for sixteen vectors of sixteen bytes
 * (NVRTC 13.0, two Zen 4 cores). */
#include "codegen/writer.h"

/* `count` vectors of as many elements of `size` bytes. */
typedef struct transposition {
    const kn_writer *w;
    kn_str *lines;
    int count, size, words; /* words of a vector */
    const kn_transpose_rows *rows;
} transposition;

/* A load or a store of the registers `name` with these numbers. */
static void put_access(const transposition *t, const char *part, char name, const int *number)
{
    static const char *const types[] = {"", "b32", "v2.b32", "", "v4.b32"};
    kn_str *registers = kn_text(t->w);
    for (int w = 0; w < t->words; ++w)
        kn_str_printf(registers, "%s%c%d", w > 0 ? ", " : "", name, number[w]);
    kn_put_part_with(t->w, t->lines, part, KN_NO_VALUE, "words=%s registers=%s", types[t->words],
                     kn_str_text(registers));
}

/* Word w of vector j is register r[j * words + w]. */
static void put_loads(const transposition *t)
{
    int number[4];
    for (int j = 0; j < t->count; ++j) {
        for (int w = 0; w < t->words; ++w)
            number[w] = j * t->words + w;
        put_access(t, "transpose_load", 'r', number);
        if (t->rows)
            kn_put_part(t->w, t->lines, "transpose_next_row", KN_NO_VALUE);
    }
}

static void put_store(const transposition *t, char name, const int *number)
{
    put_access(t, "transpose_store", name, number);
}

/* Elements of whole words. */
static void transpose_words(const transposition *t)
{
    int each = t->size / 4, number[4];
    for (int k = 0; k < t->count; ++k) {
        for (int w = 0; w < t->words; ++w)
            number[w] = w / each * t->words + k * each + w % each;
        put_store(t, 'r', number);
    }
}

static void put_pick(const transposition *t, int to, char name, int one, int two, const char *order)
{
    kn_put_part_with(t->w, t->lines, "transpose_pick", KN_NO_VALUE, "to=%d from=%s one=%d two=%d order=%s",
                     to, name == 'r' ? "r" : "t", one, two, order);
}

/* A word has elements of two vectors. */
static void transpose_halves(const transposition *t)
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
static void transpose_bytes(const transposition *t)
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

bool kn_put_transposed(const kn_writer *w, kn_str *out, int count, int size, const char *from,
                       const char *step, const kn_transpose_rows *rows, const char *to, const char *pitch)
{
    kn_str *lines = kn_text(w), *operands = kn_text(w);
    const transposition t = {w, lines, count, size, count * size / 4, rows};
    if (count * size % 4 != 0 || t.words > 4)
        return false;
    if (rows) {
        kn_put_part(w, lines, "transpose_rows", KN_NO_VALUE);
        kn_put_part_with(w, operands, "transpose_row_operands", KN_NO_VALUE, "left=%s row=%s carry=%s",
                         rows->left, rows->row, rows->carry);
    }
    put_loads(&t);
    (size == 1 ? transpose_bytes : size == 2 ? transpose_halves : transpose_words)(&t);
    kn_put_part_with(w, out, "transpose", KN_NO_VALUE,
                     "loaded=%d picked=%d lines=%s from=%s step=%s to=%s pitch=%s row_operands=%s",
                     count * t.words, size == 1 ? 8 * t.words * t.words : count * t.words, kn_str_text(lines),
                     from, step, to, pitch, kn_str_text(operands));
    return true;
}
