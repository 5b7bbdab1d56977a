// SPDX-License-Identifier: Apache-2.0
// merge.c: what a run changed in memory whose host's side counts goes back to the host. The twin is
// the device's side as it was brought over: where the two differ the device wrote, and only those
// bytes are written to the host's side, through its mapping. So what the program wrote meanwhile in
// other bytes of the same buffer stays, and what did not change does not cross the bus.
#include "devices/cuda/cuda_int.h"

// In PTX: the kernel comes before any compiler. A thread looks at words, with the steps of a grid.
// A word that changed in all its bytes is stored at once, else byte by byte.
static const char kernel[] = ".version 7.0\n"
                             ".target sm_80\n"
                             ".address_size 64\n"
                             ".visible .entry ingot_merge(.param .u64 now, .param .u64 twin,\n"
                             "                            .param .u64 host, .param .u64 n) {\n"
                             ".reg .pred %p, %q;\n"
                             ".reg .b32 %a, %b, %x, %t, %u, %v;\n"
                             ".reg .b64 %now, %twin, %host, %n, %i, %step, %at, %w;\n"
                             "ld.param.u64 %now, [now];\n"
                             "ld.param.u64 %twin, [twin];\n"
                             "ld.param.u64 %host, [host];\n"
                             "ld.param.u64 %n, [n];\n"
                             "mov.u32 %t, %ctaid.x;\n"
                             "mov.u32 %u, %ntid.x;\n"
                             "mov.u32 %v, %tid.x;\n"
                             "mul.wide.u32 %i, %t, %u;\n"
                             "cvt.u64.u32 %w, %v;\n"
                             "add.u64 %i, %i, %w;\n"
                             "mov.u32 %t, %nctaid.x;\n"
                             "mul.wide.u32 %step, %t, %u;\n"
                             "again:\n"
                             "setp.ge.u64 %p, %i, %n;\n"
                             "@%p ret;\n"
                             "shl.b64 %w, %i, 2;\n"
                             "add.u64 %i, %i, %step;\n"
                             "add.u64 %at, %now, %w;\n"
                             "ld.global.b32 %a, [%at];\n"
                             "add.u64 %at, %twin, %w;\n"
                             "ld.global.b32 %b, [%at];\n"
                             "xor.b32 %x, %a, %b;\n"
                             "setp.eq.u32 %p, %x, 0;\n"
                             "@%p bra again;\n"
                             "st.global.b32 [%at], %a;\n"
                             "add.u64 %at, %host, %w;\n"
// Bytes that are equal: a zero among those of the difference.
#define EQUAL_BYTE(mask) "and.b32 %t, %x, " mask ";\nsetp.eq.u32 %p, %t, 0;\n@%p bra bytes;\n"
    EQUAL_BYTE("0xff") EQUAL_BYTE("0xff00") EQUAL_BYTE("0xff0000") EQUAL_BYTE("0xff000000")
#undef EQUAL_BYTE
        "and.b64 %w, %at, 3;\n" // the program's own memory may lie anywhere
        "setp.ne.u64 %p, %w, 0;\n"
        "@%p bra bytes;\n"
        "st.global.b32 [%at], %a;\n"
        "bra again;\n"
        "bytes:\n"
#define BYTE(mask, shift, place)                                                                   \
    "and.b32 %t, %x, " mask ";\n"                                                                  \
    "setp.ne.u32 %q, %t, 0;\n"                                                                     \
    "shr.u32 %u, %a, " shift ";\n"                                                                 \
    "@%q st.global.u8 [%at+" place "], %u;\n"
    BYTE("0xff", "0", "0") BYTE("0xff00", "8", "1") BYTE("0xff0000", "16", "2")
        BYTE("0xff000000", "24", "3")
#undef BYTE
            "bra again;\n"
            "}\n";

bool cuda_merge_load(CudaDevice *d) {
    const CudaDriver *driver = d->driver;
    if (d->merge) return true;
    CUresult result = driver->cuModuleLoadData(&d->merge_module, kernel);
    if (!result) result = driver->cuModuleGetFunction(&d->merge, d->merge_module, "ingot_merge");
    return !result;
}

// The rest behind the last whole word is the device's: the host cannot write parts of a word while
// a run has it, where the length is none.
CUresult cuda_merge(const CudaMemory *m, size_t from, size_t n_bytes, CUstream stream) {
    enum { THREADS = 256, MAX_BLOCKS = 4096 };
    const CudaDriver *driver = m->owner->driver;
    uint64_t parameters[4] = {m->device + from, m->twin + from, (uintptr_t)m->host + from,
                              n_bytes / 4};
    uint64_t blocks = (parameters[3] + THREADS - 1) / THREADS;
    void *extra[] = {(void *)1, parameters, (void *)2, &(size_t){sizeof parameters}, NULL};
    CUresult result = CUDA_SUCCESS;
    if (blocks)
        result = driver->cuLaunchKernel(m->owner->merge,
                                        (unsigned)(blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS), 1, 1,
                                        THREADS, 1, 1, 0, stream, NULL, extra);
    size_t rest = n_bytes % 4;
    if (!result && rest)
        result = driver->cuMemcpyAsync((uintptr_t)m->host + from + n_bytes - rest,
                                       m->device + from + n_bytes - rest, rest, stream);
    return result;
}
