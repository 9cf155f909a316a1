/* types/arg.c - the constructors of arguments, for languages that load the library: what <kiln/arg.h> defines
 * is exported here. */
#define KILN_PRIV_INLINE KILN_API
#include <kiln/arg.h>
