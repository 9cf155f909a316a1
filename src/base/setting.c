/* base/setting.c - the table of environment variables, and checks of their values and names. */
#include "base/setting.h"

#include <ctype.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/os.h"
#include "base/sized.h"

typedef struct setting {
    const char *name, *values, *otherwise;
    /* True for an allowed value; NULL: any value is allowed, or its reader reports a wrong one. */
    bool (*is_allowed)(const char *value, const char *values);
    enum { LOGGED, REFUSED /* by its reader: kn_setting_read */ } fault;
    const char *meaning;
} setting;

/* ---- allowed values ---- */

/* One of the words between bars. */
static bool is_choice(const char *value, const char *values)
{
    for (size_t length; *values; values += length + (values[length] == '|')) {
        length = strcspn(values, "|");
        if (strlen(value) == length && strncasecmp(value, values, length) == 0)
            return true;
    }
    return false;
}

static bool is_count(const char *value, const char *values)
{
    char *end;
    (void)values;
    return value[0] >= '0' && value[0] <= '9' && strtol(value, &end, 10) > 0 && !*end;
}

/* More than a million: as good as none. */
static bool is_seconds(const char *value, const char *values)
{
    char *end;
    double seconds = strtod(value, &end);
    (void)values;
    return end != value && !*end && seconds > 0 && seconds <= 1e6;
}

bool kn_setting_bytes(uint64_t *out, const char *text)
{
    static const char suffixes[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    const char *suffix = *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
    int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;
    if (errno || *text < '0' || *text > '9' || number == 0 || number > UINT64_MAX >> shift ||
        end[suffix != NULL])
        return false;
    *out = (uint64_t)number << shift;
    return true;
}

static bool is_bytes(const char *value, const char *values)
{
    uint64_t unused;
    (void)values;
    return kn_setting_bytes(&unused, value);
}

static bool is_folder(const char *value, const char *values)
{
    (void)values;
    return kn_os_is_folder(value);
}

/* ---- the table ---- */

static const setting settings[] = {
    {"KILN_TARGET", "host|cuda|cuda:N", "cuda:0 where there is one, else host", NULL, LOGGED,
     "the device that is used until the program chooses another"},
    {"KILN_LOG", KN_LOG_LEVELS, NULL, is_choice, LOGGED,
     "which messages of the library go to standard error, where the program takes none itself: warnings, "
     "also what a user may want to know (info), or all; the command prints warnings where it is not set"},
    {"KILN_CACHE_DIR", "a folder", "$XDG_CACHE_HOME/kiln, else ~/.cache/kiln", NULL, LOGGED,
     "the folder of the cache; on a network file system a folder of the machine's own instead. It holds code "
     "that is run: where other users (the group, too) may write to it or exchange it, it is not used, and "
     "kiln cache stats says why"},
    {"KILN_CACHE", "on|off|1|0", "on", is_choice, LOGGED, "off or 0: no cache on disk"},
    {"KILN_CACHE_MAX", "bytes such as 512M or 2G", "1G", is_bytes, LOGGED,
     "how large the cache may become; what was not used for longest goes first"},
    {"KILN_COMPILE", "auto|never", "auto", is_choice, LOGGED,
     "never: a call that would have to compile fails, and says what it wanted"},
    {"KILN_FORMS", "both|best|quick", "both", is_choice, LOGGED,
     "both: new elementwise kernels and reductions run in a quick form first, and in their best one when it "
     "has been compiled in the background; best: calls wait for the best one; quick: the quick one alone, "
     "for tests"},
    {"KILN_RECORD", "a file", NULL, NULL, LOGGED,
     "receives a line for each kernel that is called, for kiln bake"},
    {"KILN_BUNDLE_PATH", "files and folders with colons between", NULL, NULL, LOGGED,
     "bundles of compiled kernels, and folders of such; those of /usr/local/share/kiln and /usr/share/kiln "
     "come behind them"},
    {"KILN_NVRTC", "a file or a folder", "where CUDA toolkits and pip put it", NULL, LOGGED,
     "the NVRTC library to use, or a folder that has it"},
    {"KILN_CUDADEVRT", "a file", "the one of CUDA_HOME, /usr/local/cuda or pip", NULL, LOGGED,
     "libcudadevrt.a of the CUDA toolkit, for raw modules that launch kernels themselves"},
    {"KILN_CXX", "a command", "CXX, else c++, g++ or clang++ on PATH", NULL, LOGGED,
     "the C++ compiler of the host target"},
    {"KILN_COMPILER_WAITS", "0|1", "0", is_choice, LOGGED,
     "1: after a compile of a quick form for the host the next compiler is started, and waits for its "
     "source: what it does before it reads one is not waited for, at a child process that lives as long as "
     "the program does"},
    {"KILN_COMPILE_TIMEOUT", "seconds from 0 to 1000000", "300", is_seconds, LOGGED,
     "seconds after which a C++ compiler that has not ended is stopped. A process waits as long, 30 seconds "
     "at most, for another that compiles the same kernel"},
    {"KILN_CHECK", "0|1", "0", is_choice, REFUSED,
     "1: each index of a raw operand is checked, and a call that goes outside fails and names it"},
    {"KILN_ROUND", "each|stored", "stored", is_choice, REFUSED,
     "each: every operation on 16-bit floats is rounded, as in NumPy; stored: casts, variables of such a "
     "type, and "
     "what is stored"},
    {"KILN_NUM_THREADS", "a number from 1", "one for each processor the process may use", is_count, REFUSED,
     "threads of the host target"},
    {"KILN_MEMORY", "pages|plain", "pages", is_choice, LOGGED,
     "pages: pools map pages where they need them, and hold little more than what is in use; plain: they "
     "take whole allocations (cuMemAlloc), which a program can share with other processes"},
    {"KILN_LIBCUDA", "a file", "libcuda.so.1", NULL, LOGGED, "the driver library"},
    {"KILN_KINDS", "names of kinds with - before and commas between", NULL, NULL, REFUSED,
     "kinds of schedule that are not chosen (-tile,-windows): to see what each is worth, and for tests; "
     "-fewest: kinds take few elements, too"},
    {"KILN_TEMPLATE_DIR", "a folder", NULL, is_folder, LOGGED,
     "templates that stand in for the embedded ones, for work on kiln itself"},
    {"KILN_DUMP_SOURCE", "a folder", NULL, NULL, LOGGED, "receives every source that is generated"},
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static atomic_bool is_said[SETTINGS];

static const setting *find_setting(const char *name)
{
    int s = 0;
    while (s < SETTINGS && strcmp(settings[s].name, name) != 0)
        s++;
    return s < SETTINGS ? &settings[s] : NULL;
}

/* "both, best or quick" of "both|best|quick". */
static void put_choices(kn_str *out, const char *values)
{
    const char *bar;
    for (; (bar = strchr(values, '|')); values = bar + 1)
        kn_str_printf(out, "%.*s%s", (int)(bar - values), values, strchr(bar + 1, '|') ? ", " : " or ");
    kn_str_append(out, values);
}

static void put_fault(kn_str *out, const setting *s, const char *value)
{
    kn_str_printf(out, "%s is \"%.200s\"; ", s->name, value);
    put_choices(out, s->values);
    kn_str_append(out, " was expected");
}

static void say_fault(const setting *s, const char *value)
{
    kn_str text = KN_STR_INIT;
    if (atomic_exchange(&is_said[s - settings], true))
        return;
    put_fault(&text, s, value);
    if (s->otherwise)
        kn_str_printf(&text, ", and %s is taken", s->otherwise);
    kn_log(KILN_LOG_WARNING, "%s", kn_str_text(&text));
    kn_str_free(&text);
}

static const char *read_setting(bool *is_wrong, const setting *s)
{
    const char *value = kn_os_env(s->name);
    *is_wrong = value && s->is_allowed && !s->is_allowed(value, s->values);
    return value;
}

const char *kn_setting(const char *name)
{
    bool is_wrong;
    const setting *s = find_setting(name);
    const char *value = s ? read_setting(&is_wrong, s) : NULL;
    if (!value || !is_wrong)
        return value;
    say_fault(s, value);
    return NULL;
}

bool kn_setting_is(const char *name, const char *value)
{
    const char *set = kn_setting(name);
    return set && strcasecmp(set, value) == 0;
}

kiln_status kn_setting_read(const char **out, const char *name)
{
    bool is_wrong = false;
    const setting *s = find_setting(name);
    *out = s ? read_setting(&is_wrong, s) : NULL;
    if (!is_wrong)
        return KILN_OK;
    kn_str text = KN_STR_INIT;
    put_fault(&text, s, *out);
    kiln_status status = kn_error(KILN_ERROR_INVALID, "%s", kn_str_text(&text));
    kn_str_free(&text);
    return status;
}

/* ---- misspelt names ---- */

/* "KILN_FORM=quick": no variable of ours has the name, and one nearly has. */
static void check_name(const char *entry)
{
    size_t length = strcspn(entry, "=");
    char name[KN_NEAREST_SIZE];
    if (strncmp(entry, "KILN_", 5) != 0 || length >= sizeof name)
        return;
    snprintf(name, sizeof name, "%.*s", (int)length, entry);
    if (find_setting(name))
        return;
    kn_nearest n = kn_nearest_begin(name + 5, length - 5);
    for (int s = 0; s < SETTINGS; s++)
        kn_nearest_consider(&n, settings[s].name + 5, strlen(settings[s].name) - 5);
    if (n.best[0])
        kn_log(KILN_LOG_WARNING, "there is no variable %s; KILN_%s is one", name, n.best);
}

void kiln_variables_check(void)
{
    static atomic_bool are_names_checked;
    kn_error_state before; /* the receiver of messages may call us */
    kn_error_save(&before);
    for (int s = 0; s < SETTINGS; s++)
        if (settings[s].fault == LOGGED)
            kn_setting(settings[s].name);
    char **entries = atomic_exchange(&are_names_checked, true) ? NULL : kn_os_environment();
    for (; entries && *entries; entries++)
        check_name(*entries);
    kn_error_restore(&before);
}

/* ---- as callers see them ---- */

int kiln_variable_count(void)
{
    return SETTINGS;
}

kiln_status kiln_variable_at(kiln_variable *out, int index)
{
    kiln_status status = kn_sized_check(out, sizeof *out, "kiln_variable_at: out", "KILN_VARIABLE_INIT");
    if (status == KILN_OK && (index < 0 || index >= SETTINGS))
        status = kn_error(KILN_ERROR_INVALID, "kiln_variable_at: index is %d; 0 to %d was expected", index,
                          SETTINGS - 1);
    if (status != KILN_OK)
        return status;
    const setting *s = &settings[index];
    const kiln_variable all = {sizeof all, s->name, s->values, s->otherwise, s->meaning};
    kn_sized_answer(out, &all);
    return KILN_OK;
}
