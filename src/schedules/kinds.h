/* schedules/kinds.h - the kinds of all families: for the table, and for tests. */
#ifndef KN_SCHEDULES_KINDS_H
#define KN_SCHEDULES_KINDS_H

#include "schedules/contiguous/contiguous_kinds.h"
#include "schedules/host/host_kinds.h"
#include "schedules/interleave/interleave_kinds.h"
#include "schedules/reduce/reduce_kinds.h"
#include "schedules/rowprog/rowprog_kinds.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/sort/sort_kinds.h"
#include "schedules/stencil/stencil_kinds.h"
#include "schedules/tally/tally_kinds.h"
#include "schedules/transpose/transpose_kinds.h"

#endif
