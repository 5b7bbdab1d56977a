// SPDX-License-Identifier: Apache-2.0
// notes.c: what kernels tell the host (CudaNotes of abi/cuda_kernel.h): logs, and what those that
// check their accesses did wrong.
#include "abi/cuda_kernel.h"
#include "compiler/codegen/nvptx/library/instructions.h"

static void note_report(const CpuLaunch *launch, const AbiReport *report);
#define INGOT_NOTE_REPORT(launch, r) note_report(launch, r)
#include "compiler/codegen/support/validate.c"

// NULL: there is no room.
static CudaNote *take_note(const CpuLaunch *launch, u32 n_bytes, u32 kind) {
    CudaNotes *notes = launch->log_context;
    u64 at = __atomic_fetch_add(&notes->n_bytes, n_bytes, __ATOMIC_RELAXED);
    if (at + n_bytes > notes->capacity) return 0;
    CudaNote *note = (CudaNote *)(void *)(notes->data + at);
    note->n_bytes = n_bytes, note->kind = kind;
    note->dispatch = ((const CudaSurroundings *)(const void *)launch)->dispatch;
    return note;
}

static void note_report(const CpuLaunch *launch, const AbiReport *report) {
    CudaNote *note = take_note(launch, sizeof *note, CUDA_NOTE_REPORT);
    if (note) note->report = *report;
}

static u32 length_of(const char *text) { // with its zero
    u32 n = 0;
    while (text && n < CUDA_LOG_TEXT - 1 && text[n]) n++;
    return n + 1;
}
static u32 put_text(CudaNote *note, u32 at, const char *text) { // where the next one is
    u32 n = length_of(text);
    char *to = (char *)note + at;
    for (u32 i = 0; i + 1 < n; i++) to[i] = text[i];
    to[n - 1] = 0;
    return at + n;
}
static const char *text_of(const u64 *args, u32 i) {
    return (args[2 * i] & 255) == CUDA_LOG_IS_TEXT ? (const char *)args[2 * i + 1] : 0;
}

void ingot_log(const CpuLaunch *launch, u32 type, const char *category, const char *format,
               const u64 *args, u32 n);
__attribute__((noinline)) void ingot_log(const CpuLaunch *launch, u32 type, const char *category,
                                         const char *format, const u64 *args, u32 n) {
    if (!launch->log_context) return;
    if (n > CUDA_LOG_ARGS) n = CUDA_LOG_ARGS;
    const char *second = category ? category + length_of(category) : 0;
    u32 head = sizeof(CudaNote) + n * 16,
        bytes = head + length_of(category) + length_of(second) + length_of(format);
    for (u32 i = 0; i < n; i++)
        if (text_of(args, i)) bytes += length_of(text_of(args, i));
    CudaNote *note = take_note(launch, (bytes + 7) & ~7u, CUDA_NOTE_LOG);
    if (!note) return;
    note->log.type = type, note->log.n_args = n;
    u64 *words = (u64 *)(void *)(note + 1);
    u32 at = put_text(note, put_text(note, put_text(note, head, category), second), format);
    for (u32 i = 0; i < n; i++) {
        const char *text = text_of(args, i);
        words[2 * i] = args[2 * i];
        words[2 * i + 1] =
            (args[2 * i] & 255) == CUDA_LOG_IS_TEXT ? (text ? at : 0) : args[2 * i + 1];
        if (text) at = put_text(note, at, text);
    }
}
