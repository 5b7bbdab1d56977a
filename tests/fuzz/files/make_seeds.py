#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_seeds.py BUILD: writes the seeds of the drivers, a few small files of each format, into seeds/. Files that
libFuzzer found lie beside them with names of their own, and stay."""
import hashlib
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = '''#include <metal_stdlib>
using namespace metal;
struct Node { float values[4]; device Node *next; texture2d<float> picture; };
constant int scale [[function_constant(0)]];
struct Out { float4 at [[position]]; float2 uv [[user(uv)]]; };
kernel void first(device Node *nodes [[buffer(0)]], constant float2 *list [[buffer(1)]], threadgroup float *room [[threadgroup(0)]],
                  uint2 gid [[thread_position_in_grid]]) { nodes[gid.x].values[gid.y & 3] += list[gid.x].x * scale; }
vertex Out corner(uint i [[vertex_id]]) { return {float4(i), float2(i)}; }
fragment float4 shade(Out in [[stage_in]], texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]]) { return t.sample(s, in.uv); }
'''


def write(kind, name, data):
    folder = os.path.join(HERE, 'seeds', kind)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), 'wb') as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def text(b):
    b = b if isinstance(b, bytes) else b.encode()
    return struct.pack('<Q', len(b)) + b


def container(magic, version, content, seal=b''):
    return magic + struct.pack('<I', version) + hashlib.sha256(content).digest() + seal + content


def libraries(mslc):
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, 'a.metal'), os.path.join(folder, 'a.metallib')
        with open(source, 'w', encoding='utf-8') as f:
            f.write(SOURCE)
        subprocess.run([mslc, 'build', source, '-o', out], check=True)
        with open(out, 'rb') as f:
            whole = f.read()
    # The bitcode, which is last, is not read by the driver: a few bytes of it are enough.
    for name, keep in (('functions', 16), ('nothing', 0)):
        at = next(i for i in range(44, len(whole) - 8) if struct.unpack_from('<Q', whole, i)[0] == len(whole) - i - 8)
        content = whole[44:at] + text(whole[at + 8:at + 8 + keep])
        write('metallib', name + '.metallib', container(whole[:8], struct.unpack_from('<I', whole, 8)[0], content))
        write('cache', name, container(whole[:8], struct.unpack_from('<I', whole, 8)[0], content))
    lib = container(whole[:8], struct.unpack_from('<I', whole, 8)[0], whole[44:at] + text(b'BC'))
    write('metallib', 'wrapped', b'MTLBINGT' + struct.pack('<IIIIQQ', 1, 0, 0x40000, 0, len(lib), 4) + lib + b'text' + b'ENDT')


def archives():
    entry = b'k' * 32 + text('first') + text('a.metal') + text('scale = 1') + struct.pack('<III', 64, 1, 1) + text(b'\x7fELF code')
    other = entry.replace(b'kkkk', b'jjjj').replace(b'first', b'other')
    for name, entries in (('empty', []), ('two', [entry, other])):
        content = text('compiler') + b'm' * 32 + text('machine') + struct.pack('<I', len(entries)) + b''.join(entries)
        write('archive', name + '.binarchive', container(b'INGOTARC', 2, content, b's' * 32))
    write('cache', 'kernel', b'INGOTKRN' + b's' * 32 + b'\x7fELF code')


CODE = '''#include "abi/cpu_kernel.h"
void *memcpy(void *, const void *, unsigned long);
extern const CpuKernelInfo ingot_kernel_info;
const CpuKernelInfo ingot_kernel_info = {.abi = ABI_VERSION, .width = 1};
static void one(char *p, const char *q) { memcpy(p, q, 64); }
static void two(char *p, const char *q) { memcpy(q ? p + 1 : p, q, 65); }
static void (*const volatile table[])(char *, const char *) = {one, two};
CpuKernelFn ingot_kernel;
void ingot_kernel(const CpuLaunch *l, uint64_t first, uint64_t end, void *memory, void *frames) {
    table[first & 1](memory, frames);
}
'''


def objects(mslc):
    with tempfile.TemporaryDirectory() as folder:
        source, out, code = (os.path.join(folder, name) for name in ('a.metal', 'a.so', 'a.c'))
        with open(source, 'w', encoding='utf-8') as f:
            f.write('kernel void k(device int *p [[buffer(0)]], uint i [[thread_position_in_grid]]) { p[i] = 1; }\n')
        subprocess.run([mslc, 'build', '-q', '--cpu', 'x86-64', '--width', '1', '--emit=obj', '--function', 'k', source, '-o', out], check=True)
        with open(out, 'rb') as f:
            write('elf', 'kernel.so', f.read())
        with open(code, 'w', encoding='utf-8') as f:
            f.write(CODE)
        subprocess.run(['clang-22', '-O1', '-fPIC', '-shared', '-nostdlib', '-ffreestanding', '-fuse-ld=lld', '-I', os.path.join(HERE, '../../../src'),
                        '-Wl,-z,now', code, '-o', out], check=True)
        with open(out, 'rb') as f:
            write('elf', 'relocations.so', f.read())


def arrays():
    for name, version, header, data in (('f4', 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes(24)),
                                        ('i8', 1, "{'descr': '>i8', 'fortran_order': False, 'shape': (4,), }", bytes(32)),
                                        ('scalar', 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", bytes(8)),
                                        ('fortran', 2, "{'descr': '<u2', 'fortran_order': True, 'shape': (3, 2), }", bytes(12)),
                                        ('empty', 3, "{'descr': '|b1', 'fortran_order': False, 'shape': (0, 4), }", b'')):
        line = header.encode() + b'\n'
        write('npy', name + '.npy', b'\x93NUMPY' + bytes([version, 0]) + struct.pack('<H' if version == 1 else '<I', len(line)) + line + data)


def tensors():
    header = json.dumps({'__metadata__': {'format': 'pt'}, 'a': {'dtype': 'F32', 'shape': [2, 3], 'data_offsets': [0, 24]},
                         'b': {'dtype': 'BF16', 'shape': [], 'data_offsets': [24, 26]}}).encode()
    write('safetensors', 'two.safetensors', struct.pack('<Q', len(header)) + header + bytes(26))
    write('safetensors', 'none.safetensors', struct.pack('<Q', 2) + b'{}')
    graph = {'name': 'main', 'type': 'float32', 'inputs': [{'name': 'x', 'dimensions': [4, 8]}],
             'constants': [{'name': 'w', 'dimensions': [4, 2], 'data': [1, 0, 0, 0, 0, 1, 0, 0]}, {'name': 'b', 'data': [1, 2]}],
             'operations': [{'op': 'matmul', 'inputs': ['x', 'w'], 'transpose_b': True, 'output': 'a'},
                            {'op': 'add', 'inputs': ['a', 'b'], 'output': 'c'}, {'op': 'softmax', 'inputs': ['c'], 'axis': 0, 'output': 'y'}],
             'outputs': [{'name': 'y'}]}
    write('network', 'layer', json.dumps(graph))
    graph['weights'] = 'weights.safetensors'
    graph['constants'] = [{'name': 'w', 'tensor': 'a'}]
    graph['operations'] = [{'op': 'conv2d', 'inputs': ['x', 'w'], 'strides': [1, 1], 'padding': [0, 0], 'dilations': [1, 1], 'output': 'y'},
                           {'op': 'reshape', 'inputs': ['y'], 'dimensions': [2, 2], 'output': 'z'}]
    write('network', 'weights', json.dumps(graph).encode() + b'\0' + struct.pack('<Q', len(header)) + header + bytes(26))


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def png(width, height, depth, color, rows, extra=b'', interlace=0):
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, color, 0, 0, interlace)) + extra +
            chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def pictures():
    write('picture', 'rgb.png', png(3, 2, 8, 2, b'\0' + bytes(range(9)) + b'\1' + bytes(range(9))))
    write('picture', 'rgba16.png', png(2, 2, 16, 6, (b'\2' + bytes(range(16))) * 2, chunk(b'gAMA', struct.pack('>I', 100000))))
    write('picture', 'palette.png', png(4, 1, 2, 3, b'\0\x1b', chunk(b'PLTE', bytes(range(12))) + chunk(b'tRNS', b'\x80\x40')))
    write('picture', 'grey1.png', png(8, 2, 1, 0, b'\0\xaa\4\x55'))
    write('picture', 'interlaced.png', png(2, 2, 8, 0, b'\0\1\0\2\0\3\4', interlace=1))
    orientation = b'Exif\0\0MM\0*\0\0\0\x08' + struct.pack('>HHHIHHI', 1, 0x112, 3, 1, 6, 0, 0)
    write('picture', 'turned.png', png(2, 1, 8, 2, b'\0' + bytes(6), chunk(b'eXIf', orientation[6:])))


def networks():
    layers = [{'weights': [[.5, -.25]] * 3, 'biases': [0, 1, 2]}, {'weights': [[.1, .2, .3]] * 3, 'biases': [.5, .5, .5]}]
    whole = {'metadata': {'mode': 'image', 'image': {'width': 4, 'height': 4, 'aspect_ratio': 1.0}}, 'model': {'type': 'siren'},
             'mlp': {'layers': layers}, 'sample_count': 1, 'sample_seed': 1337, 'samples': [{'position': [0, 0], 'value': [0, .5, 1]}]}
    write('weights', 'siren.json', json.dumps(whole))
    whole['model'] = {'type': 'fourier'}
    whole['fourier'] = {'sigma': 10, 'B': [[1, 2], [3, 4]]}
    write('weights', 'fourier.json', json.dumps(whole))
    body = struct.pack('<4sBBBBII', b'INGN', 1, 8, 2, 0, 4, 4) + struct.pack('<eeHHeeee', 30, 1, 3, 3, .01, .01, .01, .01) + bytes(30)
    write('weights', 'packed.ingot', body + bytes(4))


def capture_chunks(data):
    """(kind, commands, hash, unpacked bytes) of each chunk but the index."""
    at = 16
    while at + 64 <= len(data):
        kind, stored, raw, commands = struct.unpack_from('<IQQQ', data, at + 4)
        found, part = data[at + 32:at + 64], data[at + 64:at + 64 + stored]
        if stored < raw:
            part = subprocess.run(['zstd', '-dc'], input=part, capture_output=True, check=True).stdout
        if kind != 3:
            yield kind, commands, found, part
        at += 64 + stored


def capture_file(chunks):
    """Plain, with an index: what is changed at a place is what is read there."""
    out, index = b'INGOTTRC' + struct.pack('<II', 1, 0), b''
    for kind, commands, part in chunks:
        head = struct.pack('<QQQ', len(part), len(part), commands) + hashlib.sha256(part).digest()
        index += struct.pack('<IQ', kind, len(out)) + head
        out += b'ICHK' + struct.pack('<I', kind) + head + part
    head = struct.pack('<QQQ', len(index), len(index), 0) + hashlib.sha256(index).digest()
    return out + b'ICHK' + struct.pack('<I', 3) + head + index + b'INGOTEND' + struct.pack('<Q', len(out))


def slim_capture(data):
    """A capture of a program without most of what it weighs: bitcode, and all contents but two small blocks."""
    chunks = list(capture_chunks(data))
    blocks = {found: part for kind, _, found, part in chunks if kind == 1}
    slim, renamed, n_contents, runs = [], [], 0, []
    for kind, commands, _, part in chunks:
        if kind != 2:
            continue
        events, at = [], 0
        while at < len(part):
            what, n = struct.unpack_from('<BI', part, at)
            body, at = part[at + 5:at + 5 + n], at + 5 + n
            if what == 4 and not body[20]:  # CAP_CONTENTS
                block = blocks[body[21:53]]
                if len(block) <= 4096 and n_contents < 2:
                    n_contents += 1
                    slim.append((1, 0, block))
                else:
                    body = body[:20] + b'\1' + bytes(32)
            if what == 5:  # CAP_LIBRARY
                n_name, = struct.unpack_from('<Q', body, 32)
                first = 40 + n_name + 12
                whole = b''.join(blocks[body[i:i + 32]] for i in range(first, len(body), 32))
                cut = next(i for i in range(44, len(whole) - 8) if struct.unpack_from('<Q', whole, i)[0] == len(whole) - i - 8)
                lib = container(whole[:8], struct.unpack_from('<I', whole, 8)[0], whole[44:cut] + text(whole[cut + 8:cut + 24]))
                renamed.append((whole[12:44], lib[12:44]))
                slim.append((1, 0, lib))
                body = body[:40 + n_name] + struct.pack('<QI', len(lib), 1) + hashlib.sha256(lib).digest()
            events.append(struct.pack('<BI', what, len(body)) + body)
        runs.append((commands, b''.join(events)))
    for commands, part in runs:
        for old, new in renamed:
            part = part.replace(old, new)
        slim.append((2, commands, part))
    return capture_file(slim)


def damage_capture(data, kind, at, value):
    """In every event of a kind: these bytes at a place."""
    chunks = []
    for what, commands, _, part in capture_chunks(data):
        part, i = bytearray(part), 0
        while what == 2 and i < len(part):
            event, n = struct.unpack_from('<BI', part, i)
            if event == kind:
                part[i + 5 + at:i + 5 + at + len(value)] = value
            i += 5 + n
        chunks.append((what, commands, bytes(part)))
    return capture_file(chunks)


def captures(build):
    """Of examples, with pictures that are small."""
    root, build = os.path.normpath(os.path.join(HERE, '..', '..', '..')), os.path.abspath(build)
    with tempfile.TemporaryDirectory() as folder:
        for name in ('textured_cube', 'mesh_shader', 'tile_shading', 'tessellation', 'mipmaps', 'tensor', 'ray_shadows'):
            with open(os.path.join(root, 'examples', name + '.c'), encoding='utf-8') as f:
                source = re.sub(r'\b(WIDTH|HEIGHT|TEXTURE|SIZE|n_samples) = [0-9]+', r'\1 = 16', f.read()).replace('LEVELS = 9', 'LEVELS = 5')
            program, path = os.path.join(folder, name), os.path.join(folder, name + '.ingottrace')
            with open(program + '.c', 'w', encoding='utf-8') as f:
                f.write(source)
            subprocess.run(['cc', program + '.c', '-o', program, '-I' + os.path.join(root, 'include'), '-I' + os.path.join(root, 'examples'),
                            '-L' + os.path.join(build, 'lib'), '-Wl,-rpath,' + os.path.join(build, 'lib'), '-lingot', '-lz', '-lm'], check=True)
            # What it sees in its picture may not please it.
            subprocess.run([os.path.join(build, 'bin', 'ingot'), 'capture', '-q', '-o', path, program], check=False, cwd=folder,
                           stdout=subprocess.DEVNULL)
            with open(path, 'rb') as f:
                data = f.read()
            write('capture', name, data if name == 'mipmaps' else slim_capture(data))
            if name == 'mipmaps':
                # Copies of texels (CAP_MOVE): two sides of 65 bytes, whose rows are 8 into them and whether it is twiddled 40; then
                # row, element, fill, elements, rows, planes.
                nothing = damage_capture(data, 69, 130, struct.pack('<QQQQQQ', 0, 0, 0, 0, 1, 1))
                write('capture', 'twiddled_nothing', damage_capture(nothing, 69, 40, b'\1'))
                endless = damage_capture(data, 69, 130, struct.pack('<QQQQQQ', 0, 0, 0, 1, 1 << 60, 1))
                write('capture', 'endless_rows', damage_capture(damage_capture(endless, 69, 8, bytes(8)), 69, 73, bytes(8)))


def pages():
    """Requests to `ingot view` and `ingot play`."""
    own = '/0123456789abcdef0123456789abcdef/'

    def request(name, target, body=None):
        head = '%s %s HTTP/1.1\r\nHost: 127.0.0.1:80\r\n' % ('GET' if body is None else 'POST', target)
        if body is not None:
            head += 'Origin: http://localhost:80\r\nSec-Fetch-Site: same-origin\r\nContent-Length: %d\r\n' % len(body)
        write('page', name, head + 'Connection: keep-alive\r\n\r\n' + (body or ''))
    request('index', own + 'index')
    request('bytes', own + 'bytes?1,4096,64')
    request('texture', own + 'texture?2,0,0,0')
    request('times', own + 'times')
    request('history', own + 'history?1,0,0,3,4')
    settings = {'program': 1, 'function': 'k', 'vertex': 'v', 'object': 'o', 'mesh': 'm', 'grid': [64, 2, 1], 'group': [8, 8, 1], 'object_group': [1, 1, 1],
                'render': {'vertices': 3, 'instances': 1, 'primitive': 'line-strip', 'cull': 'back', 'depth': True, 'wireframe': False,
                           'clear': [0, 0.5, 1, 1], 'size': [16, 16]},
                'buffers': {'a': [1, 2, 3], 'b': 'random'}, 'textures': {'t': 'checker'}, 'values': {'n': [4], 's.x': [1.5]},
                'unchecked': False, 'time': 1.5, 'mouse': [1, 2, 0, 0], 'frame': 7}
    request('run', own + 'api/run', json.dumps(settings))
    settings['expect'] = [{'buffer': 'a', 'is': [1, 2], 'tolerance': 1e-5}, {'pixel': [1, 2], 'color': [0, 0, 0, 1]}]
    request('check', own + 'api/check', json.dumps(dict(settings, checks=[{'grid': [2]}, {'values': {'n': [9]}, 'expect': []}])))
    write('page', 'refused', 'POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\nHost: elsewhere\r\n\r\n{}')


# What a child of isolate.c does before each command is done: numbers of a child's `Put`s, and whether it counts falsely.
WHAT, NOTE, FAULT, QUESTION, COUNTERS, HEAD, STORE, SPENT = range(8)
DEVICE, SHARED, PROGRAM = 2, 4, 6  # what a number is added to


def put(part, at, value, n=8, base=0):
    return struct.pack('<BBHQ', part, 1 | base | n.bit_length() - 1 << 4, at, value)


def turn(*puts, done=None):
    return bytes([len(puts)]) + b''.join(puts) + (b'\0' if done is None else b'\xff' + struct.pack('<I', done))


def children():
    loaded = [put(WHAT, 32, 1), put(WHAT, 40, 3, 4)]

    def memory(i, *more, host=0):
        made = turn(put(WHAT, 8, i << 20, base=DEVICE), put(WHAT, 16, host, base=SHARED), put(WHAT, 72, 1, 1), *more)
        return made + turn() + turn(put(WHAT, 24, 1, 1)) + turn(put(WHAT, 17, 1, 1))  # shown, copied, filled

    def run(*puts):  # begin, use, dispatch, two copies, a filling, the end; then the memory is freed
        return turn() + turn() + turn(*puts) + turn() * 8

    def note(command, context, *more, count=64):
        return [put(NOTE, 4, command, 4), put(NOTE, 8, context), *more, put(NOTE | count, 0, 1, 4)]
    facts, nothing = b'\xfe' + b'\xff' * 7, turn() * 5
    begun = facts + turn(*loaded) + memory(1)
    write('isolate', 'honest', facts + turn(*loaded) + b''.join(memory(i) + run() for i in range(4)) + turn() * 20)
    write('isolate', 'reports', begun + run(*note(2, 1, count=64 | 128)) + memory(2) + run(*note(12, 1, put(NOTE, 24, 2**31, 4))))
    write('isolate', 'stale', begun + run(*note(50, 1)) + memory(2) + run(*note(2, 2**63)))
    write('isolate', 'logs', begun + run(put(NOTE, 4, 2, 4), put(NOTE, 148, 2**32 - 1, 4), put(NOTE, 152, 5), put(NOTE | 64, 160, 2**40)))
    write('isolate', 'stores', facts + turn(*loaded, put(QUESTION, 40, 0, base=SHARED), put(QUESTION, 48, 64), put(QUESTION, 0, 2, 4)) * 4)
    write('isolate', 'finds', facts + turn(*loaded, put(QUESTION, 0, 1, 4)) + memory(1, put(WHAT, 24, 2**40)))
    write('isolate', 'places', facts + turn(*loaded) + memory(1, host=2**31) + turn(put(WHAT, 8, 0, base=PROGRAM), put(WHAT, 72, 1, 1)) * 8)
    write('isolate', 'wrapped', facts + nothing + turn(put(WHAT, 8, 0, base=DEVICE), put(WHAT, 24, 2**40), put(WHAT, 72, 1, 1)) + turn() * 4)
    write('isolate', 'faults', begun + run(put(FAULT, 0, 2, 4), put(FAULT, 4, 2**31, 4)) + memory(2) + run(put(FAULT, 0, 77, 4)))
    write('isolate', 'counts', begun + turn() + turn(done=2**31) + turn(put(COUNTERS, 192, 2**31, 4)) * 9)
    write('isolate', 'views', b'\1' + facts[1:] + turn() * 3 + turn(put(WHAT, 8, 2**62 - 1)))
    for i in range(2):
        write('isolate', f'any{i}', b''.join(hashlib.sha256(bytes([i, k])).digest() for k in range(12)))


def apple_function(name, i, code, *more):
    def tag(letters, data):
        return letters + struct.pack('<H', len(data)) + data
    tags = (tag(b'NAME', name + b'\0') + tag(b'TYPE', bytes([i])) + tag(b'HASH', hashlib.sha256(code).digest())
            + tag(b'OFFT', struct.pack('<3Q', 0, 0, i * len(code))) + tag(b'VERS', struct.pack('<4H', 2, 6, 3, 1))
            + b''.join(tag(*t) for t in more) + b'ENDT')
    return struct.pack('<I', len(tags) + 4) + tags


def apple():
    code = struct.pack('<5I', 0x0b17c0de, 0, 20, 12, 7) + b'BC\xc0\xde' + bytes(8)
    metadata = struct.pack('<I', 4) + b'ENDT'
    functions = (apple_function(b'first', 0, code, (b'MDSZ', struct.pack('<Q', len(code)))), apple_function(b'second', 1, code))
    listed = struct.pack('<I', len(functions)) + b''.join(functions)
    files = b'UUID' + struct.pack('<H', 16) + bytes(16) + b'ENDT'
    parts, offset, sections = (listed + files, metadata, metadata, code * 2), 88, b''
    for i, part in enumerate(parts):
        sections += struct.pack('<QQ', offset, len(listed) - 4 if i == 0 else len(part))
        offset += len(part)
    whole = b'MTLB' + struct.pack('<3H2B2HQ', 0x8001, 2, 7, 0, 0x81, 14, 0, offset) + sections + b''.join(parts)
    universal = struct.pack('<7I', 0xcbfebabe, 1, 0x1000017, 0, 28, len(whole), 0) + whole
    for name, data in (('two', whole), ('universal', universal), ('object', code), ('bitcode', code[20:])):
        write('apple_metallib', name, data)


def words():
    write('json', 'all.json', '{"a": [1, -2.5e3, true, false, null, "\\u00e9\\n"], "b": {}, "c": []}')
    write('json', 'deep.json', '[' * 30 + ']' * 30)


def main():
    build = sys.argv[1]
    libraries(os.path.join(build, 'bin', 'mslc'))
    objects(os.path.join(build, 'bin', 'mslc'))
    captures(build)
    pages()
    archives()
    arrays()
    tensors()
    pictures()
    networks()
    children()
    apple()
    words()


if __name__ == '__main__':
    main()
