/* soon_compiler - the host's compiler (CXX, else g++) for tests of results, whose time is mostly its own:
 * without optimisation, or at SOON_LEVEL where arrays are large. Of 160 sources one, chosen by its text,
 * is compiled as users have it, so that the short tests see what optimisation makes of each sort of kernel,
 * too; in tools/soak all are.
 *
 * Many tests have caches of their own and compile the same texts, a fifth of all. Where COMPILED_FOLDER is
 * there (tools/test makes it anew), what the compiler made of a text without a message is stored there by a
 * hash of the text and the words, and copied the next time. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SHARE = 160, MOST = 4096 };

static int ends_with(const char *word, const char *ending)
{
    size_t length = strlen(word), end = strlen(ending);
    return length >= end && strcmp(word + length - end, ending) == 0;
}

/* FNV-1a of 64 bits. */
static uint64_t hash_byte(uint64_t hash, int c)
{
    return (hash ^ (uint64_t)c) * 1099511628211u;
}

static uint64_t hash_text(const char *text)
{
    uint64_t hash = 14695981039346656037u;
    for (; *text; text++)
        hash = hash_byte(hash, (unsigned char)*text);
    return hash;
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size >= 0 ? calloc((size_t)size + 1, 1) : NULL;
    if (text) {
        rewind(file);
        text[fread(text, 1, (size_t)size, file)] = '\0';
    }
    if (file)
        fclose(file);
    return text;
}

/* The words but for those that name the folder of the source: it is another one at each compile. */
static uint64_t hash_words(uint64_t hash, const char *const *words, const char *folder)
{
    for (; *words; words++)
        for (const char *c = strstr(*words, folder) ? "" : *words;; c++) {
            hash = hash_byte(hash, (unsigned char)*c);
            if (!*c)
                break;
        }
    return hash;
}

/* Runs the compiler; its messages are told on. True where there were none and it succeeded. */
static bool compiles_silently(const char *const *words, int *status)
{
    FILE *messages = tmpfile();
    pid_t child = messages ? fork() : -1;
    if (child == 0) {
        dup2(fileno(messages), STDERR_FILENO);
        execvp(words[0], (char *const *)words);
        perror(words[0]);
        _exit(127);
    }
    if (child < 0)
        return false;
    while (waitpid(child, status, 0) < 0)
        ;
    rewind(messages);
    bool is_silent = true;
    for (int c; (c = getc(messages)) != EOF; is_silent = false)
        putc(c, stderr);
    fclose(messages);
    return is_silent && *status == 0;
}

/* Whole, or not at all: under another name until it ends. */
static bool copies(const char *from, const char *to)
{
    char partial[MOST + 32];
    snprintf(partial, sizeof partial, "%s.%ld", to, (long)getpid());
    FILE *in = fopen(from, "rb"), *out = in ? fopen(partial, "wb") : NULL;
    for (int c; out && (c = getc(in)) != EOF;)
        putc(c, out);
    bool is_whole = out && fflush(out) == 0 && !ferror(out) && !ferror(in);
    if (in)
        fclose(in);
    if (out)
        fclose(out);
    if (out && (!is_whole || rename(partial, to) != 0))
        unlink(partial);
    return is_whole;
}

/* Where what is made of `source` by these words lies from then on; false where there is no such folder, and
 * of texts that include others. */
static bool place_of(char *place, size_t size, const char *source, const char *text, const char *const *words)
{
    char folder[MOST];
    snprintf(folder, sizeof folder, "%.*s", (int)(strrchr(source, '/') - source), source);
    snprintf(place, size, "%s/%016" PRIx64, COMPILED_FOLDER, hash_words(hash_text(text), words, folder));
    return access(COMPILED_FOLDER, W_OK) == 0 && !strstr(text, "#include");
}

int main(int argc, char **argv)
{
    const char *compiler = getenv("CXX"), *level = getenv("SOON_LEVEL"), *words[MOST + 1];
    const char *source = NULL, *made = NULL;
    if (argc > MOST)
        return 2;
    for (int i = 1; i < argc; i++) {
        source = ends_with(argv[i], "/kernel.cpp") ? argv[i] : source;
        made = strcmp(argv[i - 1], "-o") == 0 ? argv[i] : made;
    }
    char *text = source ? read_text(source) : NULL;
    bool is_users = text && hash_text(text) % SHARE == 0;
    level = level && *level ? level : "-O0";
    words[0] = compiler && *compiler ? compiler : "g++";
    for (int i = 1; i < argc; i++)
        words[i] = !is_users && (!strcmp(argv[i], "-O3") || !strcmp(argv[i], "-O1")) ? level : argv[i];
    words[argc] = NULL;

    char place[MOST];
    if (text && made && place_of(place, sizeof place, source, text, words)) {
        int status = 127 << 8;
        if (copies(place, made))
            return 0;
        if (compiles_silently(words, &status))
            copies(made, place);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 127;
    }
    execvp(words[0], (char *const *)words);
    perror(words[0]);
    return 127;
}
