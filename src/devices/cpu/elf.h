// SPDX-License-Identifier: Apache-2.0
// elf.h: code objects as files: what is in one, looked at before any of it is mapped, and mapped
// without the system's loader. Nothing in a file is believed.
#ifndef INGOT_CPU_ELF_H
#define INGOT_CPU_ELF_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_ELF_SEGMENTS = 6 };

// The symbols of the contract (abi/cpu_kernel.h, abi/cpu_stage.h). A code object has no others.
typedef enum CpuElfSymbol {
    CPU_ELF_KERNEL_INFO,
    CPU_ELF_STAGE_INFO,
    CPU_ELF_KERNEL,
    CPU_ELF_VERTEX,
    CPU_ELF_FRAGMENT,
    CPU_ELF_SITES,
    CPU_ELF_LINES,
    CPU_ELF_REMARKS,
    CPU_ELF_N_SYMBOLS
} CpuElfSymbol;

typedef struct CpuElf {
    const unsigned char *bytes; // the file, the caller's
    size_t n_bytes;
    Elf64_Phdr segments[CPU_ELF_SEGMENTS]; // what is loaded: in order, pages apart from each other
    size_t n_segments;
    uint64_t span;                       // of addresses, from 0 on; whole pages
    uint64_t settled_from, settled_to;   // written while it is loaded, and never after
    uint64_t symbols[CPU_ELF_N_SYMBOLS]; // addresses; 0: there is none
    // What is to be done to addresses in it: two tables in the file, and the names they mean.
    struct {
        uint64_t at;
        size_t n;
    } relocations[2];
    uint64_t names; // Elf64_Sym, in the file
    uint64_t n_names, strings, n_strings;
} CpuElf;

// False and a sentence about the file in `why`: it is no code object, or holds more than one may:
// more than one segment to write or to run, one of both, code that runs by itself, libraries,
// symbols beyond the contract.
bool cpu_elf_read(CpuElf *elf, const void *bytes, size_t n_bytes, char *why, size_t why_bytes);
// Brings what was read into memory. NULL: the system refuses, and `why` says so. The bytes must
// be as they were read.
char *cpu_elf_map(const CpuElf *elf, char *why, size_t why_bytes);
void cpu_elf_unmap(const CpuElf *elf, char *base);
#endif
