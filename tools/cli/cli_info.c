/* cli_info.c - `kiln info`: versions, devices, compilers and the cache. */
#include "cli.h"
#include <string.h>

static void print_device_json(cli_json *json, const char *name, const kiln_device_properties *p)
{
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "device", name);
    cli_json_text(json, "name", p->name);
    cli_json_text(json, "architecture", p->architecture);
    cli_json_integer(json, "multiprocessors", p->multiprocessors);
    cli_json_integer(json, "total_memory", (int64_t)p->total_memory);
    cli_json_integer(json, "driver_version", p->driver_version);
    cli_json_close(json, '}');
}

static void print_device_text(kiln_device device, const char *name, const kiln_device_properties *p)
{
    const char *unit = KILN_DEVICE_IS_CUDA(device) ? "multiprocessors" : "threads";
    printf("%s: %s, %s, %d %s, %.1f GiB", name, p->name, p->architecture, p->multiprocessors, unit,
           (double)p->total_memory / (1 << 30));
    if (p->driver_version)
        printf(", driver for CUDA %d.%d", p->driver_version / 1000, p->driver_version % 1000 / 10);
    putchar('\n');
}

static void print_device(cli_json *json, kiln_device device)
{
    char name[16];
    kiln_device_properties properties = KILN_DEVICE_PROPERTIES_INIT;
    kiln_device_name(device, name, sizeof name);
    bool known = kiln_device_get_properties(device, &properties) == KILN_OK;
    if (!known && !json)
        printf("%s: %s\n", name, kiln_error_message());
    else if (json)
        print_device_json(json, name, &properties);
    else
        print_device_text(device, name, &properties);
}

static void print_devices(cli_json *json)
{
    int count = 0;
    const char *why = kiln_device_why_no_cuda();
    KILN_IGNORE(kiln_device_count(&count)); /* the reason for none is printed below */
    if (json)
        cli_json_open(json, "devices", '[');
    for (int i = 0; i < count; i++)
        print_device(json, KILN_DEVICE_CUDA(i));
    print_device(json, KILN_DEVICE_HOST);
    if (json) {
        cli_json_close(json, ']');
        cli_json_text(json, "why_no_cuda", why);
    } else if (*why) {
        printf("cuda: none (%s)\n", why);
    }
}

static void print_compiler(cli_json *json, const char *backend)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    kiln_status status = kiln_toolchain_get_info(backend, &info);
    if (!json) {
        printf("compiler for %s: ", backend);
        printf(status == KILN_OK ? "%s (%s, %s)\n" : "none: %s\n",
               status == KILN_OK ? info.location : kiln_error_message(), info.version, info.identity);
        return;
    }
    cli_json_open(json, NULL, '{');
    cli_json_text(json, "backend", backend);
    cli_json_boolean(json, "present", status == KILN_OK);
    cli_json_text(json, "location", info.location);
    cli_json_text(json, "version", info.version);
    cli_json_text(json, "identity", info.identity);
    if (status != KILN_OK)
        cli_json_text(json, "why", kiln_error_message());
    cli_json_close(json, '}');
}

static void print_compilers(cli_json *json)
{
    if (json)
        cli_json_open(json, "compilers", '[');
    print_compiler(json, "cuda");
    print_compiler(json, "host");
    if (json)
        cli_json_close(json, ']');
}

static void print_cache(cli_json *json)
{
    char path[4096] = "";
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    bool found = kiln_cache_path(path, sizeof path) == KILN_OK && kiln_cache_get_stats(&stats) == KILN_OK;
    if (json) {
        cli_json_open(json, "cache", '{');
        cli_json_text(json, "path", path);
        cli_json_integer(json, "entries", (int64_t)stats.entries);
        cli_json_integer(json, "bytes", (int64_t)stats.bytes);
        cli_json_boolean(json, "writable", stats.writable);
        cli_json_close(json, '}');
    } else if (found) {
        printf("cache: %s, %llu kernels, %llu bytes%s\n", path, (unsigned long long)stats.entries,
               (unsigned long long)stats.bytes, stats.writable ? "" : ", not writable");
    } else {
        printf("cache: none (%s)\n", kiln_error_message());
    }
}

int cli_info_run(const cli_options *options)
{
    cli_json writer = {stdout, false};
    cli_json *json = options->json ? &writer : NULL;
    char target[16] = "none";
    kiln_device current;
    if (kiln_device_current(&current) == KILN_OK)
        kiln_device_name(current, target, sizeof target);
    if (json) {
        cli_json_open(json, NULL, '{');
        cli_json_text(json, "version", kiln_version());
        cli_json_text(json, "target", target);
    } else {
        printf("kiln %s\ntarget: %s\n", kiln_version(), target);
    }
    print_devices(json);
    print_compilers(json);
    print_cache(json);
    if (json) {
        cli_json_finish(json);
    }
    return CLI_OK;
}
