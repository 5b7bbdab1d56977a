// SPDX-License-Identifier: Apache-2.0
// test_log.c: what a kernel logs reaches the handler, formatted.
#include "api_test.h"
#include <unistd.h>

typedef struct Line {
    char subsystem[64], category[64], text[256];
    MTLLogLevel level;
} Line;
static Line lines[64];
static int n_lines;

static void note_line(const char *subsystem, const char *category, MTLLogLevel level,
                      const char *message, void *context) {
    assert_ptr_equal(context, lines);
    if (n_lines == 64) return;
    Line *line = &lines[n_lines++];
    snprintf(line->subsystem, sizeof line->subsystem, "%s", subsystem);
    snprintf(line->category, sizeof line->category, "%s", category);
    snprintf(line->text, sizeof line->text, "%s", message);
    line->level = level;
}

static MTLComputePipelineState *logging_pipeline(const char *source, bool logs) {
    MTLError *error = NULL;
    MTLLibrary *library = mtl_device_new_library_with_source(
        device, source, &(MTLCompileOptions){.enable_logging = logs}, &error);
    if (!library) fail_msg("%s", mtl_error_localized_description(error));
    MTLComputePipelineState *p = pipeline_of(library, "f");
    mtl_release(library);
    return p;
}

// Runs a kernel of `n` threads whose body is `body`; the lines it logged are in `lines`.
static void run_body(const char *body, size_t n, MTLLogLevel level) {
    char source[4096];
    snprintf(source, sizeof source,
             "#include <metal_stdlib>\n#include <metal_logging>\nusing namespace metal;\n"
             "constant os_log logger(\"com.example\", \"tests\");\n"
             "kernel void f(device uint *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {\n"
             "%s\n}\n",
             body);
    n_lines = 0;
    MTLComputePipelineState *p = logging_pipeline(source, true);
    MTLLogState *state =
        mtl_device_new_log_state(device, &(MTLLogStateDescriptor){.level = level}, NULL);
    mtl_log_state_add_log_handler(state, note_line, lines);
    MTLCommandQueue *queue = mtl_device_new_command_queue_with_descriptor(
        device, &(MTLCommandQueueDescriptor){.log_state = state});
    MTLBuffer *x = mtl_device_new_buffer(device, 4096, 0);
    MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
    encode_threads(commands, p, x, n, 32);
    run_to_end(commands);
    mtl_release(x);
    mtl_release(queue);
    mtl_release(state);
    mtl_release(p);
}

static void values_are_formatted(void **state) {
    (void)state;
    static const struct {
        const char *call, *text;
    } cases[] = {
        {"logger.log(\"plain\");", "plain"},
        {"logger.log(\"%d and %u\", -5, 7u);", "-5 and 7"},
        {"logger.log(\"%x %X %o\", 255, 255, 8);", "ff FF 10"},
        {"logger.log(\"%5d|%-5d|%05d\", 42, 42, 42);", "   42|42   |00042"},
        {"logger.log(\"%f %.2f %g\", 1.5f, 3.14159f, 0.25f);", "1.500000 3.14 0.25"},
        {"logger.log(\"%e\", 12345.0f);", "1.234500e+04"},
        {"logger.log(\"%ld %lu\", (long)-1, (ulong)1 << 40);", "-1 1099511627776"},
        {"logger.log(\"100%% %c\", 'A');", "100% A"},
        {"logger.log(\"%hd %hu\", (short)-2, (ushort)65535);", "-2 65535"},
        {"logger.log(\"%f\", half(0.5h));", "0.500000"},
        {"logger.log(\"%v4f\", float4(1, 2, 3, 4));", "1.000000,2.000000,3.000000,4.000000"},
        {"logger.log(\"%v2d end\", int2(-1, 5));", "-1,5 end"},
        {"logger.log(\"%d %d\", 1);", "1 (?)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_body(cases[i].call, 1, MTLLogLevelUndefined);
        assert_int_equal(n_lines, 1);
        assert_string_equal(lines[0].text, cases[i].text);
        assert_string_equal(lines[0].subsystem, "com.example");
        assert_string_equal(lines[0].category, "tests");
        assert_int_equal(lines[0].level, MTLLogLevelNotice);
    }
}

static void each_active_thread_logs_once(void **state) {
    (void)state;
    run_body("if (i % 5 == 2) logger.log(\"%u\", i);", 100, MTLLogLevelUndefined);
    assert_int_equal(n_lines, 20);
    bool seen[100] = {0};
    for (int k = 0; k < n_lines; k++) {
        int i = atoi(lines[k].text);
        assert_true(i >= 0 && i < 100 && i % 5 == 2 && !seen[i]);
        seen[i] = true;
    }
}

static void levels_are_filtered(void **state) {
    (void)state;
    const char *body = "logger.log_debug(\"a\"); logger.log_info(\"b\"); logger.log(\"c\");"
                       "logger.log_error(\"d\"); logger.log_fault(\"e\");";
    run_body(body, 1, MTLLogLevelUndefined);
    assert_int_equal(n_lines, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(lines[i].level, MTLLogLevelDebug + i);
    run_body(body, 1, MTLLogLevelError);
    assert_int_equal(n_lines, 2);
    assert_string_equal(lines[0].text, "d");
    assert_string_equal(lines[1].text, "e");
}

// As on a Mac: nothing without enable_logging, and without a log state what the environment says.
static void who_does_not_ask_sees_nothing(void **state) {
    (void)state;
    static const char source[] = HEAD "#include <metal_logging>\n"
                                      "kernel void f(device uint *x [[buffer(0)]]) { x[0] = 1;"
                                      " os_log_default.log_error(\"seen %d\", 3); }\n";
    static const struct {
        bool logs;
        const char *level, *to_stderr, *text;
    } cases[] = {
        {true, NULL, NULL, ""},
        {true, NULL, "1", "seen 3\n"},
        {true, "MTLLogLevelError", NULL, "seen 3\n"},
        {true, "MTLLogLevelFault", NULL, ""},
        {false, "MTLLogLevelDebug", "1", ""},
    };
    MTLCommandQueue *queue = mtl_device_new_command_queue(device);
    MTLBuffer *x = mtl_device_new_buffer(device, 4096, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MTLComputePipelineState *p = logging_pipeline(source, cases[i].logs);
        unsetenv("MTL_LOG_LEVEL"), unsetenv("MTL_LOG_TO_STDERR");
        if (cases[i].level) setenv("MTL_LOG_LEVEL", cases[i].level, 1);
        if (cases[i].to_stderr) setenv("MTL_LOG_TO_STDERR", cases[i].to_stderr, 1);
        FILE *seen = tmpfile();
        fflush(stderr);
        int kept = dup(2);
        dup2(fileno(seen), 2);
        MTLCommandBuffer *commands = mtl_command_queue_command_buffer(queue);
        encode_threads(commands, p, x, 1, 1);
        run_to_end(commands);
        fflush(stderr);
        dup2(kept, 2);
        close(kept);
        char text[64] = "";
        rewind(seen);
        size_t n = fread(text, 1, sizeof text - 1, seen);
        text[n] = '\0';
        fclose(seen);
        assert_string_equal(text, cases[i].text);
        mtl_release(p);
    }
    mtl_release(x), mtl_release(queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_does_not_ask_sees_nothing),
        cmocka_unit_test(values_are_formatted),
        cmocka_unit_test(each_active_thread_logs_once),
        cmocka_unit_test(levels_are_filtered),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
