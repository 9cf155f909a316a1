/*
 * demo.c - three kernels defined by strings, run on the best target, each checked against plain C.
 *
 *     example_demo [ELEMENTS [PICTURE.ppm]]
 *
 * Run it twice: the second process finds its kernels on disk. tools/demo does so.
 */
#include <kiln/kiln.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WIDTH = 900, HEIGHT = 600, MAX_STEPS = 256, REPEATS = 20 };

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int complain(const char *what)
{
    fprintf(stderr, "demo: %s: %s\n%s", what, kiln_error_message(), kiln_error_log());
    return 1;
}

/* ---- running and timing ---- */

typedef struct definition {
    const char *name, *in, *out, *body;
    unsigned flags;
} definition;

static kiln_status call_and_wait(kiln_kernel *k, kiln_array **out, int n_out, const kiln_arg *in, int n_in)
{
    kiln_status status = kiln_kernel_call(k, out, n_out, in, n_in, NULL);
    return status == KILN_OK ? kiln_device_synchronize(KILN_DEVICE_DEFAULT) : status;
}

static kiln_status best_of_repeats(kiln_kernel *k, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                                   double *ms)
{
    kiln_status status = KILN_OK;
    *ms = INFINITY;
    for (int r = 0; r < REPEATS && status == KILN_OK; r++) {
        double start = now_ms();
        status = call_and_wait(k, out, n_out, in, n_in);
        *ms = fmin(*ms, now_ms() - start);
    }
    return status;
}

/* Defines the kernel, calls it once from nothing and then some more times, and prints what that took: finding
 * the code (the compiler, or the cache), the first call from its definition on, and the best of the others.
 */
static kiln_status run(const definition *d, kiln_array **out, int n_out, const kiln_arg *in, int n_in)
{
    static const char *const origins[] = {"nowhere", "memory", "disk", "the compiler"};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kiln_kernel *k = NULL;
    double first, again = 0, start = now_ms();
    options.flags = d->flags;
    kiln_status status = kiln_elementwise_create(&k, d->in, d->out, d->body, d->name, &options);
    if (status == KILN_OK)
        status = kiln_kernel_call(k, out, n_out, in, n_in, NULL);
    first = now_ms() - start;
    if (status == KILN_OK)
        status = kiln_kernel_last_call(&info);
    if (status == KILN_OK)
        status = best_of_repeats(k, out, n_out, in, n_in, &again);
    if (status == KILN_OK)
        printf("%-14s from %-12s  code %8.3f ms   first call %8.3f ms   one more %8.4f ms", d->name,
               origins[info.origin], info.generate_ms + info.compile_ms + info.cache_ms + info.load_ms, first,
               again);
    kiln_kernel_free(k);
    return status;
}

/* ---- checking against plain C ---- */

typedef float (*reference)(float x, float y);

static float squared_diff(float x, float y)
{
    return (x - y) * (x - y);
}

static float normal_density(float x, float y)
{
    const double mu = 0.5, sigma = 1.25, t = ((double)x - mu) / sigma;
    (void)y;
    return (float)(exp(-0.5 * t * t) / (sigma * 2.50662827463100050242));
}

/* The largest difference from the reference, relative to the reference or to 1 where that is smaller. */
static kiln_status check(kiln_array *z, const float *x, const float *y, int64_t count, reference expected,
                         bool *good)
{
    float *got = malloc((size_t)count * sizeof *got);
    double worst = 0;
    kiln_status status = got ? kiln_array_to_host(z, got, (size_t)count * sizeof *got) : KILN_ERROR_MEMORY;
    for (int64_t k = 0; status == KILN_OK && k < count; k++) {
        double want = expected(x[k], y[k]), error = fabs(got[k] - want) / fmax(1, fabs(want));
        worst = error <= worst ? worst : error; /* NaN counts as wrong */
    }
    free(got);
    *good = worst < 1e-6;
    printf("   largest error %.1e %s\n", worst, *good ? "(good)" : "(WRONG)");
    return status;
}

/* ---- the three jobs ---- */

/* A slow wave with a faster one on it, and what a forecast made of it: as from an instrument, but the same in
 * every run. */
static void make_signal(float *measured, float *forecast, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        double t = (double)k * 1e-3;
        measured[k] = (float)(2 * sin(t) + 0.3 * sin(17 * t));
        forecast[k] = (float)(2 * sin(t + 0.01));
    }
}

static kiln_status run_pair(kiln_array *x, kiln_array *y, const float *hx, const float *hy, int64_t count,
                            bool *good)
{
    static const definition squares = {"squared_diff", "T x, T y", "T z", "z = (x - y) * (x - y)", 0};
    static const definition density = {"normal_density", "T x, T mu, T sigma", "T p",
                                       "T t = (x - mu) / sigma;\n"
                                       "p = exp(-t * t / 2) / (sigma * T(2.50662827463100050242))",
                                       0};
    kiln_array *z = NULL, *p = NULL;
    kiln_arg two[] = {kiln_arg_array(x), kiln_arg_array(y)};
    kiln_arg with_scalars[] = {kiln_arg_array(x), kiln_arg_float(0.5), kiln_arg_float(1.25)};
    bool good_z = false, good_p = false;
    kiln_status status = run(&squares, &z, 1, two, 2);
    if (status == KILN_OK)
        status = check(z, hx, hy, count, squared_diff, &good_z);
    if (status == KILN_OK)
        status = run(&density, &p, 1, with_scalars, 3);
    if (status == KILN_OK)
        status = check(p, hx, hy, count, normal_density, &good_p);
    *good = good_z && good_p;
    kiln_array_free(z);
    kiln_array_free(p);
    return status;
}

static int show_signal(int64_t count)
{
    kiln_array *x = NULL, *y = NULL;
    bool good = false;
    float *hx = malloc((size_t)count * sizeof *hx), *hy = malloc((size_t)count * sizeof *hy);
    kiln_status status = hx && hy ? KILN_OK : KILN_ERROR_MEMORY;
    if (status == KILN_OK) {
        make_signal(hx, hy, count);
        status = kiln_array_from_host(&x, hx, KILN_FLOAT32, 1, &count, KILN_DEVICE_DEFAULT);
    }
    if (status == KILN_OK)
        status = kiln_array_from_host(&y, hy, KILN_FLOAT32, 1, &count, KILN_DEVICE_DEFAULT);
    if (status == KILN_OK)
        status = run_pair(x, y, hx, hy, count, &good);
    kiln_array_free(x);
    kiln_array_free(y);
    free(hx);
    free(hy);
    return status == KILN_OK ? !good : complain("signal");
}

/* Contraction is off and the arithmetic float64, so that both targets and plain C agree to the last step. */
static const definition mandelbrot = {"mandelbrot", "int32 width, int32 height, int32 max_steps",
                                      "uint8 red, uint8 green, uint8 blue",
                                      "double cr = -2.2 + 3.2 * (double)(i % width) / width;\n"
                                      "double ci = -1.1 + 2.2 * (double)(i / width) / height;\n"
                                      "double zr = 0, zi = 0;\n"
                                      "int k = 0;\n"
                                      "while (k < max_steps && zr * zr + zi * zi <= 4) {\n"
                                      "    double t = zr * zr - zi * zi + cr;\n"
                                      "    zi = 2 * zr * zi + ci;\n"
                                      "    zr = t;\n"
                                      "    k++;\n"
                                      "}\n"
                                      "red = k == max_steps ? 0 : k * 8;\n"
                                      "green = k == max_steps ? 0 : k * 3;\n"
                                      "blue = k == max_steps ? 0 : 255 - k",
                                      KILN_KERNEL_NO_FMA};

static int steps_at(int index)
{
    int column = index % WIDTH, row = index / WIDTH;
    double cr = -2.2 + 3.2 * (double)column / WIDTH, ci = -1.1 + 2.2 * (double)row / HEIGHT;
    double zr = 0, zi = 0;
    int k = 0;
    for (; k < MAX_STEPS && zr * zr + zi * zi <= 4; k++) {
        double t = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = t;
    }
    return k;
}

static bool check_picture(unsigned char (*pixels)[3])
{
    int wrong = 0;
    for (int index = 0; index < WIDTH * HEIGHT; index++) {
        int k = steps_at(index), inside = k == MAX_STEPS;
        unsigned char want[3] = {(unsigned char)(inside ? 0 : k * 8), (unsigned char)(inside ? 0 : k * 3),
                                 (unsigned char)(inside ? 0 : 255 - k)};
        wrong += pixels[index][0] != want[0] || pixels[index][1] != want[1] || pixels[index][2] != want[2];
    }
    printf("   %d of %d pixels differ %s\n", wrong, WIDTH * HEIGHT, wrong == 0 ? "(good)" : "(WRONG)");
    return wrong == 0;
}

static int write_picture(const char *path, unsigned char (*pixels)[3])
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "P6\n%d %d\n255\n", WIDTH, HEIGHT);
    fwrite(pixels, 3, WIDTH * HEIGHT, file);
    if (fclose(file) != 0) {
        perror(path);
        return 1;
    }
    printf("the picture is in %s\n", path);
    return 0;
}

/* The three outputs are the channels of one array: views with a step of three. */
static kiln_status make_picture(unsigned char (*pixels)[3])
{
    const int64_t shape[3] = {HEIGHT, WIDTH, 3};
    kiln_array *image = NULL, *channel[3] = {NULL, NULL, NULL};
    kiln_arg in[] = {kiln_arg_int(WIDTH), kiln_arg_int(HEIGHT), kiln_arg_int(MAX_STEPS)};
    kiln_status status = kiln_array_zeros(&image, KILN_UINT8, 3, shape, KILN_DEVICE_DEFAULT);
    for (int c = 0; c < 3 && status == KILN_OK; c++)
        status = kiln_array_select(&channel[c], image, 2, c);
    if (status == KILN_OK)
        status = run(&mandelbrot, channel, 3, in, 3);
    if (status == KILN_OK)
        status = kiln_array_to_host(image, pixels, (size_t)WIDTH * HEIGHT * 3);
    for (int c = 0; c < 3; c++)
        kiln_array_free(channel[c]);
    kiln_array_free(image);
    return status;
}

static int show_picture(const char *path)
{
    unsigned char(*pixels)[3] = malloc((size_t)WIDTH * HEIGHT * 3);
    if (!pixels || make_picture(pixels) != KILN_OK) {
        free(pixels);
        return complain("picture");
    }
    int failed = !check_picture(pixels);
    failed |= write_picture(path, pixels);
    free(pixels);
    return failed;
}

int main(int argc, char **argv)
{
    char target[16];
    kiln_device device;
    long long count = argc > 1 ? atoll(argv[1]) : 1 << 20;
    if (count < 1) {
        fprintf(stderr, "usage: %s [ELEMENTS [PICTURE.ppm]]\n", argv[0]);
        return 2;
    }
    if (kiln_device_current(&device) != KILN_OK)
        return complain("no target");
    printf("target %s, %lld elements, %d x %d pixels\n", kiln_device_name(device, target, sizeof target),
           count, WIDTH, HEIGHT);
    int failed = show_signal(count);
    failed |= show_picture(argc > 2 ? argv[2] : "mandelbrot.ppm");
    return failed;
}
