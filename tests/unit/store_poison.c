/* Compilers that report success and write rubbish, and rows that hold it: nothing is stored that was not
 * loaded, nothing is shown to a loader that is not whole, and what does not load is made anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <kiln/cache.h>

#include "base/elf.h"
#include "base/error.h"
#include "store/build.h"
#include "cache/cache.h"
#include "host_function.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256], script[300];

/* The object "$out" that the compiler wrote with success, after DAMAGE. */
static const char compiler[] =
    "#!/bin/sh\n"
    "${REAL_CXX:-c++} \"$@\" || exit\n"
    "out=\n"
    "while [ $# -gt 1 ]; do [ \"$1\" = -o ] && out=$2; shift; done\n"
    "[ -f \"$out\" ] && [ -n \"$DAMAGE\" ] || exit 0\n"
    "cut() { head -c \"$1\" \"$out\" >\"$out.cut\" && mv \"$out.cut\" \"$out\"; }\n"
    "byte() { printf \"$2\" | dd of=\"$out\" bs=1 seek=\"$1\" conv=notrunc 2>/dev/null; }\n"
    "other() { printf '%s' \"$1\" | ${REAL_CXX:-c++} -shared -fPIC -x c++ - -o \"$out\"; }\n"
    "case $DAMAGE in\n"
    "empty) : >\"$out\" ;;\n"
    "text) echo hello >\"$out\" ;;\n"
    "head) cut 63 ;;\n"
    "quarter) cut $(($(wc -c <\"$out\") / 4)) ;;\n"
    "half) cut $(($(wc -c <\"$out\") / 2)) ;;\n"
    "tail) cut -1 ;;\n"
    "machine) byte 18 '\\001' ;;\n"
    "class) byte 4 '\\001' ;;\n"
    "type) byte 16 '\\001' ;;\n"
    "entry) other '' ;;\n"
    "symbol) other 'int nowhere(); extern \"C\" int kiln_adder() { return nowhere(); }' ;;\n"
    "esac\n";

/* The first cannot be stored by anybody; the last two are whole, and only loading them shows it. */
static const char *const damages[] = {"empty", "text",    "head", "quarter", "half",  "tail",
                                      "class", "machine", "type", "entry",   "symbol"};
enum { DAMAGES = sizeof damages / sizeof *damages, WHOLE_BUT_USELESS = 2 };

static int begin_group(void **state)
{
    const char *real = getenv("KILN_CXX");
    (void)state;
    if (real)
        setenv("REAL_CXX", real, 1);
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return 1;
    chmod(folder, 0755);
    snprintf(script, sizeof script, "%s/compiler", folder);
    if (kn_os_write_file(script, compiler, sizeof compiler - 1) != KILN_OK || chmod(script, 0755) != 0)
        return 1;
    return setenv("KILN_CXX", script, 1);
}

static int end_group(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

static char place[300], file[320];

static int set_up(void **state)
{
    (void)state;
    snprintf(place, sizeof place, "%s/cache", folder);
    snprintf(file, sizeof file, "%s/kernels.sqlite", place);
    setenv("KILN_CACHE_DIR", place, 1);
    unsetenv("DAMAGE");
    kn_build_shutdown();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    kn_build_shutdown();
    chmod(place, 0700);
    kn_os_remove_folder(place);
    return access(place, F_OK) == 0;
}

static kiln_status write_adder(kn_str *source, kn_compile_request *compile, const kn_compile_job *job)
{
    (void)job, (void)compile;
    kn_str_append(source, "extern \"C\" __attribute__((visibility(\"default\"))) void kiln_adder(const void "
                          "*args, long long, long long)\n{ **(int *const *)args += 5; }\n");
    return KILN_OK;
}

static char what[128];

static kn_compile_job job(void)
{
    kn_compile_job s = {.name = "adder", .entry = "kiln_adder", .write = write_adder};
    char target[48];
    kn_target_host(&s.target);
    kn_target_format(&s.target, target, sizeof target);
    snprintf(what, sizeof what, "target=\"%s\"", target);
    s.what = (kn_str){.data = what, .length = strlen(what)};
    return s;
}

static void expect_right(kn_function *function)
{
    assert_int_equal(run_on_host(function, 100), 105);
}

/* Where a function that works came from; KILN_ORIGIN_NONE with an error that says something. */
static kiln_origin find(void)
{
    const kn_compile_job adder = job();
    const kn_build_request r = {.job = &adder};
    kn_build_info info = {0};
    kn_function *function = NULL;
    if (kn_build_function(&function, &r, host(), &info) != KILN_OK) {
        assert_null(function);
        assert_non_null(strstr(kiln_error_message(), "adder"));
        return KILN_ORIGIN_NONE;
    }
    expect_right(function);
    return info.origin;
}

static int entries(void)
{
    kiln_cache_stats s = KILN_CACHE_STATS_INIT;
    assert_int_equal(kiln_cache_get_stats(&s), KILN_OK);
    assert_int_equal(s.errors, 0);
    return (int)s.entries;
}

/* As processes that come later. */
static void expect_it_from_disk(void)
{
    for (int i = 0; i < 2; i++) {
        kn_build_shutdown();
        assert_int_equal(find(), KILN_ORIGIN_DISK);
    }
    assert_int_equal(entries(), 1);
    KILN_IGNORE(kiln_cache_clear(NULL));
    kn_build_shutdown();
}

static void what_does_not_load_is_not_stored(void **state)
{
    (void)state;
    for (int i = 0; i < DAMAGES; i++) {
        setenv("DAMAGE", damages[i], 1);
        assert_int_equal(find(), KILN_ORIGIN_NONE);
        assert_int_equal(entries(), 0);
        unsetenv("DAMAGE");
        assert_int_equal(find(), KILN_ORIGIN_COMPILER);
        expect_it_from_disk();
    }
}

/* For another machine: nothing is loaded, and what is stored is whole at least. */
static void what_is_not_whole_is_not_stored(void **state)
{
    const kn_compile_job adder = job();
    const kn_build_request r = {.job = &adder};
    (void)state;
    for (int i = 0; i < DAMAGES; i++) {
        kn_blob code = KN_BLOB_INIT;
        bool is_whole = i >= DAMAGES - WHOLE_BUT_USELESS;
        setenv("DAMAGE", damages[i], 1);
        assert_int_equal(kn_build_code(&code, &r, NULL) == KILN_OK, is_whole);
        assert_int_equal(entries(), is_whole);
        kn_blob_free(&code);
        unsetenv("DAMAGE");
        kn_build_shutdown();
        assert_int_equal(find(), KILN_ORIGIN_COMPILER);
        expect_it_from_disk();
    }
}

/* The code of the compiler in some state of damage, stored as if it were good. */
static void store(const char *damage)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_str source = KN_STR_INIT;
    const kn_compile_job adder = job();
    kn_compile_request compile = {.target = adder.target, .name = "adder"};
    kn_cache *cache = kn_cache_create(place, false);
    assert_int_equal(write_adder(&source, &compile, NULL), KILN_OK);
    compile.source = kn_str_text(&source);
    setenv("DAMAGE", damage, 1);
    assert_int_equal(kn_compile(&result, &compile), KILN_OK);
    unsetenv("DAMAGE");
    kn_cache_put(cache, what, strlen(what), kn_compile_identity(KN_HOST), &result.code, NULL);
    kn_cache_free(cache);
    kn_compile_result_free(&result);
    kn_str_free(&source);
}

static void rows_that_do_not_load_are_made_anew(void **state)
{
    (void)state;
    for (int i = 0; i < DAMAGES; i++) {
        store(damages[i]);
        assert_int_equal(find(), KILN_ORIGIN_COMPILER);
        expect_it_from_disk();
    }
}

/* Without any right to write the row stays where it is, and the process goes on without it. */
static int find_twice(void)
{
    if (geteuid() == 0 && (setgid(12345) != 0 || setuid(12345) != 0))
        return 9;
    for (int i = 0; i < 2; i++)
        if (find() != (i ? KILN_ORIGIN_MEMORY : KILN_ORIGIN_COMPILER))
            return 1;
    return 0;
}

static void rows_that_cannot_be_replaced(void **state)
{
    (void)state;
    for (int i = 0; i < DAMAGES; i++) {
        int code = 0;
        pid_t child;
        store(damages[i]);
        assert_int_equal(chmod(file, 0444), 0);
        assert_int_equal(chmod(place, 0555), 0);
        child = fork();
        if (child == 0)
            _exit(find_twice());
        assert_int_equal(waitpid(child, &code, 0), child);
        if (code)
            fail_msg("%s: state %x", damages[i], (unsigned)code);
        assert_int_equal(chmod(place, 0700), 0);
        unlink(file);
    }
}

/* ---- the check itself ---- */

static kiln_status check(const unsigned char *data, size_t size, kn_elf_kind kind)
{
    unsigned char *copy = malloc(size ? size : 1); /* to its size, so that a sanitizer sees what is read */
    assert_non_null(copy);
    memcpy(copy, data, size);
    kiln_status status = kn_elf_check(copy, size, kind, "it");
    free(copy);
    return status;
}

static void compile_adder(kn_compile_result *result)
{
    kn_str source = KN_STR_INIT;
    kn_compile_request compile = {.target = job().target, .name = "adder"};
    assert_int_equal(write_adder(&source, &compile, NULL), KILN_OK);
    compile.source = kn_str_text(&source);
    assert_int_equal(kn_compile(result, &compile), KILN_OK);
    kn_str_free(&source);
}

static void every_truncation_is_found(void **state)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    (void)state;
    compile_adder(&result);
    assert_int_equal(check(result.code.data, result.code.size, KN_ELF_SHARED_OBJECT), KILN_OK);
    assert_int_equal(check(result.code.data, result.code.size, KN_ELF_CUBIN), KILN_ERROR_FORMAT);
    for (size_t size = 0; size < result.code.size; size++)
        assert_int_equal(check(result.code.data, size, KN_ELF_SHARED_OBJECT), KILN_ERROR_FORMAT);
    kn_compile_result_free(&result);
}

/* ---- damaged objects ---- */

/* Places where a byte means something to machine code alone, or to where a pointer leads: no check without a
 * checksum tells. */
static bool is_opaque(const unsigned char *data, size_t at)
{
    Elf64_Ehdr head;
    memcpy(&head, data, sizeof head);
    for (unsigned i = 0; i < head.e_shnum; i++) {
        Elf64_Shdr s;
        memcpy(&s, data + head.e_shoff + i * sizeof s, sizeof s);
        bool is_one = s.sh_type == SHT_RELA || (s.sh_type == SHT_PROGBITS && s.sh_flags & SHF_ALLOC);
        if (is_one && at >= s.sh_offset && at - s.sh_offset < s.sh_size)
            return true;
    }
    return false;
}

static unsigned next_random(unsigned *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Zeros to the end, a few bytes, a run of zeros, or a number of 8 bytes. */
static void damage(unsigned char *copy, const unsigned char *data, size_t size, unsigned *seed)
{
    unsigned how = next_random(seed) % 4;
    size_t at = next_random(seed) % size, length = how == 0 ? size - at : 1 + next_random(seed) % 64;
    memcpy(copy, data, size);
    if (how == 0)
        memset(copy + at, 0, length);
    for (size_t k = at; how == 2 && k < size && k < at + length; k++)
        copy[k] = is_opaque(data, k) ? copy[k] : 0;
    for (unsigned k = 0; how == 1 && k < 1 + length % 4; k++, at = next_random(seed) % size)
        copy[at] = is_opaque(data, at) ? copy[at] : (unsigned char)next_random(seed);
    uint64_t number = (uint64_t)next_random(seed) % (2 * size) << (next_random(seed) % 2 ? 0 : 40);
    at &= ~(size_t)7;
    if (how == 3 && at + sizeof number <= size && !is_opaque(data, at))
        memcpy(copy + at, &number, sizeof number);
}

static int load_damaged(const unsigned char *data, size_t size, unsigned seed, int rounds)
{
    unsigned char *copy = malloc(size); /* to its size, so that a sanitizer sees what is read */
    for (int round = 0; round < rounds; round++) {
        kn_library *library = NULL;
        damage(copy, data, size, &seed);
        if (kn_os_library_open_memory(&library, copy, size, "damaged") == KILN_OK)
            kn_os_library_close(library);
    }
    free(copy);
    return 0;
}

/* In processes of their own, which have to live. */
static void damaged_objects_end_no_process(void **state)
{
    enum { BATCH = 100 };
    const int batches = getenv("KILN_SOAK") ? 200 : 5;
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    (void)state;
    compile_adder(&result);
    for (int b = 0; b < batches; b++) {
        int code = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(load_damaged(result.code.data, result.code.size, (unsigned)b * 977 + 1, BATCH));
        assert_int_equal(waitpid(child, &code, 0), child);
        if (code)
            fail_msg("batch %d: state %x", b, (unsigned)code);
    }
    kn_compile_result_free(&result);
}

/* An object of the right size whose end was never written, whatever part of it. */
static void every_missing_end_is_found(void **state)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    enum { LEFT_OVER = 32 }; /* of the last header what says nothing of the last section */
    (void)state;
    compile_adder(&result);
    size_t size = result.code.size;
    unsigned char *copy = malloc(size);
    memcpy(copy, result.code.data, size);
    for (size_t at = size; at-- > 0;) {
        copy[at] = 0;
        if (size - at > LEFT_OVER)
            assert_int_equal(check(copy, size, KN_ELF_SHARED_OBJECT), KILN_ERROR_FORMAT);
    }
    free(copy);
    kn_compile_result_free(&result);
}

/* ---- one field at a time ---- */

/* The first or last segment of a type; its header is changed in place. */
static Elf64_Phdr *segment_of(unsigned char *data, unsigned type, bool is_last)
{
    Elf64_Ehdr head;
    Elf64_Phdr *found = NULL;
    memcpy(&head, data, sizeof head);
    for (unsigned i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr *s = (Elf64_Phdr *)(void *)(data + head.e_phoff + i * sizeof *s);
        if (s->p_type == type && (!found || is_last))
            found = s;
    }
    return found;
}

static void each_field_of_segments_is_checked(void **state)
{
#define FIELD(member) offsetof(Elf64_Phdr, member), sizeof(((Elf64_Phdr *)NULL)->member)
    static const struct {
        const char *what;
        unsigned type;
        bool is_last, is_good;
        size_t at, size;
        uint64_t value;
    } cases[] = {
        {"ends beyond all addresses", PT_LOAD, true, false, FIELD(p_memsz), UINT64_C(1) << 47},
        {"ends before that", PT_LOAD, true, true, FIELD(p_memsz), UINT64_C(1) << 46},
        {"wraps around", PT_LOAD, true, false, FIELD(p_memsz), UINT64_MAX},
        {"ends in the next", PT_LOAD, false, false, FIELD(p_memsz), 1 << 28},
        {"cannot be read", PT_LOAD, false, false, FIELD(p_flags), 0},
        {"no power of two", PT_LOAD, true, false, FIELD(p_align), 4096 + 8},
        {"at another place of its page", PT_LOAD, true, false, FIELD(p_align), UINT64_C(1) << 40},
        {"no alignment", PT_LOAD, true, true, FIELD(p_align), 0},
        {"any alignment", PT_LOAD, true, true, FIELD(p_align), 1},
        {"larger in memory", PT_NOTE, false, false, FIELD(p_memsz), 1 << 10},
        {"not in the file", PT_NOTE, false, false, FIELD(p_vaddr), 1 << 28},
        {"ends in a page", PT_GNU_RELRO, false, false, FIELD(p_memsz), 1},
        {"not in memory", PT_GNU_RELRO, false, false, FIELD(p_vaddr), 1 << 28},
        {"a program's", PT_GNU_RELRO, false, false, FIELD(p_type), PT_INTERP},
        {"larger in the file", PT_GNU_RELRO, false, false, FIELD(p_type), PT_TLS},
        {"no segment of the loader's", PT_GNU_RELRO, false, true, FIELD(p_type), PT_LOOS},
        {"no dynamic section", PT_DYNAMIC, false, false, FIELD(p_type), PT_NULL},
        {"not where it is loaded", PT_DYNAMIC, false, false, FIELD(p_vaddr), 8},
        {"without an end", PT_DYNAMIC, false, false, FIELD(p_filesz), 2 * sizeof(Elf64_Dyn)},
    };
#undef FIELD
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    int tried = 0;
    (void)state;
    compile_adder(&result);
    unsigned char *copy = malloc(result.code.size);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memcpy(copy, result.code.data, result.code.size);
        Elf64_Phdr *segment = segment_of(copy, cases[k].type, cases[k].is_last);
        if (!segment)
            continue; /* another linker's object */
        tried++;
        if (cases[k].value == PT_TLS && cases[k].size == 4)
            segment->p_memsz = segment->p_filesz - 1;
        memcpy((char *)segment + cases[k].at, &cases[k].value, cases[k].size);
        if ((check(copy, result.code.size, KN_ELF_SHARED_OBJECT) == KILN_OK) != cases[k].is_good)
            fail_msg("segment of type %x, %s: %s", cases[k].type, cases[k].what,
                     cases[k].is_good ? "refused" : "taken");
    }
    assert_true(tried >= 9);
    free(copy);
    kn_compile_result_free(&result);
}

/* Each entry with values that no linker gives it, twice, and with a tag that no linker writes. */
static void each_entry_of_the_dynamic_section_is_checked(void **state)
{
    static const uint64_t values[] = {UINT64_MAX, UINT64_C(1) << 46};
    static const int64_t free_of_meaning[] = {DT_FLAGS, DT_FLAGS_1, DT_PLTGOT};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    int tried = 0;
    (void)state;
    compile_adder(&result);
    unsigned char *copy = malloc(result.code.size);
    memcpy(copy, result.code.data, result.code.size);
    Elf64_Phdr *segment = segment_of(copy, PT_DYNAMIC, false);
    Elf64_Dyn *entry = (Elf64_Dyn *)(void *)(copy + segment->p_offset);
    for (; entry->d_tag != DT_NULL; entry++, tried++) {
        const Elf64_Dyn before = *entry, next = entry[1];
        bool is_free = false;
        for (size_t k = 0; k < sizeof free_of_meaning / sizeof *free_of_meaning; k++)
            is_free = is_free || before.d_tag == free_of_meaning[k];
        for (size_t k = 0; k < sizeof values / sizeof *values && !is_free; k++) {
            entry->d_un.d_val = values[k];
            if (check(copy, result.code.size, KN_ELF_SHARED_OBJECT) == KILN_OK)
                fail_msg("entry %lx: %llx is taken\n", (long)before.d_tag, (unsigned long long)values[k]);
        }
        *entry = before;
        entry->d_tag = 0x12345678;
        if (check(copy, result.code.size, KN_ELF_SHARED_OBJECT) == KILN_OK)
            fail_msg("entry %lx: an unknown tag is taken\n", (long)before.d_tag);
        *entry = before;
        entry[1] = before;
        if (next.d_tag != DT_NULL && before.d_tag != DT_NEEDED &&
            check(copy, result.code.size, KN_ELF_SHARED_OBJECT) == KILN_OK)
            fail_msg("entry %lx is taken twice\n", (long)before.d_tag);
        entry[1] = next;
    }
    assert_true(tried >= 5);
    assert_int_equal(check(copy, result.code.size, KN_ELF_SHARED_OBJECT), KILN_OK);
    free(copy);
    kn_compile_result_free(&result);
}

/* A cubin as ptxas lays them out: sections, their headers, a segment's header. */
typedef struct cubin {
    Elf64_Ehdr head;
    unsigned char code[64];
    char names[8];
    Elf64_Shdr sections[5];
    Elf64_Phdr segment;
} cubin;

static cubin make_cubin(void)
{
    cubin c;
    memset(&c, 0, sizeof c);
    memcpy(c.head.e_ident, ELFMAG "\2\1\1\x41", 8);
    c.head.e_type = ET_EXEC;
    c.head.e_machine = 190;
    c.head.e_phoff = offsetof(cubin, segment);
    c.head.e_phnum = 1;
    c.head.e_phentsize = sizeof c.segment;
    c.head.e_shoff = offsetof(cubin, sections);
    c.head.e_shnum = 5;
    c.head.e_shstrndx = 4;
    memcpy(c.names, "\0.text", 7);
    c.head.e_shentsize = sizeof c.sections[0];
    c.sections[1] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_offset = offsetof(cubin, code), .sh_size = 64};
    c.sections[2] =
        (Elf64_Shdr){.sh_type = SHT_NOBITS, .sh_offset = offsetof(cubin, code), .sh_size = 1 << 20};
    c.sections[3] = (Elf64_Shdr){.sh_type = SHT_LOPROC + 10, .sh_offset = 64, .sh_size = 1 << 20};
    c.sections[4] = (Elf64_Shdr){.sh_type = SHT_STRTAB, .sh_offset = offsetof(cubin, names), .sh_size = 8};
    c.segment = (Elf64_Phdr){
        .p_type = PT_LOAD, .p_offset = offsetof(cubin, code), .p_filesz = 64, .p_memsz = 1 << 20};
    return c;
}

static void cubins_are_checked(void **state)
{
    cubin c = make_cubin(), bad;
    const uint64_t far[] = {sizeof c + 1, UINT64_MAX, UINT64_MAX - 60, 1ULL << 63};
    (void)state;
    assert_int_equal(check((void *)&c, sizeof c, KN_ELF_CUBIN), KILN_OK);
    for (size_t size = 0; size < sizeof c; size++)
        assert_int_equal(check((void *)&c, size, KN_ELF_CUBIN), KILN_ERROR_FORMAT);
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        uint64_t *const fields[] = {&bad.head.e_phoff,          &bad.head.e_shoff,
                                    &bad.sections[1].sh_offset, &bad.sections[1].sh_size,
                                    &bad.segment.p_offset,      &bad.segment.p_filesz};
        for (size_t k = 0; k < sizeof fields / sizeof *fields; k++) {
            bad = c;
            *fields[k] = far[i];
            assert_int_equal(check((void *)&bad, sizeof bad, KN_ELF_CUBIN), KILN_ERROR_FORMAT);
        }
        bad = c; /* more sections than the header can count */
        bad.head.e_shnum = 0;
        bad.sections[0].sh_size = far[i];
        assert_int_equal(check((void *)&bad, sizeof bad, KN_ELF_CUBIN), KILN_ERROR_FORMAT);
    }
}

/* Whatever stands in the headers: an answer, and nothing outside is read. */
static void random_headers(void **state)
{
    unsigned seed = 7;
    int good = 0;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        cubin c = make_cubin();
        for (int i = 0; i < 3; i++) {
            seed = seed * 1664525 + 1013904223;
            ((unsigned char *)&c)[(seed >> 8) % sizeof c] = (unsigned char)(seed >> 24);
        }
        good += check((void *)&c, sizeof c, KN_ELF_CUBIN) == KILN_OK;
    }
    assert_in_range(good, 1000, 19000);
}

int main(void)
{
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        WITH_CACHE(what_does_not_load_is_not_stored),
        WITH_CACHE(what_is_not_whole_is_not_stored),
        WITH_CACHE(rows_that_do_not_load_are_made_anew),
        WITH_CACHE(rows_that_cannot_be_replaced),
        WITH_CACHE(every_truncation_is_found),
        WITH_CACHE(every_missing_end_is_found),
        WITH_CACHE(damaged_objects_end_no_process),
        WITH_CACHE(each_field_of_segments_is_checked),
        WITH_CACHE(each_entry_of_the_dynamic_section_is_checked),
        cmocka_unit_test(cubins_are_checked),
        cmocka_unit_test(random_headers),
    };
    return cmocka_run_group_tests(tests, begin_group, end_group);
}
