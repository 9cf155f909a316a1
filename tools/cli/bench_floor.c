/*
 * bench_floor.c - the floor of a row: a hand-written kernel with the same widths and the same mix of reads
 * and writes.
 *
 * A row says which streams its floor has: "a4b4>4" reads 4 bytes an element from the memory of the first and
 * of the second operand and writes 4; a capital letter stands for the second half of an operand's memory;
 * ">4" only writes; "a4/4" reads all elements of the first operand, of 4 bytes, and writes the results of a
 * reduction, of 4 bytes, between.
 */
#include "bench.h"
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { MAX_STREAMS = 4, MAX_THREADS = 64, BLOCK = 256, LOADS = 4 };

/* Bytes of an element, and where they lie in a set's arrays. */
typedef struct stream {
    int operand, bytes;
    bool is_second_half;
} stream;

struct bench_floor {
    const bench_data *data;
    stream in[MAX_STREAMS], out;
    int n_in;
    bool is_reduction;
    int64_t elements, results; /* results differ from elements where the row reduces */
    void *function;            /* CUDA */
    int group;                 /* elements a thread */
    int threads;               /* host */
};

static void read_streams(bench_floor *floor, const char *text, int result)
{
    for (char *end; *text && *text != '>' && *text != '/'; text = end)
        floor->in[floor->n_in++] =
            (stream){tolower((unsigned char)*text) - 'a', (int)strtol(text + 1, &end, 10),
                     isupper((unsigned char)*text) != 0};
    floor->is_reduction = *text == '/';
    floor->out = (stream){result, atoi(text + 1), false};
}

static char *address(const bench_floor *floor, const stream *s, int64_t iteration)
{
    kiln_array *base = floor->data->set[iteration % floor->data->n_sets].base[s->operand];
    return (char *)kiln_array_data(base) + (s->is_second_half ? kiln_array_nbytes(base) / 2 : 0);
}

/* ---- CUDA ---- */

/* The type that holds a chunk of so many bytes, and its 32-bit words. */
static const struct {
    int bytes;
    const char *type;
    int words;
    const char *word[4];
} chunks[] = {
    {1, "unsigned char", 1, {""}},
    {2, "unsigned short", 1, {""}},
    {4, "unsigned int", 1, {""}},
    {8, "uint2", 2, {".x", ".y"}},
    {16, "uint4", 4, {".x", ".y", ".z", ".w"}},
};
enum { LARGEST = 4 };

static int chunk_of(int bytes)
{
    int c = 0;
    while (c < LARGEST && chunks[c].bytes < bytes)
        c++;
    return c;
}

/* 16 bytes of the result a thread, but at most 64 of any input. */
static int choose_group(const bench_floor *floor)
{
    int group = floor->out.bytes < 16 ? 16 / floor->out.bytes : 1;
    for (int k = 0; k < floor->n_in; k++)
        while (group > 1 && group * floor->in[k].bytes > 64)
            group /= 2;
    return group;
}

static void write_loads(FILE *file, const bench_floor *floor)
{
    for (int k = 0; k < floor->n_in; k++) {
        int bytes = floor->in[k].bytes * floor->group, c = chunk_of(bytes), pieces = (bytes + 15) / 16;
        for (int p = 0; p < pieces; p++)
            fprintf(file, "    %s x%d_%d = ((const %s *)in%d)[t * %d + %d];\n", chunks[c].type, k, p,
                    chunks[c].type, k, pieces, p);
    }
}

/* Word w of the result takes word w of each input of the same width, and the reduced words of the others. */
static void write_reduced_words(FILE *file, const bench_floor *floor, int out_chunk)
{
    fputs("    unsigned int s = 0", file);
    for (int w = 0; w < chunks[out_chunk].words; w++)
        fprintf(file, ", r%d = %d", w, floor->n_in ? 0 : w + 1);
    fputs(";\n", file);
    for (int k = 0; k < floor->n_in; k++) {
        int bytes = floor->in[k].bytes * floor->group, c = chunk_of(bytes);
        bool same = c == out_chunk && bytes <= 16;
        for (int p = 0; p < (bytes + 15) / 16; p++)
            for (int w = 0; w < chunks[c].words; w++)
                if (same)
                    fprintf(file, "    r%d ^= x%d_%d%s;\n", w, k, p, chunks[c].word[w]);
                else
                    fprintf(file, "    s ^= x%d_%d%s;\n", k, p, chunks[c].word[w]);
    }
}

static void write_store(FILE *file, int c)
{
    static const char *const makers[] = {"(unsigned char)(", "(unsigned short)(", "(", "make_uint2(",
                                         "make_uint4("};
    fprintf(file, "    ((%s *)out)[t] = %s", chunks[c].type, makers[c]);
    for (int w = 0; w < chunks[c].words; w++)
        fprintf(file, "%sr%d ^ s", w ? ", " : "", w);
    fputs(");\n}\n", file);
}

static char *write_kernel(const bench_floor *floor)
{
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    int c = chunk_of(floor->out.bytes * floor->group);
    if (!file)
        return NULL;
    fputs("extern \"C\" __global__ void bench_floor(const void *in0, const void *in1, const void *in2, "
          "const void *in3, void *out, long long groups)\n{\n"
          "    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;\n"
          "    if (t >= groups)\n        return;\n",
          file);
    write_loads(file, floor);
    write_reduced_words(file, floor, c);
    write_store(file, c);
    if (fclose(file) == 0)
        return text;
    free(text);
    return NULL;
}

/* Four 16-byte loads a thread, all in flight at once, and the block's share of the results. The sum is looked
 * at before the stores, so that no compiler can load for the threads that store alone. */
static const char reduce_kernel[] =
    "static __device__ unsigned int sum_of(uint4 x) { return x.x + x.y + x.z + x.w; }\n"
    "extern \"C\" __global__ void bench_floor(const uint4 *in, uint4 *out, long long words,\n"
    "                                       long long results, long long share)\n"
    "{\n"
    "    long long at = (long long)blockIdx.x * 1024 + threadIdx.x;\n"
    "    unsigned int s = 0;\n"
    "    if (at + 768 < words) {\n"
    "        uint4 x0 = in[at], x1 = in[at + 256], x2 = in[at + 512], x3 = in[at + 768];\n"
    "        s = sum_of(x0) + sum_of(x1) + sum_of(x2) + sum_of(x3);\n"
    "    } else {\n"
    "        #pragma unroll 1\n"
    "        for (; at < words; at += 256)\n"
    "            s += sum_of(in[at]);\n"
    "    }\n"
    "    if (s == 2654435761u)\n"
    "        *(unsigned char *)out = 1;\n"
    "    long long k = blockIdx.x * share + threadIdx.x, end = (blockIdx.x + 1) * share;\n"
    "    end = end < results ? end : results;\n"
    "    #pragma unroll 1\n"
    "    for (; k < end; k += 256)\n"
    "        out[k] = make_uint4(s, s, s, s);\n"
    "}\n";

static bool make_function(bench *b, bench_floor *floor)
{
    if (floor->is_reduction)
        return bench_driver_function(b, &floor->function, reduce_kernel, "bench_floor");
    floor->group = choose_group(floor);
    char *source = write_kernel(floor);
    bool ok = source ? bench_driver_function(b, &floor->function, source, "bench_floor")
                     : bench_fail(b, "out of memory");
    free(source);
    return ok;
}

static bool reduce_on_device(bench *b, const bench_floor *floor, const stream *s, int64_t iteration)
{
    void *in = address(floor, s, iteration), *out = address(floor, &floor->out, iteration);
    long long words = floor->elements * s->bytes / 16, tile = BLOCK * LOADS;
    long long results = floor->results * floor->out.bytes / 16;
    long long blocks = words > tile ? (words + tile - 1) / tile : 1, share = (results + blocks - 1) / blocks;
    void *params[] = {&in, &out, &words, &results, &share};
    return bench_driver_launch(b, floor->function, (unsigned)blocks, BLOCK, params, false);
}

/* A launch for each input that is read. */
static bool run_reduction_on_device(bench *b, const bench_floor *floor, int64_t iteration)
{
    bool ok = true;
    for (int k = 0; k < floor->n_in && ok; k++)
        ok = reduce_on_device(b, floor, &floor->in[k], iteration);
    return ok;
}

static bool run_on_device(bench *b, const bench_floor *floor, int64_t iteration)
{
    void *in[MAX_STREAMS] = {0}, *out = address(floor, &floor->out, iteration);
    long long groups = floor->elements / floor->group;
    void *params[] = {&in[0], &in[1], &in[2], &in[3], &out, &groups};
    for (int k = 0; k < floor->n_in; k++)
        in[k] = address(floor, &floor->in[k], iteration);
    return bench_driver_launch(b, floor->function, (unsigned)((groups + BLOCK - 1) / BLOCK), BLOCK, params,
                               false);
}

/* ---- host ---- */

/* A thread's part. */
typedef struct part {
    const char *in[MAX_STREAMS];
    size_t in_bytes[MAX_STREAMS]; /* in all */
    char *out;
    size_t out_bytes;
    int n_in;
    bool streams; /* stores past the caches: for large results, as memcpy does */
} part;

static uint64_t mix(const char *bytes, size_t size)
{
    uint64_t mixed[4] = {0}, word[4];
    for (size_t at = 0; at + sizeof word <= size; at += sizeof word) {
        memcpy(word, bytes + at, sizeof word);
        for (int k = 0; k < 4; k++)
            mixed[k] ^= word[k];
    }
    return mixed[0] ^ mixed[1] ^ mixed[2] ^ mixed[3];
}

static void store(char *out, size_t size, uint64_t value, bool streams)
{
    size_t at = 0;
#ifdef __SSE2__
    __m128i wide = _mm_set1_epi64x((long long)value);
    for (; streams && at + sizeof wide <= size; at += sizeof wide)
        _mm_stream_si128((__m128i *)(out + at), wide);
#endif
    (void)streams;
    for (; at + sizeof value <= size; at += sizeof value)
        memcpy(out + at, &value, sizeof value);
}

/* Where step s of the result begins: at whole cache lines, as stores past the caches want. */
static size_t out_step(const part *p, size_t s, size_t steps)
{
    return s == steps ? p->out_bytes : p->out_bytes * s / steps / 64 * 64;
}

/* Blocks of the result by turns with the blocks of the inputs that belong to them. */
static void *run_part(void *user)
{
    enum { STEP = 16384 };
    const part *p = user;
    /* A reduction's results are few, or none in a part. */
    size_t most = p->n_in && p->in_bytes[0] > p->out_bytes ? p->in_bytes[0] : p->out_bytes;
    size_t steps = (most + STEP - 1) / STEP;
    for (size_t s = 0; s < steps; s++) {
        uint64_t value = s;
        for (int k = 0; k < p->n_in; k++) {
            size_t step = p->in_bytes[k] / steps;
            value ^= mix(p->in[k] + s * step, step);
        }
        size_t begin = out_step(p, s, steps);
        store(p->out + begin, out_step(p, s + 1, steps) - begin, value, p->streams);
    }
    return NULL;
}

/* The results before an element's. */
static int64_t results_at(const bench_floor *floor, int64_t element)
{
    return element == floor->elements ? floor->results : floor->results * element / floor->elements / 64 * 64;
}

/* Element boundaries of the parts are multiples of 64. */
static part cut(const bench_floor *floor, int64_t iteration, int64_t begin, int64_t end)
{
    part p = {.n_in = floor->n_in, .in = {NULL}, .in_bytes = {0}};
    int64_t count = end - begin, result = results_at(floor, begin);
    p.out = address(floor, &floor->out, iteration) + result * floor->out.bytes;
    p.out_bytes = (size_t)((results_at(floor, end) - result) * floor->out.bytes);
    p.streams = floor->results * floor->out.bytes > (8 << 20);
    for (int k = 0; k < floor->n_in; k++) {
        p.in[k] = address(floor, &floor->in[k], iteration) + begin * floor->in[k].bytes;
        p.in_bytes[k] = (size_t)(count * floor->in[k].bytes);
    }
    return p;
}

static void run_on_host(const bench_floor *floor, int64_t iteration)
{
    pthread_t thread[MAX_THREADS];
    part parts[MAX_THREADS];
    int started = 0, count = floor->elements < 1 << 16 ? 1 : floor->threads;
    int t = 0;
    do {
        int64_t begin = floor->elements * t / count / 64 * 64;
        int64_t end = t + 1 == count ? floor->elements : floor->elements * (t + 1) / count / 64 * 64;
        parts[t] = cut(floor, iteration, begin, end);
    } while (++t < count);
    while (started + 1 < count && pthread_create(&thread[started], NULL, run_part, &parts[started + 1]) == 0)
        started++;
    run_part(&parts[0]);
    for (t = started + 1; t < count; t++) /* threads that could not be had */
        run_part(&parts[t]);
    for (t = 0; t < started; t++)
        pthread_join(thread[t], NULL);
}

static int host_threads(void)
{
    const char *wanted = secure_getenv("KILN_NUM_THREADS");
    long count = wanted && atoi(wanted) > 0 ? atoi(wanted) : sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (int)count;
}

/* ---- both ---- */

bool bench_floor_make(bench *b, bench_floor **out, const bench_row *row, const bench_data *data)
{
    *out = NULL;
    bench_floor *floor = calloc(1, sizeof *floor);
    if (!floor)
        return bench_fail(b, "out of memory");
    floor->data = data;
    floor->elements = floor->results = data->elements;
    floor->threads = host_threads();
    read_streams(floor, row->floor, row->n_operands - 1);
    if (floor->is_reduction)
        floor->elements = kiln_array_size(data->set[0].base[0]);
    if (b->is_cuda && !make_function(b, floor)) {
        free(floor);
        return false;
    }
    *out = floor;
    return true;
}

void bench_floor_free(bench_floor *floor)
{
    free(floor);
}

bool bench_floor_run(bench *b, void *floor, int64_t iteration)
{
    if (b->is_cuda)
        return (((bench_floor *)floor)->is_reduction ? run_reduction_on_device : run_on_device)(b, floor,
                                                                                                iteration);
    run_on_host(floor, iteration);
    return true;
}
