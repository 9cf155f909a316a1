/* equal - equal elements give equal results: at every place of arrays of length 1 to 40, in both forms, in
 * reductions and in rows.
 *
 * usage: equal [--target TARGET] [--only WORD] [all]
 *
 * Without "all" two functions of each kind of which there are vectors, over a few hundred values; with it
 * every operation of the table and all functions of the host's preludes, for each dtype that they take, over
 * 10,000. In rows of a window that moves on by one element each value is at each place. Any NaN equals any
 * other. Exit status 77: the device is not here.
 */
#include <kiln/kiln.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "own_cache.h"

#define PRELUDES KILN_SOURCE_DIR "/src/codegen/prelude/"

enum {
    SKIPPED = 77,
    LONGEST = 40,
    MAX_IN = 4,
    MAX_OUT = 8,
    MAX_GROUPS = 1024,
    MAX_WORDS = 512,
    WORD = 32,
    TEXT = 4096,
    PREAMBLE = 8192
};

static const char rank_text[] =
    "template <int n> struct rank : rank<n - 1> {};\ntemplate <> struct rank<0> {};\n";

static int n_values = 200, failures, kernels;
static bool is_all;
static const char *only; /* of all functions, this one; NULL: each */

static void fail_at(int line, const char *what)
{
    fprintf(stderr, "equal.c:%d: %s: %s\n%s\n", line, what, kiln_error_message(), kiln_error_log());
    exit(1);
}
#define REQUIRE(condition) ((condition) ? (void)0 : fail_at(__LINE__, #condition))
#define OK(call) REQUIRE((call) == KILN_OK)

static kiln_device device(void)
{
    kiln_device d;
    OK(kiln_device_current(&d));
    return d;
}

/* ---- values ---- */

static uint64_t random_bits(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * 0x2545F4914F6CDD1Du;
}

/* Most are of a size that functions are used with, some of any, and some at the ends. */
static double random_real(uint64_t *seed)
{
    static const double special[] = {0,         -0.0, 1,     -1,     2,   0.5, INFINITY,
                                     -INFINITY, NAN,  1e-45, 5e-324, 710, 89};
    uint64_t kind = random_bits(seed) % 16;
    double unit = (double)(random_bits(seed) >> 11) / 9007199254740992.0;
    if (kind == 0)
        return special[random_bits(seed) % (sizeof special / sizeof *special)];
    if (kind < 4)
        return ldexp(kind == 1 ? -unit : unit, (int)(random_bits(seed) % 120) - 60);
    return kind < 10 ? unit * 8 - 4 : kind < 13 ? unit : (unit - 0.5) * 200;
}

static uint16_t random_half(uint64_t *seed, int mantissa, int bias)
{
    uint64_t bits = random_bits(seed);
    int exponent = bias - 6 + (int)(bits >> 32) % 9;
    return bits >> 60 ? (uint16_t)((bits & 0x8000) | (unsigned)exponent << mantissa |
                                   (bits & ((1u << mantissa) - 1)))
                      : (uint16_t)bits;
}

static bool is_complex(kiln_dtype dtype)
{
    return dtype == KILN_COMPLEX64 || dtype == KILN_COMPLEX128;
}

/* 0: an integer or a bool. Else the bytes of a number of which elements have one or two. */
static size_t real_size(kiln_dtype dtype)
{
    if (dtype < KILN_FLOAT16)
        return 0;
    return kiln_dtype_size(dtype) / (is_complex(dtype) ? 2 : 1);
}

static void *random_values(kiln_dtype dtype, int n, uint64_t seed)
{
    size_t size = kiln_dtype_size(dtype), real = real_size(dtype);
    unsigned char *all = malloc((size_t)n * size);
    REQUIRE(all);
    for (unsigned char *at = all; at < all + (size_t)n * size; at += real ? real : size) {
        double wide = random_real(&seed);
        float narrow = (float)wide;
        uint64_t whole = random_bits(&seed) >> random_bits(&seed) % 64;
        uint16_t half = dtype == KILN_FLOAT16 ? random_half(&seed, 10, 15) : random_half(&seed, 7, 127);
        if (dtype == KILN_BOOL)
            whole &= 1;
        if (real == 0)
            memcpy(at, &whole, size);
        else
            memcpy(at, real == 8 ? (void *)&wide : real == 4 ? (void *)&narrow : (void *)&half, real);
    }
    return all;
}

static bool is_nan_at(const unsigned char *at, kiln_dtype dtype)
{
    float narrow;
    double wide;
    uint16_t half;
    size_t real = real_size(dtype);
    if (real == 8)
        return memcpy(&wide, at, 8), wide != wide;
    if (real == 4)
        return memcpy(&narrow, at, 4), narrow != narrow;
    return memcpy(&half, at, 2), (half & 0x7fff) > (dtype == KILN_BFLOAT16 ? 0x7f80 : 0x7c00);
}

static bool is_same(const unsigned char *a, const unsigned char *b, kiln_dtype dtype)
{
    size_t size = kiln_dtype_size(dtype), real = real_size(dtype);
    bool same = memcmp(a, b, size) == 0;
    if (same || real == 0)
        return same;
    for (size_t k = 0; k < size; k += real)
        if (memcmp(a + k, b + k, real) != 0 && !(is_nan_at(a + k, dtype) && is_nan_at(b + k, dtype)))
            return false;
    return true;
}

/* ---- one kernel ---- */

typedef struct case_of_equality {
    const char *name, *in, *out, *text, *preamble;
    kiln_dtype in_dtype[MAX_IN], out_dtype[MAX_OUT];
    int n_in, n_out;
} case_of_equality;

/* Arrays of the device, and results as they came from it. */
typedef struct memory {
    kiln_array *in[MAX_IN], *out[MAX_OUT];
    unsigned char *first[MAX_OUT], *got[MAX_OUT];
} memory;

static kiln_array *wrap(const kiln_array *whole, kiln_dtype dtype, int rows, int columns, int64_t row,
                        int64_t step)
{
    kiln_array *a = NULL;
    int64_t size = (int64_t)kiln_dtype_size(dtype);
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype;
    spec.ndim = 2;
    spec.shape = (const int64_t[]){rows, columns};
    spec.strides = (const int64_t[]){row * size, step * size};
    spec.device = device();
    OK(kiln_array_wrap(&a, kiln_array_data(whole), &spec, NULL, NULL));
    return a;
}

/* Rows of `length`, each one element further on than the one before; those of results are `pitch` apart. */
static void call_window(kiln_kernel *k, const case_of_equality *s, const memory *m, int rows, int length,
                        int pitch)
{
    kiln_array *in[MAX_IN], *out[MAX_OUT];
    kiln_arg args[MAX_IN];
    for (int i = 0; i < s->n_in; i++) {
        in[i] = wrap(m->in[i], s->in_dtype[i], rows, length, 1, 1);
        args[i] = kiln_arg_array(in[i]);
    }
    for (int j = 0; j < s->n_out; j++)
        out[j] = wrap(m->out[j], s->out_dtype[j], rows, length, pitch, 1);
    OK(kiln_kernel_call(k, out, s->n_out, args, s->n_in, NULL));
    for (int i = 0; i < s->n_in; i++)
        kiln_array_free(in[i]);
    for (int j = 0; j < s->n_out; j++) {
        kiln_array *flat = wrap(m->out[j], s->out_dtype[j], 1, rows * pitch, 0, 1);
        OK(kiln_array_to_host(flat, m->got[j],
                              (size_t)rows * (size_t)pitch * kiln_dtype_size(s->out_dtype[j])));
        kiln_array_free(flat);
        kiln_array_free(out[j]);
    }
}

static void print_bytes(const unsigned char *at, size_t size)
{
    for (size_t k = 0; k < size; k++)
        fprintf(stderr, "%02x", at[size - 1 - k]);
}

/* The first few of a kernel are told. */
static bool is_told(int *count)
{
    failures++;
    return (*count)++ < 3;
}

static void check_row(const case_of_equality *s, const memory *m, int j, int row, int length, int pitch,
                      const char *form, int *count)
{
    size_t size = kiln_dtype_size(s->out_dtype[j]);
    const unsigned char *got = m->got[j] + (size_t)row * (size_t)pitch * size,
                        *want = m->first[j] + (size_t)row * size;
    if (memcmp(got, want, (size_t)length * size) == 0)
        return;
    for (int p = 0; p < length; p++, got += size, want += size) {
        if (is_same(got, want, s->out_dtype[j]) || !is_told(count))
            continue;
        fprintf(stderr, "%s of %s, result %d: value %d at place %d of %d, %s form: ", s->name,
                kiln_dtype_name(s->in_dtype[0]), j, row + p, p, length, form);
        print_bytes(got, size);
        fprintf(stderr, " for ");
        print_bytes(want, size);
        fprintf(stderr, "\n%s\n", s->text);
    }
}

static void take_memory(memory *m, const case_of_equality *s)
{
    for (int i = 0; i < s->n_in; i++) {
        void *values = random_values(s->in_dtype[i], n_values, 20261123u + (uint64_t)i);
        OK(kiln_array_from_host(&m->in[i], values, s->in_dtype[i], 1, (const int64_t[]){n_values}, device()));
        free(values);
    }
    for (int j = 0; j < s->n_out; j++) {
        size_t size = kiln_dtype_size(s->out_dtype[j]), capacity = (size_t)n_values * (LONGEST + 1);
        m->out[j] = NULL;
        OK(kiln_array_empty(&m->out[j], s->out_dtype[j], 1, (const int64_t[]){(int64_t)capacity}, device()));
        m->first[j] = malloc((size_t)n_values * size);
        m->got[j] = malloc(capacity * size);
        REQUIRE(m->first[j] && m->got[j]);
    }
}

static void free_memory(memory *m, const case_of_equality *s)
{
    for (int i = 0; i < s->n_in; i++)
        kiln_array_free(m->in[i]);
    for (int j = 0; j < s->n_out; j++) {
        kiln_array_free(m->out[j]);
        free(m->first[j]);
        free(m->got[j]);
    }
}

/* Each value by itself first, in the best form; then at all places, in both. */
static void check_form(const case_of_equality *s, memory *m, kiln_forms form)
{
    kiln_kernel *k = NULL;
    int count = 0;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = s->preamble;
    OK(kiln_set_forms(form));
    OK(kiln_elementwise_create(&k, s->in, s->out, s->text, "equal", &options));
    kernels++;
    if (form == KILN_FORMS_BEST) {
        call_window(k, s, m, n_values, 1, 2);
        for (int j = 0; j < s->n_out; j++)
            for (int v = 0; v < n_values; v++) {
                size_t size = kiln_dtype_size(s->out_dtype[j]);
                memcpy(m->first[j] + (size_t)v * size, m->got[j] + 2 * (size_t)v * size, size);
            }
    }
    for (int length = 1; length <= LONGEST; length++) {
        int rows = n_values - length + 1, pitch = length + length % 2;
        call_window(k, s, m, rows, length, pitch);
        for (int j = 0; j < s->n_out; j++)
            for (int row = 0; row < rows; row++)
                check_row(s, m, j, row, length, pitch, form == KILN_FORMS_BEST ? "best" : "quick", &count);
    }
    if (count > 3)
        fprintf(stderr, "%s: %d in all\n", s->name, count);
    kiln_kernel_free(k);
}

/* ---- groups of results ---- */

/* One result: statements in which "NAME" is the variable that gets it, and what they need in front. */
typedef struct item {
    char name[WORD], text[TEXT], preamble[PREAMBLE];
    kiln_dtype out;
} item;

/* Results of the same inputs. Each is a kernel of its own in the best form where it is apart: vectors are
 * made of all of a body or of none. In the quick form, which has none, they share one. */
typedef struct group {
    const char *in;
    kiln_dtype in_dtype[MAX_IN];
    int n_in, n;
    bool is_apart;
    item *item[MAX_OUT];
} group;

static void put_name(char *out, const char *text, const char *name)
{
    out += strlen(out);
    for (const char *at; (at = strstr(text, "NAME")); text = at + 4)
        out += sprintf(out, "%.*s%s", (int)(at - text), text, name);
    strcpy(out, text);
}

/* Items first to end - 1 of the group as one kernel. */
static void check_items(const group *g, memory *all, int first, int end, kiln_forms form)
{
    static char out[TEXT], text[MAX_OUT * TEXT], preamble[MAX_OUT * PREAMBLE];
    case_of_equality s = {g->item[first]->name, g->in, out, text, preamble, {0}, {0}, g->n_in, end - first};
    memory m = *all;
    memcpy(s.in_dtype, g->in_dtype, sizeof s.in_dtype);
    *out = *text = *preamble = 0;
    for (int k = first; k < end; k++) {
        const item *one = g->item[k];
        char name[16];
        snprintf(name, sizeof name, "kz%d", k - first);
        sprintf(out + strlen(out), "%s%s %s", k > first ? ", " : "", kiln_dtype_name(one->out), name);
        put_name(text, one->text, name);
        strcat(preamble, one->preamble);
        s.out_dtype[k - first] = one->out;
        m.out[k - first] = all->out[k];
        m.first[k - first] = all->first[k];
        m.got[k - first] = all->got[k];
    }
    check_form(&s, &m, form);
}

static void check_group(group *g)
{
    case_of_equality s = {.n_in = g->n_in, .n_out = g->n};
    memory m;
    if (g->n == 0)
        return;
    memcpy(s.in_dtype, g->in_dtype, sizeof s.in_dtype);
    for (int k = 0; k < g->n; k++)
        s.out_dtype[k] = g->item[k]->out;
    take_memory(&m, &s);
    for (int k = 0; k < g->n; k += g->is_apart ? 1 : g->n)
        check_items(g, &m, k, g->is_apart ? k + 1 : g->n, KILN_FORMS_BEST);
    check_items(g, &m, 0, g->n, KILN_FORMS_QUICK);
    free_memory(&m, &s);
    for (; g->n > 0; g->n--)
        free(g->item[g->n - 1]);
}

static item *add_item(group *g, const char *name, kiln_dtype out)
{
    if (g->n == MAX_OUT)
        check_group(g);
    item *one = calloc(1, sizeof *one);
    REQUIRE(one);
    snprintf(one->name, sizeof one->name, "%s", name);
    one->out = out;
    return g->item[g->n++] = one;
}

/* ---- operations ---- */

static kiln_dtype dtype_of_letter(char letter)
{
    static const char letters[] = " ?bhilBHILeEfdFD";
    const char *at = strchr(letters, letter);
    REQUIRE(at && at > letters);
    return (kiln_dtype)(at - letters);
}

static const char *take_letters(kiln_dtype *list, int *n, const char *at)
{
    for (*n = 0; *at && !strchr("- ", *at); at++)
        list[(*n)++] = dtype_of_letter(*at);
    return at;
}

static group open_groups[MAX_GROUPS];
static int n_groups;

static group *group_of(const char *in, const kiln_dtype *in_dtype, int n_in)
{
    for (group *g = open_groups; g < open_groups + n_groups; g++)
        if (!strcmp(g->in, in) && !memcmp(g->in_dtype, in_dtype, (size_t)n_in * sizeof *in_dtype))
            return g;
    REQUIRE(n_groups < MAX_GROUPS);
    group *g = &open_groups[n_groups++];
    *g = (group){.in = in, .n_in = n_in};
    memcpy(g->in_dtype, in_dtype, (size_t)n_in * sizeof *in_dtype);
    g->is_apart = in_dtype[0] == KILN_FLOAT32 || in_dtype[0] == KILN_FLOAT64;
    return g;
}

/* The operation's results as variables of a block, of which number `stored` goes out. */
static void put_block(item *one, const kiln_operation *op, const kiln_dtype *out, int stored)
{
    char *to = one->text, name[WORD] = "";
    const char *at = op->out_params;
    to += sprintf(to, "{ ");
    for (int j = 0; *at; j++, at += strspn(at, ", ")) {
        char type[WORD], variable[WORD];
        int length = 0;
        kiln_dtype known;
        REQUIRE(sscanf(at, "%31[^ ] %31[^ ,]%n", type, variable, &length) == 2);
        at += length;
        if (kiln_dtype_from_name(&known, type) != KILN_OK)
            to += sprintf(to, "typedef %s %s; ", kiln_dtype_name(out[j]), type);
        to += sprintf(to, "%s %s = %s(); ", kiln_dtype_name(out[j]), variable, kiln_dtype_name(out[j]));
        if (j == stored)
            strcpy(name, variable);
    }
    to += sprintf(to, "%s; NAME = %s; }\n", op->map, name);
    REQUIRE(to < one->text + sizeof one->text);
    snprintf(one->preamble, sizeof one->preamble, "%s", op->preamble ? op->preamble : "");
}

static void add_operation(const kiln_operation *op)
{
    for (const char *at = op->types; *at;) {
        kiln_dtype in[MAX_IN], out[MAX_OUT];
        int n_in, n_out;
        at = take_letters(in, &n_in, at);
        at = take_letters(out, &n_out, at + 2);
        at += strspn(at, " ");
        group *g = group_of(op->in_params, in, n_in);
        for (int j = 0; j < n_out; j++)
            put_block(add_item(g, op->name, out[j]), op, out, j);
    }
}

static void check_operations(void)
{
    for (int n = 0; n < kiln_operation_count(); n++) {
        kiln_operation op = KILN_OPERATION_INIT;
        OK(kiln_operation_at(&op, n));
        if (!op.reduce && op.map && (!only || !strcmp(op.name, only)))
            add_operation(&op);
    }
    for (group *g = open_groups; g < open_groups + n_groups; g++)
        check_group(g);
}

/* ---- functions of the preludes ---- */

typedef struct words {
    char item[MAX_WORDS][WORD];
    bool was_called[MAX_WORDS];
    int n;
} words;

static void add_words(words *list, const char *at)
{
    for (at += strspn(at, " "); *at && *at != '\n'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " \n");
        REQUIRE(length < WORD && list->n < MAX_WORDS);
        if (strncmp(at, "kn_", 3) != 0)
            snprintf(list->item[list->n++], WORD, "%.*s", (int)length, at);
        at += length;
    }
}

/* The words by which a prelude is chosen; of `vectors`, the first of those by which a line is: of lines
 * with the same macro, which make the same of other functions, that many. */
static void read_words(words *list, const char *path, bool vectors, int most)
{
    char line[512], macro[512] = "";
    int alike = 0;
    FILE *file = fopen(path, "r");
    REQUIRE(file);
    while (fgets(line, sizeof line, file)) {
        char *tag = strstr(line, "// needs:");
        alike = strncmp(line, macro, strlen(macro)) == 0 ? alike + 1 : 1;
        snprintf(macro, sizeof macro, "%.*s", (int)strcspn(line, "("), line);
        if (tag && (tag > line) == vectors && (!vectors || alike <= most)) {
            char *end = vectors ? tag + 10 + strcspn(tag + 10, " \n") : tag + strlen(tag);
            *end = 0;
            add_words(list, tag + 9);
        }
    }
    fclose(file);
}

/* Their words are types, constants, namespaces, or functions of addresses and messages. */
static bool has_no_functions(const char *path)
{
    static const char *const names[] = {
        "both_complex_names", "both_complex.", "both_constants", "both_halves", "both_checked",
        "both_operators",     "both_raw",      "both_real",      "host_half.",  "host_bfloat16",
        "host_loads",         "host_vectors",  "host_library",   "host_atomics"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strstr(path, names[k]))
            return true;
    return false;
}

typedef struct way {
    const char *when, *then;
} way;
/* Ways to call a function, in the order in which they are tried: the first that compiles is taken. */
static const way ways[] = {
    {"(T)(NAME(x))", "return (T)(NAME(x));"},
    {"(T)(NAME(x, y))", "return (T)(NAME(x, y));"},
    {"(T)(NAME(x, y, w))", "return (T)(NAME(x, y, w));"},
    {"(T)(NAME(x, y, w, y))", "return (T)(NAME(x, y, w, y));"},
    {"(T)(NAME(x, (int *)0))", "int n = 0; const T f = (T)NAME(x, &n); return f + (T)n;"},
    {"(T)(NAME(3, (const X *)0))", "const X p[3] = {x, y, w}; return (T)NAME(3, p);"},
    {"(T)(NAME(x, (X *)0))", "X n = 0; const T f = (T)NAME(x, &n); return f + (T)n;"},
    {"(T)(NAME(x, y, (int *)0))", "int n = 0; const T f = (T)NAME(x, y, &n); return f + (T)(n & 7);"},
    {"(NAME(x, (X *)0, (X *)0), (T)x)", "X s, c; NAME(x, &s, &c); return s + 2 * c;"},
};

/* Orders are small: their time grows with them. */
static const char *const orders[] = {"jn", "jnf", "yn", "ynf"};

static bool has_order(const char *name)
{
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        if (!strcmp(name, orders[k]))
            return true;
    return false;
}

enum { WAYS = sizeof ways / sizeof *ways, PROBED = 15 };

static const way *way_of(const char *name, int number)
{
    static const way of_order = {"(T)(NAME(2, x))", "return (T)(NAME(2, x));"};
    return has_order(name) ? &of_order : &ways[number];
}

/* can_NAME, which is never defined, returns so many bytes as its way has for a number, and one more; one
 * byte: there is no way. */
static void put_probe(char *preamble, const char *name)
{
    for (int k = has_order(name) ? WAYS - 1 : 0; k < WAYS; k++) {
        sprintf(preamble + strlen(preamble),
                "template <class X> __device__ auto can_%s(rank<%d>, X x, X y, X w) -> decltype(", name,
                WAYS - k);
        put_name(preamble, way_of(name, k)->when, name);
        sprintf(preamble + strlen(preamble), ", *(char(*)[%d])0);\n", k + 2);
    }
    sprintf(preamble + strlen(preamble), "__device__ char can_%s(rank<0>, T, T, T);\n", name);
}

/* The beginnings of functions of whole numbers. Their arguments fit every integer's type: C++ leaves open
 * what another number becomes there, and clang++ takes one for a vector's lanes and another for its tail. */
static const char *const of_whole[] = {
    "__brev",    "__byte_perm", "__clz",     "__ffs",      "__funnelshift", "__hadd",  "__mul24",
    "__mul64hi", "__mulhi",     "__popc",    "__rhadd",    "__sad",         "__uhadd", "__umul",
    "__urhadd",  "__usad",      "__int2",    "__uint2",    "__ll2",         "__ull2",  "__int_",
    "__uint_",   "__short_",    "__ushort_", "__longlong", "__hiloint",     "ldexp",   "scalb"};
static const char held_text[] = "#ifndef EQUAL_HELD\n#define EQUAL_HELD\n"
                                "template <class X> __device__ X held(X x, double end) {\n"
                                "return x > (X)-1 && (double)x < end ? x : (X)7; }\n#endif\n";

static bool takes_whole(const char *name)
{
    for (size_t k = 0; k < sizeof of_whole / sizeof *of_whole; k++)
        if (!strncmp(name, of_whole[k], strlen(of_whole[k])))
            return true;
    return false;
}

static void put_call(char *preamble, const char *name, int number)
{
    bool is_held = takes_whole(name);
    sprintf(
        preamble + strlen(preamble),
        "%stemplate <class X> __device__ T call_%s(X x, X y, X w) {\nconst double end = %s; (void)end; %s",
        is_held ? held_text : "", name, strstr(name, "short_") ? "3e4" : "2e9",
        is_held ? "x = held(x, end), y = held(y, end), w = held(w, end); " : "");
    put_name(preamble, way_of(name, number)->then, name);
    strcat(preamble, " }\n");
}

/* For the dtype, the number of each function's way and one more, in four bits; 0: there is none. */
static uint64_t find_functions(char (*names)[WORD], int count, kiln_dtype dtype)
{
    static char preamble[PROBED * PREAMBLE], text[TEXT];
    kiln_kernel *k = NULL;
    kiln_array *x = NULL, *there = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = preamble;
    uint64_t bits;
    strcpy(preamble, rank_text);
    strcpy(text, "there = 0");
    for (int n = 0; n < count; n++) {
        put_probe(preamble, names[n]);
        sprintf(text + strlen(text), " | (int64)(sizeof can_%s(rank<9>(), x, x, x) - 1) << %d", names[n],
                4 * n);
    }
    OK(kiln_set_forms(KILN_FORMS_QUICK));
    OK(kiln_elementwise_create(&k, "T x", "int64 there", text, "there", &options));
    OK(kiln_array_zeros(&x, dtype, 1, (const int64_t[]){1}, device()));
    kiln_arg in = kiln_arg_array(x);
    OK(kiln_kernel_call(k, &there, 1, &in, 1, NULL));
    OK(kiln_array_to_host(there, &bits, sizeof bits));
    kiln_array_free(x);
    kiln_array_free(there);
    kiln_kernel_free(k);
    return bits;
}

static void add_function(group *g, const char *name, int number)
{
    item *one = add_item(g, name, g->in_dtype[0]);
    put_call(one->preamble, name, number);
    snprintf(one->text, sizeof one->text, "NAME = call_%s(x, y, w);\n", name);
}

/* True if it is another's for float32. */
static bool is_narrow(const words *list, const char *name)
{
    size_t length = strlen(name);
    for (int k = 0; k < list->n; k++)
        if (name[length - 1] == 'f' && strlen(list->item[k]) == length - 1 &&
            !memcmp(list->item[k], name, length - 1))
            return true;
    return false;
}

static void check_dtype(words *list, kiln_dtype dtype, bool is_apart)
{
    group together = {.in = "T x, T y, T w", .in_dtype = {dtype, dtype, dtype}, .n_in = 3}, apart = together;
    apart.is_apart = is_apart && (dtype == KILN_FLOAT32 || dtype == KILN_FLOAT64);
    for (int first = 0; first < list->n; first += PROBED) {
        int count = list->n - first < PROBED ? list->n - first : PROBED;
        uint64_t there = find_functions(list->item + first, count, dtype);
        for (int k = first; k < first + count; k++) {
            int number = (int)(there >> 4 * (k - first) & 15) - 1;
            if (number < 0)
                continue;
            list->was_called[k] = true;
            add_function(is_narrow(list, list->item[k]) ? &together : &apart, list->item[k], number);
        }
    }
    check_group(&together);
    check_group(&apart);
}

static void check_list(words *list, bool is_apart)
{
    for (kiln_dtype dtype = is_all ? KILN_FLOAT16 : KILN_FLOAT32;
         is_all ? kiln_dtype_size(dtype) > 0 : dtype <= KILN_FLOAT64; dtype++)
        check_dtype(list, dtype, is_apart);
    for (int k = 0; k < list->n; k++)
        if (!list->was_called[k] && !KILN_DEVICE_IS_CUDA(device())) {
            fprintf(stderr, "%s: no way to call it\n", list->item[k]);
            failures++;
        }
}

static void keep_only(words *list)
{
    for (int k = 0; k < list->n && only; k++)
        if (!strcmp(list->item[k], only)) {
            strcpy(list->item[0], only);
            list->n = 1;
            return;
        }
    list->n = only ? 0 : list->n;
}

static void check_preludes(void)
{
    glob_t found;
    REQUIRE(glob(PRELUDES "host_*", 0, NULL, &found) == 0 &&
            glob(PRELUDES "both_*", GLOB_APPEND, NULL, &found) == 0);
    for (size_t k = 0; k < found.gl_pathc; k++) {
        static words list;
        list = (words){.n = 0};
        if (!has_no_functions(found.gl_pathv[k]))
            read_words(&list, found.gl_pathv[k], false, 0);
        keep_only(&list);
        static words vectors;
        vectors = (words){.n = 0};
        read_words(&vectors, found.gl_pathv[k], true, MAX_WORDS);
        check_list(&list, vectors.n > 0);
    }
    globfree(&found);
}

/* ---- reductions and rows ---- */

/* So many copies of each value, in rows or in columns. */
static kiln_array *copy_values(const unsigned char *values, kiln_dtype dtype, bool in_rows)
{
    size_t size = kiln_dtype_size(dtype);
    unsigned char *all = malloc((size_t)n_values * LONGEST * size);
    kiln_array *copies = NULL;
    REQUIRE(all);
    for (int v = 0; v < n_values; v++)
        for (int c = 0; c < LONGEST; c++)
            memcpy(all + (size_t)(in_rows ? v * LONGEST + c : c * n_values + v) * size,
                   values + (size_t)v * size, size);
    OK(kiln_array_from_host(&copies, all, dtype, 1, (const int64_t[]){n_values * LONGEST}, device()));
    free(all);
    return copies;
}

/* One call over copies of each value, of which so many are reduced or make a row. */
static kiln_array *call_copies(kiln_kernel *k, const kiln_array *copies, kiln_dtype dtype, int length,
                               bool in_rows, const kiln_call_options *options)
{
    kiln_array *x = in_rows ? wrap(copies, dtype, n_values, length, LONGEST, 1)
                            : wrap(copies, dtype, length, n_values, n_values, 1),
               *out = NULL;
    kiln_arg in = kiln_arg_array(x);
    OK(kiln_kernel_call(k, &out, 1, &in, 1, options));
    kiln_array_free(x);
    return out;
}

/* A reduction of equal elements gives that element. */
static void check_reduction(const case_of_equality *s, const memory *m, bool in_rows)
{
    kiln_kernel *k = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_call_options call = KILN_CALL_OPTIONS_INIT;
    size_t size = kiln_dtype_size(s->in_dtype[0]);
    unsigned char *values = random_values(s->in_dtype[0], n_values, 20261123u),
                  *got = malloc((size_t)n_values * size);
    kiln_array *copies = copy_values(values, s->in_dtype[0], in_rows);
    REQUIRE(got);
    options.preamble = s->preamble;
    call.axes = (const int[]){in_rows ? 1 : 0};
    call.n_axes = 1;
    OK(kiln_reduction_create(&k, "T x", "T z", s->text, "a == b || (a != a && b != b) ? a : (T)77", "z = a",
                             NULL, "equal", &options));
    for (int length = 1; length <= LONGEST; length++) {
        kiln_array *z = call_copies(k, copies, s->in_dtype[0], length, in_rows, &call);
        OK(kiln_array_to_host(z, got, (size_t)n_values * size));
        kiln_array_free(z);
        for (int v = 0; v < n_values; v++)
            if (!is_same(got + (size_t)v * size, m->first[0] + (size_t)v * size, s->in_dtype[0])) {
                fprintf(stderr, "%s of %s, %d copies of value %d, reduced in %s: another result\n", s->text,
                        kiln_dtype_name(s->in_dtype[0]), length, v, in_rows ? "rows" : "columns");
                failures++;
                break;
            }
    }
    kernels++;
    kiln_array_free(copies);
    free(values);
    free(got);
    kiln_kernel_free(k);
}

/* The same expression of an element by itself, and where it is reduced. */
static void check_mapped(const char *expression, const char *preamble, kiln_dtype dtype)
{
    char text[TEXT];
    memory m;
    snprintf(text, sizeof text, "z = %s", expression);
    case_of_equality s = {.name = "reduced",
                          .in = "T x",
                          .out = "T z",
                          .text = text,
                          .preamble = preamble,
                          .in_dtype = {dtype},
                          .out_dtype = {dtype},
                          .n_in = 1,
                          .n_out = 1};
    take_memory(&m, &s);
    check_form(&s, &m, KILN_FORMS_BEST);
    s.text = expression;
    check_reduction(&s, &m, true);
    check_reduction(&s, &m, false);
    free_memory(&m, &s);
}

static const char mixed[] = "exp(x) + tanh(x) * cbrt(x) + sin(x) * cos(x)";

/* Rows of one value are as large as their largest element. */
static void check_rows(kiln_dtype dtype)
{
    char text[256];
    kiln_kernel *k = NULL;
    size_t size = kiln_dtype_size(dtype);
    double *values = malloc((size_t)n_values * sizeof *values);
    REQUIRE(values);
    for (int v = 0; v < n_values; v++) {
        double wide = (double)(v * 7919 % n_values) / n_values * 8 - 4;
        float narrow = (float)wide;
        memcpy((unsigned char *)values + (size_t)v * size, size == 8 ? (void *)&wide : (void *)&narrow, size);
    }
    kiln_array *copies = copy_values((unsigned char *)values, dtype, true);
    snprintf(text, sizeof text, "e = %s\ne - max(e, axis=-1, keepdims=True)", mixed);
    OK(kiln_expression_create(&k, "x", text, NULL));
    for (int length = 1; length <= LONGEST; length++) {
        kiln_array *z = call_copies(k, copies, dtype, length, true, NULL);
        unsigned char *got = malloc((size_t)n_values * (size_t)length * size), zero[8] = {0};
        REQUIRE(got);
        OK(kiln_array_to_host(z, got, (size_t)n_values * (size_t)length * size));
        int others = 0;
        for (int v = 0; v < n_values * length; v++)
            others += memcmp(got + (size_t)v * size, zero, size) != 0;
        if (others > 0) {
            fprintf(stderr, "rows of %d equal %s: %d elements differ from their largest\n", length,
                    kiln_dtype_name(dtype), others);
            failures++;
        }
        free(got);
        kiln_array_free(z);
    }
    kernels++;
    kiln_array_free(copies);
    free(values);
    kiln_kernel_free(k);
}

static void check_reduced(words *list)
{
    for (kiln_dtype dtype = KILN_FLOAT32; dtype <= (is_all ? KILN_FLOAT64 : KILN_FLOAT32); dtype++) {
        check_mapped(mixed, NULL, dtype);
        check_rows(dtype);
        for (int k = 0; k < list->n && is_all; k++) {
            static char preamble[PREAMBLE];
            *preamble = 0;
            put_call(preamble, list->item[k], (int)find_functions(list->item + k, 1, dtype) - 1);
            sprintf(preamble + strlen(preamble),
                    "inline __device__ T of_all(T x) { return call_%s(x, x, x); }\n", list->item[k]);
            check_mapped("of_all(x)", preamble, dtype);
        }
    }
}

/* ---- */

static int usage(void)
{
    fprintf(stderr, "usage: equal [--target TARGET] [--only WORD] [all]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *target = "host";
    for (int k = 1; k < argc; k++) {
        if (!strcmp(argv[k], "all"))
            is_all = true;
        else if (k + 1 < argc && !strcmp(argv[k], "--target"))
            target = argv[++k];
        else if (k + 1 < argc && !strcmp(argv[k], "--only"))
            only = argv[++k];
        else
            return usage();
    }
    n_values = is_all ? 10000 : n_values;
    kiln_device d;
    use_own_cache();
    if (kiln_device_parse(&d, target) != KILN_OK || kiln_device_set_current(d) != KILN_OK)
        return SKIPPED;
    static words vectors;
    read_words(&vectors, PRELUDES "host_math.cpp", true, is_all || only ? MAX_WORDS : 2);
    REQUIRE(vectors.n > 7);
    if (is_all) {
        check_operations();
        check_preludes();
    } else {
        keep_only(&vectors);
        check_list(&vectors, false);
    }
    if (!only)
        check_reduced(&vectors);
    printf("%d kernels, %d failures\n", kernels, failures);
    return failures > 0;
}
