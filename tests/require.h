/* require.h - for tests that start processes of their own by fork: checks that end such a process at once.
 * Comes behind cmocka.h and <kiln/kiln.h>. */
#ifndef TESTS_REQUIRE_H
#define TESTS_REQUIRE_H

#include <unistd.h>

#ifndef REQUIRE_EXIT
#define REQUIRE_EXIT 1 /* what the process ends with: a test may count otherwise */
#endif

#define REQUIRE(condition, ...)                                                                              \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            print_error("%s:%d: %s: ", __FILE__, __LINE__, #condition);                                      \
            print_error(__VA_ARGS__);                                                                        \
            print_error("\n");                                                                               \
            _exit(REQUIRE_EXIT);                                                                             \
        }                                                                                                    \
    } while (0)
#define REQUIRE_OK(call) REQUIRE((call) == KILN_OK, "%s\n%s", kiln_error_message(), kiln_error_log())

#endif
