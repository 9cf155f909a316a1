/* ok.h - checks of calls that give a status. Comes behind cmocka.h and a header of kiln. */
#ifndef TESTS_OK_H
#define TESTS_OK_H

#include <string.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        if ((call) != KILN_OK)                                                                               \
            fail_msg("%s: %s\n%s", #call, kiln_error_message(), kiln_error_log());                           \
    } while (0)
/* The call ends with that status, and the text is in its message. */
#define FAILS(call, status, text)                                                                            \
    do {                                                                                                     \
        kiln_status ended = (call);                                                                          \
        if (ended != (status) || !strstr(kiln_error_message(), (text)))                                      \
            fail_msg("%s ended with %s: '%s' has no '%s'", #call, kiln_status_name(ended),                   \
                     kiln_error_message(), (text));                                                          \
    } while (0)

#endif
