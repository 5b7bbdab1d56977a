// Handles that stand for nothing the encoder knows: forged, of objects that are gone, of objects of
// another kind, or made of bits.

using Read = texture2d<float, access::read>;
using Write = texture2d<float, access::write>;
using Sampled = texture2d<float>;
struct Bound { ulong fake; };

// ---- a copied record with another data pointer
// ==== checked: reported, plain: lives
kernel void read_forged(ARGS) { ((device float4 *)out)[i] = as<Read>(w.fake_texture).read(uint2(i & 3, 0)); }
// ==== checked: reported, plain: lives
kernel void write_forged(ARGS) { as<Write>(w.fake_texture).write(float4(i), uint2(i & 3, 0)); }
// ==== checked: reported, plain: lives
kernel void sample_forged(ARGS) {
    constexpr sampler s(filter::nearest);
    ((device float4 *)out)[i] = as<Sampled>(w.fake_texture).sample(s, float2(0.1, 0.1), level(0));
}
// ==== checked: reported, plain: lives
kernel void gather_forged(ARGS) {
    constexpr sampler s;
    ((device float4 *)out)[i] = as<Sampled>(w.fake_texture).gather(s, float2(0.1, 0.1));
}
// ==== checked: reported, plain: lives
kernel void atomic_forged(ARGS) {
    as<texture2d<uint, access::read_write>>(w.fake_texture).atomic_fetch_add(uint2(0, 0), uint4(1));
}
// ==== checked: reported, plain: lives
kernel void compare_forged(ARGS) {
    constexpr sampler s(compare_func::less);
    ((device float *)out)[i] = as<depth2d<float>>(w.fake_texture).sample_compare(s, float2(0.1), 0.5f);
}
// ==== checked: kept, plain: lives
kernel void size_of_forged(ARGS) {
    Read t = as<Read>(w.fake_texture + 40); // where the data pointer would be the width
    out[i] = t.get_width() | (ulong)t.get_height() << 32;
    if (out[i] & 0xff) out[i] = out[i] + 1;
}
// ==== checked: kept, plain: lives
kernel void size_of_secret(ARGS) { Read t = as<Read>(w.secret); out[i] = t.get_width() | (ulong)t.get_height() << 32; }
// ==== checked: kept, plain: fault
kernel void size_of_hole(ARGS) { out[i] = as<Read>(w.hole).get_width(); }
// ==== checked: kept, plain: lives
kernel void levels_of_secret(ARGS) {
    texture2d_array<float> t = as<texture2d_array<float>>(w.secret);
    out[i] = t.get_num_mip_levels() | (ulong)t.get_array_size() << 32;
}
// ==== checked: kept, plain: lives
kernel void samples_of_secret(ARGS) { out[i] = as<texture2d_ms<float>>(w.secret).get_num_samples(); }
// ==== checked: reported, plain: fault
kernel void read_hole(ARGS) { ((device float4 *)out)[i] = as<Read>(w.hole).read(uint2(i, 0)); }
// ==== checked: reported, plain: lives
kernel void read_secret(ARGS) { ((device float4 *)out)[i] = as<Read>(w.secret).read(uint2(i, 0)); }
// ==== checked: reported, plain: lives
kernel void read_scratch(ARGS) { ((device float4 *)out)[i] = as<Read>(w.scratch + 4096).read(uint2(i, 0)); }
// ==== checked: reported, plain: lives
kernel void built_by_the_kernel(ARGS) { // a record that the kernel writes itself
    for (uint k = 0; k < 90; k++) scratch[1024 + k] = scratch[k];
    ((device float4 *)out)[i] = as<Read>(w.scratch + 8192).read(uint2(i & 3, 0));
}
// ==== checked: reported, plain: lives
kernel void some_are_forged(ARGS) {
    ((device float4 *)out)[i] = as<Read>(i & 1 ? w.fake_texture : w.texture).read(uint2(i & 3, 0));
}
// ==== checked: reported, plain: lives
kernel void each_another(ARGS) { ((device float4 *)out)[i] = as<Read>(w.fake_texture + 8 * i).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void in_an_array(ARGS) {
    scratch[128] = w.texture, scratch[129] = w.fake_texture;
    threadgroup_barrier(mem_flags::mem_device);
    device const array<Read, 2> &a = *(device const array<Read, 2> *)(scratch + 128);
    ((device float4 *)out)[i] = a[i & 1].read(uint2(i & 3, 0));
}
// ==== checked: kept, plain: kept
kernel void good_ones(ARGS) { // what is no attack goes on as before
    constexpr sampler s;
    Sampled t = as<Sampled>(w.texture);
    ((device float4 *)out)[i] = t.sample(as<sampler>(w.sampler), float2(0.5), level(0)) + t.sample(s, float2(0.5), level(0));
    out[2 * i] = t.get_width() == 16 && as<tensor<device float, dextents<int, 2>>>(w.tensor).get_extent(0) == 16 ? 7 : 0x5ec4e75e;
    if (out[2 * i] != 7) out[2 * i] = 0x5ec4e75ec4e75ec4;
}

// ---- gone, or of another kind
// ==== checked: reported, plain: lives
kernel void read_dead(ARGS) { ((device float4 *)out)[i] = as<Read>(w.dead_texture).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void write_dead(ARGS) { as<Write>(w.dead_texture).write(float4(1), uint2(0, 0)); }
// ==== checked: kept, plain: lives
kernel void size_of_dead(ARGS) { out[i] = as<Read>(w.dead_texture).get_width(); }
// ==== checked: reported, plain: lives
kernel void tensor_as_texture(ARGS) { ((device float4 *)out)[i] = as<Read>(w.tensor).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void sampler_as_texture(ARGS) { ((device float4 *)out)[i] = as<Read>(w.sampler).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void structure_as_texture(ARGS) { ((device float4 *)out)[i] = as<Read>(w.structure).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void commands_as_texture(ARGS) { ((device float4 *)out)[i] = as<Read>(w.commands).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void inside_a_record(ARGS) { ((device float4 *)out)[i] = as<Read>(w.texture + 8).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void with_high_bits(ARGS) { ((device float4 *)out)[i] = as<Read>(w.texture | 1ul << 63).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void of_another_age(ARGS) { ((device float4 *)out)[i] = as<Read>(w.texture ^ 1ul << 50).read(uint2(0, 0)); }
// ==== checked: reported, plain: lives
kernel void pooled_without_pool(ARGS) { ((device float4 *)out)[i] = as<Read>(1ul << 62 | 5).read(uint2(0, 0)); }
// ==== checked: kept, plain: lives
kernel void size_of_pooled(ARGS) { out[i] = as<Read>(1ul << 62 | 99999).get_width(); }
// ==== checked: reported, plain: lives
kernel void asks_for_residency(ARGS) {
    out[i] = as<Sampled>(w.fake_texture).sparse_read(uint2(i & 3, 0)).resident();
}

// ---- of another type than the texture has
// ==== checked: kept, plain: kept
kernel void flat_as_deep(ARGS) { ((device float4 *)out)[i] = as<texture3d<float, access::read>>(w.texture).read(uint3(0, 0, 1000000 + i)); }
// ==== checked: kept, plain: kept
kernel void flat_as_array(ARGS) { ((device float4 *)out)[i] = as<texture2d_array<float, access::read>>(w.texture).read(uint2(0), 1000000 + i); }
// ==== checked: kept, plain: kept
kernel void flat_as_line(ARGS) { ((device float4 *)out)[i] = as<texture1d<float, access::read>>(w.texture).read(i + 1000000); }
// ==== checked: kept, plain: kept
kernel void flat_as_samples(ARGS) { ((device float4 *)out)[i] = as<texture2d_ms<float, access::read>>(w.texture).read(uint2(0), 1000000 + i); }
// ==== checked: kept, plain: kept
kernel void cube_as_flat(ARGS) {
    constexpr sampler s;
    ((device float4 *)out)[i] = as<Sampled>(w.cube).sample(s, float2(1e30, i), level(0));
}
// ==== checked: kept, plain: kept
kernel void flat_as_cube(ARGS) {
    constexpr sampler s;
    ((device float4 *)out)[i] = as<texturecube<float>>(w.texture).sample(s, float3(1e30, i, NAN), level(0));
}
// ==== checked: kept, plain: kept
kernel void texels_as_flat(ARGS) {
    constexpr sampler s;
    ((device float4 *)out)[i] = as<Sampled>(w.texels).sample(s, float2(i, i)) + as<Read>(w.texels).read(uint2(i, i + 100000));
}
// ==== checked: kept, plain: kept
kernel void deep_as_flat(ARGS) { as<Write>(w.deep).write(float4(1), uint2(0xffffffff, i)); }

// ---- coordinates
// ==== checked: kept, plain: kept
kernel void far_reads(ARGS, texture2d<float, access::read> t [[texture(0)]]) {
    ((device float4 *)out)[i] = t.read(uint2(0xffffffff - i, 0x80000000)) + t.read(uint2(0, 0), 0xffffffff) + t.read(uint2(16, 16));
}
// ==== checked: kept, plain: kept
kernel void far_writes(ARGS, texture2d<float, access::write> t [[texture(0)]]) {
    t.write(float4(1), uint2(0xffffffff - i, 0x80000000));
    t.write(float4(1), uint2(0, 0), 0xffffffff);
    t.write(float4(1), uint2(16, 0));
}
// ==== checked: kept, plain: kept
kernel void far_atomics(ARGS) {
    auto t = as<texture3d<uint, access::read_write>>(w.deep);
    out[i] = t.atomic_fetch_add(uint3(0xffffffff - i, 5, 1 << 30), uint4(1)).x;
}
// ==== checked: kept, plain: kept
kernel void far_texels(ARGS) {
    auto t = as<texture_buffer<uint, access::read>>(w.texels);
    out[i] = t.read(0xffffffff - i).x + t.read(16 + i).x;
}
// ==== checked: kept, plain: kept
kernel void odd_samples(ARGS, texture2d<float> t [[texture(0)]]) {
    constexpr sampler s(address::repeat, filter::linear);
    ((device float4 *)out)[i] = t.sample(s, float2(NAN, INFINITY), level(NAN)) + t.sample(s, float2(-1e38, 1e38), level(1e30)) +
        t.sample(s, float2(i), gradient2d(float2(INFINITY), float2(NAN)));
}

// ---- one of many, by the thread
static ulong any_of(device World &w, uint i) {
    ulong all[] = {w.texture, w.fake_texture, w.hole, w.dead_texture, w.secret, w.cube, w.sampler, w.texture ^ 1ul << 50};
    return all[i & 7];
}
// ==== checked: reported, plain: lives
kernel void read_any(ARGS) { ((device float4 *)out)[i] = as<Read>(any_of(w, i)).read(uint2(i & 3, 0)); }
// ==== checked: reported, plain: lives
kernel void write_any(ARGS) { if (i % 3) as<Write>(any_of(w, i * 5)).write(float4(i), uint2(i & 3, 0)); }
// ==== checked: reported, plain: lives
kernel void sample_any(ARGS) {
    for (uint k = 0; k < i % 9; k++) // each thread its own number of times
        ((device float4 *)out)[i] = as<Sampled>(any_of(w, i + k)).sample(as<sampler>(k & 1 ? w.sampler : w.dead_sampler), float2(0.1f * k), level(0));
}
// ==== checked: kept, plain: lives
kernel void size_of_any(ARGS) { out[i] = as<Read>(any_of(w, i ^ i >> 3)).get_width(); }

// ---- samplers
// ==== checked: kept, plain: lives
kernel void forged_sampler(ARGS, texture2d<float> t [[texture(0)]]) { ((device float4 *)out)[i] = t.sample(as<sampler>(w.fake_sampler), float2(i, 9), level(0)); }
// ==== checked: kept, plain: fault
kernel void sampler_of_hole(ARGS, texture2d<float> t [[texture(0)]]) { ((device float4 *)out)[i] = t.sample(as<sampler>(w.hole), float2(i, 9), level(0)); }
// ==== checked: kept, plain: lives
kernel void dead_sampler(ARGS, texture2d<float> t [[texture(0)]]) { ((device float4 *)out)[i] = t.sample(as<sampler>(w.dead_sampler), float2(i, 9), level(0)); }
// ==== checked: kept, plain: kept
kernel void sampler_of_bits(ARGS, texture2d<float> t [[texture(0)]]) {
    ulong bits = (i * 0x9e3779b97f4a7c15ul) | 1;
    ((device float4 *)out)[i] = t.sample(as<sampler>(bits), float2(i, -1e9), gradient2d(float2(3, i), float2(i, 5)));
}

// ---- tensors
using T = tensor<device float, dextents<int, 2>>;
// ==== checked: kept, plain: lives
kernel void extent_of_forged(ARGS) { out[i] = (ulong)as<tensor<device float, dextents<long, 2>>>(w.fake_tensor).get_extent(0); }
// ==== checked: kept, plain: lives
kernel void extent_of_secret(ARGS) { out[i] = (ulong)as<tensor<device float, dextents<long, 2>>>(w.secret).get_extent(0); }
// ==== checked: kept, plain: fault
kernel void extent_of_hole(ARGS) { out[i] = (ulong)as<T>(w.hole).get_extent(1); }
// ==== checked: kept, plain: lives
kernel void stride_of_secret(ARGS) { out[i] = (ulong)as<tensor<device float, dextents<long, 2>>>(w.secret).get_stride(1); }
// ==== checked: reported, plain: lives
kernel void load_forged_tensor(ARGS) { ((device float *)out)[i] = as<T>(w.fake_tensor)[i & 7, 0]; }
// ==== checked: reported, plain: lives
kernel void store_forged_tensor(ARGS) { as<T>(w.fake_tensor)[i & 7, 0] = 1; }
// ==== checked: reported, plain: lives
kernel void dead_tensor(ARGS) { ((device float *)out)[i] = as<T>(w.dead_tensor)[0, 0]; }
// ==== checked: reported, plain: lives
kernel void texture_as_tensor(ARGS) { ((device float *)out)[i] = as<T>(w.texture)[i & 7, 0]; }
// ==== checked: reported, plain: lives
kernel void behind_a_tensor(ARGS) { ((device float *)out)[i] = as<T>(w.tensor)[1000000 + (int)i, 100000]; }
// ==== checked: reported, plain: lives
kernel void slice_of_forged(ARGS) { auto s = as<T>(w.fake_tensor).slice(1, 1); ((device float *)out)[i] = s[0, 0]; }
// ==== checked: reported, plain: lives
kernel void tensor_over_secret(ARGS) {
    tensor<device float, dextents<int, 2>, tensor_inline> t((device float *)w.secret, dextents<int, 2>(4, 4));
    ((device float *)out)[i] = t[i & 3, 1];
}
// ==== checked: reported, plain: lives
kernel void tensor_too_large(ARGS) {
    tensor<device float, dextents<int, 2>, tensor_inline> t((device float *)scratch, dextents<int, 2>(1 << 20, 1 << 10));
    t[(1 << 20) - 1, 1000] = i;
}

// ---- acceleration structures
using namespace raytracing;
using Structure = acceleration_structure<>;
// ==== checked: reported, plain: none
kernel void forged_structure(ARGS) {
    intersector<> in;
    out[i] = (ulong)in.intersect(ray(float3(0), float3(0, 0, 1)), as<Structure>(w.fake_structure)).type;
}
// ==== checked: reported, plain: lives
kernel void structure_of_hole(ARGS) {
    intersector<> in;
    out[i] = (ulong)in.intersect(ray(float3(0), float3(0, 0, 1)), as<Structure>(w.hole)).type;
}
// ==== checked: reported, plain: none
kernel void structure_of_secret(ARGS) {
    intersection_query<> q(ray(float3(0), float3(0, 0, 1)), as<Structure>(w.secret));
    while (q.next()) out[i]++;
}
// ==== checked: kept, plain: kept
kernel void empty_structure(ARGS, acceleration_structure<> s [[buffer(3)]]) {
    intersector<> in;
    out[i] = (ulong)in.intersect(ray(float3(NAN), float3(INFINITY), NAN, -1), s).type + (ulong)in.intersect(ray(float3(0), float3(0)), as<Structure>(w.structure)).type;
}

// ---- tables of functions
using F = ulong(ulong);
// ==== checked: reported, plain: lives
kernel void forged_table(ARGS) { auto t = as<visible_function_table<F>>(w.fake_table); out[i] = t[i](i); }
// ==== checked: reported, plain: lives
kernel void table_of_secret(ARGS) { auto t = as<visible_function_table<F>>(w.secret); out[i] = t[i](i); }
// ==== checked: reported, plain: fault
kernel void table_of_hole(ARGS) { auto t = as<visible_function_table<F>>(w.hole); out[i] = t[i](i) + t.size(); }
// ==== checked: reported, plain: lives
kernel void size_of_a_table(ARGS) { out[i] = as<visible_function_table<F>>(w.secret).size(); }
// ==== checked: reported, plain: kept
kernel void function_of_bits(ARGS) { out[i] = ((F *)w.secret)(i); }

// ---- command buffers
struct Commands { command_buffer c; };
// ==== checked: reported, plain: lives
kernel void command_in_secret(ARGS) {
    compute_command c(as<command_buffer>(w.secret), i & 3);
    c.concurrent_dispatch_threads(uint3(1 << 30), uint3(1));
}
// ==== checked: reported, plain: lives
kernel void command_of_forged(ARGS) {
    compute_command c(as<command_buffer>(w.fake_commands), (uint)((w.secret - w.fake_commands) / 8));
    c.reset();
    c.set_kernel_buffer((device uint *)w.secret, 1 << 30);
}
// ==== checked: reported, plain: fault
kernel void command_of_hole(ARGS) { compute_command c(as<command_buffer>(w.hole), 0); c.set_barrier(); }
// ==== checked: kept, plain: kept
kernel void command_behind_the_last(ARGS) {
    compute_command c(as<command_buffer>(w.commands), 0xffffffff - i);
    c.concurrent_dispatch_threads(uint3(1), uint3(1));
    c.set_kernel_buffer((device uint *)w.secret, 0xffffffff);
}
// ==== checked: reported, plain: lives
kernel void copy_of_a_command(ARGS) {
    compute_command c(as<command_buffer>(w.commands), 0), from(as<command_buffer>(w.fake_commands), 7000 + i);
    *(device uint *)(w.commands + 4) = 1 << 12;
    c.copy_command(from);
    c.reset();
}

// ---- logs
// ==== checked: kept, plain: kept
kernel void text_of_secret(ARGS) { if (i == 0) os_log_default.log("%s", (constant char *)w.secret_text); }
// ==== checked: kept, plain: kept
kernel void text_of_hole(ARGS) { if (i == 0) os_log_default.log("%s %s", (constant char *)w.hole, (constant char *)1); }
// ==== checked: kept, plain: kept
kernel void text_of_a_buffer(ARGS) { if (i == 0) os_log_default.log("%s", (device char *)w.secret_text); }
// ==== checked: kept, plain: kept
kernel void format_of_secret(ARGS) { if (i == 0) os_log_default.log((constant char *)w.secret_text, 1, 2); }
// ==== checked: kept, plain: kept
kernel void format_of_hole(ARGS) { if (i == 0) os_log_default.log((constant char *)w.hole, 1, 2); }
// ==== checked: kept, plain: kept
kernel void name_of_secret(ARGS) { if (i == 0) ((constant os_log *)w.secret_text)->log("x"); }
// ==== checked: kept, plain: kept
kernel void more_than_was_given(ARGS) { if (i == 0) os_log_default.log("%s %s %n %999999d %v16f %*d", 1); }
