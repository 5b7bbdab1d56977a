// SPDX-License-Identifier: Apache-2.0
// components.c: motion of instances as scale, shear, pivot, rotation and translation, which are
// interpolated separately, rotations along the shortest arc.
#include <math.h>
#include "devices/cpu/rays/scene_int.h"

static void mix(float *to, const float *a, const float *b, float w, int n) {
    for (int i = 0; i < n; i++) to[i] = a[i] + w * (b[i] - a[i]);
}

static void turn(double *q, const float *a, const float *b, double w) {
    double dot = 0, size = 0, p = 1 - w, r = w;
    for (int i = 0; i < 4; i++) dot += (double)a[i] * b[i];
    double sign = dot < 0 ? -1 : 1, angle = acos(fmin(fabs(dot), 1));
    if (angle > 1e-4) p = sin(p * angle) / sin(angle), r = sin(r * angle) / sin(angle);
    for (int i = 0; i < 4; i++) q[i] = p * a[i] + sign * r * b[i], size += q[i] * q[i];
    for (int i = 0; i < 4; i++) q[i] = size > 0 ? q[i] / sqrt(size) : i == 3;
}

// Scale, shear and pivot: upper triangular, applied first.
static void take_first(Matrix *to, const Components *c) {
    *to = (Matrix){{c->scale[0], 0, 0, c->shear[0], c->scale[1], 0, c->shear[1], c->shear[2],
                    c->scale[2], c->pivot[0], c->pivot[1], c->pivot[2]}};
}

void rays_compose(Matrix *to, const Components *a, const Components *b, float w) {
    Components c;
    double q[4];
    Matrix first, r;
    mix(c.scale, a->scale, b->scale, w, 3);
    mix(c.shear, a->shear, b->shear, w, 3);
    mix(c.pivot, a->pivot, b->pivot, w, 3);
    mix(c.translation, a->translation, b->translation, w, 3);
    turn(q, a->rotation, b->rotation, w);
    take_first(&first, &c);
    double x = q[0], y = q[1], z = q[2], s = q[3];
    const double m[9] = {1 - 2 * (y * y + z * z), 2 * (x * y + z * s),     2 * (x * z - y * s),
                         2 * (x * y - z * s),     1 - 2 * (x * x + z * z), 2 * (y * z + x * s),
                         2 * (x * z + y * s),     2 * (y * z - x * s),     1 - 2 * (x * x + y * y)};
    for (int i = 0; i < 12; i++) r.m[i] = i < 9 ? (float)m[i] : c.translation[i - 9];
    rays_multiply(to, &r, &first);
}

// Rotations keep distances from the origin: the box stays in a ball, and the greatest ball of the
// keyframes holds it in between.
void rays_component_bounds(float *bounds, const float *box, const Components *c) {
    Matrix m;
    float most = 0;
    take_first(&m, c);
    for (int corner = 0; corner < 8; corner++) {
        float size = 0;
        for (int r = 0; r < 3; r++) {
            float p = m.m[9 + r];
            for (int k = 0; k < 3; k++) p += m.m[k * 3 + r] * box[corner >> k & 1 ? 3 + k : k];
            size += p * p;
        }
        most = fmaxf(most, sqrtf(size));
    }
    for (int k = 0; k < 3; k++) {
        bounds[k] = fminf(bounds[k], c->translation[k] - most * 1.0001f);
        bounds[3 + k] = fmaxf(bounds[3 + k], c->translation[k] + most * 1.0001f);
    }
}
