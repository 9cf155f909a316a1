/* schedules/host/kind_host_fold.h - what the host's reductions and their template agree about. */
#ifndef KN_SCHEDULES_HOST_KIND_HOST_FOLD_H
#define KN_SCHEDULES_HOST_KIND_HOST_FOLD_H

enum {
    KN_HOST_FOLD_WIDE = 1024, /* results side by side, at most */
    KN_HOST_FOLD_DEPTH = 64,  /* steps of a row that are folded in registers, at most */
    KN_HOST_FOLD_AT_ONCE = 32 /* short rows that are folded at once; fold.cpp has room for so many */
};

#endif
