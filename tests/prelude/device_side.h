/* device_side.h - the tests of the preludes run once against code compiled into the test, and once, with
 * ON_DEVICE, against kernels of the library on the device that the first argument names. */
#ifndef PRELUDE_DEVICE_SIDE_H
#define PRELUDE_DEVICE_SIDE_H

#ifdef ON_DEVICE
#include <stdbool.h>

#include <kiln/kiln.h>

/* Makes the device current; ends the program with code 77 where there is none. */
void begin(int argc, char **argv);
bool is_on_gpu(void);

typedef struct device_operand {
    kiln_dtype dtype;
    const void *data;
} device_operand;

/* One call over n elements; a failure ends the program with the message. */
void run_on_device(const char *in, const char *out, const char *body, void *result, kiln_dtype type, long n,
                   const device_operand *operands, int n_operands);
#else
static inline void begin(int argc, char **argv)
{
    (void)argc;
    (void)argv;
}
static inline int is_on_gpu(void)
{
    return 0;
}
#endif

#endif
