// Kernels that want what is not theirs: memory, by every way to an address there is.

// ---- pointers
// ==== checked: reported, plain: lives
kernel void load_secret(ARGS) { out[i] = *(device ulong *)w.secret; }
// ==== checked: reported, plain: lives
kernel void store_secret(ARGS) { *(device ulong *)w.secret = i; }
// ==== checked: reported, plain: fault
kernel void load_hole(ARGS) { out[i] = *(device ulong *)w.hole; }
// ==== checked: reported, plain: fault
kernel void store_hole(ARGS) { *(device ulong *)w.hole = i; }
// ==== checked: reported, plain: fault
kernel void null_pointer(ARGS) { out[i] = *((device ulong *)scratch[64] + i); }
// ==== checked: reported, plain: lives
kernel void through_thread(ARGS) { out[i] = *(thread ulong *)w.secret; }
// ==== checked: reported, plain: lives
kernel void store_through_thread(ARGS) { *(thread ulong *)w.secret = 1; }
// ==== checked: reported, plain: lives
kernel void through_threadgroup(ARGS) { out[i] = *(threadgroup ulong *)w.secret; }
// ==== checked: reported, plain: lives
kernel void through_constant(ARGS) { out[i] = *(constant ulong *)w.secret; }
// ==== checked: reported, plain: lives
kernel void by_difference(ARGS) { out[i] = out[((long)w.secret - (long)(ulong)out) / 8]; }
// ==== checked: reported, plain: lives
kernel void store_by_difference(ARGS) { scratch[((long)w.secret - (long)(ulong)scratch) / 8] = i; }
// ==== checked: reported, plain: lives
kernel void one_byte(ARGS) { ((device uchar *)out)[i] = ((device uchar *)w.secret)[i]; }
// ==== checked: reported, plain: lives
kernel void vectors(ARGS) { ((device ulong4 *)out)[i] = ((device ulong4 *)w.secret)[i & 3]; }
// ==== checked: reported, plain: lives
kernel void not_aligned(ARGS) { ((device packed_uint2 *)out)[i] = *(device packed_uint2 *)(w.secret + 1); }
// ==== checked: reported, plain: lives
kernel void volatile_load(ARGS) { out[i] = *(volatile device ulong *)w.secret; }
// ==== checked: reported, plain: lives
kernel void per_thread(ARGS) { out[i] = *(device ulong *)(i & 1 ? w.secret : w.scratch); }
// ==== checked: reported, plain: lives
kernel void chained(ARGS) {
    scratch[0] = w.secret;
    device ulong *device *p = (device ulong *device *)w.scratch;
    out[i] = **p;
}
// ==== checked: reported, plain: lives
kernel void ends_inside(ARGS) { // begins in a buffer, ends behind it
    struct Wide { ulong v[8]; };
    *(device Wide *)(out + 8 * (i & 7)) = *(device Wide *)(w.scratch + (1 << 16) - 8);
}
// ==== checked: reported, plain: lives
kernel void of_a_buffer_that_is_gone(ARGS) { out[i] = *(device ulong *)w.dead_buffer; }
// ==== checked: reported, plain: lives
kernel void library_of_the_process(ARGS) { out[i] = *(device ulong *)w.self; }

// ---- addresses that the compiler believes
struct Fixed { device ulong *p; };
constant Fixed fixed[2] = {{(device ulong *)0x10000ul}, {(device ulong *)0x20000ul}};
// ==== checked: reported, plain: fault
kernel void constant_pointers(ARGS) { out[i] = *fixed[i & 1].p; }
// ==== checked: reported, plain: fault
kernel void store_to_constant_pointers(ARGS) { fixed[i & 1].p[i] = 1; }
constant ulong one_table[4] = {1, 2, 3, 4};
constant ulong other_table[4] = {5, 6, 7, 8};
struct Tables { constant ulong *t; };
constant Tables tables[2] = {{one_table}, {other_table}};
// ==== checked: reported, plain: lives
kernel void behind_constants(ARGS) { out[i] = tables[i & 1].t[(w.secret - (ulong)one_table) / 8]; }
// ==== checked: reported, plain: lives
kernel void behind_a_table_of_constants(ARGS) { out[i] = *tables[(w.secret - (ulong)one_table) / 8].t; }
// ==== checked: reported, plain: lives
kernel void table_that_a_switch_is(ARGS) {
    constant ulong *t = one_table;
    switch (scratch[64] + i % 5) {
    case 0: t = other_table; break;
    case 1: t = other_table + 1; break;
    case 2: t = one_table + 2; break;
    case 3: t = other_table + 3; break;
    }
    out[i] = t[(w.secret - (ulong)t) / 8];
}
// ==== checked: kept, plain: kept
kernel void inside_constants(ARGS) { out[i] = tables[i & 1].t[i & 3]; }
// ==== checked: reported, plain: lives
kernel void one_of_many(ARGS) {
    ulong a[4] = {i, 1, 2, 3}, b[4] = {1, 2, 3, 4}, c[2] = {1, i}, d[2] = {i, 2}, e[8] = {};
    thread ulong *p = a + (i & 1);
    if (scratch[64] == 1) p = b;
    if (scratch[64] == 2) p = c;
    if (scratch[64] == 3) p = d;
    if (scratch[64] == 4) p = e;
    if (scratch[64] == 0) p = (thread ulong *)w.secret;
    *p = 77;
    out[i] = *p + a[i & 3] + b[i & 3] + c[i & 1] + d[i & 1] + e[i & 7];
}
// ==== checked: reported, plain: lives
kernel void in_a_loop(ARGS) {
    ulong a[8] = {i};
    thread ulong *p = a;
    for (uint k = 0; k < 3 + (i & 1); k++) {
        *p += k;
        p = k == 1 ? (thread ulong *)w.secret : a + k;
    }
    out[i] = a[i & 7] + *p;
}
// ==== checked: reported, plain: lives
kernel void out_of_a_switch(ARGS) {
    thread ulong mine[2] = {i, 3};
    thread ulong *p;
    switch (scratch[64] + i % 6) {
    case 0: p = mine; break;
    case 1: p = mine + 1; break;
    case 2: p = (thread ulong *)w.secret; break;
    case 3: p = (thread ulong *)(w.secret + 8); break;
    case 4: p = (thread ulong *)(w.secret + 256); break;
    default: p = (thread ulong *)(w.secret + 512);
    }
    out[i] = *p;
}
// ==== checked: kept, plain: lives
kernel void no_pointer_at_all(ARGS) {
    device ulong *p;
    if (scratch[64]) p = out;
    p[i] = i;
}
// ==== checked: reported, plain: lives
kernel void swapped_in_memory(ARGS) { // an address is read, changed by another thread, read again
    device atomic_ulong *place = (device atomic_ulong *)(scratch + 100);
    atomic_max_explicit(place, i & 1 ? w.secret : w.scratch, memory_order_relaxed);
    out[i] = *(device ulong *)*(device ulong *)place;
}

// ---- arrays
// ==== checked: reported, plain: lives
kernel void behind_out(ARGS) { out[i + 512 + (1ul << 40)] = i; }
// ==== checked: reported, plain: lives
kernel void before_out(ARGS) { out[(int)i - (1 << 28)] = i; }
// ==== checked: reported, plain: lives
kernel void behind_a_variable(ARGS) {
    ulong a[4] = {i, 1, 2, 3};
    a[scratch[64] + 100000 + i] = 5;
    out[i] = a[i & 3];
}
// ==== checked: reported, plain: lives
kernel void before_a_variable(ARGS) {
    ulong a[4] = {i, 1, 2, 3};
    out[i] = a[(long)scratch[64] - 64 - (long)i] & 1;
}
// ==== checked: reported, plain: lives
kernel void over_the_stack(ARGS) {
    ulong a[4] = {i, 1, 2, 3};
    for (uint k = 0; k < 4096 + (uint)scratch[64]; k++) a[k] = 0x4141414141414141;
    out[i] = a[i & 3];
}
// ==== checked: reported, plain: lives
kernel void behind_the_threadgroup(ARGS, threadgroup ulong *t [[threadgroup(0)]]) {
    t[128 + i + 100000] = i;
    out[i] = t[200 + i];
}
// ==== checked: reported, plain: lives
kernel void behind_a_threadgroup_variable(ARGS) {
    threadgroup ulong t[16];
    t[i + 100000] = i;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    out[i] = t[i & 15];
}
// ==== checked: reported, plain: lives
kernel void behind_a_constant(ARGS) { out[i] = one_table[i + 100000] & 1; }

// ---- other operations
// ==== checked: reported, plain: lives
kernel void add_to_secret(ARGS) {
    atomic_fetch_add_explicit((device atomic_uint *)w.secret, 1u, memory_order_relaxed);
}
// ==== checked: reported, plain: lives
kernel void exchange_with_secret(ARGS) {
    uint old = 0;
    while (!atomic_compare_exchange_weak_explicit((device atomic_uint *)w.secret, &old, 1u,
                                                  memory_order_relaxed, memory_order_relaxed)) {}
    out[i] = old;
}
// ==== checked: reported, plain: lives
kernel void wide_atomic(ARGS) {
    atomic_max_explicit((device atomic_ulong *)w.secret, ~0ul, memory_order_relaxed);
}
struct Block { ulong v[24]; };
// ==== checked: reported, plain: lives
kernel void copy_from_secret(ARGS) { *(device Block *)scratch = *(device Block *)w.secret; out[i] = scratch[3]; }
// ==== checked: reported, plain: lives
kernel void copy_to_secret(ARGS) { *(device Block *)w.secret = *(device Block *)scratch; }
// ==== checked: reported, plain: lives
kernel void matrix_of_secret(ARGS) {
    simdgroup_float8x8 m;
    simdgroup_load(m, (device float *)w.secret, 8);
    simdgroup_store(m, (device float *)out, 8);
}
// ==== checked: reported, plain: lives
kernel void matrix_to_secret(ARGS) {
    simdgroup_float8x8 m = simdgroup_float8x8(1.0f);
    simdgroup_store(m, (device float *)w.secret, 8);
}
// ==== checked: reported, plain: lives
kernel void stride_of_a_matrix(ARGS) {
    simdgroup_float8x8 m;
    simdgroup_load(m, (device float *)scratch, (w.secret - w.scratch) / 4 / 7);
    simdgroup_store(m, (device float *)out, 8);
}
// ==== checked: reported, plain: lives
kernel void matrix_behind_the_threadgroup(ARGS, threadgroup float *t [[threadgroup(0)]]) {
    simdgroup_float8x8 m = simdgroup_float8x8(2.0f);
    simdgroup_store(m, t, 1 << 20);
    out[i] = 0;
}
// ==== checked: kept, plain: kept
kernel void divisions(ARGS) {
    int least = -2147483647 - 1 + (int)scratch[64], minus = -1 - (int)scratch[64];
    out[i] = (ulong)(least / minus) + (ulong)(least % minus) + (ulong)(5 / (int)scratch[64]) +
             (ulong)(5ul % scratch[64]) + (ulong)((short)(1 << 31) / (short)scratch[64]);
}
// ==== checked: fault, plain: fault
kernel void forever(ARGS) {
    while (scratch[64] == 0) scratch[65 + i] += i;
}
// ==== checked: kept, plain: kept
kernel void forever_without_memory(ARGS) {
    uint x = i;
    while (x != 0xffffffffu || scratch[64] == 0) x = x * 747796405u + 2891336453u;
    out[i] = x;
}

// ---- handles as if they were memory
// ==== checked: reported, plain: none
kernel void record_of_the_texture(ARGS, texture2d<float> t [[texture(0)]]) {
    out[i] = ((device ulong *)handle(t))[7];
    ((device ulong *)handle(t))[7] = w.secret;
    out[i + 64] = t.read(uint2(i & 3, 0)).x;
}
// ==== checked: reported, plain: lives
kernel void far_from_the_texture(ARGS, texture2d<float> t [[texture(0)]]) {
    out[i] = *(device ulong *)(handle(t) + (w.secret - w.texture));
}
// ==== checked: reported, plain: none
kernel void record_of_the_sampler(ARGS, sampler s [[sampler(0)]]) { *(device ulong *)handle(s) = ~0ul; }
// ==== checked: reported, plain: none
kernel void record_by_its_id(ARGS) { *((device ulong *)w.texture + 7) = w.secret; }
// ==== checked: reported, plain: none
kernel void record_of_a_tensor(ARGS) { *(device ulong *)w.tensor = w.secret; }
// ==== checked: reported, plain: none
kernel void record_of_a_sampler(ARGS) { *(device ulong *)w.sampler = w.secret; }
// ==== checked: reported, plain: none
kernel void inside_of_a_structure(ARGS) { *(device ulong *)w.structure = w.secret; out[i] = *(device ulong *)w.structure; }
