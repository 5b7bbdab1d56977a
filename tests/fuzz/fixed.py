#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fixed.py --driver VECDRIVE shapes|simd WIDTH X,Y,Z [--cpu NAME --features TEXT]: the hand-made kernels of
shapes.c or simd.c, vectorised for one threadgroup shape, against their lane-by-lane reference."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import fuzz


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--driver', required=True)
    a.add_argument('--cpu', default='')
    a.add_argument('--features', default='')
    a.add_argument('--parts', type=int, default=1)
    a.add_argument('--quick', action='store_true', help='O1, masked code only')
    a.add_argument('file')
    a.add_argument('width')
    a.add_argument('shape')
    a = a.parse_args()
    source = os.path.join(fuzz.HERE, a.file + '.c')
    with tempfile.TemporaryDirectory(prefix='ingot-fuzz-') as d:
        path = lambda f: os.path.join(d, f)
        machine = ['-mfma', '-mf16c']  # the reference's own fma and half conversions
        subprocess.run([fuzz.CLANG, '-O2', *fuzz.FLAGS, *machine, '-S', '-emit-llvm', source, '-o', path('k.ll')], check=True)
        names = re.findall(r'^define .*@k_(\w+)\(', open(path('k.ll')).read(), re.M)
        open(path('list.h'), 'w').write(''.join('K(%s)\n' % n for n in names))
        extra = (['--cpu', a.cpu] if a.cpu else []) + (['--features', a.features] if a.features else []) + (['--quick'] if a.quick else [])
        subprocess.run([a.driver, path('k.ll'), path('v.o'), '--width', a.width, '--parts', str(a.parts), '--shape', a.shape, *extra], check=True)
        defs = ['-DWIDTH=%d' % (int(a.width) * a.parts)] + ['-DS%s=%s' % kv for kv in zip('XYZ', a.shape.split(','))]
        if a.file == 'simd':
            defs += ['-DTOGETHER_REFERENCE', '-DREFERENCE']
        subprocess.run([fuzz.CLANG, '-O1', *fuzz.FLAGS, *machine, *defs, '-I' + d, os.path.join(fuzz.HERE, 'harness.c'), source, path('v.o'),
                        '-o', path('t'), '-lm'], check=True)
        return subprocess.run([path('t')], timeout=120).returncode


if __name__ == '__main__':
    sys.exit(main())
