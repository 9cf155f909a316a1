/* schedules/host/kind_host_scan.h - the kernel's variants. */
#ifndef KN_SCHEDULES_HOST_KIND_HOST_SCAN_H
#define KN_SCHEDULES_HOST_KIND_HOST_SCAN_H

enum {
    KN_HOST_SCAN_ALONG = 1, /* a block is a stretch of one row */
    KN_HOST_SCAN_ACROSS = 2 /* of rows side by side */
};

#endif
