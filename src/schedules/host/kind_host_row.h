/* schedules/host/kind_host_row.h - the variants of the host's row programs. */
#ifndef KN_SCHEDULES_HOST_KIND_HOST_ROW_H
#define KN_SCHEDULES_HOST_KIND_HOST_ROW_H

enum {
    KN_HOST_ROW_HELD = 1,     /* values of elements are held until a later stage needs them */
    KN_HOST_ROW_MULTIPASS = 2 /* or computed again for each pass */
};

#endif
