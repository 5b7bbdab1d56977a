// SPDX-License-Identifier: Apache-2.0
// play_file.c: the pieces of a share file: comments at its beginning with the settings (/*play) and
// the text of a lesson (/*lesson), and the source behind them. Lines that begin with // may stand
// between them and belong to none.
#include "apps/tools/play_int.h"
#include <string.h>

static const char *skip_blank(const char *p, const char *end) {
    for (;;) {
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
        if (end - p < 2 || p[0] != '/' || p[1] != '/') return p;
        while (p < end && *p != '\n') p++;
    }
}

// A comment that begins with a word; p goes behind it.
static bool take_block(const char **p, const char *end, const char *word, const char **inside,
                       size_t *n) {
    size_t length = strlen(word);
    const char *at = skip_blank(*p, end);
    if ((size_t)(end - at) < length + 4 || memcmp(at, word, length) ||
        !strchr(" \t\r\n{", at[length]))
        return false;
    const char *close = memmem(at + length, (size_t)(end - at) - length, "*/", 2);
    if (!close) return false;
    *inside = at + length;
    *n = (size_t)(close - *inside);
    *p = close + 2;
    return true;
}

void play_file_split(const char *text, size_t n, PlayFile *file) {
    const char *p = text, *end = text + n;
    *file = (PlayFile){.first_line = 1};
    while (take_block(&p, end, "/*play", &file->settings, &file->n_settings) ||
           take_block(&p, end, "/*lesson", &file->lesson, &file->n_lesson)) {
    }
    while (p > text && p < end && (*p == '\r' || *p == '\n')) p++;
    file->source = p;
    file->n_source = (size_t)(end - p);
    for (const char *q = text; q < p; q++) file->first_line += *q == '\n';
}
