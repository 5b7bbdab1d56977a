// SPDX-License-Identifier: Apache-2.0
// protocol.h: the messages between libingot (client) and `mslc serve` (server), over a socket pair.
// A message is {u32 magic, u32 type, u64 length} and a payload in wire.h's form. The server speaks
// first (HELLO); then each request gets one answer. A kernel request names its libraries by hash;
// the server answers NEED_LIBRARY if it lacks one, and the client asks again with the bytes.
// While it compiles a library the server asks for the files of #include: it may open none itself.
#ifndef INGOT_ABI_PROTOCOL_H
#define INGOT_ABI_PROTOCOL_H
#include "abi/requests.h"
#include "base/arena.h"
#include "base/blob.h"
#include "base/sha256.h"
#include "base/wire.h"

enum { MSG_VERSION = 6, MSG_FD = 3 }; // MSG_FD: the server's end of the socket pair

typedef enum MsgType {
    MSG_HELLO = 1,       // u32 MSG_VERSION, str compiler id
    MSG_COMPILE_LIBRARY, // msg_put_source
    MSG_LIBRARY,         // msg_put_library
    MSG_COMPILE_KERNEL,  // msg_put_kernel
    MSG_KERNEL,          // msg_put_code
    MSG_NEED_LIBRARY,    // nothing
    MSG_STITCH_LIBRARY,  // msg_put_stitch; the answer is MSG_LIBRARY
    MSG_FIND_FILE,       // str path: the server's question
    MSG_FOUND_FILE,      // msg_put_file
    MSG_BAD_REQUEST,     // str why: a fault in client or server, not in the user's source
} MsgType;

typedef enum MsgIo { MSG_IO_OK, MSG_IO_CLOSED, MSG_IO_TIMEOUT, MSG_IO_BAD, MSG_IO_NO_MEMORY } MsgIo;

// Send or receive one message before `deadline` (CLOCK_MONOTONIC, nanoseconds; INT64_MAX: no
// limit). Works on blocking and non-blocking sockets, never raises SIGPIPE.
MsgIo msg_send(int fd, MsgType type, const WireOut *payload, int64_t deadline);
MsgIo msg_receive(int fd, MsgType *type, Blob **payload, int64_t deadline);
int64_t msg_now(void);

// Requests. What the get functions give lives in the arena (and borrows from the input).
void msg_put_source(WireOut *w, const MslSource *source, const char *cwd);
bool msg_get_source(WireIn *r, BaseArena *a, MslSource *source, const char **cwd);
// A library of a kernel request: the kernel's own first, then one for each part.
typedef struct MsgPart {
    const unsigned char *hash;  // [SHA256_BYTES]
    const unsigned char *bytes; // the container; NULL if the server should have it
    size_t n_bytes;
} MsgPart;
// libraries: [1 + request->n_parts]. Of the request, bitcode and reflection are not read.
void msg_put_kernel(WireOut *w, const MslKernelRequest *request, const MsgPart *libraries);
typedef struct MsgKernel {
    MslKernelRequest request; // without bitcode and reflection, also in its parts
    const MsgPart *libraries; // [1 + request.n_parts]
} MsgKernel;
bool msg_get_kernel(WireIn *r, BaseArena *a, MsgKernel *kernel);

// libraries: [request->n_parts], with their bytes unless they are only to be named.
void msg_put_stitch(WireOut *w, const MslStitchRequest *request, const MsgPart *libraries);
typedef struct MsgStitch {
    MslStitchRequest request; // parts without bitcode and reflection
    const MsgPart *libraries; // [request.n_parts]
} MsgStitch;
bool msg_get_stitch(WireIn *r, BaseArena *a, MsgStitch *stitch);

// What MSG_FIND_FILE found; the decoder's bytes are the caller's.
void msg_put_file(WireOut *w, const MslFile *file);
bool msg_get_file(const Blob *payload, MslFile *file);

// Answers.
typedef struct MsgLibrary {
    bool ok;
    const char *log;
    const MslDiagnostic *diagnostics;
    size_t n_diagnostics;
    const unsigned char *metallib;
    size_t metallib_bytes;
} MsgLibrary;
void msg_put_library(WireOut *w, const MsgLibrary *library);
bool msg_get_library(WireIn *r, BaseArena *a, MsgLibrary *library);

typedef struct MsgCode {
    bool ok;
    const char *error, *log;
    const unsigned char *code;
    size_t code_bytes;
} MsgCode;
void msg_put_code(WireOut *w, const MsgCode *code);
bool msg_get_code(WireIn *r, BaseArena *a, MsgCode *code);
#endif
