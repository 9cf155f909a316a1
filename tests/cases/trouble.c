/* The first trouble of the case that is running is the one that is reported. */
#include "stage.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[8192];
static bool is_of_status;

bool no_trouble(void)
{
    return true;
}

/* Over a driver that computes nothing results are wrong, and only calls that fail are trouble: a case goes on
 * through all that the host does for a device. */
static bool is_compared(void)
{
    return !getenv("CASES_WITHOUT_VALUES");
}

bool trouble(const char *format, ...)
{
    if (text[0] || !(is_of_status || is_compared()))
        return false;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!text[0])
        strcpy(text, "trouble without a text");
    return false;
}

bool in_trouble(void)
{
    return text[0] != '\0';
}

const char *trouble_text(void)
{
    return text;
}

void trouble_clear(void)
{
    text[0] = '\0';
    is_of_status = false;
}

bool succeeded(kiln_status status, const char *what)
{
    const char *log = status == KILN_OK ? "" : kiln_error_log();
    is_of_status |= status != KILN_OK && !in_trouble();
    return trouble_unless(status == KILN_OK, "%s: %s: %s%s%.2000s", what, kiln_status_name(status),
                          kiln_error_message(), log[0] ? "\n" : "", log);
}

bool refused(kiln_status status, kiln_status expected, const char *words)
{
    const char *message = kiln_error_message();
    if (!trouble_unless(status == expected, "%s was expected (with '%s'), but %s came: %s",
                        kiln_status_name(expected), words, kiln_status_name(status),
                        status == KILN_OK ? "" : message))
        return false;
    while (*words) {
        char word[128];
        size_t length = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        if (!trouble_unless(strstr(message, word) != NULL, "the message lacks '%s': %s", word, message))
            return false;
        words += length + (words[length] == '|');
    }
    return true;
}
