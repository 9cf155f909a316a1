/* schedules/transpose/tile_sides.h - the sides of a tile, and the space that is cut into tiles. */
#ifndef KN_SCHEDULES_TRANSPOSE_TILE_SIDES_H
#define KN_SCHEDULES_TRANSPOSE_TILE_SIDES_H

#include "schedule/schedule.h"

/* A side of a tile: vectors along an axis and, if that is short, steps along a second axis. Or vectors along
 * a narrow axis and the one along which its elements continue, as one range. */
typedef struct kn_tile_side {
    int vectors;     /* along the first axis, or along both */
    int steps;       /* along the second axis; 1: there is none, or it is narrow */
    int second_axis; /* of the space; -1: none */
} kn_tile_side;

typedef struct kn_tile_params {
    int axis; /* of the space, along which staged inputs are contiguous, or continue behind the narrow axis */
    int p_axis;             /* the same for results: the fastest axis, or the one along which they continue */
    int p_narrow, q_narrow; /* elements along the narrow second axis of a side; 0: it has none */
    kn_tile_side p, q;      /* along the fastest axis, and along `axis`; a block has p times q threads */
    int across;             /* 1: threads read along p's second axis first, since the input continues there */
    int shared_bytes;
} kn_tile_params;

/* The sides as in the kernel. A reciprocal divides numbers below 4096: (n * reciprocal) >> 20. */
#define KN_TILE_FIELD                                                                                        \
    unsigned p;                                          /* threads along p */                               \
    unsigned p_vectors, p_reciprocal;                    /* vectors along its first axis */                  \
    unsigned q, q_vectors, q_reciprocal, row_reciprocal; /* row: of p */                                     \
    unsigned across, across_reciprocal; /* steps along p's second axis of neighbouring threads; 1: none */   \
    unsigned q_row_reciprocal, p_steps, q_steps;                           /* along the second axes */       \
    unsigned p_narrow, p_narrow_reciprocal, q_narrow, q_narrow_reciprocal; /* 1: there is no narrow axis */
typedef struct kn_tile {
    KN_TILE_FIELD
} kn_tile;
kn_tile kn_tile_make(const kn_tile_params *params);

/* The most threads of a block. */
int kn_tile_block(int vector);

/* Fills p, q, across and shared_bytes: of the sides that fit, those whose tiles read and write memory in the
 * longest and best aligned ranges. shared_bytes 0: none fit. staged_bytes: of one element of all staged
 * inputs together. The axes of a narrow side are joined in the choice's space: the joined one is its first
 * axis, or the fastest one for p, and the other has extent 1. */
void kn_tile_choose_sides(kn_tile_params *params, const kn_choice *choice, const char *access, int vector,
                          int staged_bytes);

/* The space of a tile kernel, outermost first: the axes of a tile (second of q, params->axis, second of p,
 * fastest), the others, and the tiles along the first four in the same order. Axes that a side does not have
 * get extent 1. */
enum { KN_TILE_AXES = 4 };
void kn_tile_space(kn_space *out, const kn_space *space, int vector, const kn_tile_params *params);

#endif
