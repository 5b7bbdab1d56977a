#version 450
// SPDX-License-Identifier: Apache-2.0
// graphics.glsl: the functions of graphics.metal in GLSL; -D with the name of a function chooses it.
#if defined lit_v || defined lit_f
layout(push_constant) uniform Uniforms {
    mat4 matrix;
    vec4 light;
} u;
#endif
#ifdef lit_v
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
layout(location = 0) out vec3 normal_out;
void main() {
    gl_Position = u.matrix * vec4(place, 1);
    normal_out = normal;
}
#elif defined lit_f
layout(location = 0) in vec3 normal;
layout(location = 0) out vec4 color;
void main() {
    float d = max(dot(normalize(normal), u.light.xyz), 0.0);
    color = vec4(vec3(0.9, 0.7, 0.4) * (0.1 + 0.9 * d), 1);
}
#elif defined triangle_v
layout(location = 0) out vec3 color;
const vec2 at[3] = vec2[](vec2(0, -0.8), vec2(0.8, 0.8), vec2(-0.8, 0.8));
const vec3 colors[3] = vec3[](vec3(1, 0, 0), vec3(0, 1, 0), vec3(0, 0, 1));
void main() {
    gl_Position = vec4(at[gl_VertexIndex], 0.5, 1);
    color = colors[gl_VertexIndex];
}
#elif defined triangle_f
layout(location = 0) in vec3 color;
layout(location = 0) out vec4 result;
void main() { result = vec4(color, 1); }
#elif defined quad_v
layout(location = 0) in vec2 place;
layout(location = 1) in vec2 uv;
layout(location = 0) out vec2 uv_out;
void main() {
    gl_Position = vec4(place, 0.5, 1);
    uv_out = uv;
}
#elif defined quad_f
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
layout(set = 0, binding = 0) uniform sampler2D t;
void main() { color = texture(t, uv); }
#elif defined steps_v
layout(location = 0) out vec2 uv;
void main() {
    uv = vec2((gl_VertexIndex << 1) & 2, gl_VertexIndex & 2);
    gl_Position = vec4(uv * 2.0 - 1.0, 0.5, 1);
}
#elif defined steps_f
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 color;
void main() {
    vec2 c = vec2(uv.x * 3.0 - 2.1, uv.y * 2.4 - 1.2);
    float zx = 0.0, zy = 0.0;
    for (int i = 0; i < 64; i++) {
        float nx = zx * zx - zy * zy + c.x;
        zy = clamp(2.0 * zx * zy + c.y, -2.0, 2.0);
        zx = clamp(nx, -2.0, 2.0);
    }
    color = vec4(abs(zx) * 0.5, abs(zy) * 0.5, zx * zx * 0.25, 1);
}
#endif
