// SPDX-License-Identifier: Apache-2.0
// plan.h: which crates of a build are compiled as a Mac's. Decided from what `cargo metadata` says;
// written to a file that the wrapper of rustc reads for each crate.
#ifndef INGOT_MAC_CARGO_PLAN_H
#define INGOT_MAC_CARGO_PLAN_H
#include "base/hash_table.h"
#include "base/json_reader.h"
#include "base/options.h"
#include "base/text.h"

typedef struct CargoCrate {
    HashNode node; // by id
    char *id, *name, *version;
    bool is_member;     // of the workspace
    bool is_proc_macro; // runs in the compiler, on this machine
    bool is_mac;
    const char *why; // a short sentence
    size_t *uses;    // crates it depends on, but for its build script alone
    size_t n_uses, capacity_uses;
    int said; // of itself, by system = "..." of its own: 0 nothing, 1 mac, 2 linux
} CargoCrate;

typedef struct CargoPlan {
    CargoCrate *crates;
    size_t n, capacity;
    HashTable by_id;      // once all are read
    char *target_folder;  // cargo's own
    char *workspace_root; // NULL: not said
    Strings manifests;    // of crates on this machine, which may change; owned
    // Names from the environment, and from [package.metadata.ingot] of the workspace.
    Strings mac, linux_, frameworks; // items are owned
    size_t n_of_environment[2];      // of mac and linux_: those come first and count more
} CargoPlan;

// "a, b" of an environment variable; NULL: nothing.
void cargo_plan_ask(CargoPlan *plan, const char *mac, const char *linux_, const char *frameworks);
// Reads the metadata and decides. False: `message` (JSON_MESSAGE_BYTES) says why, in one line.
bool cargo_plan_make(CargoPlan *plan, const char *metadata, size_t n_bytes, char *message);
// A line for each crate: name, version, "mac" or "linux", and why.
void cargo_plan_write(const CargoPlan *plan, Text *to);
// Whether the text of a plan has the crate as a Mac's. False for what it does not have.
bool cargo_plan_is_mac(const char *text, const char *name, const char *version);
void cargo_plan_free(CargoPlan *plan);
#endif
