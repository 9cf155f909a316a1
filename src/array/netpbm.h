/* array/netpbm.h - pictures behind a header of a few words: PGM and PPM ("pnm"), and PFM. */
#ifndef KN_ARRAY_NETPBM_H
#define KN_ARRAY_NETPBM_H

#include <kiln/array.h>
#include "base/str.h"

/* By the first bytes. */
bool kn_is_pnm(const unsigned char *data, size_t size);
bool kn_is_pfm(const unsigned char *data, size_t size);

kiln_status kn_pnm_read(kiln_array **out, const unsigned char *data, size_t size, kiln_device device);
kiln_status kn_pfm_read(kiln_array **out, const unsigned char *data, size_t size, kiln_device device);

/* The whole file; whether memory was there is in *out. */
kiln_status kn_pnm_write(kn_str *out, const kiln_array *array);
kiln_status kn_pfm_write(kn_str *out, const kiln_array *array);

#endif
