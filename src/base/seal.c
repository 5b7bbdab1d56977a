// SPDX-License-Identifier: Apache-2.0
// seal.c: keys from their files, and seals (see seal.h).
#include "base/seal.h"
#include "base/files.h"
#include "base/text.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_BYTES = 32, MAX_KEY = 4096, BLOCK = 64, MAX_KEYS = 16 };

void hmac_sha256(const void *key, size_t key_bytes, const void *data, size_t n,
                 unsigned char mac[SHA256_BYTES]) {
    unsigned char block[BLOCK] = {0};
    Sha256 s;
    if (key_bytes > BLOCK)
        sha256(key, key_bytes, block);
    else if (key_bytes)
        memcpy(block, key, key_bytes);
    for (int i = 0; i < BLOCK; i++) block[i] ^= 0x36;
    sha256_begin(&s);
    sha256_add(&s, block, sizeof block);
    sha256_add(&s, data, n);
    sha256_end(&s, mac);
    for (int i = 0; i < BLOCK; i++) block[i] ^= 0x36 ^ 0x5c;
    sha256_begin(&s);
    sha256_add(&s, block, sizeof block);
    sha256_add(&s, mac, SHA256_BYTES);
    sha256_end(&s, mac);
}

// ---- Files of keys ----

// A key of any length as 32 bytes: what is kept of it.
typedef struct Key {
    unsigned char bytes[SHA256_BYTES];
} Key;

static void reduce(const void *bytes, size_t n, Key *key) {
    hmac_sha256("ingot key", 9, bytes, n, key->bytes);
}

// False and errno: not there, or no key. EPERM: somebody else has, or may have, a hand in it.
static bool read_key(const char *path, Key *key) {
    unsigned char bytes[MAX_KEY];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), why = 0;
    if (fd < 0) return false;
    ssize_t n = -1;
    if (fstat(fd, &st))
        why = errno;
    else if (!S_ISREG(st.st_mode) || (st.st_uid != geteuid() && st.st_uid != 0) ||
             (st.st_mode & 077))
        why = EPERM;
    else if ((n = read(fd, bytes, sizeof bytes)) < SEAL_MIN_KEY)
        why = n < 0 ? errno : EINVAL;
    close(fd);
    if (!why) reduce(bytes, (size_t)n, key);
    explicit_bzero(bytes, sizeof bytes);
    errno = why;
    return !why;
}

static char *own_path(void) {
    const char *xdg = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
    if (xdg && *xdg == '/') return path_join(xdg, "ingot/key");
    return home && *home == '/' ? path_join(home, ".config/ingot/key") : NULL;
}

// Of several processes that make it at a time the first wins: a link replaces nothing.
static bool make_key(const char *path) {
    unsigned char bytes[OWN_BYTES];
    char *folder = strdup(path), *name = text_format("%s.%ld.tmp", path, (long)getpid());
    bool ok = folder && name && getrandom(bytes, sizeof bytes, 0) == sizeof bytes;
    if (ok) {
        *strrchr(folder, '/') = 0;
        ok = make_dirs(folder, 0700);
    }
    int fd = ok ? open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        ok = write_all(fd, bytes, sizeof bytes) && !fsync(fd);
        ok = !close(fd) && ok && (!link(name, path) || errno == EEXIST);
        unlink(name);
    } else {
        ok = false;
    }
    explicit_bzero(bytes, sizeof bytes);
    free(name);
    free(folder);
    return ok;
}

// ---- The keys of this process ----

// Read once for each pair of names: what the variables say may change in tests, and does not else.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *read_names;   // under lock, as all below: own path, '\n', INGOT_KEYS
static Key keys[MAX_KEYS]; // those of INGOT_KEYS, then the user's
static size_t n_keys;
static char problem[512]; // why there is none, or not the one that is to seal
static bool can_seal;

static void cannot(const char *path) {
    snprintf(problem, sizeof problem, "'%s' %s", path,
             errno == EPERM    ? "is not this user's alone (it must be, with mode 0600)"
             : errno == EINVAL ? "holds less than 16 bytes"
                               : strerror(errno));
}

static void read_named(const char *names) {
    char *list = strdup(names), *rest = list;
    bool first = true;
    for (char *name; list && (name = strsep(&rest, ":"));) {
        if (!*name || n_keys == MAX_KEYS - 1) continue;
        if (read_key(name, &keys[n_keys])) {
            n_keys++;
            can_seal |= first;
        } else {
            cannot(name);
        }
        first = false;
    }
    free(list);
}

static void read_own(const char *path, bool seals) {
    bool ok = read_key(path, &keys[n_keys]);
    if (!ok && errno == ENOENT && make_key(path)) ok = read_key(path, &keys[n_keys]);
    if (ok)
        n_keys++;
    else if (seals)
        cannot(path);
    can_seal |= ok && seals;
}

// lock is held. Reads what was not read yet; a key that is missing is looked for again.
static void load(void) {
    const char *named = secure_getenv("INGOT_KEYS");
    if (named && !*named) named = NULL;
    char *own = own_path(), *names = text_format("%s\n%s", own ? own : "", named ? named : "");
    if (names && read_names && can_seal && !strcmp(names, read_names)) {
        free(names);
        free(own);
        return;
    }
    n_keys = 0;
    can_seal = false;
    snprintf(problem, sizeof problem, "there is no HOME to keep one in, and no INGOT_KEYS");
    if (named) read_named(named);
    if (own) read_own(own, !named);
    free(read_names);
    free(own);
    read_names = names;
}

static void seal_with(const void *key, size_t n_bytes, const char *use,
                      const unsigned char hash[SHA256_BYTES], unsigned char seal[SHA256_BYTES]) {
    unsigned char data[64] = {0};
    snprintf((char *)data, sizeof data - SHA256_BYTES, "ingot %s", use);
    memcpy(data + sizeof data - SHA256_BYTES, hash, SHA256_BYTES);
    hmac_sha256(key, n_bytes, data, sizeof data, seal);
}

static bool is_key(const SealKey *key) { return key && key->bytes && key->n_bytes >= SEAL_MIN_KEY; }

bool seal_make(const SealKey *key, const char *use, const unsigned char hash[SHA256_BYTES],
               unsigned char seal[SHA256_BYTES], char *why, size_t why_bytes) {
    Key given;
    if (is_key(key)) {
        reduce(key->bytes, key->n_bytes, &given);
        seal_with(given.bytes, sizeof given.bytes, use, hash, seal);
        return true;
    }
    pthread_mutex_lock(&lock);
    load();
    bool ok = can_seal;
    if (ok)
        seal_with(keys[0].bytes, sizeof keys[0].bytes, use, hash, seal);
    else if (why)
        snprintf(why, why_bytes, "%s", problem);
    pthread_mutex_unlock(&lock);
    return ok;
}

// In a time that says nothing of where they differ.
static bool same(const unsigned char *a, const unsigned char *b) {
    unsigned char differ = 0;
    for (int i = 0; i < SHA256_BYTES; i++) differ |= a[i] ^ b[i];
    return !differ;
}

bool seal_holds(const SealKey *key, const char *use, const unsigned char hash[SHA256_BYTES],
                const unsigned char seal[SHA256_BYTES]) {
    unsigned char own[SHA256_BYTES];
    if (is_key(key)) {
        Key given;
        reduce(key->bytes, key->n_bytes, &given);
        seal_with(given.bytes, sizeof given.bytes, use, hash, own);
        if (same(own, seal)) return true;
    }
    pthread_mutex_lock(&lock);
    load();
    bool holds = false;
    for (size_t i = 0; i < n_keys && !holds; i++) {
        seal_with(keys[i].bytes, sizeof keys[i].bytes, use, hash, own);
        holds = same(own, seal);
    }
    pthread_mutex_unlock(&lock);
    return holds;
}
