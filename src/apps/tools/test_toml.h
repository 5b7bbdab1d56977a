// SPDX-License-Identifier: Apache-2.0
// test_toml.h: the part of TOML that tests of kernels are written in: tables of keys whose values
// are strings, numbers, true or false, or arrays of those. Values are kept as text.
#ifndef INGOT_TOOLS_TEST_TOML_H
#define INGOT_TOOLS_TEST_TOML_H
#include <stddef.h>
#include "base/options.h"

typedef struct TomlEntry {
    char *key;
    Strings values; // one, or those of the array; owned
    size_t line;
} TomlEntry;

typedef struct TomlTable {
    char *name;
    TomlEntry *entries;
    size_t n_entries, line;
} TomlTable;

typedef struct TomlFile {
    TomlTable *tables;
    size_t n_tables;
} TomlFile;

// NULL if all is well; else "PATH:LINE: why not" (malloc'd), and *f is empty.
char *toml_read(const char *path, TomlFile *f);
void toml_free(TomlFile *f);
const TomlEntry *toml_find(const TomlTable *t, const char *key); // NULL: it has none
#endif
