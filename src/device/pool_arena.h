/* device/pool_arena.h - the memory of one stream or capture, and its blocks that wait for other streams. All
 * under the pool's lock. */
#ifndef KN_DEVICE_POOL_ARENA_H
#define KN_DEVICE_POOL_ARENA_H

#include "device/pool_parts.h"

/* An event behind the work that is now queued on the stream. NULL, when that work is over: where no event can
 * be had, it is waited for. */
void *kn_pool_event_behind(kn_pool *pool, void *stream);
/* Gives back the events that are over, the last one first; true if none is left. wait: waits for all. */
bool kn_pool_events_over(kn_pool *pool, void **events, int *count, bool wait);
/* True once the work that is now queued on the stream is over; false if it is not after so long, or where a
 * capture forbids to ask. */
bool kn_pool_stream_is_over(kn_pool *pool, void *stream, double most_ms);
/* The arena of a stream (in a capture, where that is not 0), found; made where there is none, NULL without
 * memory. */
kn_pool_arena *kn_pool_find_arena(kn_pool *pool, void *stream, uint64_t capture);
kn_pool_arena *kn_pool_get_arena(kn_pool *pool, void *stream, uint64_t capture);
/* Frees the arenas that have ended and that nothing names any more. */
void kn_pool_drop_empty_arenas(kn_pool *pool);
void kn_pool_add_segment(kn_pool_arena *l, kn_segment *s);
void kn_pool_remove_segment(kn_segment *s);
/* Another arena uses the block; false where there is no memory to note it. */
bool kn_pool_add_use(kn_block *b, kn_pool_arena *l);
/* Until the graph of the capture l is gone. */
void kn_pool_park(kn_block *b, kn_pool_arena *l);
/* A block that its owner has given back: free at once, or once its other users are done. */
void kn_pool_release(kn_pool *pool, kn_block *b);
/* Frees blocks that no longer wait, oldest first. */
void kn_pool_settle_pending(kn_pool *pool, bool wait);
/* Takes over the memory of arenas that have ended and whose work is over; whether there was any. */
bool kn_pool_adopt_ended(kn_pool *pool, kn_pool_arena *to);

#endif
