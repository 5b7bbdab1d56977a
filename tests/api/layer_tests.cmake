# Programs of this folder that break rules of the debug layer, too, and look at what it says.
set(API_LAYER argument blit counters fence indirect indirect_render library link_tables metal4_commands mipmaps objects pvrtc
    render render_parallel stage_in texture texture_kernels texture_view tiles validation)
