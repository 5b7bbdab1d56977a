// SPDX-License-Identifier: Apache-2.0
// test_notes.c: what kernels on a GPU tell the host: notes as the device library writes them
// (nvptx/device/notes.c, here on the host), read as the device does.
#define INGOT_WARP "compiler/warp.h"
#include "compiler/codegen/nvptx/library/notes.c"
#include "devices/cuda/instrumentation.c"
#include "unit.h"
#include <stdio.h>

const u32 ingot_n_slots = 2, ingot_n_constants = 0;
const struct Constant ingot_constants[1];

void *cuda_pinned_take(CudaDevice *device, size_t n_bytes) {
    (void)device;
    return calloc(1, n_bytes);
}
void cuda_pinned_give(CudaDevice *device, void *memory, size_t n_bytes) {
    (void)device, (void)n_bytes;
    free(memory);
}

static struct {
    unsigned n_logs, n_reports, type, n_args;
    char where[64], format[1024], text[64];
    uint64_t number;
    AbiReport report;
    void *dispatch;
} got;
static void take_log(void *context, uint32_t type, const char *where, const char *format,
                     const uint64_t *args, uint32_t n_args) {
    (void)context;
    got.n_logs++, got.type = type, got.n_args = n_args;
    snprintf(got.where, sizeof got.where, "%s/%s", where, where + strlen(where) + 1);
    snprintf(got.format, sizeof got.format, "%s", format);
    if (n_args > 1) got.number = args[1];
    if (n_args > 1) snprintf(got.text, sizeof got.text, "%s", (const char *)(uintptr_t)args[3]);
}
static void take_report(void *context, void *dispatch, const AbiReport *report) {
    (void)context;
    got.n_reports++, got.dispatch = dispatch, got.report = *report;
}

static DevRun run;
static CudaFlow flow;
static const CpuLaunch *begin(const DevDispatch *d) {
    static const uint64_t slots[2] = {4096, 8192};
    memset(&got, 0, sizeof got);
    run = (DevRun){.log = take_log, .report = take_report};
    flow.run = &run;
    uint64_t address = cuda_surroundings(&flow, d, slots, 2);
    assert_int_not_equal(address, 0);
    return (const CpuLaunch *)(uintptr_t)address;
}

TEST(logs_arrive) {
    const CpuLaunch *launch = begin(&(DevDispatch){0});
    const u64 args[] = {1, 42, CUDA_LOG_IS_TEXT, (u64)(uintptr_t)"words", CUDA_LOG_IS_TEXT, 0};
    ingot_log(launch, 2, "sub\0cat", "%d and %s", args, 3);
    cuda_read_notes(&flow);
    assert_int_equal(got.n_logs, 1);
    assert_int_equal(got.type, 2);
    assert_int_equal(got.n_args, 3);
    assert_string_equal(got.where, "sub/cat");
    assert_string_equal(got.format, "%d and %s");
    assert_int_equal(got.number, 42);
    assert_string_equal(got.text, "words");
    assert_null(flow.pieces);
    cuda_read_notes(&flow); // once
    assert_int_equal(got.n_logs, 1);
}
TEST(reports_arrive_with_their_dispatch) {
    const AbiSpan spans[] = {{100, 200}, {1000, 2000}};
    AbiLiveHandle handles[4] = {{0}};
    handles[abi_live_place(77) & 3] = (AbiLiveHandle){77, ABI_LIVE_TENSOR};
    const AbiLive live = {spans, 2, handles, 3};
    const uint64_t lengths[2] = {16, 32};
    int which;
    const CpuLaunch *launch =
        begin(&(DevDispatch){.lengths = lengths, .live = &live, .context = &which});
    assert_int_equal(ingot_span_start(launch, (const void *)1500), 1000);
    assert_int_equal(ingot_span_bytes(launch, (const void *)8200), 32); // of slot 1
    assert_int_equal(ingot_span_bytes(launch, (const void *)500), 0);
    assert_int_equal(ingot_live(launch, 77, ABI_LIVE_TENSOR), 77);
    assert_int_equal(ingot_live(launch, 78, ABI_LIVE_TENSOR), 0);
    ingot_report(launch, ABI_BAD_STORE, ABI_SPACE_BUFFER, 1, 4, 36, 32, 5, 6, 7, 10, 3);
    cuda_read_notes(&flow);
    assert_int_equal(got.n_reports, 1);
    assert_ptr_equal(got.dispatch, &which);
    assert_int_equal(got.report.offset, 36);
    assert_int_equal(got.report.thread[2], 7);
}
TEST(what_finds_no_room_is_dropped) {
    const CpuLaunch *launch = begin(&(DevDispatch){0});
    char long_text[600];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = 0;
    for (int i = 0; i < 3000; i++) ingot_log(launch, 1, NULL, long_text, NULL, 0);
    cuda_read_notes(&flow);
    assert_in_range(got.n_logs, 1500, 2999);
    assert_int_equal(strlen(got.format), CUDA_LOG_TEXT - 1);
    launch = begin(&(DevDispatch){0}); // and there is room again
    ingot_log(launch, 1, NULL, "again", NULL, 0);
    cuda_read_notes(&flow);
    assert_int_equal(got.n_logs, 1);
    assert_string_equal(got.format, "again");
    cuda_notes_free(&flow);
}

int main(void) { return unit_run(NULL, NULL); }
