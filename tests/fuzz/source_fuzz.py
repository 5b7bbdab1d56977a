#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""source_fuzz.py --mslc MSLC [--seeds A:B] [--seconds S] [--keep DIR] [--reduce FILE [OPTION ...]]

Searches for generated sources that crash the compiler: the tests' own Metal files, cut into their
functions and types, put together anew, with tokens taken out, repeated, exchanged and changed. The compiler may refuse
all of it, in words. It must not end by a signal, by LLVM's own exit, or with words about itself ("internal", broken
code), and not work without an end; the limits of time and memory are a proper end. What does is kept, and made shorter with --reduce.

--tokens: more changes at a time, and words that belong together by chance only; less of it reaches the back end.
--made: half of the sources are written by rules (source_grammar.py). A source that the front end takes is compiled in several ways."""
import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
import time

from source_grammar import Grammar

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|#[^\n]*|"(?:\\.|[^"\\\n])*"|\w+(?:\.\w+)?|::|->|\+\+|--|<<=|>>=|<<|>>|&&|\|\||[-+*/%&|^=!<>]=|\[\[|\]\]|\S', re.S)
WAYS = [[], [], [], ['--validate'], ['--width', '1'], ['--group', '64'], ['--group', '16,16'], ['--cpu', 'x86-64-v3'],
        ['--math=safe', '--validate', '--group', '32'], ['--target', 'aarch64']]
# What one source that the front end takes is tried with, beside the way that chance gives it.
MORE_WAYS = [['--validate', '--cpu', 'x86-64-v3'], ['--races'], ['--width', '8', '--validate'], ['--width', '16'], ['--width', '32', '--group', '32,8'],
             ['--emit=ptx', '-o', '/dev/null'], ['--races', '--width', '1'], ['--validate', '--target', 'aarch64'], ['--group', '1024'],
             ['--math=safe', '--group', '7,5,3'], ['--emit=ptx', '-o', '/dev/null', '--validate'], ['-fmetal-enable-logging', '--validate', '--group', '64']]
NUMBERS = ['0', '1', '-1', '2', '3', '31', '32', '33', '64', '255', '256', '1023', '65535', '65536', '0x7fffffff', '0x80000000',
           '0xffffffff', '4294967296', '0x7fffffffffffffff', '0xffffffffffffffffull', '1e38f', '0.0f', '-0.0f', '1e-45f', 'INFINITY', 'NAN']
TYPES = ('bool char uchar short ushort int uint long ulong half float bfloat size_t void float2 float3 float4 half4 int2 int3 int4 uint2 uint3 '
         'uint4 uchar4 short3 long2 bool2 bool4 float2x2 float3x3 float4x4 half2x4 packed_float3 packed_half4 packed_uchar3 atomic_int '
         'atomic_uint atomic_float atomic_bool sampler texture2d<float> texture2d<half> texture2d_array<float> texture3d<float> texturecube<float> '
         'depth2d<float> texture2d_ms<float> texture_buffer<uint> simdgroup_float8x8 auto decltype(nullptr) array<float,4> '
         'array<texture2d<float>,4> vec<float,4> matrix<float,3,3> command_buffer compute_command visible_function_table<int(int)> '
         'acceleration_structure<> intersection_result<> tensor<device_float,dextents<int,2>> imageblock<S> mesh<V,P,3,1,topology::triangle>').split()
WORDS = ('device constant threadgroup thread threadgroup_imageblock ray_data object_data kernel vertex fragment [[kernel]] [[visible]] [[mesh]] [[object]] '
         '[[stitchable]] [[intersection(triangle)]] const volatile static inline constexpr template typename struct union enum class using namespace if else '
         'for while do switch case default break continue goto return sizeof alignof alignas decltype static_assert operator this new delete virtual '
         'explicit mutable friend public private protected typedef true false nullptr & * && || ! ~ + - / % << >> < > <= >= == != = += -= ? : ; , . -> '
         ':: ( ) [ ] { } [[ ]] ... # ## [[buffer(0)]] [[texture(0)]] [[sampler(0)]] [[threadgroup(0)]] [[stage_in]] [[position]] [[color(0)]] '
         '[[thread_position_in_grid]] [[thread_index_in_simdgroup]] [[thread_position_in_threadgroup]] [[threads_per_grid]] [[function_constant(0)]] [[attribute(0)]] '
         '[[user(a)]] [[flat]] [[id(0)]] [[payload]] [[early_fragment_tests]] [[max_total_threads_per_threadgroup(64)]] [[patch(triangle,3)]] '
         '[[vertex_id]] [[instance_id]] [[front_facing]] [[sample_id]] [[depth(any)]] [[render_target_array_index]] [[raster_order_group(0)]] '
         'threadgroup_barrier(mem_flags::mem_threadgroup); simdgroup_barrier(mem_flags::mem_none); discard_fragment(); simd_sum simd_shuffle '
         'quad_broadcast atomic_fetch_add_explicit as_type<float> select clamp dot normalize fma popcount simd_ballot dfdx ctz mix sincos').split(' ')

CLOSING = {'(': ')', '[': ']', '{': '}', '[[': ']]', '<': '>'}
ABOUT_ITSELF = re.compile('the compiler crashed|the compiler gave up|LLVM ERROR|PLEASE submit|UNREACHABLE|[Ii]nternal|[Bb]roken|not valid')


def pieces(text):
    """Top-level parts of a file: what ends with a brace or a semicolon of no depth."""
    out, depth, part = [], 0, []
    for token in TOKEN.findall(text):
        if token.startswith(('//', '/*')):
            continue
        part.append(token)
        depth += token in '{([' and len(token) == 1
        depth += 2 * ((token == '[[') - (token == ']]'))
        depth -= token in '})]' and len(token) == 1
        if token.startswith('#') or (depth <= 0 and token in (';', '}')):
            depth = 0
            out.append(part)
            part = []
    return out + [part] if part else out


def corpus():
    files = []
    for folder, _, names in sorted(os.walk(os.path.join(ROOT, 'tests'))):
        for name in sorted(names):
            if name.endswith('.metal') and 'hostile' not in folder:
                with open(os.path.join(folder, name), encoding='utf-8', errors='replace') as f:
                    files.append(pieces(f.read()))
    return [f for f in files if f]


class Maker:
    def __init__(self, seed, files, blind, made=False):
        self.r = random.Random(seed)
        self.files = files
        self.blind = blind
        self.made = made

    def start(self):
        """Some neighbouring parts of a file, with everything short that stood before them."""
        r, parts = self.r, self.r.choice(self.files)
        n = r.choice([1, 1, 2, 3, 6])
        at = r.randrange(len(parts))
        before = [p for p in parts[:at] if len(p) < 120]
        return [list(p) for p in before[-40:] + parts[at:at + n]]

    def other(self):
        return self.r.choice(self.r.choice(self.files))

    def word(self):
        return self.r.choice(self.r.choice([NUMBERS, TYPES, WORDS, WORDS, self.other()]))

    def change(self, part):
        r = self.r
        if not part:
            return part
        i = r.randrange(len(part))
        span = min(r.choice([1, 1, 1, 2, 3, 5, 10, 30]), len(part) - i)
        kind = r.randrange(10)
        if kind == 0:
            return part[:i] + part[i + span:]
        if kind == 1:
            return part[:i + span] + part[i:i + span] * r.choice([1, 1, 1, 2, 8]) + part[i + span:]
        if kind == 2:
            return part[:i] + [self.word()] + part[i:]
        if kind == 3:
            j = r.randrange(len(part))
            return part[:j] + part[i:i + span] + part[j:]
        if kind == 4:
            other = self.other()
            k = r.randrange(len(other))
            return part[:i] + other[k:k + r.choice([1, 3, 8, 20, 60])] + part[i + span:]
        same = [k for k, t in enumerate(part) if t[0].isalpha() and t != part[i]]
        token = part[i]
        if re.match(r'\d', token):
            new = r.choice(NUMBERS)
        elif token in TYPES or re.match(r'(float|half|int|uint)\b', token):
            new = r.choice(TYPES)
        elif token[0].isalpha() and same and r.random() < .7:
            new = part[r.choice(same)]
        elif not token[0].isalnum():
            new = r.choice([w for w in WORDS if not w[:1].isalnum()])
        else:
            new = self.word()
        return part[:i] + [new] + part[i + 1:]

    def soup(self):
        """Words that belong together by chance only; short, as what the passes over tokens trip over is."""
        r, out, opened = self.r, [], []
        for _ in range(r.choice([2, 3, 4, 6, 10, 20, 40])):
            word = self.word()
            if word in CLOSING.values() and opened and r.random() < .8:
                word = opened.pop()
            if word in CLOSING and r.random() < .8:
                opened.append(CLOSING[word])
            out.append(word)
        return [out + (opened[::-1] if r.random() < .7 else [])]

    def by_rules(self):
        """A source by rules, now and then with a token changed."""
        r = self.r
        parts = Grammar(r).make()
        if r.random() < .2:
            k = r.randrange(len(parts))
            parts[k] = join(self.change(TOKEN.findall(parts[k])))
        return '#include <metal_stdlib>\nusing namespace metal;\n' + '\n'.join(parts) + '\n', r.choice(WAYS)

    def make(self):
        r = self.r
        if self.made and r.random() < .5:
            return self.by_rules()
        parts = self.soup() if self.blind and r.random() < .5 else self.start()
        for _ in range(r.choice([1, 1, 2, 2, 3, 5]) * (6 if self.blind else 1)):
            k = len(parts) - 1 - min(len(parts) - 1, int(r.expovariate(.7)))
            parts[k] = self.change(parts[k])
            if r.random() < .05:
                parts.insert(k, list(self.other()))
            if r.random() < .02:
                del parts[r.randrange(len(parts))]
            if not parts:
                parts = self.start()
        text = '\n'.join(join(p) for p in parts)
        if '#include' not in text:
            text = '#include <metal_stdlib>\nusing namespace metal;\n' + text
        return text + '\n', r.choice(WAYS)


def join(part):
    return '\n'.join(part) if part and part[0].startswith('#') and len(part) > 1 else ' '.join(part)


def compile_text(mslc, text, way, folder, seconds=60):
    """None, or what went wrong."""
    return try_text(mslc, text, way, folder, seconds)[0]


def try_text(mslc, text, way, folder, seconds=60):
    """None or what went wrong, and whether it compiled."""
    path = os.path.join(folder, 'source.metal')
    with open(path, 'w', encoding='utf-8') as f:
        f.write(text)
    environment = dict(os.environ, INGOT_COMPILE_TIMEOUT_MS=str(seconds * 1000), INGOT_COMPILE_MEMORY_MB='4096')
    check = [] if any(w.startswith('--emit') for w in way) else ['--check']
    try:
        p = subprocess.run([mslc, 'build', '-q', *check, *way, path], capture_output=True, timeout=seconds * 20, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return 'hangs', False
    words = p.stderr.decode(errors='replace')
    if 'LLVM ERROR: out of memory' in words or 'took too long' in words:
        return None, False  # the limits do their work
    if p.returncode < 0 or p.returncode > 1:
        return 'status %d: %s' % (p.returncode, words[-300:]), False
    for line in words.splitlines():
        # Lines of the source, and what is said about them, may hold any words.
        if 'source.metal:' not in line and not re.match(r' *\d* *[|]', line) and ABOUT_ITSELF.search(line[:400]):
            return line[:300], False
    return None, p.returncode == 0


def reduce(mslc, text, way, folder):
    """As few tokens as still do the same."""
    want = (compile_text(mslc, text, way, folder) or '')[:24]
    if not want:
        sys.exit('the source compiles')
    for split, glue in ((lambda t: t.splitlines(), '\n'), (lambda t: TOKEN.findall(t), None)):
        parts = split(text)
        size = max(1, len(parts) // 2)
        while size:
            at = 0
            while at < len(parts):
                less = parts[:at] + parts[at + size:]
                t = glue.join(less) if glue else ''.join(p + '\n' if p[0] == '#' else p + ' ' for p in less)
                if less and (compile_text(mslc, t, way, folder) or '')[:24] == want:
                    parts, text = less, t
                else:
                    at += size
            size //= 2
    return text


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--mslc', required=True)
    p.add_argument('--seeds', default='1:')
    p.add_argument('--seconds', type=float, default=0)
    p.add_argument('--keep')
    p.add_argument('--tokens', action='store_true')
    p.add_argument('--made', action='store_true')
    p.add_argument('--reduce', nargs='+')
    o, way = p.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        if o.reduce:
            with open(o.reduce[0], encoding='utf-8') as f:
                text = f.read()
            print(reduce(o.mslc, text, way, folder))
            return 0
        first, last = (int(s) if s else 1 << 62 for s in o.seeds.split(':'))
        end = time.monotonic() + o.seconds if o.seconds else None
        files, n, n_taken, n_bad, seed = corpus(), 0, 0, 0, first
        while seed < last and (not end or time.monotonic() < end):
            maker = Maker(seed, files, o.tokens, o.made)
            text, way = maker.make()
            wrong, compiled = try_text(o.mslc, text, way, folder)
            for more in maker.r.sample(MORE_WAYS, 4) if compiled and o.made else []:
                way = more if not wrong else way
                wrong = wrong or compile_text(o.mslc, text, way, folder)
            n += 1
            n_taken += compiled
            if wrong:
                n_bad += 1
                print('seed %d %s: %s' % (seed, ' '.join(way), wrong.strip()), flush=True)
                if o.keep:
                    os.makedirs(o.keep, exist_ok=True)
                    with open(os.path.join(o.keep, 'source-%d.metal' % seed), 'w', encoding='utf-8') as f:
                        f.write(text)
            seed += 1
    print('%d sources, %d of them compile, %d bad' % (n, n_taken, n_bad))
    return n_bad > 0


if __name__ == '__main__':
    sys.exit(main())
