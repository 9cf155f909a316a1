/* The files that a compiler read are known, however it came to read them: for each way to a file, a change
 * of that file, or one that comes to be in front of it, ends the code. With each compiler that is here,
 * each in a process of its own. Half of the ways are drawn; KILN_SOAK=1 takes all. */
#include "compile/compile.h"

#include "base/error.h"
#include "base/os.h"
#include "compile/reads.h"
#include "drawn.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[PATH_MAX - 256];

enum { HOST = 1, CUDA = 2, BOTH = 3, NEVER_HOLDS = 4 };

/* % stands for the folder, which is also where the process is. */
typedef struct way {
    const char *what;
    int flags;
    const char *source;
    const char *options[4];
    const char *variable, *value; /* of the environment */
    const char *changed;          /* the file that is written anew; "-": removed, in front of its name */
} way;

static const way ways[] = {
    {"a path", BOTH, "#include \"%/v.h\"\n", {NULL}, NULL, NULL, "v.h"},
    {"a macro", BOTH, "#define H \"v.h\"\n#include H\n", {"-I%"}, NULL, NULL, "v.h"},
    {"a path made by a macro",
     BOTH,
     "#define S_(x) #x\n#define S(x) S_(x)\n#include S(%/v.h)\n",
     {NULL},
     NULL,
     NULL,
     "v.h"},
    {"a macro among the options", BOTH, "#include H\n", {"-I%", "-DH=\"v.h\""}, NULL, NULL, "v.h"},
    {"a comment inside", BOTH, "#/**/include \"v.h\"\n", {"-I%"}, NULL, NULL, "v.h"},
    {"a comment before", BOTH, "/* x */ # /* y */ include /* z */ <v.h>\n", {"-I%"}, NULL, NULL, "v.h"},
    {"a word over two lines", BOTH, "#inc\\\nlude \"v.h\"\n", {"-I%"}, NULL, NULL, "v.h"},
    {"through another header", BOTH, "#include \"sub/outer.h\"\n", {"-I%"}, NULL, NULL, "sub/inner.h"},
    {"beside the one that includes it", BOTH, "#include \"sub/outer.h\"\n", {"-I%"}, NULL, NULL, "sub/v.h"},
    {"a folder that is relative", BOTH, "#include <inner.h>\n", {"-Isub"}, NULL, NULL, "sub/inner.h"},
    {"a folder as a word of its own", BOTH, "#include <inner.h>\n", {"-I", "sub"}, NULL, NULL, "sub/inner.h"},
    {"a folder in front, without it", BOTH, "#include <v.h>\n", {"-Isub", "-I%"}, NULL, NULL, "sub/v.h"},
    {"a folder in front that is not there yet",
     BOTH,
     "#include <v.h>\n",
     {"-I%/new", "-I%"},
     NULL,
     NULL,
     "new/v.h"},
    {"the header is removed", BOTH, "#include <v.h>\n", {"-I%"}, NULL, NULL, "-v.h"},
    {"a question whether it is there",
     BOTH,
     "#if __has_include(\"w.h\")\n#endif\n",
     {"-I%"},
     NULL,
     NULL,
     "w.h"},
    {"a question in a header", BOTH, "#include <asks.h>\n", {"-I%"}, NULL, NULL, "w.h"},
    {"a question by a macro",
     BOTH | NEVER_HOLDS,
     "#define H \"w.h\"\n#if __has_include(H)\n#endif\n",
     {"-I%"},
     NULL,
     NULL,
     "w.h"},
    {"-include", HOST, "", {"-include", "%/v.h"}, NULL, NULL, "v.h"},
    {"-include, relative", HOST, "", {"-include", "v.h"}, NULL, NULL, "v.h"},
    {"--pre-include", CUDA, "", {"--pre-include=%/v.h"}, NULL, NULL, "v.h"},
    {"-imacros", HOST, "", {"-imacros", "%/v.h"}, NULL, NULL, "v.h"},
    {"-idirafter", HOST, "#include <v.h>\n", {"-idirafter", "%"}, NULL, NULL, "v.h"},
    {"-isystem", HOST, "#include <v.h>\n", {"-isystem%"}, NULL, NULL, "v.h"},
    {"-iquote", HOST, "#include \"v.h\"\n", {"-iquote", "%"}, NULL, NULL, "v.h"},
    {"-Wp", HOST, "", {"-Wp,-include,%/v.h"}, NULL, NULL, "v.h"},
    {"CPATH", HOST, "#include <v.h>\n", {NULL}, "CPATH", "%", "v.h"},
    {"CPATH, relative and in front", HOST, "#include <v.h>\n", {NULL}, "CPATH", "sub:.", "sub/v.h"},
    {"CPLUS_INCLUDE_PATH", HOST, "#include <v.h>\n", {NULL}, "CPLUS_INCLUDE_PATH", "%", "v.h"},
    {"a file of options", HOST, "", {"@%/options"}, NULL, NULL, "options"},
    {"a file of options, relative", HOST, "", {"@options"}, NULL, NULL, "options"},
    {"a header that a file of options names",
     HOST,
     "#include <inner.h>\n",
     {"@options"},
     NULL,
     NULL,
     "sub/inner.h"},
    {"an object", HOST, "", {"-Wl,%/part.o"}, NULL, NULL, "part.o"},
};

/* Most of this runs in children, which must not go on with the other tests. */
#define REQUIRE(condition, ...)                                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, __VA_ARGS__);                                                                    \
            fprintf(stderr, "\n%s:%d: %s\n%s\n", __FILE__, __LINE__, kiln_error_message(),                   \
                    kiln_error_log());                                                                       \
            _exit(1);                                                                                        \
        }                                                                                                    \
    } while (0)

static const char *expand(char *out, size_t size, const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += (size_t)(*text == '%' ? snprintf(out + n, size - n, "%s", folder)
                                   : snprintf(out + n, size - n, "%c", *text));
    out[n] = 0;
    return out;
}

static void write_text(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    REQUIRE(kn_os_write_file(path, text, strlen(text)) == KILN_OK, "%s", path);
}

static void write_all(void)
{
    char path[PATH_MAX];
    /* By name: a command that removes everything in a folder is one slip away from another folder. */
    snprintf(path, sizeof path, "cd '%s' && rm -rf v.h w.h asks.h options part.c part.o sub new", folder);
    REQUIRE(system(path) == 0, "%s", path);
    snprintf(path, sizeof path, "%s/sub", folder);
    REQUIRE(kn_os_make_folders(path, 0700) == KILN_OK, "%s", path);
    write_text("v.h", "#define V 1\n");
    write_text("sub/outer.h", "#include \"inner.h\"\n#include \"v.h\"\n");
    write_text("sub/inner.h", "#define INNER 1\n");
    write_text("asks.h", "#if __has_include(<w.h>)\n#endif\n");
    write_text("options", "-DX=1 -I%/sub");
    char options[PATH_MAX + 16];
    write_text("options", expand(options, sizeof options, "-DX=1 -I%/sub"));
    snprintf(path, sizeof path, "cd '%s' && echo 'int part = 1;' > part.c && cc -c -fPIC part.c", folder);
    REQUIRE(system(path) == 0, "%s", path);
}

static void change(const char *name)
{
    char path[PATH_MAX];
    if (name[0] == '-') {
        snprintf(path, sizeof path, "%s/%s", folder, name + 1);
        REQUIRE(unlink(path) == 0, "%s", path);
    } else if (strcmp(name, "part.o") == 0) {
        snprintf(path, sizeof path, "cd '%s' && echo 'int part = 2;' > part.c && cc -c -fPIC part.c", folder);
        REQUIRE(system(path) == 0, "%s", path);
    } else {
        snprintf(path, sizeof path, "%s/new", folder);
        REQUIRE(kn_os_make_folders(path, 0700) == KILN_OK, "%s", path);
        write_text(name, strcmp(name, "options") == 0 ? "-DX=2" : "#define V 2\n");
    }
}

static void check(const way *w, kn_backend_kind backend)
{
    char source[PATH_MAX], option[4][PATH_MAX], value[PATH_MAX];
    const char *options[4];
    int n = 0;
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_str dependencies = KN_STR_INIT;
    write_all();
    for (; n < 4 && w->options[n]; n++)
        options[n] = expand(option[n], sizeof option[n], w->options[n]);
    if (w->variable)
        setenv(w->variable, expand(value, sizeof value, w->value), 1);
    kn_compile_request request = {
        .source = expand(source, sizeof source, w->source), .name = "k", .options = options, .n_options = n};
    if (backend == KN_CUDA)
        REQUIRE(kn_target_parse(&request.target, "sm_80") == KILN_OK, "sm_80");
    else
        kn_target_host(&request.target);
    REQUIRE(kn_compile(&result, &request) == KILN_OK &&
                kn_compile_dependencies(&dependencies, &request, &result) == KILN_OK,
            "%s", w->what);
    bool held = kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, n);
    REQUIRE(held != !!(w->flags & NEVER_HOLDS), "%s: held: %d; dependencies:\n%s", w->what, held,
            kn_str_text(&dependencies));
    change(w->changed);
    REQUIRE(!kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, n),
            "%s: a change is not seen; dependencies:\n%s", w->what, kn_str_text(&dependencies));
    if (w->variable)
        unsetenv(w->variable);
    kn_compile_result_free(&result);
    kn_str_free(&dependencies);
}

static int in_child(const char *compiler, void (*body)(kn_backend_kind), kn_backend_kind backend)
{
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
        if (compiler)
            setenv("KILN_CXX", compiler, 1);
        body(backend);
        _exit(0);
    }
    waitpid(child, &status, 0);
    return status;
}

static void check_all(kn_backend_kind backend)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].flags & (backend == KN_CUDA ? CUDA : HOST) && is_drawn(2 * i + (backend == KN_CUDA), 2))
            check(&ways[i], backend);
}

static bool has_program(const char *name)
{
    char path[PATH_MAX];
    return kn_os_find_program(path, sizeof path, name) == KILN_OK;
}

static void with_gcc(void **state)
{
    (void)state;
    if (!has_program("g++"))
        skip();
    assert_int_equal(in_child("g++", check_all, KN_HOST), 0);
}

static void with_clang(void **state)
{
    (void)state;
    if (!has_program("clang++"))
        skip();
    assert_int_equal(in_child("clang++", check_all, KN_HOST), 0);
}

static void with_nvrtc(void **state)
{
    (void)state;
    if (!kn_compile_identity(KN_CUDA)[0])
        skip();
    assert_int_equal(in_child(NULL, check_all, KN_CUDA), 0);
}

static void dependencies_of(kn_str *dependencies, const char *source, const char *const *options, int n)
{
    kn_compile_request request = {.source = source, .name = "k", .options = options, .n_options = n};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_target_host(&request.target);
    kn_str_clear(dependencies);
    REQUIRE(kn_compile(&result, &request) == KILN_OK &&
                kn_compile_dependencies(dependencies, &request, &result) == KILN_OK,
            "%s", source);
    kn_compile_result_free(&result);
}

/* Most kernels reach for nothing: nothing is noted, and nothing has to be verified. */
static void check_nothing(kn_backend_kind backend)
{
    (void)backend;
    static const char *const options[] = {"-DX=1", "-O2", "-ffast-math", "-Wno-all", "-march=native"};
    kn_str dependencies = KN_STR_INIT;
    dependencies_of(&dependencies, "int x; // what is included is important\n#define A \\\n 1\n", options, 5);
    REQUIRE(dependencies.length == 0, "%s", dependencies.data);
    kn_str_free(&dependencies);
}

static void nothing_to_record(void **state)
{
    (void)state;
    assert_int_equal(in_child(NULL, check_nothing, KN_HOST), 0);
}

/* Another CPATH is another search, though no file has changed. */
static void check_variables(kn_backend_kind backend)
{
    (void)backend;
    kn_str dependencies = KN_STR_INIT;
    write_all();
    setenv("CPATH", folder, 1);
    dependencies_of(&dependencies, "#include <v.h>\n", NULL, 0);
    REQUIRE(kn_compile_dependencies_hold(dependencies.data, dependencies.length, NULL, 0), "%s",
            kn_str_text(&dependencies));
    setenv("CPATH", "/nowhere", 1);
    REQUIRE(!kn_compile_dependencies_hold(dependencies.data, dependencies.length, NULL, 0), "%s",
            kn_str_text(&dependencies));
    kn_str_free(&dependencies);
}

static void variables_are_part_of_it(void **state)
{
    (void)state;
    assert_int_equal(in_child(NULL, check_variables, KN_HOST), 0);
}

/* The options of the words of KILN_CXX reach for files as those of a request do. */
static void check_words(kn_backend_kind backend)
{
    (void)backend;
    char words[PATH_MAX];
    kn_str dependencies = KN_STR_INIT;
    write_all();
    setenv("KILN_CXX", expand(words, sizeof words, "c++ -include %/v.h"), 1);
    dependencies_of(&dependencies, "int x = V;\n", NULL, 0);
    REQUIRE(kn_compile_dependencies_hold(dependencies.data, dependencies.length, NULL, 0), "%s",
            kn_str_text(&dependencies));
    change("v.h");
    REQUIRE(!kn_compile_dependencies_hold(dependencies.data, dependencies.length, NULL, 0), "%s",
            kn_str_text(&dependencies));
    kn_str_free(&dependencies);
}

static void words_of_the_compiler_reach_too(void **state)
{
    (void)state;
    assert_int_equal(in_child(NULL, check_words, KN_HOST), 0);
}

static int make_folder(void **state)
{
    (void)state;
    char made[512], whole[PATH_MAX];
    if (kn_os_make_temporary_folder(made, sizeof made) != KILN_OK || !realpath(made, whole) ||
        (size_t)snprintf(folder, sizeof folder, "%s", whole) >= sizeof folder)
        return -1;
    return chdir(folder);
}

static int remove_folder(void **state)
{
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "cd / && rm -rf '%s'", folder);
    return system(command);
}

/* A rule for make ends with its line; names of one letter, in front of lines' ends too, and such as begin
 * with escapes. */
static void rules_are_read(void **state)
{
    static const char rule[] = "code.so: a b.h \\\n c\\ d.h \\\n \\ e.h\tf$$.h\\#g \\\n  /x/private/p.h "
                               "/x/private2.h \\:i\\\\j h\nnext: k.h\n";
    kn_compile_reads reads = {.files = KN_STR_INIT};
    (void)state;
    kn_reads_take_rule(&reads, rule, sizeof rule - 1, "/x/private");
    assert_string_equal(kn_str_text(&reads.files), "a\nb.h\nc d.h\n e.h\nf$.h#g\n/x/private2.h\n:i\\j\nh\n");
    assert_false(reads.is_unknown);
    kn_reads_take_rule(&reads, "no rule", 7, "/x");
    assert_true(reads.is_unknown);
    kn_str_free(&reads.files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_read),
        cmocka_unit_test(with_gcc),
        cmocka_unit_test(with_clang),
        cmocka_unit_test(with_nvrtc),
        cmocka_unit_test(nothing_to_record),
        cmocka_unit_test(variables_are_part_of_it),
        cmocka_unit_test(words_of_the_compiler_reach_too),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
