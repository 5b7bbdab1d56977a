// SPDX-License-Identifier: Apache-2.0
// block_imp.c: imp_implementationWithBlock: a method that calls a block. Each one is a stub of
// machine code that puts the block before self and jumps. Stubs stand in pages of an anonymous file
// that is mapped twice: one mapping is written, the other executed, so that no page is ever both.
#include "mac/objc/objc_int.h"
#include "mac/objc/block.h"
#include <Block.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STUB_BYTES = 64, PAGE_BYTES = 65536, N_STUBS = PAGE_BYTES / STUB_BYTES };

typedef struct Stub { // code, then what it reads
    uint8_t code[40];
    Block *block; // NULL: free
    void (*invoke)(void);
    uint8_t rest[8];
} Stub;
_Static_assert(sizeof(Stub) == STUB_BYTES, "a stub");

typedef struct Page {
    struct Page *next;
    Stub *written, *executed;
} Page;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Page *pages;

#if defined(__x86_64__)
static const uint8_t plain_code[] = {
    0x48, 0x89, 0xfe,                         // mov %rdi, %rsi: self behind the block
    0x48, 0x8b, 0x3d, 0x1e, 0x00, 0x00, 0x00, // mov block(%rip), %rdi
    0xff, 0x25, 0x20, 0x00, 0x00, 0x00,       // jmp *invoke(%rip)
};
static const uint8_t memory_code[] = {
    0x48, 0x89, 0xf2,                         // mov %rsi, %rdx
    0x48, 0x8b, 0x35, 0x1e, 0x00, 0x00, 0x00, // mov block(%rip), %rsi
    0xff, 0x25, 0x20, 0x00, 0x00, 0x00,       // jmp *invoke(%rip)
};
#else
static const uint8_t plain_code[] = {
    0xe1, 0x03, 0x00, 0xaa, // mov x1, x0
    0x20, 0x01, 0x00, 0x58, // ldr x0, block (+36)
    0x50, 0x01, 0x00, 0x58, // ldr x16, invoke (+40)
    0x00, 0x02, 0x1f, 0xd6, // br x16
};
#define memory_code plain_code // the result's address is in x8
#endif

static Page *new_page(void) {
    int file = memfd_create("objc-blocks", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, PAGE_BYTES)) objc_fatal("no memory for methods of blocks");
    void *written = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void *executed = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    close(file);
    if (written == MAP_FAILED || executed == MAP_FAILED)
        objc_fatal("no memory for methods of blocks");
    Page *page = objc_zeroed(sizeof *page);
    *page = (Page){pages, written, executed};
    return pages = page;
}

static Stub *free_stub(Page **page) {
    for (*page = pages; *page; *page = (*page)->next)
        for (int i = 0; i < N_STUBS; i++)
            if (!(*page)->written[i].block) return &(*page)->written[i];
    *page = new_page();
    return (*page)->written;
}

IMP imp_implementationWithBlock(id block) {
    if (!block) return NULL;
    Block *copy = _Block_copy(block);
    int flags = atomic_load(&copy->flags);
    bool memory = flags & BLOCK_HAS_SIGNATURE && flags & BLOCK_RESULT_IN_MEMORY;
    pthread_mutex_lock(&lock);
    Page *page;
    Stub *stub = free_stub(&page);
    memcpy(stub->code, memory ? memory_code : plain_code,
           memory ? sizeof memory_code : sizeof plain_code);
    stub->block = copy, stub->invoke = copy->invoke;
    Stub *executed = page->executed + (stub - page->written);
    pthread_mutex_unlock(&lock);
    __builtin___clear_cache((char *)executed, (char *)(executed + 1));
    union {
        void *data;
        IMP code;
    } address = {.data = executed};
    return address.code;
}

static Stub *stub_of(IMP imp) { // locked
    union {
        IMP code;
        char *data;
    } address = {.code = imp};
    for (Page *p = pages; p; p = p->next)
        if (address.data >= (char *)p->executed && address.data < (char *)p->executed + PAGE_BYTES)
            return p->written + (address.data - (char *)p->executed) / STUB_BYTES;
    return NULL;
}

id imp_getBlock(IMP imp) {
    pthread_mutex_lock(&lock);
    Stub *stub = stub_of(imp);
    Block *block = stub ? stub->block : NULL;
    pthread_mutex_unlock(&lock);
    return (id)block;
}

BOOL imp_removeBlock(IMP imp) {
    pthread_mutex_lock(&lock);
    Stub *stub = stub_of(imp);
    Block *block = stub ? stub->block : NULL;
    if (block) stub->block = NULL, stub->invoke = NULL;
    pthread_mutex_unlock(&lock);
    _Block_release(block);
    return block != NULL;
}
