/* An NVRTC of our own, for tests of what stands above the compiler: its "cubin" is what the fake driver
 * loads, a line with the kernel's name and the size of its one struct parameter, counted from the generated
 * source. Built with EMULATED_CUDA it compiles the kernel for the processor instead, and the line names the
 * library: `emulated NAME PATH`. Libraries stay in FAKE_NVRTC_FOLDER, named by their sources. */
#ifdef EMULATED_CUDA
#include "emulated_source.h"
#include <sys/stat.h>
#endif
#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

typedef struct program {
    char *source;
    char code[1024];
    char *log;                        /* of the compiler of emulated kernels; NULL */
    char *expression[8], *lowered[8]; /* name expressions: each becomes a function of one pointer */
    int n_expressions;
} program;

static long compiles;

EXPORT long fake_compiles(void)
{
    return __atomic_load_n(&compiles, __ATOMIC_RELAXED);
}

/* ---- the size of struct kn_args ---- */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* Where the struct's members begin; NULL where there is no such struct. */
static const char *find_struct(const char *source, const char *name)
{
    char text[64];
    snprintf(text, sizeof text, "struct %s {", name);
    const char *at = strstr(source, text);
    return at ? at + strlen(text) : NULL;
}

static bool size_of_struct(const char *source, const char *name, size_t *size);

/* A raw array, by its number of axes (src/codegen/prelude/both_raw.cpp); false: the line is none. */
static bool size_of_raw(const char *line, size_t *size)
{
    const char *raw = strstr(line, "kn_raw_data<"), *rank = raw ? strrchr(raw, ',') : NULL;
    if (rank)
        *size = 24 + 16 * (size_t)atol(rank + 1);
    return rank != NULL;
}

/* One declaration, up to its semicolon. */
static bool size_of_member(const char *source, const char *line, size_t *size, size_t *align)
{
    static const struct {
        const char *type;
        size_t size;
    } types[] = {{"long long", 8}, {"double", 8}, {"short", 2}, {"unsigned", 4}, {"int", 4}, {"float", 4}};
    *size = 0;
    *align = 8;
    if (size_of_raw(line, size))
        return true;
    *align = 0;
    sscanf(line, " alignas(%zu)", align);
    const char *type = strchr(line, ')') ? strchr(line, ')') + 1 : line, *bracket = strchr(line, '[');
    if (strchr(line, '*'))
        *size = 8;
    for (size_t t = 0; t < sizeof types / sizeof *types && *size == 0; t++)
        if (strstr(type, types[t].type))
            *size = types[t].size;
    size_t natural = *size;
    const char *inner = *size == 0 ? strstr(type, "kn_") : NULL; /* a struct of unsigneds and ints */
    char name[32];
    if (inner && sscanf(inner, "%31[a-z_]", name) == 1 && size_of_struct(source, name, size))
        natural = 4;
    *align = *align ? *align : natural;
    if (bracket)
        *size *= (size_t)atol(bracket + 1);
    return natural > 0;
}

/* Two names in one declaration count twice. */
static size_t names_in(const char *line)
{
    size_t count = 1;
    for (; *line && !strchr(line, '>'); line++)
        count += *line == ',';
    return count;
}

static bool size_of_struct(const char *source, const char *name, size_t *size)
{
    const char *at = find_struct(source, name), *end;
    size_t align = 1, one, one_align;
    char line[256];
    *size = 0;
    if (!at)
        return false;
    for (; (end = strpbrk(at, ";}")) && *end == ';'; at = end + 1) {
        snprintf(line, sizeof line, "%.*s", (int)(end - at), at);
        if (!size_of_member(source, line, &one, &one_align))
            return false;
        *size = round_up(*size, one_align) + names_in(line) * one;
        align = one_align > align ? one_align : align;
    }
    *size = round_up(*size, align);
    return true;
}

/* "__device__ unsigned char kn_value[sizeof(NAME)]": an object as large as the struct of the preamble; of
 * types that the preamble names, as large as four doubles. */
static void write_value(program *p)
{
    enum { UNKNOWN = 32 };
    static const char object[] = "__device__ unsigned char kn_value[sizeof(";
    const char *at = strstr(p->source, object);
    char name[32];
    size_t size, used = strlen(p->code);
    if (at && sscanf(at + sizeof object - 1, "%31[a-z_]", name) == 1)
        snprintf(p->code + used, sizeof p->code - used, "global kn_value %zu\n",
                 size_of_struct(p->source, name, &size) ? size : (size_t)UNKNOWN);
}

/* The kernel's name, if it has the one struct as its parameter. */
static bool find_name(const program *p, char *name, size_t size)
{
    const char *end = strstr(p->source, "(const __grid_constant__ kn_args"), *start = end;
    while (end && start > p->source && start[-1] != ' ')
        start--;
    if (end)
        snprintf(name, size, "%.*s", (int)(end - start), start);
    return end != NULL;
}

static bool write_code(program *p)
{
    size_t size;
    char name[128];
    if (!find_name(p, name, sizeof name) || !size_of_struct(p->source, "kn_args", &size))
        return false;
    snprintf(p->code, sizeof p->code, "kernel %s %zu\n", name, size);
    write_value(p);
    return true;
}

/* ---- whole modules: extern "C" functions and __device__ arrays of floats ---- */

static size_t size_of_parameter(const char *text, size_t length)
{
    static const struct {
        const char *type;
        size_t size;
    } types[] = {{"*", 8},        {"long long", 8}, {"int64", 8}, {"double", 8}, {"short", 2},
                 {"int16", 2},    {"float16", 2},   {"char", 1},  {"int8", 1},   {"bool", 1},
                 {"unsigned", 4}, {"int", 4},       {"float", 4}};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        if (memmem(text, length, types[t].type, strlen(types[t].type)))
            return types[t].size;
    return 0;
}

static void put(program *p, const char *format, const char *text, size_t length)
{
    size_t used = strlen(p->code);
    snprintf(p->code + used, sizeof p->code - used, format, (int)length, text);
}

static void put_parameters(program *p, const char *at, const char *end)
{
    char number[16];
    while (at < end) {
        size_t length = strcspn(at, ",)"), size = size_of_parameter(at, length);
        snprintf(number, sizeof number, "%zu", size);
        if (size)
            put(p, " %.*s", number, strlen(number));
        at += length + 1;
    }
}

static bool write_module(program *p)
{
    static const char function[] = "extern \"C\" __global__ void ", variable[] = "__device__ float ";
    for (const char *at = p->source; (at = strstr(at, function));) {
        at += sizeof function - 1;
        const char *open = strchr(at, '('), *close = strchr(at, ')');
        put(p, "kernel %.*s", at, (size_t)(open - at));
        put_parameters(p, open + 1, close);
        put(p, "%.*s\n", "", 0);
    }
    for (const char *at = p->source; (at = strstr(at, variable));) {
        at += sizeof variable - 1;
        char size[32];
        snprintf(size, sizeof size, " %ld\n", 4 * atol(strchr(at, '[') + 1));
        put(p, "global %.*s", at, strcspn(at, "["));
        put(p, "%.*s", size, strlen(size));
    }
    for (int i = 0; i < p->n_expressions; i++)
        put(p, "kernel %.*s 8\n", p->lowered[i], strlen(p->lowered[i]));
    return p->code[0] != '\0';
}

/* ---- kernels for the processor ---- */

#ifdef EMULATED_CUDA
static unsigned long long hash_of(const char *text, unsigned long long hash)
{
    for (; *text; text++) /* FNV-1a */
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
    return hash;
}

static void read_log(program *p, const char *folder)
{
    char path[400];
    enum { MOST = 64 << 10 };
    snprintf(path, sizeof path, "%s/log", folder);
    FILE *file = fopen(path, "r");
    p->log = calloc(1, MOST);
    if (file && fread(p->log, 1, MOST - 1, file) == 0)
        strcpy(p->log, "the compiler says nothing");
    if (file)
        fclose(file);
}

/* Two that compile the same source at once make equal libraries, of which the one that is first stays. */
static bool write_emulated(program *p, const char *name, const char *flags)
{
    char path[300], making[340];
    struct stat header;
    const char *folder = getenv("FAKE_NVRTC_FOLDER");
    if (!folder || stat(EMULATED_CUDA, &header) != 0)
        return false;
    snprintf(making, sizeof making, "%ld %ld %s", (long)header.st_size, (long)header.st_mtime, flags);
    snprintf(path, sizeof path, "%s/%016llx", folder,
             hash_of(p->source, hash_of(making, 0xcbf29ce484222325ull)));
    snprintf(making, sizeof making, "%s-XXXXXX", path);
    mkdir(folder, 0777);
    if (access(path, F_OK) != 0) {
        if (!mkdtemp(making))
            return false;
        if (!emulated_source_compile(making, p->source, name, flags)) {
            read_log(p, making);
            return false;
        }
        if (rename(making, path) != 0 && access(path, F_OK) != 0)
            return false;
    }
    snprintf(p->code, sizeof p->code, "emulated %s %s/kernel.so\n", name, path);
    return true;
}
#else
static bool write_emulated(program *p, const char *name, const char *flags)
{
    (void)p, (void)name, (void)flags;
    return false;
}
#endif

/* ---- NVRTC's functions ---- */

/* FAKE_NVRTC_FAILS: the function that fails. */
static bool fails(const char *function)
{
    const char *name = getenv("FAKE_NVRTC_FAILS");
    return name && strcmp(name, function) == 0;
}

EXPORT int nvrtcVersion(int *major, int *minor)
{
    *major = 13;
    *minor = 0;
    return 0;
}

EXPORT const char *nvrtcGetErrorString(int result)
{
    return result ? "a fake error" : "no error";
}

/* FAKE_NVRTC_KNOWN: the one architecture that it compiles for. */
EXPORT int nvrtcGetNumSupportedArchs(int *count)
{
    *count = getenv("FAKE_NVRTC_KNOWN") != NULL;
    return 0;
}

EXPORT int nvrtcGetSupportedArchs(int *known)
{
    if (getenv("FAKE_NVRTC_KNOWN"))
        *known = atoi(getenv("FAKE_NVRTC_KNOWN"));
    return 0;
}

EXPORT int nvrtcCreateProgram(program **out, const char *source, const char *name, int n_headers,
                              const char *const *texts, const char *const *names)
{
    if (fails(__func__))
        return 11;
    (void)name, (void)n_headers, (void)texts, (void)names;
    *out = calloc(1, sizeof **out);
    (*out)->source = strdup(source);
    return 0;
}

EXPORT int nvrtcDestroyProgram(program **p)
{
    for (int i = 0; i < (*p)->n_expressions; i++) {
        free((*p)->expression[i]);
        free((*p)->lowered[i]);
    }
    free((*p)->source);
    free((*p)->log);
    free(*p);
    *p = NULL;
    return 0;
}

/* A compiler within the process that goes wrong, where the source asks for it. */
static void go_wrong(const char *source)
{
    enum { PIECE = 16 << 20 };
    if (strstr(source, "PLEASE_CRASH")) {
        signal(SIGSEGV, SIG_DFL); /* without the report of a sanitizer */
        raise(SIGSEGV);
    }
    if (strstr(source, "PLEASE_ABORT"))
        abort();
    if (strstr(source, "PLEASE_EXIT"))
        _exit(3);
    while (strstr(source, "PLEASE_HANG"))
        pause();
    while (strstr(source, "PLEASE_HOG")) {
        void *piece = malloc(PIECE);
        if (piece)
            memset(piece, 1, PIECE);
        usleep(10 * 1000);
    }
}

/* As NVRTC itself: what its first compile made is taken down by an exit handler, which must find no compile
 * that still runs. */
static long running;

static void take_down(void)
{
    if (__atomic_load_n(&running, __ATOMIC_SEQ_CST) > 0)
        abort();
}

EXPORT int nvrtcCompileProgram(program *p, int n_options, const char *const *options)
{
    if (fails(__func__))
        return 11;
    const char *slow = getenv("FAKE_NVRTC_MS");
    char name[128], flags[512] = "";
    for (int i = 0; i < n_options; i++)
        if (strncmp(options[i], "-D", 2) == 0 && strlen(flags) + strlen(options[i]) + 4 < sizeof flags)
            sprintf(flags + strlen(flags), " '%s'", options[i]);
    go_wrong(p->source);
    if (__atomic_fetch_add(&compiles, 1, __ATOMIC_RELAXED) == 0)
        atexit(take_down);
    __atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
    if (slow)
        usleep((unsigned)atoi(slow) * 1000u);
    bool is_emulated = find_name(p, name, sizeof name) && write_emulated(p, name, flags);
    int result = is_emulated || (!p->log && (write_code(p) || write_module(p))) ? 0 : 6;
    __atomic_fetch_sub(&running, 1, __ATOMIC_SEQ_CST);
    return result;
}

EXPORT int nvrtcGetProgramLogSize(program *p, size_t *size)
{
    if (fails(__func__))
        return 11;
    *size = p->log ? strlen(p->log) + 1 : 1;
    return 0;
}

EXPORT int nvrtcGetProgramLog(program *p, char *log)
{
    if (fails(__func__))
        return 11;
    strcpy(log, p->log ? p->log : "");
    return 0;
}

EXPORT int nvrtcGetCUBINSize(program *p, size_t *size)
{
    if (fails(__func__))
        return 11;
    *size = strlen(p->code);
    return 0;
}

EXPORT int nvrtcGetCUBIN(program *p, char *code)
{
    if (fails(__func__))
        return 11;
    memcpy(code, p->code, strlen(p->code));
    return 0;
}

EXPORT int nvrtcGetPTXSize(program *p, size_t *size)
{
    return nvrtcGetCUBINSize(p, size);
}

EXPORT int nvrtcGetPTX(program *p, char *code)
{
    return nvrtcGetCUBIN(p, code);
}

/* Mangled: the letters and digits alone. */
EXPORT int nvrtcAddNameExpression(program *p, const char *expression)
{
    if (fails(__func__))
        return 11;
    char *to;
    if (p->n_expressions == 8)
        return 1;
    p->expression[p->n_expressions] = strdup(expression);
    p->lowered[p->n_expressions++] = to = calloc(1, strlen(expression) + 3);
    *to++ = '_';
    *to++ = 'Z';
    for (; *expression; expression++)
        if (isalnum((unsigned char)*expression))
            *to++ = *expression;
    return 0;
}

/* As NVRTC does: by the very text that was added. */
EXPORT int nvrtcGetLoweredName(program *p, const char *expression, const char **name)
{
    if (fails(__func__))
        return 11;
    for (int i = 0; i < p->n_expressions; i++)
        if (strcmp(p->expression[i], expression) == 0) {
            *name = p->lowered[i];
            return 0;
        }
    return 1;
}
