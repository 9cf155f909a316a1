/*
 * warm_start.c - the first kernel of a process: where it came from, whether NVRTC got mapped, and the time it
 * took.
 *
 *     warm_start call TARGET       defines and calls a kernel
 *     warm_start prepare sm_90     defines and prepares it for an architecture, without a device
 *
 * Prints "ORIGIN mapped|absent MILLISECONDS"; the origin is "none" where there is no compiler.
 */
#include <kiln/kiln.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char *const origins[] = {"nowhere", "memory", "disk", "compiler"};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static bool nvrtc_is_mapped(void)
{
    char line[4096];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !found && fgets(line, sizeof line, maps))
        found = strstr(line, "libnvrtc") != NULL;
    if (maps)
        fclose(maps);
    return found;
}

static kiln_status run(kiln_array *x, const char *mode, const char *target, double *ms)
{
    kiln_kernel *kernel = NULL;
    kiln_array *z = NULL;
    kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(0.5)};
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    options.target = target;
    double start = now_ms();
    kiln_status status = kiln_elementwise_create(&kernel, "T x, T s", "T z", "z = x * s + 1", "warm", NULL);
    if (status == KILN_OK)
        status = strcmp(mode, "call") == 0 ? kiln_kernel_call(kernel, &z, 1, in, 2, NULL)
                                           : kiln_kernel_prepare(kernel, &z, 1, in, 2, NULL, &options);
    *ms = now_ms() - start;
    kiln_array_free(z);
    kiln_kernel_free(kernel);
    return status;
}

/* The array comes first, so that a CUDA context exists before the clock starts. */
static kiln_status prepare_and_run(const char *mode, const char *target, double *ms)
{
    const int64_t shape[1] = {1000};
    kiln_array *x = NULL;
    kiln_device device = KILN_DEVICE_HOST;
    kiln_status status = strcmp(mode, "call") == 0 ? kiln_device_parse(&device, target) : KILN_OK;
    if (status == KILN_OK)
        status = kiln_device_set_current(device);
    if (status == KILN_OK)
        status = kiln_array_zeros(&x, KILN_FLOAT32, 1, shape, device);
    if (status == KILN_OK)
        status = run(x, mode, target, ms);
    kiln_array_free(x);
    return status;
}

int main(int argc, char **argv)
{
    kiln_call_info info = KILN_CALL_INFO_INIT;
    double ms = 0;
    if (argc != 3)
        return 2;
    kiln_status status = prepare_and_run(argv[1], argv[2], &ms);
    if (status == KILN_ERROR_NOT_FOUND) {
        printf("none absent 0\n");
        return 0;
    }
    if (status != KILN_OK || kiln_kernel_last_call(&info) != KILN_OK) {
        fprintf(stderr, "%s\n", kiln_error_message());
        return 1;
    }
    printf("%s %s %.3f\n", origins[info.origin], nvrtc_is_mapped() ? "mapped" : "absent", ms);
    return 0;
}
