/* schedules/transpose/kind_mirrored.h - what the fill of mirrored kernels reads. */
#ifndef KN_SCHEDULES_TRANSPOSE_KIND_MIRRORED_H
#define KN_SCHEDULES_TRANSPOSE_KIND_MIRRORED_H

enum {
    KN_MIRRORED_SIDE = 16, /* vectors of a tile's side; threads of a block: its square */
    KN_MIRRORED_AXES = 2   /* of single elements, behind those that are walked */
};

#endif
