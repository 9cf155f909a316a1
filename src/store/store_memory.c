/* What the process has found or made already. Threads that want the same key wait for the one that asked
 * first. */
#include "store/store.h"

static bool open_store(void **self)
{
    return (*self = kn_once_table_create()) != NULL;
}

static void close_store(void *self)
{
    kn_once_table_free(self, kn_code_free);
}

static const kn_code *code_itself(const void *value)
{
    return value;
}

static kiln_status find(kn_code **out, void *self, kn_build_job *job)
{
    const kn_str *what = &job->subject->what;
    void *value = NULL;
    kiln_status status =
        kn_build_claim(job, self, what->data, what->length, &value, &job->claim, code_itself);
    *out = value;
    return status;
}

static void drop(void *self, kn_build_job *job, const kn_code *code)
{
    kn_once_forget(self, job->subject->what.data, job->subject->what.length, code);
}

static void settle(void *self, kn_build_job *job, kn_code *code, kiln_status status)
{
    if (job->claim)
        kn_once_end(self, job->claim, code, status);
    job->claim = NULL;
}

const kn_store kn_store_memory = {.name = "memory",
                                  .origin = KILN_ORIGIN_MEMORY,
                                  .open = open_store,
                                  .close = close_store,
                                  .find = find,
                                  .drop = drop,
                                  .settle = settle};
