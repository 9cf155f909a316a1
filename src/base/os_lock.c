/* base/os_lock.c - locks on files, among processes. */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Locks of the open file, not of the process: two threads exclude each other too, and closing another
 * descriptor of the same file gives nothing back. Where the system has none of them flock does, for the whole
 * file. */
static int try_lock(int fd, int64_t offset)
{
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = offset < 0 ? 0 : offset,
                          .l_len = offset < 0 ? 0 : 1};
    int rc;
#ifdef F_OFD_SETLK
    rc = fcntl(fd, F_OFD_SETLK, &range);
    if (rc == 0 || errno != EINVAL)
        return rc;
#endif
    rc = flock(fd, LOCK_EX | LOCK_NB);
    return rc;
}

static bool is_worth_waiting(void)
{
    return errno == EAGAIN || errno == EACCES || errno == EINTR;
}

static void sleep_ms(int ms)
{
    struct timespec left = {ms / 1000, (ms % 1000) * 1000000L};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

/* Nothing but a plain file: opening a pipe or a device may wait, or do something. */
static int open_lock_file(const char *path)
{
    struct stat info;
    int fd = kn_os_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
    if (fd < 0 || (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)))
        return fd;
    close(fd);
    return -1;
}

bool kn_os_lock_file_at(kn_os_lock *lock, const char *path, int64_t offset, int timeout_ms)
{
    double end = kn_os_now_ms() + timeout_ms;
    int fd = open_lock_file(path);
    lock->fd = -1;
    if (fd < 0)
        return false;
    for (int pause = 1; try_lock(fd, offset) != 0; pause = pause < 25 ? pause * 2 : 25) {
        if (!is_worth_waiting() || kn_os_now_ms() >= end) {
            close(fd);
            return false;
        }
        sleep_ms(pause);
    }
    lock->fd = fd;
    return true;
}

bool kn_os_lock_file(kn_os_lock *lock, const char *path, int timeout_ms)
{
    return kn_os_lock_file_at(lock, path, -1, timeout_ms);
}

/* A forked child may share the open file: unlocking says more than closing would. */
void kn_os_unlock_file(kn_os_lock *lock)
{
    if (!lock || lock->fd < 0)
        return;
#ifdef F_OFD_SETLK
    struct flock all = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
    (void)fcntl(lock->fd, F_OFD_SETLK, &all);
#endif
    (void)flock(lock->fd, LOCK_UN);
    close(lock->fd);
    lock->fd = -1;
}
