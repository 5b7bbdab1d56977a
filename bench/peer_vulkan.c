// SPDX-License-Identifier: Apache-2.0
// peer_vulkan.c: the scenes of graphics_scenes.h through Vulkan 1.3 (dynamic rendering), for the
// driver that VK_ICD_FILENAMES names: lavapipe, for scripts/bench, which builds this file and makes
// SPIR-V of graphics.glsl. A frame is a submission of a command buffer that was recorded once, and
// the wait for its fence.
//
//     peer_vulkan SPIRV-FOLDER SCENE [SECONDS] [PICTURE.png]
#include <stdio.h>
#include <stdlib.h>
#include <vulkan/vulkan.h>
#include "../examples/png.h"
#include "graphics_scenes.h"

typedef struct Image {
    VkImage image;
    VkImageView view;
} Image;
typedef struct Buffer {
    VkBuffer buffer;
    void *at;
} Buffer;

typedef struct Peer {
    const Scene *scene;
    SceneData data;
    const char *folder;
    VkPhysicalDevice physical;
    VkPhysicalDeviceMemoryProperties memory;
    VkDevice device;
    VkQueue queue;
    VkCommandPool pool;
    VkFence fence;
    VkCommandBuffer commands;
    VkDescriptorSetLayout set_layout;
    VkDescriptorSet set;
    VkPipelineLayout layout;
    VkPipeline pipeline;
    Image color, resolved, depth, texture;
    Buffer vertices, indices;
} Peer;

static void check(VkResult result, const char *what) {
    if (result == VK_SUCCESS) return;
    fprintf(stderr, "%s: Vulkan error %d\n", what, (int)result);
    exit(1);
}

static void open_device(Peer *p) {
    VkInstance instance;
    VkApplicationInfo app = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                             .apiVersion = VK_API_VERSION_1_3};
    check(vkCreateInstance(&(VkInstanceCreateInfo){.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                                   .pApplicationInfo = &app},
                           NULL, &instance),
          "instance");
    uint32_t n = 1;
    VkResult found = vkEnumeratePhysicalDevices(instance, &n, &p->physical);
    if (!n || found < 0) check(VK_ERROR_INITIALIZATION_FAILED, "no device");
    vkGetPhysicalDeviceMemoryProperties(p->physical, &p->memory);
    VkPhysicalDeviceProperties properties;
    vkGetPhysicalDeviceProperties(p->physical, &properties);
    fprintf(stderr, "%s\n", properties.deviceName);
    float priority = 1;
    VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                     .queueCount = 1,
                                     .pQueuePriorities = &priority};
    VkPhysicalDeviceVulkan13Features features = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES, .dynamicRendering = true};
    check(vkCreateDevice(p->physical,
                         &(VkDeviceCreateInfo){.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                               .pNext = &features,
                                               .queueCreateInfoCount = 1,
                                               .pQueueCreateInfos = &queue},
                         NULL, &p->device),
          "device");
    vkGetDeviceQueue(p->device, 0, 0, &p->queue);
    VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    check(vkCreateCommandPool(p->device, &pool, NULL, &p->pool), "command pool");
    check(vkCreateFence(p->device, &fence, NULL, &p->fence), "fence");
}

static VkDeviceMemory allocate(const Peer *p, VkMemoryRequirements need, VkMemoryPropertyFlags of) {
    VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                 .allocationSize = need.size};
    uint32_t i = 0;
    while (i < p->memory.memoryTypeCount &&
           !((need.memoryTypeBits >> i & 1) && (p->memory.memoryTypes[i].propertyFlags & of) == of))
        i++;
    info.memoryTypeIndex = i;
    VkDeviceMemory memory;
    check(vkAllocateMemory(p->device, &info, NULL, &memory), "memory");
    return memory;
}

static Buffer make_buffer(const Peer *p, VkDeviceSize n_bytes, VkBufferUsageFlags usage) {
    Buffer b;
    VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO, .size = n_bytes, .usage = usage};
    check(vkCreateBuffer(p->device, &info, NULL, &b.buffer), "buffer");
    VkMemoryRequirements need;
    vkGetBufferMemoryRequirements(p->device, b.buffer, &need);
    VkDeviceMemory memory = allocate(
        p, need, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT);
    check(vkBindBufferMemory(p->device, b.buffer, memory, 0), "buffer");
    check(vkMapMemory(p->device, memory, 0, VK_WHOLE_SIZE, 0, &b.at), "buffer");
    return b;
}

static Image make_image(const Peer *p, uint32_t width, uint32_t height, VkFormat format,
                        uint32_t levels, uint32_t samples, VkImageUsageFlags usage) {
    Image i;
    VkImageAspectFlags aspect =
        format == VK_FORMAT_D32_SFLOAT ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT;
    VkImageCreateInfo info = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                              .imageType = VK_IMAGE_TYPE_2D,
                              .format = format,
                              .extent = {width, height, 1},
                              .mipLevels = levels,
                              .arrayLayers = 1,
                              .samples = (VkSampleCountFlagBits)samples,
                              .usage = usage};
    check(vkCreateImage(p->device, &info, NULL, &i.image), "image");
    VkMemoryRequirements need;
    vkGetImageMemoryRequirements(p->device, i.image, &need);
    check(vkBindImageMemory(p->device, i.image,
                            allocate(p, need, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT), 0),
          "image");
    VkImageViewCreateInfo view = {.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
                                  .image = i.image,
                                  .viewType = VK_IMAGE_VIEW_TYPE_2D,
                                  .format = format,
                                  .subresourceRange = {aspect, 0, levels, 0, 1}};
    check(vkCreateImageView(p->device, &view, NULL, &i.view), "image view");
    return i;
}

static VkCommandBuffer begin(const Peer *p) {
    VkCommandBuffer commands;
    VkCommandBufferAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                        .commandPool = p->pool,
                                        .commandBufferCount = 1};
    VkCommandBufferBeginInfo how = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    check(vkAllocateCommandBuffers(p->device, &info, &commands), "command buffer");
    check(vkBeginCommandBuffer(commands, &how), "command buffer");
    return commands;
}

static void submit(const Peer *p, VkCommandBuffer commands) {
    VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                         .commandBufferCount = 1,
                         .pCommandBuffers = &commands};
    check(vkResetFences(p->device, 1, &p->fence), "fence");
    check(vkQueueSubmit(p->queue, 1, &info, p->fence), "submit");
    check(vkWaitForFences(p->device, 1, &p->fence, true, UINT64_MAX), "wait");
}

// All images stay in the general layout, which costs nothing on a CPU.
static void to_general(VkCommandBuffer commands, VkImage image, VkImageAspectFlags aspect) {
    VkImageMemoryBarrier barrier = {.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
                                    .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
                                    .dstAccessMask =
                                        VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
                                    .newLayout = VK_IMAGE_LAYOUT_GENERAL,
                                    .srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
                                    .image = image,
                                    .subresourceRange = {aspect, 0, VK_REMAINING_MIP_LEVELS, 0, 1}};
    vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                         VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1, &barrier);
}

static void make_texture(Peer *p) {
    const SceneData *d = &p->data;
    p->texture = make_image(p, SCENE_TEXTURE, SCENE_TEXTURE, VK_FORMAT_R8G8B8A8_UNORM, SCENE_LEVELS,
                            1, VK_IMAGE_USAGE_SAMPLED_BIT | VK_IMAGE_USAGE_TRANSFER_DST_BIT);
    Buffer staging = make_buffer(p, d->n_texel_bytes, VK_BUFFER_USAGE_TRANSFER_SRC_BIT);
    memcpy(staging.at, d->texels, d->n_texel_bytes);
    VkBufferImageCopy copies[SCENE_LEVELS];
    VkDeviceSize at = 0;
    for (uint32_t level = 0, n = SCENE_TEXTURE; n; level++, n /= 2) {
        copies[level] =
            (VkBufferImageCopy){.bufferOffset = at,
                                .imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, level, 0, 1},
                                .imageExtent = {n, n, 1}};
        at += (VkDeviceSize)n * n * 4;
    }
    VkCommandBuffer commands = begin(p);
    to_general(commands, p->texture.image, VK_IMAGE_ASPECT_COLOR_BIT);
    vkCmdCopyBufferToImage(commands, staging.buffer, p->texture.image, VK_IMAGE_LAYOUT_GENERAL,
                           SCENE_LEVELS, copies);
    check(vkEndCommandBuffer(commands), "texture");
    submit(p, commands);

    bool nearest = p->scene->nearest;
    VkFilter filter = nearest ? VK_FILTER_NEAREST : VK_FILTER_LINEAR;
    VkSamplerCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
                                .magFilter = filter,
                                .minFilter = filter,
                                .mipmapMode = nearest ? VK_SAMPLER_MIPMAP_MODE_NEAREST
                                                      : VK_SAMPLER_MIPMAP_MODE_LINEAR,
                                .maxLod = nearest ? 0 : VK_LOD_CLAMP_NONE};
    VkSampler sampler;
    check(vkCreateSampler(p->device, &info, NULL, &sampler), "sampler");
    VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1};
    VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                       .maxSets = 1,
                                       .poolSizeCount = 1,
                                       .pPoolSizes = &size};
    VkDescriptorPool sets;
    check(vkCreateDescriptorPool(p->device, &pool, NULL, &sets), "descriptors");
    VkDescriptorSetAllocateInfo one = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                       .descriptorPool = sets,
                                       .descriptorSetCount = 1,
                                       .pSetLayouts = &p->set_layout};
    check(vkAllocateDescriptorSets(p->device, &one, &p->set), "descriptors");
    VkDescriptorImageInfo image = {sampler, p->texture.view, VK_IMAGE_LAYOUT_GENERAL};
    VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                  .dstSet = p->set,
                                  .descriptorCount = 1,
                                  .descriptorType = VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                  .pImageInfo = &image};
    vkUpdateDescriptorSets(p->device, 1, &write, 0, NULL);
}

static VkPipelineShaderStageCreateInfo stage(const Peer *p, VkShaderStageFlagBits which,
                                             const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.spv", p->folder, name);
    static uint32_t words[1 << 14];
    FILE *f = fopen(path, "rb");
    VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                     .codeSize = f ? fread(words, 1, sizeof words, f) : 0,
                                     .pCode = words};
    if (!info.codeSize) {
        perror(path);
        exit(1);
    }
    fclose(f);
    VkPipelineShaderStageCreateInfo s = {.sType =
                                             VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                         .stage = which,
                                         .pName = "main"};
    check(vkCreateShaderModule(p->device, &info, NULL, &s.module), path);
    return s;
}

static void make_layout(Peer *p) {
    VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER,
                                            .descriptorCount = 1,
                                            .stageFlags = VK_SHADER_STAGE_FRAGMENT_BIT};
    VkDescriptorSetLayoutCreateInfo set = {.sType =
                                               VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                           .bindingCount = p->data.texels ? 1 : 0,
                                           .pBindings = &binding};
    check(vkCreateDescriptorSetLayout(p->device, &set, NULL, &p->set_layout), "layout");
    VkPushConstantRange uniforms = {VK_SHADER_STAGE_ALL, 0, 80};
    VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                         .setLayoutCount = 1,
                                         .pSetLayouts = &p->set_layout,
                                         .pushConstantRangeCount = 1,
                                         .pPushConstantRanges = &uniforms};
    check(vkCreatePipelineLayout(p->device, &layout, NULL, &p->layout), "layout");
}

static void make_pipeline(Peer *p) {
    const Scene *s = p->scene;
    bool lit = s->kind == SCENE_SOUP || s->kind == SCENE_GRID, data = s->kind != SCENE_NO_VERTICES;
    VkPipelineShaderStageCreateInfo stages[2] = {
        stage(p, VK_SHADER_STAGE_VERTEX_BIT, s->vertex),
        stage(p, VK_SHADER_STAGE_FRAGMENT_BIT, s->fragment)};
    VkFormat format = lit ? VK_FORMAT_R32G32B32_SFLOAT : VK_FORMAT_R32G32_SFLOAT;
    VkVertexInputBindingDescription layout = {0, lit ? 24 : 16, VK_VERTEX_INPUT_RATE_VERTEX};
    VkVertexInputAttributeDescription attributes[2] = {{0, 0, format, 0},
                                                       {1, 0, format, lit ? 12 : 8}};
    VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = data ? 1 : 0,
        .pVertexBindingDescriptions = &layout,
        .vertexAttributeDescriptionCount = data ? 2 : 0,
        .pVertexAttributeDescriptions = attributes};
    VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    VkViewport viewport = {0, 0, (float)s->width, (float)s->height, 0, 1};
    VkRect2D scissor = {{0, 0}, {s->width, s->height}};
    VkPipelineViewportStateCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    VkPipelineRasterizationStateCreateInfo raster = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    VkPipelineMultisampleStateCreateInfo samples = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = (VkSampleCountFlagBits)s->samples};
    VkPipelineDepthStencilStateCreateInfo depth = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DEPTH_STENCIL_STATE_CREATE_INFO,
        .depthTestEnable = s->depth,
        .depthWriteEnable = s->depth,
        .depthCompareOp = VK_COMPARE_OP_LESS};
    VkPipelineColorBlendAttachmentState blend = {
        .blendEnable = s->blend,
        .srcColorBlendFactor = VK_BLEND_FACTOR_SRC_ALPHA,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE_MINUS_SRC_ALPHA,
        .colorWriteMask = 15};
    VkPipelineColorBlendStateCreateInfo output = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &blend};
    VkFormat color = VK_FORMAT_R8G8B8A8_UNORM;
    VkPipelineRenderingCreateInfo formats = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &color,
        .depthAttachmentFormat = s->depth ? VK_FORMAT_D32_SFLOAT : VK_FORMAT_UNDEFINED};
    VkGraphicsPipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                         .pNext = &formats,
                                         .stageCount = 2,
                                         .pStages = stages,
                                         .pVertexInputState = &input,
                                         .pInputAssemblyState = &assembly,
                                         .pViewportState = &view,
                                         .pRasterizationState = &raster,
                                         .pMultisampleState = &samples,
                                         .pDepthStencilState = &depth,
                                         .pColorBlendState = &output,
                                         .layout = p->layout};
    check(vkCreateGraphicsPipelines(p->device, VK_NULL_HANDLE, 1, &info, NULL, &p->pipeline),
          "pipeline");
}

static void make_resources(Peer *p) {
    const Scene *s = p->scene;
    const SceneData *d = &p->data;
    VkImageUsageFlags target = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT;
    p->resolved = make_image(p, s->width, s->height, VK_FORMAT_R8G8B8A8_UNORM, 1, 1,
                             target | VK_IMAGE_USAGE_TRANSFER_SRC_BIT);
    p->color = s->samples > 1 ? make_image(p, s->width, s->height, VK_FORMAT_R8G8B8A8_UNORM, 1,
                                           s->samples, target)
                              : p->resolved;
    if (s->depth)
        p->depth = make_image(p, s->width, s->height, VK_FORMAT_D32_SFLOAT, 1, s->samples,
                              VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT);
    if (d->vertices) {
        size_t n = d->n_vertices * d->vertex_bytes;
        p->vertices = make_buffer(p, n, VK_BUFFER_USAGE_VERTEX_BUFFER_BIT);
        memcpy(p->vertices.at, d->vertices, n);
    }
    if (d->indices) {
        p->indices = make_buffer(p, d->n_indices * 4, VK_BUFFER_USAGE_INDEX_BUFFER_BIT);
        memcpy(p->indices.at, d->indices, d->n_indices * 4);
    }
    if (d->texels) make_texture(p);
}

static void record_draws(const Peer *p, VkCommandBuffer c) {
    vkCmdBindPipeline(c, VK_PIPELINE_BIND_POINT_GRAPHICS, p->pipeline);
    if (p->scene->kind == SCENE_NO_VERTICES) {
        vkCmdDraw(c, 3, 1, 0, 0);
        return;
    }
    vkCmdBindVertexBuffers(c, 0, 1, &p->vertices.buffer, &(VkDeviceSize){0});
    if (p->scene->kind == SCENE_TEXTURED) {
        vkCmdBindDescriptorSets(c, VK_PIPELINE_BIND_POINT_GRAPHICS, p->layout, 0, 1, &p->set, 0,
                                NULL);
        for (uint32_t i = 0; i < SCENE_QUADS; i++) vkCmdDraw(c, 6, 1, 6 * i, 0);
        return;
    }
    float uniforms[20];
    scene_uniforms(p->scene, -1, uniforms);
    vkCmdPushConstants(c, p->layout, VK_SHADER_STAGE_ALL, 0, sizeof uniforms, uniforms);
    if (p->data.indices) {
        vkCmdBindIndexBuffer(c, p->indices.buffer, 0, VK_INDEX_TYPE_UINT32);
        vkCmdDrawIndexed(c, (uint32_t)p->data.n_indices, 1, 0, 0, 0);
    } else {
        vkCmdDraw(c, (uint32_t)p->data.n_vertices, 1, 0, 0);
    }
}

static void record(Peer *p) {
    const Scene *s = p->scene;
    bool samples = s->samples > 1;
    VkCommandBuffer c = p->commands = begin(p);
    to_general(c, p->resolved.image, VK_IMAGE_ASPECT_COLOR_BIT);
    if (samples) to_general(c, p->color.image, VK_IMAGE_ASPECT_COLOR_BIT);
    if (s->depth) to_general(c, p->depth.image, VK_IMAGE_ASPECT_DEPTH_BIT);
    VkRenderingAttachmentInfo color = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                       .imageView = p->color.view,
                                       .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                       .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                       .storeOp = samples ? VK_ATTACHMENT_STORE_OP_DONT_CARE
                                                          : VK_ATTACHMENT_STORE_OP_STORE,
                                       .clearValue.color.float32 = {0.1f, 0.1f, 0.2f, 1}};
    if (samples) {
        color.resolveMode = VK_RESOLVE_MODE_AVERAGE_BIT;
        color.resolveImageView = p->resolved.view;
        color.resolveImageLayout = VK_IMAGE_LAYOUT_GENERAL;
    }
    VkRenderingAttachmentInfo depth = {.sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
                                       .imageView = p->depth.view,
                                       .imageLayout = VK_IMAGE_LAYOUT_GENERAL,
                                       .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
                                       .storeOp = s->vertex ? VK_ATTACHMENT_STORE_OP_DONT_CARE
                                                            : VK_ATTACHMENT_STORE_OP_STORE,
                                       .clearValue.depthStencil = {1, 0}};
    VkRenderingInfo pass = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                            .renderArea = {{0, 0}, {s->width, s->height}},
                            .layerCount = 1,
                            .colorAttachmentCount = 1,
                            .pColorAttachments = &color,
                            .pDepthAttachment = s->depth ? &depth : NULL};
    vkCmdBeginRendering(c, &pass);
    if (s->vertex) record_draws(p, c);
    vkCmdEndRendering(c);
    check(vkEndCommandBuffer(c), "recording");
}

static void frame(void *context) {
    const Peer *p = context;
    submit(p, p->commands);
}

static void save(const Peer *p, const char *path) {
    const Scene *s = p->scene;
    Buffer pixels =
        make_buffer(p, (VkDeviceSize)s->width * s->height * 4, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    VkBufferImageCopy copy = {.imageSubresource = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 0, 1},
                              .imageExtent = {s->width, s->height, 1}};
    VkCommandBuffer c = begin(p);
    vkCmdCopyImageToBuffer(c, p->resolved.image, VK_IMAGE_LAYOUT_GENERAL, pixels.buffer, 1, &copy);
    check(vkEndCommandBuffer(c), "copy");
    submit(p, c);
    write_png(path, pixels.at, s->width, s->height);
}

// The process ends right after: the driver's objects are left to it.
int main(int argc, char **argv) {
    static Peer p;
    p.scene = scene_find(argc - 1, argv + 1);
    if (!p.scene) return 2;
    p.folder = argv[1];
    p.data = scene_data(p.scene);
    open_device(&p);
    make_layout(&p);
    if (p.scene->vertex) make_pipeline(&p);
    make_resources(&p);
    record(&p);
    scene_measure(p.scene, argc > 3 ? atof(argv[3]) : 1, frame, &p);
    if (argc > 4) save(&p, argv[4]);
    scene_data_free(&p.data);
    return 0;
}
