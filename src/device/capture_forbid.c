/* Refuses calls that a capture does not allow, and says why. */
#include "device/capture_forbid.h"

#include "base/error.h"
#include "device/capture_list.h"
#include "device/device_table.h"

static bool captures_here(bool prepared)
{
    if (!kn_capture_is_any_open())
        return false;
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_capture_find_here(prepared);
    kn_lock_give(KN_LOCK_CAPTURES);
    return r;
}

kiln_status kn_capture_forbids(const char *what)
{
    if (!captures_here(false))
        return KILN_OK;
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s while this thread captures a stream; do it before kiln_capture_begin", what);
}

kiln_status kn_capture_forbids_code(void)
{
    if (!captures_here(true))
        return KILN_OK;
    return kn_error(
        KILN_ERROR_CAPTURE,
        "code cannot be loaded while this thread captures a stream with KILN_CAPTURE_PREPARED; do "
        "it before the capture begins, or capture without that flag");
}

bool kn_capture_is_prepared(uint64_t capture)
{
    if (!kn_capture_is_any_open())
        return false;
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_capture_find(capture);
    bool is_prepared = r && r->is_prepared;
    kn_lock_give(KN_LOCK_CAPTURES);
    return is_prepared;
}

kiln_status kn_capture_forbids_device(const kn_device *device, const char *what)
{
    char name[24];
    if (!kn_capture_is_any_open())
        return KILN_OK;
    kn_lock_take(KN_LOCK_CAPTURES);
    kn_capture *r = kn_captures;
    while (r && !(r->is_open && r->device == device))
        r = r->next;
    bool is_ours = r && pthread_equal(r->thread, pthread_self());
    kn_lock_give(KN_LOCK_CAPTURES);
    if (!r)
        return KILN_OK;
    kn_device_write_name(device->id, name, sizeof name);
    return kn_error(KILN_ERROR_CAPTURE,
                    "%s while %s captures a stream of %s, whose capture that would spoil; do it before "
                    "kiln_capture_begin or after kiln_capture_end",
                    what, is_ours ? "this thread" : "another thread", name);
}

kiln_status kn_capture_say_spoilt(void)
{
    return kn_error(KILN_ERROR_CAPTURE,
                    "the capture of the stream was spoilt by a call that cannot be captured; end it");
}
