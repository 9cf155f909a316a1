/* types/arg.c - the constructors of arguments, for languages that load the library: <kiln/arg.h> defines them
 * inline. */
#include <kiln/arg.h>

extern inline kiln_arg kiln_arg_none(void);
extern inline kiln_arg kiln_arg_array(const kiln_array *array);
extern inline kiln_arg kiln_arg_bool(bool value);
extern inline kiln_arg kiln_arg_int(int64_t value);
extern inline kiln_arg kiln_arg_uint(uint64_t value);
extern inline kiln_arg kiln_arg_float(double value);
extern inline kiln_arg kiln_arg_complex(double real, double imaginary);
extern inline kiln_arg kiln_arg_typed(kiln_dtype dtype, const void *value);
extern inline kiln_arg kiln_arg_truth(bool value);
extern inline kiln_arg kiln_arg_int8(int8_t value);
extern inline kiln_arg kiln_arg_int16(int16_t value);
extern inline kiln_arg kiln_arg_int32(int32_t value);
extern inline kiln_arg kiln_arg_int64(int64_t value);
extern inline kiln_arg kiln_arg_uint8(uint8_t value);
extern inline kiln_arg kiln_arg_uint16(uint16_t value);
extern inline kiln_arg kiln_arg_uint32(uint32_t value);
extern inline kiln_arg kiln_arg_uint64(uint64_t value);
extern inline kiln_arg kiln_arg_float32(float value);
extern inline kiln_arg kiln_arg_float64(double value);
extern inline kiln_arg kiln_arg_struct(const void *data, size_t size);
