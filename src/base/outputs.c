// SPDX-License-Identifier: Apache-2.0
// outputs.c: see outputs.h.
#include "base/outputs.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/message.h"

bool output_check(const char *path, char *message) {
    struct stat st;
    bool there = !stat(path, &st);
    if (!*path) return message_fail(message, "the name of the output is empty");
    if (there && S_ISDIR(st.st_mode))
        return message_fail(message, "cannot write '%s': %s", path, strerror(EISDIR));
    if (there && !S_ISREG(st.st_mode)) return true; // a terminal, /dev/null, a pipe
    if (there && access(path, W_OK))
        return message_fail(message, "cannot write '%s': %s", path, strerror(errno));
    // The folder decides whether the temporary file can be made: make one and take it away.
    size_t n = strlen(path);
    char *probe = malloc(n + 32);
    if (!probe) return message_fail(message, "out of memory");
    snprintf(probe, n + 32, "%s.%ld.probe", path, (long)getpid());
    int fd = open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), why = errno;
    if (fd >= 0) {
        close(fd);
        unlink(probe);
    }
    free(probe);
    return fd >= 0 || message_fail(message, "cannot write '%s': %s", path, strerror(why));
}

// The same regular file, there already or not yet: then it is the same name in the same folder.
static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    bool has_a = !stat(a, &x), has_b = !stat(b, &y);
    if (has_a != has_b) return false;
    if (has_a) return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    const char *slash_a = strrchr(a, '/'), *slash_b = strrchr(b, '/');
    if (strcmp(slash_a ? slash_a + 1 : a, slash_b ? slash_b + 1 : b)) return false;
    char *folder_a = slash_a ? strndup(a, (size_t)(slash_a - a) + 1) : strdup(".");
    char *folder_b = slash_b ? strndup(b, (size_t)(slash_b - b) + 1) : strdup(".");
    bool same = folder_a && folder_b && !stat(folder_a, &x) && !stat(folder_b, &y) &&
                x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    free(folder_a), free(folder_b);
    return same;
}

bool outputs_check(const char *const *outputs, size_t n_outputs, const char *const *inputs,
                   size_t n_inputs, char *message) {
    for (size_t i = 0; i < n_outputs; i++) {
        if (!outputs[i]) continue;
        for (size_t k = 0; k < i; k++)
            if (outputs[k] && same_file(outputs[i], outputs[k]))
                return message_fail(message, "two outputs have the same path: %s", outputs[i]);
        for (size_t k = 0; k < n_inputs; k++)
            if (inputs[k] && same_file(outputs[i], inputs[k]))
                return message_fail(message, "the results would overwrite the input: %s",
                                    inputs[k]);
        if (!output_check(outputs[i], message)) return false;
    }
    return true;
}
