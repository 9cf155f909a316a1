/* PGM, PPM and PFM: pictures behind a header of a few words. */
#include "array/netpbm.h"
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool kn_is_pnm(const unsigned char *data, size_t size)
{
    return size > 2 && data[0] == 'P' && data[1] && strchr("2356", data[1]) && isspace(data[2]);
}

bool kn_is_pfm(const unsigned char *data, size_t size)
{
    return size > 2 && data[0] == 'P' && (data[1] == 'F' || data[1] == 'f') && isspace(data[2]);
}

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
    return kn_error(KILN_ERROR_FORMAT, "the picture is damaged: %s", what);
}

static kiln_status cut_short(size_t wanted, size_t there)
{
    return kn_error(KILN_ERROR_FORMAT,
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

kiln_status kn_pnm_read(kiln_array **out, const unsigned char *file, size_t size, kiln_device device)
{
    header h = {file, file + size};
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
    if (!is_text && count > size)
        return cut_short(count * (size_t)bytes, (size_t)(h.end - h.at));
    if (is_text && count > size)
        return damaged("it has fewer numbers than elements");
    unsigned char *data = kn_malloc(count * (size_t)bytes);
    if (!data)
        return kn_error_memory("a picture");
    kiln_status status =
        is_text ? put_words(data, &h, count, bytes, most) : put_binary(data, &h, count, bytes);
    if (status == KILN_OK)
        status = kiln_array_from_host(out, data, bytes == 1 ? KILN_UINT8 : KILN_UINT16, ndim, shape, device);
    kn_free(data);
    return status;
}

/* Checks height, width and channels against the limits of these formats. */
static kiln_status check_picture(int64_t extents[3], const kiln_array *array, bool holds)
{
    const int64_t *shape = array->shape;
    if (!holds)
        return kn_error(KILN_ERROR_SHAPE,
                        "a picture of this format is (height, width) or (height, width, 3), and the array is "
                        "neither");
    extents[0] = shape[0];
    extents[1] = shape[1];
    extents[2] = array->ndim == 3 ? shape[2] : 1;
    return extents[0] > 0 && extents[1] > 0 && extents[0] <= SIDE_MAX && extents[1] <= SIDE_MAX
               ? KILN_OK
               : kn_error(KILN_ERROR_SHAPE,
                          "a picture has 1 to %d rows and columns, and the array has others", SIDE_MAX);
}

/* In C order; kn_free. NULL, with the last error set. */
static unsigned char *elements_of(const kiln_array *array)
{
    size_t bytes = kiln_array_nbytes(array);
    unsigned char *data = kn_malloc(bytes);
    if (!data)
        kn_error_memory("a picture");
    else if (kiln_array_to_host(array, data, bytes) != KILN_OK) {
        kn_free(data);
        return NULL;
    }
    return data;
}

kiln_status kn_pnm_write(kn_str *out, const kiln_array *array)
{
    int64_t extents[3] = {0};
    int ndim = array->ndim;
    if (array->dtype != KILN_UINT8 && array->dtype != KILN_UINT16)
        return kn_error(KILN_ERROR_TYPE,
                        "pictures of this format are uint8 or uint16, and the array is %s: cast it, as in "
                        "clip(x * 255, 0, 255).astype(uint8)",
                        kiln_dtype_name(array->dtype));
    kiln_status status = check_picture(
        extents, array, ndim == 2 || (ndim == 3 && (array->shape[2] == 1 || array->shape[2] == 3)));
    unsigned char *data = status == KILN_OK ? elements_of(array) : NULL;
    if (!data)
        return kiln_error_status();
    bool is_wide = array->dtype == KILN_UINT16;
    size_t count = (size_t)array->size;
    kn_str_printf(out, "P%c\n%lld %lld\n%d\n", extents[2] == 3 ? '6' : '5', (long long)extents[1],
                  (long long)extents[0], is_wide ? 65535 : 255);
    for (size_t k = 0; is_wide && k < count; k++) {
        uint16_t value = ((uint16_t *)(void *)data)[k];
        data[2 * k] = (unsigned char)(value >> 8);
        data[2 * k + 1] = (unsigned char)value;
    }
    kn_str_append_n(out, (const char *)data, count * (is_wide ? 2 : 1));
    kn_free(data);
    return KILN_OK;
}

/* ---- float32, rows from the bottom up ---- */

static void put_swapped(unsigned char *to, const unsigned char *from, size_t count, bool is_swapped)
{
    for (size_t k = 0; k < count; k++)
        for (int b = 0; b < 4; b++)
            to[4 * k + (size_t)b] = from[4 * k + (size_t)(is_swapped ? 3 - b : b)];
}

kiln_status kn_pfm_read(kiln_array **out, const unsigned char *file, size_t size, kiln_device device)
{
    header h = {file, file + size};
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
    unsigned char *data = kn_malloc(4 * count);
    if (!data)
        return kn_error_memory("a picture");
    for (size_t y = 0; y < (size_t)height; y++)
        put_swapped(data + 4 * row * y, h.at + 4 * row * ((size_t)height - 1 - y), row, is_big_endian);
    kiln_status status = kiln_array_from_host(out, data, KILN_FLOAT32, ndim, shape, device);
    kn_free(data);
    return status;
}

kiln_status kn_pfm_write(kn_str *out, const kiln_array *array)
{
    int64_t extents[3] = {0};
    int ndim = array->ndim;
    if (array->dtype != KILN_FLOAT32)
        return kn_error(KILN_ERROR_TYPE,
                        "pictures of this format are float32, and the array is %s: cast it, as in "
                        "x.astype(float32)",
                        kiln_dtype_name(array->dtype));
    kiln_status status = check_picture(extents, array, ndim == 2 || (ndim == 3 && array->shape[2] == 3));
    unsigned char *data = status == KILN_OK ? elements_of(array) : NULL;
    if (!data)
        return kiln_error_status();
    size_t row = 4 * (size_t)extents[1] * (size_t)extents[2];
    kn_str_printf(out, "P%c\n%lld %lld\n-1.0\n", ndim == 3 ? 'F' : 'f', (long long)extents[1],
                  (long long)extents[0]);
    for (int64_t y = extents[0] - 1; y >= 0; y--)
        kn_str_append_n(out, (const char *)data + row * (size_t)y, row);
    kn_free(data);
    return KILN_OK;
}
