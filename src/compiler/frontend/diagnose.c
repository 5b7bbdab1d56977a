// SPDX-License-Identifier: Apache-2.0
// diagnose.c: turns Clang's diagnostics into what the user sees: Metal's words, the user's lines.
// An error inside our headers moves to the user's line that led there; notes about our headers'
// insides are left out.
#include "compiler/frontend/frontend_int.h"
#include "base/array.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void diagnose_take(Diagnoser *g, const MslDiagnostic *d, const char *shown, size_t n_shown) {
    if (!array_more(&g->list, g->n) || !array_more(&g->ends, g->n)) {
        g->failed = true;
        return;
    }
    char *file = strdup(d->file), *text = strdup(d->message);
    if (!file || !text) {
        g->failed = true;
        free(file);
        free(text);
        return;
    }
    text_add_bytes(&g->log, shown, n_shown);
    g->ends[g->n] = g->log.n_bytes;
    g->list[g->n++] = (MslDiagnostic){d->severity, file, d->line, d->column, text};
}

static void show(Diagnoser *g, BridgeJob *job, const BridgeDiagnostic *d, int severity,
                 const char *message) {
    char *shown = bridge_render(job, d, severity, message);
    const MslDiagnostic said = {severity, d->file ? d->file : "", d->line, d->column, message};
    if (shown)
        diagnose_take(g, &said, shown, strlen(shown));
    else
        g->failed = true;
    free(shown);
}

static bool repeated(const Diagnoser *g, const BridgeDiagnostic *d, const char *message) {
    for (size_t i = 0; i < g->n; i++) {
        const MslDiagnostic *m = &g->list[i];
        if (m->line != d->line || m->column != d->column || m->severity != 3 ||
            strcmp(m->file, d->file) != 0)
            continue;
        if (strcmp(m->message, message) == 0 || strstr(m->message, "is not supported in Metal"))
            return true; // what Clang adds to our own word on it
    }
    return false;
}

// Of an assertion in our headers only what it has to say.
static void drop_assertion(char *message) {
    static const char with[] = "static assertion failed due to requirement '";
    static const char without[] = "static assertion failed: ";
    const char *text = NULL;
    if (strncmp(message, with, sizeof with - 1) == 0) {
        text = strstr(message, "': ");
        if (text) text += 3;
    } else if (strncmp(message, without, sizeof without - 1) == 0) {
        text = message + sizeof without - 1;
    }
    if (text) memmove(message, text, strlen(text) + 1);
}

void diagnose(Diagnoser *g, BridgeJob *job, const BridgeDiagnostic *d) {
    char *message = words_metal(d->message);
    if (!message) {
        g->failed = true;
        return;
    }
    char *reason = d->severity >= 3 ? version_reason(message, g->version) : NULL;
    if (reason) {
        free(message);
        message = reason;
    }
    if (d->kind == BRIDGE_DIAG_NO_FILE && g->refused_file) {
        char *more =
            text_format("%s: it is outside of the folders that the source may include", message);
        if (more) free(message), message = more;
    }
    g->n_errors += d->severity >= 3;
    if (d->severity == 1) {
        if (g->pending && !d->in_system && d->location) {
            if (!repeated(g, d, g->pending)) show(g, job, d, 3, g->pending);
            free(g->pending);
            g->pending = NULL;
        } else if (!g->drop_notes && !d->in_system && d->location && !g->pending) {
            show(g, job, d, 1, message);
        }
        free(message);
        return;
    }
    diagnose_end(g);
    g->drop_notes = false;
    if (d->severity >= 3 && (strstr(d->message, "PCH") || strstr(d->message, "AST file") ||
                             strstr(d->message, "precompiled")))
        g->broken_prelude = true;
    if (d->in_system && d->severity >= 3) {
        drop_assertion(message);
        g->pending = message;
        snprintf(g->pending_at, sizeof g->pending_at, "%s:%u:%u", d->file, d->line, d->column);
        return;
    }
    if (d->severity == 2 && *d->option) {
        char *with = text_format("%s [-W%s]", message, d->option);
        free(message);
        message = with;
    }
    if (message && d->severity == 3 && repeated(g, d, message))
        g->drop_notes = true;
    else if (message)
        show(g, job, d, d->severity, message);
    g->failed |= !message;
    free(message);
}

void diagnose_end(Diagnoser *g) {
    if (!g->pending) return;
    text_printf(&g->log, "%s: error: %s\n", g->pending_at,
                g->pending); // nothing led to it from the user's side
    free(g->pending);
    g->pending = NULL;
}

void diagnose_free(Diagnoser *g) {
    for (size_t i = 0; i < g->n; i++) {
        free((char *)g->list[i].file);
        free((char *)g->list[i].message);
    }
    free(g->list);
    free(g->ends);
    text_free(&g->log);
    free(g->pending);
    *g = (Diagnoser){0};
}
