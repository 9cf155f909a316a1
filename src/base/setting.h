/* base/setting.h - the environment variables that kiln reads: one table of names, values and meanings. */
#ifndef KN_BASE_SETTING_H
#define KN_BASE_SETTING_H

#include <kiln/environment.h>

/* The value of a variable of the table; NULL where it is not set or empty. One that is not allowed is logged,
 * once a process, and NULL as well. */
const char *kn_setting(const char *name);
/* True if that is the value, in whatever case. */
bool kn_setting_is(const char *name, const char *value);
/* ... for variables whose wrong value is an error: KILN_ERROR_INVALID. *out is NULL where it is not set. */
kiln_status kn_setting_read(const char **out, const char *name);

/* "512M", "1G", "2000000": bytes. */
bool kn_setting_bytes(uint64_t *out, const char *text);

#endif
