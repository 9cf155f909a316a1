/* graph/arena.h - memory that is freed all at once, for lowerings. */
#ifndef KN_GRAPH_ARENA_H
#define KN_GRAPH_ARENA_H

#include <stddef.h>

typedef struct kn_arena {
    struct kn_arena_block *block;
    int failed; /* an allocation has failed: remembered, as in kn_str */
} kn_arena;
#define KN_ARENA_INIT                                                                                        \
    {                                                                                                        \
        NULL, 0                                                                                              \
    }

/* Zeroed, aligned to 16 bytes. NULL where there is no memory. */
void *kn_arena_take(kn_arena *arena, size_t size);
void kn_arena_free(kn_arena *arena);

#endif
