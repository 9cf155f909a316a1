/* schedules/scan/scan_tiles.h - tiles of rows that are scanned on CUDA: questions about a space, and the
 * flags and sums by which the tiles of a row look back (src/codegen/prelude/cuda_look_back.cu). */
#ifndef KN_SCHEDULES_SCAN_SCAN_TILES_H
#define KN_SCHEDULES_SCAN_SCAN_TILES_H

#include "schedule/kind.h"

/* Members that the values of all kinds of this family have. */
#define KN_SCAN_KIND                                                                                         \
    .pattern = "msm", .choose = choose, .place = place, .has_wide_axes = true, .describe = describe,         \
    .has_workspace = true

/* Launch parameters of kinds whose rows lie side by side: no binary depends on them. */
typedef struct kn_scan_params {
    int across; /* the output axis along which elements are nearer to each other; -1: the scanned one */
} kn_scan_params;
int kn_scan_across_of(const kn_part *part);
/* For `choose`: threads of a block, a power of two: `most`, or what the user wants of these. */
int kn_scan_block(const kn_choice *c, int most);
/* The output axis along which operands move least, where that is less than along the scanned one; -1. */
int kn_scan_across_axis(const kn_choice *c);
/* The power of two of so many, which are one. */
int kn_scan_bits(int64_t power);
/* Words of flags of all tiles of rows, of groups of them, of sets of groups. rows: of a block. */
int64_t kn_scan_flags(int64_t row_blocks, int64_t tiles, int64_t rows);
/* For `place`: workspace of a launch with so many words, whose blocks have so many rows. Error: they are too
 * many, since a row is too long. */
kiln_status kn_scan_place_flags(kn_placement *out, const kn_part *part, int64_t flags, int64_t rows);
/* For `cut`: rows are halved until their flags fit. across: the axis along which rows lie side by side, which
 * is cut between blocks; -1. */
int kn_scan_cut(int64_t *align, const kn_part *part, int64_t flags, int across);

enum {
    KN_SCAN_COLUMNS = 32,      /* rows of a block, at most, that lie side by side */
    KN_SCAN_OTHER_COUNTERS = 2 /* tickets, and blocks that are done; words or flags stand behind them */
};

#endif
