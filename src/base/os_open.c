/* base/os_open.c - opens every descriptor of the library.
 *
 * A program may have closed its standard output: the next descriptor that is opened is number 1, and gets the
 * program's output. So none of ours is 0, 1 or 2. tools/check_layers refuses open and its like anywhere else.
 */
#include "base/os.h"
#include "base/shortage.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FIRST_OF_OURS = STDERR_FILENO + 1 };

int kn_os_copy_descriptor(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_OF_OURS);
    kn_shortage_unless(copy >= 0);
    return copy;
}

static int move_descriptor(int fd)
{
    if (!kn_shortage_unless(fd >= 0) || fd >= FIRST_OF_OURS)
        return fd;
    int moved = kn_os_copy_descriptor(fd), reason = errno;
    close(fd);
    errno = reason;
    return moved;
}

int kn_os_open(const char *path, int flags, unsigned mode)
{
    return move_descriptor(open(path, flags | O_CLOEXEC, (mode_t)mode));
}

int kn_os_open_at(int folder, const char *name, int flags)
{
    return move_descriptor(openat(folder, name, flags | O_CLOEXEC));
}

DIR *kn_os_open_folder(const char *path)
{
    int fd = kn_os_open(path, O_RDONLY | O_DIRECTORY, 0);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    if (!folder && fd >= 0)
        close(fd);
    return folder;
}

bool kn_os_open_pipe(int ends[2])
{
    if (!kn_shortage_unless(pipe2(ends, O_CLOEXEC) == 0))
        return false;
    ends[0] = move_descriptor(ends[0]);
    ends[1] = move_descriptor(ends[1]);
    if (ends[0] >= 0 && ends[1] >= 0)
        return true;
    int reason = errno;
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    errno = reason;
    return false;
}

int kn_os_open_memory(const char *label)
{
    return move_descriptor(memfd_create(label, MFD_CLOEXEC));
}
