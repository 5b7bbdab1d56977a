// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/bridge.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

// The object travels through a memfd; the output needs a real folder, because lld writes a sibling
// file and renames it. Shared memory when there is some, else the temporary folder.
static int outputFolder(char *path, size_t n) {
    const char *tmp = getenv("TMPDIR");
    for (const char *base : {"/dev/shm", tmp && *tmp ? tmp : "/tmp", "/tmp"}) {
        snprintf(path, n, "%s/ingot-link-XXXXXX", base);
        if (mkdtemp(path)) return 0;
    }
    return -1;
}

bool msl_link_shared(const void *object, size_t n, unsigned char **so, size_t *so_bytes, char **error) {
    static std::mutex lock; // lld's state is global
    std::lock_guard<std::mutex> guard(lock);
    *so = nullptr, *so_bytes = 0, *error = nullptr;
    std::string text;
    llvm::raw_string_ostream os(text);
    char dir[4096];
    int in = memfd_create("ingot.o", MFD_CLOEXEC);
    llvm::raw_fd_ostream object_os(in, false);
    if (in >= 0 && outputFolder(dir, sizeof dir) == 0) {
        object_os.write((const char *)object, n);
        object_os.flush();
        std::string inPath = "/proc/self/fd/" + std::to_string(in), outPath = std::string(dir) + "/k.so";
        const char *args[] = {"ld.lld", "-shared", "-Bsymbolic", "--threads=1", "--build-id=none",
            "--hash-style=gnu", "-z", "now", "-z", "noexecstack", "-o", outPath.c_str(), inPath.c_str()};
        llvm::CrashRecoveryContext::Enable(); // a fatal error of lld then returns instead of exiting
        bool linked = !object_os.has_error() && lld::lldMain(args, os, os, {{lld::Gnu, &lld::elf::link}}).retCode == 0;
        llvm::CrashRecoveryContext::Disable();
        if (linked) {
            auto file = llvm::MemoryBuffer::getFile(outPath, false, false);
            size_t size = file ? (*file)->getBufferSize() : 0;
            if (size && (*so = (unsigned char *)malloc(size))) memcpy(*so, (*file)->getBufferStart(), *so_bytes = size);
        }
        object_os.clear_error();
        unlink(outPath.c_str());
        rmdir(dir);
    }
    if (in >= 0) close(in);
    if (!*so) *error = strdup(text.empty() ? "linking the code object failed" : text.c_str());
    return *so != nullptr;
}
