// SPDX-License-Identifier: Apache-2.0
// confine.h: a process gives up what it will not need. What is given up does not come back, for it
// or for its children. Each part holds where the kernel has it; the others hold without it.
#ifndef INGOT_OS_CONFINE_H
#define INGOT_OS_CONFINE_H
#include <stdbool.h>
#include <stddef.h>

typedef struct OsConfine {
    // Landlock: the files that can be opened from now on, by name; those open stay open. NULL
    // paths are skipped.
    bool files;              // false: all of them
    const char *const *read; // files, and folders with all in them
    size_t n_read;
    const char *const *write; // folders: files in them are also made, written and removed
    size_t n_write;
    int landlock; // at most this version, as older systems have it; 0: the newest there is
    // seccomp: no sockets, no signals to others, no programs, no new code in memory, no other
    // processes' memory; of the system's calls only those that computing, files, threads and forks
    // need. Forked children cannot even send themselves one.
    bool calls;
} OsConfine;

typedef enum OsConfined {       // what holds
    OS_CONFINED_PRIVILEGES = 1, // no program gives it more rights
    OS_CONFINED_FILES = 2,
    OS_CONFINED_CALLS = 4,
} OsConfined;

// Of the calling thread and of those it makes: to be called before there are others.
unsigned os_confine(const OsConfine *how);
// "Landlock 7, seccomp, no new privileges"
void os_confined_text(unsigned confined, char *text, size_t n);
#endif
