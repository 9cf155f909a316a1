/* cli_progress.c - how far a command is: one line at the bottom of a terminal, drawn anew every second, so
 * that nobody wonders whether anything happens. */
#include "cli.h"
#include <pthread.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { WIDTH = 30, QUIET_MS = 1000 /* shorter steps without a count show nothing */ };

/* All under the lock, but for is_shown: the thread of the command alone reads and writes that. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool is_shown; /* the thread is there */
    bool is_over, is_drawn;
    double began; /* this step, ms */
    int done, count;
    char text[160];
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Cut where the terminal's line ends: what goes over to the next one could not be taken away. */
static void put_line(const char *line)
{
    struct winsize size;
    int width = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    fprintf(stderr, "\r\033[K%.*s", width - 1, line);
    fflush(stderr);
    progress.is_drawn = true;
}

static void draw(void)
{
    static const char bar[] = "##############################";
    char count[64] = "", time[32] = "", line[320];
    const double seconds = (cli_now_ms() - progress.began) * 1e-3;
    if (progress.count == 0 && seconds * 1e3 < QUIET_MS)
        return;
    if (progress.count > 0) {
        const int full = (int)((long long)progress.done * WIDTH / progress.count);
        snprintf(count, sizeof count, "[%.*s%*s] %d of %d  ", full, bar, WIDTH - full, "", progress.done,
                 progress.count);
    }
    if (seconds >= 1)
        snprintf(time, sizeof time, "%.0f s  ", seconds);
    snprintf(line, sizeof line, "%s%s%s", count, time, progress.text);
    put_line(line);
}

static void *tick(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&progress.lock);
    while (!progress.is_over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec++;
        pthread_cond_timedwait(&progress.changed, &progress.lock, &until);
        if (!progress.is_over)
            draw();
    }
    pthread_mutex_unlock(&progress.lock);
    return NULL;
}

void cli_progress(const cli_options *options, int done, int count, const char *format, ...)
{
    if (options->quiet || !isatty(STDERR_FILENO))
        return;
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&progress.lock);
    vsnprintf(progress.text, sizeof progress.text, format, arguments);
    progress.done = done;
    progress.count = count;
    progress.began = cli_now_ms();
    if (count > 0)
        draw();
    if (!progress.is_shown) {
        progress.is_over = false;
        progress.is_shown = pthread_create(&progress.thread, NULL, tick, NULL) == 0;
    }
    pthread_mutex_unlock(&progress.lock);
    va_end(arguments);
}

static void clear_line(void)
{
    if (progress.is_drawn)
        fputs("\r\033[K", stderr);
    progress.is_drawn = false;
}

void cli_progress_hide(void)
{
    pthread_mutex_lock(&progress.lock);
    clear_line();
    pthread_mutex_unlock(&progress.lock);
}

void cli_progress_end(void)
{
    if (progress.is_shown) {
        pthread_mutex_lock(&progress.lock);
        progress.is_over = true;
        pthread_cond_signal(&progress.changed);
        pthread_mutex_unlock(&progress.lock);
        pthread_join(progress.thread, NULL);
        progress.is_shown = false;
    }
    cli_progress_hide();
}
