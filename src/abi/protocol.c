// SPDX-License-Identifier: Apache-2.0
// protocol.c: encoding, decoding and transport of the compiler's messages (see protocol.h).
// Decoders check everything: a confused peer gives `false`.
#include "abi/protocol.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define MAGIC 0x434c534du // "MSLC"
#define MAX_BYTES ((uint64_t)1 << 31)
enum { HEADER = 16 };

int64_t msg_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static MsgIo wait_for(int fd, short events, int64_t deadline) {
    for (;;) {
        int timeout = -1;
        if (deadline != INT64_MAX) {
            int64_t left = deadline - msg_now();
            if (left <= 0) return MSG_IO_TIMEOUT;
            timeout = left / 1000000 >= 60000 ? 60000 : (int)((left + 999999) / 1000000);
        }
        struct pollfd p = {.fd = fd, .events = events};
        int n = poll(&p, 1, timeout);
        if (n > 0) return MSG_IO_OK; // an error or a hang-up shows in the call that follows
        if (n < 0 && errno != EINTR) return MSG_IO_CLOSED;
    }
}

static MsgIo send_bytes(int fd, const unsigned char *p, size_t n, int64_t deadline) {
    while (n) {
        ssize_t put = send(fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put > 0) {
            p += put;
            n -= (size_t)put;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            MsgIo io = wait_for(fd, POLLOUT, deadline);
            if (io != MSG_IO_OK) return io;
        } else if (errno != EINTR) {
            return MSG_IO_CLOSED;
        }
    }
    return MSG_IO_OK;
}

static MsgIo receive_bytes(int fd, unsigned char *p, size_t n, int64_t deadline) {
    while (n) {
        ssize_t got = recv(fd, p, n, MSG_DONTWAIT);
        if (got > 0) {
            p += got;
            n -= (size_t)got;
        } else if (!got) {
            return MSG_IO_CLOSED;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            MsgIo io = wait_for(fd, POLLIN, deadline);
            if (io != MSG_IO_OK) return io;
        } else if (errno != EINTR) {
            return MSG_IO_CLOSED;
        }
    }
    return MSG_IO_OK;
}

MsgIo msg_send(int fd, MsgType type, const WireOut *payload, int64_t deadline) {
    if (payload && payload->failed) return MSG_IO_NO_MEMORY;
    size_t n = payload ? payload->n_bytes : 0;
    if (n > MAX_BYTES) return MSG_IO_BAD;
    WireOut head = {0};
    wire_u32(&head, MAGIC);
    wire_u32(&head, type);
    wire_u64(&head, n);
    MsgIo io = head.failed ? MSG_IO_NO_MEMORY : send_bytes(fd, head.data, head.n_bytes, deadline);
    wire_free(&head);
    if (io == MSG_IO_OK && n) io = send_bytes(fd, payload->data, n, deadline);
    return io;
}

MsgIo msg_receive(int fd, MsgType *type, Blob **payload, int64_t deadline) {
    *payload = NULL;
    unsigned char head[HEADER];
    MsgIo io = receive_bytes(fd, head, sizeof head, deadline);
    if (io != MSG_IO_OK) return io;
    WireIn r = {head, head + sizeof head, false};
    uint32_t magic = wire_get_u32(&r), what = wire_get_u32(&r);
    uint64_t n = wire_get_u64(&r);
    if (magic != MAGIC || what < MSG_HELLO || what > MSG_BAD_REQUEST || n > MAX_BYTES)
        return MSG_IO_BAD;
    unsigned char *data = malloc(n ? n : 1);
    if (!data) return MSG_IO_NO_MEMORY;
    io = receive_bytes(fd, data, n, deadline);
    if (io != MSG_IO_OK) {
        free(data);
        return io;
    }
    *type = (MsgType)what;
    *payload = blob_take(data, n);
    return *payload ? MSG_IO_OK : MSG_IO_NO_MEMORY;
}

static const char *get_str(WireIn *r, BaseArena *a) {
    size_t n;
    const void *s = wire_get_bytes(r, &n);
    const char *copy = base_arena_str(a, s, n);
    return copy ? copy : "";
}

// NULL and "" differ for some strings: a flag comes first.
static void put_optional(WireOut *w, const char *s) {
    wire_u8(w, s != NULL);
    if (s) wire_str(w, s);
}

static const char *get_optional(WireIn *r, BaseArena *a) {
    return wire_get_u8(r) ? get_str(r, a) : NULL;
}

// Room for n elements that take at least min_bytes each; a count that cannot be true fails the
// reader.
static void *get_array(WireIn *r, BaseArena *a, size_t n, size_t size, size_t min_bytes) {
    if (r->failed || n > (size_t)(r->end - r->at) / min_bytes) {
        r->failed = true;
        return NULL;
    }
    return base_arena_alloc(a, n ? n : 1, size);
}

static void put_strings(WireOut *w, const char *const *list, size_t n) {
    wire_u32(w, (uint32_t)n);
    for (size_t i = 0; i < n; i++) wire_str(w, list[i]);
}

static const char *const *get_strings(WireIn *r, BaseArena *a, size_t *n) {
    *n = wire_get_u32(r);
    const char **list = get_array(r, a, *n, sizeof *list, 8);
    if (!list) {
        *n = 0;
        return NULL;
    }
    for (size_t i = 0; i < *n; i++) list[i] = get_str(r, a);
    return list;
}

static MslDebug get_debug(WireIn *r) {
    uint8_t level = wire_get_u8(r);
    if (level > MSL_DEBUG_FULL) r->failed = true;
    return (MslDebug)level;
}

void msg_put_source(WireOut *w, const MslSource *s, const char *cwd) {
    wire_str(w, cwd);
    wire_str(w, s->name);
    wire_bytes(w, s->text, s->n_bytes);
    put_strings(w, s->macros, s->n_macros);
    put_strings(w, s->include_dirs, s->n_include_dirs);
    wire_u32(w, (uint32_t)s->n_headers);
    for (size_t i = 0; i < s->n_headers; i++) {
        wire_str(w, s->headers[i].name);
        wire_bytes(w, s->headers[i].text, s->headers[i].n_bytes);
    }
    wire_u32(w, s->language_version);
    wire_u32(w, s->math_mode);
    wire_u8(w, s->warnings_as_errors);
    wire_u8(w, s->enable_logging);
    wire_u32(w, s->library_type);
    wire_str(w, s->install_name);
    put_strings(w, s->links, s->n_links);
    wire_u8(w, s->allow_undefined);
    wire_u8(w, (uint8_t)s->debug);
    wire_u8(w, s->check_only);
}

bool msg_get_source(WireIn *r, BaseArena *a, MslSource *s, const char **cwd) {
    *s = (MslSource){0};
    *cwd = get_str(r, a);
    s->name = get_str(r, a);
    const void *text = wire_get_bytes(r, &s->n_bytes);
    s->text = base_arena_str(a, text, s->n_bytes); // Clang's buffers end in a zero
    s->macros = get_strings(r, a, &s->n_macros);
    s->include_dirs = get_strings(r, a, &s->n_include_dirs);
    size_t n = wire_get_u32(r);
    MslHeader *headers = get_array(r, a, n, sizeof *headers, 16);
    for (size_t i = 0; headers && i < n; i++) {
        headers[i].name = get_str(r, a);
        const void *body = wire_get_bytes(r, &headers[i].n_bytes);
        headers[i].text = base_arena_str(a, body, headers[i].n_bytes);
    }
    s->headers = headers;
    s->n_headers = headers ? n : 0;
    s->language_version = wire_get_u32(r);
    uint32_t mode = wire_get_u32(r);
    if (mode > MSL_MATH_FAST) r->failed = true;
    s->math_mode = (MslMathMode)mode;
    s->warnings_as_errors = wire_get_u8(r);
    s->enable_logging = wire_get_u8(r);
    s->library_type = wire_get_u32(r);
    s->install_name = get_str(r, a);
    s->links = get_strings(r, a, &s->n_links);
    s->allow_undefined = wire_get_u8(r);
    s->debug = get_debug(r);
    s->check_only = wire_get_u8(r);
    return !r->failed && !a->failed && r->at == r->end;
}

void msg_put_file(WireOut *w, const MslFile *file) {
    wire_u32(w, file->found);
    wire_u64(w, file->id);
    wire_bytes(w, file->bytes ? file->bytes->data : NULL, file->bytes ? file->bytes->n_bytes : 0);
}

bool msg_get_file(const Blob *payload, MslFile *file) {
    WireIn r = {payload->data, payload->data + payload->n_bytes, false};
    size_t n;
    file->found = (MslFound)wire_get_u32(&r);
    file->id = wire_get_u64(&r);
    file->bytes = NULL;
    const void *bytes = wire_get_bytes(&r, &n);
    if (r.failed || r.at != r.end || (unsigned)file->found > MSL_FILE_FOUND) return false;
    if (file->found != MSL_FILE_FOUND) return true;
    unsigned char *data = malloc(n + 1);
    if (!data) return false;
    if (n) memcpy(data, bytes, n);
    data[n] = 0;
    file->bytes = blob_take(data, n);
    return file->bytes != NULL;
}

static void put_constants(WireOut *w, const MslConstantValue *c, size_t n) {
    wire_u32(w, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        put_optional(w, c[i].name);
        wire_u32(w, c[i].index);
        wire_u32(w, c[i].data_type);
        wire_bytes(w, c[i].data, c[i].n_bytes);
    }
}

static const MslConstantValue *get_constants(WireIn *r, BaseArena *a, size_t *n) {
    *n = wire_get_u32(r);
    MslConstantValue *constants = get_array(r, a, *n, sizeof *constants, 17);
    for (size_t i = 0; constants && i < *n; i++) {
        constants[i].name = get_optional(r, a);
        constants[i].index = wire_get_u32(r);
        constants[i].data_type = wire_get_u32(r);
        const void *data = wire_get_bytes(r, &constants[i].n_bytes);
        constants[i].data = base_arena_str(a, data, constants[i].n_bytes); // aligned
    }
    if (!constants) *n = 0;
    return constants;
}

static void put_functions(WireOut *w, const MslLinkedFunction *list, size_t n) {
    wire_u32(w, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        wire_u32(w, list[i].library);
        wire_str(w, list[i].function);
        put_constants(w, list[i].constants, list[i].n_constants);
        wire_u8(w, list[i].by_name_only);
        wire_u32(w, list[i].key);
    }
}

static const MslLinkedFunction *get_functions(WireIn *r, BaseArena *a, size_t n_parts, size_t *n) {
    *n = wire_get_u32(r);
    MslLinkedFunction *list = get_array(r, a, *n, sizeof *list, 17);
    for (size_t i = 0; list && i < *n; i++) {
        list[i].library = wire_get_u32(r);
        if (list[i].library > n_parts) r->failed = true;
        list[i].function = get_str(r, a);
        list[i].constants = get_constants(r, a, &list[i].n_constants);
        list[i].by_name_only = wire_get_u8(r);
        list[i].key = wire_get_u32(r);
    }
    if (!list) *n = 0;
    return list;
}

// Numbers up to and without `limit`.
static void put_numbers(WireOut *w, const uint32_t *list, size_t n) {
    wire_u32(w, (uint32_t)n);
    for (size_t i = 0; i < n; i++) wire_u32(w, list[i]);
}

static const uint32_t *get_numbers(WireIn *r, BaseArena *a, size_t limit, size_t *n) {
    *n = wire_get_u32(r);
    uint32_t *list = get_array(r, a, *n, sizeof *list, 4);
    for (size_t i = 0; list && i < *n; i++)
        if ((list[i] = wire_get_u32(r)) >= limit) r->failed = true;
    if (!list) *n = 0;
    return list;
}

static void put_parts(WireOut *w, const MsgPart *libraries, size_t n) {
    wire_u32(w, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        wire_bytes(w, libraries[i].hash, SHA256_BYTES);
        wire_u8(w, libraries[i].bytes != NULL);
        if (libraries[i].bytes) wire_bytes(w, libraries[i].bytes, libraries[i].n_bytes);
    }
}

static const MsgPart *get_parts(WireIn *r, BaseArena *a, size_t *n) {
    *n = wire_get_u32(r);
    MsgPart *libraries = get_array(r, a, *n, sizeof *libraries, 9);
    for (size_t i = 0; libraries && i < *n; i++) {
        size_t n_hash;
        libraries[i].hash = wire_get_bytes(r, &n_hash);
        if (n_hash != SHA256_BYTES) r->failed = true;
        if (wire_get_u8(r)) libraries[i].bytes = wire_get_bytes(r, &libraries[i].n_bytes);
    }
    return libraries;
}

static void put_vertex(WireOut *w, const MslVertexDescriptor *d) {
    wire_u8(w, d != NULL);
    for (int i = 0; d && i < MSL_MAX_VERTEX; i++) {
        wire_u32(w, d->attributes[i].format);
        wire_u32(w, d->attributes[i].offset);
        wire_u32(w, d->attributes[i].buffer);
        wire_u32(w, d->layouts[i].stride);
        wire_u32(w, d->layouts[i].step);
        wire_u32(w, d->layouts[i].rate);
    }
    for (int i = 0; d && i < 4; i++) wire_u32(w, d->flat[i]);
    if (!d) return;
    wire_u32(w, d->index_buffer);
    wire_u32(w, d->index_bytes);
}

static const MslVertexDescriptor *get_vertex(WireIn *r, BaseArena *a) {
    if (!wire_get_u8(r)) return NULL;
    MslVertexDescriptor *d = base_arena_alloc(a, 1, sizeof *d);
    for (int i = 0; d && i < MSL_MAX_VERTEX; i++) {
        d->attributes[i].format = wire_get_u32(r);
        d->attributes[i].offset = wire_get_u32(r);
        d->attributes[i].buffer = wire_get_u32(r);
        d->layouts[i].stride = wire_get_u32(r);
        d->layouts[i].step = wire_get_u32(r);
        d->layouts[i].rate = wire_get_u32(r);
        if (d->attributes[i].buffer >= MSL_MAX_VERTEX) r->failed = true;
    }
    for (int i = 0; d && i < 4; i++) d->flat[i] = wire_get_u32(r);
    if (!d) return NULL;
    d->index_buffer = wire_get_u32(r);
    d->index_bytes = wire_get_u32(r);
    return d;
}

void msg_put_kernel(WireOut *w, const MslKernelRequest *q, const MsgPart *libraries) {
    put_parts(w, libraries, q->n_parts + 1);
    wire_str(w, q->function);
    put_constants(w, q->constants, q->n_constants);
    put_functions(w, q->linked, q->n_linked);
    put_numbers(w, q->dynamic, q->n_dynamic);
    wire_u32(w, q->call_depth);
    put_vertex(w, q->vertex);
    for (int i = 0; i < 3; i++) wire_u32(w, q->shape[i]);
    put_optional(w, q->target);
    put_optional(w, q->cpu);
    put_optional(w, q->features);
    wire_u32(w, q->width);
    wire_u32(w, q->math_mode);
    wire_u8(w, q->validate);
    wire_u8(w, q->watch);
    wire_u8(w, q->reach);
    wire_u8(w, (uint8_t)q->tier);
    wire_u8(w, (uint8_t)q->debug);
    put_optional(w, q->emit);
    put_optional(w, q->dump_after);
}

bool msg_get_kernel(WireIn *r, BaseArena *a, MsgKernel *k) {
    *k = (MsgKernel){0};
    MslKernelRequest *q = &k->request;
    size_t n;
    k->libraries = get_parts(r, a, &n);
    if (!k->libraries || n < 1) return false;
    MslPart *parts = base_arena_alloc(a, n, sizeof *parts);
    if (!parts) return false;
    q->parts = parts;
    q->n_parts = n - 1;
    q->function = get_str(r, a);
    q->constants = get_constants(r, a, &q->n_constants);
    q->linked = get_functions(r, a, q->n_parts, &q->n_linked);
    q->dynamic = get_numbers(r, a, q->n_parts + 1, &q->n_dynamic);
    q->call_depth = wire_get_u32(r);
    q->vertex = get_vertex(r, a);
    for (int i = 0; i < 3; i++) q->shape[i] = wire_get_u32(r);
    q->target = get_optional(r, a);
    q->cpu = get_optional(r, a);
    q->features = get_optional(r, a);
    q->width = wire_get_u32(r);
    uint32_t mode = wire_get_u32(r);
    if (mode > MSL_MATH_FAST) r->failed = true;
    q->math_mode = (MslMathMode)mode;
    q->validate = wire_get_u8(r);
    q->watch = wire_get_u8(r);
    q->reach = wire_get_u8(r);
    q->tier = wire_get_u8(r) ? TIER_BASELINE : TIER_OPTIMISED;
    q->debug = get_debug(r);
    q->emit = get_optional(r, a);
    q->dump_after = get_optional(r, a);
    return !r->failed && !a->failed && r->at == r->end;
}

void msg_put_stitch(WireOut *w, const MslStitchRequest *q, const MsgPart *libraries) {
    put_parts(w, libraries, q->n_parts);
    put_functions(w, q->functions, q->n_functions);
    wire_u32(w, (uint32_t)q->n_graphs);
    for (size_t g = 0; g < q->n_graphs; g++) {
        const MslStitchGraph *graph = &q->graphs[g];
        wire_str(w, graph->name);
        wire_u32(w, graph->output);
        wire_u32(w, (uint32_t)graph->n_nodes);
        for (size_t i = 0; i < graph->n_nodes; i++) {
            wire_u32(w, graph->nodes[i].function);
            wire_u32(w, graph->nodes[i].argument);
            put_numbers(w, graph->nodes[i].arguments, graph->nodes[i].n_arguments);
        }
    }
}

static void get_graph(WireIn *r, BaseArena *a, size_t n_functions, MslStitchGraph *graph) {
    graph->name = get_str(r, a);
    graph->output = wire_get_u32(r);
    size_t n = wire_get_u32(r);
    MslStitchNode *nodes = get_array(r, a, n, sizeof *nodes, 12);
    for (size_t i = 0; nodes && i < n; i++) {
        nodes[i].function = wire_get_u32(r);
        nodes[i].argument = wire_get_u32(r);
        nodes[i].arguments = get_numbers(r, a, i, &nodes[i].n_arguments); // earlier nodes only
        if (nodes[i].function > n_functions) r->failed = true;
    }
    graph->nodes = nodes;
    graph->n_nodes = nodes ? n : 0;
    if (graph->output > graph->n_nodes) r->failed = true;
}

bool msg_get_stitch(WireIn *r, BaseArena *a, MsgStitch *stitch) {
    *stitch = (MsgStitch){0};
    MslStitchRequest *q = &stitch->request;
    stitch->libraries = get_parts(r, a, &q->n_parts);
    if (!stitch->libraries) return false;
    q->functions = get_functions(r, a, q->n_parts, &q->n_functions);
    size_t n = wire_get_u32(r);
    MslStitchGraph *graphs = get_array(r, a, n, sizeof *graphs, 16);
    for (size_t g = 0; graphs && g < n; g++) get_graph(r, a, q->n_functions, &graphs[g]);
    q->graphs = graphs;
    q->n_graphs = graphs ? n : 0;
    for (size_t i = 0; i < q->n_functions; i++)
        if (!q->functions[i].library) r->failed = true; // there is no kernel to be beside
    return !r->failed && !a->failed && r->at == r->end;
}

void msg_put_library(WireOut *w, const MsgLibrary *l) {
    wire_u8(w, l->ok);
    wire_str(w, l->log);
    wire_u32(w, (uint32_t)l->n_diagnostics);
    for (size_t i = 0; i < l->n_diagnostics; i++) {
        const MslDiagnostic *d = &l->diagnostics[i];
        wire_u32(w, (uint32_t)d->severity);
        wire_str(w, d->file);
        wire_u32(w, d->line);
        wire_u32(w, d->column);
        wire_str(w, d->message);
    }
    wire_bytes(w, l->metallib, l->metallib_bytes);
}

bool msg_get_library(WireIn *r, BaseArena *a, MsgLibrary *l) {
    *l = (MsgLibrary){0};
    l->ok = wire_get_u8(r);
    l->log = get_str(r, a);
    size_t n = wire_get_u32(r);
    MslDiagnostic *d = get_array(r, a, n, sizeof *d, 28);
    for (size_t i = 0; d && i < n; i++) {
        d[i].severity = (int)wire_get_u32(r);
        d[i].file = get_str(r, a);
        d[i].line = wire_get_u32(r);
        d[i].column = wire_get_u32(r);
        d[i].message = get_str(r, a);
    }
    l->diagnostics = d;
    l->n_diagnostics = d ? n : 0;
    l->metallib = wire_get_bytes(r, &l->metallib_bytes);
    return !r->failed && !a->failed && r->at == r->end;
}

void msg_put_code(WireOut *w, const MsgCode *c) {
    wire_u8(w, c->ok);
    wire_str(w, c->error);
    wire_str(w, c->log);
    wire_bytes(w, c->code, c->code_bytes);
}

bool msg_get_code(WireIn *r, BaseArena *a, MsgCode *c) {
    *c = (MsgCode){0};
    c->ok = wire_get_u8(r);
    c->error = get_str(r, a);
    c->log = get_str(r, a);
    c->code = wire_get_bytes(r, &c->code_bytes);
    return !r->failed && !a->failed && r->at == r->end;
}
