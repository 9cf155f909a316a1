/* compile/host_compiler_ahead.c - a compiler that was started before there is a source for it.
 *
 * Of the time of a small compile most is what gcc does before it reads the source: it prepares the registers
 * and instructions of the processor that is named, and the names of built-in functions. A compiler whose
 * source begins with an include of its standard input has that behind it when it waits for what it includes.
 * It is for baseline tiers without options and headers, which have the same command line but for their
 * folder. */
#include "compile/host_compiler_ahead.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/os.h"
#include "base/setting.h"
#include "compile/compiler.h"
#include "compile/host_compiler_folder.h"
#include "compile/host_compiler_line.h"
#include "compile/host_compiler_reads.h"
#include "compile/timeout.h"

typedef struct waiting {
    bool is_there;
    kn_os_begun begun;
    kn_os_workplace workplace;
    kn_str options; /* its command line, for any folder */
    unsigned forks; /* of the process that started it */
} waiting;

static waiting ready; /* KN_LOCK_WAITING_COMPILER */
static bool is_over;  /* none is started any more; the same lock */

static const char any_folder[] = "/";

static bool is_fit(const kn_compile_request *request)
{
    return kn_setting_is("KILN_COMPILER_WAITS", "1") && request->flags & KN_COMPILE_BASELINE &&
           request->n_options == 0 && request->n_headers == 0 &&
           kn_host_trace_of(request) == KN_HOST_TRACE_NOTHING;
}

/* The libraries that a source needs are not known yet. */
static kiln_status make_line(kn_host_line *line, const char *folder, const kn_compile_request *request)
{
    kn_compile_request any = *request;
    any.flags |= KN_COMPILE_LIBRARIES;
    return kn_host_line_make(line, folder, &any, KN_HOST_TRACE_NOTHING);
}

static void drop(waiting *w)
{
    if (!w->is_there)
        return;
    if (w->forks == kn_fork_count()) {
        kn_os_abandon_command(&w->begun);
        kn_os_workplace_remove(&w->workplace);
    } else {
        kn_os_forget_command(&w->begun);
        close(w->workplace.fd);
    }
    kn_str_free(&w->options);
    *w = (waiting){.is_there = false};
}

/* Takes the one that waits. */
static waiting take(void)
{
    kn_lock_take(KN_LOCK_WAITING_COMPILER);
    waiting w = ready;
    ready = (waiting){.is_there = false};
    kn_lock_give(KN_LOCK_WAITING_COMPILER);
    return w;
}

static bool has_options(const waiting *w, const kn_compile_request *request)
{
    kn_host_line line = {.text = KN_STR_INIT};
    bool has = w->is_there && make_line(&line, any_folder, request) == KILN_OK &&
               line.text.length == w->options.length &&
               memcmp(line.text.data, w->options.data, line.text.length) == 0;
    kn_host_line_free(&line);
    return has;
}

static kiln_status write_source(kn_str *text, const kn_compile_request *request)
{
    kn_str name = KN_STR_INIT;
    kn_compile_source_name(&name, request);
    kn_str_printf(text, "#line 1 \"%s\"\n%s\n", kn_str_text(&name), request->source);
    kiln_status status = kn_str_status(text, "source text");
    kn_str_free(&name);
    return status;
}

static kiln_status run(waiting *w, kn_compile_result *out, const kn_compile_request *request, int *exit_code)
{
    kn_host_line line;
    kn_str text = KN_STR_INIT;
    kiln_status status = make_line(&line, w->workplace.path, request);
    kn_os_command command = {.argv = line.items, .timeout_ms = kn_compile_timeout_ms()};
    if (status == KILN_OK)
        status = write_source(&text, request);
    if (status == KILN_OK)
        status =
            kn_os_end_command(&w->begun, &command, kn_str_text(&text), text.length, &out->log, exit_code);
    else
        kn_os_abandon_command(&w->begun);
    kn_host_line_free(&line);
    kn_str_free(&text);
    return status;
}

static bool compile(waiting *w, kn_compile_result *out, const kn_compile_request *request)
{
    int exit_code = 0;
    kiln_status status = run(w, out, request, &exit_code);
    if (status == KILN_OK && exit_code == 0)
        status = kn_host_read_code(&out->code, w->workplace.path, KN_HOST_CODE_FILE, request->name);
    kn_os_workplace_remove(&w->workplace);
    kn_str_free(&w->options);
    return status == KILN_OK && exit_code == 0;
}

bool kn_host_ahead_compile(kn_compile_result *out, const kn_compile_request *request)
{
    if (!is_fit(request))
        return false;
    waiting w = take();
    kn_error_state before;
    kn_error_save(&before);
    bool has = has_options(&w, request), is_done = has && compile(&w, out, request);
    if (!has)
        drop(&w);
    kn_error_restore(&before);
    if (!is_done)
        kn_str_clear(&out->log);
    return is_done;
}
static kiln_status start(waiting *w, const kn_compile_request *request)
{
    static const char source[] = "#include \"/dev/stdin\"\n";
    char path[PATH_MAX];
    kn_host_line line = {.text = KN_STR_INIT};
    kiln_status status = kn_os_workplace_make(&w->workplace);
    if (status != KILN_OK)
        return status;
    snprintf(path, sizeof path, "%s/%s", w->workplace.path, KN_HOST_SOURCE_FILE);
    status = kn_os_write_file(path, source, sizeof source - 1);
    if (status == KILN_OK)
        status = make_line(&line, w->workplace.path, request);
    kn_os_command command = {.argv = line.items};
    if (status == KILN_OK)
        status = kn_os_begin_command(&w->begun, &command);
    kn_host_line_free(&line);
    w->is_there = status == KILN_OK;
    w->forks = kn_fork_count();
    if (status != KILN_OK)
        kn_os_workplace_remove(&w->workplace);
    return status;
}

/* Returns the other one, which is to be dropped: the one before, or this one. */
static waiting replace_ready(const waiting *w)
{
    kn_lock_take(KN_LOCK_WAITING_COMPILER);
    waiting other = is_over ? *w : ready;
    if (!is_over)
        ready = *w;
    kn_lock_give(KN_LOCK_WAITING_COMPILER);
    return other;
}

void kn_host_ahead_start(const kn_compile_request *request)
{
    waiting w = {.options = KN_STR_INIT};
    kn_host_line line = {.text = KN_STR_INIT};
    kn_error_state before;
    if (!is_fit(request))
        return;
    kn_error_save(&before);
    kiln_status status = make_line(&line, any_folder, request);
    kn_str_append_n(&w.options, line.text.data, line.text.length);
    if (status == KILN_OK && kn_str_status(&w.options, "a command line") == KILN_OK)
        KILN_IGNORE(start(&w, request)); /* none waits then, and the next source starts its own */
    kn_host_line_free(&line);
    if (w.is_there)
        w = replace_ready(&w);
    drop(&w);
    kn_error_restore(&before);
}

void kn_host_ahead_end(void)
{
    kn_lock_take(KN_LOCK_WAITING_COMPILER);
    is_over = true;
    kn_lock_give(KN_LOCK_WAITING_COMPILER);
    waiting w = take();
    drop(&w);
}

/* The child of a fork has none. */
static void in_child(void)
{
    drop(&ready);
}

__attribute__((constructor)) static void begin(void)
{
    kn_fork_on_child(in_child);
}
