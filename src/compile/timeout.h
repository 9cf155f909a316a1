/* compile/timeout.h - how long a compile may take. */
#ifndef KN_COMPILE_TIMEOUT_H
#define KN_COMPILE_TIMEOUT_H

/* A compiler that is a process is stopped after this time: KILN_COMPILE_TIMEOUT, else five minutes. */
int kn_compile_timeout_ms(void);

#endif
