/* schedules/host/kind_host_row.h - the forms of the host's row programs. */
#ifndef KN_SCHEDULES_HOST_KIND_HOST_ROW_H
#define KN_SCHEDULES_HOST_KIND_HOST_ROW_H

enum {
    KN_HOST_ROW_HELD = 1,  /* what a stage gives each element is held until a later one needs it */
    KN_HOST_ROW_WALKED = 2 /* and is computed again */
};

#endif
