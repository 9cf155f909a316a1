/* bake_jobs.c - all jobs of a bake, in processes of their own under limits of time and memory. */
#include "bake_parts.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    USUAL_TIME = 300,      /* seconds */
    USUAL_MEMORY = 4096,   /* MiB */
    LOOK_MS = 50,          /* between two looks at what the processes take */
    MOST_PROCESSES = 1024, /* of a child and its compilers */
    MOST_CHILDREN = 256
};

typedef struct child {
    pid_t pid; /* 0: none. It leads a session, in which its compilers are, too */
    int to, from;
    int job; /* -1: none */
    double began;
    char *heard; /* of an answer, so far */
    size_t n_heard, capacity;
} child;

typedef struct bake {
    bake_plan *plan;
    const cli_options *options;
    child *children;
    int n_children, next, done;
    double time_ms;
    uint64_t memory; /* bytes */
} bake;

static void fail(bake_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(bake_job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&job->failure, format, arguments) < 0)
        job->failure = strdup("failed");
    va_end(arguments);
}

/* ---- how far it is ---- */

/* With the name of the first that is not done: what all wait for in the end. */
static void show(const bake *b)
{
    const char *name = "";
    for (int i = 0; i < b->n_children && !*name; i++)
        if (b->children[i].job >= 0)
            name = b->plan->jobs[b->children[i].job].name;
    cli_progress(b->options, b->done, b->plan->count, "%s", name);
}

static void finish_job(bake *b, child *c)
{
    c->job = -1;
    c->n_heard = 0;
    b->done++;
}

/* ---- the processes of a session ---- */

typedef struct process {
    pid_t pid, session;
    uint64_t bytes; /* in memory */
} process;

/* One process of /proc; the name, in parentheses, may hold anything. */
static bool read_process(process *out, const char *number)
{
    char path[64], text[1024];
    long pages = 0;
    int session = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", number);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = 0;
    const char *rest = strrchr(text, ')');
    if (!rest ||
        sscanf(rest + 1,
               " %*c %*d %*d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %*u %*u %ld",
               &session, &pages) != 2)
        return false;
    *out = (process){(pid_t)atoi(number), (pid_t)session, (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE)};
    return true;
}

static int list_processes(process *out, int most)
{
    int n = 0;
    DIR *folder = opendir("/proc");
    for (struct dirent *entry; folder && n < most && (entry = readdir(folder));)
        n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && read_process(&out[n], entry->d_name);
    if (folder)
        closedir(folder);
    return n;
}

/* The child and all that it started, which it would not end itself. */
static void kill_session(pid_t leader)
{
    process *all = malloc(MOST_PROCESSES * sizeof *all);
    int n = all ? list_processes(all, MOST_PROCESSES) : 0;
    kill(leader, SIGKILL);
    for (int p = 0; p < n; p++)
        if (all[p].session == leader)
            kill(all[p].pid, SIGKILL);
    free(all);
}

/* ---- starting and ending ---- */

static void become_child(int to, int from, pid_t parent, const cli_options *options)
{
    int n = 0;
    const char **words = calloc(4 + 2 * (size_t)options->includes.count, sizeof *words);
    if (!words)
        _exit(127);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    dup2(to, 0);
    dup2(from, 1);
    words[n++] = "kiln";
    words[n++] = "bake";
    words[n++] = BAKE_CHILD;
    for (int i = 0; i < options->includes.count; i++) {
        words[n++] = "--include";
        words[n++] = options->includes.items[i];
    }
    execv("/proc/self/exe", (char *const *)(uintptr_t)words);
    _exit(127);
}

static bool start(bake *b, child *c)
{
    int to[2], from[2];
    pid_t parent = getpid();
    if (pipe2(to, O_CLOEXEC) != 0)
        return false;
    if (pipe2(from, O_CLOEXEC) != 0) {
        close(to[0]);
        close(to[1]);
        return false;
    }
    c->pid = fork();
    if (c->pid == 0)
        become_child(to[0], from[1], parent, b->options);
    close(to[0]);
    close(from[1]);
    c->to = to[1];
    c->from = from[0];
    c->job = -1;
    c->n_heard = 0;
    if (c->pid > 0)
        return true;
    c->pid = 0;
    close(c->to);
    close(c->from);
    return false;
}

/* The exit status of a child. */
static int end(child *c, bool by_force)
{
    int status = 0;
    if (c->pid == 0)
        return 0;
    if (by_force)
        kill_session(c->pid);
    close(c->to);
    close(c->from);
    while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!by_force)
        kill_session(c->pid); /* what a child that crashed left running */
    c->pid = 0;
    return status;
}

static bool send(int to, const void *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(to, (const char *)data + done, size - done);
        if (n < 0 && errno != EINTR)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* A child reads a question whole before it answers, so that this does not wait for long. */
static void ask(bake *b, child *c)
{
    const bake_job *job = &b->plan->jobs[b->next];
    char head[128];
    int n = snprintf(head, sizeof head, "%s %zu\n", job->target, strlen(job->line));
    c->job = b->next++;
    c->began = cli_now_ms();
    if (!send(c->to, head, (size_t)n) || !send(c->to, job->line, strlen(job->line)))
        return; /* it is dead, and its output ends */
}

/* ---- answers ---- */

static bool take_bytes(child *c, const char *data, size_t size)
{
    if (c->n_heard + size > c->capacity) {
        size_t capacity = 2 * (c->n_heard + size);
        char *heard = realloc(c->heard, capacity);
        if (!heard)
            return false;
        c->heard = heard;
        c->capacity = capacity;
    }
    memcpy(c->heard + c->n_heard, data, size);
    c->n_heard += size;
    return true;
}

/* An answer that is there whole is the job's. */
static void take_answer(bake *b, child *c)
{
    char word[16];
    size_t size;
    const char *end_of_head = c->n_heard ? memchr(c->heard, '\n', c->n_heard) : NULL;
    char head[64];
    if (!end_of_head || c->job < 0 || (size_t)(end_of_head - c->heard) >= sizeof head)
        return;
    size_t at = (size_t)(end_of_head - c->heard) + 1;
    memcpy(head, c->heard, at - 1);
    head[at - 1] = 0;
    if (sscanf(head, "%15s %zu", word, &size) != 2 || c->n_heard - at < size)
        return;
    bake_job *job = &b->plan->jobs[c->job];
    void *copy = malloc(size + 1);
    if (!copy)
        fail(job, "out of memory");
    else if (strcmp(word, "made") == 0) {
        memcpy(copy, c->heard + at, size);
        job->made = (kiln_bytes){copy, size};
    } else {
        fail(job, "%.*s", (int)size, c->heard + at);
        free(copy);
    }
    finish_job(b, c);
}

static void say_how_it_ended(bake_job *job, int status)
{
    if (WIFSIGNALED(status))
        fail(job, "the compiler crashed (%s)", strsignal(WTERMSIG(status)));
    else
        fail(job, "the compiler ended the process with status %d", WEXITSTATUS(status));
}

/* Reads a child's output, or notices that it has ended. */
static void hear(bake *b, child *c)
{
    char piece[65536];
    ssize_t n = read(c->from, piece, sizeof piece);
    if (n > 0 && take_bytes(c, piece, (size_t)n)) {
        take_answer(b, c);
        return;
    }
    if (n < 0 && errno == EINTR)
        return;
    int job = c->job, status = end(c, false);
    if (job >= 0) {
        say_how_it_ended(&b->plan->jobs[job], status);
        finish_job(b, c);
    }
}

/* ---- limits ---- */

static uint64_t memory_of(const process *all, int n, pid_t leader)
{
    uint64_t sum = 0;
    for (int p = 0; p < n; p++)
        sum += all[p].session == leader ? all[p].bytes : 0;
    return sum;
}

static void hold_to_limits(bake *b, process *all)
{
    int n = list_processes(all, MOST_PROCESSES);
    for (int i = 0; i < b->n_children; i++) {
        child *c = &b->children[i];
        if (c->job < 0)
            continue;
        bake_job *job = &b->plan->jobs[c->job];
        bool is_late = cli_now_ms() - c->began > b->time_ms, is_large = memory_of(all, n, c->pid) > b->memory;
        if (!is_late && !is_large)
            continue;
        end(c, true);
        if (is_late)
            fail(job, "its compiler took more than %.0f s", b->time_ms * 1e-3);
        else
            fail(job, "its compiler took more than %llu MiB", (unsigned long long)(b->memory >> 20));
        finish_job(b, c);
    }
}

/* ---- the loop ---- */

/* Each that has nothing to do gets a job; one that is dead is started anew. False where none runs any
 * more. */
static bool give_work(bake *b)
{
    bool any = false;
    for (int i = 0; i < b->n_children; i++) {
        child *c = &b->children[i];
        if (c->job < 0 && b->next < b->plan->count && (c->pid || start(b, c))) {
            ask(b, c);
            show(b);
        }
        any = any || c->job >= 0;
    }
    return any;
}

static bool work(bake *b, struct pollfd *fds, process *all)
{
    double looked = cli_now_ms();
    while (b->done < b->plan->count) {
        int n = 0;
        if (!give_work(b))
            return false;
        for (int i = 0; i < b->n_children; i++)
            fds[i] = (struct pollfd){b->children[i].job >= 0 ? b->children[i].from : -1, POLLIN, 0};
        n = poll(fds, (nfds_t)b->n_children, LOOK_MS);
        for (int i = 0; i < b->n_children && n > 0; i++)
            if (fds[i].revents)
                hear(b, &b->children[i]);
        if (cli_now_ms() - looked < LOOK_MS)
            continue;
        hold_to_limits(b, all);
        looked = cli_now_ms();
    }
    return true;
}

static int count_children(const bake_plan *plan, const cli_options *options)
{
    long n = options->jobs ? options->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    n = n < plan->count ? n : plan->count;
    return (int)(n < 1 ? 1 : n > MOST_CHILDREN ? MOST_CHILDREN : n);
}

int bake_run_jobs(bake_plan *plan, const cli_options *options)
{
    bake b = {.plan = plan, .options = options, .n_children = count_children(plan, options)};
    struct pollfd *fds = calloc((size_t)b.n_children, sizeof *fds);
    process *all = malloc(MOST_PROCESSES * sizeof *all);
    bool is_done = false;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    b.children = calloc((size_t)b.n_children, sizeof *b.children);
    b.time_ms = 1e3 * (options->time ? options->time : USUAL_TIME);
    b.memory = (uint64_t)(options->memory ? options->memory : USUAL_MEMORY) << 20;
    for (int i = 0; b.children && i < b.n_children; i++)
        b.children[i].job = -1;
    if (b.children && fds && all)
        is_done = work(&b, fds, all);
    for (int i = 0; b.children && i < b.n_children; i++) {
        end(&b.children[i], !is_done);
        free(b.children[i].heard);
    }
    cli_progress_end();
    signal(SIGPIPE, before);
    free(b.children);
    free(fds);
    free(all);
    if (!is_done)
        cli_complain("kiln: no process could be started that compiles: %s", strerror(errno));
    return is_done ? CLI_OK : CLI_FAILED;
}
