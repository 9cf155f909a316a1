/* Raw modules against the driver of our own: what a launch hands over, arguments that do not fit, globals,
 * attributes, lifetimes. */
#include <kiln/kiln.h>

#include "fake_cuda.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* The driver of our own reads this instead of PTX: names and sizes of parameters. */
static const char text[] =
    "kernel mixed 8 8 8 1 16 4 24\nkernel pointer 8\nkernel none\nkernel _Z5twiceIfEvPT_ 8\n"
    "kernel integers 1 2 4 8\nglobal table 64\n";

static kiln_module *module;

static void create(kiln_module **out, const char *target)
{
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    options.kind = KILN_CODE_PTX;
    options.name = "my_module";
    options.target = target;
    if (kiln_module_create(out, text, 0, &options) != KILN_OK)
        fail_msg("%s", kiln_error_message());
}

static kiln_function *function_of(const char *name)
{
    kiln_function *function = NULL;
    if (kiln_module_function(&function, module, name) != KILN_OK)
        fail_msg("%s", kiln_error_message());
    return function;
}

static kiln_array *floats(int64_t n)
{
    kiln_array *x = NULL;
    assert_int_equal(kiln_array_zeros(&x, KILN_FLOAT32, 1, &n, KILN_DEVICE_DEFAULT), KILN_OK);
    return x;
}

static void arguments_are_handed_over(void **state)
{
    (void)state;
    struct {
        double a, b;
        int c;
    } pod = {1.5, 2.5, 7};
    const float single = 0.25f;
    kiln_array *x = floats(10);
    kiln_arg args[] = {kiln_arg_array(x),
                       kiln_arg_int(-3),
                       kiln_arg_float(0.5),
                       kiln_arg_bool(true),
                       kiln_arg_complex(1.0, -1.0),
                       kiln_arg_typed(KILN_FLOAT32, &single),
                       kiln_arg_struct(&pod, sizeof pod)};
    fake_launches_clear();
    assert_int_equal(
        kiln_function_launch(function_of("mixed"), kiln_dims(3, 0, 2), kiln_dims(64, 2, 0), args, 7, NULL),
        KILN_OK);
    assert_int_equal(fake_launch_count(), 1);
    fake_launch launch = fake_launch_at(0);
    assert_string_equal(launch.name, "mixed");
    assert_int_equal(launch.grid[0], 3);
    assert_int_equal(launch.grid[1], 1);
    assert_int_equal(launch.grid[2], 2);
    assert_int_equal(launch.block[1], 2);
    assert_int_equal(launch.block[2], 1);

    unsigned char wanted[69];
    void *address = kiln_array_data(x);
    const int64_t i = -3;
    const double d[] = {0.5, 1.0, -1.0};
    memcpy(wanted, &address, 8);
    memcpy(wanted + 8, &i, 8);
    memcpy(wanted + 16, d, 8);
    wanted[24] = 1;
    memcpy(wanted + 25, d + 1, 16);
    memcpy(wanted + 41, &single, 4);
    memcpy(wanted + 45, &pod, 24);
    assert_int_equal(launch.parameter_size, sizeof wanted);
    assert_memory_equal(launch.parameters, wanted, sizeof wanted);
    kiln_array_free(x);
}

static void launch_pointer(kiln_status expected, const kiln_arg *args, int n, const char *message)
{
    fake_launches_clear();
    assert_int_equal(
        kiln_function_launch(function_of("pointer"), kiln_dims(1, 1, 1), kiln_dims(32, 1, 1), args, n, NULL),
        expected);
    if (message && !strstr(kiln_error_message(), message))
        fail_msg("\"%s\" is not in \"%s\"", message, kiln_error_message());
    assert_int_equal(fake_launch_count(), expected == KILN_OK);
}

/* The sizes of the parameters of "integers": 1, 2, 4 and 8 bytes. */
static kiln_status launch_integers(int64_t a, int64_t b, int64_t c, kiln_arg d)
{
    kiln_arg args[] = {kiln_arg_int(a), kiln_arg_int(b), kiln_arg_int(c), d};
    fake_launches_clear();
    return kiln_function_launch(function_of("integers"), kiln_dims(1, 1, 1), kiln_dims(32, 1, 1), args, 4,
                                NULL);
}

/* A weak integer fits a parameter of any size that holds its value, with a sign or without. */
static void weak_integers_fit(void **state)
{
    static const struct {
        int k; /* the parameter, the others are 0 */
        int64_t value;
        bool fits;
        const char *words;
    } rows[] = {
        {0, -128, true, NULL},
        {0, 255, true, NULL},
        {0, -129, false, "argument 0 is -129, which a parameter of 1 byte does not hold: -128 to 255"},
        {0, 256, false, "argument 0 is 256"},
        {1, -32768, true, NULL},
        {1, 65535, true, NULL},
        {1, 65536, false, "argument 1 is 65536, which a parameter of 2 bytes does not hold: -32768 to 65535"},
        {2, INT32_MIN, true, NULL},
        {2, UINT32_MAX, true, NULL},
        {2, (int64_t)INT32_MIN - 1, false, "-2147483648 to 4294967295"},
        {2, (int64_t)UINT32_MAX + 1, false, "argument 2 is 4294967296"},
        {2, INT64_MIN, false, "argument 2 is -9223372036854775808"},
        {3, INT64_MIN, true, NULL}};
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        int64_t v[4] = {0};
        v[rows[r].k] = rows[r].value;
        kiln_status status = launch_integers(v[0], v[1], v[2], kiln_arg_int(v[3]));
        assert_int_equal(status, rows[r].fits ? KILN_OK : KILN_ERROR_INVALID);
        assert_int_equal(fake_launch_count(), rows[r].fits);
        if (!rows[r].fits && !strstr(kiln_error_message(), rows[r].words))
            fail_msg("\"%s\" is not in \"%s\"", rows[r].words, kiln_error_message());
        static const size_t at[] = {0, 1, 3, 7}, sizes[] = {1, 2, 4, 8};
        if (rows[r].fits)
            assert_memory_equal(fake_launch_at(0).parameters + at[rows[r].k], &rows[r].value,
                                sizes[rows[r].k]);
    }
    assert_int_equal(launch_integers(0, 0, 0, kiln_arg_uint(UINT64_MAX)), KILN_OK);
    kiln_arg huge[] = {kiln_arg_uint(UINT64_MAX), kiln_arg_int(0), kiln_arg_int(0), kiln_arg_int(0)};
    assert_int_equal(
        kiln_function_launch(function_of("integers"), kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), huge, 4, NULL),
        KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "argument 0 is 18446744073709551615"));
}

/* However a name expression is spaced, here or there, it is the same function. */
static void name_expressions_by_any_spacing(void **state)
{
    static const char *const expressions[] = {"t<complex<double> >", "u< unsigned  int,3 >", "& space :: v"};
    static const struct {
        const char *name;
        int k; /* which of them; -1: none */
    } rows[] = {{"t<complex<double> >", 0},
                {"t<complex<double>>", 0},
                {" t < complex < double > > ", 0},
                {"t<complex<\tdouble>\n>", 0},
                {"u<unsigned int,3>", 1},
                {"u<unsigned   int , 3>", 1},
                {"space::v", 2},
                {"&space::v", 2},
                {"&  space ::v", 2},
                {"t<complex<float>>", -1},
                {"u<unsignedint,3>", -1},
                {"t<complex<double>", -1},
                {"t<complex<double>>>", -1},
                {"u<un signed int,3>", -1},
                {"t<comp lex<double>>", -1}};
    (void)state;
    kiln_module *mine = NULL;
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    kiln_function *known[3] = {NULL};
    options.name_expressions = expressions;
    options.n_name_expressions = 3;
    if (kiln_module_create(&mine, "// templates\n", 0, &options) != KILN_OK)
        fail_msg("%s", kiln_error_message());
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        kiln_function *function = NULL;
        kiln_status status = kiln_module_function(&function, mine, rows[r].name);
        if (status != (rows[r].k < 0 ? KILN_ERROR_NOT_FOUND : KILN_OK))
            fail_msg("%s: %s", rows[r].name, kiln_status_name(status));
        if (rows[r].k < 0)
            continue;
        if (!known[rows[r].k])
            known[rows[r].k] = function;
        assert_ptr_equal(function, known[rows[r].k]);
    }
    kiln_module_free(mine);
}

/* Without its log a compile is as good as with it. */
static void each_function_of_the_compiler_may_fail(void **state)
{
    static const struct {
        const char *function;
        kiln_status status;
    } rows[] = {{"nvrtcCreateProgram", KILN_ERROR_COMPILE},
                {"nvrtcAddNameExpression", KILN_ERROR_INVALID},
                {"nvrtcCompileProgram", KILN_ERROR_COMPILE},
                {"nvrtcGetCUBINSize", KILN_ERROR_COMPILE},
                {"nvrtcGetCUBIN", KILN_ERROR_COMPILE},
                {"nvrtcGetLoweredName", KILN_ERROR_NOT_FOUND},
                {"nvrtcGetProgramLogSize", KILN_OK},
                {"nvrtcGetProgramLog", KILN_OK},
                {"none", KILN_OK}};
    static const char *const expression = "t<int>";
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    (void)state;
    options.name_expressions = &expression;
    options.n_name_expressions = 1;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        kiln_module *made = NULL;
        char source[64];
        snprintf(source, sizeof source, "// templates without %s\n", rows[r].function);
        setenv("FAKE_NVRTC_FAILS", rows[r].function, 1);
        kiln_status status = kiln_module_create(&made, source, 0, &options);
        if (status != rows[r].status || (status == KILN_OK) != (made != NULL))
            fail_msg("%s: %s: %s", rows[r].function, kiln_status_name(status), kiln_error_message());
        if (status != KILN_OK)
            assert_non_null(strstr(kiln_error_message(), "a fake error"));
        kiln_module_free(made);
    }
    unsetenv("FAKE_NVRTC_FAILS");
}

static void native_handles(void **state)
{
    (void)state;
    kiln_module *compiled = NULL;
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    void *native = kiln_module_cuda_handle(module), *found = NULL;
    int cuModuleGetFunction(void **, void *, const char *), cuCtxPushCurrent_v2(void *),
        cuCtxPopCurrent_v2(void **);
    void *context = NULL;
    assert_non_null(native);
    assert_int_equal(kiln_device_cuda_context(&context, KILN_DEVICE_CUDA(0)), KILN_OK);
    cuCtxPushCurrent_v2(context);
    assert_int_equal(cuModuleGetFunction(&found, native, "none"), 0);
    cuCtxPopCurrent_v2(&context);
    assert_ptr_equal(found, kiln_function_cuda_handle(function_of("none")));
    options.kind = KILN_CODE_PTX;
    options.target = "sm_90";
    assert_int_equal(kiln_module_create(&compiled, text, 0, &options), KILN_OK);
    assert_null(kiln_module_cuda_handle(compiled));
    kiln_module_free(compiled);
    assert_null(kiln_module_cuda_handle(NULL));
    assert_null(kiln_function_cuda_handle(NULL));
}

/* A cubin of the compiler's under -dc: an ELF header of type 1, for sm_90, and the text that the fake driver
 * reads. */
static size_t relocatable(char *out, const char *code)
{
    size_t end = sizeof(Elf64_Ehdr) + strlen(code) + 1;
    const Elf64_Ehdr head = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, 0, 0, 7},
        .e_type = ET_REL,
        .e_machine = 190,
        .e_flags = 90,
        .e_shoff = end,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = 2,
        .e_shstrndx = 1};
    /* the names of its sections: the NUL behind the code */
    const Elf64_Shdr sections[2] = {{0}, {.sh_type = SHT_STRTAB, .sh_offset = end - 1, .sh_size = 1}};
    memcpy(out, &head, sizeof head);
    strcpy(out + sizeof head, code);
    memcpy(out + end, sections, sizeof sections);
    return end + sizeof sections;
}

static kiln_status create_relocatable(kiln_module **out, const char *code)
{
    char image[512];
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    options.name = "apart";
    return kiln_module_create(out, image, relocatable(image, code), &options);
}

static void write_devrt(char *path, size_t size, const char *folder)
{
    snprintf(path, size, "%s/libcudadevrt.a", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

/* Relocatable code is linked, with cudadevrt where it is; where it is missing and needed the message says
 * so. */
static void relocatable_code_is_linked(void **state)
{
    (void)state;
    static const char launches[] = "kernel apart 8\n# LaunchDevice\n";
    char folder[] = "/tmp/kiln-devrt-XXXXXX", path[64];
    kiln_module *mine = NULL;
    kiln_function *function = NULL;
    int loaded = fake_live(FAKE_MODULE);
    assert_non_null(mkdtemp(folder));
    setenv("KILN_CUDADEVRT", "/nowhere/libcudadevrt.a", 1);
    assert_int_equal(create_relocatable(&mine, "kernel apart 8\n"), KILN_OK); /* needs nothing of it */
    assert_int_equal(kiln_module_function(&function, mine, "apart"), KILN_OK);
    kiln_module_free(mine);
    mine = NULL;
    assert_int_equal(create_relocatable(&mine, launches), KILN_ERROR_DEVICE);
    assert_null(mine);
    const char *const words[] = {"loading \"apart\"", "libcudadevrt.a of the CUDA toolkit", "was not found",
                                 "KILN_CUDADEVRT", "cuLinkComplete failed"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (!strstr(kiln_error_message(), words[k]))
            fail_msg("\"%s\" is not in \"%s\"", words[k], kiln_error_message());
    assert_non_null(strstr(kiln_error_log(), "Undefined reference to '__cudaCDP2LaunchDeviceV2'"));
    write_devrt(path, sizeof path, folder);
    setenv("KILN_CUDADEVRT", path, 1);
    assert_int_equal(create_relocatable(&mine, launches), KILN_OK);
    assert_int_equal(kiln_module_function(&function, mine, "apart"), KILN_OK);
    kiln_module_free(mine);
    assert_int_equal(fake_live(FAKE_MODULE), loaded);
    assert_int_equal(fake_live(FAKE_LINK), 0);
    for (long nth = 1, calls = 1; calls; nth++) { /* each call on the way fails once */
        mine = NULL;
        fake_fail(NULL, nth, 999);
        kiln_status status = create_relocatable(&mine, launches);
        fake_fail(NULL, 0, 0);
        calls = fake_failed_function()[0] != 0;
        assert_true(calls || status == KILN_OK);
        kiln_module_free(mine);
        assert_int_equal(fake_live(FAKE_MODULE), loaded);
        assert_int_equal(fake_live(FAKE_LINK), 0);
        assert_int_equal(fake_capture_mode(), 0);
    }
    remove(path);
    remove(folder);
    unsetenv("KILN_CUDADEVRT");
}

static void arguments_that_do_not_fit(void **state)
{
    (void)state;
    const int32_t small = 1;
    int64_t two = 2;
    kiln_array *x = floats(2), *host = NULL;
    assert_int_equal(kiln_array_zeros(&host, KILN_FLOAT32, 1, &two, KILN_DEVICE_HOST), KILN_OK);
    kiln_arg good[] = {kiln_arg_array(x), kiln_arg_array(x)}, null_pointer = kiln_arg_array(NULL);
    kiln_arg typed = kiln_arg_typed(KILN_INT32, &small), on_host = kiln_arg_array(host), nothing,
             no_struct = kiln_arg_struct(NULL, 8);
    memset(&nothing, 0, sizeof nothing);
    launch_pointer(KILN_OK, good, 1, NULL);
    launch_pointer(KILN_OK, &null_pointer, 1, NULL);
    launch_pointer(KILN_ERROR_INVALID, good, 2, "pointer: 2 arguments were given, 1 expected");
    launch_pointer(KILN_ERROR_INVALID, NULL, 0, "0 arguments were given");
    launch_pointer(KILN_ERROR_INVALID, NULL, 1, "args is NULL");
    launch_pointer(KILN_ERROR_INVALID, good, 1000, "1000 arguments");
    launch_pointer(KILN_ERROR_INVALID, &typed, 1, "argument 0 has 4 bytes, the parameter 8");
    launch_pointer(KILN_ERROR_DEVICE, &on_host, 1, "argument 0 is an array on host");
    launch_pointer(KILN_ERROR_INVALID, &nothing, 1, "argument 0 is no argument");
    launch_pointer(KILN_ERROR_INVALID, &no_struct, 1, "struct at NULL");
    kiln_array_free(x);
    kiln_array_free(host);
}

static kiln_status launch_none(kiln_dim3 grid, kiln_dim3 block, const kiln_launch_options *options)
{
    fake_launches_clear();
    return kiln_function_launch(function_of("none"), grid, block, NULL, 0, options);
}

static void grids_and_blocks(void **state)
{
    (void)state;
    assert_int_equal(launch_none(kiln_dims(0, 1, 1), kiln_dims(32, 1, 1), NULL), KILN_OK);
    assert_int_equal(fake_launch_count(), 0);
    assert_int_equal(launch_none(kiln_dims(1, 1, 1), kiln_dims(0, 1, 1), NULL), KILN_ERROR_INVALID);
    assert_int_equal(launch_none(kiln_dims(1, 1, 1), kiln_dims(1024, 2, 1), NULL), KILN_ERROR_INVALID);
    assert_int_equal(launch_none(kiln_dims(1, 1, 1), kiln_dims(1, 1, 65), NULL), KILN_ERROR_INVALID);
    assert_int_equal(launch_none(kiln_dims(1, 65536, 1), kiln_dims(1, 1, 1), NULL), KILN_ERROR_INVALID);
    assert_int_equal(launch_none(kiln_dims(2147483647, 65535, 65535), kiln_dims(1024, 1, 1), NULL), KILN_OK);
    assert_int_equal(fake_launch_count(), 1);
}

static void launch_options(void **state)
{
    (void)state;
    kiln_launch_options options = KILN_LAUNCH_OPTIONS_INIT;
    kiln_stream *stream = NULL;
    assert_int_equal(kiln_stream_create(&stream, KILN_DEVICE_DEFAULT, KILN_STREAM_NON_BLOCKING), KILN_OK);
    options.flags = KILN_LAUNCH_COOPERATIVE;
    options.cluster = kiln_dims(2, 0, 0);
    options.shared_bytes = 100 << 10;
    options.stream = stream;
    assert_int_equal(launch_none(kiln_dims(4, 1, 1), kiln_dims(32, 1, 1), &options), KILN_OK);
    fake_launch launch = fake_launch_at(0);
    assert_true(launch.is_cooperative);
    assert_false(launch.is_dependent);
    assert_int_equal(launch.cluster[0], 2);
    assert_int_equal(launch.cluster[1], 1);
    assert_int_equal(launch.shared_bytes, 100 << 10);
    assert_ptr_equal(launch.stream, kiln_stream_cuda_handle(stream));
    kiln_stream_free(stream);

    options = (kiln_launch_options)KILN_LAUNCH_OPTIONS_INIT;
    options.flags = 2;
    assert_int_equal(launch_none(kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), &options), KILN_ERROR_INVALID);
    options.struct_size = 0;
    assert_int_equal(launch_none(kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), &options), KILN_ERROR_INVALID);
}

static void what_the_driver_knows(void **state)
{
    (void)state;
    kiln_function_attributes a = KILN_FUNCTION_ATTRIBUTES_INIT;
    int blocks = 0;
    assert_int_equal(kiln_function_get_attributes(function_of("mixed"), &a), KILN_OK);
    assert_int_equal(a.max_threads_per_block, 1024);
    assert_int_equal(a.binary_version, 90);
    assert_int_equal(a.n_params, 7);
    assert_int_equal(kiln_function_set_max_dynamic_shared(function_of("mixed"), 200 << 10), KILN_OK);
    assert_int_equal(kiln_function_get_attributes(function_of("mixed"), &a), KILN_OK);
    assert_int_equal(a.max_dynamic_shared_bytes, 200 << 10);
    assert_int_not_equal(kiln_function_set_max_dynamic_shared(function_of("mixed"), 1 << 20), KILN_OK);
    assert_non_null(strstr(kiln_error_message(), "mixed: 1048576 bytes"));
    assert_int_equal(kiln_function_occupancy(function_of("mixed"), &blocks, 256, 0), KILN_OK);
    assert_int_equal(blocks, 8);
    assert_int_equal(kiln_function_occupancy(function_of("mixed"), &blocks, 0, 0), KILN_ERROR_INVALID);
    a.struct_size = 0;
    assert_int_equal(kiln_function_get_attributes(function_of("mixed"), &a), KILN_ERROR_INVALID);
}

static void names(void **state)
{
    (void)state;
    kiln_function *function = NULL;
    assert_ptr_equal(function_of("none"), function_of("none"));
    assert_string_equal(kiln_function_name(function_of("_Z5twiceIfEvPT_")), "_Z5twiceIfEvPT_");
    assert_int_equal(kiln_module_function(&function, module, "nowhere"), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), "module \"my_module\" has no function \"nowhere\""));
    assert_null(function);
}

/* The array reaches the variable's own memory, and keeps the module when the user has given it back. */
static void globals(void **state)
{
    (void)state;
    kiln_module *mine = NULL;
    kiln_array *table = NULL;
    const int64_t too_many = 17, shape[] = {4, 2};
    float back[8] = {0};
    const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    create(&mine, NULL);
    int loaded = fake_live(FAKE_MODULE);
    assert_int_equal(kiln_module_global(&table, mine, "table", KILN_FLOAT32, 1, &too_many), KILN_ERROR_SHAPE);
    assert_non_null(strstr(kiln_error_message(), "holds 64 bytes, 17 elements of float32"));
    assert_int_equal(kiln_module_global(&table, mine, "chair", KILN_FLOAT32, 1, NULL), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_module_global(&table, mine, "table", KILN_DTYPE_NONE, 1, NULL), KILN_ERROR_TYPE);
    assert_null(table);
    assert_int_equal(kiln_module_global(&table, mine, "table", KILN_FLOAT32, 1, NULL), KILN_OK);
    assert_int_equal(kiln_array_size(table), 16);
    kiln_array_free(table);
    assert_int_equal(kiln_module_global(&table, mine, "table", KILN_FLOAT32, 2, shape), KILN_OK);
    kiln_module_free(mine);
    assert_int_equal(fake_live(FAKE_MODULE), loaded);
    memcpy(kiln_array_data(table), values, sizeof values); /* its memory is ordinary memory */
    assert_int_equal(kiln_array_to_host(table, back, sizeof back), KILN_OK);
    assert_memory_equal(back, values, sizeof values);
    kiln_array_free(table);
    assert_int_equal(fake_live(FAKE_MODULE), loaded - 1);
}

static void each_device_has_its_own(void **state)
{
    (void)state;
    kiln_module *second = NULL;
    kiln_function *function = NULL;
    int64_t n = 4;
    kiln_array *x = NULL;
    create(&second, "cuda:1");
    assert_int_equal(kiln_array_zeros(&x, KILN_FLOAT32, 1, &n, KILN_DEVICE_CUDA(1)), KILN_OK);
    kiln_arg arg = kiln_arg_array(x);
    assert_int_equal(kiln_module_function(&function, second, "pointer"), KILN_OK);
    fake_launches_clear();
    assert_int_equal(kiln_function_launch(function, kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), &arg, 1, NULL),
                     KILN_OK);
    assert_int_equal(fake_launch_at(0).device, 1);
    kiln_array_free(x);
    kiln_module_free(second);
}

/* A graph keeps the code that it runs, and gives it back with its last instance. */
static void graphs_hold_modules(void **state)
{
    (void)state;
    kiln_module *mine = NULL;
    kiln_function *function = NULL;
    kiln_stream *stream = NULL;
    kiln_graph *graph = NULL;
    kiln_graph_exec *exec = NULL;
    kiln_launch_options options = KILN_LAUNCH_OPTIONS_INIT;
    int loaded = fake_live(FAKE_MODULE);
    create(&mine, NULL);
    assert_int_equal(kiln_module_function(&function, mine, "none"), KILN_OK);
    assert_int_equal(kiln_stream_create(&stream, KILN_DEVICE_DEFAULT, KILN_STREAM_NON_BLOCKING), KILN_OK);
    options.stream = stream;
    assert_int_equal(kiln_capture_begin(stream), KILN_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            kiln_function_launch(function, kiln_dims(1, 1, 1), kiln_dims(32, 1, 1), NULL, 0, &options),
            KILN_OK);
    assert_int_equal(kiln_capture_end(&graph, stream), KILN_OK);
    kiln_module_free(mine);
    assert_int_equal(fake_live(FAKE_MODULE), loaded + 1);

    assert_int_equal(kiln_graph_instantiate(&exec, graph), KILN_OK);
    kiln_graph_free(graph);
    fake_launches_clear();
    assert_int_equal(kiln_graph_launch(exec, stream), KILN_OK);
    assert_int_equal(fake_launch_count(), 2);
    assert_int_equal(kiln_stream_synchronize(stream), KILN_OK);
    kiln_graph_exec_free(exec);
    kiln_stream_free(stream);
    create(&mine, NULL); /* what graphs held is given back by and by */
    kiln_module_free(mine);
    assert_int_equal(fake_live(FAKE_MODULE), loaded);
}

/* Each call of the driver on the way fails once: an error, and nothing left behind. */
static void every_driver_call_may_fail(void **state)
{
    (void)state;
    int loaded = fake_live(FAKE_MODULE);
    bool was_reached = true;
    for (long nth = 1; was_reached; nth++) {
        kiln_module *mine = NULL;
        kiln_function *function = NULL;
        kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
        options.kind = KILN_CODE_PTX;
        long before = fake_calls();
        int depth = fake_context_depth();
        fake_fail(NULL, nth, 999);
        kiln_status status = kiln_module_create(&mine, text, 0, &options);
        if (status == KILN_OK)
            status = kiln_module_function(&function, mine, "none");
        if (status == KILN_OK)
            status = kiln_function_launch(function, kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), NULL, 0, NULL);
        was_reached = fake_calls() - before >= nth;
        fake_fail(NULL, 0, 0);
        assert_true(was_reached || status == KILN_OK);
        kiln_module_free(mine);
        assert_int_equal(fake_live(FAKE_MODULE), loaded);
        if (strncmp(fake_failed_function(), "cuCtxPopCurrent", 15) != 0) /* then it cannot be put back */
            assert_int_equal(fake_context_depth(), depth);
        assert_true(nth < 100);
    }
}

/* The driver's message about a launch is passed on. */
static void launches_that_fail(void **state)
{
    (void)state;
    kiln_array *x = floats(10);
    const kiln_arg args[] = {kiln_arg_array(x)};
    kiln_function *pointer = function_of("pointer");
    fake_fail("cuLaunchKernel", 1, 999);
    assert_int_equal(kiln_function_launch(pointer, kiln_dims(1, 1, 1), kiln_dims(32, 1, 1), args, 1, NULL),
                     KILN_ERROR_DEVICE);
    fake_fail(NULL, 0, 0);
    assert_int_equal(kiln_function_launch(pointer, kiln_dims(1, 1, 1), kiln_dims(32, 1, 1), args, 1, NULL),
                     KILN_OK);
    kiln_array_free(x);
}

/* NVRTC is looked for once a process. */
static void without_nvrtc(void **state)
{
    int status = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        kiln_module *none = NULL;
        setenv("KILN_NVRTC", "/nowhere/libnvrtc.so", 1);
        bool is_told = kiln_module_create(&none, "__global__ void f() {}", 0, NULL) == KILN_ERROR_NOT_FOUND &&
                       strstr(kiln_error_message(), "/nowhere/libnvrtc.so");
        fprintf(stderr, is_told ? "" : "%s\n", kiln_error_message());
        _exit(!is_told);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int set_up(void **state)
{
    (void)state;
    create(&module, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kiln_module_free(module);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arguments_are_handed_over),
        cmocka_unit_test(weak_integers_fit),
        cmocka_unit_test(name_expressions_by_any_spacing),
        cmocka_unit_test(each_function_of_the_compiler_may_fail),
        cmocka_unit_test(native_handles),
        cmocka_unit_test(relocatable_code_is_linked),
        cmocka_unit_test(arguments_that_do_not_fit),
        cmocka_unit_test(grids_and_blocks),
        cmocka_unit_test(launch_options),
        cmocka_unit_test(launches_that_fail),
        cmocka_unit_test(what_the_driver_knows),
        cmocka_unit_test(names),
        cmocka_unit_test(globals),
        cmocka_unit_test(each_device_has_its_own),
        cmocka_unit_test(graphs_hold_modules),
        cmocka_unit_test(every_driver_call_may_fail),
    };
    const struct CMUnitTest first[] = {cmocka_unit_test(without_nvrtc)};
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_TARGET", "cuda:0", 1);
    int failed = cmocka_run_group_tests(first, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, set_up, tear_down);
}
