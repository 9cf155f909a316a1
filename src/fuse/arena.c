#include "fuse/arena.h"

#include <stdint.h>

#include "base/alloc.h"

enum { ALIGN = 16, BLOCK = 16384 /* bytes of a block, unless more is wanted at once */ };

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
        size_t room = size > BLOCK ? size : BLOCK;
        b = kn_calloc(1, sizeof *b + room);
        if (!b) {
            arena->failed = 1;
            return NULL;
        }
        b->size = room;
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
