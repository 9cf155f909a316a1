/* launch/block.h - the argument block of one launch, filled but for what a call brings. */
#ifndef KN_LAUNCH_BLOCK_H
#define KN_LAUNCH_BLOCK_H

#include "launch/input.h"
#include "schedule/kind.h"
#include "schedule/layout.h"

/* Fills the block, which is zero and of the layout's size: what the part is, and what its kind makes of it.
 */
void kn_block_fill(unsigned char *block, const kn_launch_input *in, const kn_part *part,
                   const kn_placement *placed);

#endif
