// SPDX-License-Identifier: Apache-2.0
// profile_svg.c: a flame graph: kernels at the bottom, what they call above, lines at the top; as
// wide as they take time. A title says the numbers when the pointer rests on a box.
#include "apps/tools/profile.h"
#include "apps/tools/tools.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1200, ROW = 18, HEAD = 30, LETTER = 7, MAX_DEPTH = 62 };

typedef struct Node {
    char *name;
    uint64_t count;
    struct Node *first, *next;
} Node;

static Node *child(Node *parent, const char *name) {
    Node **at = &parent->first;
    while (*at && strcmp((*at)->name, name)) at = &(*at)->next;
    if (*at) return *at;
    Node *n = must_alloc(1, sizeof *n);
    n->name = must_alloc(strlen(name) + 1, 1);
    strcpy(n->name, name);
    return *at = n;
}

static void add_stack(Node *root, const ProfileStack *s) {
    char line[64];
    Node *n = root;
    root->count += s->count;
    for (size_t k = 0; k < s->n_frames && k < MAX_DEPTH; k++) {
        n = child(n, s->frames[k].function);
        n->count += s->count;
    }
    if (s->n_frames && s->frames[s->n_frames - 1].line) {
        snprintf(line, sizeof line, "line %" PRIu32, s->frames[s->n_frames - 1].line);
        n = child(n, line);
        n->count += s->count;
    }
    if (s->library) child(n, "textures, tensors, rays")->count += s->count;
}

static int depth_of(const Node *n) {
    int most = 0;
    for (const Node *c = n->first; c; c = c->next) {
        int d = depth_of(c);
        most = d > most ? d : most;
    }
    return most + 1;
}

static void add_escaped(Text *t, const char *s, size_t n) {
    for (size_t i = 0; s[i] && i < n; i++) {
        if (s[i] == '<')
            text_add(t, "&lt;");
        else if (s[i] == '&')
            text_add(t, "&amp;");
        else
            text_add_bytes(t, s + i, 1);
    }
}

static void draw(Text *t, const Node *n, double x, double width, int depth, int height,
                 uint64_t total) {
    unsigned hue = 0;
    for (const char *c = n->name; *c; c++) hue = hue * 31 + (unsigned char)*c;
    double y = height - (depth + 1) * ROW - 4;
    text_add(t, "<g><title>");
    add_escaped(t, n->name, SIZE_MAX);
    text_printf(t, ": %" PRIu64 " samples, %.1f %%</title>", n->count,
                100.0 * (double)n->count / (double)(total ? total : 1));
    text_printf(t,
                "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" rx=\"2\" "
                "fill=\"hsl(%u,75%%,%d%%)\"/>",
                x, y, width > .5 ? width - .5 : width, ROW - 1, 15 + hue % 40, depth ? 66 : 78);
    if (width > 3 * LETTER) {
        text_printf(t, "<text x=\"%.1f\" y=\"%.0f\">", x + 4, y + ROW - 5);
        add_escaped(t, n->name, (size_t)((width - 6) / LETTER));
        text_add(t, "</text>");
    }
    text_add(t, "</g>\n");
    for (const Node *c = n->first; c; c = c->next) {
        double part = width * (double)c->count / (double)n->count;
        draw(t, c, x, part, depth + 1, height, total);
        x += part;
    }
}

static void free_nodes(Node *n) {
    while (n) {
        Node *next = n->next;
        free_nodes(n->first);
        free(n->name);
        free(n);
        n = next;
    }
}

void profile_svg(const Profile *p, Text *t) {
    static char all[] = "all Metal functions";
    Node root = {.name = all};
    for (size_t i = 0; i < p->n_stacks; i++) add_stack(&root, &p->stacks[i]);
    int height = HEAD + depth_of(&root) * ROW + 8;
    text_printf(t,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
                "height=\"%d\" font-family=\"monospace\" font-size=\"11\">\n"
                "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                "<text x=\"10\" y=\"19\" font-size=\"14\">%" PRIu64 " samples in Metal functions"
                "</text>\n",
                WIDTH, height, WIDTH, height, p->total);
    if (root.count) draw(t, &root, 10, WIDTH - 20, 0, height, p->total);
    text_add(t, "</svg>\n");
    free_nodes(root.first);
}
