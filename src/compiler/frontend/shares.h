// SPDX-License-Identifier: Apache-2.0
// shares.h: a large library in several processes. Kernels that templates are told to be made of
// do not depend on each other: when the source has been parsed, the process is forked, each part
// makes the code of its share of them and ends, and the first one puts the parts together.
#ifndef INGOT_FRONTEND_SHARES_H
#define INGOT_FRONTEND_SHARES_H
#include "compiler/frontend/frontend_int.h"
#include <sys/types.h>

enum { MAX_SHARES = 4 };

typedef struct Shares { // {0}: the work is not shared
    uint32_t n;         // parts beside the first process; 0: none
    uint32_t number;    // of this process: 0 is the first
    struct {
        pid_t pid; // 0: it has ended
        int fd;    // of the pipe its answer comes from; in the part: where it goes
    } part[MAX_SHARES + 1];
    int alive[2]; // a pipe that the first process holds open as long as the parts shall run
    size_t first_diagnostic, first_repair; // what a part says begins here
    bool *made;                            // the code of this entry point is made in this process
    uint32_t n_made, capacity_made;
} Shares;

// Forks for n kernels, if they are enough of them. How many parts there are hangs on n alone: the
// library is the same on every machine. False: nothing is shared.
bool shares_begin(Shares *s, size_t n, const Diagnoser *g, const Repairs *repairs);
// The kernels of this process.
BridgeShare shares_of(const Shares *s, size_t n);
// An entry point was reflected. False without memory.
bool shares_note(Shares *s, uint32_t function, bool made);
// Of a part, when its module is done: hands over its answer and ends the process.
_Noreturn void shares_answer(const Shares *s, const RfLibrary *lib, const Diagnoser *g,
                             const unsigned char *bitcode, size_t n_bytes);
// Of a part that found repairs: hands these over.
_Noreturn void shares_answer_repairs(const Shares *s, const Repairs *repairs);
// Of a part in which something went wrong: the first process will see it as well, alone.
_Noreturn void shares_give_up(void);
// Of the first process: waits for the parts and adds what they made. The bitcode becomes that of
// all (abi/modules.h). False: one of them found repairs or gave up, or there is no memory.
bool shares_end(Shares *s, RfLibrary *lib, Diagnoser *g, Repairs *repairs, unsigned char **bitcode,
                size_t *n_bytes);
void shares_free(Shares *s); // ends what still runs
#endif
