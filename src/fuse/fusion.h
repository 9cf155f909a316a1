/* fuse/fusion.h - decides whether a program over rows is one kernel, or one for each reduction and one for
 * the last maps. A cost model of the bytes that each way moves: integers in, picoseconds out. */
#ifndef KN_FUSE_FUSION_H
#define KN_FUSE_FUSION_H

#include "schedule/kind.h"

/* A pass: one reduction, or all maps behind the last one, with everything computed for it. */
enum { KN_FUSION_PASSES = 8 };

/* An array operand. */
typedef struct kn_fusion_operand {
    int item;         /* bytes of an element */
    int64_t elements; /* each counted once, however often it is read */
    unsigned passes;  /* bits: the passes that read or write it */
    bool is_output;
    bool moves;     /* it varies along the innermost reduction axis; else one element serves all of that
                       axis */
    bool is_along;  /* its neighbours are along the innermost reduction axis */
    bool is_across; /* its neighbours are along the innermost output axis; on CUDA, where a warp loads its
                       rows at once, in either direction, or so near that they share sectors */
    int64_t apart;  /* bytes between them */
    int64_t step;   /* bytes between its elements along the innermost reduction axis, in either direction */
} kn_fusion_operand;

typedef struct kn_fusion {
    bool is_host;
    int64_t rows, length; /* results of a reduction, and elements that each reduces */
    int64_t piece, run;   /* the extents of the innermost reduction axis and of the innermost output axis */
    int side;             /* rows whose elements a warp loads at once, or a thread of the host computes */
    int64_t blocks;       /* CUDA: of one kernel; on so many */
    int64_t slots;        /* elements that its threads can hold in registers */
    int multiprocessors;
    bool is_single;     /* each element is loaded by itself, */
    bool has_pieces;    /* at a place that is computed for each */
    bool is_exchanged;  /* blocks exchange what they have reduced */
    int64_t beside;     /* rows that a block has side by side, */
    int vector;         /* and those of them that a thread loads at once */
    bool is_read_again; /* one kernel reads its rows in each pass */
    int n_passes;
    int spared;       /* CUDA: passes behind the first that several kernels, of another program, do without */
    bool has_map;     /* the last pass is no reduction */
    unsigned structs; /* bits: passes that reduce structs */
    unsigned moments; /* and those whose structs are combined by functions of their own: variances */
    int functions[KN_FUSION_PASSES], all_functions; /* functions per element, by pass; of one kernel that
                                                       stores no intermediate value */
    int n_operands;
    kn_fusion_operand operand[KN_MAX_PARAMS];
} kn_fusion;

/* The time of one kernel, and of several, in picoseconds. */
typedef struct kn_fusion_times {
    int64_t fused, split;
} kn_fusion_times;

/* False: nothing to choose, since there is only one pass, or no element. */
bool kn_fusion_describe(kn_fusion *out, const kn_spec *spec, const kn_space *space);
/* Adds what the launch of one kernel says (CUDA; else nothing). KILN_ERROR_MEMORY, or its kind's error. */
kiln_status kn_fusion_place(kn_fusion *fusion, const kn_part *part);
kn_fusion_times kn_fusion_weigh(const kn_fusion *fusion);
/* True if several kernels are faster by enough to be worth more code. */
bool kn_fusion_is_split(const kn_fusion_times *times);

/* True if a reduction gathers the elements of all its inputs, and moves several times their bytes whichever
 * axis it reads along: they lie along different ones. */
bool kn_fusion_gathers_apart(const kn_spec *spec, const kn_space *space);
/* True if it gathers what a map of its terms reads by vectors: an input's neighbours are others than those of
 * the results, or elements are smaller than words. */
bool kn_fusion_is_map_of_terms(const kn_spec *spec, const kn_space *space);

#endif
