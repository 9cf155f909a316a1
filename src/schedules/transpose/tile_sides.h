/* schedules/transpose/tile_sides.h - the sides of a tile, and the space that it is cut from. */
#ifndef KN_SCHEDULES_TRANSPOSE_TILE_SIDES_H
#define KN_SCHEDULES_TRANSPOSE_TILE_SIDES_H

#include "schedule/schedule.h"

/* One side of a tile: vectors along an axis and, where that is short, steps along a second one. Or vectors
 * along a narrow axis and the one along which its elements go on: both are one run there. */
typedef struct kn_tile_side {
    int vectors;     /* along the first axis, or along both */
    int steps;       /* along the second; 1 where there is none, or it is narrow */
    int second_axis; /* of the space; -1: none */
} kn_tile_side;

typedef struct kn_tile_params {
    int axis;               /* of the space, along which staged inputs run, or go on from the narrow one */
    int p_axis;             /* so for results: the fastest, or the one on which they go on */
    int p_narrow, q_narrow; /* elements along the narrow second axis of a side; 0: it has none */
    kn_tile_side p, q;      /* along the fastest axis, and along `axis`; a block has p times q threads */
    int across;             /* 1: reading threads lie along p's second axis first: the input goes on there */
    int shared_bytes;
} kn_tile_params;

/* The sides as the kernel wants them. reciprocal: of `vectors`, for division of numbers below 4096: (n *
 * reciprocal) >> 20. */
typedef struct kn_tile {
    uint32_t p, p_vectors, p_reciprocal; /* threads along p; vectors along its first axis */
    uint32_t q, q_vectors, q_reciprocal;
    uint32_t row_reciprocal; /* of p */
    uint32_t across,
        across_reciprocal; /* steps along p's second axis that threads are along first; 1: they go along p */
    uint32_t q_row_reciprocal;
    uint32_t p_steps, q_steps;                                             /* along the second axes */
    uint32_t p_narrow, p_narrow_reciprocal, q_narrow, q_narrow_reciprocal; /* 1: it has none */
} kn_tile;
kn_tile kn_tile_make(const kn_tile_params *params);

/* Threads of a block, at most. */
int kn_tile_block(int vector);

/* Fills p, q, across and shared_bytes by what the axes, the vector and the letters of `access` ask for:
 * of the sides that fit, those whose tiles read and write memory in long and aligned runs. shared_bytes 0:
 * none fit. staged_bytes: of an element, all staged inputs together. */
/* A narrow side's axes are one in the choice's space: its first axis, or the fastest for p; the other has
 * extent 1. */
void kn_tile_choose_sides(kn_tile_params *params, const kn_choice *choice, const char *access, int vector,
                          int staged_bytes);

/* The space as a tile kernel walks it, outermost first: the axes of a tile (second of q, params->axis,
 * second of p, fastest), the others, and tiles along these four in the same order. An axis that a side has
 * not got is of extent 1. */
enum { KN_TILE_AXES = 4 };
void kn_tile_space(kn_space *out, const kn_space *space, int vector, const kn_tile_params *params);

#endif
