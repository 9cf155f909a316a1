/* The order in which stores are asked. The first owns what the others find, the last makes what none has.
 * tests/stores has a list of its own in place of this. */
#include "store/stores.h"

const kn_store *const *kn_stores(void)
{
    static const kn_store *const order[] = {&kn_store_memory, &kn_store_bundles, &kn_store_cache,
                                            &kn_store_compiler, NULL};
    _Static_assert(sizeof order / sizeof *order <= KN_MOST_STORES + 1, "KN_MOST_STORES");
    return order;
}
