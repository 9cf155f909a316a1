/* compile/host_compiler_search.h - the C++ compiler of the host, and the words by which it is called. */
#ifndef KN_COMPILE_HOST_COMPILER_SEARCH_H
#define KN_COMPILE_HOST_COMPILER_SEARCH_H

#include <limits.h>
#include <string.h>

#include "compile/compiler.h"

typedef struct kn_host_compiler {
    kn_compiler_place place;
    kn_str command; /* the words of KILN_CXX, each ended by a NUL; the first is the program's path */
    int n_words;
    char installation[PATH_MAX]; /* "/usr/" of /usr/bin/g++-12: the folder of the toolchain's own files */
    char environment[33];        /* the hash of the environment that steers it, as its identity has it */
    bool words_reach;            /* the words alone make it read files: "g++ -include x.h" */
} kn_host_compiler;

/* Looked for once a process, unless the search meets a shortage. */
const kn_host_compiler *kn_host_compiler_find(void);

/* The words are adjacent: the next begins behind the NUL of the last. */
static inline const char *kn_host_next_word(const char *word)
{
    return word + strlen(word) + 1;
}

#endif
