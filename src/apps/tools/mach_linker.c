// SPDX-License-Identifier: Apache-2.0
// mach_linker.c: the command line of a Mac's linker, as this system's wants it. Builds for a Mac
// hand the linker options that only Apple's knows (-Wl,-dead_strip), some in files of their own.
#include "apps/tools/mach_linker.h"
#include "base/files.h"
#include "apps/tools/tools.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum Way { DROP, DROP_WITH_VALUE, NAME_OF_LIBRARY, FRAMEWORK, WHOLE_ARCHIVE } Way;

static const struct {
    const char *option;
    Way way;
} options[] = {
    {"-dead_strip", DROP},
    {"-dead_strip_dylibs", DROP},
    {"-flat_namespace", DROP},
    {"-headerpad_max_install_names", DROP},
    {"-no_compact_unwind", DROP},
    {"-no_deduplicate", DROP},
    {"-no_fixup_chains", DROP},
    {"-no_warn_duplicate_libraries", DROP},
    {"-search_paths_first", DROP},
    {"-U", DROP_WITH_VALUE}, // it may be missing until the program runs, as any name here may
    {"-undefined", DROP_WITH_VALUE},
    {"-arch", DROP_WITH_VALUE},
    {"-compatibility_version", DROP_WITH_VALUE},
    {"-current_version", DROP_WITH_VALUE},
    {"-exported_symbols_list", DROP_WITH_VALUE},
    {"-macosx_version_min", DROP_WITH_VALUE},
    {"-syslibroot", DROP_WITH_VALUE},
    {"-install_name", NAME_OF_LIBRARY},
    {"-framework", FRAMEWORK},
    {"-weak_framework", FRAMEWORK},
    {"-force_load", WHOLE_ARCHIVE},
};
enum { N_OPTIONS = sizeof options / sizeof *options };

static char *joined(const char *a, const char *b) {
    const size_t n = strlen(a) + strlen(b) + 1;
    char *out = must_alloc(n, 1);
    snprintf(out, n, "%s%s", a, b);
    return out;
}

// Folders relative to the program are written otherwise here.
static char *as_folder(char *word) {
    static const char *const places[] = {"@loader_path", "@executable_path"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!strncmp(word, places[i], strlen(places[i])))
            return joined("$ORIGIN", word + strlen(places[i]));
    return word;
}

// Takes the option at words[0]; returns how many words it was.
static int translate_option(Strings *out, Way way, int n, char **words) {
    if (way == DROP || n < 2) return 1;
    char *value = words[1], *slash = strrchr(value, '/');
    switch (way) {
    case NAME_OF_LIBRARY:
        strings_add(out, "-soname");
        strings_add(out, slash ? slash + 1 : value);
        break;
    case FRAMEWORK: strings_add(out, joined("-l", value)); break;
    case WHOLE_ARCHIVE:
        strings_add(out, "--whole-archive");
        strings_add(out, value);
        strings_add(out, "--no-whole-archive");
        break;
    default: break;
    }
    return 2;
}

// Takes one word out of the text and its quotes off; returns what follows it. The word is written
// over the text.
static char *next_word(char *at, char **word) {
    char quote = 0, *to = *word = at;
    for (; *at && (quote || !isspace((unsigned char)*at)); at++) {
        if (*at == '\\' && quote != '\'' && at[1])
            *to++ = *++at;
        else if (quote ? *at == quote : *at == '"' || *at == '\'')
            quote = quote ? 0 : *at;
        else
            *to++ = *at;
    }
    char *rest = *at ? at + 1 : at;
    *to = 0;
    return rest;
}

// Words of a file whose name follows an '@'. False: it cannot be read.
static bool take_file(Strings *out, const char *path) {
    size_t n;
    char *text = (char *)file_read(path, &n), *word;
    if (!text) return false;
    Strings words = {0};
    for (char *at = text; *(at += strspn(at, " \t\r\n"));) {
        at = next_word(at, &word);
        strings_add(&words, word);
    }
    mach_linker(out, (int)words.n, words.items);
    strings_free(&words); // the words themselves live on, in `out`
    return true;
}

void mach_linker(Strings *out, int n, char **words) {
    for (int i = 0; i < n;) {
        if (*words[i] == '@' && take_file(out, words[i] + 1)) {
            i++;
            continue;
        }
        int known = 0;
        while (known < N_OPTIONS && strcmp(words[i], options[known].option) != 0) known++;
        if (known < N_OPTIONS)
            i += translate_option(out, options[known].way, n - i, words + i);
        else
            strings_add(out, as_folder(words[i++]));
    }
}
