/* schedules/transpose/kind_transpose_pairs.h - the size of tile pairs, for their kind and their recipe. */
#ifndef KN_SCHEDULES_TRANSPOSE_KIND_TRANSPOSE_PAIRS_H
#define KN_SCHEDULES_TRANSPOSE_KIND_TRANSPOSE_PAIRS_H

enum {
    KN_TRANSPOSE_PAIRS_SIDE = 16, /* vectors of a tile's side; a block has its square of threads */
    KN_TRANSPOSE_PAIRS_AXES = 2   /* of single elements, behind those of the grid */
};

#endif
