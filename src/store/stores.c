/* The order in which stores are asked. The first owns code that others find, the last makes code that none
 * has. tests/stores replaces this list. */
#include "store/stores.h"

const kn_store *const *kn_stores(void)
{
    static const kn_store *const order[] = {&kn_store_memory, &kn_store_bundles, &kn_store_cache,
                                            &kn_store_compiler, NULL};
    _Static_assert(sizeof order / sizeof *order <= KN_MOST_STORES + 1, "KN_MOST_STORES");
    return order;
}
