/* Memory that is freed all at once. */
#include "graph/arena.h"

#include <stdint.h>

#include "base/alloc.h"

/* Bytes of the first block and of the largest. Each block is twice the one before, or larger on demand. */
enum { ALIGN = 16, FIRST_BLOCK = 1024, BLOCK = 16384 };

struct kn_arena_block {
    struct kn_arena_block *next;
    size_t used, size;
    _Alignas(ALIGN) unsigned char bytes[];
};

void *kn_arena_take(kn_arena *arena, size_t size)
{
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct kn_arena_block *b = arena->block;
    if (!b || b->size - b->used < size) {
        size_t usual = !b ? FIRST_BLOCK : b->size < BLOCK / 2 ? 2 * b->size : BLOCK;
        size_t capacity = size > usual ? size : usual;
        b = kn_calloc(1, sizeof *b + capacity);
        if (!b) {
            arena->failed = 1;
            return NULL;
        }
        b->size = capacity;
        b->next = arena->block;
        arena->block = b;
    }
    void *out = b->bytes + b->used;
    b->used += size;
    return out;
}

void kn_arena_free(kn_arena *arena)
{
    while (arena->block) {
        struct kn_arena_block *next = arena->block->next;
        kn_free(arena->block);
        arena->block = next;
    }
}
