// SPDX-License-Identifier: Apache-2.0
// compiler_process_int.h: the mslc child processes: starting, lending to one request at a time,
// ending. The client (compiler_client.c) knows what to say; this knows whom to say it to.
#ifndef INGOT_RUNTIME_COMPILER_PROCESS_INT_H
#define INGOT_RUNTIME_COMPILER_PROCESS_INT_H
#include "abi/protocol.h"
#include "abi/source_files.h"

typedef struct Compiler Compiler;

// Before anything else that takes a lock here or in single_flight_int.h: makes fork() safe.
void compiler_prepare(void);

// A compiler for the caller alone, preferably one that has the library (NULL: no preference),
// started if need be, waiting if all are busy. fresh: one that has done nothing yet (after another
// has died: perhaps of something it did before). background: nobody waits for the answer. NULL and
// *why (malloc'd, for people) if none can be had.
Compiler *compiler_acquire(const unsigned char *library, bool fresh, bool background,
                           int64_t timeout_ns, char **why);
// Sends a request and waits for the answer. files: for the compiler's questions about them, NULL if
// it has none to ask. Anything but MSG_IO_OK: the process is of no use any more, call
// compiler_lost.
MsgIo compiler_ask(Compiler *c, MsgType type, const WireOut *request, SourceFiles *files,
                   int64_t deadline, MsgType *answer, Blob **payload);
void compiler_release(Compiler *c);
// Ends the process and gives it up. Returns how it ended, in a sentence with what it printed last;
// malloc'd, NULL without memory.
char *compiler_lost(Compiler *c, MsgIo io);

bool compiler_knows(const Compiler *c, const unsigned char library[SHA256_BYTES]);
void compiler_learnt(Compiler *c, const unsigned char library[SHA256_BYTES]);
// True if it was built from other sources than this libingot: its results must not be cached.
bool compiler_foreign(const Compiler *c);
// True if the request at hand is its first: what goes wrong is not the fault of an earlier one.
bool compiler_first_request(const Compiler *c);

size_t compiler_list(int *pids, size_t max);
void compiler_count(uint64_t *started, uint64_t *lost);
#endif
