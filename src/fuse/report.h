/* fuse/report.h - explains a lowering to people. */
#ifndef KN_FUSE_REPORT_H
#define KN_FUSE_REPORT_H

#include "base/str.h"
#include "fuse/text.h"
#include "kernel/algorithm.h"
#include "fuse/fusion.h"

/* The reason why a node is stored; KN_WHY_NONE: it is not. */
typedef enum kn_why {
    KN_WHY_NONE,
    KN_WHY_PLACE,
    KN_WHY_LONG,
    KN_WHY_ROWS,
    KN_WHY_MOVES,
    KN_WHY_READER,
    KN_WHY_ALONE,
    KN_WHY_RANGE,
    KN_WHY_LAYOUT,
    KN_WHY_STRIPS
} kn_why;

/* "expression_1: reads x (4096 bytes); writes 'm' (64 bytes)". */
void kn_report_part(kn_str *out, const kn_lower_state *state, const kn_group *group, const kn_text *text,
                    const kn_program *program);
/* "; as several kernels ..."; nothing if there was no choice. */
void kn_report_times(kn_str *out, const kn_fusion_times *times);
/* Counts a kernel and what it moves. */
void kn_report_group(kn_moved *moved, const kn_lower_state *state, const kn_group *group);
/* The bytes that a kernel for each operation would move. */
double kn_report_alone(const kn_lower_state *state);
/* The reasons for buffers, of which buffer_of has the numbers by node. KILN_ERROR_MEMORY. */
kiln_status kn_report_stored(kn_lowered *out, const kn_lower_state *state, const int *buffer_of,
                             const kn_why *why, const kn_fusion_times *times);

#endif
