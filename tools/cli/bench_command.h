/* bench_command.h - `kiln bench` as a row of commands: of kiln-bench, which runs it, and of kiln, which
 * starts that program. */
#ifndef KILN_BENCH_COMMAND_H
#define KILN_BENCH_COMMAND_H

#include "cli.h"

/* clang-format off */
#define BENCH_COMMAND(run) \
    {CLI_BENCH, "bench", "", "measure the rows of bench/README.md, each beside its floor", \
     "Every row's result is checked. The floor is a hand-written kernel with the same reads and writes.\n" \
     "Without --row the sweeps over sizes, chains, permutations, splits of reductions and lengths of rows\n" \
     "are left out.\n" \
     "\n" \
     "  kiln bench --row E2,S1 --json\n" \
     "  kiln bench --sweep reduce\n", \
     0, 1, run}
/* clang-format on */

#endif
