/* Records: their lines, and the file of KILN_RECORD that they are appended to. */
#include "store/record.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/map.h"
#include "base/os.h"
#include "base/setting.h"

#define BEGINNING "record/1 "

enum { DIGITS = 16 };

/* ---- the line ---- */

void kn_record_format(kn_str *out, const char *targets, const char *portable)
{
    kn_str rest = KN_STR_INIT;
    kn_str_printf(&rest, "targets=\"%s\" %s", targets, portable);
    kn_str_printf(out, BEGINNING "%016" PRIx64 " %s\n", kn_hash_64(rest.data, rest.length),
                  kn_str_text(&rest));
    out->failed = out->failed || rest.failed;
    kn_str_free(&rest);
}

static kiln_status no_record(const char *line, const char *why)
{
    return kn_error(KILN_ERROR_FORMAT, "'%.60s...' is no line of a record: %s", line, why);
}

kiln_status kn_record_parse(kn_record *out, char *line)
{
    static const char first[] = "targets=\"";
    char number[DIGITS + 1];
    if (strncmp(line, BEGINNING, sizeof BEGINNING - 1) != 0)
        return no_record(line, "it does not begin with '" BEGINNING "'");
    char *at = line + sizeof BEGINNING - 1;
    if (strlen(at) <= DIGITS)
        return no_record(line, "it was cut off");
    char *rest = at + DIGITS + 1;
    snprintf(number, sizeof number, "%016" PRIx64, kn_hash_64(rest, strlen(rest)));
    if (strncmp(at, number, DIGITS) != 0 || at[DIGITS] != ' ')
        return no_record(line, "its checksum is wrong");
    char *end = strncmp(rest, first, sizeof first - 1) == 0 ? strchr(rest + sizeof first - 1, '"') : NULL;
    if (!end || end[1] != ' ')
        return no_record(line, "it names no targets");
    *end = '\0';
    *out = (kn_record){rest + sizeof first - 1, end + 2};
    return KILN_OK;
}

bool kn_record_names(const char *targets, const char *architecture)
{
    size_t length = strlen(architecture);
    bool is_cuda = strncmp(architecture, "sm_", 3) == 0;
    if (is_cuda && !isdigit((unsigned char)architecture[length - 1]))
        length--;
    for (const char *at = targets; *at;) {
        size_t word = strcspn(at, " ");
        const char *colon = memchr(at, ':', word);
        size_t name = colon ? word - (size_t)(colon + 1 - at) : 0;
        if (colon && name == length && strncmp(colon + 1, architecture, length) == 0)
            return true;
        at += word + (at[word] == ' ');
    }
    return false;
}

/* ---- the file ---- */

const char *kn_record_file(void)
{
    return kn_setting("KILN_RECORD");
}

static struct {
    kn_map *lines; /* that this process has written */
    bool has_failed;
} written;

/* Ends a line that another process left incomplete: the reader's checksum detects it. */
static bool needs_end(int fd)
{
    struct stat info;
    char last = '\n';
    return fstat(fd, &info) == 0 && info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) == 1 &&
           last != '\n';
}

/* Under a lock that the system releases when this process dies. False with errno. */
static bool append(const char *file, const kn_str *text)
{
    bool is_written = false;
    int fd = kn_os_open(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0600), reason;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fd < 0)
        return false;
    while (fcntl(fd, F_OFD_SETLKW, &lock) != 0 && errno == EINTR)
        ;
    if (!needs_end(fd) || kn_os_write_full(fd, "\n", 1))
        is_written = kn_os_write_full(fd, text->data, text->length);
    reason = errno;
    close(fd);
    errno = reason;
    return is_written;
}

/* The lines that are new. */
static void take_new(kn_str *out, const char *lines)
{
    for (size_t length; *lines; lines += length) {
        length = strcspn(lines, "\n") + 1;
        if (!written.lines || !kn_map_get(written.lines, lines, length))
            kn_str_append_n(out, lines, length);
    }
}

/* Without memory a line may be written twice, which does no harm. */
static void remember(const char *lines)
{
    static char present;
    if (!written.lines)
        written.lines = kn_map_create();
    for (size_t length; *lines && written.lines; lines += length) {
        length = strcspn(lines, "\n") + 1;
        kn_map_put(written.lines, lines, length, &present);
    }
}

void kn_record_write(const char *file, const char *lines)
{
    kn_str text = KN_STR_INIT;
    char trouble[256] = "";
    kn_lock_take(KN_LOCK_RECORD);
    take_new(&text, lines);
    if (text.length > 0 && append(file, &text)) {
        remember(kn_str_text(&text));
    } else if (text.length > 0 && !written.has_failed) {
        written.has_failed = true;
        snprintf(trouble, sizeof trouble, "%s", strerror(errno));
    }
    kn_lock_give(KN_LOCK_RECORD);
    kn_str_free(&text);
    if (trouble[0])
        kn_log(KILN_LOG_WARNING, "KILN_RECORD: %s cannot be written: %s", file, trouble);
}

/* After this, for tests, nothing counts as written. */
void kn_record_forget(void)
{
    kn_lock_take(KN_LOCK_RECORD);
    kn_map_free(written.lines, NULL);
    written.lines = NULL;
    written.has_failed = false;
    kn_lock_give(KN_LOCK_RECORD);
}
