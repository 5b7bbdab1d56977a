// SPDX-License-Identifier: Apache-2.0
// system_info.c: the table behind system_info.h.
#include "mac/launch/system_info.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef enum Kind { MEMORY, PROCESSORS, PAGE, PROCESSOR_NAME, TEXT, NUMBER } Kind;

static const struct {
    const char *name;
    Kind kind;
    uint8_t n_bytes;
    const char *text; // TEXT
    uint64_t number;  // NUMBER
} rows[] = {
    {"hw.memsize", MEMORY, 8, NULL, 0},
    {"hw.ncpu", PROCESSORS, 4, NULL, 0},
    {"hw.activecpu", PROCESSORS, 4, NULL, 0},
    {"hw.logicalcpu", PROCESSORS, 4, NULL, 0},
    {"hw.logicalcpu_max", PROCESSORS, 4, NULL, 0},
    {"hw.physicalcpu", PROCESSORS, 4, NULL, 0},
    {"hw.physicalcpu_max", PROCESSORS, 4, NULL, 0},
    {"hw.perflevel0.logicalcpu", PROCESSORS, 4, NULL, 0},
    {"hw.perflevel0.physicalcpu", PROCESSORS, 4, NULL, 0},
    {"hw.nperflevels", NUMBER, 4, NULL, 1},
    {"hw.pagesize", PAGE, 8, NULL, 0},
    {"hw.cachelinesize", NUMBER, 8, NULL, 64},
    {"hw.model", TEXT, 0, "Ingot", 0},
#ifdef __aarch64__
    {"hw.machine", TEXT, 0, "arm64", 0},
    {"hw.optional.arm64", NUMBER, 4, NULL, 1},
#else
    {"hw.machine", TEXT, 0, "x86_64", 0},
    {"hw.optional.arm64", NUMBER, 4, NULL, 0},
#endif
    {"machdep.cpu.brand_string", PROCESSOR_NAME, 0, NULL, 0},
    {"kern.ostype", TEXT, 0, "Darwin", 0},
    {"kern.osrelease", TEXT, 0, MAC_KERNEL, 0},
    {"kern.osproductversion", TEXT, 0, MAC_VERSION, 0},
    {"kern.osversion", TEXT, 0, MAC_BUILD, 0},
};

static void processor_name(char *out, size_t n) {
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(out, n, "unknown processor");
    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strncmp(line, "model name", 10) ? NULL : strchr(line, ':');
        if (!colon) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(out, n, "%.255s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (f) fclose(f);
}

bool mac_system_info(const char *name, MacSystemInfo *out) {
    size_t i = 0, n = sizeof rows / sizeof *rows;
    while (i < n && strcmp(rows[i].name, name) != 0) i++;
    if (i == n) return false;
    *out = (MacSystemInfo){.n_bytes = rows[i].n_bytes};
    long page = sysconf(_SC_PAGESIZE);
    switch (rows[i].kind) {
    case MEMORY: out->number = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)page; break;
    case PROCESSORS: out->number = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN); break;
    case PAGE: out->number = (uint64_t)page; break;
    case NUMBER: out->number = rows[i].number; break;
    case PROCESSOR_NAME: processor_name(out->text, sizeof out->text); break;
    case TEXT: snprintf(out->text, sizeof out->text, "%s", rows[i].text); break;
    }
    if (out->n_bytes)
        snprintf(out->text, sizeof out->text, "%llu", (unsigned long long)out->number);
    return true;
}
