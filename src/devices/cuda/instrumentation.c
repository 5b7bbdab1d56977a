// SPDX-License-Identifier: Apache-2.0
// instrumentation.c: kernels that log or check their accesses: the launch information they get,
// like a launch on the CPU, and the notes they leave (abi/cuda_kernel.h). Both are in pinned
// memory, at one address for kernels and host. Notes are read when the run has completed.
#include "devices/cuda/cuda_int.h"
#include <stdlib.h>
#include <string.h>
#include "abi/cuda_kernel.h"

enum { NOTES_BYTES = 1 << 20 };

typedef struct CudaPiece CudaPiece;
struct CudaPiece { // of a dispatch; the next one of the run
    CudaPiece *next;
    size_t n_bytes;
    CudaSurroundings it;
};

static size_t live_bytes(const AbiLive *live) {
    if (!live) return 0;
    return sizeof *live + live->n_spans * sizeof *live->spans +
           (live->handles ? (live->mask + 1) * sizeof *live->handles : 0);
}

static void *append_bytes(char **at, const void *from, size_t n_bytes) {
    void *to = *at;
    if (n_bytes) memcpy(to, from, n_bytes);
    *at += n_bytes;
    return to;
}

static void put_live(char **at, const AbiLive *live, CpuLaunch *launch) {
    AbiLive *copy = append_bytes(at, live, sizeof *live);
    copy->spans = append_bytes(at, live->spans, live->n_spans * sizeof *live->spans);
    if (live->handles)
        copy->handles = append_bytes(at, live->handles, (live->mask + 1) * sizeof *live->handles);
    launch->live = copy;
}

uint64_t cuda_surroundings(CudaFlow *flow, const DevDispatch *d, const uint64_t *slots,
                           uint32_t n_slots) {
    CudaDevice *device = flow->device;
    size_t n_bytes = sizeof(CudaPiece) + n_slots * 16 + live_bytes(d->live);
    if (!flow->notes) flow->notes = cuda_pinned_take(device, NOTES_BYTES);
    CudaPiece *piece = flow->notes ? cuda_pinned_take(device, n_bytes) : NULL;
    if (!piece) return 0;
    flow->notes->capacity = NOTES_BYTES - sizeof *flow->notes;
    *piece = (CudaPiece){.next = flow->pieces, .n_bytes = n_bytes};
    flow->pieces = piece;
    char *at = (char *)(piece + 1);
    CpuLaunch *launch = &piece->it.launch;
    launch->args = append_bytes(&at, slots, n_slots * sizeof *slots);
    launch->lengths = (const uint64_t *)(const void *)at;
    if (d->lengths)
        append_bytes(&at, d->lengths, n_slots * sizeof *d->lengths);
    else
        at += n_slots * sizeof *launch->lengths;
    if (d->live) put_live(&at, d->live, launch);
    launch->log_context = flow->notes;
    piece->it.dispatch = (uint64_t)(uintptr_t)d->context;
    return (uint64_t)(uintptr_t)&piece->it;
}

// Texts begin at `at` and end in the note.
static const char *text_at(const CudaNote *note, uint64_t at) {
    const char *text = (const char *)note + at;
    return at >= sizeof *note && at < note->n_bytes && memchr(text, 0, note->n_bytes - at) ? text
                                                                                           : NULL;
}

static void give_log(const DevRun *run, const CudaNote *note) {
    uint64_t args[2 * CUDA_LOG_ARGS];
    uint32_t n = note->log.n_args;
    size_t head = sizeof *note + (size_t)n * 16;
    if (!run->log || n > CUDA_LOG_ARGS || head > note->n_bytes) return;
    const char *where = text_at(note, head),
               *second = where ? text_at(note, head + strlen(where) + 1) : NULL,
               *format =
                   second
                       ? text_at(note, (size_t)(second - (const char *)note) + strlen(second) + 1)
                       : NULL;
    if (!format) return;
    memcpy(args, note + 1, (size_t)n * 16);
    for (uint32_t i = 0; i < n; i++)
        if ((args[2 * i] & 255) == CUDA_LOG_IS_TEXT)
            args[2 * i + 1] = (uint64_t)(uintptr_t)text_at(note, args[2 * i + 1]);
    run->log(run->log_context, note->log.type, where, format, args, n);
}

void cuda_read_notes(CudaFlow *flow) {
    CudaNotes *notes = flow->notes;
    uint64_t n = !notes || !flow->pieces            ? 0
                 : notes->n_bytes < notes->capacity ? notes->n_bytes
                                                    : notes->capacity;
    for (uint64_t at = 0; at + sizeof(CudaNote) <= n;) {
        const CudaNote *note = (const CudaNote *)(const void *)(notes->data + at);
        // The last one may not have found room: its place was never written.
        if (note->n_bytes < sizeof *note || note->n_bytes > n - at) break;
        if (note->kind == CUDA_NOTE_REPORT && flow->run->report)
            flow->run->report(flow->run->report_context, (void *)(uintptr_t)note->dispatch,
                              &note->report);
        else if (note->kind == CUDA_NOTE_LOG)
            give_log(flow->run, note);
        at += note->n_bytes;
    }
    if (n) memset(notes, 0, sizeof *notes + n);
    while (flow->pieces) {
        CudaPiece *piece = flow->pieces;
        flow->pieces = piece->next;
        cuda_pinned_give(flow->device, piece, piece->n_bytes);
    }
}

void cuda_notes_free(CudaFlow *flow) {
    if (flow->notes) cuda_pinned_give(flow->device, flow->notes, NOTES_BYTES);
    flow->notes = NULL;
}
