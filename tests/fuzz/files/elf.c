// SPDX-License-Identifier: Apache-2.0
// elf.c: code objects: read, and what is taken is brought into memory. Nothing of it runs.
#include "devices/cpu/elf.h"
#include "abi/cpu_kernel.h"
#include "abi/cpu_stage.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    CpuElf elf;
    char why[200] = "";
    if (!cpu_elf_read(&elf, data, n, why, sizeof why)) {
        if (!why[0]) abort();
        return 0;
    }
    char *base = cpu_elf_map(&elf, why, sizeof why);
    if (!base) return 0;
    // What others read of it is there.
    if (elf.symbols[CPU_ELF_KERNEL_INFO])
        fuzz_keep(fuzz_touch(base + elf.symbols[CPU_ELF_KERNEL_INFO], sizeof(CpuKernelInfo)));
    if (elf.symbols[CPU_ELF_STAGE_INFO])
        fuzz_keep(fuzz_touch(base + elf.symbols[CPU_ELF_STAGE_INFO], sizeof(AbiStageInfo)));
    for (int i = CPU_ELF_KERNEL; i < CPU_ELF_N_SYMBOLS; i++)
        if (elf.symbols[i]) fuzz_keep(fuzz_touch(base + elf.symbols[i], 1));
    cpu_elf_unmap(&elf, base);
    return 0;
}
