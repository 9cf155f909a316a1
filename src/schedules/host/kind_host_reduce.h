/* schedules/host/kind_host_reduce.h - constants of the host's reductions, for their kind and their recipe. */
#ifndef KN_SCHEDULES_HOST_KIND_HOST_REDUCE_H
#define KN_SCHEDULES_HOST_KIND_HOST_REDUCE_H

enum {
    KN_HOST_REDUCE_WIDE = 1024, /* results of a task, at most */
    KN_HOST_REDUCE_DEPTH = 64,  /* steps of a row that are reduced in registers, at most */
    KN_HOST_REDUCE_BATCH =
        32 /* short rows that are reduced at a time; the buffers of host_reduce.cpp have this size */
};

#endif
