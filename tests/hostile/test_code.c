// SPDX-License-Identifier: Apache-2.0
// test_code.c: code objects that hold more than one may: each attempt changes a good one, and it
// must be refused for what it is before anything of it is mapped. HOSTILE_OBJECT names the good
// one.
#include "../unit.h"
#include "base/files.h"
#include "devices/cpu/cpu.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char *good, *bytes; // as it is, and as the attempt has it
static size_t n_good, n_bytes;

static Elf64_Ehdr *head(void) { return (Elf64_Ehdr *)bytes; }
static Elf64_Phdr *headers(void) { return (Elf64_Phdr *)(bytes + head()->e_phoff); }

// The first segment of a type with these flags (0: any).
static Elf64_Phdr *segment(uint32_t type, uint32_t flags) {
    for (unsigned i = 0; i < head()->e_phnum; i++)
        if (headers()[i].p_type == type && (!flags || headers()[i].p_flags == flags))
            return &headers()[i];
    fail_msg("no segment %u", type);
    return NULL;
}
static Elf64_Phdr *code(void) { return segment(PT_LOAD, PF_R | PF_X); }
static Elf64_Phdr *data(void) { return segment(PT_LOAD, PF_R | PF_W); }
static Elf64_Phdr *constants(void) { return segment(PT_LOAD, PF_R); }

// A word to the loader that is there, in place of which another is put.
static Elf64_Dyn *word(int64_t tag) {
    Elf64_Dyn *d = (Elf64_Dyn *)(bytes + segment(PT_DYNAMIC, 0)->p_offset);
    while (d->d_tag != DT_NULL && d->d_tag != tag) d++;
    assert_int_equal(d->d_tag, tag);
    return d;
}
static void say(int64_t tag, uint64_t value) { *word(DT_GNU_HASH) = (Elf64_Dyn){tag, {value}}; }

// Addresses of the first segment are places in the file.
static char *name_of(const Elf64_Sym *s) {
    return (char *)bytes + word(DT_STRTAB)->d_un.d_val + s->st_name;
}
static Elf64_Sym *symbol(const char *name) {
    Elf64_Sym *s = (Elf64_Sym *)(bytes + word(DT_SYMTAB)->d_un.d_val);
    for (int i = 1; i < 3; i++)
        if (!strcmp(name_of(&s[i]), name)) return &s[i];
    fail_msg("no symbol %s", name);
    return NULL;
}
static Elf64_Sym *kernel(void) { return symbol("ingot_kernel"); }
static Elf64_Sym *info(void) { return symbol("ingot_kernel_info"); }
static void undefine(const char *name) {
    Elf64_Sym *s = info();
    strcpy(name_of(s), name);
    s->st_shndx = SHN_UNDEF;
}

// One relocation, in the last bytes of the constants.
static void relocate(uint64_t place, uint32_t type, uint32_t name, int64_t addend) {
    uint64_t at = (constants()->p_filesz - sizeof(Elf64_Rela)) & ~(uint64_t)7;
    Elf64_Rela a = {place, ELF64_R_INFO((uint64_t)name, type), addend};
    memcpy(bytes + at, &a, sizeof a);
    *word(DT_FLAGS_1) = (Elf64_Dyn){DT_RELASZ, {sizeof a}};
    say(DT_RELA, at);
}
#if defined(__x86_64__)
enum { RELATIVE = R_X86_64_RELATIVE, NAMED = R_X86_64_64, RESOLVED = R_X86_64_IRELATIVE };
#else
enum { RELATIVE = R_AARCH64_RELATIVE, NAMED = R_AARCH64_ABS64, RESOLVED = R_AARCH64_IRELATIVE };
#endif

typedef struct Attempt {
    const char *name;
    void (*forge)(void);
    const char *expect; // in the message
} Attempt;

#define ATTEMPT(name, body)                                                                        \
    static void name(void) { body; }
ATTEMPT(code_to_write, code()->p_flags |= PF_W)
ATTEMPT(data_to_run, data()->p_flags |= PF_X)
ATTEMPT(constants_to_run, constants()->p_flags |= PF_X)
ATTEMPT(constants_to_write,
        (constants()->p_flags |= PF_W, segment(PT_GNU_RELRO, 0)->p_type = PT_NULL))
ATTEMPT(constants_unreadable, constants()->p_flags = 0)
ATTEMPT(stack_to_run, segment(PT_GNU_STACK, 0)->p_flags |= PF_X)
ATTEMPT(thread_local_memory, segment(PT_PHDR, 0)->p_type = PT_TLS)
ATTEMPT(another_loader, segment(PT_PHDR, 0)->p_type = PT_INTERP)
ATTEMPT(initialiser, say(DT_INIT, code()->p_vaddr))
ATTEMPT(finaliser, say(DT_FINI, code()->p_vaddr))
ATTEMPT(initialisers, say(DT_INIT_ARRAY, data()->p_vaddr))
ATTEMPT(finalisers, say(DT_FINI_ARRAY, data()->p_vaddr))
ATTEMPT(early_initialisers, say(DT_PREINIT_ARRAY, data()->p_vaddr))
ATTEMPT(library, say(DT_NEEDED, 1))
ATTEMPT(library_path, say(DT_RUNPATH, 1))
ATTEMPT(auditor, say(DT_AUDIT, 1))
ATTEMPT(filter, say(DT_FILTER, 1))
ATTEMPT(code_relocated, say(DT_TEXTREL, 0))
ATTEMPT(code_relocated_by_flag, say(DT_FLAGS, DF_TEXTREL))
ATTEMPT(packed_relocations, say(DT_RELR, 0))
ATTEMPT(short_relocations, say(DT_REL, 0))
ATTEMPT(foreign_symbol, name_of(info())[0] = 'x')
ATTEMPT(host_system, undefine("system"))
ATTEMPT(host_mmap, undefine("mmap"))
ATTEMPT(host_tls, undefine("__tls_get_addr"))
ATTEMPT(name_outside, kernel()->st_name = 0x7fffffff)
ATTEMPT(resolver, kernel()->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_GNU_IFUNC))
ATTEMPT(kernel_in_constants, kernel()->st_value = info()->st_value)
ATTEMPT(kernel_in_data, kernel()->st_value = data()->p_vaddr)
ATTEMPT(kernel_outside, kernel()->st_value = 0xffffffff00000000u)
ATTEMPT(info_in_code, info()->st_value = code()->p_vaddr)
ATTEMPT(info_at_the_end, info()->st_value = constants()->p_vaddr + constants()->p_memsz - 8)
ATTEMPT(twice, memcpy(name_of(info()), "ingot_kernel", 13))
ATTEMPT(segment_outside, code()->p_offset = 0x7ffffffff000u)
ATTEMPT(segment_longer_than_memory, data()->p_memsz = 1)
ATTEMPT(segment_huge, data()->p_memsz = UINT64_MAX - 4096)
ATTEMPT(segment_over_another, data()->p_vaddr = code()->p_vaddr)
ATTEMPT(segment_off_its_page, code()->p_vaddr += 8)
ATTEMPT(segments_many, head()->e_phnum = 0xffff)
ATTEMPT(segments_outside, head()->e_phoff = UINT64_MAX - 8)
ATTEMPT(sections_outside, head()->e_shoff = UINT64_MAX - 8)
ATTEMPT(other_machine, head()->e_machine = EM_MIPS)
ATTEMPT(program, head()->e_type = ET_EXEC)
ATTEMPT(other_class, head()->e_ident[EI_CLASS] = ELFCLASS32)
ATTEMPT(no_words, segment(PT_DYNAMIC, 0)->p_vaddr = 0x123456789)
ATTEMPT(names_outside, word(DT_STRTAB)->d_un.d_val = UINT64_MAX - 4)
ATTEMPT(names_endless, word(DT_STRSZ)->d_un.d_val = UINT64_MAX)
ATTEMPT(relocation_of_code, relocate(code()->p_vaddr, RELATIVE, 0, 0))
ATTEMPT(relocation_of_constants, relocate(info()->st_value, RELATIVE, 0, 0))
ATTEMPT(relocation_outside, relocate(0x7fffffff0000, RELATIVE, 0, 0))
ATTEMPT(relocation_to_outside, relocate(data()->p_vaddr, RELATIVE, 0, -4096))
ATTEMPT(relocation_by_code, relocate(data()->p_vaddr, RESOLVED, 0, 0))
ATTEMPT(relocation_by_nothing, relocate(data()->p_vaddr, NAMED, 0, 0))
ATTEMPT(relocation_by_no_name, relocate(data()->p_vaddr, NAMED, 77777, 0))
ATTEMPT(relocations_outside,
        (relocate(data()->p_vaddr, RELATIVE, 0, 0), word(DT_RELA)->d_un.d_val = UINT64_MAX - 8))
ATTEMPT(cut, n_bytes = 1000)
ATTEMPT(cut_in_the_head, n_bytes = 20)

static const Attempt attempts[] = {
#define A(name, expect) {#name, name, expect}
    A(code_to_write, "a segment that is writable and executable"),
    A(data_to_run, "a segment that is writable and executable"),
    A(constants_to_run, "more than one segment of code"),
    A(constants_to_write, "more than one segment to write"),
    A(constants_unreadable, "a segment without read permission"),
    A(stack_to_run, "a stack to run"),
    A(thread_local_memory, "a segment of a kind"),
    A(another_loader, "a segment of a kind"),
    A(initialiser, "initialisers or finalisers"),
    A(finaliser, "initialisers or finalisers"),
    A(initialisers, "initialisers or finalisers"),
    A(finalisers, "initialisers or finalisers"),
    A(early_initialisers, "initialisers or finalisers"),
    A(library, "another library"),
    A(library_path, "words to the loader"),
    A(auditor, "words to the loader"),
    A(filter, "words to the loader"),
    A(code_relocated, "code that is written to"),
    A(code_relocated_by_flag, "code that is written to"),
    A(packed_relocations, "words to the loader"),
    A(short_relocations, "words to the loader"),
    A(foreign_symbol, "a symbol beyond the contract 'xngot_kernel_info'"),
    A(host_system, "a function of somebody else 'system'"),
    A(host_mmap, "a function of somebody else 'mmap'"),
    A(host_tls, "a function of somebody else '__tls_get_addr'"),
    A(name_outside, "its symbols"),
    A(resolver, "not what it should be"),
    A(kernel_in_constants, "not what it should be"),
    A(kernel_in_data, "not what it should be"),
    A(kernel_outside, "not what it should be"),
    A(info_in_code, "not what it should be"),
    A(info_at_the_end, "not what it should be"),
    A(twice, "not what it should be"),
    A(segment_outside, "a segment outside of the file"),
    A(segment_longer_than_memory, "a segment outside of the file"),
    A(segment_huge, "a segment that is too large"),
    A(segment_over_another, "segments on each other's pages"),
    A(segment_off_its_page, "segments on each other's pages"),
    A(segments_many, "its table of segments"),
    A(segments_outside, "its table of segments"),
    A(sections_outside, "its table of sections"),
    A(other_machine, "no shared object for this machine"),
    A(program, "no shared object for this machine"),
    A(other_class, "no shared object for this machine"),
    A(no_words, "its table for the loader"),
    A(names_outside, "its symbols"),
    A(names_endless, "its symbols"),
    A(relocation_of_code, "a relocation of memory that is not writable"),
    A(relocation_of_constants, "a relocation of memory that is not writable"),
    A(relocation_outside, "a relocation of memory that is not writable"),
    A(relocation_to_outside, "an address outside of it"),
    A(relocation_by_code, "a relocation of a kind"),
    A(relocation_by_nothing, "a relocation of a kind"),
    A(relocation_by_no_name, "a relocation of a kind"),
    A(relocations_outside, "relocations outside of the file"),
    A(cut, "the code object is refused"),
    A(cut_in_the_head, "it is too short"),
};

static void begin(void) {
    memcpy(bytes, good, n_good);
    n_bytes = n_good;
}

static void forged_objects_are_refused(void **state) {
    (void)state;
    int n_failed = 0;
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
        char why[256] = "";
        begin();
        attempts[i].forge();
        DevCode *loaded = cpu_code_load(bytes, n_bytes, why, sizeof why);
        if (loaded || !strstr(why, attempts[i].expect)) {
            printf("%s: %s'%s', expected '%s'\n", attempts[i].name, loaded ? "loaded " : "", why,
                   attempts[i].expect);
            n_failed++;
        }
        cpu_code_free(loaded);
    }
    printf("%zu attempts\n", sizeof attempts / sizeof *attempts);
    assert_int_equal(n_failed, 0);
}

// The other outcome, so that the ones above say something; also with a relocation that is fine.
static void good_objects_load(void **state) {
    (void)state;
    char why[256] = "";
    begin();
    DevCode *loaded = cpu_code_load(bytes, n_bytes, why, sizeof why);
    assert_string_equal(why, "");
    cpu_code_free(loaded);
    relocate(data()->p_vaddr, RELATIVE, 0, 64);
    loaded = cpu_code_load(bytes, n_bytes, why, sizeof why);
    assert_string_equal(why, "");
    cpu_code_free(loaded);
}

int main(void) {
    const char *path = getenv("HOSTILE_OBJECT");
    good = path ? file_read(path, &n_good) : NULL;
    bytes = good ? malloc(n_good) : NULL;
    if (!bytes) {
        fprintf(stderr, "HOSTILE_OBJECT names no code object\n");
        return 2;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forged_objects_are_refused),
        cmocka_unit_test(good_objects_load),
    };
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    free(bytes);
    free(good);
    return status;
}
