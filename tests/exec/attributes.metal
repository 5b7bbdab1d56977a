// Every thread-position attribute, as scalar and vector, of uint and ushort, in full and cut threadgroups.
#include <metal_stdlib>
using namespace metal;

// run: positions grid=100,9,3 group=16,4,2
// arg 0 = np.zeros((n, 12), u32)
// expect 0 = np.stack([gx, gy, gz, lx, ly, lz, tx, ty, tz, sx, sy, sz], 1)
// run: positions grid=64,8,1 group=32,8,1
// arg 0 = np.zeros((n, 12), u32)
// expect 0 = np.stack([gx, gy, gz, lx, ly, lz, tx, ty, tz, sx, sy, sz], 1)
// run: positions grid=33,20,5 group=7,3,2
// arg 0 = np.zeros((n, 12), u32)
// expect 0 = np.stack([gx, gy, gz, lx, ly, lz, tx, ty, tz, sx, sy, sz], 1)
// run: positions grid=1,50,1 group=1,64,1
// arg 0 = np.zeros((n, 12), u32)
// expect 0 = np.stack([gx, gy, gz, lx, ly, lz, tx, ty, tz, sx, sy, sz], 1)
kernel void positions(device uint *out [[buffer(0)]], uint3 g [[thread_position_in_grid]], uint3 l [[thread_position_in_threadgroup]],
                      uint3 t [[threadgroup_position_in_grid]], uint3 s [[threads_per_threadgroup]], uint3 all [[threads_per_grid]]) {
    device uint *o = out + 12 * (g.x + all.x * (g.y + all.y * g.z));
    o[0] = g.x, o[1] = g.y, o[2] = g.z, o[3] = l.x, o[4] = l.y, o[5] = l.z;
    o[6] = t.x, o[7] = t.y, o[8] = t.z, o[9] = s.x, o[10] = s.y, o[11] = s.z;
}

// run: shorts grid=50,6,2 group=8,4,1
// arg 0 = np.zeros((n, 8), u16)
// expect 0 = np.stack([gx, gy, gz, lx, ly, tx, sx, li], 1)
kernel void shorts(device ushort *out [[buffer(0)]], ushort3 g [[thread_position_in_grid]], ushort3 l [[thread_position_in_threadgroup]],
                   ushort t [[threadgroup_position_in_grid]], ushort3 s [[threads_per_threadgroup]],
                   ushort i [[thread_index_in_threadgroup]], ushort3 all [[threads_per_grid]]) {
    device ushort *o = out + 8 * (g.x + all.x * (g.y + all.y * g.z));
    o[0] = g.x, o[1] = g.y, o[2] = g.z, o[3] = l.x, o[4] = l.y, o[5] = t, o[6] = s.x, o[7] = i;
}

// run: groups grid=100,5 group=20,3
// arg 0 = np.zeros((n, 15), u32)
// expect 0 = np.stack([li, lane, simd, gx*0+32, gx*0+32, -(-sx*sy//32), gx*0+2, li % 4, li // 4, -(-sx*sy//4), gx*0+15, gx*0+20, gx*0+3, gx*0+5, gx*0+2], 1)
// run: groups grid=77,2 group=64,1
// arg 0 = np.zeros((n, 15), u32)
// expect 0 = np.stack([li, lane, simd, gx*0+32, gx*0+32, -(-sx*sy//32), gx*0+2, li % 4, li // 4, -(-sx*sy//4), gx*0+16, gx*0+64, gx*0+1, gx*0+2, gx*0+2], 1)
kernel void groups(device uint *out [[buffer(0)]], uint2 g [[thread_position_in_grid]], uint2 all [[threads_per_grid]],
                   uint i [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]],
                   uint per [[threads_per_simdgroup]], uint width [[thread_execution_width]], uint simds [[simdgroups_per_threadgroup]],
                   uint dsimds [[dispatch_simdgroups_per_threadgroup]], uint q [[thread_index_in_quadgroup]],
                   uint qi [[quadgroup_index_in_threadgroup]], uint qs [[quadgroups_per_threadgroup]],
                   uint dqs [[dispatch_quadgroups_per_threadgroup]], uint2 d [[dispatch_threads_per_threadgroup]],
                   uint2 n [[threadgroups_per_grid]]) {
    device uint *o = out + 15 * (g.x + all.x * g.y);
    o[0] = i, o[1] = lane, o[2] = simd, o[3] = per, o[4] = width, o[5] = simds, o[6] = dsimds, o[7] = q, o[8] = qi, o[9] = qs;
    o[10] = dqs, o[11] = d.x, o[12] = d.y, o[13] = n.x, o[14] = n.y;
}

// run: scalar_attributes grid=130 group=48
// arg 0 = np.zeros((n, 4), u32)
// expect 0 = np.stack([gx, gx * 0, gx * 0 + 130, gx * 0 + 130], 1)
kernel void scalar_attributes(device uint *out [[buffer(0)]], uint g [[thread_position_in_grid]], uint origin [[grid_origin]],
                              uint size [[grid_size]], ushort n [[threads_per_grid]]) {
    out[4 * g] = g, out[4 * g + 1] = origin, out[4 * g + 2] = size, out[4 * g + 3] = n;
}
