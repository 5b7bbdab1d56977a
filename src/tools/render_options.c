// SPDX-License-Identifier: Apache-2.0
// render_options.c: the command line of `ingot render`.
#include "tools/render_int.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ingot render FILE.metal --vertex V --fragment F -o OUT.png [options]\n"
    "\n"
    "Draws once with a vertex and a fragment function and writes the picture.\n"
    "\n"
    "What is drawn\n"
    "  --size WxH           pixels of the picture (512x512)\n"
    "  --count N            vertices; otherwise all of --indices or --attribute, else 3\n"
    "  --instances N        times the vertices are drawn (1)\n"
    "  --primitive KIND     point, line, line-strip, triangle (the usual), triangle-strip\n"
    "  --indices VALUE      which vertices, in which order: u16 or u32\n"
    "\n"
    "What the functions get. N is an index or the name of an argument; vertex:N or fragment:N "
    "means\n"
    "that function only.\n"
    "  --arg N=VALUE        a buffer: VALUE as in `ingot run`:\n"
    "                         data.npy         the numbers of a NumPy file\n"
    "                         f32[64,4]=iota   an array (also =random:SEED, =fill:VALUE)\n"
    "                         f32:0.5,1,2      numbers one by one\n"
    "  --attribute N=VALUE  [[attribute(N)]] of [[stage_in]]: one row for each vertex, as in an\n"
    "                       array of shape (vertices, components)\n"
    "  --instance-attribute N=VALUE   the same, one row for each instance\n"
    "  --texture N=FILE     a PNG or JPEG, with mipmaps; or a .npy of shape (height, width[, 1, 2\n"
    "                       or 4]). Several files with commas between: the slices of an array\n"
    "                       texture, the six faces of a cube (+x, -x, +y, -y, +z, -z)\n"
    "  --sampler N=WORDS    nearest, linear; clamp, repeat, mirror, zero; no-mips; less ... "
    "compares\n"
    "                       (otherwise linear,repeat)\n"
    "  --constant N=VALUE   a function constant, by index or name\n"
    "\n"
    "How it is drawn\n"
    "  --clear R,G,B[,A]    colour of the background (0,0,0,1)\n"
    "  --depth[=COMPARE]    depth test: less (the usual), less-equal, greater, greater-equal,\n"
    "                       equal, not-equal, always\n"
    "  --msaa N             2, 4 or 8 samples a pixel\n"
    "  --blend KIND         none, alpha, premultiplied, add, multiply, screen\n"
    "  --cull FACES         none, front, back; --winding cw or ccw says which is the front\n"
    "  --lines              triangles as wire frame\n"
    "  --srgb               picture and textures are sRGB: functions calculate with linear light\n"
    "\n"
    "Results\n"
    "  -o FILE.png          the picture; FILE.npy: its numbers as float32 (height, width, 4)\n"
    "  -o N=FILE            of [[color(N)]]; -o depth=FILE of the depth. May be repeated\n"
    "  --alpha              the PNG keeps alpha\n"
    "  --watch              draw again whenever the shader or another file changes, until Ctrl-C\n"
    "  --repeat N           draw N times for the clock\n"
    "  --timeout MS         give up on a picture that takes longer\n"
    "  -I DIR, -D NAME[=VALUE], --math=MODE, -std=metalM.N   as in `ingot build`\n"
    "  -q                   no line about the picture\n"
    "\n"
    "Example: a triangle without any data, a file triangle.metal with\n"
    "  #include <metal_stdlib>\n"
    "  using namespace metal;\n"
    "  vertex float4 corner(uint i [[vertex_id]]) { return float4(float(i & 1) * 2 - 1,\n"
    "                                                             float(i >> 1) * 2 - 1, 0, 1); }\n"
    "  fragment float4 paint(float4 p [[position]]) { return float4(p.xy / 512, 0.5, 1); }\n"
    "is drawn by\n"
    "  ingot render triangle.metal --vertex corner --fragment paint -o triangle.png\n"
    "\n"
    "Exit status: 0 fine, 1 the shader or the data is wrong, 2 the command line is wrong.\n";

const char *const render_stage_names[N_STAGES] = {"vertex", "fragment"};

// Index of a word in a list that ends with NULL; -1: it is not there.
static int word(const char *const *list, const char *text) {
    for (int i = 0; list[i]; ++i)
        if (!strcmp(list[i], text)) return i;
    return -1;
}

static int choice(const char *option, const char *const *list, const char *text, int *out) {
    *out = word(list, text);
    if (*out >= 0) return EXIT_FINE;
    char all[160] = "";
    for (int i = 0; list[i]; ++i) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", list[i]);
    }
    return complain(EXIT_USAGE, "render", "%s is one of %s, not '%s'", option, all, text);
}

static int number(const char *option, const char *text, unsigned long long least,
                  unsigned long long most, unsigned long long *out) {
    char *end = NULL;
    errno = 0;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && !errno && *out >= least && *out <= most)
        return EXIT_FINE;
    return complain(EXIT_USAGE, "render", "%s needs a number from %llu to %llu, not '%s'", option,
                    least, most, text);
}

static int add_given(RenderOptions *o, const char *option, GivenKind kind, char *text) {
    Given g = {.kind = kind, .option = option, .stage = -1, .key = text};
    char *eq = strchr(text, '=');
    if (!eq || eq == text || !eq[1])
        return complain(EXIT_USAGE, "render", "%s needs N=VALUE, not '%s'", option, text);
    *eq = 0;
    g.text = eq + 1;
    char *colon = strchr(text, ':');
    if (colon) {
        *colon = 0;
        for (int s = 0; s < N_STAGES; ++s)
            if (!strcmp(text, render_stage_names[s])) g.stage = s;
        if (g.stage < 0 || !colon[1])
            return complain(EXIT_USAGE, "render",
                            "%s: before the ':' stands vertex or fragment, not '%s'", option, text);
        g.key = colon + 1;
    }
    bool attribute = kind >= GIVEN_ATTRIBUTE;
    if (attribute && g.stage == FRAGMENT)
        return complain(EXIT_USAGE, "render", "%s: attributes belong to the vertex function",
                        option);
    for (size_t i = 0; i < o->n_given; ++i) {
        const Given *k = &o->given[i];
        if ((k->kind == kind || (attribute && k->kind >= GIVEN_ATTRIBUTE)) && k->stage == g.stage &&
            !strcmp(k->key, g.key))
            return complain(EXIT_USAGE, "render", "%s %s is given twice", option, g.key);
    }
    Given *more = realloc(o->given, (o->n_given + 1) * sizeof *more);
    if (!more) return complain(EXIT_INPUT, "render", "out of memory");
    o->given = more;
    o->given[o->n_given++] = g;
    return EXIT_FINE;
}

static int add_output(RenderOptions *o, char *text) {
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
        return complain(EXIT_USAGE, "render", "-o needs a .png or .npy file, not '%s'", out.path);
    for (size_t i = 0; i < o->n_outputs; ++i)
        if (o->outputs[i].depth == out.depth && o->outputs[i].color == out.color)
            return complain(EXIT_USAGE, "render", "-o is given twice for the same target");
    o->outputs[o->n_outputs++] = out; // no more than there are targets
    return EXIT_FINE;
}

static int parse_clear(const char *text, double *clear) {
    clear[3] = 1;
    for (int i = 0; i < 4; ++i) {
        char *end;
        double v = strtod(text, &end);
        if (end == text || !isfinite(v)) break;
        clear[i] = v;
        if (!*end && i >= 2) return EXIT_FINE;
        if (*end != ',') break;
        text = end + 1;
    }
    return complain(EXIT_USAGE, "render", "--clear needs R,G,B or R,G,B,A");
}

static int parse_depth(RenderOptions *o, const char *text) {
    static const char *const names[] = {"never",         "less",    "equal",
                                        "less-equal",    "greater", "not-equal",
                                        "greater-equal", "always",  NULL}; // MTLCompareFunction
    int n = MTLCompareFunctionLess, status = text ? choice("--depth", names, text, &n) : EXIT_FINE;
    o->depth = true;
    o->depth_compare = (MTLCompareFunction)n;
    return status;
}

// The options that say how is drawn; *known false: another one.
static int drawing_option(RenderOptions *o, Args *a, bool *known) {
    static const char *const primitives[] = {"point",    "line",           "line-strip",
                                             "triangle", "triangle-strip", NULL};
    static const char *const faces[] = {"none", "front", "back", NULL};
    static const char *const windings[] = {"cw", "ccw", NULL};
    char *v;
    int n = 0, status = EXIT_FINE;
    unsigned long long u = 0;
    if ((v = args_value(a, "--primitive"))) {
        status = choice("--primitive", primitives, v, &n);
        o->primitive = (MTLPrimitiveType)n;
    } else if ((v = args_value(a, "--cull"))) {
        status = choice("--cull", faces, v, &n);
        o->cull = (MTLCullMode)n;
    } else if ((v = args_value(a, "--winding"))) {
        status = choice("--winding", windings, v, &n);
        o->winding = (MTLWinding)n;
    } else if ((v = args_value(a, "--blend"))) {
        o->blend = render_blend_named(v);
        if (o->blend < 0)
            return complain(EXIT_USAGE, "render", "there is no --blend %s (see --help)", v);
    } else if ((v = args_value(a, "--clear"))) {
        status = parse_clear(v, o->clear);
    } else if (args_flag(a, "--depth")) {
        status = parse_depth(o, NULL);
    } else if (!strncmp(args_here(a), "--depth=", 8)) {
        status = parse_depth(o, args_here(a) + 8);
    } else if ((v = args_value(a, "--msaa"))) {
        status = number("--msaa", v, 1, 8, &u);
        if (!status && (u & (u - 1)))
            status = complain(EXIT_USAGE, "render", "--msaa is 1, 2, 4 or 8, not %llu", u);
        o->samples = (size_t)u;
    } else if ((v = args_value(a, "--size"))) {
        MTLSize size;
        if (!parse_size(v, &size) || size.depth != 1 || size.width > RENDER_MAX_SIZE ||
            size.height > RENDER_MAX_SIZE)
            return complain(EXIT_USAGE, "render",
                            "--size needs WIDTHxHEIGHT of at most %d, not '%s'", RENDER_MAX_SIZE,
                            v);
        o->width = size.width, o->height = size.height;
    } else {
        *known = false;
    }
    return status;
}

static int valued(RenderOptions *o, Args *a, bool *known) {
    static const struct {
        const char *name;
        GivenKind kind;
    } given[] = {{"--arg", GIVEN_BUFFER},
                 {"--texture", GIVEN_TEXTURE},
                 {"--sampler", GIVEN_SAMPLER},
                 {"--attribute", GIVEN_ATTRIBUTE},
                 {"--instance-attribute", GIVEN_INSTANCE_ATTRIBUTE}};
    enum { MOST = 1000000000 };
    char *v;
    int status = EXIT_FINE;
    unsigned long long n = 0;
    for (size_t i = 0; i < sizeof given / sizeof *given; ++i)
        if ((v = args_value(a, given[i].name)))
            return add_given(o, given[i].name, given[i].kind, v);
    if ((v = args_value(a, "-o"))) return add_output(o, v);
    if ((v = args_value(a, "--vertex"))) {
        o->functions[VERTEX] = v;
    } else if ((v = args_value(a, "--fragment"))) {
        o->functions[FRAGMENT] = v;
    } else if ((v = args_value(a, "--indices"))) {
        o->indices = v;
    } else if ((v = args_value(a, "--count"))) {
        status = number("--count", v, 1, MOST, &n);
        o->count = (size_t)n;
    } else if ((v = args_value(a, "--instances"))) {
        status = number("--instances", v, 1, MOST, &n);
        o->instances = (size_t)n;
    } else if ((v = args_value(a, "--repeat"))) {
        status = number("--repeat", v, 1, MOST, &n);
        o->repeat = (size_t)n;
    } else if ((v = args_value(a, "--timeout"))) {
        status = number("--timeout", v, 0, UINT32_MAX, &n);
        o->timeout_ms = (uint32_t)n;
    } else if ((v = args_value(a, "--constant"))) {
        if (!strchr(v, '=') || *v == '=')
            return complain(EXIT_USAGE, "render", "--constant needs N=VALUE, not '%s'", v);
        strings_add(&o->constants, v);
    } else if (!source_option(&o->source, a, "render", &status)) {
        return drawing_option(o, a, known);
    }
    return status;
}

static bool flag(RenderOptions *o, const Args *a) {
    const struct {
        const char *name;
        bool *on;
    } flags[] = {{"-q", &o->quiet},
                 {"--watch", &o->watch},
                 {"--srgb", &o->srgb},
                 {"--alpha", &o->alpha},
                 {"--lines", &o->lines}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; ++i)
        if (args_flag(a, flags[i].name)) return *flags[i].on = true;
    return false;
}

int render_options(int argc, char **argv, RenderOptions *o) {
    *o = (RenderOptions){.width = 512,
                         .height = 512,
                         .samples = 1,
                         .instances = 1,
                         .primitive = MTLPrimitiveTypeTriangle,
                         .clear = {0, 0, 0, 1},
                         .repeat = 1};
    Args a = {argc, 0, argv, NULL};
    while (args_next(&a)) {
        if (args_flag(&a, "--help") || args_flag(&a, "-h")) {
            fputs(usage, stdout);
            o->help = true;
            return EXIT_FINE;
        }
        if (flag(o, &a)) continue;
        if (!args_is_option(&a)) {
            if (o->path) return args_unknown(&a, "render");
            o->path = args_here(&a);
            continue;
        }
        bool known = true;
        int status = valued(o, &a, &known);
        if (status) return status;
        if (!known || a.missing) return args_unknown(&a, "render");
    }
    bool color = false;
    for (size_t i = 0; i < o->n_outputs; ++i) color |= !o->outputs[i].depth;
    const char *what = !o->path                ? "which file?"
                       : !o->functions[VERTEX] ? "which vertex function? --vertex NAME"
                       : !o->n_outputs         ? "where to? -o FILE.png"
                       : color && !o->functions[FRAGMENT]
                           ? "which fragment function? --fragment NAME"
                       : o->watch && !strcmp(o->path, "-") ? "--watch needs a file to watch"
                                                           : NULL;
    if (what)
        return complain(EXIT_USAGE, "render", "%s (`ingot render --help` shows an example)", what);
    for (size_t i = 0; i < o->n_outputs; ++i)
        if (o->outputs[i].depth && !o->depth) parse_depth(o, NULL);
    return EXIT_FINE;
}

void render_options_free(RenderOptions *o) {
    free(o->given);
    strings_free(&o->constants);
    source_options_free(&o->source);
}
