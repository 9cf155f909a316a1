/* launch/block.h - the argument block of one launch, complete except for the values of a call. */
#ifndef KN_LAUNCH_BLOCK_H
#define KN_LAUNCH_BLOCK_H

#include "launch/input.h"
#include "schedule/kind.h"
#include "schedule/layout.h"

/* Fills the block, which is zero and of the layout's size, with the part and with its kind's own fields. */
void kn_block_fill(unsigned char *block, const kn_launch_input *in, const kn_part *part,
                   const kn_placement *placed);

#endif
