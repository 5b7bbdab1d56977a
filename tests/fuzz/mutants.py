#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutants.py [--seconds N] [NUMBER ...]: is the fuzzer any good?

Breaks the vectoriser in one place at a time (a copy of src/compiler/passes with one replacement), builds
vecdrive from it and lets shapes.c, simd.c and random kernels look for the fault. Each mutant must be
caught, but for the marked ones: LLVM does not exploit that poison today, the fault needs memory that is
not there or masks that this driver does not fold."""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SRC = os.path.normpath(os.path.join(HERE, '..', '..', 'src'))
LLVM = os.environ.get('LLVM_ROOT', '/usr/lib/llvm-22')
MUTANTS = [
    ('exit values not kept for each lane', 'emit_control.c', 'LLVMBuildSelect(x->b, leave, v, out->acc[at], "")', 'v', ''),
    ('no blend at joins', 'emit_control.c', 'return LLVMBuildSelect(x->b, bl[p].mask[x->part], msl_vector(x, v, c), before, "");', '(void)before; return msl_vector(x, v, c);', ''),
    ('no temporal divergence', 'divergence.c', 'if (inside && r.kind != TOP) r = (Class){VARYING, .max = r.max};', '(void)inside;', ''),
    ('no control divergence at joins', 'divergence.c', 'return defined == 1 || r.kind == TOP ? r : (Class){VARYING, .max = r.max};', 'return r;', ''),
    ('lane 0 stands for all in addresses', 'emit.c', 'Value first = msl_intrinsic(x, "llvm.cttz", &bits, 1, a, 2);', 'Value first = const_int(bits, 0); (void)a;', ''),
    ('unmasked consecutive stores', 'emit_memory.c', 'masked_store(x, backwards ? reversed(x, v) : v, p, m, a->align);', 'masked_store(x, backwards ? reversed(x, v) : v, p, LLVMConstAllOnes(LLVMTypeOf(m)), a->align);', ''),
    ('mask after a loop is the latch\'s', 'emit_control.c', 'return x->blocks[x->loops[k->exit].preheader].mask[p];', 'return d->mask[p];', ''),
    ('segments share the first base', 'emit.c', 'if (msl_n_bases(x, k->c) > 1) return k->base[segment];', 'if (msl_n_bases(x, k->c) > 1) return k->base[0];', ''),
    ('rows of segments not counted', 'position.c', 'ahead = (int64_t)segment * x->segment', 'ahead = 0 * (int64_t)segment', ''),
    ('reductions see inactive lanes', 'emit_simd.c', 'return LLVMBuildSelect(x->b, x->mask, v, msl_splat(x, scalar), "");', '(void)scalar; return v;', ''),
    ('first lane of the ballot, not of the mask', 'emit_simd.c', 'Value lane = LLVMBuildAnd(x->b, msl_first_lane(x, x->mask), const_int(x->bits_type, x->width - 1), "");', 'Value lane = const_int(x->bits_type, 0);', ''),
    ('votes of inactive lanes count', 'emit_simd.c', "if (which.op == OP_ALL) m = msl_mask_and(x, m, LLVMBuildNot(x->b, is_true(x, i), \"\"));", 'if (which.op == OP_ALL) m = LLVMBuildNot(x->b, is_true(x, i), "");', ''),
    ('guard checks the first lane only', 'version.c', 'int64_t ahead = (int64_t)(x->segment - 1) * msl_class(x, operand(i, side - 1)).stride;', 'int64_t ahead = 0;', ''),
    ('private memory without lanes', 'private.c', 'if (s > 0) return s;', 'if (s > 0) return 0;', ''),
    ('atomic total ignores the mask', 'emit_atomic.c', 'total = LLVMBuildMul(x->b, msl_scalar(x, v), count_active(x, t), "");', 'total = LLVMBuildMul(x->b, msl_scalar(x, v), const_int(t, x->width), "");', ''),
    ('narrow gather without its shift', 'emit_memory.c', 'LLVMBuildLShr(x->b, v, shift, "")', 'v', ''),
    ('first lane wins a shared store', 'emit_memory.c', 'last[p] = msl_last_lane(x, x->masks[p]);', 'last[p] = LLVMBuildAnd(x->b, msl_first_lane(x, x->masks[p]), const_int(x->bits_type, x->width - 1), "");', ''),
    ('bounds kept through loops', 'divergence.c', 'r.max = UINT64_MAX; // a bound that grows with each iteration is no bound', '', ''),
    ('records of n read n', 'emit_memory.c', 'ix[i] = i * g + k;', 'ix[i] = i * a->n + k;', ''),
    ('segment without lanes reads its own address', 'emit_memory.c', 'LLVMSetOperand(copy, 0, LLVMBuildSelect(x->b, on[g], p[g], safe, ""));', 'LLVMSetOperand(copy, 0, p[g]); (void)safe;', 'fault'),
    ('rows all alike', 'emit.c', 'int64_t offset = (int64_t)segment * (k->c.segmented ? k->c.row : k->c.stride * (int64_t)x->segment);', 'int64_t offset = (int64_t)segment * (k->c.segmented ? 0 : k->c.stride * (int64_t)x->segment);', ''),
    ('rows kept through any extension', 'divergence.c', 'r.rows = a.segmented && a.rows && a.sure;', 'r.rows = a.segmented && a.rows;', 'fault'),
    ('one lane stores too much', 'vecdrive.c', 'msl_repair_masked_stores(&cx);', '', 'constant masks only'),
    ('short masked stores left to LLVM', 'emit_memory.c', 'return wide - n;', 'return 0 * (wide - n);', ''),
    ('masks by and instead of select', 'emit.c', 'return LLVMBuildSelect(x->b, mask, condition, msl_zero_mask(x), "");', 'return LLVMBuildAnd(x->b, mask, condition, "");', 'poison'),
    ('conversions left to structurizecfg', 'prepare.c', 'again |= hoist_from(x, &x->blocks[i]);', '(void)hoist_from;', ''),
    ('flags kept on linear bases', 'emit.c', 'if (strip) { switch (op) {', 'if (0) { switch (op) {', 'poison'),
]


def build(folder, file, old, new):
    objects = []
    for path in sorted(glob.glob(SRC + '/compiler/passes/*.c')) + [SRC + f for f in ('/compiler/codegen/context.c', '/base/arena.c')] + [HERE + '/vecdrive.c']:
        source = path
        if os.path.basename(path) == file:
            text = open(path).read()
            pattern = r'\s*'.join(re.escape(t) for t in re.findall(r'\w+|[^\w\s]', old))  # however it is broken into lines
            if len(re.findall(pattern, text)) != 1:
                sys.exit('%s: the text to replace occurs %d times: %s' % (file, len(re.findall(pattern, text)), old))
            source = os.path.join(folder, file)
            open(source, 'w').write(re.sub(pattern, lambda m: new, text))
        out = os.path.join(folder, os.path.basename(path) + '.o')
        cc = (['ccache'] if subprocess.run(['which', 'ccache'], capture_output=True).returncode == 0 else []) + ['clang-22']
        subprocess.run(cc + ['-w', '-std=c17', '-O1', '-ffunction-sections', '-D_GNU_SOURCE', '-I' + SRC, '-I' + LLVM + '/include', '-c', source, '-o', out], check=True)
        objects.append(out)
    driver = os.path.join(folder, 'vecdrive')
    subprocess.run(['clang-22', *objects, '-o', driver, '-L' + LLVM + '/lib', '-lLLVM-22', '-Wl,--gc-sections', '-Wl,-rpath,' + LLVM + '/lib'], check=True)
    return driver


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--seconds', type=float, default=60)
    a.add_argument('numbers', nargs='*', type=int)
    a = a.parse_args()
    missed = 0
    for k, (name, file, old, new, expect) in enumerate(MUTANTS):
        if a.numbers and k not in a.numbers:
            continue
        with tempfile.TemporaryDirectory() as folder:
            driver = build(folder, file, old, new)
            how = ''
            for case in ('shapes 32 64,1,1', 'shapes 32 16,16,1', 'shapes 32 48,2,1', 'shapes 32 8,8,1', 'simd 32 64,1,1'):
                r = subprocess.run([HERE + '/fixed.py', '--driver', driver, *case.split()], capture_output=True, text=True)
                if r.returncode:
                    how = case + ': ' + (r.stdout + r.stderr).strip().split('\n')[0][:80]
                    break
            if not how:
                r = subprocess.run([HERE + '/fuzz.py', '--driver', driver, '--seeds', '9001:', '--seconds', str(a.seconds)], capture_output=True, text=True)
                if r.returncode:
                    how = r.stdout.split('\n')[0][:80]
        missed += not how and not expect
        print('%2d %-46s %s' % (k, name, how or 'NOT CAUGHT' + (' (%s)' % expect if expect else '')), flush=True)
    return missed != 0


if __name__ == '__main__':
    sys.exit(main())
