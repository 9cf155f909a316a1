/* golden_blocks.h - FOLDER/blocks.expected: what launches put into the argument block, a line a kind. Code in
 * bundles may come from an earlier library, and is launched by this one where the revisions agree. So where a
 * line's hashes change, and code made before would be launched wrongly, the kind's revision is counted up
 * (that of schedule/layout.h where all change); where a choice alone has changed, `golden_plans --update` is
 * enough. */
#ifndef GOLDEN_GOLDEN_BLOCKS_H
#define GOLDEN_GOLDEN_BLOCKS_H

#include "schedule/kind.h"
#include "schedule/layout.h"

/* One more launch of the part's kind. */
void golden_add_launch(const kn_part *part, const kn_placement *placement);
/* The lines, once all launches were added. False where a kind had none. */
bool golden_put_blocks(kn_str *out);

#endif
