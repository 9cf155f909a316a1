/* Ranges for a profiler: a kernel's compile and its launches where a profiler's library takes them, and
 * nothing where there is none, or it does not start. Each case is a process of its own. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kiln/kiln.h>

/* Two calls of a kernel. */
static int run(void)
{
    const float one = 1;
    const int64_t shape = 1;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *z = NULL;
    int ok = kiln_elementwise_create(&kernel, "T x", "T z", "z = x + 41", "answer", NULL) == KILN_OK &&
             kiln_array_from_host(&x, &one, KILN_FLOAT32, 1, &shape, KILN_DEVICE_DEFAULT) == KILN_OK;
    const kiln_arg in = kiln_arg_array(x);
    for (int k = 0; k < 2 && ok; k++)
        ok = kiln_kernel_call(kernel, &z, 1, &in, 1, NULL) == KILN_OK;
    ok = ok && *(const float *)kiln_array_data(z) == 42;
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
    return ok;
}

/* The last error is the caller's, whatever the profiler did. */
static int child(const char *path, const char *variable, const char *expected)
{
    setenv("KILN_FORMS", "best", 1);
    if (path)
        setenv("NVTX_INJECTION64_PATH", path, 1);
    if (variable)
        setenv(variable, "1", 1);
    if (!run())
        return fprintf(stderr, "ranges: %s\n", kiln_error_message()), 1;
    void *library = dlopen(PROFILER, RTLD_NOW | RTLD_NOLOAD);
    const char *log = library ? dlsym(library, "profiler_log") : "no profiler";
    log = log ? log : "no log";
    if (strcmp(log, expected) == 0 && !*kiln_error_message())
        return 0;
    fprintf(stderr, "ranges: '%s' was written, and the error '%s'; '%s' was expected\n", log,
            kiln_error_message(), expected);
    return 1;
}

int main(void)
{
    static const struct {
        const char *path, *variable, *expected;
    } cases[] = {{NULL, NULL, "no profiler"},
                 {"/nowhere/profiler.so", NULL, "no profiler"},
                 {PROFILER, NULL, "kiln:[compile answer][answer][answer]"},
                 {PROFILER, "PROFILER_REFUSES", ""},
                 {PROFILER, "PROFILER_LACKS", ""}};
    int failed = 0;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        int state = 1;
        pid_t process = fork();
        if (process == 0)
            _exit(child(cases[k].path, cases[k].variable, cases[k].expected));
        if (process > 0 && waitpid(process, &state, 0) == process && state == 0)
            continue;
        fprintf(stderr, "ranges: case %d ended with %d\n", (int)k, state);
        failed++;
    }
    return failed > 0;
}
