/* device/pool_block.h - blocks by address, in bins and quick lists. All under the pool's lock. */
#ifndef KN_DEVICE_POOL_BLOCK_H
#define KN_DEVICE_POOL_BLOCK_H

#include "device/pool_parts.h"

/* The block that begins at pointer; NULL where none does. */
kn_block *kn_pool_find_block(const kn_pool *pool, const void *pointer);
/* In use, and known by its address; NULL without memory. */
kn_block *kn_pool_new_block(kn_pool *pool, kn_segment *home, char *pointer, size_t size);
void kn_pool_drop_block(kn_pool *pool, kn_block *b);
/* A free block into, or out of, the bins of its arena. */
void kn_pool_put_in_bin(kn_pool *pool, kn_block *b);
void kn_pool_take_from_bin(kn_pool *pool, kn_block *b);
/* The best fit, which stays where it is; NULL. */
kn_block *kn_pool_find_in_bins(const kn_pool *pool, const kn_bin_set *set, size_t size);
/* Joins a block with the one behind it, which is in no list. */
void kn_pool_join_after(kn_pool *pool, kn_block *b);
/* A block behind b, of the bytes from `size` on, in the same state; NULL without memory. */
kn_block *kn_pool_split_block(kn_pool *pool, kn_block *b, size_t size);
/* Leaves size bytes; the rest, where it is worth it, becomes a free block. */
void kn_pool_cut_block(kn_pool *pool, kn_block *b, size_t size);
/* A block that was asked with the very same size; NULL. */
kn_block *kn_pool_take_quick(kn_pool *pool, kn_pool_arena *l, size_t size);
/* Nobody uses the block any more: into a quick list, or joined with its neighbours into a bin. */
void kn_pool_put_free(kn_pool *pool, kn_block *b);
/* Empties the quick lists into the bins. */
void kn_pool_flush_quick(kn_pool *pool, kn_pool_arena *l);

#endif
