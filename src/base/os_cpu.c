/* base/os_cpu.c - the processors' number, name, architecture and affinity. */
#include "base/os.h"
#include "base/alloc.h"
#include "base/shortage.h"

#include <sched.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

/* A small file of /proc or /sys, cut to size. */
static bool read_small(char *out, size_t size, const char *path)
{
    int fd = kn_os_open(path, O_RDONLY, 0);
    if (fd < 0)
        return false;
    ssize_t n = kn_os_read_full(fd, out, size - 1);
    close(fd);
    out[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* ---- how many processors ---- */

static int affinity_count(void)
{
    for (int limit = 1024; limit <= 1 << 17; limit *= 4) {
        size_t size = CPU_ALLOC_SIZE((size_t)limit);
        cpu_set_t *set = CPU_ALLOC((size_t)limit);
        int count = -1;
        if (!set) {
            kn_shortage_note(ENOMEM);
            return 1;
        }
        if (sched_getaffinity(0, size, set) == 0)
            count = CPU_COUNT_S(size, set);
        CPU_FREE(set);
        if (count > 0)
            return count;
    }
    return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* The quota in processors, or a large number without a limit. */
static double quota(double limit, double period)
{
    return limit > 0 && period > 0 ? limit / period : 1e9;
}

static double quota_v2(const char *group)
{
    char path[4400], text[128];
    double limit = 0, period = 0;
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
    if (!read_small(text, sizeof text, path) || sscanf(text, "%lf %lf", &limit, &period) != 2)
        return 1e9; /* "max 100000" among them */
    return quota(limit, period);
}

static double quota_v1(const char *group)
{
    static const char *const folders[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    for (int i = 0; i < 2; i++) {
        char path[4400], text[64];
        double limit;
        snprintf(path, sizeof path, "%s%s/cpu.cfs_quota_us", folders[i], group);
        if (!read_small(text, sizeof text, path))
            continue;
        limit = atof(text);
        snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", folders[i], group);
        return read_small(text, sizeof text, path) ? quota(limit, atof(text)) : 1e9;
    }
    return 1e9;
}

/* The tightest limit of a group and all above it. */
static double tightest(char *group, double (*read_quota)(const char *))
{
    double least = 1e9;
    for (;;) {
        double here = read_quota(strcmp(group, "/") ? group : "");
        char *slash = strrchr(group, '/');
        if (here < least)
            least = here;
        if (!slash || group[0] == 0)
            return least;
        *slash = 0;
    }
}

static bool names_cpu(const char *controllers)
{
    const char *p = strstr(controllers, "cpu");
    for (; p; p = strstr(p + 1, "cpu"))
        if ((p == controllers || p[-1] == ',') && (p[3] == ',' || p[3] == 0))
            return true;
    return false;
}

/* Lines "id:controllers:/path"; version 2 has no controllers there. */
static double cgroup_quota(void)
{
    char text[8192], *save = NULL;
    double least = 1e9;
    if (!read_small(text, sizeof text, "/proc/self/cgroup"))
        return least;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        double here = 1e9;
        if (!group || strlen(group) > 4096)
            continue;
        *group++ = 0;
        if (controllers[1] == 0)
            here = tightest(group, quota_v2);
        else if (names_cpu(controllers + 1))
            here = tightest(group, quota_v1);
        if (here < least)
            least = here;
    }
    return least;
}

int kn_os_cpu_count(void)
{
    int count = affinity_count();
    double share = cgroup_quota();
    if (share < count)
        count = (int)share + (share > (int)share); /* half a processor is still one thread */
    return count > 0 ? count : 1;
}

/* ---- where a thread runs ---- */

int kn_os_cpu_current(void)
{
    return sched_getcpu();
}

bool kn_os_cpu_avoid(kn_os_cpus *out, int cpu)
{
    cpu_set_t allowed;
    if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
        !CPU_ISSET(cpu, &allowed) || CPU_COUNT(&allowed) < 2)
        return false;
    out->before = out->now = allowed;
    CPU_CLR(cpu, &out->now);
    return sched_setaffinity(0, sizeof out->now, &out->now) == 0;
}

void kn_os_cpu_return(const kn_os_cpus *cpus)
{
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_EQUAL(&allowed, &cpus->now))
        (void)sched_setaffinity(0, sizeof cpus->before, &cpus->before);
}

/* ---- which processor ---- */

void kn_os_cpu_name(char *out, size_t size)
{
    struct utsname system;
    char text[4096]; /* the first processor's */
    bool is_read = read_small(text, sizeof text, "/proc/cpuinfo");
    const char *name = is_read ? strstr(text, "model name") : NULL;
    name = name ? strchr(name, ':') : NULL;
    if (name)
        name += 1 + strspn(name + 1, " \t");
    else
        name = uname(&system) == 0 ? system.machine : "unknown";
    snprintf(out, size, "%.*s", (int)strcspn(name, "\n"), name);
}

#if defined(__x86_64__)
/* The builtins ask the system too whether it saves the wide registers; the three features that they do not
 * all know are read directly. */
static bool has_v3_extras(void)
{
    unsigned a, b, c, d, extended = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid(0x80000001, &a, &b, &extended, &d))
        return false;
    return (c & bit_F16C) && (c & bit_MOVBE) && (extended & bit_LZCNT);
}

static bool has_v2(void)
{
    return __builtin_cpu_supports("sse3") && __builtin_cpu_supports("ssse3") &&
           __builtin_cpu_supports("sse4.1") && __builtin_cpu_supports("sse4.2") &&
           __builtin_cpu_supports("popcnt");
}

static bool has_v3(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma") && has_v3_extras();
}

static bool has_v4(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

const char *kn_os_cpu_architecture(void)
{
    __builtin_cpu_init();
    if (!has_v2())
        return "x86-64";
    if (!has_v3())
        return "x86-64-v2";
    return has_v4() ? "x86-64-v4" : "x86-64-v3";
}
#elif defined(__aarch64__)
const char *kn_os_cpu_architecture(void)
{
    /* Features that 8.1 and 8.2 made mandatory: atomics, rounding doubling multiplies, cache maintenance to
     * persistence. */
    const unsigned long needed = (1ul << 8) | (1ul << 12) | (1ul << 16);
    return (getauxval(AT_HWCAP) & needed) == needed ? "armv8.2-a" : "armv8-a";
}
#else
#error "kiln knows x86-64 and aarch64"
#endif

size_t kn_os_physical_memory(size_t *available)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (available) {
        char text[2048];
        const char *line =
            read_small(text, sizeof text, "/proc/meminfo") ? strstr(text, "MemAvailable:") : NULL;
        *available =
            line ? (size_t)strtoull(line + 13, NULL, 10) * 1024 : (size_t)sysconf(_SC_AVPHYS_PAGES) * page;
    }
    return (size_t)sysconf(_SC_PHYS_PAGES) * page;
}
