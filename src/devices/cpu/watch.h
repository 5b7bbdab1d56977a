// SPDX-License-Identifier: Apache-2.0
// watch.h: who is told what watched code does (abi/cpu_watch.h), and finds races in it. One watcher
// belongs to one dispatch at a time, whose threadgroups run one after the other on one thread: what
// is found does not hang on timing. Files: watch.c (what code calls), watch_lines.c (threadgroup
// memory, where nothing is wrong), watch_shadow.c (who touched which bytes last), watch_groups.c
// (a dispatch from begin to end, reports).
#ifndef INGOT_CPU_WATCH_H
#define INGOT_CPU_WATCH_H
#include "devices/cpu/engine.h"

typedef struct CpuWatcher CpuWatcher;

// NULL: no memory.
CpuWatcher *cpu_watch_open(void);
// Keeps its memory for the next one. broken: code was left in the middle, nothing of it is kept.
void cpu_watch_close(CpuWatcher *w, bool broken);
// The launch gets its `watch`. False: no memory.
// memory: the threadgroup's, n_bytes of it.
bool cpu_watch_begin(CpuWatcher *w, const CpuCode *code, CpuLaunch *launch, const char *memory,
                     size_t n_bytes);
bool cpu_watch_group(CpuWatcher *w, uint64_t number); // a threadgroup begins. False: no memory
void cpu_watch_group_end(CpuWatcher *w);
void cpu_watch_end(CpuWatcher *w, DevRun *run, void *context); // reports
#endif
