// SPDX-License-Identifier: Apache-2.0
// driver.h: what `mslc serve` and `mslc build` share: where the headers are, the limits the process
// puts on itself, and the step from a source to a metallib.
#ifndef INGOT_COMPILER_DRIVER_H
#define INGOT_COMPILER_DRIVER_H
#include "abi/metallib.h"
#include "base/blob.h"
#include "compiler/compiler.h"

// Folder of our Metal headers: $INGOT_STDLIB, or ../share/ingot/stdlib beside the executable (the
// build tree has a link there). NULL if there is none. malloc'd.
char *driver_stdlib_dir(void);
// Folder for precompiled headers inside the cache folder, created; NULL if it cannot be written.
char *driver_pch_dir(void);
// Folder of those made when the compiler was built or installed, ../share/ingot/pch beside the
// executable; NULL if there is none. malloc'd.
char *driver_shipped_pch_dir(void);
#define DRIVER_NO_MEMORY "out of memory (INGOT_COMPILE_MEMORY_MB sets the limit)"
// No core files; address space limited to $INGOT_COMPILE_MEMORY_MB (8 GiB, or half the machine).
void driver_limits(void);
// Gives up what a compiler does not need (os/confine.h): programs, sockets, new code, and all files
// but these. Every way of compiling comes by here. INGOT_CONFINE=off keeps it all. Returns what
// holds, as OsConfined.
unsigned driver_confine(const char *const *read, size_t n_read, const char *const *write,
                        size_t n_write);
// Runs f on a thread with a stack that suits Clang's recursion and ends the process with its
// result. (The thread does not end by itself: LLVM changes its signal stack, which upsets
// sanitizers; and LLVM's global destructors take their time and do nothing for us.)
_Noreturn void driver_run_deep(int (*f)(void *), void *context);

// Front end and packing. Returns out->ok; the log and the diagnostics are in out either way. The
// container is *metallib (an empty library with check_only); NULL if not ok or without memory.
bool driver_library(const MslSource *source, const char *cwd, MslLibrary *out, Blob **metallib);

// The same for stitched functions; math mode and language are the model's.
bool driver_stitch(const MslStitchRequest *request, const Metallib *model, MslLibrary *out,
                   Blob **metallib);

int serve_main(void);
int build_main(int argc, char **argv);
// `mslc confinement`: says what holds for `mslc serve` on this machine.
int confinement_main(void);
// `mslc precompile`: makes the precompiled headers of every math mode in the shipped folder, so
// that the first compile of a user need not. Exit status 0 or 1.
int precompile_main(void);
int lines_main(int argc, char **argv); // lines.c
#endif
