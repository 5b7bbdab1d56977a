#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fuzz.py --driver VECDRIVE [--seeds A:B] [--count N] [--seconds S] [--keep DIR]

Differential fuzzing of the vectoriser: random kernels (gen.py), each seed with its own width, threadgroup
shape, instruction set and optimisation level; all memory compared bit for bit with scalar execution
(harness.c). A difference prints the command that repeats it. Exit status 1 if any seed failed."""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.join(HERE, '..', '..', 'src')
CLANG = os.environ.get('FUZZ_CLANG', 'clang-22')
FLAGS = ['-ffp-contract=off', '-fno-vectorize', '-fno-slp-vectorize', '-fno-unroll-loops', '-fno-builtin', '-fno-strict-aliasing', '-w',
         '-I' + HERE, '-I' + SRC]
SHAPES = [(64, 1, 1), (32, 4, 1), (16, 16, 1), (16, 4, 2), (8, 8, 1), (4, 8, 2), (48, 2, 1), (7, 5, 3), (1, 64, 1), (100, 1, 1), (2, 24, 1)]
TARGETS = [('native', None)] * 6 + [('x86-64-v3', '+avx2,+fma,+f16c'), ('x86-64', '+sse2')]


def plan(seed):
    """What a seed tests: reproducible from the number alone."""
    r = random.Random(seed * 7919)
    together = r.random() < .4
    parts = 1 if together else r.choice([1, 1, 1, 2, 2, 4, 8])
    return {'together': together, 'width': 32 if together else r.choice([32, 32, 32, 16, 8, 4]), 'parts': parts, 'shape': r.choice(SHAPES),
            'target': r.choice(TARGETS), 'opt': r.choice(['-O1', '-O2', '-O2']), 'quick': r.random() < .75}


def run(cmd, **kw):
    return subprocess.run(cmd, capture_output=True, text=True, **kw)


def one(seed, count, driver, folder):
    """None if equal, else what went wrong."""
    p = plan(seed)
    count = max(1, count // p['parts'])
    d = os.path.join(folder, str(seed))
    os.makedirs(d, exist_ok=True)
    path = lambda f: os.path.join(d, f)
    with open(path('k.c'), 'w') as f:
        subprocess.run([sys.executable, os.path.join(HERE, 'gen.py'), str(seed), str(count)] + (['together'] if p['together'] else []), stdout=f, check=True)
    with open(path('list.h'), 'w') as f:
        f.write(''.join('K(f%d)\n' % k for k in range(count)))
    r = run([CLANG, p['opt'], *FLAGS, '-S', '-emit-llvm', path('k.c'), '-o', path('k.ll')])
    if r.returncode:
        return 'the generated C does not compile: ' + r.stderr[:300]
    cpu, features = p['target']
    r = run([driver, path('k.ll'), path('v.o'), '--width', str(p['width']), '--parts', str(p['parts']), '--shape', '%d,%d,%d' % p['shape']] +
            (['--cpu', cpu, '--features', features] if features else []) + (['--quick'] if p['quick'] else []), timeout=300)
    if r.returncode:
        return 'vectoriser: rc %d %s' % (r.returncode, r.stderr[:400])
    defs = ['-DWIDTH=%d' % (p['width'] * p['parts']), '-DSX=%d' % p['shape'][0], '-DSY=%d' % p['shape'][1], '-DSZ=%d' % p['shape'][2]]
    if p['together']:
        defs += ['-DTOGETHER_REFERENCE', '-DREFERENCE']
    r = run([CLANG, '-O1', *FLAGS, *defs, '-I' + d, os.path.join(HERE, 'harness.c'), path('k.c'), path('v.o'), '-o', path('t'), '-lm'])
    if r.returncode:
        return 'link: ' + r.stderr[:400]
    try:
        r = run([path('t')], timeout=120)
    except subprocess.TimeoutExpired:
        return 'does not end'
    if r.returncode:
        return 'rc %d: %s' % (r.returncode, r.stdout[:600].strip())
    subprocess.run(['rm', '-r', d], check=True)
    return None


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--driver', required=True)
    a.add_argument('--seeds', default='1:40', help='FIRST:LAST, or FIRST: for ever')
    a.add_argument('--count', type=int, default=8, help='kernels for each seed')
    a.add_argument('--seconds', type=float, default=0, help='stop after this long')
    a.add_argument('--keep', default='', help='folder for failing cases')
    a.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    a = a.parse_args()
    first, last = a.seeds.split(':')
    folder = a.keep or tempfile.mkdtemp(prefix='ingot-fuzz-')
    begin, seed, end = time.time(), int(first), int(last) if last else 1 << 60
    done = bad = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        waiting = {}
        while waiting or seed <= end:
            while seed <= end and len(waiting) < a.jobs and not (a.seconds and time.time() - begin > a.seconds):
                waiting[pool.submit(one, seed, a.count, os.path.abspath(a.driver), folder)] = seed
                seed += 1
            if not waiting:
                break
            ready, _ = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for f in ready:
                s, why = waiting.pop(f), f.result()
                done += 1
                if why:
                    bad += 1
                    print('seed %d %s: %s\n  repeat: tests/fuzz/fuzz.py --driver %s --seeds %d:%d --count %d --keep DIR' % (s, plan(s), why, a.driver, s, s, a.count), flush=True)
    print('%d seeds of %d kernels, %d failed, %.0f s' % (done, a.count, bad, time.time() - begin))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
