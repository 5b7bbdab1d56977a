// SPDX-License-Identifier: Apache-2.0
// sdf.c: shapes, silhouettes and pictures of distance fields (see sdf.h). Distances of shapes are
// exact where it matters, near the surface. Pictures are made from the network alone, which the
// device evaluates for all pixels or rays at once; only shading is done here.
#include "apps/neural/sdf.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double length2(double x, double y) { return sqrt(x * x + y * y); }

static double ring(const double *p) { return fabs(length2(p[0], p[1]) - 0.55) - 0.15; }

// The nearest of the ten edges; inside by counting crossings.
static double star(const double *p) {
    enum { N = 10 };
    double best = INFINITY, x[N], y[N];
    bool inside = false;
    for (int i = 0; i < N; i++) {
        double angle = 3.14159265358979323846 * (i / 5.0 - 0.5), r = i % 2 ? 0.34 : 0.8;
        x[i] = r * cos(angle), y[i] = r * sin(angle);
    }
    for (int i = 0, j = N - 1; i < N; j = i++) {
        double ex = x[j] - x[i], ey = y[j] - y[i], dx = p[0] - x[i], dy = p[1] - y[i];
        double t = fmax(0, fmin(1, (dx * ex + dy * ey) / (ex * ex + ey * ey)));
        best = fmin(best, length2(dx - t * ex, dy - t * ey));
        if ((y[i] > p[1]) != (y[j] > p[1]) &&
            p[0] < (x[j] - x[i]) * (p[1] - y[i]) / (y[j] - y[i]) + x[i])
            inside = !inside;
    }
    return inside ? -best : best;
}

static double torus(const double *p) {
    double ring_part = length2(length2(p[0], p[2]) - 0.58, p[1]) - 0.18;
    double ball = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.3;
    return fmin(ring_part, ball);
}

static double box(const double *p) { // rounded, with a ball taken out
    double q[3], outside = 0, inside = -INFINITY;
    for (int i = 0; i < 3; i++) {
        q[i] = fabs(p[i]) - 0.45;
        outside += fmax(q[i], 0) * fmax(q[i], 0);
        inside = fmax(inside, q[i]);
    }
    double cube = sqrt(outside) + fmin(inside, 0) - 0.06;
    return fmax(cube, 0.6 - sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]));
}

const NeuralShape neural_shapes[] = {{"star", "a star with five points", 2, star},
                                     {"ring", "a ring", 2, ring},
                                     {"torus", "a torus around a ball, in space", 3, torus},
                                     {"box", "a cube with a ball taken out, in space", 3, box},
                                     {NULL, NULL, 0, NULL}};

const NeuralShape *neural_shape(const char *name) {
    for (const NeuralShape *s = neural_shapes; s->name; s++)
        if (!strcmp(s->name, name)) return s;
    return NULL;
}

// Squared distances along one line: the lower envelope of parabolas (Felzenszwalb and Huttenlocher,
// 2012). f: what is known, at n places `stride` apart; v, z, out: scratch.
static void transform_line(double *f, size_t n, size_t stride, size_t *v, double *z, double *out) {
    size_t k = 0;
    v[0] = 0;
    z[0] = -INFINITY, z[1] = INFINITY;
    for (size_t q = 1; q < n; q++) {
        double s;
        for (;; k--) {
            double a = (double)q, b = (double)v[k];
            s = ((f[q * stride] + a * a) - (f[v[k] * stride] + b * b)) / (2 * a - 2 * b);
            if (s > z[k] || !k) break;
        }
        if (s <= z[k]) { // the first parabola is above everywhere
            v[0] = q;
            continue;
        }
        v[++k] = q;
        z[k] = s, z[k + 1] = INFINITY;
    }
    k = 0;
    for (size_t q = 0; q < n; q++) {
        while (z[k + 1] < (double)q) k++;
        double d = (double)q - (double)v[k];
        out[q] = d * d + f[v[k] * stride];
    }
    for (size_t q = 0; q < n; q++) f[q * stride] = out[q];
}

static bool transform(double *f, size_t w, size_t h) {
    const size_t n = w > h ? w : h;
    size_t *v = malloc(n * sizeof *v);
    double *z = malloc((n + 1) * sizeof *z), *out = malloc(n * sizeof *out);
    const bool ok = v && z && out;
    for (size_t x = 0; ok && x < w; x++) transform_line(f + x, h, w, v, z, out);
    for (size_t y = 0; ok && y < h; y++) transform_line(f + y * w, w, 1, v, z, out);
    free(v), free(z), free(out);
    return ok;
}

float *neural_silhouette(const Image *image, double threshold, bool dark, char *message) {
    const size_t w = image->width, h = image->height, n = w * h;
    double *to_inside = malloc(n * sizeof *to_inside), *to_outside = malloc(n * sizeof *to_outside);
    float *field = malloc(n * sizeof *field);
    size_t n_inside = 0;
    bool ok = false;
    if (!to_inside || !to_outside || !field) {
        message_fail(message, "out of memory");
        goto done;
    }
    const double far = 4.0 * (double)(w + h) * (double)(w + h);
    for (size_t i = 0; i < n; i++) {
        const unsigned char *p = image->rgb + 3 * i;
        double light = (0.2126 * p[0] + 0.7152 * p[1] + 0.0722 * p[2]) / 255;
        bool inside = dark ? light < threshold : light >= threshold;
        to_inside[i] = inside ? 0 : far;
        to_outside[i] = inside ? far : 0;
        n_inside += inside;
    }
    if (!n_inside || n_inside == n) {
        message_fail(message, "the image has no silhouette: %s is inside",
                     n_inside ? "everything" : "nothing");
        goto done;
    }
    if (!transform(to_inside, w, h) || !transform(to_outside, w, h)) {
        message_fail(message, "out of memory");
        goto done;
    }
    const double unit = 2.0 / (double)(w > h ? w : h); // the outline is between the pixels
    for (size_t i = 0; i < n; i++)
        field[i] = (float)(unit * (to_inside[i] > 0 ? sqrt(to_inside[i]) - 0.5
                                                    : 0.5 - sqrt(to_outside[i])));
    ok = true;
done:
    free(to_inside), free(to_outside);
    if (ok) return field;
    free(field);
    return NULL;
}

static unsigned char to_byte(double v) {
    return (unsigned char)(255 * (v < 0 ? 0 : v > 1 ? 1 : v) + 0.5);
}

bool neural_sdf_draw(NeuralRenderer *r, Image *image, uint32_t width, uint32_t height,
                     char *message) {
    const size_t n = (size_t)width * height, longer = width > height ? width : height;
    if (!image_create(image, width, height, message)) return false;
    float *p = malloc(n * 2 * sizeof *p), *d = malloc(n * sizeof *d);
    bool ok = p && d;
    if (!ok) message_fail(message, "out of memory");
    for (size_t i = 0; ok && i < n; i++) {
        p[2 * i] = (float)((2 * ((double)(i % width) + 0.5) - width) / (double)longer);
        p[2 * i + 1] = (float)((2 * ((double)(i / width) + 0.5) - height) / (double)longer);
    }
    ok = ok && neural_renderer_points(r, p, n, d, message);
    const double pixel = 2.0 / (double)longer;
    for (size_t i = 0; ok && i < n; i++) {
        const double v = (double)d[i], a = fabs(v), shade = 1 - exp(-5 * a);
        static const double in[3] = {0.93, 0.62, 0.30}, out[3] = {0.38, 0.62, 0.88};
        double near_line = fabs(a / 0.1 - rint(a / 0.1)) * 0.1; // a line every 0.1
        double line = 0.35 * fmax(0, 1 - near_line / (1.2 * pixel));
        double edge = fmax(0, 1 - a / (1.8 * pixel));
        for (int c = 0; c < 3; c++) {
            double colour = (v < 0 ? in[c] : out[c]) * (0.45 + 0.55 * shade) * (1 - line);
            image->rgb[3 * i + (size_t)c] = to_byte(colour + (1 - colour) * edge);
        }
    }
    free(p), free(d);
    if (!ok) image_free(image);
    return ok;
}

// Three dimensions: rays of all pixels, those still under way are packed together
// ---------------

static const double EYE[3] = {1.5, 1.25, 2.1};

typedef struct Ray {
    float at, direction[3];
    uint32_t pixel;
} Ray;

static void normalise(double *v) {
    double n = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int i = 0; i < 3; i++) v[i] /= n > 0 ? n : 1;
}

static void cross(const double *a, const double *b, double *c) {
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

// Where a ray meets the cube from -1 to 1 that the network knows; false if it passes it.
static bool meets_cube(const double *d, double *near_at, double *far_at) {
    *near_at = 0, *far_at = INFINITY;
    for (int i = 0; i < 3; i++) {
        double a = (-1 - EYE[i]) / d[i], b = (1 - EYE[i]) / d[i];
        *near_at = fmax(*near_at, fmin(a, b));
        *far_at = fmin(*far_at, fmax(a, b));
    }
    return *near_at < *far_at;
}

static size_t start_rays(Ray *rays, float *ends, uint32_t width, uint32_t height) {
    double forward[3] = {-EYE[0], -EYE[1], -EYE[2]}, up[3] = {0, 1, 0}, side[3], top[3];
    normalise(forward);
    cross(forward, up, side);
    normalise(side);
    cross(side, forward, top);
    const double shorter = width < height ? width : height;
    size_t n = 0;
    for (uint32_t i = 0; i < width * height; i++) {
        double u = (2 * (i % width + 0.5) - width) / shorter * 0.38;
        double v = -(2 * (double)(i / width) + 1 - height) / shorter * 0.38, d[3], near_at, far_at;
        for (int k = 0; k < 3; k++) d[k] = forward[k] + u * side[k] + v * top[k];
        normalise(d);
        if (!meets_cube(d, &near_at, &far_at)) continue;
        rays[n] = (Ray){(float)near_at, {(float)d[0], (float)d[1], (float)d[2]}, i};
        ends[i] = (float)far_at;
        n++;
    }
    return n;
}

static void ray_points(const Ray *rays, size_t n, float *p) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 3; k++)
            p[3 * i + k] = (float)EYE[k] + rays[i].at * rays[i].direction[k];
}

// Follows the rays; those that hit are at the front of the array then. Returns how many.
static bool march(NeuralRenderer *r, Ray *rays, const float *ends, size_t n, float *p, float *d,
                  size_t *n_hits, char *message) {
    enum { STEPS = 96 };
    const float close = 2e-3f;
    size_t hits = 0;
    for (int s = 0; s < STEPS && n > hits; s++) {
        Ray *live = rays + hits;
        size_t n_live = n - hits, kept = 0, found = 0;
        ray_points(live, n_live, p);
        if (!neural_renderer_points(r, p, n_live, d, message)) return false;
        // Hits move to the front of the live ones, those that leave the cube are dropped.
        for (size_t i = 0; i < n_live; i++) {
            Ray ray = live[i];
            if (d[i] < close) {
                live[kept++] = live[found];
                live[found++] = ray;
                continue;
            }
            ray.at += 0.9f * d[i]; // a learnt distance may be a little too long
            if (ray.at < ends[ray.pixel]) live[kept++] = ray;
        }
        hits += found;
        n = hits + (kept - found);
    }
    *n_hits = hits;
    return true;
}

bool neural_sdf_trace(NeuralRenderer *r, Image *image, uint32_t width, uint32_t height,
                      char *message) {
    const size_t n = (size_t)width * height;
    if (!image_create(image, width, height, message)) return false;
    Ray *rays = malloc(n * sizeof *rays);
    float *p = malloc(n * 12 * sizeof *p), *d = malloc(n * 4 * sizeof *d);
    float *ends = malloc(n * sizeof *ends);
    bool ok = rays && p && d && ends;
    if (!ok) message_fail(message, "out of memory");
    for (size_t i = 0; ok && i < n; i++) { // the background
        double v = (double)(i / width) / height;
        for (size_t c = 0; c < 3; c++)
            image->rgb[3 * i + c] = to_byte(0.16 + 0.10 * (1 - v) + 0.04 * (double)c);
    }
    size_t n_hits = 0;
    ok = ok && march(r, rays, ends, start_rays(rays, ends, width, height), p, d, &n_hits, message);
    // The gradient of the field is the normal: one point, and one beside it in each direction.
    const float beside = 4e-3f;
    if (ok) {
        ray_points(rays, n_hits, p);
        for (size_t k = 0; k < 3; k++)
            for (size_t i = 0; i < n_hits; i++) {
                float *q = p + 3 * ((k + 1) * n_hits + i);
                memcpy(q, p + 3 * i, 3 * sizeof *q);
                q[k] += beside;
            }
        ok = neural_renderer_points(r, p, 4 * n_hits, d, message);
    }
    double light[3] = {0.35, 0.85, 0.45};
    normalise(light);
    for (size_t i = 0; ok && i < n_hits; i++) {
        double normal[3], lit = 0, facing = 0;
        for (size_t k = 0; k < 3; k++) normal[k] = (double)(d[(k + 1) * n_hits + i] - d[i]);
        normalise(normal);
        for (size_t k = 0; k < 3; k++) {
            lit += normal[k] * light[k];
            facing -= normal[k] * (double)rays[i].direction[k];
        }
        static const double colour[3] = {0.92, 0.56, 0.28};
        double rim = pow(1 - fmax(0, facing), 3);
        for (size_t c = 0; c < 3; c++)
            image->rgb[3 * (size_t)rays[i].pixel + c] =
                to_byte(colour[c] * (0.22 + 0.78 * fmax(0, lit)) + 0.25 * rim);
    }
    free(rays), free(p), free(d), free(ends);
    if (!ok) image_free(image);
    return ok;
}
