// SPDX-License-Identifier: Apache-2.0
// checks.c: what the environment asks of checked kernels: MTL_SHADER_VALIDATION and
// INGOT_SCHEDULE. A value that means nothing gets one line, on stderr: there is no device yet that
// could say it.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/requests.h"
#include "runtime/object/device.h"

static bool is_number(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (text[i] < '0' || text[i] > '9') return false;
    return n > 0;
}

static bool is_word(const char *text, size_t n, const char *word) {
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

// One word of the list. False: it is none.
static bool take_word(MTLDevice *device, const char *text, size_t n) {
    if (is_word(text, n, "races"))
        device->watch |= MSL_WATCH_RACES;
    else if (is_word(text, n, "nan"))
        device->watch |= MSL_WATCH_RACES | MSL_WATCH_NAN;
    else if (!is_number(text, n))
        return false;
    device->shader_validation |= !is_number(text, n) || strtoul(text, NULL, 10) != 0;
    return true;
}

static void read_validation(MTLDevice *device) {
    const char *text = getenv("MTL_SHADER_VALIDATION"), *at = text;
    while (at && *at) {
        size_t n = strcspn(at, ",");
        if (!take_word(device, at, n))
            fprintf(stderr,
                    "Ingot: MTL_SHADER_VALIDATION: '%.*s' is not known: 0, 1, or a list of races "
                    "and nan\n",
                    (int)n, at);
        at += n + (at[n] == ',');
    }
    const char *state = getenv("MTL_SHADER_VALIDATION_DEFAULT_STATE");
    if (state && strcmp(state, "0") == 0) device->shader_validation = false;
}

static void read_schedule(MTLDevice *device) {
    const char *text = getenv("INGOT_SCHEDULE");
    if (!text || !*text || !rt_device_has(device, DEV_VALIDATION)) return;
    errno = 0;
    unsigned long long seed = strtoull(text, NULL, 10);
    if (!is_number(text, strlen(text)) || errno) {
        fprintf(stderr, "Ingot: INGOT_SCHEDULE: '%s' is no seed: a number from 0 to %llu\n", text,
                (unsigned long long)UINT64_MAX);
        return;
    }
    uint64_t z = (uint64_t)seed + 0x9e3779b97f4a7c15u; // neighbours are far apart; splitmix64
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    device->schedule = (z ^ (z >> 31)) | 1;
}

void rt_read_checks(MTLDevice *device) {
    read_validation(device);
    read_schedule(device);
    // Threads of a GPU run in its own order, and nobody is told what they touch.
    if (strncmp(device->facts.target, MSL_TARGET_NVPTX, strlen(MSL_TARGET_NVPTX)) == 0)
        device->watch = 0, device->schedule = 0;
}
