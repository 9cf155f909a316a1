/* own_cache.h - a cache folder for one run, so that nothing compiled by another build is met. */
#ifndef CASES_OWN_CACHE_H
#define CASES_OWN_CACHE_H

/* Sets KILN_CACHE_DIR, unless it is set, to a new folder that goes when the program ends. */
void use_own_cache(void);

#endif
