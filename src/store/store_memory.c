/* The memory of the process: code that it has found or made already. Threads that want the same key wait for
 * the one that asked first. */
#include "store/code_search.h"

static bool open_store(void **self)
{
    return (*self = kn_flight_table_create()) != NULL;
}

static void close_store(void *self)
{
    kn_flight_table_free(self, kn_code_free);
}

static const kn_code *code_itself(const void *value)
{
    return value;
}

static kiln_status find(kn_code **out, void *self, kn_code_search *search)
{
    const kn_str *what = &search->job->what;
    void *value = NULL;
    kiln_status status =
        kn_search_begin_flight(search, self, what->data, what->length, &value, &search->flight, code_itself);
    *out = value;
    return status;
}

static void drop(void *self, kn_code_search *search, const kn_code *code)
{
    kn_flight_forget(self, search->job->what.data, search->job->what.length, code);
}

static void settle(void *self, kn_code_search *search, kn_code *code, kiln_status status)
{
    if (search->flight)
        kn_flight_end(self, search->flight, code, status);
    search->flight = NULL;
}

const kn_store kn_store_memory = {.name = "memory",
                                  .roles = KN_STORE_OWNS,
                                  .open = open_store,
                                  .close = close_store,
                                  .find = find,
                                  .drop = drop,
                                  .settle = settle};
