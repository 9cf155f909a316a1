/* Random folders for the cache of one user, which another user and a group that both share can reach into,
 * and what that user plants there: databases, journals, write-ahead logs, locks, links, whole folders. No
 * byte of his ever comes out of the cache. As root alone, for it takes two users: 77 elsewhere. KILN_SOAK=1
 * runs more rounds. */
#include "base/os.h"
#include "cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { USER = 30001, ENEMY = 30002, SHARED = 30003, SKIP = 77, LEVELS = 3, PAGE = 4096, CODE = 20000 };

/* The end of a user's run. */
enum { USABLE = 0, REFUSED = 1, FOREIGN = 2, WRONG = 3, BROKEN = 9 };

static char base[64];             /* root's */
static char folders[LEVELS][256]; /* one in the other; the last used is the cache's */
static int depth;
static char evil_folder[128]; /* the enemy's own, with a cache of his own making */
static kn_blob good, evil, journal,
    log_file; /* databases of the user and the enemy; what would turn one into the other */

static unsigned long long seed = 1;

static unsigned below(unsigned n)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(seed >> 33) % n;
}

static void give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(BROKEN);
}

static void must(bool is_done, const char *what)
{
    if (!is_done)
        give_up(what);
}

/* ---- the material ---- */

static void fill(char *code, const char *what, bool is_evil)
{
    memset(code, is_evil ? 'E' : 'g', CODE);
    memcpy(code, what, strlen(what));
}

static void put(kn_cache *cache, const char *what, bool is_evil)
{
    char code[CODE];
    kn_blob blob = {code, sizeof code};
    fill(code, what, is_evil);
    kn_cache_put(cache, what, strlen(what), "p", &blob, NULL);
}

static kn_blob read_file(const char *path)
{
    kn_blob blob = KN_BLOB_INIT;
    must(kn_os_read_file(&blob, path) == KILN_OK, path);
    return blob;
}

static kn_blob make_database(bool is_evil)
{
    char folder[128], path[160];
    snprintf(folder, sizeof folder, "%s/made", base);
    snprintf(path, sizeof path, "%s/kernels.sqlite", folder);
    kn_cache *cache = kn_cache_create(folder, false);
    put(cache, "a", is_evil);
    put(cache, "b", is_evil);
    kn_cache_free(cache);
    kn_blob blob = read_file(path);
    kn_os_remove_folder(folder);
    return blob;
}

static void put_number(unsigned char *at, unsigned value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (unsigned char)(value >> (24 - 8 * i));
}

/* A rollback journal of every page, as SQLite's file format has it: what it "restores" is the enemy's
 * database. */
static kn_blob make_journal(const kn_blob *database)
{
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    const unsigned pages = (unsigned)(database->size / PAGE), nonce = 17, record = PAGE + 8;
    kn_blob out = {calloc(1, 512 + (size_t)pages * record), 512 + (size_t)pages * record};
    unsigned char *at = out.data;
    must(at != NULL, "memory");
    memcpy(at, magic, sizeof magic);
    put_number(at + 8, pages);
    put_number(at + 12, nonce);
    put_number(at + 16, pages);
    put_number(at + 20, 512);
    put_number(at + 24, PAGE);
    at += 512;
    for (unsigned p = 0; p < pages; p++, at += record) {
        const unsigned char *data = (const unsigned char *)database->data + (size_t)p * PAGE;
        unsigned sum = nonce;
        for (int i = PAGE - 200; i > 0; i -= 200)
            sum += data[i];
        put_number(at, p + 1);
        memcpy(at + 4, data, PAGE);
        put_number(at + 4 + PAGE, sum);
    }
    return out;
}

static void write_blob(const char *path, const kn_blob *blob, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0600);
    if (fd < 0)
        return;
    if (write(fd, blob->data, blob->size) == (ssize_t)blob->size)
        (void)!fchmod(fd, mode);
    close(fd);
}

/* A write-ahead log with every page of the enemy's database. */
static kn_blob make_log(const kn_blob *database)
{
    char path[128], path_of_log[160];
    sqlite3 *db = NULL;
    snprintf(path, sizeof path, "%s/logged", base);
    snprintf(path_of_log, sizeof path_of_log, "%s-wal", path);
    write_blob(path, database, 0600);
    must(sqlite3_open(path, &db) == SQLITE_OK, path);
    must(sqlite3_exec(db, "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; VACUUM", NULL, NULL, NULL) ==
             SQLITE_OK,
         path);
    kn_blob blob = read_file(path_of_log);
    sqlite3_close(db);
    unlink(path);
    return blob;
}

/* ---- a round's folders ---- */

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *visit)
{
    (void)info, (void)type, (void)visit;
    return remove(path);
}

static void remove_tree(const char *path)
{
    if (access(path, F_OK) == 0)
        nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static const char *cache_folder(void)
{
    return folders[depth - 1];
}

static void in_cache(char *out, size_t size, const char *name)
{
    snprintf(out, size, "%s/%s", cache_folder(), name);
}

static void make_folders(void)
{
    static const uid_t owners[] = {USER, USER, USER, USER, USER, 0, 0, ENEMY};
    static const gid_t groups[] = {USER, SHARED, SHARED, ENEMY, 0};
    static const mode_t modes[] = {0700, 0700, 0755,  0755,  0755,  0750, 0775,
                                   0770, 0777, 01777, 01775, 02775, 0711};
    char parent[256];
    snprintf(parent, sizeof parent, "%s/round", base);
    remove_tree(parent);
    must(mkdir(parent, 0755) == 0, parent);
    depth = 1 + (int)below(LEVELS);
    for (int i = 0; i < depth; i++) {
        snprintf(folders[i], sizeof folders[i], "%.200s/%c", i ? folders[i - 1] : parent, "abc"[i]);
        must(mkdir(folders[i], 0700) == 0, folders[i]);
        must(chown(folders[i], owners[below(8)], groups[below(5)]) == 0, folders[i]);
        must(chmod(folders[i], modes[below(13)]) == 0, folders[i]);
    }
}

/* Files that the user has there from better days. */
static void make_file(void)
{
    static const mode_t modes[] = {0600, 0600, 0600, 0644, 0660, 0666};
    char path[300];
    if (below(3) == 0)
        return;
    in_cache(path, sizeof path, "kernels.sqlite");
    write_blob(path, &good, modes[below(6)]);
    must(chown(path, USER, below(2) ? USER : SHARED) == 0, path);
}

/* Somebody notices, and closes the user's and root's folders: what was planted stays. */
static void close_folders(void)
{
    struct stat info;
    for (int i = 0; i < depth; i++)
        if (lstat(folders[i], &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid != ENEMY)
            must(chmod(folders[i], info.st_mode & 07755) == 0, folders[i]);
}

/* ---- what the enemy does, as far as the system lets him ---- */

static mode_t some_mode(void)
{
    static const mode_t modes[] = {0600, 0644, 0666};
    return modes[below(3)];
}

static void plant(const char *name, const kn_blob *blob)
{
    char path[300];
    in_cache(path, sizeof path, name);
    unlink(path);
    write_blob(path, blob, some_mode());
}

static void plant_database(void)
{
    plant("kernels.sqlite", &evil);
}

static void plant_journal(void)
{
    plant("kernels.sqlite-journal", &journal);
}

static void plant_log(void)
{
    plant("kernels.sqlite-wal", &log_file);
}

static void overwrite_database(void)
{
    char path[300];
    in_cache(path, sizeof path, "kernels.sqlite");
    if (access(path, F_OK) == 0)
        write_blob(path, &evil, 0666);
}

static const char *some_name(void)
{
    static const char *const names[] = {"kernels.sqlite", "kernels.sqlite-journal", "kernels.sqlite-wal",
                                        "kernels.sqlite-shm", "kernels.lock"};
    return names[below(5)];
}

static void link_file(void)
{
    char path[300], target[200];
    const char *name = some_name();
    in_cache(path, sizeof path, name);
    snprintf(target, sizeof target, "%s/%s", evil_folder, name);
    unlink(path);
    if (below(2))
        (void)!symlink(target, path);
    else
        (void)!link(target, path);
}

static void plant_pipe(void)
{
    char path[300];
    in_cache(path, sizeof path, some_name());
    unlink(path);
    (void)!mkfifo(path, 0666);
}

/* A folder on the way is exchanged for one of his own: made, or a link. */
static void exchange_folder(void)
{
    int which = (int)below((unsigned)depth);
    char aside[300];
    snprintf(aside, sizeof aside, "%s.old", folders[which]);
    if (rename(folders[which], aside) != 0)
        return;
    if (which == depth - 1 && below(2)) {
        (void)!symlink(evil_folder, folders[which]);
        return;
    }
    for (int i = which; i < depth; i++)
        (void)!mkdir(folders[i], 0755);
    plant_database();
}

static void attack(void)
{
    static void (*const deeds[])(void) = {plant_database, plant_journal, plant_journal,
                                          plant_log,      plant_log,     overwrite_database,
                                          link_file,      plant_pipe,    exchange_folder};
    for (unsigned n = 1 + below(4); n > 0; n--)
        deeds[below(sizeof deeds / sizeof *deeds)]();
}

/* ---- users ---- */

static void become(uid_t user, gid_t group)
{
    const gid_t shared = SHARED;
    if (setgroups(1, &shared) != 0 || setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0)
        _exit(BROKEN);
    umask(0);
}

static int wait_for(pid_t child)
{
    int state = 0;
    must(child > 0 && waitpid(child, &state, 0) == child, "a child");
    return WIFEXITED(state) ? WEXITSTATUS(state) : BROKEN;
}

/* Once, or on and on until he is stopped. */
static pid_t start_enemy(bool goes_on)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    become(ENEMY, ENEMY);
    do
        attack();
    while (goes_on);
    _exit(0);
}

/* A hit is what this user put, whole. */
static int look(kn_cache *cache, const char *what, int *outcome)
{
    char expected[CODE];
    kn_blob code = KN_BLOB_INIT;
    bool is_found = kn_cache_get(cache, what, strlen(what), "p", &code, NULL);
    fill(expected, what, false);
    if (is_found && (code.size != CODE || memcmp(code.data, expected, CODE) != 0))
        *outcome = code.size == CODE && memchr(code.data, 'E', CODE) ? FOREIGN : WRONG;
    kn_blob_free(&code);
    return is_found;
}

static int use_cache(bool read_only)
{
    kn_cache *cache = kn_cache_create(cache_folder(), read_only);
    kn_os_lock lock = KN_OS_LOCK_INIT;
    int outcome = USABLE, hits = 0;
    for (int i = 0; i < 2; i++) {
        hits += look(cache, "a", &outcome) + look(cache, "b", &outcome);
        kn_cache_lock(cache, "c", 1, &lock, 50);
        put(cache, "c", false);
        hits += look(cache, "c", &outcome);
        kn_os_unlock_file(&lock);
    }
    kn_cache_free(cache);
    return outcome == USABLE && hits == 0 ? REFUSED : outcome;
}

/* The folder that a program without any care would use. */
static int use_without_care(void)
{
    char path[300];
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int outcome = REFUSED;
    in_cache(path, sizeof path, "kernels.sqlite");
    if (sqlite3_open(path, &db) == SQLITE_OK &&
        sqlite3_prepare_v2(db, "SELECT code FROM code WHERE what=CAST('a' AS BLOB)", -1, &row, NULL) ==
            SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW && sqlite3_column_bytes(row, 0) == CODE)
        outcome = memchr(sqlite3_column_blob(row, 0), 'E', CODE) ? FOREIGN : USABLE;
    sqlite3_finalize(row);
    sqlite3_close(db);
    return outcome;
}

/* Without care a user may wait for ever at a pipe that was put there. */
static int run_user(int (*body)(void), unsigned seconds)
{
    gid_t group = below(2) ? USER : SHARED;
    pid_t child = fork();
    if (child == 0) {
        become(USER, group);
        alarm(seconds);
        _exit(body());
    }
    return wait_for(child);
}

static int write_and_read(void)
{
    return use_cache(false);
}

static int only_read(void)
{
    return use_cache(true);
}

/* ---- rounds ---- */

typedef struct tally {
    int usable, refused, caught; /* caught: without care foreign code would have run */
} tally;

static void build_round(void)
{
    make_folders();
    make_file();
}

/* The same folders and deeds once more, for a user without care. */
static bool would_be_fooled(unsigned long long start)
{
    unsigned long long before = seed;
    int outcome;
    seed = start;
    build_round();
    wait_for(start_enemy(false));
    outcome = run_user(use_without_care, 1);
    seed = before;
    return outcome == FOREIGN;
}

static bool run_round(int number, tally *t)
{
    const unsigned long long start = seed = (unsigned long long)number * 0x9e3779b97f4a7c15ULL + 1;
    bool is_race = below(8) == 0;
    int outcome;
    seed = start;
    build_round();
    pid_t enemy = start_enemy(is_race);
    if (is_race)
        usleep(below(3000));
    else
        wait_for(enemy);
    if (number % 2)
        close_folders();
    outcome = run_user(number % 5 == 0 ? only_read : write_and_read, 900);
    if (is_race) {
        kill(enemy, SIGKILL);
        wait_for(enemy);
    }
    t->usable += outcome == USABLE;
    t->refused += outcome == REFUSED;
    t->caught += !is_race && number % 4 == 0 && would_be_fooled(start);
    if (outcome == USABLE || outcome == REFUSED)
        return true;
    fprintf(stderr, "round %d: %s\n", number,
            outcome == FOREIGN ? "the enemy's code came out of the cache"
            : outcome == WRONG ? "wrong code came out of the cache"
                               : "the user's process ended");
    return false;
}

static void prepare(void)
{
    static const char *const names[] = {"kernels.sqlite", "kernels.sqlite-journal", "kernels.sqlite-wal"};
    const kn_blob *const blobs[] = {&evil, &journal, &log_file};
    char path[300];
    snprintf(base, sizeof base, "/tmp/kiln-fuzz-XXXXXX");
    must(mkdtemp(base) && chmod(base, 0755) == 0, base);
    good = make_database(false);
    evil = make_database(true);
    journal = make_journal(&evil);
    log_file = make_log(&evil);
    snprintf(evil_folder, sizeof evil_folder, "%s/evil", base);
    must(mkdir(evil_folder, 0755) == 0 && chown(evil_folder, ENEMY, ENEMY) == 0, evil_folder);
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", evil_folder, names[i]);
        write_blob(path, blobs[i], 0644);
        must(chown(path, ENEMY, ENEMY) == 0, path);
    }
}

/* The weapons work: a journal and a log, beside the user's file, make the enemy's of it where nobody looks.
 * */
static bool weapons_work(void)
{
    static void (*const weapons[])(void) = {plant_journal, plant_log};
    for (int i = 0; i < 2; i++) {
        char path[300];
        depth = 1;
        snprintf(folders[0], sizeof folders[0], "%s/round", base);
        remove_tree(folders[0]);
        must(mkdir(folders[0], 0700) == 0, folders[0]);
        in_cache(path, sizeof path, "kernels.sqlite");
        write_blob(path, &good, 0600);
        weapons[i]();
        if (use_without_care() != FOREIGN)
            return false;
    }
    return true;
}

int main(void)
{
    const int rounds = getenv("KILN_SOAK") ? 4000 : 300;
    tally t = {0, 0, 0};
    int bad = 0;
    if (geteuid() != 0) {
        fprintf(stderr, "this test takes two users, and root to be them\n");
        return SKIP;
    }
    umask(0);
    prepare();
    if (!weapons_work()) {
        fprintf(stderr, "a planted journal or log changes nothing, even without care\n");
        bad++;
    }
    for (int i = 0; i < rounds && bad < 10; i++)
        bad += !run_round(i, &t);
    printf("%d rounds: %d usable, %d refused, at least %d would have run foreign code\n", rounds, t.usable,
           t.refused, t.caught);
    remove_tree(base);
    kn_blob_free(&good);
    kn_blob_free(&evil);
    free(journal.data);
    kn_blob_free(&log_file);
    return bad || t.usable < rounds / 20 || t.refused < rounds / 20 || t.caught < rounds / 100;
}
