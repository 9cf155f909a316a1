/* base/os_pages.c - ranges of addresses whose pages get memory later. */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/shortage.h"

size_t kn_os_address_limit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? (size_t)limit.rlim_cur
                                                                                : SIZE_MAX;
}

void *kn_os_reserve(size_t size)
{
    void *range =
        kn_alloc_may(size) ? mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (range != MAP_FAILED)
        return range;
    kn_shortage_of_memory(size);
    return NULL;
}

void kn_os_unreserve(void *range, size_t size)
{
    munmap(range, size);
}

bool kn_os_commit(void *pages, size_t size)
{
    if (kn_alloc_may(size) && mprotect(pages, size, PROT_READ | PROT_WRITE) == 0)
        return true;
    kn_shortage_of_memory(size);
    return false;
}

/* Pages that could not be protected stay readable, which is no harm. */
void kn_os_decommit(void *pages, size_t size)
{
    madvise(pages, size, MADV_DONTNEED);
    (void)mprotect(pages, size, PROT_NONE);
}
