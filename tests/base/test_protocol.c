// SPDX-License-Identifier: Apache-2.0
// Messages: every field survives, truncated payloads are refused, transport over a socket pair
// keeps its deadline and notices a closed peer.
#include "testing.h"
#include "abi/protocol.h"
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

static const char *const macros[] = {"A", "B=2"};
static const char *const dirs[] = {"inc"};
static const MslHeader headers[] = {{"h.h", "int x;", 6}};
static const MslSource source = {.name = "p",
                                 .text = "kernel\0void",
                                 .n_bytes = 11,
                                 .macros = macros,
                                 .n_macros = 2,
                                 .include_dirs = dirs,
                                 .n_include_dirs = 1,
                                 .headers = headers,
                                 .n_headers = 1,
                                 .language_version = 3 << 16 | 1,
                                 .math_mode = MSL_MATH_RELAXED,
                                 .warnings_as_errors = true};

// The first n bytes alone, so that reading beyond them is found out.
static unsigned char *first_bytes(const WireOut *w, size_t n) {
    unsigned char *copy = malloc(n ? n : 1);
    memcpy(copy, w->data, n);
    return copy;
}

static void source_comes_back(void **state) {
    (void)state;
    WireOut w = {0};
    msg_put_source(&w, &source, "/here");
    for (size_t n = 0; n <= w.n_bytes; n++) {
        unsigned char *copy = first_bytes(&w, n);
        WireIn r = {copy, copy + n, false};
        BaseArena a = {0};
        MslSource s;
        const char *cwd;
        bool ok = msg_get_source(&r, &a, &s, &cwd);
        assert_int_equal(ok, n == w.n_bytes);
        if (ok) {
            assert_string_equal(cwd, "/here");
            assert_int_equal(s.n_bytes, 11);
            assert_memory_equal(s.text, "kernel\0void", 12);
            assert_int_equal(s.n_macros, 2);
            assert_string_equal(s.macros[1], "B=2");
            assert_string_equal(s.include_dirs[0], "inc");
            assert_string_equal(s.headers[0].text, "int x;");
            assert_int_equal(s.language_version, 3 << 16 | 1);
            assert_int_equal(s.math_mode, MSL_MATH_RELAXED);
            assert_true(s.warnings_as_errors);
            assert_false(s.check_only);
        }
        base_arena_free(&a);
        free(copy);
    }
    wire_free(&w);
}

static void kernel_comes_back(void **state) {
    (void)state;
    float v = 2.5f;
    MslConstantValue constants[] = {{NULL, 3, 3, &v, 4}, {"n", 0, 29, "abcd", 4}};
    MslKernelRequest q = {.function = "f",
                          .constants = constants,
                          .n_constants = 2,
                          .n_parts = 1,
                          .linked = &(MslLinkedFunction){1, "g", constants, 1, true, 77},
                          .n_linked = 1,
                          .dynamic = (uint32_t[]){1},
                          .n_dynamic = 1,
                          .call_depth = 3,
                          .shape = {16, 8, 1},
                          .cpu = "x86-64-v3",
                          .width = 16,
                          .emit = "asm"};
    unsigned char hash[SHA256_BYTES];
    sha256("x", 1, hash);
    MsgPart libraries[] = {{hash, (const unsigned char *)"LIBRARY", 7}, {hash, NULL, 0}};
    WireOut w = {0};
    msg_put_kernel(&w, &q, libraries);
    for (size_t n = 0; n <= w.n_bytes; n++) {
        unsigned char *copy = first_bytes(&w, n);
        WireIn r = {copy, copy + n, false};
        BaseArena a = {0};
        MsgKernel k;
        bool ok = msg_get_kernel(&r, &a, &k);
        assert_int_equal(ok, n == w.n_bytes);
        if (ok) {
            assert_memory_equal(k.libraries[0].hash, hash, SHA256_BYTES);
            assert_memory_equal(k.libraries[0].bytes, "LIBRARY", 7);
            assert_int_equal(k.request.n_parts, 1);
            assert_memory_equal(k.libraries[1].hash, hash, SHA256_BYTES);
            assert_null(k.libraries[1].bytes);
            assert_int_equal(k.request.n_linked, 1);
            assert_int_equal(k.request.linked[0].library, 1);
            assert_string_equal(k.request.linked[0].function, "g");
            assert_int_equal(k.request.linked[0].n_constants, 1);
            assert_int_equal(k.request.linked[0].constants[0].index, 3);
            assert_true(k.request.linked[0].by_name_only);
            assert_int_equal(k.request.linked[0].key, 77);
            assert_int_equal(k.request.n_dynamic, 1);
            assert_int_equal(k.request.dynamic[0], 1);
            assert_int_equal(k.request.call_depth, 3);
            assert_string_equal(k.request.function, "f");
            assert_null(k.request.constants[0].name);
            assert_int_equal(k.request.constants[0].index, 3);
            assert_memory_equal(k.request.constants[0].data, &v, 4);
            assert_string_equal(k.request.constants[1].name, "n");
            assert_int_equal(k.request.shape[1], 8);
            assert_string_equal(k.request.cpu, "x86-64-v3");
            assert_null(k.request.features);
            assert_int_equal(k.request.width, 16);
            assert_string_equal(k.request.emit, "asm");
        }
        base_arena_free(&a);
        free(copy);
    }
    wire_free(&w);
    q.linked = &(MslLinkedFunction){2, "g", NULL, 0, false, 0}; // a library that is not there
    w = (WireOut){0};
    msg_put_kernel(&w, &q, libraries);
    BaseArena a = {0};
    MsgKernel k;
    WireIn r = {w.data, w.data + w.n_bytes, false};
    assert_false(msg_get_kernel(&r, &a, &k));
    base_arena_free(&a);
    wire_free(&w);
}

static bool get_stitch(const unsigned char *data, size_t n, MsgStitch *out, BaseArena *a) {
    WireIn r = {data, data + n, false};
    return msg_get_stitch(&r, a, out);
}

static void stitch_comes_back(void **state) {
    (void)state;
    unsigned char hash[SHA256_BYTES];
    sha256("x", 1, hash);
    uint32_t arguments[] = {0, 0}, itself[] = {1};
    MslStitchNode nodes[] = {{.argument = 3},
                             {.function = 1, .arguments = arguments, .n_arguments = 2}};
    MslStitchGraph graph = {"g", nodes, 2, 2};
    MslLinkedFunction function = {1, "f", NULL, 0, false, 0};
    MslStitchRequest q = {
        .n_parts = 1, .functions = &function, .n_functions = 1, .graphs = &graph, .n_graphs = 1};
    MsgPart library = {hash, (const unsigned char *)"LIBRARY", 7};
    WireOut w = {0};
    msg_put_stitch(&w, &q, &library);
    for (size_t n = 0; n <= w.n_bytes; n++) {
        unsigned char *copy = malloc(n ? n : 1);
        memcpy(copy, w.data, n);
        BaseArena a = {0};
        MsgStitch k;
        bool ok = get_stitch(copy, n, &k, &a);
        assert_int_equal(ok, n == w.n_bytes);
        if (ok) {
            assert_memory_equal(k.libraries[0].bytes, "LIBRARY", 7);
            assert_string_equal(k.request.functions[0].function, "f");
            assert_string_equal(k.request.graphs[0].name, "g");
            assert_int_equal(k.request.graphs[0].output, 2);
            assert_int_equal(k.request.graphs[0].nodes[0].argument, 3);
            assert_int_equal(k.request.graphs[0].nodes[1].n_arguments, 2);
        }
        base_arena_free(&a);
        free(copy);
    }
    wire_free(&w);
    for (int wrong = 0; wrong < 4; wrong++) { // what a confused peer might send
        MslStitchNode bad[] = {nodes[0], nodes[1]};
        MslStitchGraph g = {"g", bad, 2, wrong == 0 ? 3 : 2};
        MslLinkedFunction f = {wrong == 1 ? 0 : 1, "f", NULL, 0, false, 0};
        if (wrong == 2) bad[1].arguments = itself, bad[1].n_arguments = 1;
        if (wrong == 3) bad[1].function = 2;
        MslStitchRequest b = {
            .n_parts = 1, .functions = &f, .n_functions = 1, .graphs = &g, .n_graphs = 1};
        WireOut out = {0};
        msg_put_stitch(&out, &b, &library);
        BaseArena a = {0};
        MsgStitch k;
        assert_false(get_stitch(out.data, out.n_bytes, &k, &a));
        base_arena_free(&a);
        wire_free(&out);
    }
}

typedef struct Big {
    int fd;
    WireOut w;
} Big;
static void *send_big(void *p) {
    Big *b = p;
    assert_int_equal(msg_send(b->fd, MSG_LIBRARY, &b->w, INT64_MAX), MSG_IO_OK);
    return NULL;
}

static void transport(void **state) {
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    Big b = {.fd = pair[0]};
    for (uint32_t i = 0; i < 1000000; i++) wire_u32(&b.w, i); // more than the socket holds
    pthread_t t;
    pthread_create(&t, NULL, send_big, &b);
    MsgType type;
    Blob *payload;
    assert_int_equal(msg_receive(pair[1], &type, &payload, INT64_MAX), MSG_IO_OK);
    pthread_join(t, NULL);
    assert_int_equal(type, MSG_LIBRARY);
    assert_int_equal(payload->n_bytes, 4000000);
    assert_memory_equal(payload->data, b.w.data, 4000000);
    blob_release(payload);
    assert_int_equal(msg_receive(pair[1], &type, &payload, msg_now() + 20000000), MSG_IO_TIMEOUT);
    assert_null(payload);
    // A peer that does not read: the sender gives up too.
    assert_int_equal(msg_send(pair[0], MSG_LIBRARY, &b.w, msg_now() + 20000000), MSG_IO_TIMEOUT);
    close(pair[1]);
    signal(SIGPIPE, SIG_DFL); // would end the test
    assert_int_equal(msg_send(pair[0], MSG_LIBRARY, &b.w, INT64_MAX), MSG_IO_CLOSED);
    close(pair[0]);
    wire_free(&b.w);
}

static void nonsense_is_refused(void **state) {
    (void)state;
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(write(pair[0], "GET / HTTP/1.1\r\n\r\n", 18), 18);
    MsgType type;
    Blob *payload;
    assert_int_equal(msg_receive(pair[1], &type, &payload, INT64_MAX), MSG_IO_BAD);
    close(pair[0]);
    close(pair[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(source_comes_back), cmocka_unit_test(kernel_comes_back),
        cmocka_unit_test(stitch_comes_back), cmocka_unit_test(transport),
        cmocka_unit_test(nonsense_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
