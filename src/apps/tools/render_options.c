// SPDX-License-Identifier: Apache-2.0
// render_options.c: the command line of `ingot render`.
#include "apps/tools/render_int.h"
#include "base/array.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const render_stage_names[N_STAGES] = {"vertex", "fragment"};

static int take_given(const CommandLine *line, const Option *row, void *options, char *text) {
    static const char *const names[] = {"--arg", "--texture", "--sampler", "--attribute",
                                        "--instance-attribute"}; // GivenKind
    RenderOptions *o = options;
    const char *option = row->names;
    GivenKind kind = GIVEN_BUFFER;
    while (strcmp(names[kind], option)) kind++;
    Given g = {.kind = kind, .option = option, .stage = -1, .key = text};
    char *eq = strchr(text, '=');
    if (!eq || eq == text || !eq[1])
        return options_wrong(line, "%s needs N=VALUE, not '%s'", option, text);
    *eq = 0;
    g.text = eq + 1;
    char *colon = strchr(text, ':');
    if (colon) {
        *colon = 0;
        for (int s = 0; s < N_STAGES; s++)
            if (!strcmp(text, render_stage_names[s])) g.stage = s;
        if (g.stage < 0 || !colon[1])
            return options_wrong(line, "%s: expected vertex or fragment before ':', not '%s'",
                                 option, text);
        g.key = colon + 1;
    }
    bool attribute = kind >= GIVEN_ATTRIBUTE;
    if (attribute && g.stage == FRAGMENT)
        return options_wrong(line, "%s: attributes belong to the vertex function", option);
    for (size_t i = 0; i < o->n_given; i++) {
        const Given *k = &o->given[i];
        if ((k->kind == kind || (attribute && k->kind >= GIVEN_ATTRIBUTE)) && k->stage == g.stage &&
            !strcmp(k->key, g.key))
            return options_wrong(line, "%s %s is given twice", option, g.key);
    }
    if (!array_more(&o->given, o->n_given)) return complain(EXIT_INPUT, "render", "out of memory");
    o->given[o->n_given++] = g;
    return EXIT_FINE;
}

static int take_output(const CommandLine *line, const Option *row, void *options, char *text) {
    RenderOptions *o = options;
    (void)row;
    RenderOutput out = {.path = text};
    char *eq = strchr(text, '=');
    size_t key = eq ? (size_t)(eq - text) : 0;
    if (eq && key == 1 && *text >= '0' && *text < '0' + RENDER_COLORS) {
        out.color = (size_t)(*text - '0');
        out.path = eq + 1;
    } else if (eq && key == 5 && !memcmp(text, "depth", 5)) {
        out.depth = true;
        out.path = eq + 1;
    }
    size_t n = strlen(out.path);
    if (n < 5 || (strcmp(out.path + n - 4, ".png") && strcmp(out.path + n - 4, ".npy")))
        return options_wrong(line, "-o needs a .png or .npy file, not '%s'", out.path);
    for (size_t i = 0; i < o->n_outputs; i++)
        if (o->outputs[i].depth == out.depth && o->outputs[i].color == out.color)
            return options_wrong(line, "-o is given twice for the same target");
    o->outputs[o->n_outputs++] = out; // no more than there are targets
    return EXIT_FINE;
}

static int take_clear(const CommandLine *line, const Option *row, void *options, char *value) {
    const char *text = value;
    double *clear = ((RenderOptions *)options)->clear;
    (void)row;
    clear[3] = 1;
    for (int i = 0; i < 4; i++) {
        char *end;
        double v = strtod(text, &end);
        if (end == text || !isfinite(v)) break;
        clear[i] = v;
        if (!*end && i >= 2) return EXIT_FINE;
        if (*end != ',') break;
        text = end + 1;
    }
    return options_wrong(line, "--clear needs R,G,B or R,G,B,A");
}

static int take_msaa(const CommandLine *line, const Option *row, void *options, char *value) {
    RenderOptions *o = options;
    (void)row;
    if (strlen(value) != 1 || !strchr("1248", *value))
        return options_wrong(line, "--msaa is 1, 2, 4 or 8, not %s", value);
    o->samples = (size_t)(*value - '0');
    return EXIT_FINE;
}

static int take_blend(const CommandLine *line, const Option *row, void *options, char *value) {
    RenderOptions *o = options;
    (void)row;
    o->blend = render_blend_named(value);
    return o->blend < 0 ? options_wrong(line, "unknown --blend %s (see --help)", value) : EXIT_FINE;
}

static int take_depth(const CommandLine *line, const Option *row, void *options, char *value) {
    RenderOptions *o = options;
    o->depth = true;
    o->depth_compare = MTLCompareFunctionLess;
    if (!value) return EXIT_FINE;
    for (int i = 0; row->words[i]; i++)
        if (!strcmp(row->words[i], value)) {
            o->depth_compare = (MTLCompareFunction)i;
            return EXIT_FINE;
        }
    return options_wrong(line, "unknown --depth=%s (see --help)", value);
}

static const char *const primitives[] = {"point",    "line",           "line-strip",
                                         "triangle", "triangle-strip", NULL}; // MTLPrimitiveType
static const char *const faces[] = {"none", "front", "back", NULL};           // MTLCullMode
static const char *const windings[] = {"cw", "ccw", NULL};                    // MTLWinding
static const char *const compares[] = {"never",         "less",    "equal",
                                       "less-equal",    "greater", "not-equal",
                                       "greater-equal", "always",  NULL}; // MTLCompareFunction

#define AT(FIELD) OPT_AT(RenderOptions, FIELD)
#define HEADING(TEXT) {.names = TEXT, .kind = OPT_HEADING}
static const Option rows[] = {
    HEADING("Draw call"),
    {"--vertex", "NAME", "the vertex function", OPT_TEXT, AT(functions[VERTEX])},
    {"--fragment", "NAME", "the fragment function", OPT_TEXT, AT(functions[FRAGMENT])},
    {"--size", "WxH", "size of the image in pixels", OPT_SIZE,
     OPT_SPAN(RenderOptions, width, height), 1, RENDER_MAX_SIZE, "512x512"},
    {"--count", "N", "number of vertices (default: all of --indices or --attribute, else 3)",
     OPT_WHOLE, AT(count), 1, 1e9},
    {"--instances", "N", "number of instances", OPT_WHOLE, AT(instances), 1, 1e9, "1"},
    {"--primitive", "KIND", "point, line, line-strip, triangle, triangle-strip", OPT_CHOICE,
     AT(primitive), .words = primitives, .initial = "triangle"},
    {"--indices", "VALUE", "index buffer, u16 or u32", OPT_TEXT, AT(indices)},
    HEADING(
        "Arguments. N is an index or the name of an argument; vertex:N or fragment:N\nbinds it to "
        "that function only."),
    {"--arg", "N=VALUE",
     "a buffer: VALUE as in `ingot run`:\n"
     "  data.npy         contents of a NumPy file\n"
     "  f32[64,4]=iota   an array (also =random:SEED, =fill:VALUE)\n"
     "  f32:0.5,1,2      a list of values",
     OPT_CALL, .take = take_given},
    {"--attribute", "N=VALUE",
     "[[attribute(N)]] of [[stage_in]]: one row per vertex, an array of\n"
     "shape (vertices, components)",
     OPT_CALL, .take = take_given},
    {"--instance-attribute", "N=VALUE", "the same, one row per instance", OPT_CALL,
     .take = take_given},
    {"--texture", "N=FILE",
     "a PNG or JPEG, with mipmaps; or a .npy of shape (height, width[, 1, 2\n"
     "or 4]). Comma-separated files: the slices of an array\n"
     "texture, or the six faces of a cube (+x, -x, +y, -y, +z, -z)",
     OPT_CALL, .take = take_given},
    {"--sampler", "N=WORDS",
     "nearest, linear; clamp, repeat, mirror, zero; no-mips; less, ... for\n"
     "comparison (default: linear,repeat)",
     OPT_CALL, .take = take_given},
    {"--constant", "N=VALUE", "a function constant, by index or name", OPT_CALL, AT(constants),
     .take = take_constant},
    HEADING("State"),
    {"--clear", "R,G,B[,A]", "background colour", OPT_CALL, .take = take_clear,
     .initial = "0,0,0,1"},
    {"--depth", "[=COMPARE]",
     "depth test: less (default), less-equal, greater, greater-equal,\n"
     "equal, not-equal, always",
     OPT_CALL, .words = compares, .take = take_depth},
    {"--msaa", "N", "2, 4 or 8 samples per pixel", OPT_CALL, .take = take_msaa, .initial = "1"},
    {"--blend", "KIND", "none, alpha, premultiplied, add, multiply, screen", OPT_CALL,
     .take = take_blend},
    {"--cull", "FACES", "none, front, back", OPT_CHOICE, AT(cull), .words = faces},
    {"--winding", "cw|ccw", "front-face winding", OPT_CHOICE, AT(winding), .words = windings},
    {"--lines", NULL, "wireframe", OPT_FLAG, AT(lines)},
    {"--srgb", NULL, "image and textures are sRGB; functions work in linear space", OPT_FLAG,
     AT(srgb)},
    HEADING("Output"),
    {"-o", "[N=]FILE",
     "the image as PNG, or .npy: float32 (height, width, 4). N=FILE: attachment\n"
     "[[color(N)]]; depth=FILE: depth. Repeatable",
     OPT_CALL, .take = take_output},
    {"--alpha", NULL, "keep alpha in the PNG", OPT_FLAG, AT(alpha)},
    {"--watch", NULL, "render again when the shader or an input file changes, until Ctrl-C",
     OPT_FLAG, AT(watch)},
    {"--repeat", "N", "render N times and report the time", OPT_WHOLE, AT(repeat), 1, 1e9, "1"},
    {"--timeout", "MS", "stop rendering after this time", OPT_WHOLE, AT(timeout_ms), 1, UINT32_MAX},
    {"-q", NULL, "print no summary", OPT_FLAG, AT(quiet)},
};

static const CommandLine command_line = {
    .program = "ingot render",
    .usage = "FILE.metal --vertex V --fragment F -o OUT.png [options]",
    .about = "Makes one draw call with a vertex and a fragment function and writes the image.",
    OPT_ROWS(rows),
    SOURCE_ROWS(RenderOptions, source),
    OPT_WORD(RenderOptions, path),
    .column = 23,
    .tail = SOURCE_HELP
    "\n\n"
    "Example: triangle.metal needs no data:\n"
    "  #include <metal_stdlib>\n"
    "  using namespace metal;\n"
    "  vertex float4 corner(uint i [[vertex_id]]) { return float4(float(i & 1) * 2 - 1,\n"
    "                                                             float(i >> 1) * 2 - 1, 0, 1); }\n"
    "  fragment float4 paint(float4 p [[position]]) { return float4(p.xy / 512, 0.5, 1); }\n"
    "\n"
    "  ingot render triangle.metal --vertex corner --fragment paint -o triangle.png\n"
    "\n"
    "Exit status: 0 success, 1 error in the shader or the data, 2 usage error.",
};

int render_options(int argc, char **argv, RenderOptions *o) {
    *o = (RenderOptions){.n_outputs = 0};
    int status = options_read(&command_line, o, argc, argv);
    if (status != OPTIONS_GO_ON) return status;
    bool color = false;
    for (size_t i = 0; i < o->n_outputs; i++) color |= !o->outputs[i].depth;
    const char *what = !o->path                            ? "a file is required"
                       : !o->functions[VERTEX]             ? "--vertex NAME is required"
                       : !o->n_outputs                     ? "-o FILE.png is required"
                       : color && !o->functions[FRAGMENT]  ? "--fragment NAME is required"
                       : o->watch && !strcmp(o->path, "-") ? "--watch needs a file to watch"
                                                           : NULL;
    if (what)
        return options_wrong(&command_line, "%s (`ingot render --help` shows an example)", what);
    for (size_t i = 0; i < o->n_outputs; i++)
        if (o->outputs[i].depth && !o->depth) {
            o->depth = true;
            o->depth_compare = MTLCompareFunctionLess;
        }
    return OPTIONS_GO_ON;
}

void render_options_free(RenderOptions *o) {
    free(o->given);
    strings_free(&o->constants);
    source_options_free(&o->source);
}
