/* Forks while a thread compiles with NVRTC, which has locks of its own: the child compiles, or is told that
 * it cannot; it never waits for a thread that it does not have. */
#include <kiln/kiln.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

enum { SKIPPED = 77, FORKS = 12, PATIENCE_S = 900 };

static atomic_bool is_over;

static kiln_status compile(int number)
{
    kiln_kernel *kernel = NULL;
    kiln_array *in = NULL, *out = NULL;
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    const int64_t n = 10;
    char body[64];
    options.target = "sm_90";
    snprintf(body, sizeof body, "z = x * %d", number);
    kiln_status status = kiln_array_zeros(&in, KILN_FLOAT32, 1, &n, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_elementwise_create(&kernel, "T x", "T z", body, "forked", NULL);
    if (status == KILN_OK) {
        kiln_arg x = kiln_arg_array(in);
        status = kiln_kernel_prepare(kernel, &out, 1, &x, 1, NULL, &options);
    }
    kiln_array_free(in);
    kiln_kernel_free(kernel);
    return status;
}

static void *compile_on(void *user)
{
    (void)user;
    for (int number = 100; !atomic_load(&is_over); number++)
        if (compile(number) != KILN_OK)
            fprintf(stderr, "in the parent: %s\n", kiln_error_message());
    return NULL;
}

static int in_child(int number)
{
    alarm(PATIENCE_S);
    if (compile(number) == KILN_OK)
        return 1;
    if (strstr(kiln_error_message(), "NVRTC was compiling in another thread when this process was forked"))
        return 2;
    fprintf(stderr, "in the child: %s\n", kiln_error_message());
    return 0;
}

int main(void)
{
    pthread_t thread;
    int count[3] = {0, 0, 0};
    setenv("KILN_CACHE", "off", 1);
    kiln_status status = compile(1);
    if (status != KILN_OK) {
        fprintf(stderr, "skipped: %s\n", kiln_error_message());
        return SKIPPED;
    }
    pthread_create(&thread, NULL, compile_on, NULL);
    for (int k = 0; k < FORKS; k++) {
        int state = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(in_child(1000 + k));
        waitpid(child, &state, 0);
        count[WIFEXITED(state) && WEXITSTATUS(state) < 3 ? WEXITSTATUS(state) : 0]++;
        usleep(3000 * (useconds_t)k);
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
    printf("of %d children %d compiled, %d were told why not, %d failed\n", FORKS, count[1], count[2],
           count[0]);
    return count[0] || count[2] == 0 ? 1 : 0;
}
