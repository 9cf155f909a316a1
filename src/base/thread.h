/* base/thread.h - threads that do something in the background. All of them have ended when the library is
 * unloaded, or the process ends: their code goes then. A dlclose while one runs leaves the library loaded; it
 * goes with a later one. */
#ifndef KN_BASE_THREAD_H
#define KN_BASE_THREAD_H

/* Runs body(user) on a thread of its own, with all signals blocked: they are for the application's threads.
 * 0, or an errno. */
int kn_thread_start(void (*body)(void *user), void *user);
/* Waits for all threads that were started. A child of fork() has none of its parent's. */
void kn_thread_join_all(void);

#endif
