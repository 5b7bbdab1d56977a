// SPDX-License-Identifier: Apache-2.0
// isa.c: instruction-set detection (CPUID), done once.
#include "devices/cpu/isa/isa.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#if defined(__x86_64__)
// The compiler's question knows no AMX: processor (bf16, tile, int8) and system (state of tiles).
// Whether the process may use it is another question, which the code asks that does (amx.c).
static bool has_amx(void) {
#ifdef CPU_AMX_EMULATED // tests: tiles in software
    return true;
#else
    unsigned a, b, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
    const unsigned needed = 1u << 22 | 1u << 24 | 1u << 25;
    if ((d & needed) != needed) return false;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & 1u << 27)) return false; // XGETBV
    unsigned low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 3u << 17) == 3u << 17;
#endif
}

static CpuIsa detect(void) {
    // Every processor with AVX2 has F16C, for which clang 14 has no name here.
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return CPU_ISA_BASE;
    if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
        !__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq"))
        return CPU_ISA_AVX2;
    if (!__builtin_cpu_supports("avx512vnni")) return CPU_ISA_AVX512;
    if (!__builtin_cpu_supports("avx512bf16")) return CPU_ISA_VNNI;
    return has_amx() ? CPU_ISA_AMX : CPU_ISA_BF16;
}
#else
static CpuIsa detect(void) { return CPU_ISA_BASE; }
#endif

// Both one more than the set; 0: not known yet. Whoever asks first writes what all would write.
static atomic_int best, in_use;

bool cpu_isa_exists(CpuIsa isa) {
    int known = atomic_load_explicit(&best, memory_order_relaxed);
    if (known == 0) {
        known = (int)detect() + 1;
        atomic_store_explicit(&best, known, memory_order_relaxed);
    }
    return (int)isa < known;
}

bool cpu_isa_use(CpuIsa isa) {
    if (!cpu_isa_exists(isa)) return false;
    atomic_store_explicit(&in_use, (int)isa + 1, memory_order_relaxed);
    return true;
}

// INGOT_CPU names what code is made for; a level of x86-64 holds for the code here as well, so that
// one setting shows what a lesser machine does.
static CpuIsa named_by_user(void) {
    static const struct {
        const char *name;
        CpuIsa last;
    } levels[] = {{"x86-64", CPU_ISA_BASE},
                  {"x86-64-v2", CPU_ISA_BASE},
                  {"x86-64-v3", CPU_ISA_AVX2},
                  {"x86-64-v4", CPU_ISA_AVX512}};
    const char *cpu = getenv("INGOT_CPU");
    for (size_t i = 0; cpu && i < sizeof levels / sizeof *levels; i++)
        if (strcmp(cpu, levels[i].name) == 0) return levels[i].last;
    return CPU_N_ISAS;
}

CpuIsa cpu_isa(void) {
    int isa = atomic_load_explicit(&in_use, memory_order_relaxed);
    if (isa == 0) {
        cpu_isa_exists(CPU_ISA_NONE);
        isa = atomic_load_explicit(&best, memory_order_relaxed);
        int wanted = (int)named_by_user() + 1;
        if (wanted < isa) isa = wanted;
        atomic_store_explicit(&in_use, isa, memory_order_relaxed);
    }
    return (CpuIsa)(isa - 1);
}
