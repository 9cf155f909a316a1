/* A kind of schedule that the library does not have, added by new files and a line of a table: it runs end to
 * end on the host, and NVRTC compiles its source. And a template that lacks a slot which is filled. */
#include <kiln/kiln.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "../ok.h"

enum { COUNT = 100003 };

static kiln_kernel *scaled(const char *name)
{
    kiln_kernel *kernel = NULL;
    OK(kiln_elementwise_create(&kernel, "float32 x, float32 s", "float32 z", "z = x * s + i", name, NULL));
    return kernel;
}

static kiln_array *counted(void)
{
    kiln_array *x = NULL;
    OK(kiln_array_arange(&x, 0, COUNT, 1, KILN_FLOAT32, KILN_DEVICE_HOST));
    return x;
}

static void assert_scaled(kiln_array *z)
{
    const float *got = kiln_array_data(z);
    for (int k = 0; k < COUNT; ++k)
        if (got[k] != (float)k * 2 + (float)k)
            fail_msg("element %d is %g", k, (double)got[k]);
}

static void it_runs_on_the_host(void **state)
{
    kiln_kernel *kernel = scaled("toy_runs");
    kiln_array *x = counted(), *z = NULL;
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(2)};
    char *text = NULL;
    (void)state;
    OK(kiln_kernel_call(kernel, &z, 1, in, 2, NULL));
    OK(kiln_stream_synchronize(NULL));
    assert_scaled(z);
    OK(kiln_kernel_explain(&text, kernel, &z, 1, in, 2, NULL, "host"));
    assert_non_null(strstr(text, "schedule=\"toy\" toy_backwards=\"1\""));
    free(text);
    OK(kiln_kernel_launches(&text, kernel, &z, 1, in, 2, NULL, "host"));
    assert_string_equal(text, "elements=\"100003\" toy_stride=\"7\"\n");
    free(text);
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
}

static void others_take_what_it_does_not(void **state)
{
    kiln_kernel *kernel = scaled("toy_others");
    kiln_array *x = counted(), *back = NULL;
    char *text = NULL;
    (void)state;
    OK(kiln_array_index(&back, x, "::-1"));
    const kiln_arg in[] = {kiln_arg_array(back), kiln_arg_float(2)};
    OK(kiln_kernel_explain(&text, kernel, NULL, 1, in, 2, NULL, "host"));
    assert_non_null(strstr(text, "schedule=\"flat\""));
    free(text);
    kiln_array_free(back);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

static void nvrtc_compiles_it(void **state)
{
    kiln_kernel *kernel = scaled("toy_compiles");
    kiln_array *x = counted();
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_float(2)};
    kiln_prepare_options options = KILN_PREPARE_OPTIONS_INIT;
    char *text = NULL;
    (void)state;
    options.target = "sm_90";
    OK(kiln_kernel_launches(&text, kernel, NULL, 1, in, 2, NULL, "sm_90"));
    assert_non_null(strstr(text, "toy_stride=\"256\""));
    free(text);
    kiln_status status = kiln_kernel_prepare(kernel, NULL, 1, in, 2, NULL, &options);
    if (status == KILN_ERROR_NOT_FOUND && !getenv("KILN_REQUIRE_NVRTC"))
        print_message("skipped: %s\n", kiln_error_message());
    else if (status != KILN_OK)
        fail_msg("%s\n%s", kiln_error_message(), kiln_error_log());
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* The toy's template without ${after_loop}. */
static void write_without_slot(const char *folder)
{
    char path[512], line[512];
    snprintf(path, sizeof path, "%s/host", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/host/toy.cpp", folder);
    FILE *from = fopen(TOY_TEMPLATES "/host/toy.cpp", "r"), *to = fopen(path, "w");
    assert_true(from && to);
    while (fgets(line, sizeof line, from))
        if (!strstr(line, "${after_loop}"))
            fputs(line, to);
    fclose(from);
    fclose(to);
}

static void a_filled_slot_must_be_there(void **state)
{
    char folder[] = "/tmp/kiln-toy-XXXXXX", path[64];
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    kiln_array *x = counted();
    const kiln_arg in[] = {kiln_arg_array(x)};
    char *text = NULL;
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_without_slot(folder);
    options.after_loop = "int done = 1; (void)done;";
    OK(kiln_elementwise_create(&kernel, "T x", "T z", "z = x", "toy_slots", &options));
    OK(kiln_kernel_source(&text, kernel, NULL, 1, in, 1, NULL, "host"));
    free(text);
    setenv("KILN_TEMPLATE_DIR", folder, 1);
    assert_int_equal(kiln_kernel_source(&text, kernel, NULL, 1, in, 1, NULL, "host"), KILN_ERROR_INTERNAL);
    assert_non_null(strstr(kiln_error_message(), "host/toy.cpp: the slot '${after_loop}' is filled"));
    setenv("KILN_TEMPLATE_DIR", TOY_TEMPLATES, 1);
    snprintf(path, sizeof path, "%s/host/toy.cpp", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/host", folder);
    rmdir(path);
    rmdir(folder);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* A file of parts with this text alone, in a folder of templates. */
static void write_parts(const char *folder, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/codegen", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/codegen/shared", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/codegen/shared/parts.cpp", folder);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
}

static void parts_must_be_there(void **state)
{
    static const char *const wrong[][2] = {{"#part other\nx;\n", "no file of parts has 'typedef'"},
                                           {"#part typedef\n${nobody};\n", "the slot '${nobody}' is unknown"},
                                           {"", "no file of parts has 'typedef'"}};
    char folder[] = "/tmp/kiln-toy-XXXXXX", path[64];
    kiln_kernel *kernel = NULL;
    kiln_array *x = counted();
    const kiln_arg in[] = {kiln_arg_array(x)};
    char *text = NULL;
    (void)state;
    assert_non_null(mkdtemp(folder));
    OK(kiln_elementwise_create(&kernel, "T x", "T z", "z = x", "toy_parts", NULL));
    setenv("KILN_TEMPLATE_DIR", folder, 1);
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        write_parts(folder, wrong[k][0]);
        assert_int_equal(kiln_kernel_source(&text, kernel, NULL, 1, in, 1, NULL, "host"),
                         KILN_ERROR_INTERNAL);
        assert_non_null(strstr(kiln_error_message(), wrong[k][1]));
    }
    setenv("KILN_TEMPLATE_DIR", TOY_TEMPLATES, 1);
    static const char *const made[] = {"%s/codegen/shared/parts.cpp", "%s/codegen/shared", "%s/codegen",
                                       "%s"};
    for (size_t k = 0; k < sizeof made / sizeof made[0]; ++k) {
        snprintf(path, sizeof path, made[k], folder);
        assert_int_equal(remove(path), 0);
    }
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_runs_on_the_host), cmocka_unit_test(others_take_what_it_does_not),
        cmocka_unit_test(nvrtc_compiles_it),   cmocka_unit_test(a_filled_slot_must_be_there),
        cmocka_unit_test(parts_must_be_there),
    };
    setenv("KILN_TEMPLATE_DIR", TOY_TEMPLATES, 1);
    setenv("KILN_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
