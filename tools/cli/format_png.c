/* format_png.c - PNG by libpng: 8 and 16 bits, 1 to 4 channels. Fewer bits become 8, palettes colours. */
#include "formats.h"
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if KILN_HAS_PNG
#include <png.h>

typedef struct stream {
    const unsigned char *data;
    size_t size, at;
    cli_bytes *out;
    char message[128];
} stream;

static void on_error(png_structp png, png_const_charp message)
{
    stream *s = png_get_error_ptr(png);
    snprintf(s->message, sizeof s->message, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void take(png_structp png, png_bytep to, png_size_t size)
{
    stream *s = png_get_io_ptr(png);
    if (s->size - s->at < size)
        png_error(png, "it is cut short");
    memcpy(to, s->data + s->at, size);
    s->at += size;
}

static void put(png_structp png, png_bytep from, png_size_t size)
{
    cli_bytes_put(((stream *)png_get_io_ptr(png))->out, from, size);
}

static void flush(png_structp png)
{
    (void)png;
}

/* ---- reading ---- */

typedef struct picture {
    unsigned char *data;
    png_bytep *rows;
    int64_t shape[3];
    int bits;
} picture;

/* Deflate expands at most 1032 to 1: memory is not allocated for a header that states more than the file can
 * hold. */
static void check_size(png_structp png, png_infop info)
{
    enum { MOST_FROM_A_BYTE = 1032 };
    const stream *s = png_get_io_ptr(png);
    uint64_t stated = (uint64_t)png_get_rowbytes(png, info) * png_get_image_height(png, info);
    if (stated / MOST_FROM_A_BYTE > s->size)
        png_error(png, "it is too short for the size that it claims");
}

/* Runs under setjmp: what it makes is in *p, which the caller frees. */
static void read_picture(picture *p, png_structp png, png_infop info)
{
    png_read_info(png, info);
    check_size(png, info);
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (png_get_color_type(png, info) == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, info) < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_valid(png, info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(png);
    if (png_get_bit_depth(png, info) == 16)
        png_set_swap(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    p->bits = png_get_bit_depth(png, info);
    p->shape[0] = png_get_image_height(png, info);
    p->shape[1] = png_get_image_width(png, info);
    p->shape[2] = png_get_channels(png, info);
    size_t row = png_get_rowbytes(png, info);
    p->data = calloc((size_t)p->shape[0], row);
    p->rows = calloc((size_t)p->shape[0], sizeof *p->rows);
    if (!p->data || !p->rows)
        png_error(png, "it needs more memory than there is");
    for (int64_t y = 0; y < p->shape[0]; y++)
        p->rows[y] = p->data + (size_t)y * row;
    png_read_image(png, p->rows);
    png_read_end(png, NULL);
}

kiln_status format_png_read(kiln_array **out, const format_input *in)
{
    stream s = {.data = in->data, .size = in->size};
    picture p = {.data = NULL};
    volatile kiln_status status = KILN_OK;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info) {
        png_destroy_read_struct(&png, NULL, NULL);
        return cli_fail(KILN_ERROR_MEMORY, "out of memory for a picture");
    }
    png_set_read_fn(png, &s, take);
    if (setjmp(png_jmpbuf(png)) == 0)
        read_picture(&p, png, info);
    else
        status = cli_fail(KILN_ERROR_FORMAT, "the picture is damaged: %s", s.message);
    png_destroy_read_struct(&png, &info, NULL);
    if (status == KILN_OK)
        status = kiln_array_from_host(out, p.data, p.bits == 16 ? KILN_UINT16 : KILN_UINT8,
                                      p.shape[2] == 1 ? 2 : 3, p.shape, in->device);
    free(p.data);
    free(p.rows);
    return status;
}

/* ---- writing ---- */

static void write_picture(png_structp png, png_infop info, const int64_t extents[3], int bits,
                          unsigned char *data)
{
    static const int colours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                  PNG_COLOR_TYPE_RGB_ALPHA};
    size_t row = (size_t)(extents[1] * extents[2] * bits / 8);
    png_set_IHDR(png, info, (png_uint_32)extents[1], (png_uint_32)extents[0], bits, colours[extents[2]],
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (bits == 16)
        png_set_swap(png);
    for (int64_t y = 0; y < extents[0]; y++)
        png_write_row(png, data + (size_t)y * row);
    png_write_end(png, NULL);
}

kiln_status format_png_write(cli_bytes *out, const cli_result *results, int n)
{
    stream s = {.out = out};
    int64_t extents[3];
    (void)n;
    kiln_status status = format_picture(extents, &results[0], 4);
    unsigned char *data = status == KILN_OK ? format_elements(&results[0]) : NULL;
    if (!data)
        return status != KILN_OK ? status : KILN_ERROR_MEMORY;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info)
        status = cli_fail(KILN_ERROR_MEMORY, "out of memory for a picture");
    else if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, &s, put, flush);
        write_picture(png, info, extents, kiln_array_dtype(results[0].array) == KILN_UINT16 ? 16 : 8, data);
    } else
        status = cli_fail(KILN_ERROR_FORMAT, "libpng: %s", s.message);
    png_destroy_write_struct(&png, &info);
    free(data);
    return status;
}

#else

static kiln_status lacking(void)
{
    return cli_fail(KILN_ERROR_UNSUPPORTED,
                    "this kiln was built without libpng, which .png needs; .ppm and .pgm do not");
}

kiln_status format_png_read(kiln_array **out, const format_input *in)
{
    (void)out;
    (void)in;
    return lacking();
}

kiln_status format_png_write(cli_bytes *out, const cli_result *results, int n)
{
    (void)out;
    (void)results;
    (void)n;
    return lacking();
}

#endif
