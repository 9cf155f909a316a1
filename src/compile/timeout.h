/* compile/timeout.h - how long a compile may take. */
#ifndef KN_COMPILE_TIMEOUT_H
#define KN_COMPILE_TIMEOUT_H

/* After which a compiler that is a process is stopped: KILN_COMPILE_TIMEOUT, else five minutes. */
int kn_compile_timeout_ms(void);

#endif
