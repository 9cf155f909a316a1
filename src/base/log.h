/* base/log.h - messages for the callback that the application installed, or for standard error where KILN_LOG
 * says so. */
#ifndef KN_BASE_LOG_H
#define KN_BASE_LOG_H

#include <kiln/base.h>

#define KN_LOG_LEVELS "debug|info|warn|off" /* as KILN_LOG names them: at their place each kiln_log_level */

void kn_log(kiln_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* In between, messages of this thread wait, since a holder of locks must not call the receiver. They nest. */
void kn_log_hold(void);
void kn_log_release(void);

#endif
