/* format_netpbm.c - PGM, PPM and PFM: pictures behind a header of a few words. */
#include "formats.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct header {
    const unsigned char *at, *end;
} header;

/* The next word, behind blanks and comments; its length, 0 at the end. */
static size_t next_word(header *h, const char **word)
{
    while (h->at < h->end && (isspace(*h->at) || *h->at == '#')) {
        if (*h->at == '#')
            while (h->at < h->end && *h->at != '\n')
                h->at++;
        else
            h->at++;
    }
    *word = (const char *)h->at;
    while (h->at < h->end && !isspace(*h->at) && *h->at != '#')
        h->at++;
    return (size_t)(h->at - (const unsigned char *)*word);
}

/* A whole number up to `most`; -1 where there is none. */
static int64_t next_number(header *h, int64_t most)
{
    const char *word;
    int64_t value = 0;
    size_t length = next_word(h, &word);
    for (size_t k = 0; k < length; k++) {
        if (!isdigit((unsigned char)word[k]))
            return -1;
        value = 10 * value + (word[k] - '0');
        if (value > most)
            return -1;
    }
    return length ? value : -1;
}

static kiln_status damaged(const char *what)
{
    return cli_fail(KILN_ERROR_FORMAT, "the picture is damaged: %s", what);
}

static kiln_status cut_short(size_t wanted, size_t there)
{
    return cli_fail(KILN_ERROR_FORMAT,
                    "the picture is cut short: %zu bytes should be there, but there are %zu", wanted, there);
}

enum { SIDE_MAX = 1 << 20 };

/* ---- whole numbers ---- */

static kiln_status put_binary(unsigned char *to, const header *h, size_t count, int bytes)
{
    size_t there = (size_t)(h->end - h->at);
    if (there < count * (size_t)bytes)
        return cut_short(count * (size_t)bytes, there);
    if (bytes == 1)
        memcpy(to, h->at, count);
    for (size_t k = 0; bytes == 2 && k < count; k++)
        ((uint16_t *)(void *)to)[k] = (uint16_t)(h->at[2 * k] << 8 | h->at[2 * k + 1]);
    return KILN_OK;
}

static kiln_status put_words(unsigned char *to, header *h, size_t count, int bytes, int64_t most)
{
    for (size_t k = 0; k < count; k++) {
        int64_t value = next_number(h, most);
        if (value < 0)
            return damaged("one of its numbers is none, or above its greatest");
        if (bytes == 1)
            to[k] = (unsigned char)value;
        else
            ((uint16_t *)(void *)to)[k] = (uint16_t)value;
    }
    return KILN_OK;
}

kiln_status format_pnm_read(kiln_array **out, const format_input *in)
{
    header h = {in->data, in->data + in->size};
    const char *magic;
    size_t length = next_word(&h, &magic);
    if (length != 2 || magic[0] != 'P' || !strchr("2356", magic[1]))
        return damaged("it does not begin with P2, P3, P5 or P6");
    bool is_text = magic[1] == '2' || magic[1] == '3';
    int64_t width = next_number(&h, SIDE_MAX), height = next_number(&h, SIDE_MAX),
            most = next_number(&h, 65535);
    if (width < 1 || height < 1 || most < 1)
        return damaged("its header has no width, height and greatest number");
    h.at += h.at < h.end; /* one blank */
    int64_t shape[3] = {height, width, 3};
    int ndim = magic[1] == '3' || magic[1] == '6' ? 3 : 2, bytes = most > 255 ? 2 : 1;
    size_t count = (size_t)(width * height * (ndim == 3 ? 3 : 1));
    if (!is_text && count > in->size)
        return cut_short(count * (size_t)bytes, (size_t)(h.end - h.at));
    if (is_text && count > in->size)
        return damaged("it has fewer numbers than elements");
    unsigned char *data = malloc(count * (size_t)bytes);
    if (!data)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for a picture");
    kiln_status status =
        is_text ? put_words(data, &h, count, bytes, most) : put_binary(data, &h, count, bytes);
    if (status == KILN_OK)
        status =
            kiln_array_from_host(out, data, bytes == 1 ? KILN_UINT8 : KILN_UINT16, ndim, shape, in->device);
    free(data);
    return status;
}

kiln_status format_pnm_write(cli_bytes *out, const cli_result *results, int n)
{
    int64_t extents[3];
    (void)n;
    kiln_status status = format_picture(extents, &results[0], 3);
    if (status == KILN_OK && extents[2] == 2)
        status = cli_fail(KILN_ERROR_SHAPE, "a picture of this format has 1 or 3 channels, and '%s' has 2",
                          results[0].name);
    if (status != KILN_OK)
        return status;
    unsigned char *data = format_elements(&results[0]);
    if (!data)
        return KILN_ERROR_MEMORY;
    bool is_wide = kiln_array_dtype(results[0].array) == KILN_UINT16;
    size_t count = (size_t)kiln_array_size(results[0].array);
    cli_bytes_printf(out, "P%c\n%lld %lld\n%d\n", extents[2] == 3 ? '6' : '5', (long long)extents[1],
                     (long long)extents[0], is_wide ? 65535 : 255);
    for (size_t k = 0; is_wide && k < count; k++) {
        uint16_t value = ((uint16_t *)(void *)data)[k];
        data[2 * k] = (unsigned char)(value >> 8);
        data[2 * k + 1] = (unsigned char)value;
    }
    cli_bytes_put(out, data, count * (is_wide ? 2 : 1));
    free(data);
    return KILN_OK;
}

/* ---- float32, rows from the bottom up ---- */

static void put_turned(unsigned char *to, const unsigned char *from, size_t count, bool is_turned)
{
    for (size_t k = 0; k < count; k++)
        for (int b = 0; b < 4; b++)
            to[4 * k + (size_t)b] = from[4 * k + (size_t)(is_turned ? 3 - b : b)];
}

kiln_status format_pfm_read(kiln_array **out, const format_input *in)
{
    header h = {in->data, in->data + in->size};
    const char *magic, *scale;
    size_t length = next_word(&h, &magic);
    if (length != 2 || magic[0] != 'P' || (magic[1] != 'F' && magic[1] != 'f'))
        return damaged("it does not begin with PF or Pf");
    int64_t width = next_number(&h, SIDE_MAX), height = next_number(&h, SIDE_MAX);
    if (width < 1 || height < 1 || next_word(&h, &scale) == 0 || strtod(scale, NULL) == 0)
        return damaged("its header has no width, height and scale");
    bool is_big_endian = strtod(scale, NULL) > 0;
    h.at += h.at < h.end;
    const int64_t shape[3] = {height, width, 3};
    int ndim = magic[1] == 'F' ? 3 : 2;
    size_t row = (size_t)width * (ndim == 3 ? 3 : 1), count = row * (size_t)height,
           there = (size_t)(h.end - h.at);
    if (there / 4 < count)
        return cut_short(4 * count, there);
    unsigned char *data = malloc(4 * count);
    if (!data)
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for a picture");
    for (size_t y = 0; y < (size_t)height; y++)
        put_turned(data + 4 * row * y, h.at + 4 * row * ((size_t)height - 1 - y), row, is_big_endian);
    kiln_status status = kiln_array_from_host(out, data, KILN_FLOAT32, ndim, shape, in->device);
    free(data);
    return status;
}

kiln_status format_pfm_write(cli_bytes *out, const cli_result *results, int n)
{
    const kiln_array *array = results[0].array;
    const int64_t *shape = kiln_array_shape(array);
    int ndim = kiln_array_ndim(array);
    (void)n;
    if (kiln_array_dtype(array) != KILN_FLOAT32)
        return cli_fail(KILN_ERROR_TYPE,
                        "pictures of this format are float32, and '%s' is %s: cast it, as in "
                        "x.astype(float32)",
                        results[0].name, kiln_dtype_name(kiln_array_dtype(array)));
    if (ndim < 2 || ndim > 3 || (ndim == 3 && shape[2] != 3))
        return cli_fail(KILN_ERROR_SHAPE,
                        "a picture of this format is (height, width) or (height, width, 3), and '%s' is "
                        "neither",
                        results[0].name);
    unsigned char *data = format_elements(&results[0]);
    if (!data)
        return KILN_ERROR_MEMORY;
    size_t row = 4 * (size_t)shape[1] * (ndim == 3 ? 3 : 1);
    cli_bytes_printf(out, "P%c\n%lld %lld\n-1.0\n", ndim == 3 ? 'F' : 'f', (long long)shape[1],
                     (long long)shape[0]);
    for (int64_t y = shape[0] - 1; y >= 0; y--)
        cli_bytes_put(out, data + row * (size_t)y, row);
    free(data);
    return KILN_OK;
}
