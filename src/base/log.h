/* base/log.h - messages for the callback that the application installed. */
#ifndef KN_BASE_LOG_H
#define KN_BASE_LOG_H

#include <kiln/base.h>

void kn_log(kiln_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
