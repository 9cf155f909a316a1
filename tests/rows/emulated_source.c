/* emulated_source.c - a kernel's CUDA source as a library of the processor (emulated_cuda.h). */
#include "emulated_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Behind a text in quotes. */
static const char *after_quoted(const char *at)
{
    for (++at; *at != '"'; ++at)
        at += *at == '\\';
    return at + 1;
}

/* Behind what stands in brackets. */
static const char *after_brackets(const char *at)
{
    int depth = 0;
    do {
        if (*at == '"') {
            at = after_quoted(at);
            continue;
        }
        depth += (*at == '(') - (*at == ')');
        ++at;
    } while (depth > 0);
    return at;
}

/* Dynamic shared memory: how kernels declare it, what stands for it. */
static const struct {
    const char *declared, *emulated;
} buffers[] = {{"extern __shared__ __align__(16) unsigned char kn_buffer[];",
                "__shared__ __align__(16) unsigned char kn_buffer[227 << 10];"},
               {"extern __shared__ uint4 kn_shared[];", "__shared__ uint4 kn_shared[63 << 6];"}};

/* Behind such a declaration; NULL: there is none. */
static const char *put_buffer(FILE *to, const char *at)
{
    for (size_t k = 0; k < sizeof buffers / sizeof *buffers; ++k)
        if (!strncmp(at, buffers[k].declared, strlen(buffers[k].declared))) {
            fputs(buffers[k].emulated, to);
            return at + strlen(buffers[k].declared);
        }
    return NULL;
}

/* asm volatile("text" : "=r"(x) : "l"(y) : "memory") becomes emulated_asm("text", x, (y)); without volatile
 * too. */
static const char *put_assembly(FILE *to, const char *at)
{
    at = strchr(at, '(') + 1;
    const char *end = after_quoted(at);
    fprintf(to, "emulated_asm(%.*s", (int)(end - at), at);
    for (at = end; *at != ')';) {
        if (*at == '(') {
            end = after_brackets(at);
            fprintf(to, ", %.*s", (int)(end - at), at);
            at = end;
        } else if (*at == '"')
            at = after_quoted(at);
        else
            ++at;
    }
    fputc(')', to);
    return at + 1;
}

static void write_source(FILE *to, const char *source, const char *entry)
{
    static const char assembly[] = "asm volatile(", pure[] = "asm(\"";
    fprintf(to, "#include \"%s\"\n", EMULATED_CUDA);
    while (*source) {
        const char *behind = put_buffer(to, source);
        if (behind)
            source = behind;
        else if (!strncmp(source, assembly, sizeof assembly - 1) || !strncmp(source, pure, sizeof pure - 1))
            source = put_assembly(to, source);
        else
            fputc(*source++, to);
    }
    fprintf(to,
            "static struct emulated_entry { emulated_entry() { emulated_kernel = [](const void *arguments) { "
            "%s(*(const kn_args *)arguments); }; } } "
            "emulated_entry;\n"
            "extern \"C\" __attribute__((visibility(\"default\"))) unsigned long emulated_size = "
            "sizeof(kn_args);\n",
            entry);
}

bool emulated_source_compile(const char *folder, const char *source, const char *entry, const char *flags)
{
    char text[4096];
    snprintf(text, sizeof text, "%s/kernel.cpp", folder);
    FILE *to = fopen(text, "w");
    if (!to)
        return false;
    write_source(to, source, entry);
    fclose(to);
    /* Hidden, since variables of templates would else be those of the kernel that was loaded first. An access
     * that is misaligned ends the program, as it ends a kernel. */
    snprintf(text, sizeof text,
             EMULATED_COMPILER " -fsanitize=alignment -fsanitize-undefined-trap-on-error -shared %s -o "
                               "%s/kernel.so %s/kernel.cpp -lpthread 2> %s/log",
             flags, folder, folder, folder);
    return system(text) == 0;
}
