/* graph/arena.h - memory that goes back all at once: what a lowering works with. */
#ifndef KN_GRAPH_ARENA_H
#define KN_GRAPH_ARENA_H

#include <stddef.h>

typedef struct kn_arena {
    struct kn_arena_block *block;
    int failed; /* an allocation was refused: remembered, as kn_str does */
} kn_arena;
#define KN_ARENA_INIT                                                                                        \
    {                                                                                                        \
        NULL, 0                                                                                              \
    }

/* Zeroed, aligned to 16 bytes. NULL where there is no memory. */
void *kn_arena_take(kn_arena *arena, size_t size);
void kn_arena_free(kn_arena *arena);

#endif
