/* base/map.h - bytes -> pointer, open addressing over XXH3-64; keys are copied and compared whole. Not
 * synchronised. */
#ifndef KN_BASE_MAP_H
#define KN_BASE_MAP_H

#include <kiln/base.h>

typedef struct kn_map kn_map;

kn_map *kn_map_create(void);
/* Calls release (may be NULL) for each value. Takes NULL. */
void kn_map_free(kn_map *map, void (*release)(void *value));
void *kn_map_get(const kn_map *map, const void *key, size_t key_size);
/* Puts or replaces; false where there is no memory (the map is unchanged). */
bool kn_map_put(kn_map *map, const void *key, size_t key_size, void *value);
/* Takes the entry out and returns its value, or NULL. */
void *kn_map_remove(kn_map *map, const void *key, size_t key_size);
size_t kn_map_count(const kn_map *map);
void kn_map_each(kn_map *map, bool (*visit)(const void *key, size_t key_size, void *value, void *user),
                 void *user);

#endif
