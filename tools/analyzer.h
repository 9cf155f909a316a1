/* analyzer.h - put in front of the library's sources by tools/lint: an analyzer sees one file at a time, and
 * so cannot know that setting an error gives back the status it was given. */
#include "base/error.h"

#define kn_error(status, ...) (kn_error(status, __VA_ARGS__), (status))
#define kn_error_memory(what) (kn_error_memory(what), KILN_ERROR_MEMORY)
#define kn_error_memory_of(bytes, what) (kn_error_memory_of(bytes, what), KILN_ERROR_MEMORY)
