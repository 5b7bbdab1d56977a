# SPDX-License-Identifier: Apache-2.0
"""Sources for source_fuzz.py that are made, not cut up: each rule writes one odd thing that the language has a word for,
with types, numbers and places chosen by chance, so that most of it gets past the parser. A source is a few of them."""

SCALARS = 'bool char uchar short ushort int uint long ulong half float bfloat'.split()
VECTORS = ['float2', 'float3', 'float4', 'half3', 'half4', 'int2', 'uint4', 'short3', 'uchar4', 'long2', 'bool3', 'packed_float3', 'bfloat4']
OTHERS = ['float2x2', 'float4x4', 'half3x2', 'atomic_int', 'atomic_uint', 'sampler', 'texture2d<float>', 'array<int, 3>', 'simdgroup_float8x8',
          'S', 'E', 'U', 'P<int>', 'float (*)[2]', 'thread float *', 'device int *', 'constant uchar &', 'metal::ray_data int *']
SPACES = 'device constant threadgroup thread ray_data object_data threadgroup_imageblock'.split()
HUGE = ['0', '1', '2', '3', '7', '31', '32', '33', '64', '255', '1024', '4096', '65536', '0x7fffffff', '0x80000000', '0xffffffff', '0x100000000',
        '0x7fffffffffffffff', '0xffffffffffffffffu', '-1', '1e39f', '1e400', '0x1p-200f', "'\\xff'", '1'.ljust(60, '0'), '0.' + '3' * 90 + 'f', 'NAN', '1h', '3.5bf']
ATTRIBUTES = ('buffer({n}) texture({n}) sampler({n}) threadgroup({n}) stage_in position color({n}) id({n}) attribute({n}) user(a) flat '
              'function_constant({n}) thread_position_in_grid thread_index_in_simdgroup threads_per_grid vertex_id instance_id front_facing sample_id '
              'depth(any) depth(less) stencil sample_mask point_size clip_distance render_target_array_index viewport_array_index '
              'raster_order_group({n}) early_fragment_tests max_total_threads_per_threadgroup({n}) patch(quad,{n}) patch(triangle) '
              'payload grid_properties threadgroup_position_in_grid primitive_id barycentric_coord amplification_id base_vertex '
              'imageblock_data(L) alias_implicit_imageblock visible stitchable kernel vertex fragment mesh object '
              'intersection(triangle) intersection(bounding_box,triangle_data,instancing) origin direction accept_intersection distance '
              'center_no_perspective sample_perspective invariant unused host_name(x) required_threads_per_threadgroup({n},1,1) '
              'max_total_threadgroups_per_mesh_grid({n}) dispatch_threads_per_threadgroup thread_position_in_patch position_in_patch patch_id index({n}) '
              'always_inline noinline gnu::packed maybe_unused nodiscard likely loop_unroll clang::loop_unroll').split()
TEXTURES = ['texture1d', 'texture1d_array', 'texture2d', 'texture2d_array', 'texture3d', 'texturecube', 'texturecube_array', 'texture2d_ms',
            'texture2d_ms_array', 'texture_buffer', 'depth2d', 'depth2d_array', 'depthcube', 'depth2d_ms']
CALLS = ('simd_sum simd_shuffle simd_broadcast_first simd_prefix_exclusive_sum simd_ballot quad_broadcast quad_shuffle_xor clamp mix dot normalize '
         'fma popcount ctz extract_bits insert_bits sincos modf frexp ldexp pow select as_type<{t}> dfdx fwidth length cross reflect min3 median3 '
         'mulhi madsat absdiff rotate reverse_bits unpack_unorm4x8_to_float pack_float_to_unorm2x16 fast::sin precise::exp rint isnormal '
         'simd_shuffle_and_fill_down simd_vote any all distance_squared determinant transpose').split()


class Grammar:
    def __init__(self, r):
        self.r, self.count = r, 0
        self.wild = r.choice([0, 0, 0, .1, 1])  # how often types are left to chance

    def name(self, prefix='v'):
        self.count += 1
        return '%s%d' % (prefix, self.count)

    def type(self, odd=.25):
        r = self.r
        return r.choice(OTHERS) if r.random() < odd else r.choice(r.choice([SCALARS, VECTORS]))

    def number(self):
        return self.r.choice(HUGE)

    def small(self):
        return str(self.r.choice([0, 1, 1, 2, 3, 4, 8, 16, 30, 31, 32, 95, 128, -1, 1 << 20]))

    def attribute(self):
        return '[[' + self.r.choice(ATTRIBUTES).format(n=self.r.choice([self.small(), self.number(), 'K', 'f0'])) + ']]'

    def whole(self, depth):
        """An expression of type uint."""
        r, w = self.r, lambda: self.whole(depth - 1)
        if depth <= 0 or r.random() < .2:
            return r.choice(['i', 'x', 'y', 'uint(a[i])', 'uint(b[i & 3])', 'uint(s.m)', 'uint(s.v.x)', 'uint(K)', 'uint(f0)', 'g[i % 7]', '*p', 'l[x & 3]', '0u', '1u', '31u', '32u', '~0u', '0x80000000u', 'uint(%s)' % r.choice(['NAN', '1e9f', '-1', 'INFINITY', "'a'"])])
        v, n = r.choice(['float', 'half', 'int', 'uint', 'short', 'uchar', 'long', 'bfloat']), r.choice('234')
        whole = v in ('int', 'uint', 'short', 'uchar', 'long')
        table = [
            lambda: '(%s %s %s)' % (w(), r.choice('+ - * / % & | ^ << >>'.split()), w()), lambda: '(%s %s %s)' % (w(), r.choice('+ - * / % & | ^ << >>'.split()), w()),
            lambda: '(%s %s %s ? %s : %s)' % (w(), r.choice('< > == != <= >='.split()), w(), w(), w()),
            lambda: 'uint((%s%s(%s) %s %s%s(%s)).%s)' % (v, n, v + '(%s)' % w(), r.choice('+-*/%&^' if whole else '+-*/'), v, n, v + '(%s)' % w(), r.choice('xy')),
            lambda: '%s(%s)' % (r.choice('simd_sum simd_min simd_xor simd_prefix_inclusive_sum simd_broadcast_first quad_sum popcount clz ctz reverse_bits simd_product simd_and'.split()), w()),
            lambda: '%s(%s, %s)' % (r.choice('min max rotate absdiff addsat subsat mulhi hadd'.split()), w(), w()),
            lambda: '%s(%s, ushort(%s))' % (r.choice('simd_shuffle simd_shuffle_xor simd_shuffle_up simd_shuffle_rotate_down quad_shuffle simd_broadcast quad_broadcast'.split()), w(), r.choice(['1', '31', '33', 'x', '65535', 'i & 31'])),
            lambda: 'uint(%s(float(%s)))' % (r.choice('sin exp log sqrt rsqrt fract floor round trunc tanh acos exp2 log2 fabs sign fast::cos precise::tan sinpi ilogb'.split()), w()),
            lambda: 'as_type<uint>(%s)' % r.choice(['float(%s)' % w(), 'half2(half(%s))' % w(), 'uchar4(uchar(%s))' % w(), 'short2(short(%s))' % w()]),
            lambda: 'extract_bits(%s, %s, %s)' % (w(), w(), w()), lambda: 'insert_bits(%s, %s, %s, %s)' % (w(), w(), w(), w()),
            lambda: 'uint(ulong(simd_vote::vote_t(simd_ballot(%s > 3))))' % w(),
            lambda: '(x %s= %s)' % (r.choice(['', '+', '<<', '^', '%']), w()), lambda: 't0(%s)' % w(), lambda: 't2<%s>(%s)' % (self.r.randrange(-9, 99), w()),
            lambda: 't1(%s(%s))' % (r.choice(SCALARS), w()), lambda: '[&](uint q) { return q + %s; }(%s)' % (w(), w()), lambda: 'a[%s & 255]' % w(), lambda: 'g[%s & 3]' % w(),
            lambda: 'uint(dot(%s, %s))' % ('float%s(%s)' % (n, w()), 'float%s(%s)' % (n, w())), lambda: 'select(%s, %s, %s > 2)' % (w(), w(), w()),
            lambda: 'uint(float%sx%s(float(%s))[1].x)' % (n, r.choice('234'), w()), lambda: 'uint(%s(%s))' % (r.choice(SCALARS), w()),
            lambda: 'uint(float4(%s)[%s & 3])' % (w(), w()), lambda: 'P<%s>{1, 2}.a' % r.choice(SCALARS), lambda: 'uint(ulong(%s) * %s >> 32)' % (w(), w()),
        ]
        return r.choice(table)()

    def expression(self, depth=3):
        r = self.r
        if r.random() >= self.wild:
            return self.whole(depth)
        if depth <= 0 or r.random() < .2:
            return r.choice(['i', 'x', 'y', 'a[i]', 'b[i & 3]', 's.m', 's.v.x', 'K', 'f0', self.number(), 'g[i % 7]', '*p', 'l[x]'])
        e, kind = self.expression, r.randrange(12)
        if kind < 4:
            return '(%s %s %s)' % (e(depth - 1), r.choice('+ - * / % & | ^ << >> < > == && || , = += <<= /='.split()), e(depth - 1))
        if kind == 4:
            return '(%s ? %s : %s)' % (e(depth - 1), e(depth - 1), e(depth - 1))
        if kind == 5:
            return '%s(%s)' % (self.type(.1), e(depth - 1))
        if kind == 6:
            return r.choice(CALLS).format(t=self.type(.1)) + '(' + ', '.join(e(depth - 2) for _ in range(r.choice([1, 1, 2, 2, 3, 4]))) + ')'
        if kind == 7:
            return '%s%s' % (r.choice(['-', '!', '~', '++', '*&', 'sizeof ', '&', '+']), e(depth - 1))
        if kind == 8:
            return '(%s).%s' % (e(depth - 1), r.choice(['x', 'xyz', 'wzyx', 'rgba', 'xxxxx', 'm', 'v', 'w']))
        if kind == 9:
            return '(%s)[%s]' % (e(depth - 1), e(depth - 1))
        if kind == 10:
            return '[&](%s q) { return q; }(%s)' % (self.type(.1), e(depth - 1))
        return 'float4(%s, %s)' % (e(depth - 1), e(depth - 1))

    def statement(self, depth=3):
        r, e = self.r, self.expression
        if depth <= 0:
            return 'x = %s;' % e(2)
        s, kind = self.statement, r.randrange(16)
        body = ' '.join(s(depth - 1) for _ in range(r.choice([1, 1, 2, 3])))
        table = [
            'if (%s) { %s } else { %s }' % (e(2), body, s(depth - 1)),
            'for (uint k = 0; k < %s; k += %s) { %s }' % (e(1), self.small(), body),
            'while (%s) { %s if (%s) %s; }' % (e(1), body, e(1), r.choice(['break', 'continue', 'return', 'x++'])),
            'do { %s } while (%s);' % (body, e(2)),
            'switch (%s) { case %s: %s case 3: break; default: %s }' % (e(1), self.small(), body, s(depth - 1)),
            'threadgroup_barrier(mem_flags::%s); %s' % (r.choice(['mem_threadgroup', 'mem_device', 'mem_none', 'mem_texture']), body),
            'simdgroup_barrier(mem_flags::mem_none); %s' % body,
            '{ %s %s[%s]; %s = %s; x = (uint)%s[0]; %s }' % (r.choice(SCALARS) if self.wild < .5 else self.type(.1), n, r.choice(['2', '3', '40', '1000']), n + '[i & 1]', e(1), n, body) if (n := self.name()) else '',
            'a[%s & 255] = %s;' % (e(2), e(3)) if self.wild < .5 else 'a[%s] = %s;' % (e(2), e(3)),
            'g[(%s) & 3] = %s; %s' % (e(1), e(2), body),
            'atomic_fetch_%s_explicit((device atomic_%s *)a + %s, %s, memory_order_relaxed);' % (r.choice(['add', 'min', 'xor', 'or']), r.choice(['int', 'uint']), e(1), e(1)),
            's = S{}; s.m = %s; s.v.x = %s; y += s.m;' % (e(1), e(1)),
            'x = %s(%s);' % (r.choice(['t0', 't1<%s>' % r.choice(SCALARS), 't2<%s>' % self.r.randrange(99), 'rec']), e(1)),
            'return;', 'p = &l[%s & 3]; *p = %s;' % (e(1), e(1)),
            'const uint %s = %s; y += %s;' % (self.name(), e(2), 'v%d' % self.count),
        ]
        return r.choice(table)

    # ---- declarations ----

    def head(self):
        r = self.r
        return '\n'.join([
            'struct S { %s m; %s v; };' % (r.choice(SCALARS), r.choice(VECTORS[:8])), 'enum E { A, B = %s };' % r.choice(['1', '-1', '7']),
            'union U { int i; float f; %s z; };' % r.choice(VECTORS[:8]), 'template <class T> struct P { T a, b[%s]; };' % r.choice(['1', '3']),
            'constant int K = %s;' % r.choice(['3', '0', '-7', '1 << 20']), 'constant %s f0 [[function_constant(0)]];' % r.choice(SCALARS[:11]),
            'static uint t0(uint q) { return q * 3; }', 'template <class T> uint t1(T q) { return sizeof(T) + (uint)q; }',
            'template <int N> uint t2(uint q) { return N > 0 ? q + N : 0; }', 'static uint rec(uint q) { return q %s; }' % r.choice(['+ 1', '? t0(q) : 0'])])

    def parameter(self):
        r, n = self.r, self.name('p')
        kind = r.randrange(9)
        if kind < 3:
            return '%s %s %s%s %s' % (r.choice(SPACES[:4]), self.type(), r.choice('*&'), n, self.attribute())
        if kind == 3:
            t = r.choice(TEXTURES)
            return '%s<%s%s> %s %s' % (t, r.choice(['float', 'half', 'int', 'ushort', 'bool']), r.choice(['', ', access::read', ', access::write', ', access::read_write', ', access::sample']), n, self.attribute())
        if kind == 4:
            return '%s %s[%s] %s' % (r.choice(['texture2d<float>', 'sampler', 'device int *', 'array<texture2d<half>, 4>', 'S']), n, self.small(), self.attribute())
        if kind == 5:
            return '%s %s %s' % (r.choice(['S', 'In', 'L', 'uint', 'float4', 'ushort2']), n, r.choice(['[[stage_in]]', '[[position]]', self.attribute()]))
        if kind == 6:
            return 'imageblock<%s%s> %s' % (r.choice(['S', 'L', 'In']), r.choice(['', ', imageblock_layout_explicit', ', imageblock_layout_implicit']), n)
        if kind == 7:
            return r.choice(['visible_function_table<%s(%s)> %s [[buffer(%s)]]' % (self.type(.1), self.type(.1), n, self.small()), 'command_buffer %s %s' % (n, self.attribute()),
                             'tensor<device %s, dextents<int, %s>> %s [[buffer(%s)]]' % (r.choice(['half', 'float', 'int', 'bfloat', 'uchar']), self.small(), n, self.small()),
                             'raytracing::instance_acceleration_structure %s [[buffer(%s)]]' % (n, self.small()),
                             'raytracing::intersection_function_table<raytracing::triangle_data%s> %s [[buffer(%s)]]' % (r.choice(['', ', raytracing::instancing', ', raytracing::world_space_data']), n, self.small())])
        return '%s %s %s' % (self.type(), n, self.attribute())

    def kernel(self):
        r = self.r
        usual = ['device %s *a [[buffer(0)]]' % r.choice(['uint', 'int', 'float', 'ushort', 'long', 'uchar']), 'constant %s *b [[buffer(1)]]' % r.choice(['uint', 'float', 'half', 'short']),
                 'uint i [[%s]]' % r.choice(['thread_position_in_grid', 'thread_index_in_simdgroup', 'thread_index_in_threadgroup'])]
        more = [self.parameter() for _ in range(r.choice([0, 0, 0, 0, 1, 2]) if self.wild else 0)]
        body = ' '.join(self.statement(r.choice([1, 2, 3])) for _ in range(r.choice([1, 2, 3, 5])))
        return '%s kernel void %s(%s) {\n threadgroup uint g[%s]; uint x = i, y = 0, l[%s] = {}; thread uint *p = l; S s = {};\n %s\n a[i] = x + y + *p;\n}' % (
            r.choice(['', '', '', self.attribute() if self.wild else '']), self.name('k'), ', '.join(usual + more), r.choice(['7', '64', '256', '1024']), r.choice(['4', '8', '33']), body)

    def odd(self):
        """One thing that the language has, out of place or too large."""
        r, n, e = self.r, self.name('o'), self.expression
        t = self.type
        d = r.choice([3, 10, 40, 200, 600])
        rules = [
            lambda: 'struct %s { %s m %s; %s %s; %s x[%s]; } %s;' % (n, t(), self.attribute(), t(), self.name(), t(), self.number(), r.choice(['', '', self.attribute()])),
            lambda: 'struct %s { %s %s; }; kernel void %s_k(%s %s &q [[buffer(0)]]) {}' % (n, n, r.choice(['x', '*x', '&x', 'x[2]', '(*x)()', 'x()']), n, r.choice(SPACES), n),
            lambda: 'struct %s { %s }; fragment float4 %s_f(%s in [[stage_in]]) { return 0; }' % (n, ' '.join('%s %s %s;' % (t(), self.name(), self.attribute()) for _ in range(r.choice([0, 1, 3, 40]))), n, n),
            lambda: 'struct %s { %s }; vertex %s %s_v(%s in [[stage_in]], %s) { return {}; }' % (n, ' '.join('%s %s %s;' % (t(), self.name(), self.attribute()) for _ in range(r.choice([1, 3]))), n, n, n, self.parameter()),
            lambda: 'template <int N> struct %s { static constexpr int v = %s<N - 1>::v + 1; %s<N %s 1> *q; }; kernel void %s_k(device int *a) { a[0] = %s<%s>::v; }' % (n, n, n, r.choice('+-*'), n, n, self.small()),
            lambda: 'constexpr int %s(int q) { return %s; } constant int %s_c = %s(%s);' % (n, r.choice(['q ? %s(q - 1) + 1 : 0' % n, '%s(q)' % n, 'q << q', 'q / (q - 3)', '%s(q + 1) + %s(q + 2)' % (n, n)]), n, n, self.number()),
            lambda: 'template <class... T> uint %s(T... q) { return (0 + ... + sizeof(q)); } kernel void %s_k(device uint *a) { a[0] = %s(%s); }' % (n, n, n, ', '.join(['1'] * d)),
            lambda: 'template <class T> uint %s(T q) { return %s(%s); } kernel void %s_k(device uint *a) { a[0] = %s(1); }' % (n, n, r.choice(['&q', 'P<T>()', 'q + q', 'float4(q)']), n, n),
            lambda: 'kernel void %s(device int *a) { a[0] = %s1%s; }' % (n, '(' * d, ')' * d),
            lambda: 'kernel void %s(device int *a) { a[0] = %s a[1]; }' % (n, ' '.join(r.choice(['-', '~', '!', '- -']) for _ in range(d))),
            lambda: 'kernel void %s(device int *a, uint i [[thread_position_in_grid]]) { %s a[i]++; %s }' % (n, 'if (a[i + 1]) {' * d, '}' * d),
            lambda: 'kernel void %s(device int *a, uint i [[thread_position_in_grid]]) { %s }' % (n, ' '.join('a[i * %d] += a[i + %d];' % (k, k) for k in range(d))),
            lambda: '%s' % ' '.join('struct %s%d { struct I { int x; } i;' % (n, k) for k in range(d)) + ' };' * d,
            lambda: 'kernel void %s(device int *a) { int q%s; a[0] = sizeof(q); }' % (n, '[%s]' % r.choice(['1', '2', '3']) * r.choice([3, 10, 30])),
            lambda: 'typedef %s %s%s; kernel void %s_k(%s %s *a [[buffer(0)]]) { %s }' % (t(), n, r.choice(['', '[4]', '[]', '(int)', ' *']), n, r.choice(SPACES), n, r.choice(['', 'a[0] = {};', '*a = *a;'])),
            lambda: '%s %s %s %s %s;' % (r.choice(SPACES), r.choice(['', 'const', 'static', 'extern', 'constexpr']), t(), n, r.choice(['', self.attribute(), '= ' + self.number(), '= {}', '[%s]' % self.number()])),
            lambda: 'constant %s %s [[function_constant(%s)]]; constant bool %s_d = is_function_constant_defined(%s); kernel void %s_k(device int *a [[buffer(0), function_constant(%s_d)]], texture2d<float> q [[texture(%s), function_constant(%s)]]) { if (%s_d) a[0] = 1; }' % (t(), n, self.number(), n, n, n, n, self.small(), n, n),
            lambda: 'constant %s %s [[function_constant(%s)]]; kernel void %s_k(device int *a) { int q[%s]; a[0] = %s; switch (a[1]) { case %s: a[2] = 1; } }' % (r.choice(SCALARS), n, self.small(), n, n, n, n),
            lambda: '%s %s %s_b [[%s(%s)]]; kernel void %s_k(device int *a) { a[0] = (int)sizeof(%s_b); }' % (r.choice(SPACES), r.choice(['int *', 'S &', 'texture2d<float>', 'sampler', 'array<sampler, 3>']), n, r.choice(['buffer', 'texture', 'sampler', 'id']), self.small(), n, n),
            lambda: '#include <metal_tensor>\n#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\nusing namespace mpp::tensor_ops; kernel void %s(tensor<device %s, dextents<int, 2>> A, tensor<device %s, dextents<int, 2>> B, tensor<device %s, dextents<int, 2>> C) { constexpr auto d = matmul2d_descriptor(%s, %s, %s, %s, %s, %s%s); matmul2d<d, %s> op; %s }' % (
                n, r.choice(['half', 'float', 'bfloat', 'char', 'int']), r.choice(['half', 'float', 'char']), r.choice(['float', 'half', 'int']), self.small(), self.small(), r.choice([self.small(), 'static_cast<int>(dynamic_extent)', 'dynamic_length_v<int>']),
                r.choice(['true', 'false']), r.choice(['true', 'false']), r.choice(['true', 'false']), r.choice(['', ', matmul2d_descriptor::mode::multiply_accumulate']),
                r.choice(['execution_simdgroup', 'execution_simdgroups<4>', 'execution_simdgroups<%s>' % self.small(), 'execution_thread']),
                r.choice(['op.run(A, B, C);', 'op.run(A, A, A);', 'auto c = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>(); op.run(A, B, c); c.store(C);', 'auto m = A.slice<%s, %s>(1, 2); op.run(m, B, C);' % (self.small(), self.small())])),
            lambda: 'struct L { %s }; kernel void %s(imageblock<L> ib, ushort2 q [[thread_position_in_threadgroup]]) { threadgroup_imageblock L *d = ib.data(q); d->%s = d->%s; }' % (' '.join('%s c%d [[%s(%s)]];' % (t(), k, r.choice(['color', 'raster_order_group', 'user']), self.small()) for k in range(r.choice([1, 2, 9]))), n, r.choice(['c0', 'c1']), 'c0'),
            lambda: '[[visible]] %s %s(%s q) { return %s; } kernel void %s_k(visible_function_table<%s(%s)> v [[buffer(0)]], device int *a [[buffer(1)]], uint i [[thread_position_in_grid]]) { v[%s](%s); a[0] = v.size(); }' % (t(.1), n, t(.1), r.choice(['q', '{}', 'q + 1', '%s(q)' % n]), n, t(.1), t(.1), r.choice(['i', '0', self.number(), 'a[i]']), r.choice(['i', '{}', '1'])),
            lambda: '#pragma %s\nkernel void %s(device int *a) { %s }' % (r.choice(['clang loop unroll(full)', 'unroll %s' % self.number(), 'STDC FP_CONTRACT %s' % r.choice(['ON', 'x']), 'pack(push, %s)' % self.small(), 'METAL fp math_mode(%s)' % r.choice(['fast', 'safe', 'q']), 'once', 'push_macro("K")', 'clang diagnostic push', 'METAL internals : enable', 'clang fp reassociate(on)']), n, r.choice(['', '#pragma unroll\nfor (int k = 0; k < 9; k++) a[k] = k;\n', '#pragma clang loop vectorize(enable)\nwhile (a[0]) a[0]--;\n'])),
            lambda: r.choice(['"abc', "'", '/* x', 'R"q(', '#if 1', '#ifdef X\n#else', '{', '[[', '((', '<', '#define F(x) F(F(x))\nF(1)', '\\', '#include', '#define A A B\n#define B A A\nint z = A;', '@', '\x01', '\u00e9', '#if %s\n#endif' % self.number(), '#line %s "x"' % self.number(), '_Pragma("%s")' % n]),
            lambda: 'class %s%s { public: %s operator%s(%s q) %s { return %s; } %s() {} ~%s() {} %s };' % (n, r.choice(['', ' : S', ' : virtual S', ' : P<int>, S']), t(), r.choice(['+', '()', '[]', '*', '->', '=', ' new', ' float']), t(), r.choice(['', 'const', 'device', 'constant', 'threadgroup']), r.choice(['q', '{}', '*this', 'q.x']), n, n, r.choice(['virtual void f();', 'static int s;', 'friend S;', 'mutable int m;', 'int b : %s;' % self.small(), 'device int *d;', 'using T = %s;' % t()])),
            lambda: 'enum %s%s { %s };  constant %s %s_c = %s(%s);' % (n, r.choice(['', ' : uchar', ' : long', ' : bool', ' : float']), ', '.join('%s_%d%s' % (n, k, r.choice(['', ' = ' + self.number()])) for k in range(r.choice([0, 1, 5]))), n, n, n, self.number()),
            lambda: '%s void %s(%s) { %s }' % (r.choice(['kernel', 'vertex', 'fragment', '[[mesh]]', '[[object]]', '[[visible]]', '[[stitchable]]', '[[intersection(triangle)]]', 'static']), n, ', '.join(self.parameter() for _ in range(r.choice([0, 1, 2, 4, 40]))), r.choice(['', 'int x = %s;' % self.number()])),
            lambda: '[[mesh]] void %s(mesh<%s, %s, %s, %s, topology::%s> m, %s) { m.set_primitive_count(%s); m.set_index(%s, 1); }' % (n, r.choice(['S', 'In', 'Vo', 'float4']), r.choice(['void', 'S', 'In']), self.small(), self.small(), r.choice(['triangle', 'line', 'point', 'quad']), self.parameter(), self.number(), self.number()),
            lambda: 'using namespace raytracing; kernel void %s(%s as [[buffer(0)]], device float *a [[buffer(1)]], uint i [[thread_position_in_grid]]) { %s q; ray y(a[i], a[1], 0, %s); auto h = q.intersect(y, as%s); a[i] = h.distance; }' % (n, r.choice(['primitive_acceleration_structure', 'instance_acceleration_structure', 'acceleration_structure<instancing, max_levels<3>>', 'acceleration_structure<%s>' % r.choice(['triangle_data', 'primitive_motion', 'int'])]), r.choice(['intersector<>', 'intersector<triangle_data>', 'intersector<instancing, triangle_data>', 'intersector<instancing, max_levels<%s>>' % self.small(), 'intersection_query<triangle_data>']), self.number(), r.choice(['', ', 1', ', %s' % self.number()])),
            lambda: 'kernel void %s(%s<%s> q [[texture(0)]], device float *a [[buffer(0)]], uint3 i [[thread_position_in_grid]]) { constexpr sampler z(%s); a[0] = %s; }' % (n, r.choice(TEXTURES), r.choice(['float', 'half', 'int', 'float, access::read', 'uint, access::write']), r.choice(['', 'filter::linear', 'coord::pixel, address::repeat', 'compare_func::less', 'max_anisotropy(%s)' % self.small(), 'lod_clamp(%s, 2.0f)' % self.number()]),
                'q.%s(%s).x' % (r.choice(['sample', 'read', 'gather', 'sample_compare', 'write', 'get_width', 'atomic_fetch_add', 'calculate_clamped_lod', 'sparse_sample', 'fence']), ', '.join(r.choice(['z', 'i', 'i.xy', 'i.x', 'float2(i.xy)', 'float3(i)', 'level(%s)' % self.number(), 'bias(1.0f)', 'gradient2d(1, 2)', 'int2(%s)' % self.number(), 'component::w', 'min_lod_clamp(1)']) for _ in range(r.choice([0, 1, 2, 3, 4]))))),
            lambda: 'kernel void %s(device int *a) { os_log_default.log("%s", %s); }' % (n, r.choice(['%d', '%s', '%n', '%*d', '%', '%lld %f %v4f', '%d' * d]), r.choice(['1', '"x"', 'a', 'a[0], 2', 'float4(1)', '&a'])),
            lambda: 'kernel void %s(device float *a, uint i [[thread_position_in_grid]]) { simdgroup_matrix<%s, %s, %s> m, q(1); simdgroup_load(m, a, %s, ulong2(%s, 0), %s); simdgroup_multiply_accumulate(m, m, q, m); simdgroup_store(m, a, 8); }' % (n, r.choice(['float', 'half', 'bfloat', 'int']), r.choice(['8', '8', '8', '4', '16']), r.choice(['8', '8', '8', '16']), self.number(), self.number(), r.choice(['true', 'false'])),
            lambda: 'kernel void %s(command_buffer c [[buffer(0)]], uint i [[thread_position_in_grid]]) { %s k(c, %s); k.%s; }' % (n, r.choice(['render_command', 'compute_command']), r.choice(['i', self.number()]), r.choice(['reset()', 'set_barrier()', 'draw_primitives(primitive_type::triangle, 0, 3, 1, 0)', 'concurrent_dispatch_threads(uint3(%s), uint3(1))' % self.number(), 'set_kernel_buffer((device int *)nullptr, %s)' % self.number()])),
            lambda: 'namespace %s { %s } using namespace %s;' % (n, r.choice(['int x;', 'namespace metal { struct vec {}; }', 'kernel void k(device int *a) {}', 'constant int K = 1;']), n),
            lambda: 'kernel void %s(device int *a) { a[0] = __builtin_%s(%s); }' % (n, r.choice(['popcount', 'unreachable', 'trap', 'alloca', 'memcpy', 'shufflevector', 'convertvector', 'va_arg', 'offsetof', 'constant_p', 'choose_expr', 'bit_cast', 'astype', 'assume', 'expect', 'object_size', 'prefetch']), ', '.join(r.choice(['a', 'a[0]', '1', 'int', 'sizeof(int)', 'S, m', '-1', 'float4(1)']) for _ in range(r.choice([0, 1, 2, 3])))),
            lambda: 'kernel void %s(device int *a, uint i [[thread_position_in_grid]]) { %s x: a[i]++; %s if (a[i] < %s) goto x; %s }' % (n, r.choice(['', 'goto x;', 'if (i) goto y;']), r.choice(['', 'for (;;) { if (i) goto y; a[i]--; goto x; }', 'y: ']), self.number(), r.choice(['', 'y:;'])),
        ]
        return r.choice(rules)()

    def make(self):
        r = self.r
        parts = [self.head()]
        for _ in range(r.choice([1, 1, 2, 3])):
            parts.append(self.kernel() if r.random() < .45 else self.odd())
        return parts
