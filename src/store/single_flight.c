/* Single flight: a table of values by key, each made by one thread while the others wait. */
#include "store/single_flight.h"
#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/shortage.h"

#include <errno.h>
#include <string.h>

typedef enum flight_state { BEING_MADE, MADE, FAILED } flight_state;

struct kn_flight { /* one key's entry */
    flight_state state;
    unsigned maker;     /* kn_fork_count(): a forked child has no such thread, and takes over */
    int waiting;        /* threads that still look at a failed entry */
    unsigned shortages; /* that its maker had met before */
    bool is_short;      /* it failed by a shortage, which those that waited have met, too */
    void *value;
    kn_error_state failure;
    kn_flight *retired; /* values that were forgotten */
    size_t key_size;
    unsigned char key[];
};

struct kn_flight_table {
    kn_map *entries;
    kn_flight *retired;
};

/* KN_LOCK_FLIGHTS is one for all tables: it is held for a look at a map, never while something is made. */

kn_flight_table *kn_flight_table_create(void)
{
    kn_flight_table *table = kn_calloc(1, sizeof *table);
    if (table && !(table->entries = kn_map_create())) {
        kn_free(table);
        table = NULL;
    }
    return table;
}

static void free_entry(kn_flight *entry)
{
    kn_free(entry->failure.log);
    kn_free(entry);
}

typedef void release_function(void *value);

static bool release_entry(const void *key, size_t key_size, void *value, void *user)
{
    release_function *const *release = user;
    kn_flight *entry = value;
    (void)key, (void)key_size;
    if (entry->value && *release)
        (*release)(entry->value);
    free_entry(entry);
    return true;
}

void kn_flight_table_free(kn_flight_table *table, release_function *release)
{
    if (!table)
        return;
    kn_map_each(table->entries, release_entry, &release);
    kn_map_free(table->entries, NULL);
    while (table->retired) {
        kn_flight *next = table->retired->retired;
        release_entry(NULL, 0, table->retired, &release);
        table->retired = next;
    }
    kn_free(table);
}

static kiln_status add_entry(kn_flight_table *table, const void *key, size_t key_size, kn_flight **mine)
{
    kn_flight *entry = kn_calloc(1, sizeof *entry + key_size);
    if (!entry || !kn_map_put(table->entries, key, key_size, entry)) {
        kn_free(entry);
        return kn_error_memory("a kernel's entry");
    }
    entry->maker = kn_fork_count();
    entry->key_size = key_size;
    memcpy(entry->key, key, key_size);
    *mine = entry;
    return KILN_OK;
}

/* The last waiter for a failed entry frees it. Called with the mutex held. */
static kiln_status share_failure(kn_flight *entry)
{
    kiln_status status = kn_error(entry->failure.status, "%s", entry->failure.message);
    if (entry->failure.log)
        kn_error_set_log(entry->failure.log);
    if (entry->is_short)
        kn_shortage_note(ENOMEM);
    if (--entry->waiting == 0)
        free_entry(entry);
    return status;
}

static bool is_being_made(const kn_flight *entry)
{
    return entry->state == BEING_MADE && entry->maker == kn_fork_count();
}

static kiln_status wait_for(kn_flight *entry, void **value, kn_flight **mine)
{
    entry->waiting++;
    while (is_being_made(entry))
        kn_lock_wait(KN_LOCK_FLIGHTS);
    if (entry->state == FAILED)
        return share_failure(entry);
    entry->waiting--;
    if (entry->state == MADE) {
        *value = entry->value;
    } else {
        entry->maker = kn_fork_count();
        entry->waiting = 0;
        *mine = entry;
    }
    return KILN_OK;
}

kiln_status kn_flight_begin(kn_flight_table *table, const void *key, size_t key_size, bool waits,
                            void **value, kn_flight **flight)
{
    kn_flight *entry;
    kiln_status status;
    *value = NULL;
    *flight = NULL;
    kn_cancel_hold();
    kn_lock_take(KN_LOCK_FLIGHTS);
    entry = kn_map_get(table->entries, key, key_size);
    if (entry && !waits && is_being_made(entry))
        status = kn_error(KILN_ERROR_FORBIDDEN, "another thread is making it");
    else
        status = entry ? wait_for(entry, value, flight) : add_entry(table, key, key_size, flight);
    kn_lock_give(KN_LOCK_FLIGHTS);
    if (*flight)
        (*flight)->shortages = kn_shortages();
    else
        kn_cancel_release(NULL);
    return status;
}

static void finish(kn_flight *mine, void *value)
{
    kn_lock_take(KN_LOCK_FLIGHTS);
    mine->value = value;
    mine->state = MADE;
    kn_lock_wake(KN_LOCK_FLIGHTS);
    kn_lock_give(KN_LOCK_FLIGHTS);
}

/* Waiters get the thread's last error. */
static void fail(kn_flight_table *table, kn_flight *mine, kiln_status status)
{
    kn_lock_take(KN_LOCK_FLIGHTS);
    kn_map_remove(table->entries, mine->key, mine->key_size);
    mine->failure.status = status;
    mine->is_short = kn_shortages() != mine->shortages;
    memcpy(mine->failure.message, kiln_error_message(), strlen(kiln_error_message()) + 1);
    if (mine->waiting && *kiln_error_log())
        mine->failure.log = kn_strdup(kiln_error_log());
    mine->state = FAILED;
    if (mine->waiting == 0)
        free_entry(mine);
    kn_lock_wake(KN_LOCK_FLIGHTS);
    kn_lock_give(KN_LOCK_FLIGHTS);
}

void kn_flight_end(kn_flight_table *table, kn_flight *flight, void *value, kiln_status status)
{
    if (status == KILN_OK)
        finish(flight, value);
    else
        fail(table, flight, status);
    kn_cancel_release(NULL);
}

void kn_flight_forget(kn_flight_table *table, const void *key, size_t key_size, const void *value)
{
    kn_flight *entry;
    kn_lock_take(KN_LOCK_FLIGHTS);
    entry = kn_map_get(table->entries, key, key_size);
    if (entry && entry->state == MADE && entry->value == value) {
        kn_map_remove(table->entries, key, key_size);
        entry->retired = table->retired;
        table->retired = entry;
    }
    kn_lock_give(KN_LOCK_FLIGHTS);
}
