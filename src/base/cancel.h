/* base/cancel.h - pthread_cancel: no thread is cancelled where it would leave a lock taken, work that
 * others wait for unfinished, or a file half made.
 *
 * A cancellation that comes meanwhile waits, and acts at the thread's next cancellation point, which is the
 * application's. It costs about 10 ns (8 to 12 measured on a loaded Zen machine): remembered calls on the
 * host go without, for they reach no cancellation point; a launch by the CUDA driver, which takes a hundred
 * times as long, pays it once. */
#ifndef KN_BASE_CANCEL_H
#define KN_BASE_CANCEL_H

#include <stdbool.h>

/* Between the two the calling thread is not cancelled. They nest, in any order. true: for KN_UNCANCELLED. */
bool kn_cancel_hold(void);
void kn_cancel_release(const bool *is_held);
/* For threads of the library's own: they are never cancelled. */
void kn_cancel_forbid(void);

/* A declaration: from here to the end of its block. */
#define KN_UNCANCELLED                                                                                       \
    __attribute__((cleanup(kn_cancel_release), unused)) const bool kn_is_held = kn_cancel_hold()

#endif
