/* base/map.c - a hash table with open addressing and linear probing. */
#include "base/map.h"
#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

typedef struct entry {
    void *key; /* NULL: free */
    size_t key_size;
    uint64_t hash;
    void *value;
} entry;

struct kn_map {
    entry *entries;
    size_t capacity; /* a power of two, or 0; at most three quarters are used */
    size_t count;
};

kn_map *kn_map_create(void)
{
    return kn_calloc(1, sizeof(kn_map));
}

void kn_map_free(kn_map *map, void (*release)(void *value))
{
    if (!map)
        return;
    for (size_t i = 0; i < map->capacity; i++) {
        if (map->entries[i].key && release)
            release(map->entries[i].value);
        kn_free(map->entries[i].key);
    }
    kn_free(map->entries);
    kn_free(map);
}

/* The entry of the key, or the free one where it belongs. The capacity must not be 0. */
static entry *find(const kn_map *map, uint64_t hash, const void *key, size_t key_size)
{
    size_t i = hash & (map->capacity - 1);
    for (;; i = (i + 1) & (map->capacity - 1)) {
        entry *e = &map->entries[i];
        if (!e->key)
            return e;
        if (e->hash == hash && e->key_size == key_size && (key_size == 0 || !memcmp(e->key, key, key_size)))
            return e;
    }
}

/* A free entry for a hash, where the key is known to be absent. */
static entry *vacancy(entry *entries, size_t capacity, uint64_t hash)
{
    size_t i = hash & (capacity - 1);
    while (entries[i].key)
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

static bool grow(kn_map *map)
{
    size_t capacity = map->capacity ? map->capacity * 2 : 16;
    entry *entries;
    if ((map->count + 1) * 4 <= map->capacity * 3)
        return true;
    entries = kn_calloc(capacity, sizeof *entries);
    if (!entries)
        return false;
    for (size_t i = 0; i < map->capacity; i++)
        if (map->entries[i].key)
            *vacancy(entries, capacity, map->entries[i].hash) = map->entries[i];
    kn_free(map->entries);
    map->entries = entries;
    map->capacity = capacity;
    return true;
}

void *kn_map_get(const kn_map *map, const void *key, size_t key_size)
{
    return map->count ? find(map, kn_hash_64(key, key_size), key, key_size)->value : NULL;
}

bool kn_map_put(kn_map *map, const void *key, size_t key_size, void *value)
{
    uint64_t hash = kn_hash_64(key, key_size);
    entry *e;
    void *copy;
    if (map->count && (e = find(map, hash, key, key_size))->key) {
        e->value = value;
        return true;
    }
    copy = kn_malloc(key_size);
    if (!copy || !grow(map)) {
        kn_free(copy);
        return false;
    }
    if (key_size)
        memcpy(copy, key, key_size);
    *vacancy(map->entries, map->capacity, hash) = (entry){copy, key_size, hash, value};
    map->count++;
    return true;
}

/* Moves later entries of the same probe sequence back into the hole, so that no entry is cut off from where
 * its search begins. */
static void close_hole(kn_map *map, size_t hole)
{
    size_t mask = map->capacity - 1;
    for (size_t i = (hole + 1) & mask; map->entries[i].key; i = (i + 1) & mask) {
        size_t home = map->entries[i].hash & mask;
        if (((i - home) & mask) < ((i - hole) & mask))
            continue;
        map->entries[hole] = map->entries[i];
        hole = i;
    }
    memset(&map->entries[hole], 0, sizeof(entry));
}

void *kn_map_remove(kn_map *map, const void *key, size_t key_size)
{
    entry *e = map->count ? find(map, kn_hash_64(key, key_size), key, key_size) : NULL;
    void *value;
    if (!e || !e->key)
        return NULL;
    value = e->value;
    kn_free(e->key);
    close_hole(map, (size_t)(e - map->entries));
    map->count--;
    return value;
}

size_t kn_map_count(const kn_map *map)
{
    return map->count;
}

void kn_map_each(kn_map *map, bool (*visit)(const void *, size_t, void *, void *), void *user)
{
    for (size_t i = 0; i < map->capacity; i++) {
        const entry *e = &map->entries[i];
        if (e->key && !visit(e->key, e->key_size, e->value, user))
            return;
    }
}
