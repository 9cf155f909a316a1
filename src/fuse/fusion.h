/* fuse/fusion.h - whether a program over rows should be one kernel, or one for each of its reductions and one
 * for the maps behind them. A model of what each way moves: integers in, picoseconds out. */
#ifndef KN_FUSE_FUSION_H
#define KN_FUSE_FUSION_H

#include "schedule/spec.h"

/* A reduction, or all maps behind the last one, with what has to be computed for it. */
enum { KN_FUSION_PASSES = 8 };

/* What is known of an array operand. */
typedef struct kn_fusion_operand {
    int item;         /* bytes of an element */
    int64_t elements; /* each counted once */
    unsigned passes;  /* bits: those that read or write it */
    bool is_output;
    bool moves;     /* along the innermost reduced axis; else it has one element for all of them */
    bool is_along;  /* its neighbours lie along the innermost reduced axis, */
    bool is_across; /* or along the innermost kept one */
} kn_fusion_operand;

typedef struct kn_fusion {
    bool is_host;
    int64_t rows, length; /* results of a reduction, and elements of each */
    int64_t piece, run;   /* of these elements, and results, along the innermost axis */
    int side;             /* CUDA: rows whose elements a warp loads at once */
    int n_passes;
    bool has_map;                                   /* the last pass is no reduction */
    unsigned structs;                               /* bits: passes that fold structs */
    int functions[KN_FUSION_PASSES], all_functions; /* of an element, by pass; of one kernel that keeps what
                                                       it computed */
    int n_operands;
    kn_fusion_operand operand[KN_MAX_PARAMS];
} kn_fusion;

/* How long one kernel takes, and several, in picoseconds. */
typedef struct kn_fusion_times {
    int64_t fused, split;
} kn_fusion_times;

/* False: there is nothing to choose, since one pass is all there is, or no element. */
bool kn_fusion_describe(kn_fusion *out, const kn_spec *spec, const kn_space *space);
kn_fusion_times kn_fusion_weigh(const kn_fusion *fusion);
/* Whether several kernels are so much better that they are worth more code. */
bool kn_fusion_is_split(const kn_fusion_times *times);

#endif
