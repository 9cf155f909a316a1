/* A profiler's library, as NVTX 3 starts one: it takes ranges of domains and writes them down. It says that
 * it cannot start where PROFILER_REFUSES is set, and leaves a function out where PROFILER_LACKS is. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

typedef void (*any_function)(void);

typedef struct callbacks {
    size_t struct_size;
    int (*get_functions)(int module, any_function ***table, unsigned *size);
} callbacks;

/* "[NAME" for a range that begins, "]" for its end. */
extern EXPORTED char profiler_log[4096];
char profiler_log[4096];

static void put(const char *text)
{
    if (strlen(profiler_log) + strlen(text) < sizeof profiler_log)
        strcat(profiler_log, text);
}

static void *create_domain(const char *name)
{
    static int domain;
    put(name);
    put(":");
    return &domain;
}

static int push(void *domain, const unsigned char *event)
{
    const char *message;
    uint16_t version_and_size[2];
    int32_t type;
    memcpy(version_and_size, event, sizeof version_and_size);
    memcpy(&type, event + 32, sizeof type);
    memcpy(&message, event + 40, sizeof message);
    put(!domain || version_and_size[0] != 3 || version_and_size[1] != 48 || type != 1 ? "[?" : "[");
    put(message);
    return 0;
}

static int pop(void *domain)
{
    put(domain ? "]" : "?");
    return 0;
}

EXPORTED int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id));
int InitializeInjectionNvtx2(const void *(*get_table)(uint32_t id))
{
    static const unsigned sizes[] = {16, 9, 15, 7, 16, 7};
    const callbacks *c = get_table(1);
    any_function **table = NULL;
    unsigned size = 0;
    if (getenv("PROFILER_REFUSES") || c->struct_size != sizeof *c || get_table(77) || !get_table(3) ||
        c->get_functions(0, &table, &size) || c->get_functions(7, &table, &size))
        return 0;
    for (int module = 1; module <= 6; module++)
        if (!c->get_functions(module, &table, &size) || size != sizes[module - 1] || table[0] || table[size])
            return 0;
    c->get_functions(5, &table, &size);
    *table[4] = (any_function)push;
    *table[5] = getenv("PROFILER_LACKS") ? NULL : (any_function)pop;
    *table[12] = (any_function)create_domain;
    return 1;
}
