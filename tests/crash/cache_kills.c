/* Processes that are killed, forked and crowded over one cache: what was acknowledged stays, and nothing
 * is wrong. */
#include "crash_common.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"

/* ---- writers that are killed ---- */

enum { WRITERS = 3, MOST_ROWS = 4096, SMALL = 12000 };

/* In memory that parent and children share. */
typedef struct shared {
    unsigned acknowledged[WRITERS]; /* rows, from the first on */
    double opened_ms[256];
} shared;

static shared *share(void)
{
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(s != MAP_FAILED);
    memset(s, 0, sizeof *s);
    return s;
}

static unsigned number_of(unsigned round, unsigned writer, unsigned row)
{
    return (round * WRITERS + writer) * MOST_ROWS + row;
}

static void write_until_killed(shared *s, unsigned round, unsigned writer)
{
    kn_cache *cache = kn_cache_create(folder, false);
    for (unsigned row = 0; row < MOST_ROWS; row++) {
        put_row(cache, number_of(round, writer, row), SMALL);
        if (kn_cache_flush(cache))
            s->acknowledged[writer] = row + 1;
        else
            break;
    }
    for (;;)
        pause();
}

static void look_after_kill(shared *s, unsigned round)
{
    double start = kn_os_now_ms();
    kn_cache *cache = open_cache();
    kn_cache_warm_up(cache);
    double ms = kn_os_now_ms() - start;
    if (ms > 100e3)
        fail_msg("round %u: opening took %.0f ms", round, ms);
    for (unsigned w = 0; w < WRITERS; w++)
        for (unsigned row = 0; row < s->acknowledged[w] + 2; row++) {
            row_state is = look_at_row(cache, number_of(round, w, row), SMALL);
            if (is == ROW_WRONG || (is == ROW_MISSING && row < s->acknowledged[w]))
                fail_msg("round %u: row %u of writer %u, of %u that are acknowledged, is %s", round, row, w,
                         s->acknowledged[w], is == ROW_WRONG ? "wrong" : "lost");
        }
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    kn_cache_fill_stats(cache, &stats);
    if (stats.errors)
        fail_msg("round %u: %s", round, stats.trouble);
    assert_int_equal(kn_cache_clear(cache, NULL), KILN_OK);
    kn_cache_free(cache);
}

static void killed_writers_lose_nothing(void **state)
{
    int rounds = times(1000);
    uint64_t seed = 42, rows = 0;
    (void)state;
    for (int round = 0; round < rounds; round++) {
        shared *s = share();
        pid_t writer[WRITERS];
        for (unsigned w = 0; w < WRITERS; w++)
            if ((writer[w] = fork()) == 0)
                write_until_killed(s, (unsigned)round, w);
        usleep((useconds_t)(500 + next_random(&seed) % 30000));
        for (unsigned w = 0; w < WRITERS; w++)
            kill(writer[w], SIGKILL);
        wait_for(writer, WRITERS);
        for (unsigned w = 0; w < WRITERS; w++)
            rows += s->acknowledged[w];
        look_after_kill(s, (unsigned)round);
        munmap(s, sizeof *s);
    }
    print_message("%d rounds, %llu rows acknowledged\n", rounds, (unsigned long long)rows);
    assert_true(rows > (uint64_t)rounds);
}

/* ---- many that begin ---- */

enum { CROWD = 128 };

static int begin(shared *s, int n)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    double start = kn_os_now_ms();
    kn_cache *cache = kn_cache_create(folder, false);
    kn_cache_warm_up(cache);
    s->opened_ms[n] = kn_os_now_ms() - start;
    kn_cache_fill_stats(cache, &stats);
    bool is_good = stats.errors == 0 && stats.writable;
    kn_cache_free(cache);
    return is_good ? 0 : 1;
}

static void a_crowd_begins_together(void **state)
{
    int rounds = times(50);
    double slowest = 0;
    (void)state;
    for (int round = 0; round < rounds; round++) {
        shared *s = share();
        pid_t child[CROWD];
        for (int n = 0; n < CROWD; n++)
            if ((child[n] = fork()) == 0)
                _exit(begin(s, n));
        assert_int_equal(wait_for(child, CROWD), 0);
        for (int n = 0; n < CROWD; n++)
            slowest = s->opened_ms[n] > slowest ? s->opened_ms[n] : slowest;
        munmap(s, sizeof *s);
        kn_os_remove_folder(folder);
    }
    print_message("%d times %d processes, the slowest opened in %.0f ms\n", rounds, CROWD, slowest);
    assert_true(slowest < 100e3);
}

/* ---- forks ---- */

enum { CHILDREN = 16, EACH = 60 };

/* A write waits for others a second at most, which they may take on a busy machine. Then the cache leaves the
 * file alone for two seconds, in which nothing is written: this tries until all rows are acknowledged. */
static bool put_all(kn_cache *cache, unsigned first)
{
    const double end = kn_os_now_ms() + 100e3;
    for (;;) {
        for (unsigned row = 0; row < EACH; row++)
            put_row(cache, first + row, SMALL);
        if (kn_cache_flush(cache))
            return true;
        if (kn_os_now_ms() > end)
            return false;
        usleep(100 * 1000);
    }
}

static void a_forked_cache_is_whole(void **state)
{
    pid_t child[CHILDREN];
    (void)state;
    kn_cache *cache = open_cache();
    put_row(cache, 0, SMALL);
    for (unsigned c = 0; c < CHILDREN; c++)
        if ((child[c] = fork()) == 0)
            _exit(!put_all(cache, 1000 * (c + 1)));
    assert_true(put_all(cache, 1));
    assert_int_equal(wait_for(child, CHILDREN), 0);
    for (unsigned row = 0; row <= EACH; row++)
        assert_int_equal(look_at_row(cache, row, SMALL), ROW_RIGHT);
    for (unsigned c = 0; c < CHILDREN; c++)
        for (unsigned row = 0; row < EACH; row++)
            assert_int_equal(look_at_row(cache, 1000 * (c + 1) + row, SMALL), ROW_RIGHT);
    kn_cache_free(cache);
}

/* Nobody crashes or hangs, and no row is wrong; by and by all write into a new file. */
static int go_on_without_folder(unsigned n, double until)
{
    kn_cache *cache = kn_cache_create(folder, false);
    for (unsigned row = 0; kn_os_now_ms() < until; row++) {
        put_row(cache, n * 100000 + row, SMALL);
        if (look_at_row(cache, n * 100000 + row, SMALL) == ROW_WRONG)
            return 1;
    }
    kn_cache_free(cache);
    return 0;
}

static void the_folder_may_go(void **state)
{
    pid_t child[8];
    double end = kn_os_now_ms() + 1500;
    (void)state;
    for (unsigned c = 0; c < 8; c++)
        if ((child[c] = fork()) == 0)
            _exit(go_on_without_folder(c, end));
    for (int i = 0; i < 5; i++) {
        usleep(200 * 1000);
        kn_os_remove_folder(folder);
    }
    assert_int_equal(wait_for(child, 8), 0);
}

/* ---- the cap ---- */

enum { FULL_WRITERS = 16, HOT = 100, CAP = 64 << 20 };

/* Each writes new rows, and now and then takes one of those that all use. */
static int write_and_use(unsigned n, const volatile bool *is_over)
{
    uint64_t seed = n;
    kn_cache *cache = kn_cache_create(folder, false);
    kn_cache_set_limit(cache, CAP);
    for (unsigned row = 0; !*is_over; row++) {
        put_row(cache, 1000000 * (n + 1) + row, LARGEST);
        for (int i = 0; i < 4; i++)
            if (look_at_row(cache, (unsigned)(next_random(&seed) % HOT), LARGEST) == ROW_WRONG)
                return 1;
        usleep(30 * 1000); /* no compile takes less */
    }
    kn_cache_free(cache);
    return 0;
}

static void the_cap_holds(void **state)
{
    pid_t child[FULL_WRITERS];
    char path[300];
    struct stat info;
    /* A machine that is busy has a minute more until the file is full. */
    double end = kn_os_now_ms() + times(120) * 1e3, last_end = end + 60 * 1e3;
    int64_t largest = 0;
    int hot = 0;
    volatile bool *is_over =
        mmap(NULL, sizeof *is_over, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)state;
    assert_true((void *)is_over != MAP_FAILED);
    kn_cache *cache = open_cache();
    kn_cache_set_limit(cache, CAP);
    for (unsigned n = 0; n < HOT; n++)
        put_row(cache, n, LARGEST);
    for (unsigned c = 0; c < FULL_WRITERS; c++)
        if ((child[c] = fork()) == 0)
            _exit(write_and_use(c, is_over));
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    for (double now = 0; now < end || (largest <= CAP / 2 && now < last_end); now = kn_os_now_ms()) {
        usleep(100 * 1000);
        if (stat(path, &info) == 0 && info.st_size > largest)
            largest = info.st_size;
    }
    *is_over = true;
    assert_int_equal(wait_for(child, FULL_WRITERS), 0);
    for (unsigned n = 0; n < HOT; n++)
        hot += look_at_row(cache, n, LARGEST) == ROW_RIGHT;
    print_message("the file grew to %.1f MiB, %d of %d hot rows are there\n", (double)largest / (1 << 20),
                  hot, HOT);
    assert_true(largest < CAP / 100 * 120);
    assert_true(largest > CAP / 2); /* it was full */
    assert_int_equal(hot, HOT);
    kn_cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(killed_writers_lose_nothing, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_crowd_begins_together, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_forked_cache_is_whole, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_folder_may_go, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(the_cap_holds, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
