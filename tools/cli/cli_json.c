/* cli_json.c - writing JSON. */
#include "cli.h"
#include <inttypes.h>
#include <math.h>

/* The bytes of the valid UTF-8 sequence at text; 0 where there is none. */
static int utf8_length(const unsigned char *text)
{
    int length = text[0] < 0x80                      ? 1
                 : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                 : (text[0] & 0xf0) == 0xe0          ? 3
                                                     : 4;
    if (length == 4 && (text[0] < 0xf0 || text[0] > 0xf4))
        return 0;
    for (int i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, and what lies beyond U+10FFFF. */
    bool odd = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
               (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f);
    return odd ? 0 : length;
}

static void write_string(FILE *file, const char *value)
{
    const unsigned char *text = (const unsigned char *)value;
    putc('"', file);
    while (*text) {
        int length = utf8_length(text);
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if (length == 0 || *text < 0x20 || *text == 0x7f)
            fprintf(file, "\\u%04x", *text); /* a stray byte of a path reads as Latin-1 */
        else
            fwrite(text, 1, (size_t)length, file);
        text += length ? length : 1;
    }
    putc('"', file);
}

static void begin(cli_json *json, const char *key)
{
    if (json->not_first)
        fputs(", ", json->file);
    json->not_first = true;
    if (key) {
        write_string(json->file, key);
        fputs(": ", json->file);
    }
}

static bool was_printed;

bool cli_json_was_printed(void)
{
    return was_printed;
}

void cli_json_open(cli_json *json, const char *key, char bracket)
{
    was_printed = was_printed || json->file == stdout;
    begin(json, key);
    putc(bracket, json->file);
    json->not_first = false;
}

void cli_json_close(cli_json *json, char bracket)
{
    putc(bracket, json->file);
    json->not_first = true;
}

void cli_json_text(cli_json *json, const char *key, const char *value)
{
    begin(json, key);
    write_string(json->file, value);
}

void cli_json_number(cli_json *json, const char *key, double value)
{
    begin(json, key);
    if (isfinite(value))
        fprintf(json->file, "%.6g", value);
    else
        fputs("null", json->file);
}

void cli_json_integer(cli_json *json, const char *key, int64_t value)
{
    begin(json, key);
    fprintf(json->file, "%" PRId64, value);
}

void cli_json_boolean(cli_json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->file);
}

void cli_json_array(cli_json *json, const kiln_array *array)
{
    const int64_t *shape = kiln_array_shape(array);
    cli_json_text(json, "dtype", kiln_dtype_name(kiln_array_dtype(array)));
    cli_json_open(json, "shape", '[');
    for (int axis = 0; axis < kiln_array_ndim(array); axis++)
        cli_json_integer(json, NULL, shape[axis]);
    cli_json_close(json, ']');
}
