/* Threads that are cancelled inside of calls (pthread_cancel). With a cancellation pending every function
 * goes to its end, for none is a cancellation point; cancelled at any time, a thread leaves neither a
 * lock, nor a flight, nor a file behind, and the next call works. A hang ends by the alarm. KILN_SOAK=1:
 * more rounds. */
#include <kiln/kiln.h>

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    PATIENCE_S = 240,
    LARGE = 400000,
    ROUNDS = 200,
    EACH_NEW = 100,
    SOAK_ROUNDS = 4000,
    SOAK_EACH_NEW = 20
};

static char folder[] = "/tmp/cancel-XXXXXX"; /* TMPDIR, and what is written */
static char array_file[64], bundle_file[64];

static void require(bool is_true, const char *what)
{
    if (is_true)
        return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* writing is a cancellation point */
    fprintf(stderr, "cancel: %s: %s\n", what, kiln_error_message());
    _exit(1);
}

/* ---- what threads do ---- */

static kiln_array *twos(int64_t n)
{
    kiln_array *array = NULL;
    double two = 2;
    require(kiln_array_full(&array, KILN_FLOAT64, 1, &n, &two, KILN_DEVICE_HOST) == KILN_OK, "an array");
    return array;
}

static kiln_kernel *kernel_of(int number)
{
    kiln_kernel *kernel = NULL;
    char body[64];
    snprintf(body, sizeof body, "z = x * 3 + %d", number);
    require(kiln_elementwise_create(&kernel, "T x", "T z", body, "plus", NULL) == KILN_OK, "a kernel");
    return kernel;
}

/* z = x * 3 + number, by a kernel object of its own. */
static void compute(int number, int64_t n)
{
    kiln_kernel *kernel = kernel_of(number);
    kiln_array *in = twos(n), *out = NULL;
    kiln_arg x = kiln_arg_array(in);
    double last = 0;
    require(kiln_kernel_call(kernel, &out, 1, &x, 1, NULL) == KILN_OK, "a call");
    double *all = malloc((size_t)n * sizeof *all);
    require(kiln_array_to_host(out, all, (size_t)n * sizeof *all) == KILN_OK, "a result");
    last = all[n - 1];
    free(all);
    require(last == 6 + number, "a number");
    kiln_array_free(in);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
}

static void compile_first(void)
{
    compute(1, 10);
}

static void call_again(void)
{
    compute(1, 10);
    compute(1, LARGE);
}

static void call_operation(void)
{
    kiln_array *in = twos(100), *out = NULL;
    kiln_arg x[2] = {kiln_arg_array(in), kiln_arg_array(in)};
    require(kiln_apply(&out, 1, "add", x, 2, NULL) == KILN_OK, "an operation");
    kiln_array_free(in);
    kiln_array_free(out);
}

static kiln_kernel *waiting;
static kiln_array *few, *many; /* its inputs: all threads read them */

static void make_waiting(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "#include <unistd.h>\n";
    require(kiln_elementwise_create(&waiting, "T x", "T z", "if (i % 100000 == 0) usleep(1); z = x * 2",
                                    "waiting", &options) == KILN_OK,
            "a kernel");
    few = twos(3);
    many = twos(LARGE);
}

/* A kernel whose text waits: in the caller's thread alone, and in all. */
static void call_waiting(void)
{
    for (int k = 0; k < 4; k++) {
        kiln_array *out = NULL;
        kiln_arg x = kiln_arg_array(k % 2 ? many : few);
        double first = 0;
        require(kiln_kernel_call(waiting, &out, 1, &x, 1, NULL) == KILN_OK, "a call that waits");
        kiln_array *one = NULL;
        require(kiln_array_index(&one, out, "0") == KILN_OK &&
                    kiln_array_to_host(one, &first, sizeof first) == KILN_OK && first == 4,
                "a number");
        kiln_array_free(one);
        kiln_array_free(out);
    }
}

static void wait_for_best(void)
{
    kiln_wait_for_best(-1);
}

static bool skip(const kiln_cache_entry *entry, void *user)
{
    (void)entry, (void)user;
    return true;
}

static void ask_cache(void)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    uint64_t a, b;
    char path[4096];
    require(kiln_cache_get_stats(&stats) == KILN_OK && kiln_cache_list(skip, NULL) == KILN_OK &&
                kiln_cache_verify(&a, &b) == KILN_OK && kiln_cache_collect(&a) == KILN_OK &&
                kiln_cache_flush() == KILN_OK && kiln_cache_path(path, sizeof path) == KILN_OK,
            "the cache");
}

static void exchange_cache(void)
{
    void *bytes = NULL;
    size_t size = 0;
    uint64_t added;
    require(kiln_cache_export(&bytes, &size) == KILN_OK && kiln_cache_import(bytes, size, &added) == KILN_OK,
            "the cache's exchange");
    kiln_free(bytes);
}

static void clear_cache(void)
{
    uint64_t removed;
    require(kiln_cache_clear(&removed) == KILN_OK, "clearing the cache");
}

static void use_files(void)
{
    kiln_array *array = twos(64), *again = NULL, *third = NULL;
    require(kiln_array_save_npy(array, array_file) == KILN_OK &&
                kiln_array_save(array, array_file) == KILN_OK &&
                kiln_array_load_npy(&again, array_file, KILN_DEVICE_HOST) == KILN_OK &&
                kiln_array_load(&third, array_file, KILN_DEVICE_HOST) == KILN_OK,
            "a file of an array");
    kiln_array_free(array);
    kiln_array_free(again);
    kiln_array_free(third);
}

static void print(void)
{
    kiln_array *array = twos(3);
    require(kiln_array_print(array) == KILN_OK, "printing");
    kiln_array_free(array);
}

/* A pending cancellation would end the thread here. */
static void write_file(const char *path, const void *bytes, size_t size)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    FILE *file = fopen(path, "wb");
    require(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, path);
    pthread_setcancelstate(before, NULL);
}

static void bundle(void)
{
    void *bytes = NULL;
    size_t size = 0;
    kiln_kernel *kernel = kernel_of(1);
    kiln_array *in = twos(10), *out = twos(10);
    kiln_arg x = kiln_arg_array(in);
    require(kiln_kernel_export(&bytes, &size, kernel, &out, 1, &x, 1, NULL, NULL) == KILN_OK, "an export");
    write_file(bundle_file, bytes, size);
    require(kiln_bundle_attach(bundle_file) == KILN_OK && kiln_bundle_attach_copy(bytes, size) == KILN_OK,
            "a bundle");
    kiln_free(bytes);
    kiln_array_free(in);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
}

static void explain(void)
{
    char *text = NULL;
    kiln_kernel *kernel = kernel_of(2);
    kiln_array *in = twos(10), *out = twos(10);
    kiln_arg x = kiln_arg_array(in);
    require(kiln_kernel_explain(&text, kernel, &out, 1, &x, 1, NULL, NULL) == KILN_OK &&
                kiln_kernel_prepare(kernel, &out, 1, &x, 1, NULL, NULL) == KILN_OK,
            "explaining and preparing");
    kiln_free(text);
    kiln_array_free(in);
    kiln_array_free(out);
    kiln_kernel_free(kernel);
}

static const struct {
    const char *name;
    void (*run)(void);
} flows[] = {
    {"the first call", compile_first},
    {"calls", call_again},
    {"an operation", call_operation},
    {"a text that waits", call_waiting},
    {"the best form", wait_for_best},
    {"the cache", ask_cache},
    {"exchange", exchange_cache},
    {"files", use_files},
    {"printing", print},
    {"bundles", bundle},
    {"explaining", explain},
    {"clearing", clear_cache},
};
enum { FLOWS = sizeof flows / sizeof *flows };

/* ---- a cancellation that pends ---- */

static atomic_bool is_done;

static void *pend(void *user)
{
    void (*const *run)(void) = user;
    pthread_cancel(pthread_self());
    (*run)();
    atomic_store(&is_done, true);
    pthread_testcancel();
    return NULL;
}

static void pending(void)
{
    for (int f = 0; f < FLOWS; f++) {
        void (*run)(void) = flows[f].run;
        pthread_t thread;
        void *result = NULL;
        atomic_store(&is_done, false);
        require(pthread_create(&thread, NULL, pend, &run) == 0 && pthread_join(thread, &result) == 0,
                "threads");
        require(atomic_load(&is_done), flows[f].name);
        require(result == PTHREAD_CANCELED, "the cancellation was lost");
    }
}

/* ---- cancelled at any time ---- */

static unsigned random_state = 1;

static unsigned next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8;
}

static void *work(void *user)
{
    for (int number = *(int *)user;; number = 1) {
        compute(number, 10);
        compute(1, LARGE);
        use_files();
        ask_cache();
        call_operation();
        call_waiting();
        pthread_testcancel();
    }
    return NULL;
}

static int count_entries(const char *path)
{
    int count = 0;
    DIR *listing = opendir(path);
    require(listing != NULL, path);
    for (const struct dirent *e; (e = readdir(listing));)
        count += e->d_name[0] != '.';
    closedir(listing);
    return count;
}

static void cancelled(int rounds, int each_new)
{
    int descriptors = 0;
    for (int round = 0; round < rounds; round++) {
        int number = round % each_new ? 1 : 100 + round;
        struct timespec nap = {0, (long)(next_random() % 4000) * 1000};
        pthread_t thread;
        require(pthread_create(&thread, NULL, work, &number) == 0, "a thread");
        nanosleep(&nap, NULL);
        require(pthread_cancel(thread) == 0 && pthread_join(thread, NULL) == 0, "cancelling");
        compute(number, 10);
        use_files();
        ask_cache();
        call_waiting();
        wait_for_best();
        if (round == each_new)
            descriptors = count_entries("/proc/self/fd");
    }
    require(count_entries("/proc/self/fd") <= descriptors, "descriptors stay open");
}

int main(void)
{
    bool is_long = getenv("KILN_SOAK") != NULL;
    alarm(is_long ? 6000 : PATIENCE_S);
    require(mkdtemp(folder) != NULL && setenv("TMPDIR", folder, 1) == 0, "a folder");
    snprintf(array_file, sizeof array_file, "%s/a.npy", folder);
    snprintf(bundle_file, sizeof bundle_file, "%s/b.kiln", folder);
    make_waiting();
    pending();
    cancelled(is_long ? SOAK_ROUNDS : ROUNDS, is_long ? SOAK_EACH_NEW : EACH_NEW);
    kiln_kernel_free(waiting);
    kiln_array_free(few);
    kiln_array_free(many);
    remove(array_file);
    remove(bundle_file);
    require(count_entries(folder) == 0 && rmdir(folder) == 0, "files stay behind");
    puts("cancelled threads: right");
    return 0;
}
