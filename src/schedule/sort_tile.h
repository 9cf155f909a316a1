/* schedule/sort_tile.h - elements of a tile of a sort's pass: the algorithm has words for each tile
 * (kernel/sort.c), and the kinds that place elements have tiles no smaller than this. */
#ifndef KN_SCHEDULE_SORT_TILE_H
#define KN_SCHEDULE_SORT_TILE_H

enum {
    KN_SORT_BLOCK = 256,       /* threads of a tile (CUDA), at least */
    KN_SORT_SHARED = 34 << 10, /* bytes of shared memory for its elements, beside the counts of digits */
    KN_SORT_BESIDE = 3,        /* bytes of an element there, besides its operands */
    KN_SORT_ITEMS = 16,        /* elements of a thread, at most */
    KN_SORT_DIGITS = 256,      /* words of a tile: a digit has 8 bits */
    KN_SORT_TOP = 512,         /* first elements of a longer row that one block finds (CUDA), at most */
    KN_SORT_ROW = 4096         /* elements of a row that one block sorts (CUDA), at most */
};

/* bytes: of an element's operands. */
static inline int kn_sort_items(int bytes)
{
    int items = KN_SORT_SHARED / (bytes + KN_SORT_BESIDE) / KN_SORT_BLOCK;
    return items < 1 ? 1 : items < KN_SORT_ITEMS ? items : KN_SORT_ITEMS;
}
static inline int kn_sort_tile(int bytes)
{
    return kn_sort_items(bytes) * KN_SORT_BLOCK;
}

#endif
