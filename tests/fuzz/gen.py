#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gen.py SEED COUNT [together]: random kernels k_f0, k_f1, ... in C (see kernel.h).

Nested loops with break and continue, early returns, switches, gotos (also irreducible), private
arrays and structs, float2/3/4, half words and bytes, 64-bit words that paths only convert to and from, clamps,
guarded divisions, atomics, uniform, linear, row-wise and scattered accesses, lanes dealt out to blocks. With `together`: SIMD-group and quad-group functions at any depth, with
the positions the reference needs. With `exits` (msl_fuzz.py) also on paths that leave a loop or the kernel. Every loop ends by its own trip count or by fuel. A thread writes only
its own places; shared places only by atomic additions."""
import random
import sys


CLAMP = 'static int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }'


class Gen:
    def __init__(self, rng, together, exits=False):
        self.r, self.together, self.exits = rng, together, exits
        self.flags = []  # variables that end a loop around
        self.depth = self.loops = self.tmp = self.pos = 0
        self.labels, self.counters, self.in_switch = [], [], False
        self.ints = ['v%d' % i for i in range(rng.randint(2, 5))]
        self.floats = ['f%d' % i for i in range(rng.randint(1, 2))]
        self.array, self.structs, self.vector = rng.random() < .5, rng.random() < .25, rng.random() < .4
        self.longs = ['l%d' % i for i in range(rng.choice([0, 0, 1, 2, 3]))]

    def pick(self, *table):
        """One of (weight, thunk or text)."""
        k = self.r.random() * sum(w for w, _ in table)
        for w, f in table:
            k -= w
            if k < 0:
                return f() if callable(f) else f
        return self.pick(table[0])

    # ---- expressions ----
    def atom(self):
        r = self.r
        return self.pick(
            (45, lambda: r.choice(self.ints)),
            (15, lambda: '(unsigned)' + r.choice(self.counters) if self.counters else '(unsigned)ty'),
            (14, lambda: '(unsigned)' + r.choice(['x', 'id', 'tx', 'ty', 'y'])),
            (6, lambda: '(unsigned)' + r.choice(['n', 'w', 'h', 'TID(2)'])),
            (13, lambda: '%du' % r.choice([0, 1, 2, 3, 5, 7, 8, 13, 31, 255, 65537, 0x80000000, 0xffffffff])),
            (12, self.load))

    def load(self):
        r, c = self.r, self.r.randint(1, 40)
        counter = r.choice(self.counters) if self.counters else 'ty'
        return self.pick(
            (12, '((unsigned)x >= %du ? (unsigned)p[(unsigned)x - %du] : 3u)' % (c, c)),
            (10, lambda: '(unsigned)p[id + %d]' % r.randint(0, 9)),
            (8, lambda: '(unsigned)p[ty * %d + tx]' % r.choice([8, 16, 33])),
            (8, lambda: '(unsigned)p[ty * 16 + (%s & 15)]' % counter),
            (6, lambda: '(unsigned)p[(%s & 31) * 16 + tx]' % counter),
            (8, lambda: '(unsigned)p[y * w + (%s & 63)]' % counter),
            (10, lambda: '(unsigned)p[id + (%s & 63)]' % counter),
            (6, lambda: '(unsigned)p[clampi(y + %d, 0, h - 1) * w + clampi(x + %d, 0, w - 1)]' % (r.randint(-2, 2), r.randint(-2, 2))),
            (6, lambda: '(unsigned)p[y %% 8 * w + clampi(x %s %s, 0, w - 1)]' % (r.choice('+-'), counter)),
            (4, lambda: '(unsigned)p[2000 - x]'),
            (6, lambda: '(unsigned)q[id * 8 + %d]' % r.randint(0, 7)),
            (4, '(unsigned)q[32768 + id]'),
            (5, lambda: '(unsigned)((const unsigned char *)p)[%s & 4095u]' % self.iexpr(1)),
            (3, lambda: '(unsigned)((const unsigned char *)p)[id + %d]' % r.randint(0, 3)),
            (4, '(unsigned)((const short *)p)[id]'),
            (3, lambda: '(unsigned)((const short *)p)[%s & 2047u]' % self.iexpr(1)),
            (3, lambda: '(unsigned)((const long *)p)[(unsigned short)(ty * 16 + tx)]'),
            (10, lambda: 'arr[%s & 7u]' % self.iexpr(1) if self.array else '(unsigned)p[(unsigned)id + 1u]'),
            (5, lambda: '(unsigned)st[%s & 3u].%s' % (self.iexpr(1), r.choice('abc')) if self.structs else '(unsigned)p[(unsigned long)(unsigned)x * 2u]'),
            (6, lambda: '(unsigned)((const %s *)p)[%s * %d + %s]' % (r.choice(['int', 'unsigned char', 'short']), counter, r.choice([17, 32]), self.dealt())),
            (6, lambda: '(unsigned)((const %s *)p)[%s]' % (r.choice(['int', 'unsigned char', 'short']), self.fields())),
            (8, lambda: '(unsigned)p[%s & 4095u]' % self.iexpr(1)))

    def dealt(self):
        """A constant of the lane: which block it takes, and where in it."""
        r, lane = self.r, self.r.choice(['LANE()', 'LANE()', 'QUAD_LANE()'])
        by = r.choice([2, 4, 8, 16])
        return '(%s / %d * %d + %s %% %d * %d%s)' % (lane, by, r.choice([1, 9, 17, 34]), lane, by, r.choice([0, 1, 2, 8]),
                                                      r.choice(['', '', ' + (LANE() & 1) * 3', ' + SIMDGROUP() * 5']))

    def fields(self):
        """Fields of the number of a thread in its threadgroup, each with a distance of its own."""
        r = self.r
        field = lambda: r.choice(['(INDEX() >> %d & %d)' % (r.randint(0, 6), r.choice([1, 3, 7, 15, 12])), '(INDEX() / %d)' % r.choice([2, 4, 8, 16, 3]),
                                  '(INDEX() %% %d)' % r.choice([2, 4, 8, 32, 64, 5]), '((unsigned short)INDEX() / 4 % 8)', '((short)INDEX() / 2)',
                                  '((INDEX() << 3 & 0x1f80) >> %d)' % r.randint(1, 4)])
        return ' + '.join('%s * %d' % (field(), r.choice([1, 1, 2, 4, 8, 9, 16])) for _ in range(r.randint(1, 3)))

    def blocks(self):
        """Quantised blocks as libraries read them: several lanes a block, bytes in a row and a number for all."""
        r, j, v, by = self.r, 'j%d' % self.tmp, self.r.choice(self.ints), self.r.choice([2, 4, 8])
        self.tmp += 1
        kind, n = r.choice([('unsigned char', 8), ('signed char', 4), ('signed char', 16), ('short', 8), ('unsigned short', 4), ('int', 4)])
        taken = ' '.join('%s %s= (unsigned)s_[%d];' % (v, r.choice('+^-'), k) for k in range(n))
        start = r.choice(['LANE() / %d' % by, 'LANE() / %d + SIMDGROUP()' % by, 'tx / %d' % by])
        return 'for (int %s = %s; %s < (int)(%s & 31u); %s += %d) { const %s *s_ = (const %s *)p + %s * %d + LANE() %% %d * %d; %s %s *= (unsigned)s_[-%s]; }' % (
            j, start, j, r.choice(['(unsigned)h', '(unsigned)n', self.iexpr(0)]), j, 32 // by, kind, kind, j, by * n + 2, by, n, taken, v, 'LANE() %% %d * %d' % (by, n))

    def iexpr(self, d=None):
        r = self.r
        d = r.choice([1, 1, 2]) if d is None else d
        if d <= 0:
            return self.atom()
        a, b = self.iexpr(d - 1), self.iexpr(d - 1)
        return self.pick(
            (55, lambda: '(%s %s %s)' % (a, r.choice(['+', '-', '*', '&', '|', '^']), b)),
            (8, lambda: '(%s %s (%s & 31u))' % (a, r.choice(['<<', '>>']), b)),
            (4, lambda: '(unsigned)((int)%s >> %d)' % (a, r.randint(1, 31))),
            (5, lambda: '(%s %s (%s | 1u))' % (a, r.choice(['/', '%']), b)),
            (3, lambda: '(%s %s %du)' % (a, r.choice(['/', '%']), r.choice([3, 7, 16, 1000]))),
            (3, lambda: '(unsigned)((int)(%s >> 1) %s (int)((%s & 1023u) + 1u))' % (a, r.choice(['/', '%']), b)),
            (2, lambda: '(unsigned)(((unsigned long)%s * %s) >> %d)' % (a, b, r.randint(1, 40))),
            (2, lambda: '(unsigned)((long)(int)%s / (long)((int)(%s & 255u) + 1))' % (a, b)),
            (2, lambda: '(unsigned)(unsigned short)(%s + %s)' % (a, b)),
            (2, lambda: '(unsigned)(signed char)%s' % a),
            (10, lambda: '(%s ? %s : %s)' % (self.cond(d - 1), a, b)),
            (3, lambda: '(unsigned)__builtin_popcount(%s)' % a),
            (2, lambda: '(unsigned)clampi((int)%s, -7, (int)(%s & 255u))' % (a, b)),
            (5, lambda: '(unsigned)(int)(%s * 8.0f)' % r.choice(self.floats)))

    def fexpr(self):
        r, f = self.r, self.r.choice(self.floats)
        e = self.pick(
            (3, lambda: '%s * 0.5f + (float)(int)(%s & 63u)' % (f, self.iexpr(1))),
            (3, lambda: '%s - a[id + %d]' % (f, r.randint(0, 5))),
            (1, '__builtin_fabsf(%s) * 0.25f' % f),
            (2, lambda: '(%s ? %s : 1.5f)' % (self.cond(1), f)),
            (2, lambda: 'a[%s & 1023u] + b[x]' % self.iexpr(1)),
            (2, lambda: 'a[ty * 16 + %d] * b[%d + tx]' % (r.randint(0, 15), 16 * r.randint(0, 15))),
            (2, lambda: '((const f4 *)a)[id & 4095].%s + ((const f2 *)b)[id].y' % r.choice('xyzw') if self.vector else 'b[3 * id + 1]'),
            (1, lambda: 'vec.%s * 0.5f' % r.choice('xyzw') if self.vector else 'b[2 * id]'))
        return '__builtin_fminf(__builtin_fmaxf(%s, -1000.0f), 1000.0f)' % e

    def cond(self, d=1):
        r, op = self.r, self.r.choice(['<', '>', '==', '!=', '<=', '>='])
        return self.pick(
            (15, lambda: '(%s %s %d)' % (r.choice(['n', 'w', 'h', 'y', 'ty'] + self.counters), op, r.choice([0, 1, 3, 16, 64, 128]))),
            (15, lambda: '(%s %s %d)' % (r.choice(['x', 'tx', 'id']), op, r.randint(0, 130))),
            (10, lambda: '(%s %s %d.25f)' % (r.choice(self.floats), r.choice('<>'), r.randint(-9, 30))),
            (10, lambda: '(%s %s %s)' % (self.cond(d - 1), r.choice(['&&', '||']), self.cond(d - 1)) if d > 0 else '(tx & 1)'),
            (25, lambda: '((%s & %du) %s %du)' % (self.iexpr(d), r.choice([1, 3, 7]), r.choice(['==', '!=', '<', '>']), r.randint(0, 3))),
            (25, lambda: '(%s %s %s)' % (self.iexpr(d), op, self.iexpr(d))))

    # ---- statements ----
    def assign(self):
        r = self.r
        return self.pick(
            (60, lambda: '%s %s= %s;' % (r.choice(self.ints), r.choice(['', '', '+', '^', '-', '*']), self.iexpr())),
            (12, lambda: '%s = %s;' % (r.choice(self.floats), self.fexpr())),
            (8, lambda: 'q[id * 8 + %d] = (int)%s;' % (r.randint(0, 7), self.iexpr())),
            (5, lambda: 'q[32768 + id] %s= (int)%s;' % (r.choice(['', '^']), self.iexpr())),
            (4, lambda: '((short *)(q + 45056))[id] = (short)%s;' % self.iexpr(1)),
            (3, lambda: '((unsigned char *)(q + 49152))[3 * id + %d] = (unsigned char)%s;' % (r.randint(0, 2), self.iexpr(1))),
            (5, self.atomic),
            (5, self.blocks),
            (2, lambda: 'q[id * 8 + (INDEX() / %d & 7)] = (int)%s;' % (r.choice([1, 2, 4, 16]), self.iexpr(1))),
            (4, lambda: 'q[id * 8 + LANE() %% 4 * 2 + %d] = (int)%s;' % (r.randint(0, 1), self.iexpr(1))),
            (2, lambda: '((short *)q)[id * 16 + LANE() / 4 * 2 + %d] = (short)%s;' % (r.randint(0, 1), self.iexpr(1))),
            (10, lambda: 'arr[%s & 7u] %s= %s;' % (self.iexpr(1), r.choice(['', '+']), self.iexpr()) if self.array else '%s += 1u;' % r.choice(self.ints)),
            (6, lambda: 'vec%s = %s;' % self.r.choice([('.x', self.fexpr()), ('.yz', 'vec.zy'), ('[%s & 3u]' % self.iexpr(1), self.fexpr()), ('', 'vec * 0.5f + %s' % r.choice(self.floats)), ('', '((const f4 *)a)[id & 1023] - vec')]) if self.vector else '%s -= 3u;' % r.choice(self.ints)),
            (6, lambda: self.records() if self.vector else '%s ^= 5u;' % r.choice(self.ints)),
            (4, lambda: r.choice(['st[%s & 3u].%s = (%s)%s;' % (self.iexpr(1), f, t, self.iexpr(1)) for f, t in (('a', 'int'), ('b', 'short'), ('c', 'signed char'))]) if self.structs else '%s += 1u;' % r.choice(self.ints)))

    def records(self):
        """Lanes in step through records of four: full turns and a last one that is not."""
        r, j = self.r, 'j%d' % self.tmp
        self.tmp += 1
        one = r.choice(['((const f4 *)b)[%s]', '__builtin_convertvector(((const u4 *)p)[%s], f4)']) % j
        if r.random() < .4:  # several that fill the space between lanes
            n = r.choice([2, 4])
            one = '(%s)' % r.choice([' + ', ' - ']).join(
                '*((const f4 *)b + %d * %s + %d)' % (n, j, k) for k in r.sample(range(n + 1), r.randint(n, n + 1)))
        return 'for (int %s = %s; %s < (int)(%s & 127u); %s += %d) vec += %s * %s;' % (
            j, r.choice(['tx', 'x', 'id']), j, r.choice(['(unsigned)h', '(unsigned)n', self.iexpr(0)]), j, r.choice([8, 16, 32]), one,
            r.choice(['((const f4 *)a)[%s]' % j, '0.5f', r.choice(self.floats)]))

    def convert(self):
        """A path that leaves nothing but a conversion: a phi is all that uses it."""
        r, l, v = self.r, self.r.choice(self.longs), self.r.choice(self.ints)
        return self.pick(
            (6, '%s = %s;' % (l, v)),
            (3, lambda: '%s = (unsigned)%s;' % (l, r.choice(self.counters + ['x', 'tx', 'id']))),
            (3, '%s = (unsigned long)(long)(int)%s;' % (l, v)),
            (4, '%s = (unsigned)%s;' % (v, l)),
            (2, '%s = (unsigned)(%s >> %d);' % (v, l, r.choice([8, 32]))),
            (2, '%s = (unsigned)(unsigned short)%s;' % (v, l)),
            (2, lambda: '%s = (%s << %d) + %s;' % (l, l, r.randint(1, 33), self.iexpr(0))))

    def ladder(self, depth, base=0):
        """Joins behind joins, with conversions on the ways to them."""
        kinds = [self.convert] * self.r.randint(1, 2)
        if not depth:
            return '{ ' + self.seq(kinds, base) + ' }'
        down = lambda: self.ladder(self.r.randint(0, depth - 1))
        kinds.insert(self.r.randint(0, len(kinds)), lambda: 'if %s %s%s' % (
            self.cond(0), down(), self.pick((2, ''), (5, lambda: ' else ' + self.ladder(self.r.randint(0, depth - 1), 50)))))
        return '{ ' + self.seq(kinds[self.r.randint(0, 1):], base) + ' }'

    def atomic(self):
        at = self.r.choice(['53248', '53249 + (%s & 63u)' % self.iexpr(1), '53312 + tx'])
        return 'ATOMIC(%s, %s, %s);' % (self.r.choice(['add', 'add', 'sub']), at, self.iexpr(1))

    def simd(self):
        r, v, e, t = self.r, self.r.choice(self.ints), self.iexpr(1), self.tmp
        self.tmp += 1
        group = r.choice(['simd', 'simd', 'quad'])
        kind, ctype = r.choice([('i32', 'int'), ('u32', 'unsigned'), ('i64', 'long'), ('u64', 'unsigned long')])
        move, mtype = r.choice([('i32', 'int'), ('i64', 'long')])
        at = '(on%d >> (s%d & 31) & 1)' % (t, t)
        src = self.r.choice(['%s & 31u' % self.iexpr(0), '%du' % r.randint(0, 31), '(unsigned)(h & 31)'])
        return self.pick(
            (6, lambda: '%s += (unsigned)__ingot_%s_%s_%s((%s)%s);' % (v, group, r.choice(['sum', 'product', 'min', 'max', 'and', 'or', 'xor']), kind, ctype, e)),
            (2, lambda: '%s -= (unsigned)__ingot_simd_prefix_%s_%s_%s((%s)%s);' % (v, r.choice(['inclusive', 'exclusive']), r.choice(['sum', 'product']), kind, ctype, e)),
            (2, lambda: '%s += (unsigned)__ingot_%s_ballot(%s);' % (v, group, self.cond())),
            (2, lambda: '%s ^= (unsigned)__ingot_%s_%s(%s) + 4u;' % (v, group, r.choice(['all', 'any']), self.cond())),
            (1, lambda: '%s += (unsigned)__ingot_%s_is_first() * 5u;' % (v, group)),
            (1, lambda: '%s ^= (unsigned)__ingot_%s_active_mask();' % (v, group)),
            (2, lambda: '%s += (unsigned)__ingot_%s_broadcast_first_%s((%s)%s);' % (v, group, move, mtype, e)),
            (1, lambda: '%s = __ingot_simd_%s_f32(%s);' % (r.choice(self.floats), r.choice(['min', 'max']), r.choice(self.floats))),
            (4, lambda: '{ unsigned long on%d = __ingot_simd_active_mask(); unsigned s%d = %s, u_ = (unsigned)__ingot_simd_%s_%s((%s)%s, s%d); if %s %s ^= u_; }'
                % (t, t, src, r.choice(['shuffle', 'broadcast']), move, mtype, e, t, at, v)),
            (2, lambda: '{ unsigned long on%d = __ingot_simd_active_mask(); unsigned d_ = %s, s%d = (unsigned)LANE() ^ d_, u_ = (unsigned)__ingot_simd_shuffle_xor_%s((%s)%s, d_); if %s %s ^= u_; }'
                % (t, src, t, move, mtype, e, at, v)),
            (2, lambda: '{ unsigned long on%d = __ingot_simd_active_mask(); unsigned d_ = %s, s%d = (unsigned)LANE() - d_, u_ = (unsigned)__ingot_simd_shuffle_rotate_up_%s((%s)%s, d_); if %s %s ^= u_; }'
                % (t, src, t, move, mtype, e, at, v)),
            (2, lambda: '{ unsigned long on%d = __ingot_simd_active_mask(); unsigned d_ = %s, l_ = (unsigned)LANE(), s%d = l_ + d_ < 32u ? l_ + d_ : l_, u_ = (unsigned)__ingot_simd_shuffle_down_%s((%s)%s, d_); if %s %s ^= u_; }'
                % (t, src, t, move, mtype, e, at, v)))

    def seq(self, thunks, base=0):
        """Statements, each with its place in the program (for the reference)."""
        if not self.together:
            return ' '.join(f() for f in thunks)
        self.pos += 1
        out = ' '.join('AT(%d, %d); %s' % (self.pos - 1, base + k, f()) for k, f in enumerate(thunks))
        self.pos -= 1
        return out

    def body(self, n=None, base=0):
        return '{ ' + self.seq([self.stmt] * (n or self.r.randint(1, 3)), base) + ' }'

    def stmt(self):
        r = self.r
        self.depth += 1
        try:
            if self.depth > 4:
                return self.assign()
            k = r.random()
            if self.together and r.random() < .3:
                # two simple statements may not share a place: an operation has its own
                return self.simd()
            if self.longs and r.random() < .25:
                return self.pick((1, self.convert), (2, lambda: self.ladder(r.randint(1, 3))))
            if k < .40:
                return self.assign()
            if k < .52:
                return 'if %s %s' % (self.cond(), self.body())
            if k < .62:
                return 'if %s %s else %s' % (self.cond(), self.body(), self.body(base=50))
            if k < .80:
                return self.loop()
            if self.exits and self.loops and r.random() < .3:
                return self.way_out()
            if k < .86 and self.loops:
                return 'if %s %s;' % (self.cond(), 'break' if self.in_switch else r.choice(['break', 'continue']))
            if k < .89:
                return 'if %s { %s return; }' % (self.cond(), self.assign())
            if k < .94:
                return self.switch()
            if k < .97 and self.labels:
                return 'if (%s && --fuel > 0) goto %s;' % (self.cond(), r.choice(self.labels))
            return self.assign()
        finally:
            self.depth -= 1

    def way_out(self):
        """A path that leaves a loop, goes on with the next turn, or ends the kernel, and what lanes do together on it."""
        r = self.r
        out = r.choice(['break', 'break', 'break', 'continue', 'return'])
        if self.flags and r.random() < .5:  # the loop's condition finds it
            out = '%s = 1' % r.choice(self.flags)
        if out == 'break' and self.in_switch:
            out = 'return'
        kinds = [self.simd] + [lambda: r.choice([self.simd, self.assign, self.stmt])() for _ in range(r.randint(0, 2))]
        r.shuffle(kinds)
        if out == 'return':
            kinds.append(lambda: 'q[id * 8 + %d] = (int)%s;' % (r.randint(0, 7), r.choice(self.ints)))
        other = self.pick((4, ''), (1, lambda: ' else ' + self.body(base=50)))
        return 'if %s { %s %s; }%s' % (self.cond(), self.seq(kinds), out, other)

    def loop(self):
        r, i = self.r, 'i%d' % self.tmp
        self.tmp += 1
        fuel = ' if (--fuel < 0) break;' if self.loops >= 2 or r.random() < .3 else ''
        at = 'AT(%d, 0); ' % self.pos if self.together else ''
        turn = ' ITER(%d);' % self.pos if self.together else ''
        self.loops += 1
        self.pos += 1
        saved, self.in_switch = self.in_switch, False
        try:
            k = r.random()
            if k < .6:
                end = r.choice(['%d' % r.randint(1, 9), '(h & 7)', '(int)(%s & %du)' % (r.choice(self.ints), r.choice([3, 7])),
                                '(p[id] & 7)', '(x & 7)', '(p[y] & 7)', '(ty & 3)'])
                self.counters.append(i)
                out = '%sfor (int %s = %s; %s < %s; %s++) {%s%s %s }' % (at, i, r.choice('001'), i, end, i, turn, fuel, self.body())
                self.counters.remove(i)
                return out
            if k < .8 and self.exits and r.random() < .6:
                flag = 'done' + i
                self.flags.append(flag)
                body, end = self.body(), self.pick((2, ''), (1, lambda: ' || ' + self.cond()))
                self.flags.remove(flag)
                shape = r.choice(['{ int %s = 0; %swhile (!%s%s) {%s if (--fuel < 0) break; %s } }',
                                  '{ int %s = 0; %sfor (; !(%s%s);) {%s if (--fuel < 0) break; %s } }'])
                return shape % (flag, at, flag, end, turn, body)
            if k < .8:
                return '%swhile (%s) {%s if (--fuel < 0) break; %s }' % (at, self.cond(), turn, self.body())
            return '%sdo {%s if (--fuel < 0) break; %s } while (%s);' % (at, turn, self.body(), self.cond())
        finally:
            self.loops -= 1
            self.pos -= 1
            self.in_switch = saved

    def switch(self):
        r = self.r
        saved, self.in_switch = self.in_switch, True
        out = 'switch (%s %% %du) {' % (self.iexpr(1), r.randint(3, 9))
        for c in sorted(r.sample(range(9), r.randint(2, 4))):
            out += ' case %d: %s %s' % (c, self.body(r.randint(1, 2), c * 50), r.choice(['break;', 'break;', '']))
        if r.random() < .7:
            out += ' default: %s' % self.body(1, 1000)
        self.in_switch = saved
        return out + ' }'

    def kernel(self, name):
        r = self.r
        o = 'void %s(KARGS) {\nint x = GID(0), y = GID(1), tx = TID(0), ty = TID(1), id = ROW(y) + x, fuel = %d; (void)tx; (void)ty;\n' % (name, r.choice([20, 60, 200]))
        starts = ['(unsigned)p[id + %d]', '(unsigned)x', '%du', '(unsigned)p[%d]', '(unsigned)(ty * 16 + tx)', '(unsigned)p[ty * 16 + %d]']
        for k, v in enumerate(self.ints):
            s = r.choice(starts)
            o += 'unsigned %s = %s;' % (v, s % k if '%d' in s else s)
        o += '\n' + ' '.join('float %s = a[id + %d];' % (v, k) for k, v in enumerate(self.floats)) + '\n'
        for k, v in enumerate(self.longs):
            o += 'unsigned long %s = (unsigned)p[id + %d];\n' % (v, k)
        if self.array:
            o += 'unsigned arr[8]; for (int k = 0; k < 8; k++) arr[k] = (unsigned)p[id + k] + (unsigned)k;\n'
        if self.structs:
            o += 'struct { int a; short b; signed char c; } st[4]; for (int k = 0; k < 4; k++) { st[k].a = p[id + k]; st[k].b = (short)k; st[k].c = (signed char)x; }\n'
        if self.vector:
            o += 'f4 vec = ((const f4 *)b)[id];\n'
        irreducible = not self.together and r.random() < .12
        if irreducible:
            self.labels = ['L0', 'L1']
        n = r.randint(2, 5)
        b = [self.seq([self.stmt] * n)] if self.together else [self.stmt() for _ in range(n)]
        if irreducible:
            b[0] = 'if %s { L0: %s }' % (self.cond(), b[0])
            b[-1] = 'L1: ' + b[-1] + ' if (%s && --fuel > 0) goto %s;' % (self.cond(), r.choice(self.labels))
        o += '\n'.join(b) + '\n'
        o += ' '.join('q[%d + id] = (int)%s;' % (36864 + k * 1600, v) for k, v in enumerate(self.ints)) + '\n'
        o += ' '.join('c[id + %d] = %s;' % (k * 8192, v) for k, v in enumerate(self.floats)) + '\n'
        if self.longs:
            all_ = ' + 3u * '.join('(%s ^ (%s >> 32))' % (v, v) for v in self.longs)
            o += 'q[50400 + id] = (int)(%s);\n' % all_
        if self.array:
            o += 'for (int k = 0; k < 8; k++) ((int *)c)[32768 + k * 2048 + id] = (int)arr[k];\n'
        if self.vector:
            o += '((f4 *)(c + 16384))[id] = vec;\n'
        return o + '}\n'


def main():
    seed, count, together = int(sys.argv[1]), int(sys.argv[2]), len(sys.argv) > 3
    print('#include "kernel.h"')
    print(CLAMP)
    for k in range(count):
        print(Gen(random.Random(seed * 100000 + k), together).kernel('k_f%d' % k))


if __name__ == '__main__':
    main()
