// SPDX-License-Identifier: Apache-2.0
// science.metal: simulation, fractals, ray marching, ciphers and random numbers.
#include <metal_stdlib>
using namespace metal;

// ---- n-body: all pairs through threadgroup memory

struct Body {
    float4 position; // w: mass
    float4 velocity;
};

struct NBodyParams {
    uint n;
    float dt;
    float softening;
};

kernel void nbody(device const Body *in [[buffer(0)]],
                  device Body *out [[buffer(1)]],
                  constant NBodyParams &p [[buffer(2)]],
                  threadgroup float4 *shared [[threadgroup(0)]],
                  uint gid [[thread_position_in_grid]],
                  uint tid [[thread_position_in_threadgroup]],
                  uint size [[threads_per_threadgroup]])
{
    float3 pos = gid < p.n ? in[gid].position.xyz : float3(0);
    float3 acc = 0;
    for (uint base = 0; base < p.n; base += size) {
        if (base + tid < p.n)
            shared[tid] = in[base + tid].position;
        else
            shared[tid] = float4(0);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < size; ++k) {
            float3 d = shared[k].xyz - pos;
            float r2 = length_squared(d) + p.softening;
            float inv = rsqrt(r2);
            acc += d * (shared[k].w * inv * inv * inv);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (gid >= p.n) return;
    Body b = in[gid];
    b.velocity.xyz += acc * p.dt;
    b.position.xyz += b.velocity.xyz * p.dt;
    out[gid] = b;
}

// ---- game of life on bytes with wrap-around, and on 64-bit words

kernel void life(device const uchar *in [[buffer(0)]], device uchar *out [[buffer(1)]],
                 uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]])
{
    uint count = 0;
    for (uint dy = 0; dy < 3; dy++)
        for (uint dx = 0; dx < 3; dx++) {
            if (dx == 1 && dy == 1) continue;
            uint x = (p.x + dx + n.x - 1) % n.x;
            uint y = (p.y + dy + n.y - 1) % n.y;
            count += in[y * n.x + x];
        }
    uchar self = in[p.y * n.x + p.x];
    out[p.y * n.x + p.x] = (count == 3) || (self && count == 2);
}

static inline void add_bit(thread ulong &one, thread ulong &two, thread ulong &four, ulong x) {
    ulong c = one & x;
    one ^= x;
    ulong c2 = two & c;
    two ^= c;
    four |= c2;
}

kernel void life_words(device const ulong *in [[buffer(0)]], device ulong *out [[buffer(1)]],
                       constant uint &rows [[buffer(2)]], uint y [[thread_position_in_grid]])
{
    if (y >= rows) return;
    ulong one = 0, two = 0, four = 0;
    for (int d = -1; d <= 1; ++d) {
        ulong row = in[(y + rows + d) % rows];
        add_bit(one, two, four, rotate(row, 1ul));
        add_bit(one, two, four, rotate(row, 63ul));
        if (d != 0) add_bit(one, two, four, row);
    }
    out[y] = ~four & two & (one | in[y]);
}

// ---- stencils

kernel void heat3d(device const float *in [[buffer(0)]], device float *out [[buffer(1)]],
                   constant uint3 &n [[buffer(2)]], constant float &k [[buffer(3)]],
                   uint3 p [[thread_position_in_grid]])
{
    if (any(p >= n)) return;
    uint i = (p.z * n.y + p.y) * n.x + p.x;
    if (any(p == 0u) || any(p == n - 1u)) {
        out[i] = in[i];
        return;
    }
    uint sy = n.x, sz = n.x * n.y;
    out[i] = in[i] + k * (in[i - 1] + in[i + 1] + in[i - sy] + in[i + sy] + in[i - sz] + in[i + sz] - 6.0f * in[i]);
}

struct Cell { half h; half2 flow; };

kernel void shallow(device const Cell *in [[buffer(0)]], device Cell *out [[buffer(1)]],
                    constant ushort2 &n [[buffer(2)]], ushort2 p [[thread_position_in_grid]])
{
    if (p.x >= n.x || p.y >= n.y) return;
    ushort l = p.x ? p.x - 1 : 0, r = min(ushort(p.x + 1), ushort(n.x - 1));
    Cell c = in[p.y * n.x + p.x];
    half dh = in[p.y * n.x + r].h - in[p.y * n.x + l].h;
    c.flow.x -= 0.25h * dh;
    c.h -= 0.125h * (in[p.y * n.x + r].flow.x - in[p.y * n.x + l].flow.x);
    out[p.y * n.x + p.x] = c;
}

// ---- fractals

struct View { float2 centre; float scale; uint limit; };

kernel void mandelbrot(device uint *out [[buffer(0)]], constant View &v [[buffer(1)]],
                       uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]])
{
    float2 c = v.centre + (float2(p) / float2(n) - 0.5f) * v.scale;
    float2 z = 0;
    uint i = 0;
    while (i < v.limit && dot(z, z) <= 4.0f) {
        z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
        ++i;
    }
    out[p.y * n.x + p.x] = i;
}

kernel void newton(device uchar *out [[buffer(0)]], uint2 p [[thread_position_in_grid]], uint2 n [[threads_per_grid]])
{
    float2 z = (float2(p) + 0.5f) / float2(n) * 4.0f - 2.0f;
    const float2 roots[3] = { float2(1, 0), float2(-0.5f, 0.8660254f), float2(-0.5f, -0.8660254f) };
    for (int i = 0; i < 40; ++i) {
        float2 z2 = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y);
        float2 z3 = float2(z2.x * z.x - z2.y * z.y, z2.x * z.y + z2.y * z.x) - float2(1, 0);
        float2 d = 3.0f * z2;
        float m = dot(d, d);
        if (m < 1e-12f) break;
        float2 q = float2(dot(z3, d), z3.y * d.x - z3.x * d.y) / m;
        z -= q;
        for (uchar r = 0; r < 3; ++r)
            if (distance(z, roots[r]) < 1e-3f) {
                out[p.y * n.x + p.x] = r;
                return;
            }
    }
    out[p.y * n.x + p.x] = 255;
}

// ---- signed distance functions and a ray marcher

struct Hit { float t; int material; };

static float sd_sphere(float3 p, float r) { return length(p) - r; }
static float sd_box(float3 p, float3 b) {
    float3 q = abs(p) - b;
    return length(max(q, 0.0)) + min(max(q.x, max(q.y, q.z)), 0.0);
}
static float smooth_min(float a, float b, float k) {
    float h = clamp(0.5 + 0.5 * (b - a) / k, 0.0, 1.0);
    return mix(b, a, h) - k * h * (1.0 - h);
}

static Hit scene(float3 p) {
    Hit h;
    float ball = sd_sphere(p - float3(0.3, 0.2, 0), 0.7);
    float box = sd_box(p - float3(-0.6, -0.1, 0.2), float3(0.35));
    float body = smooth_min(ball, box, 0.2);
    float floor_d = p.y + 0.8;
    h.t = min(body, floor_d);
    h.material = body < floor_d ? 1 : 2;
    return h;
}

static float3 normal_at(float3 p) {
    const float2 e = float2(1, -1) * 1e-3;
    return normalize(e.xyy * scene(p + e.xyy).t + e.yyx * scene(p + e.yyx).t +
                     e.yxy * scene(p + e.yxy).t + e.xxx * scene(p + e.xxx).t);
}

kernel void raymarch(device float4 *out [[buffer(0)]], constant float3 &eye [[buffer(1)]],
                     uint2 gid [[thread_position_in_grid]], uint2 n [[threads_per_grid]])
{
    float2 uv = (2.0 * (float2(gid) + 0.5) - float2(n)) / float(n.y);
    float3 dir = normalize(float3(uv, 1.8));
    float t = 0;
    Hit h = { 0, 0 };
    int steps;
    for (steps = 0; steps < 64; ++steps) {
        h = scene(eye + dir * t);
        if (h.t < 1e-3) break;
        t += h.t;
        if (t > 20.0) { h.material = 0; break; }
    }
    float4 colour = float4(0, 0, 0, t);
    if (h.material != 0 && steps < 64) {
        float3 p = eye + dir * t;
        float3 nrm = normal_at(p);
        float3 light = normalize(float3(0.6, 0.9, -0.5));
        float diffuse = saturate(dot(nrm, light));
        float3 base = h.material == 1 ? float3(0.9, 0.4, 0.2) : float3(0.5);
        colour.xyz = base * (0.1 + 0.9 * diffuse) + pow(saturate(dot(reflect(dir, nrm), light)), 16.0) * 0.3;
    }
    out[gid.y * n.x + gid.x] = colour;
}

// ---- SHA-256: a message per thread

constant uint K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2 };

#define ROTR(x, n) rotate((x), 32u - (n))

static void sha_block(thread uint *state, thread uint *w) {
    uint s[8];
    for (int i = 0; i < 8; ++i) s[i] = state[i];
    for (int i = 0; i < 64; ++i) {
        if (i >= 16) {
            uint a = w[(i + 1) & 15], b = w[(i + 14) & 15];
            w[i & 15] += (ROTR(a, 7u) ^ ROTR(a, 18u) ^ (a >> 3)) + w[(i + 9) & 15] + (ROTR(b, 17u) ^ ROTR(b, 19u) ^ (b >> 10));
        }
        uint e = s[4], a = s[0];
        uint t1 = s[7] + (ROTR(e, 6u) ^ ROTR(e, 11u) ^ ROTR(e, 25u)) + ((e & s[5]) ^ (~e & s[6])) + K[i] + w[i & 15];
        uint t2 = (ROTR(a, 2u) ^ ROTR(a, 13u) ^ ROTR(a, 22u)) + ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        s[7] = s[6]; s[6] = s[5]; s[5] = s[4];
        s[4] = s[3] + t1;
        s[3] = s[2]; s[2] = s[1]; s[1] = s[0];
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i) state[i] += s[i];
}

kernel void sha256(device const uchar *messages [[buffer(0)]], device const uint *offsets [[buffer(1)]],
                   device uchar *digests [[buffer(2)]], constant uint &n [[buffer(3)]],
                   uint i [[thread_position_in_grid]])
{
    if (i >= n) return;
    device const uchar *m = messages + offsets[i];
    const uint len = offsets[i + 1] - offsets[i];
    uint state[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };
    const uint blocks = (len + 8) / 64 + 1;
    for (uint b = 0; b < blocks; ++b) {
        uint w[16];
        for (uint k = 0; k < 16; ++k) {
            uint word = 0;
            for (uint j = 0; j < 4; ++j) {
                uint at = b * 64 + k * 4 + j;
                uint byte = at < len ? m[at] : at == len ? 0x80 : 0;
                word = (word << 8) | byte;
            }
            w[k] = word;
        }
        if (b == blocks - 1) w[15] = len * 8;
        sha_block(state, w);
    }
    for (uint k = 0; k < 32; ++k)
        digests[i * 32 + k] = uchar(state[k / 4] >> (24 - 8 * (k % 4)));
}

// ---- a substitution-permutation cipher with byte tables, AES-like: the S-box is made in threadgroup memory

static uchar gf_mul(uchar a, uchar b) {
    uchar r = 0;
    while (b) {
        if (b & 1) r ^= a;
        a = (a << 1) ^ ((a & 0x80) ? 0x1b : 0);
        b >>= 1;
    }
    return r;
}

kernel void sbox_cipher(device const uchar4 *in [[buffer(0)]], device uchar4 *out [[buffer(1)]],
                        constant uchar *key [[buffer(2)]], constant uint &n [[buffer(3)]],
                        uint gid [[thread_position_in_grid]], uint tid [[thread_position_in_threadgroup]],
                        uint size [[threads_per_threadgroup]])
{
    threadgroup uchar sbox[256];
    for (uint v = tid; v < 256; v += size) {
        uchar inverse = 0;
        if (v) {
            // x^254 by square and multiply
            uchar p = v;
            uchar acc = 1;
            for (int e = 254; e; e >>= 1) {
                if (e & 1) acc = gf_mul(acc, p);
                p = gf_mul(p, p);
            }
            inverse = acc;
        }
        uchar s = inverse;
        for (int k = 1; k <= 4; ++k)
            s ^= rotate(inverse, uchar(k));
        sbox[v] = s ^ 0x63;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (gid >= n) return;
    uchar4 b = in[gid];
    for (uint round = 0; round < 4; ++round) {
        for (uint k = 0; k < 4; ++k)
            b[k] = sbox[b[k] ^ key[(round * 4 + k) % 16]];
        b = b.yzwx;
        uchar4 m;
        for (uint k = 0; k < 4; ++k)
            m[k] = gf_mul(b[k], 2) ^ gf_mul(b[(k + 1) & 3], 3) ^ b[(k + 2) & 3] ^ b[(k + 3) & 3];
        b = m;
    }
    out[gid] = b;
}

// ---- random numbers

static uint pcg(thread ulong &state) {
    ulong old = state;
    state = old * 6364136223846793005ul + 1442695040888963407ul;
    uint shifted = uint(((old >> 18u) ^ old) >> 27u);
    uint rot = uint(old >> 59u);
    return (shifted >> rot) | (shifted << ((-rot) & 31));
}

kernel void pcg32(device uint *out [[buffer(0)]], constant ulong &seed [[buffer(1)]], constant uint &per [[buffer(2)]],
                  uint i [[thread_position_in_grid]])
{
    ulong state = seed + i;
    pcg(state);
    for (uint k = 0; k < per; ++k)
        out[i * per + k] = pcg(state);
}

static uint4 philox(uint4 c, uint2 k) {
    for (int r = 0; r < 10; ++r) {
        uint hi0 = mulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
        uint hi1 = mulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
        c = uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
        k += uint2(0x9E3779B9u, 0xBB67AE85u);
    }
    return c;
}

kernel void philox4x32(device uint4 *out [[buffer(0)]], constant uint2 &key [[buffer(1)]],
                       uint i [[thread_position_in_grid]])
{
    out[i] = philox(uint4(i, 0, 0x1234, ~i), key);
}

kernel void box_muller(device const uint2 *bits [[buffer(0)]], device float2 *out [[buffer(1)]],
                       uint i [[thread_position_in_grid]])
{
    float u = (float(bits[i].x >> 8) + 1.0f) * 0x1p-24f;
    float a = float(bits[i].y >> 8) * 0x1p-24f;
    float c;
    float s = sincos(2.0f * M_PI_F * a, c);
    out[i] = sqrt(-2.0f * log(u)) * float2(c, s);
}

// ---- noise

static float fade(float t) { return t * t * t * (t * (t * 6 - 15) + 10); }
static float gradient(uint h, float x, float y, float z) {
    h &= 15;
    float u = h < 8 ? x : y;
    float v = h < 4 ? y : (h == 12 || h == 14 ? x : z);
    return ((h & 1) ? -u : u) + ((h & 2) ? -v : v);
}

kernel void perlin(device const packed_float3 *where [[buffer(0)]], constant uchar *perm [[buffer(1)]],
                   device float *out [[buffer(2)]], constant uint &octaves [[buffer(3)]],
                   uint i [[thread_position_in_grid]])
{
    float3 p = where[i];
    float total = 0, amplitude = 1;
    for (uint o = 0; o < octaves; ++o) {
        float3 f = floor(p);
        uint3 c = uint3(int3(f)) & 255u;
        float3 d = p - f;
        float3 w = float3(fade(d.x), fade(d.y), fade(d.z));
        float corner[8];
        for (uint k = 0; k < 8; ++k) {
            uint3 q = (c + uint3(k & 1, (k >> 1) & 1, k >> 2)) & 255u;
            uint h = perm[(perm[(perm[q.x] + q.y) & 255] + q.z) & 255];
            corner[k] = gradient(h, d.x - (k & 1), d.y - ((k >> 1) & 1), d.z - (k >> 2));
        }
        float x0 = mix(corner[0], corner[1], w.x), x1 = mix(corner[2], corner[3], w.x);
        float x2 = mix(corner[4], corner[5], w.x), x3 = mix(corner[6], corner[7], w.x);
        total += amplitude * mix(mix(x0, x1, w.y), mix(x2, x3, w.y), w.z);
        amplitude *= 0.5f;
        p *= 2.0f;
    }
    out[i] = total;
}

// ---- particles with a bounce and a life, struct of mixed sizes in device memory

struct Particle {
    packed_float3 position;
    half4 colour;
    packed_float3 velocity;
    ushort age;
    bool alive;
};
static_assert(sizeof(Particle) == 40, "layout of Particle");

kernel void particles(device Particle *ps [[buffer(0)]], constant float &dt [[buffer(1)]],
                      constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    if (i >= n) return;
    device Particle &p = ps[i];
    if (!p.alive) return;
    float3 v = p.velocity;
    float3 x = p.position;
    v.y -= 9.8f * dt;
    x += v * dt;
    for (int a = 0; a < 3; ++a)
        if (x[a] < -1 || x[a] > 1) {
            v[a] = -0.5f * v[a];
            x[a] = clamp(x[a], -1.0f, 1.0f);
        }
    p.position = x;
    p.velocity = packed_float3(v);
    p.age++;
    p.colour.a *= 0.5h;
    if (p.age > 3) p.alive = false;
}

// ---- radix-2 FFT of one row in threadgroup memory

static float2 cmul(float2 a, float2 b) { return float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

kernel void fft_row(device float2 *data [[buffer(0)]], constant uint &log_n [[buffer(1)]],
                    threadgroup float2 *s [[threadgroup(0)]],
                    uint tid [[thread_position_in_threadgroup]], uint row [[threadgroup_position_in_grid]],
                    uint size [[threads_per_threadgroup]])
{
    const uint n = 1u << log_n;
    device float2 *x = data + row * n;
    for (uint i = tid; i < n; i += size)
        s[reverse_bits(i) >> (32 - log_n)] = x[i];
    for (uint stage = 1; stage <= log_n; ++stage) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint m = 1u << stage, h = m >> 1;
        for (uint b = tid; b < n / 2; b += size) {
            uint k = b & (h - 1);
            uint at = ((b >> (stage - 1)) << stage) + k;
            float angle = -2.0f * M_PI_F * float(k) / float(m);
            float2 w = float2(precise::cos(angle), precise::sin(angle));
            float2 t = cmul(w, s[at + h]);
            float2 u = s[at];
            s[at] = u + t;
            s[at + h] = u - t;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = tid; i < n; i += size)
        x[i] = s[i];
}

// ---- small dense linear algebra per thread

kernel void cholesky4(device const float4x4 *in [[buffer(0)]], device float4x4 *out [[buffer(1)]],
                      device float *det [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    float4x4 a = in[i];
    float4x4 l = float4x4(0.0f);
    for (int r = 0; r < 4; ++r)
        for (int c = 0; c <= r; ++c) {
            float s = a[c][r];
            for (int k = 0; k < c; ++k)
                s -= l[k][r] * l[k][c];
            l[c][r] = r == c ? sqrt(s) : s / l[c][c];
        }
    out[i] = l;
    det[i] = determinant(a);
}

kernel void quaternions(device const float4 *q [[buffer(0)]], device const packed_float3 *v [[buffer(1)]],
                        device packed_float3 *out [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    float4 r = normalize(q[i]);
    float3 x = v[i];
    float3 t = 2.0f * cross(r.xyz, x);
    out[i] = x + r.w * t + cross(r.xyz, t);
}

// ---- collatz: strongly divergent while loop with 64-bit values

kernel void collatz(device const uint *in [[buffer(0)]], device uint *steps [[buffer(1)]],
                    device ulong *top [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    ulong v = in[i];
    ulong highest = v;
    uint n = 0;
    while (v > 1) {
        v = v & 1 ? 3 * v + 1 : v >> 1;
        highest = max(highest, v);
        ++n;
    }
    steps[i] = n;
    top[i] = highest;
}

// ---- black-scholes

static float cdf(float x) {
    float k = 1.0f / (1.0f + 0.2316419f * fabs(x));
    float p = k * (0.319381530f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float r = 0.39894228040143267794f * exp(-0.5f * x * x) * p;
    return x > 0 ? 1.0f - r : r;
}

kernel void black_scholes(device const float3 *sxt [[buffer(0)]], device float2 *out [[buffer(1)]],
                          constant float2 &rv [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    float s = sxt[i].x, x = sxt[i].y, t = sxt[i].z;
    float root = sqrt(t);
    float d1 = (log(s / x) + (rv.x + 0.5f * rv.y * rv.y) * t) / (rv.y * root);
    float d2 = d1 - rv.y * root;
    float discount = x * exp(-rv.x * t);
    out[i] = float2(s * cdf(d1) - discount * cdf(d2), discount * cdf(-d2) - s * cdf(-d1));
}
