/* Raw modules without a device: what code is, compiling for a named architecture, the cache, headers.
 * Launches are in tests/driver. */
#include <kiln/kiln.h>

#include "base/os.h"
#include "store/build.h"
#include "compile/compile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include "each_allocation.h"

static char folder[512];

#define NEEDS_NVRTC()                                                                                        \
    do {                                                                                                     \
        if (!kn_compile_identity(KN_CUDA)[0]) {                                                              \
            print_message("NVRTC is absent: skipped\n");                                                     \
            skip();                                                                                          \
        }                                                                                                    \
    } while (0)

static kiln_module_options options_for(const char *target)
{
    kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
    options.target = target;
    return options;
}

static void create(kiln_module **out, const void *code, size_t size, const kiln_module_options *options)
{
    if (kiln_module_create(out, code, size, options) != KILN_OK)
        fail_msg("%s\n%s", kiln_error_message(), kiln_error_log());
}

static kiln_origin last_origin(void)
{
    kiln_call_info info = KILN_CALL_INFO_INIT;
    assert_int_equal(kiln_kernel_last_call(&info), KILN_OK);
    return info.origin;
}

static const char source[] = "extern \"C\" __global__ void twice(float *x) { x[threadIdx.x] *= 2; }\n";

/* The driver, which is told no size, would read on behind the end. */
static void expect_whole_ones_alone(const void *code, size_t size)
{
    kiln_module_options options = options_for("sm_90");
    kiln_module *module = NULL;
    for (size_t n = 64; n < size; n++) {
        assert_int_equal(kiln_module_create(&module, code, n, &options), KILN_ERROR_FORMAT);
        assert_non_null(strstr(kiln_error_message(), "not whole"));
    }
    assert_null(module);
    create(&module, code, size, &options);
    kiln_module_free(module);
}

static void compiles_for_an_architecture(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kiln_module *module = NULL;
    kiln_function *function = NULL;
    const void *code = NULL;
    size_t size = 0;
    kiln_module_options options = options_for("sm_90");
    create(&module, source, 0, &options);
    assert_int_equal(last_origin(), KILN_ORIGIN_COMPILER);
    assert_int_equal(kiln_module_code(&code, &size, module), KILN_OK);
    assert_memory_equal(code, "\177ELF", 4);
    expect_whole_ones_alone(code, size);
    assert_int_equal(kiln_module_function(&function, module, "twice"), KILN_ERROR_UNSUPPORTED);
    assert_non_null(strstr(kiln_error_message(), "sm_90"));
    assert_null(function);
    kiln_module_free(module);

    module = NULL;
    create(&module, source, strlen(source), &options);
    assert_int_equal(last_origin(), KILN_ORIGIN_MEMORY);
    kiln_module_free(module);

    options.flags = KILN_MODULE_NO_FMA; /* other code */
    create(&module, source, 0, &options);
    assert_int_equal(last_origin(), KILN_ORIGIN_COMPILER);
    kiln_module_free(module);
    kiln_module_free(NULL);
}

static void cubins_know_their_architecture(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kiln_module *module = NULL, *again = NULL;
    const void *code = NULL;
    size_t size = 0;
    kiln_module_options options = options_for("sm_80");
    create(&module, source, 0, &options);
    assert_int_equal(kiln_module_code(&code, &size, module), KILN_OK);

    options.target = "sm_86";
    create(&again, code, size, &options);
    kiln_module_free(again);
    again = NULL;
    options.target = "sm_90";
    options.name = "my_module";
    assert_int_equal(kiln_module_create(&again, code, size, &options), KILN_ERROR_UNSUPPORTED);
    assert_string_equal(kiln_error_message(),
                        "module \"my_module\": the cubin was made for sm_80, the target is sm_90");
    options.kind = KILN_CODE_SOURCE;
    assert_int_equal(kiln_module_create(&again, code, size, &options), KILN_ERROR_FORMAT);
    assert_null(again);
    kiln_module_free(module);
}

static void errors_name_line_and_name(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    options.name = "my_module";
    assert_int_equal(kiln_module_create(&module, "__global__ void f()\n{\n  oops;\n}\n", 0, &options),
                     KILN_ERROR_COMPILE);
    assert_string_equal(kiln_error_message(),
                        "my_module:3: error: identifier \"oops\" is undefined\n    oops;\n    ^");
    assert_non_null(strstr(kiln_error_log(), "my_module(3)"));
    options.flags = KILN_MODULE_NO_COMPILE;
    assert_int_equal(kiln_module_create(&module, "__global__ void never_seen() {}", 0, &options),
                     KILN_ERROR_FORBIDDEN);
    assert_null(module);
}

static void write_header(const char *text)
{
    char path[600];
    snprintf(path, sizeof path, "%s/include", folder);
    assert_int_equal(kn_os_make_folders(path, 0700), KILN_OK);
    snprintf(path, sizeof path, "%s/include/scale.h", folder);
    assert_int_equal(kn_os_write_file(path, text, strlen(text)), KILN_OK);
}

/* A header that changed is other code, in the same process too. */
static void headers_in_folders(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    char include[600];
    const char *folders[] = {include};
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    static const char text[] = "#include <scale.h>\nextern \"C\" __global__ void f(int *x) { *x *= SCALE; }";
    snprintf(include, sizeof include, "%s/include", folder);
    options.include_folders = folders;
    options.n_include_folders = 1;
    static const struct {
        const char *header;
        kiln_origin origin;
    } steps[] = {{"#define SCALE 3\n", KILN_ORIGIN_COMPILER},
                 {"#define SCALE 3\n", KILN_ORIGIN_MEMORY},
                 {"#define SCALE 4\n", KILN_ORIGIN_COMPILER},
                 {"#define SCALE 4\n", KILN_ORIGIN_MEMORY}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        write_header(steps[i].header);
        create(&module, text, 0, &options);
        assert_int_equal(last_origin(), steps[i].origin);
        kiln_module_free(module);
        module = NULL;
    }
}

static void headers_in_memory_and_templates(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char *const names[] = {"scale.h"}, *const texts[] = {"#define SCALE 3\n"};
    static const char *const expressions[] = {"scaled<float>", "scaled<int>", "&space::table"},
                             *const defines[] = {"-DOFFSET=5"};
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    options.header_names = names;
    options.header_texts = texts;
    options.n_headers = 1;
    options.name_expressions = expressions;
    options.n_name_expressions = 3;
    options.compile_options = defines;
    options.n_compile_options = 1;
    const void *code;
    size_t size;
    create(&module,
           "#include \"scale.h\"\nnamespace space { __constant__ float table[4]; }\n"
           "template<class T> __global__ void scaled(T *x) { *x = *x * SCALE + OFFSET + space::table[1]; }",
           0, &options);
    assert_int_equal(kiln_module_code(&code, &size, module), KILN_OK);
    assert_non_null(memmem(code, size, "_Z6scaledIfEvPT_", 16));
    assert_non_null(memmem(code, size, "_Z6scaledIiEvPT_", 16));
    kiln_module_free(module);
}

/* The types of generated kernels, without a toolkit's headers. */
static void types_of_kernels(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    create(&module,
           "#include <kiln/types.h>\n"
           "extern \"C\" __global__ void f(complex<float> *z, float16 *h, bfloat16 *b, uint8 *u)\n"
           "{ *z = *z * complex<float>(0, 1) + exp(*z); *h = *h + *b; *u = abs(*z) > 1; }",
           0, &options);
    kiln_module_free(module);
    module = NULL;
    assert_int_equal(kiln_module_create(&module, "__device__ float16 h;", 0, &options), KILN_ERROR_COMPILE);
}

/* A type is there wherever it is named: in name expressions, in options, in headers in memory and in folders,
 * which may include <kiln/types.h> themselves. */
static void types_named_anywhere(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char text[] = "#include <kiln/types.h>\n"
                               "template<class T> __global__ void t(T *x) { x[0] = x[0] * x[1]; }\n";
    static const char *const expressions[] = {"t<complex<double>>", "t<float16>", "t<bfloat16>",
                                              "t<complex<float> >"};
    static const char *const defines[] = {"-DELEMENT=complex<float>", "-DHALF=float16"};
    static const char *const names[] = {"element.h"};
    static const char *const texts[] = {"#include <kiln/types.h>\ntypedef bfloat16 element;\n"};
    char include[600];
    const char *folders[] = {include};
    snprintf(include, sizeof include, "%s/include", folder);
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    options.name_expressions = expressions;
    options.n_name_expressions = 4;
    create(&module, text, 0, &options);
    kiln_module_free(module);

    options = options_for("sm_90");
    options.compile_options = defines;
    options.n_compile_options = 2;
    create(&module,
           "#include <kiln/types.h>\nextern \"C\" __global__ void f(ELEMENT *x, HALF *h)"
           " { *x = *x * *x; *h = *h + *h; }",
           0, &options);
    kiln_module_free(module);

    options = options_for("sm_90");
    options.header_names = names;
    options.header_texts = texts;
    options.n_headers = 1;
    static const char by_header[] =
        "#include \"element.h\"\nextern \"C\" __global__ void f(element *x) { *x = *x + *x; }";
    create(&module, by_header, 0, &options);
    kiln_module_free(module);

    char path[700];
    assert_int_equal(kn_os_make_folders(include, 0700), KILN_OK);
    snprintf(path, sizeof path, "%s/element.h", include);
    assert_int_equal(kn_os_write_file(path, texts[0], strlen(texts[0])), KILN_OK);
    options = options_for("sm_90");
    options.include_folders = folders;
    options.n_include_folders = 1;
    create(&module, by_header, 0, &options);
    kiln_module_free(module);
}

/* Each header has its own text, and any one of them may name a type, as may any option and any expression. */
static void several_headers(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char *const names[] = {"first.h", "deep/second.h", "third.h"};
    static const char *const texts[] = {
        "#define FIRST 1\n", "#include \"third.h\"\n#define SECOND (FIRST + THIRD)\n",
        "#include <kiln/types.h>\n#define THIRD 3\ntypedef bfloat16 element;\n"};
    static const char *const defines[] = {"-DA=1", "-DHALF=float16"}, *const expressions[] = {"g<A>",
                                                                                              "g<SECOND>"};
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    options.header_names = names;
    options.header_texts = texts;
    options.n_headers = 3;
    options.compile_options = defines;
    options.n_compile_options = 2;
    options.name_expressions = expressions;
    options.n_name_expressions = 2;
    const void *code;
    size_t size;
    create(&module,
           "#include \"first.h\"\n#include \"deep/second.h\"\n"
           "static_assert(FIRST == 1 && SECOND == 4 && sizeof(HALF) == 2 && sizeof(element) == 2, \"\");\n"
           "template <int N> __global__ void g(element *x, HALF *h) { x[N] = x[0] + *h; }",
           0, &options);
    assert_int_equal(kiln_module_code(&code, &size, module), KILN_OK);
    assert_non_null(memmem(code, size, "_Z1gILi1E", 9));
    assert_non_null(memmem(code, size, "_Z1gILi4E", 9));
    kiln_module_free(module);
    /* In no text that is given: it comes by a macro alone. */
    module = NULL;
    static const char *const by_macro[] = {"-DA=1", "-DTYPES=<kiln/types.h>"};
    options = options_for("sm_90");
    options.compile_options = by_macro;
    options.n_compile_options = 2;
    create(&module, "#include TYPES\nextern \"C\" __global__ void f(float16 *x) { *x = *x + *x; }", 0,
           &options);
    kiln_module_free(module);
}

/* Under -dc the code is relocatable, and stays so until a device links it. */
static void relocatable_code(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char *const apart[] = {"-dc"};
    const void *code = NULL;
    size_t size = 0;
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    options.compile_options = apart;
    options.n_compile_options = 1;
    create(&module,
           "__global__ void child(int *x) { *x = 1; }\n"
           "extern \"C\" __global__ void parent(int *x) { child<<<1, 1>>>(x); }",
           0, &options);
    assert_int_equal(kiln_module_code(&code, &size, module), KILN_OK);
    assert_int_equal(((const unsigned char *)code)[16], 1); /* ET_REL */
    kiln_module_free(module);
}

/* Each allocation on the way fails once: an error, nothing lost, and the next attempt is as good as new. */
static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char *const expressions[] = {"twice<int>"}, *const defines[] = {"-DTWO=2"};
    kiln_module_options options = options_for("sm_90");
    options.name_expressions = expressions;
    options.compile_options = defines;
    options.include_folders = (const char *const[]){folder};
    options.n_name_expressions = options.n_compile_options = options.n_include_folders = 1;
    kiln_module *module = NULL;
    EACH_ALLOCATION(kiln_module_create(
                        &module, "template<class T> __global__ void twice(T *x) { *x *= TWO; }", 0, &options),
                    KILN_ERROR_MEMORY, kiln_module_free(module));
}

static void what_is_not_code(void **state)
{
    (void)state;
    kiln_module *module = NULL;
    kiln_module_options options = options_for("sm_90");
    unsigned char elf[128] = "\177ELF";
    elf[18] = 62; /* x86-64 */
    assert_int_equal(kiln_module_create(&module, elf, sizeof elf, &options), KILN_ERROR_FORMAT);
    assert_int_equal(kiln_module_create(&module, "a\0b", 3, &options), KILN_ERROR_FORMAT);
    static const unsigned char fat[24] = {0x50, 0xed, 0x55, 0xba, 1,
                                          0,    16,   0,    9}; /* 9 bytes follow, says it */
    for (size_t n = 4; n < sizeof fat; n++)
        assert_int_equal(kiln_module_create(&module, fat, n, &options), KILN_ERROR_FORMAT);
    options.kind = KILN_CODE_CUBIN;
    assert_int_equal(kiln_module_create(&module, source, 0, &options), KILN_ERROR_FORMAT);
    assert_non_null(strstr(kiln_error_message(), "CUDA source"));
    options.kind = (kiln_code_kind)7;
    assert_int_equal(kiln_module_create(&module, source, 0, &options), KILN_ERROR_INVALID);
    assert_null(module);
}

static void ptx_is_taken_as_it_is(void **state)
{
    (void)state;
    kiln_module *module = NULL;
    const void *code;
    size_t size;
    kiln_module_options options = options_for("sm_90");
    static const char ptx[] = "//\n/* a comment */\n\t.version 8.0\n.target sm_80\n.address_size 64\n";
    create(&module, ptx, 0, &options);
    assert_int_equal(kiln_module_code(&code, &size, module), KILN_OK);
    assert_int_equal(size, strlen(ptx));
    kiln_module_free(module);
}

static void bad_arguments(void **state)
{
    (void)state;
    kiln_module *module = NULL;
    kiln_function *function = NULL;
    kiln_module_options options = options_for("sm_31");
    assert_int_equal(kiln_module_create(NULL, source, 0, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_module_create(&module, NULL, 0, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_module_create(&module, source, 0, &options), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "sm_31"));
    options = options_for("host");
    assert_int_equal(kiln_module_create(&module, source, 0, &options), KILN_ERROR_UNSUPPORTED);
    options = options_for("sm_90");
    options.n_headers = 1;
    assert_int_equal(kiln_module_create(&module, source, 0, &options), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "header_names"));
    options = options_for("sm_90");
    options.flags = 64;
    assert_int_equal(kiln_module_create(&module, source, 0, &options), KILN_ERROR_INVALID);
    options.struct_size = 0;
    assert_int_equal(kiln_module_create(&module, source, 0, &options), KILN_ERROR_INVALID);
    assert_int_equal(kiln_module_function(&function, NULL, "f"), KILN_ERROR_INVALID);
    assert_int_equal(kiln_function_launch(NULL, kiln_dims(1, 1, 1), kiln_dims(1, 1, 1), NULL, 0, NULL),
                     KILN_ERROR_INVALID);
    assert_string_equal(kiln_function_name(NULL), "");
    assert_null(module);
}

static void the_host_has_no_modules(void **state)
{
    (void)state;
    kiln_module *module = NULL;
    assert_int_equal(kiln_module_create(&module, source, 0, NULL), KILN_ERROR_UNSUPPORTED);
    assert_non_null(strstr(kiln_error_message(), "the host"));
    assert_non_null(strstr(kiln_error_message(), "sm_90"));
}

/* Allocations of a module that is found on disk. */
static unsigned long cost_of_a_hit(const char *text)
{
    kiln_module_options options = options_for("sm_90");
    kiln_module *module = NULL;
    create(&module, text, 0, &options);
    kiln_module_free(module);
    module = NULL;
    kn_build_shutdown();
    create(&module, source, 0, &options); /* the stores are open */
    kiln_module_free(module);
    module = NULL;
    kn_alloc_fail_at(0, 0);
    create(&module, text, 0, &options);
    unsigned long cost = kn_alloc_fail_at(0, 0);
    assert_int_equal(last_origin(), KILN_ORIGIN_DISK);
    kiln_module_free(module);
    return cost;
}

/* Nor what the source may include: two that differ in whether they name kiln's header. */
static void a_hit_writes_no_source(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    unsigned long with = cost_of_a_hit("// <kiln/types.h>: float16\n__global__ void f(int *x) { *x = 1; }\n"),
                  without =
                      cost_of_a_hit("// <some/types.h>: float16\n__global__ void f(int *x) { *x = 1; }\n");
    assert_in_range(with, 1, without + 3); /* its key is longer */
}

static int make_folder(void **state)
{
    (void)state;
    setenv("KILN_TARGET", "host", 1);
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return -1;
    return setenv("KILN_CACHE_DIR", folder, 1);
}

static int remove_folder(void **state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s/include", folder);
    kn_os_remove_folder(path);
    kn_os_remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compiles_for_an_architecture),
        cmocka_unit_test(cubins_know_their_architecture),
        cmocka_unit_test(errors_name_line_and_name),
        cmocka_unit_test(headers_in_folders),
        cmocka_unit_test(headers_in_memory_and_templates),
        cmocka_unit_test(types_of_kernels),
        cmocka_unit_test(types_named_anywhere),
        cmocka_unit_test(a_hit_writes_no_source),
        cmocka_unit_test(several_headers),
        cmocka_unit_test(relocatable_code),
        cmocka_unit_test(what_is_not_code),
        cmocka_unit_test(fails_cleanly_without_memory),
        cmocka_unit_test(ptx_is_taken_as_it_is),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(the_host_has_no_modules),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
