/* formats.h - the formats of files of arrays: one reader and one writer each (formats.c has the table). */
#ifndef KILN_CLI_FORMATS_H
#define KILN_CLI_FORMATS_H

#include "cli.h"

/* The input of a reader: a file, complete. */
typedef struct format_input {
    const unsigned char *data; /* with a NUL behind it */
    size_t size;
    const char *member; /* what stands behind the colon; NULL: nothing */
    const cli_options *options;
    kiln_device device;
    const char *name; /* in messages */
} format_input;

typedef struct format {
    const char *name;     /* "csv", as for --from and --to */
    const char *suffixes; /* ".csv" */
    const char *what;     /* what it holds, for help */
    bool has_members;     /* "FILE:NAME" is one of them, and several results go into one file */
    /* By its first bytes; NULL: these do not tell. */
    bool (*is)(const unsigned char *data, size_t size);
    /* Error messages do not name the file. */
    kiln_status (*read)(kiln_array **out, const format_input *in);
    kiln_status (*write)(cli_bytes *out, const cli_result *results, int n);
    /* The names of its parts, with a NUL behind each; NULL: nothing lists them. */
    kiln_status (*list)(cli_bytes *out, const format_input *in);
    size_t list_most; /* how many bytes of the file tell them */
} format;

kiln_status format_npy_list(cli_bytes *out, const format_input *in);
kiln_status format_npz_read(kiln_array **out, const format_input *in);
kiln_status format_npz_list(cli_bytes *out, const format_input *in);
kiln_status format_npz_write(cli_bytes *out, const cli_result *results, int n);
kiln_status format_table_read(kiln_array **out, const format_input *in, char separator);
kiln_status format_table_write(cli_bytes *out, const cli_result *result, char separator);
kiln_status format_png_read(kiln_array **out, const format_input *in);
kiln_status format_png_write(cli_bytes *out, const cli_result *results, int n);

/* The elements of a result in C order, to be freed; NULL, after cli_fail. */
void *format_elements(const cli_result *result);
/* Height, width and channels of a picture of whole numbers of 8 or 16 bits with at most `most` channels. */
kiln_status format_picture(int64_t extents[3], const cli_result *result, int most);

#endif
