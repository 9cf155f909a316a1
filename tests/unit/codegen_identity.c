/* The generator's identity under KILN_TEMPLATE_DIR: every template that is read is part of it. */
#include "codegen/codegen.h"
#include "codegen/templates.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROOM = 128 };

/* As a new process has it: it is made once. folder NULL: the templates that are built in. */
static void identity_with(char *out, const char *folder)
{
    int ends[2], status = 1;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char text[ROOM] = "";
        if (folder)
            setenv("KILN_TEMPLATE_DIR", folder, 1);
        snprintf(text, sizeof text, "%s", kn_codegen_generator());
        _exit(write(ends[1], text, sizeof text) != (ssize_t)sizeof text);
    }
    assert_int_equal(read(ends[0], out, ROOM), ROOM);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

/* Makes (or removes, where they are empty) the folders below `folder` in which the template stands. */
static void each_folder(const char *folder, const char *name, bool is_made)
{
    char path[256];
    size_t root = strlen(folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *at = path + root + 1; is_made && (at = strchr(at, '/')); *at++ = '/') {
        *at = '\0';
        assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
    }
    for (char *at; !is_made && (at = strrchr(path, '/')) > path + root; rmdir(path))
        *at = '\0';
}

static void every_template_is_part_of_it(void **state)
{
    char folder[] = "/tmp/kiln-identity-XXXXXX", path[256], built_in[ROOM], plain[ROOM], again[ROOM];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t k = 0; k < kn_template_count; ++k)
        each_folder(folder, kn_templates[k].name, true);
    identity_with(built_in, NULL);
    identity_with(plain, folder);
    identity_with(again, folder);
    assert_string_equal(plain, again);
    assert_string_not_equal(plain, built_in);
    assert_true(strncmp(plain, built_in, strlen(built_in)) == 0);
    for (size_t k = 0; k < kn_template_count; ++k) {
        char changed[ROOM];
        snprintf(path, sizeof path, "%s/%s", folder, kn_templates[k].name);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("// another\n", file);
        fclose(file);
        identity_with(changed, folder);
        assert_string_not_equal(changed, plain);
        unlink(path);
    }
    for (size_t k = 0; k < kn_template_count; ++k)
        each_folder(folder, kn_templates[k].name, false);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_template_is_part_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
