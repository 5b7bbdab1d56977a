#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""msl_fuzz.py --mslc MSLC --runner MSL_RUNNER [--seeds A:B] [--count N] [--seconds S] [--keep DIR]

The whole compiler under differential fuzzing: random kernels in Metal (those of gen.py in another dress,
with threadgroup memory and barriers), as machine code for several widths, shapes and CPUs, against the
reference code that runs one thread at a time (--width 1). All memory must be equal bit for bit. One of
them checks its accesses (--validate), and is run with short buffers too.

Some seeds have SIMD-group functions on paths that leave loops. Their reference is the kernel as C,
which says itself where each lane stands in the source (harness.c), and --width 1 is one of those compared."""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
import time

import fuzz
import gen

SHAPES = [(64, 1, 1), (32, 4, 1), (16, 16, 1), (16, 4, 2), (8, 8, 1), (32, 8, 1), (32, 4, 2), (48, 2, 1), (7, 5, 3), (1, 64, 1), (100, 1, 1)]
HEAD = '''#include <metal_stdlib>
using namespace metal;
struct Sizes { int n, w, h; };
#define AT(d, n)
#define ITER(d)
#define GID(i) (int)gid[i]
#define TID(i) (int)tid[i]
#define INDEX() (int)index
#define LANE() (int)lane
#define SIMDGROUP() (int)group
#define QUAD_LANE() (int)corner
#define ATOMIC(op, at, v) atomic_fetch_##op##_explicit((device atomic_int *)(q + (at)), (int)(v), memory_order_relaxed)
#define ROW(y) (((int)gid.z * (int)grid.y + (y)) * (int)grid.x)
static int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
'''
SIGNATURE = '''kernel void %s(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
    device int *p [[buffer(3)]], device int *q [[buffer(4)]], constant Sizes &sizes [[buffer(5)]], uint3 gid [[thread_position_in_grid]],
    uint3 tid [[thread_position_in_threadgroup]], uint3 grid [[threads_per_grid]], uint3 size [[threads_per_threadgroup]],
    uint index [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
    uint group [[simdgroup_index_in_threadgroup]], uint corner [[thread_index_in_quadgroup]]) {
int n = sizes.n, w = sizes.w, h = sizes.h; (void)n; (void)w; (void)h; (void)lane; (void)group; (void)corner;
'''
REWRITE = [(r'\(const unsigned char \*\)', '(device const uchar *)'), (r'\(unsigned char \*\)', '(device uchar *)'),
           (r'\bconst ((?:unsigned |signed )?(?:char|short|int)) \*s_', r'device const \1 *s_'),
           (r'\(const (short|long|int|signed char|unsigned short) \*\)', r'(device const \1 *)'), (r'\((short|int) \*\)', r'(device \1 *)'),
           (r'\(const f(\d) \*\)', r'(device const float\1 *)'), (r'\(f(\d) \*\)', r'(device float\1 *)'), (r'\bf4 vec\b', 'float4 vec'),
           (r'__builtin_convertvector\(\(\(const u4 \*\)p\)\[(\w+)\], f4\)', r'float4(((device const uchar4 *)p)[\1])'),
           (r'__builtin_f(min|max|abs)f', r'f\1'), (r'__builtin_popcount', 'popcount'), (r'unsigned long', 'ulong'), (r'\bsigned char', 'char'),
           (r'unsigned s(\d+) = ', r'unsigned s\1 = (unsigned)'),
           # Functions of a SIMD-group by Metal's names: programs may not say ours.
           (r'__ingot_(simd|quad)_ballot\(', r'(\1_vote::vote_t)\1_ballot('),
           (r'__ingot_(simd|quad)_active_mask\(\)', r'(\1_vote::vote_t)\1_active_threads_mask()'),
           (r'__ingot_(simd|quad)_(all|any|is_first)\(', r'\1_\2('), (r'__ingot_((?:simd|quad)_\w+)_[iuf](?:32|64)\(', r'\1(')]


def place(r):
    """A place in the tile for each number of a thread: fields of its bits change sides, as kernels lay out tiles for matrices."""
    bits, other = r.sample(range(1, 6), 2)
    turn = lambda i, s: '((%s & %du) << %d | %s >> %d)' % (i, (1 << s) - 1, 10 - s, i, s)
    low = lambda i, s: '(%s / %du * %du + %s %% %du / %du + %s %% %du * %du)' % (
        i, 1 << (s + 2), 1 << (s + 2), i, 1 << (s + 2), 1 << s, i, 1 << s, 4)
    return r.choice([lambda i: i, lambda i: turn(i, bits), lambda i: low(i, bits), lambda i: turn(low(i, other), bits),
                     lambda i: turn('(uint)(ushort)' + i, bits), lambda i: '(1023u - %s)' % turn(i, bits)])


def tile(r, floats):
    """Threadgroup memory: written, a barrier, read elsewhere, a barrier."""
    v, at, kind = r.choice(floats), place(r), r.choice(['float', 'float', 'short', 'half'])
    put = r.choice(['(float)index', '%s + 1.0f' % v, 'b[id]'])
    if kind != 'float':
        put = '(%s)fmin(fmax(%s, -1000.0f), 1000.0f)' % (kind, put)
    other = r.choice([['(index * %du + %du) %% total' % (r.choice([1, 3, 7]), r.randint(0, 40))], ['total - 1u - index'],
                      ['(index / 16u) * 16u % total', 'index % 16u % total'], ['0u'], ['index']])
    get = ' + '.join('(float)t_[%s]' % at('(%s)' % o) for o in other)
    return ('{ threadgroup %s *t_ = (threadgroup %s *)tile; t_[%s] = %s; threadgroup_barrier(mem_flags::mem_threadgroup); '
            '%s = fmin(fmax(%s, -1000.0f), 1000.0f); threadgroup_barrier(mem_flags::mem_threadgroup); }') % (kind, kind, at('index'), put, v, get)


def kernel(rng, name, together, exits):
    """The kernel in Metal, and as C."""
    g = gen.Gen(rng, together, exits)
    text = g.kernel('k_' + name)
    while 'goto' in text or ' L0:' in text or ' L1:' in text:  # irreducible ones stay with the C fuzzer
        g = gen.Gen(rng, together, exits)
        text = g.kernel('k_' + name)
    head, body = text.split('{', 1)
    barriers = not exits and rng.random() < .5
    if barriers:
        lines = body.split('\n')
        at = next(k for k, l in enumerate(lines) if l.startswith('float f0'))
        extra = ' '.join(tile(rng, g.floats) for _ in range(rng.randint(1, 2)))
        if rng.random() < .5:
            extra = 'for (int turn = 0; turn < %s; turn++) { %s }' % (rng.choice(['3', '(h & 3)']), extra)
        lines.insert(at + 1, extra)
        body = '\n'.join(lines)
    for old, new in REWRITE:
        body = re.sub(old, new, body)
    start = 'threadgroup float tile[1024]; uint total = size.x * size.y * size.z; (void)total;\n' if barriers else ''
    return SIGNATURE % name + start + body, text


def run(cmd):
    return subprocess.run(cmd, capture_output=True, text=True, timeout=300)


def build_reference(d, name, text, shape):
    """The kernel as C in a program of its own that runs it lane by lane and compares code objects with it."""
    path = lambda f: os.path.join(d, f)
    with open(path(name + '.c'), 'w') as f:
        f.write('#include "kernel.h"\n' + gen.CLAMP + '\n' + text)
    with open(path('list.h'), 'w') as f:
        f.write('K(%s)\n' % name)
    defs = ['-DSX=%d' % shape[0], '-DSY=%d' % shape[1], '-DSZ=%d' % shape[2], '-DTOGETHER_REFERENCE', '-DREFERENCE', '-DOBJECTS']
    o = run([fuzz.CLANG, '-O1', *fuzz.FLAGS, *defs, '-I' + d, os.path.join(fuzz.HERE, 'harness.c'), path(name + '.c'), '-o', path(name), '-lm', '-ldl'])
    return 'the reference does not compile: ' + o.stderr[:400] if o.returncode else None


def one(seed, a, folder):
    r = random.Random(seed * 104729)
    together, shape, exits = r.random() < .5, r.choice(SHAPES), r.random() < .6
    exits &= together
    d = os.path.join(folder, 'm%d' % seed)
    os.makedirs(d, exist_ok=True)
    path = lambda f: os.path.join(d, f)
    kernels = [kernel(random.Random(seed * 100003 + k), 'f%d' % k, together, exits) for k in range(a.count)]
    with open(path('k.metal'), 'w') as f:
        f.write(HEAD + '\n'.join(k[0] for k in kernels))
    o = run([a.mslc, 'build', path('k.metal'), '--math=safe', '-o', path('k.metallib')])
    if o.returncode:
        return 'does not compile: ' + (o.stdout + o.stderr)[:600]
    group = '%d,%d,%d' % shape
    for k in range(a.count):
        name, objects = 'f%d' % k, []
        others = [['--group', group], r.choice([[], ['--group', group, '--cpu', 'x86-64-v3'], ['--group', group, '--width', '16'], ['--group', group]]),
                  r.choice([['--group', group], ['--group', group], ['--group', group, '--width', '16'], [], ['--width', '1']]) + ['--validate']]
        reference = []
        if exits:
            why = build_reference(d, name, kernels[k][1], shape)
            if why:
                return why
            reference = [path(name)]
        for v, options in enumerate([['--width', '1']] + others):
            out = path('%s.%d.so' % (name, v))
            o = run([a.mslc, 'build', path('k.metallib'), '--math=safe', '--function', name, '--emit=obj', '-o', out, *options])
            if o.returncode:
                return '%s %s: %s' % (name, ' '.join(options), (o.stdout + o.stderr)[:400])
            objects.append(out)
        try:
            o = run([*(reference or [a.runner, group]), *objects])
        except subprocess.TimeoutExpired:
            return '%s does not end' % name
        if o.returncode:
            return '%s %s %s rc %d: %s' % (name, group, others, o.returncode, o.stdout[:400])
    subprocess.run(['rm', '-r', d], check=True)
    return None


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--mslc', required=True)
    a.add_argument('--runner', required=True)
    a.add_argument('--seeds', default='1:10', help='FIRST:LAST, or FIRST: for ever')
    a.add_argument('--count', type=int, default=4, help='kernels for each seed')
    a.add_argument('--seconds', type=float, default=0)
    a.add_argument('--keep', default='')
    a.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    a = a.parse_args()
    first, last = a.seeds.split(':')
    folder = a.keep or tempfile.mkdtemp(prefix='ingot-fuzz-')
    begin, seed, end, done, bad = time.time(), int(first), int(last) if last else 1 << 60, 0, 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        waiting = {}
        while waiting or seed <= end:
            while seed <= end and len(waiting) < a.jobs and not (a.seconds and time.time() - begin > a.seconds):
                waiting[pool.submit(one, seed, a, folder)] = seed
                seed += 1
            if not waiting:
                break
            for f in concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)[0]:
                s, why = waiting.pop(f), f.result()
                done += 1
                if why:
                    bad += 1
                    print('seed %d: %s\n  repeat: tests/fuzz/msl_fuzz.py --mslc %s --runner %s --seeds %d:%d --count %d --keep DIR' %
                          (s, why, a.mslc, a.runner, s, s, a.count), flush=True)
    print('%d seeds of %d kernels in Metal, %d failed, %.0f s' % (done, a.count, bad, time.time() - begin))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
