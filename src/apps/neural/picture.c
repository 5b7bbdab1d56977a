// SPDX-License-Identifier: Apache-2.0
// picture.c: the landscape (see picture.h), painted from back to front: sky with clouds and the
// evening sun, three ranges of mountains that fade into haze, a lake that mirrors all of it, a
// meadow, and a hot-air balloon for saturated colour and hard edges. Each pixel is the mean of four
// samples. Colours are computed as light and end in a soft curve, as a camera's would.
#include "apps/neural/picture.h"
#include <math.h>

typedef struct Colour {
    double r, g, b;
} Colour;

static Colour mix(Colour a, Colour b, double t) {
    return (Colour){a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t};
}

static Colour scale(Colour c, double k) { return (Colour){c.r * k, c.g * k, c.b * k}; }

static double clamp01(double v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static double smooth(double low, double high, double v) {
    double t = clamp01((v - low) / (high - low));
    return t * t * (3 - 2 * t);
}

// A number from 0 to 1 for a lattice point.
static double lattice(int32_t x, int32_t y, uint32_t seed) {
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca6bu ^ seed * 0xc2b2ae35u;
    h ^= h >> 15, h *= 0x2c1b3c6du, h ^= h >> 12, h *= 0x297a2d39u, h ^= h >> 15;
    return h / 4294967295.0;
}

static double noise(double x, double y, uint32_t seed) {
    double fx = floor(x), fy = floor(y), tx = x - fx, ty = y - fy;
    int32_t ix = (int32_t)fx, iy = (int32_t)fy;
    tx = tx * tx * tx * (tx * (tx * 6 - 15) + 10);
    ty = ty * ty * ty * (ty * (ty * 6 - 15) + 10);
    double a = lattice(ix, iy, seed), b = lattice(ix + 1, iy, seed);
    double c = lattice(ix, iy + 1, seed), d = lattice(ix + 1, iy + 1, seed);
    return a + (b - a) * tx + (c - a) * ty + (a - b - c + d) * tx * ty;
}

// Octaves of noise, each half as strong: 0 to 1, about 0.5 in the mean.
static double fractal(double x, double y, int octaves, uint32_t seed) {
    double sum = 0, weight = 0.5, whole = 0;
    for (int i = 0; i < octaves; i++) {
        sum += weight * noise(x, y, seed + (uint32_t)i);
        whole += weight;
        x = x * 2.03 + 17.1, y = y * 1.97 + 5.3, weight *= 0.5;
    }
    return sum / whole;
}

static const double SUN_X = 0.7, SUN_Y = 0.36, SHORE = 0.62;

static Colour sky(double x, double y, double detail) {
    const Colour top = {0.10, 0.22, 0.48}, low = {0.62, 0.60, 0.62}, warm = {1.25, 0.72, 0.38};
    Colour c = mix(top, low, pow(clamp01(y / SHORE), 0.9));
    double d2 = (x - SUN_X) * (x - SUN_X) + (y - SUN_Y) * (y - SUN_Y) * 1.6;
    c = mix(c, warm, 0.75 * exp(-d2 / 0.045));
    double sun = smooth(0.0016, 0.0009, d2);
    double clouds = fractal(x * 3.2 + 1.5, y * 8 + 3, 5, 11);
    double cover = smooth(0.50, 0.74, clouds) * smooth(0.60, 0.30, y);
    double lit = 0.5 + 0.5 * fractal(x * 3.2 + 1.5 - 0.12, y * 8 + 2.75, 4, 11);
    Colour cloud = mix((Colour){0.42, 0.42, 0.50}, (Colour){1.15, 0.92, 0.74}, 1.35 - lit);
    c = mix(c, cloud, (0.35 + 0.6 * detail) * cover * 0.9);
    return mix(c, (Colour){3.0, 2.6, 1.9}, sun * (1 - 0.7 * cover));
}

// A range of mountains: the height of its skyline at x, and its colour below.
static double ridge(double x, int range) {
    static const double base[] = {0.43, 0.50, 0.565}, height[] = {0.22, 0.17, 0.10};
    static const double frequency[] = {2.1, 3.1, 5.0};
    double shape = fractal(x * frequency[range] + range * 7.7, 0.5, range == 2 ? 5 : 6,
                           31 + 7 * (uint32_t)range);
    return base[range] - height[range] * (shape - 0.30) * 1.6;
}

static Colour mountain(double x, double y, int range, double detail) {
    static const Colour rock[] = {{0.40, 0.45, 0.56}, {0.24, 0.30, 0.36}, {0.10, 0.17, 0.12}};
    static const double haze[] = {0.55, 0.30, 0.10};
    double depth = y - ridge(x, range);
    // The light comes from the right: slopes from the difference of the noise across x.
    double f = 9.0 + 6 * range;
    double here = fractal(x * f, y * f * 1.3, 5, 71),
           there = fractal((x + 0.012) * f, y * f * 1.3, 5, 71);
    double light = 1 + detail * 5.0 * (here - there) + 0.5 * detail * (here - 0.5);
    Colour c = scale(rock[range], fmax(0.25, light));
    if (range == 0) { // snow on top
        double snow = smooth(0.075, 0.01, depth + 0.05 * (here - 0.5));
        c = mix(c, scale((Colour){0.95, 0.93, 0.96}, 0.75 + 0.35 * (light - 0.5)), snow);
    }
    if (range == 2) { // a forest: vertical streaks of trees
        double trees = noise(x * 160, y * 40, 5) * 0.6 + noise(x * 70, y * 22, 6) * 0.4;
        c = scale(c, 0.75 + 0.6 * detail * trees);
    }
    Colour air = mix((Colour){0.62, 0.62, 0.68}, (Colour){1.05, 0.72, 0.48},
                     exp(-(x - SUN_X) * (x - SUN_X) / 0.06));
    return mix(c, air,
               clamp01(haze[range] + 0.9 * smooth(0.02, 0.25, depth) * (0.7 - haze[range])));
}

// What is above the shore.
static Colour land(double x, double y, double detail) {
    for (int range = 2; range >= 0; range--)
        if (y > ridge(x, range)) return mountain(x, y, range, detail);
    return sky(x, y, detail);
}

static Colour lake(double x, double y, double detail) {
    double depth = y - SHORE, near = 1 + depth * 9;
    double wave = fractal(x * 26 / near, depth * 240 / near, 4, 91) - 0.5;
    double ripple = detail * wave * 0.05 * smooth(0, 0.05, depth);
    Colour c = land(clamp01(x + ripple * 0.35), SHORE - depth * 1.25 + ripple, detail);
    c = mix(scale(c, 0.82), (Colour){0.10, 0.18, 0.24}, 0.18 + 0.8 * smooth(0.0, 0.33, depth));
    double glitter = exp(-(x - SUN_X) * (x - SUN_X) / 0.006) * smooth(0.10, 0.22, wave + 0.08);
    return mix(c, (Colour){1.5, 1.1, 0.7}, 0.6 * detail * glitter * smooth(0.30, 0.02, depth));
}

static Colour meadow(double x, double y, double edge, double detail) {
    double depth = y - edge;
    double blades = noise(x * 210, y * 60, 201) * 0.5 + fractal(x * 50, y * 26, 3, 203) * 0.5;
    double patches = fractal(x * 5, y * 9, 4, 207);
    Colour c =
        mix((Colour){0.16, 0.24, 0.07}, (Colour){0.42, 0.42, 0.13}, smooth(0.3, 0.7, patches));
    c = scale(c, 0.75 + 0.75 * detail * (blades - 0.3) + 0.4 * smooth(0.05, 0, depth));
    if (lattice((int32_t)floor(x * 60), (int32_t)floor(y * 60), 211) > 0.93) { // flowers
        double fx = x * 60 - floor(x * 60) - 0.5, fy = y * 60 - floor(y * 60) - 0.5;
        double spot = smooth(0.16, 0.08, fx * fx * 2 + fy * fy * 3) * smooth(0.02, 0.08, depth);
        c = mix(c, (Colour){1.0, 0.86, 0.30}, spot * detail);
    }
    return c;
}

static bool balloon(double x, double y, Colour *c) {
    const double cx = 0.29, cy = 0.245, radius = 0.105;
    double dx = (x - cx) / radius, dy = (y - cy) / radius;
    double taper = dy > 0.2 ? 1 - 0.75 * smooth(0.2, 1.5, dy) : 1;
    if (dy > -1 && dy < 1.28) {
        double half = (dy < 0.2 ? sqrt(fmax(0, 1 - dy * dy)) : 0.98 * taper);
        double u = half > 0 ? dx / half : 2;
        if (fabs(u) < 1) {
            int stripe = (int)floor((asin(u) / 3.14159265 + 0.5) * 9);
            Colour paint = stripe % 3 == 0   ? (Colour){0.78, 0.11, 0.09}
                           : stripe % 3 == 1 ? (Colour){0.93, 0.72, 0.16}
                                             : (Colour){0.90, 0.88, 0.82};
            if (fabs(dy - 0.05) < 0.11) paint = (Colour){0.09, 0.23, 0.46};
            double light =
                0.45 + 0.75 * clamp01(0.55 + 0.55 * u - 0.18 * dy) * sqrt(1 - u * u * 0.8);
            *c = scale(paint, light);
            return true;
        }
    }
    if (fabs(dx) < 0.13 && dy > 1.55 && dy < 1.85) { // the basket
        *c = scale((Colour){0.42, 0.26, 0.13}, 0.7 + dx * 2.5);
        return true;
    }
    return false;
}

static Colour paint(double x, double y, double detail) {
    Colour c;
    double edge = 0.83 - 0.07 * x + 0.05 * fractal(x * 3, 0.3, 4, 151);
    if (y > edge) return meadow(x, y, edge, detail);
    if (balloon(x, y, &c)) return c;
    return y > SHORE ? lake(x, y, detail) : land(x, y, detail);
}

// Light to a byte: a shoulder instead of clipping, then roughly sRGB's curve.
static unsigned char develop(double v) {
    v = v <= 0 ? 0 : 1 - exp(-1.55 * v);
    return (unsigned char)(255 * clamp01(pow(v, 1 / 1.6)) + 0.5);
}

bool neural_picture_make(Image *image, uint32_t width, uint32_t height, double detail,
                         char *message) {
    if (!image_create(image, width, height, message)) return false;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            Colour sum = {0, 0, 0};
            for (int s = 0; s < 4; s++) {
                double px = (x + 0.25 + 0.5 * (s & 1)) / width;
                double py = (y + 0.25 + 0.5 * (s >> 1)) / height;
                Colour c = paint(px, py, detail);
                sum.r += c.r / 4, sum.g += c.g / 4, sum.b += c.b / 4;
            }
            double grain = 1 + detail * 0.03 * (lattice((int32_t)x, (int32_t)y, 301) - 0.5);
            unsigned char *p = image->rgb + ((size_t)y * width + x) * 3;
            p[0] = develop(sum.r * grain), p[1] = develop(sum.g * grain);
            p[2] = develop(sum.b * grain);
        }
    return true;
}
