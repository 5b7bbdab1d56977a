// SPDX-License-Identifier: Apache-2.0
// embedded.h: texts that cmake/embed.cmake puts into a library.
#ifndef INGOT_BASE_EMBEDDED_H
#define INGOT_BASE_EMBEDDED_H
#include <string.h>

typedef struct EmbeddedText {
    const char *name, *text; // "render.metal" and what is in it
} EmbeddedText;

// The text of that name in a table that ends with a NULL name; NULL if there is none.
static inline const char *embedded_text(const EmbeddedText *texts, const char *name) {
    for (; texts->name; texts++)
        if (!strcmp(texts->name, name)) return texts->text;
    return NULL;
}
#endif
