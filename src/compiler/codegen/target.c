// SPDX-License-Identifier: Apache-2.0
// target.c: the machine the code is for, and the last step: module -> object -> shared object.
// Input: target, cpu and features of the request (NULL: this machine; of another architecture: what
// all of its processors have). AVX-512 vectors are used in full
// only when both prefer-vector-width and min-legal-vector-width say so; without AVX-512 neither is
// set. Vectors of SVE are used when the features say how long they are: "+sve,sve-bits=256".
#include "compiler/codegen/gpu.h"
#include "compiler/frontend/bridge.h"
#include <elf.h>
#include <llvm-c/Support.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Scheduling once more after register allocation takes quadratic time on the long blocks
// vectorising makes (half of all time on large kernels) and brings nothing measurable. Processors
// such as AMD's ask for it. The linker sets all options of LLVM back, so this is said again after
// it.
static void set_options(void) {
    static const char *const options[] = {"mslc", "-disable-post-ra"};
    LLVMParseCommandLineOptions(2, options, NULL);
}

static void init_host(void) {
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
    set_options();
}

static void init_all(void) {
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers();
}

static const char *target_of(const MslKernelRequest *r) {
    return r->target && strcmp(r->target, MSL_TARGET_HOST) ? r->target : MSL_TARGET_SELF;
}

static bool is_target(const MslKernelRequest *r, const char *name) {
    return !strcmp(target_of(r), name);
}

bool msl_knows_target(const char *target) {
    return !target || !strcmp(target, MSL_TARGET_HOST) || !strcmp(target, MSL_TARGET_X86_64) ||
           !strcmp(target, MSL_TARGET_AARCH64) || msl_ptx_version(target);
}

// LLVM-C has no table of CPU names, and LLVM prints to stderr on one it does not know and goes on
// with the baseline: at least what cannot be a name is refused.
static bool plausible_cpu(const char *cpu) {
    for (const char *p = cpu; *p; p++)
        if (!(*p >= 'a' && *p <= 'z') && !(*p >= '0' && *p <= '9') && !strchr("-_+.", *p))
            return false;
    return *cpu != 0;
}

// Is `word` one of the comma-separated features? ("-avx512f" is not "-avx512fp16".)
static bool has_word(const char *features, const char *word) {
    size_t n = strlen(word);
    for (const char *at = features; (at = strstr(at, word)); at += n)
        if ((at == features || at[-1] == ',') && (at[n] == 0 || at[n] == ',')) return true;
    return false;
}

static bool is_one_of(const char *cpu, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (msl_starts(cpu, names[i])) return true;
    return false;
}

static bool has_avx512(const char *cpu, const char *features) {
    static const char *const names[] = {
        "x86-64-v4",     "skylake-avx512", "cascadelake", "cooperlake",     "cannonlake",
        "icelake",       "tigerlake",      "rocketlake",  "sapphirerapids", "emeraldrapids",
        "graniterapids", "diamondrapids",  "znver4",      "znver5"};
    if (has_word(features, "-avx512f")) return false;
    if (has_word(features, "+avx512f")) return true;
    return is_one_of(cpu, names, sizeof names / sizeof *names);
}

// Instructions that round to bfloats.
static bool has_bf16(const char *cpu, const char *features) {
    static const char *const names[] = {"cooperlake",    "sapphirerapids", "emeraldrapids",
                                        "graniterapids", "diamondrapids",  "znver4",
                                        "znver5"};
    if (has_word(features, "-avx512bf16")) return false;
    if (has_word(features, "+avx512bf16")) return true;
    return is_one_of(cpu, names, sizeof names / sizeof *names);
}

// Instructions that compute with halves, fused multiply-adds among them.
static bool has_fp16(const MslContext *cx, const char *cpu, const char *features) {
    static const char *const names[] = {"sapphirerapids", "emeraldrapids", "graniterapids",
                                        "diamondrapids"};
    if (cx->aarch64) return has_word(features, "+fullfp16");
    if (!cx->avx512 || has_word(features, "-avx512fp16")) return false;
    return has_word(features, "+avx512fp16") || is_one_of(cpu, names, sizeof names / sizeof *names);
}

// And FMA. A processor that is not in the list runs code without.
static bool has_avx2(const char *cpu, const char *features) {
    static const char *const names[] = {"x86-64-v3", "haswell",   "broadwell",  "skylake",
                                        "znver",     "alderlake", "raptorlake", "meteorlake",
                                        "arrowlake", "lunarlake", "core-avx2"};
    if (has_word(features, "-avx2") || has_word(features, "-fma")) return false;
    if (has_word(features, "+avx2") && has_word(features, "+fma")) return true;
    return is_one_of(cpu, names, sizeof names / sizeof *names);
}

// Our own word among the features says how long vectors of SVE are: LLVM is told per function.
static const char sve_word[] = "sve-bits=";

static const char *find_sve_word(const char *features) {
    const char *at = features ? strstr(features, sve_word) : NULL;
    return at && (at == features || at[-1] == ',') ? at : NULL;
}

// Longer than NEON's, and a power of two, as LLVM wants it and all processors have it; 0 otherwise.
static unsigned sve_bits_of(const char *features) {
    enum { NEON_BITS = 128, MOST_BITS = 2048 };
    const char *at = find_sve_word(features);
    unsigned long bits = at ? strtoul(at + sizeof sve_word - 1, NULL, 10) : 0;
    bool sane = bits > NEON_BITS && bits <= MOST_BITS && (bits & (bits - 1)) == 0;
    return sane && has_word(features, "+sve") ? (unsigned)bits : 0;
}

// The features without that word, for LLVM. The caller frees it.
static char *features_of_llvm(Cg *cg, const char *features) {
    char *copy = strdup(features), *at = copy ? (char *)find_sve_word(copy) : NULL;
    if (!copy) msl_fail(&cg->cx, "out of memory");
    if (!at) return copy;
    char *end = at + strcspn(at, ",");
    if (*end)
        end++; // the comma behind goes with it, or the one in front
    else if (at > copy)
        at--;
    memmove(at, end, strlen(end) + 1);
    return copy;
}

// A machine's description takes as long to make as a small kernel's code, and kernels come one
// after the other for the same one: the last is kept, of each tier.
typedef struct Kept {
    LLVMTargetMachineRef machine;
    char *target, *cpu, *features; // as asked for; "?": not at all
    LLVMCodeGenOptLevel level;
} Kept;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static Kept kept[2]; // under kept_lock

static const char *or_none(const char *text) { return text ? text : "?"; }

// Baseline code: what takes most of the time, allocating registers and putting instructions in
// order, is done block by block and not at all. Results are the same: which products fuse into sums
// was decided long before.
static LLVMCodeGenOptLevel level_of(const Cg *cg) {
    const MslKernelRequest *r = cg->request;
    if (cg->cx.nvptx) return LLVMCodeGenLevelAggressive;
    if (msl_is_debugged(cg) || (r->tier == TIER_BASELINE && !cg->cx.aarch64))
        return LLVMCodeGenLevelNone;
    return LLVMCodeGenLevelDefault;
}

static LLVMTargetMachineRef take_kept(const Cg *cg) {
    const MslKernelRequest *r = cg->request;
    LLVMTargetMachineRef machine = NULL;
    pthread_mutex_lock(&kept_lock);
    Kept *k = &kept[r->tier];
    if (k->machine && k->level == level_of(cg) && is_target(r, k->target) &&
        !strcmp(k->cpu, or_none(r->cpu)) && !strcmp(k->features, or_none(r->features))) {
        machine = k->machine;
        k->machine = NULL;
    }
    pthread_mutex_unlock(&kept_lock);
    return machine;
}

void msl_close_target(Cg *cg) {
    const MslKernelRequest *r = cg->request;
    if (!cg->cx.machine) return;
    Kept old = {cg->cx.machine, strdup(target_of(r)), strdup(or_none(r->cpu)),
                strdup(or_none(r->features)), level_of(cg)};
    pthread_mutex_lock(&kept_lock);
    if (old.target && old.cpu && old.features) {
        Kept own = old;
        old = kept[r->tier];
        kept[r->tier] = own;
    }
    pthread_mutex_unlock(&kept_lock);
    if (old.machine) LLVMDisposeTargetMachine(old.machine);
    free(old.target), free(old.cpu), free(old.features);
}

static LLVMTargetRef find_target(Cg *cg, const char *triple, const char *what) {
    LLVMTargetRef target;
    char *error = NULL;
    if (!LLVMGetTargetFromTriple(triple, &target, &error)) return target;
    LLVMDisposeMessage(error);
    msl_fail(&cg->cx, "LLVM has no code generator for %s", what);
}

static LLVMTargetMachineRef make_gpu_machine(Cg *cg) {
    static const char triple[] = "nvptx64-nvidia-cuda";
    const MslKernelRequest *r = cg->request;
    return LLVMCreateTargetMachine(find_target(cg, triple, r->target), triple, r->target,
                                   msl_ptx_version(r->target), level_of(cg), LLVMRelocDefault,
                                   LLVMCodeModelDefault);
}

static LLVMTargetMachineRef make_machine(Cg *cg) {
    const char *cpu = cg->request->cpu, *features = cg->request->features;
    bool self = is_target(cg->request, MSL_TARGET_SELF);
    if (cg->cx.nvptx) return make_gpu_machine(cg);
    char triple[80];
    char *own = LLVMGetDefaultTargetTriple();
    snprintf(triple, sizeof triple, "%s",
             self             ? own
             : cg->cx.aarch64 ? "aarch64-unknown-linux-gnu"
                              : "x86_64-unknown-linux-gnu");
    LLVMDisposeMessage(own);
    LLVMTargetRef target = find_target(cg, triple, self ? "this machine" : cg->request->target);
    char *host_cpu = LLVMGetHostCPUName(), *host_features = LLVMGetHostCPUFeatures();
    if (!features) features = cpu || !self ? "" : host_features;
    if (!cpu) cpu = self ? host_cpu : cg->cx.aarch64 ? "generic" : "x86-64";
    char *known = features_of_llvm(cg, features);
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(target, triple, cpu, known, level_of(cg),
                                                           LLVMRelocPIC, LLVMCodeModelSmall);
    free(known);
    LLVMDisposeMessage(host_cpu);
    LLVMDisposeMessage(host_features);
    return machine;
}

void msl_open_target(Cg *cg) {
    MslContext *cx = &cg->cx;
    static pthread_once_t host = PTHREAD_ONCE_INIT, all = PTHREAD_ONCE_INIT;
    pthread_once(&host, init_host);
    if (!is_target(cg->request, MSL_TARGET_SELF)) pthread_once(&all, init_all);
    cx->aarch64 = is_target(cg->request, MSL_TARGET_AARCH64);
    cx->nvptx = msl_ptx_version(cg->request->target) != NULL;
    const char *cpu = cg->request->cpu;
    if (cpu && !plausible_cpu(cpu)) msl_fail(cx, "unknown CPU '%s'", cpu);
    cx->machine = take_kept(cg);
    if (!cx->machine) cx->machine = make_machine(cg);
    if (!cx->machine) msl_fail(cx, "no code generator for CPU '%s'", cpu ? cpu : "host");
    cx->layout = LLVMCreateTargetDataLayout(cx->machine);
    cx->cpu = cg->cpu = LLVMGetTargetMachineCPU(cx->machine);
    cx->features = cg->features = LLVMGetTargetMachineFeatureString(cx->machine);
    cx->sve_bits = cx->aarch64 ? sve_bits_of(cg->request->features) : 0;
    cx->avx512 = !cx->nvptx && !cx->aarch64 && has_avx512(cx->cpu, cx->features);
    cx->bf16 = cx->avx512 && has_bf16(cx->cpu, cx->features);
    cx->fp16 = !cx->nvptx && has_fp16(cx, cx->cpu, cx->features);
    cx->avx2 = cx->avx512 || (!cx->nvptx && !cx->aarch64 && has_avx2(cx->cpu, cx->features));
}

static bool is_bfloat(LLVMTypeRef type) {
    bool vector = LLVMGetTypeKind(type) == LLVMVectorTypeKind;
    return LLVMGetTypeKind(vector ? LLVMGetElementType(type) : type) == LLVMBFloatTypeKind;
}

static bool has_bfloats(LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (is_bfloat(LLVMTypeOf(i))) return true;
                for (int k = 0; k < LLVMGetNumOperands(i); k++)
                    if (is_bfloat(LLVMTypeOf(LLVMGetOperand(i, (unsigned)k)))) return true;
            }
    return false;
}

static void remove_text_attribute(LLVMValueRef f, const char *name) {
    LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name));
}

// Functions of different origin (user code, headers, device/) must agree, or nothing is inlined.
void msl_set_target_attributes(Cg *cg) {
    MslContext *cx = &cg->cx;
    // LLVM 22 ends the process over vectors of bfloats in registers of SVE.
    if (cx->sve_bits && has_bfloats(cx->module)) cx->sve_bits = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(cx->module); f; f = LLVMGetNextFunction(f)) {
        static const char *const drop[] = {"target-cpu",
                                           "target-features",
                                           "tune-cpu",
                                           "frame-pointer",
                                           "min-legal-vector-width",
                                           "prefer-vector-width",
                                           "stack-protector-buffer-size",
                                           "no-trapping-math",
                                           "uniform-work-group-size",
                                           "probe-stack"};
        for (size_t i = 0; i < sizeof drop / sizeof *drop; i++) remove_text_attribute(f, drop[i]);
        LLVMSetFunctionCallConv(f, LLVMCCallConv);
        if (LLVMIsDeclaration(f)) continue;
        static const char *const kinds[] = {"sspstrong", "ssp", "uwtable", "vscale_range"};
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            LLVMRemoveEnumAttributeAtIndex(
                f, LLVMAttributeFunctionIndex,
                LLVMGetEnumAttributeKindForName(kinds[i], strlen(kinds[i])));
        msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "nounwind", 0);
        if (msl_is_debugged(cg)) msl_add_text_attribute(cx, f, "frame-pointer", "all");
        msl_add_text_attribute(cx, f, "no-builtins", "");
        // Estimates with a Newton step make NaN of 1 / sqrt(0), and differ between vector and
        // scalar.
        msl_add_text_attribute(cx, f, "reciprocal-estimates", "none");
        if (cx->avx512) {
            msl_add_text_attribute(cx, f, "prefer-vector-width", "512");
            msl_add_text_attribute(cx, f, "min-legal-vector-width", "512");
        }
        if (cx->sve_bits) {
            uint64_t blocks = cx->sve_bits / 128; // the least number of them, and the greatest
            msl_add_attribute(cx, f, LLVMAttributeFunctionIndex, "vscale_range",
                              blocks << 32 | blocks);
        }
    }
}

// The loader resolves these; a code object that needs anything else would fail in the application.
bool msl_is_host_symbol(const char *name) {
    static const char *const names[] = {"", "memcpy", "memset", "memmove", "_GLOBAL_OFFSET_TABLE_"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

// The name of the first symbol of an object that `see` says true of, or NULL. Objects are LLVM's
// own: trusted.
typedef bool SeeSymbol(const char *name, const Elf64_Sym *symbol, const void *context);
static const char *find_symbol(const unsigned char *object, SeeSymbol *see, const void *context) {
    const Elf64_Ehdr *header = (const void *)object;
    const Elf64_Shdr *sections = (const void *)(object + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) continue;
        const Elf64_Sym *symbols = (const void *)(object + sections[i].sh_offset);
        const char *names = (const char *)object + sections[sections[i].sh_link].sh_offset;
        for (size_t k = 0; k < sections[i].sh_size / sizeof *symbols; k++)
            if (see(names + symbols[k].st_name, &symbols[k], context))
                return names + symbols[k].st_name;
    }
    return NULL;
}

static bool is_defined_as(const char *name, const Elf64_Sym *symbol, const void *wanted) {
    return symbol->st_shndx != SHN_UNDEF && !strcmp(name, wanted);
}

typedef struct Objects {
    MslElf at[3];
    size_t n;
} Objects;

static void add_object(Objects *o, MslElf object) { o->at[o->n++] = object; }

static bool is_missing(const char *name, const Elf64_Sym *symbol, const void *objects) {
    const Objects *o = objects;
    if (symbol->st_shndx != SHN_UNDEF || msl_is_host_symbol(name)) return false;
    for (size_t i = 1; i < o->n; i++)
        if (find_symbol(o->at[i].bytes, is_defined_as, name)) return false;
    return true;
}

LLVMMemoryBufferRef msl_emit(Cg *cg) {
    MslContext *cx = &cg->cx;
    bool assembly = cx->nvptx || (cg->request->emit && !strcmp(cg->request->emit, "asm"));
    char *error = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    // LLVM's scheduler would put what lower/schedule.c brought together in an order of its own (5x5
    // blur, AVX2: 0.96x, and 1.15x the time to compile). What other kernels gain or lose is not
    // known.
    bridge_schedule(!cg->loop.filter);
    if (LLVMTargetMachineEmitToMemoryBuffer(cx->machine, cx->module,
                                            assembly ? LLVMAssemblyFile : LLVMObjectFile, &error,
                                            &buffer)) {
        char copy[512];
        snprintf(copy, sizeof copy, "%s", error ? error : "");
        LLVMDisposeMessage(error);
        msl_fail(cx, "internal error: code generation: %s", copy);
    }
    if (cg->diagnostics) {
        LLVMDisposeMemoryBuffer(buffer);
        msl_fail(cx, "internal error: code generation: %s", cg->diagnostics);
    }
    return buffer;
}

bool msl_take_text(const char *start, size_t n, MslKernel *out) {
    out->code = malloc(n + 1);
    if (!out->code) return false;
    memcpy(out->code, start, n);
    out->code[n] = 0;
    out->code_bytes = n;
    return true;
}

void msl_link(Cg *cg, LLVMMemoryBufferRef buffer, MslKernel *out) {
    const unsigned char *start = (const unsigned char *)LLVMGetBufferStart(buffer);
    size_t n = LLVMGetBufferSize(buffer);
    char why[512] = "";
    if (cg->request->emit) {
        if (!msl_take_text((const char *)start, n, out)) snprintf(why, sizeof why, "out of memory");
    } else {
        Objects o = {0};
        add_object(&o, (MslElf){start, n});
        if (cg->loop.linked)
            add_object(&o,
                       msl_device_code(cg, cg->loop.waits ? MSL_DEVICE_WAITING : MSL_DEVICE_GROUP));
        // Which functions of codegen/support/support.c code needs shows only when it is made.
        if (find_symbol(start, is_missing, &o))
            add_object(&o, msl_device_code(cg, MSL_DEVICE_SUPPORT));
        const char *missing = find_symbol(start, is_missing, &o);
        char *link_error = NULL;
        if (missing) {
            snprintf(why, sizeof why, "the kernel needs the function '%s', which is not defined",
                     missing);
        } else if (!msl_link_shared(o.at, o.n, &out->code, &out->code_bytes, &link_error)) {
            snprintf(why, sizeof why, "internal error: linking: %s", link_error ? link_error : "");
        }
        if (!missing) set_options();
        free(link_error);
    }
    LLVMDisposeMemoryBuffer(buffer);
    if (why[0]) msl_fail(&cg->cx, "%s", why);
}
