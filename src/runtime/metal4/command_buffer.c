// SPDX-License-Identifier: Apache-2.0
// command_buffer.c: MTL4CommandBuffer: begin, end, and what stands between encoders.
#include "runtime/metal4/ml_int.h"
#include "runtime/metal4/recording_int.h"
#include "runtime/object/validation.h"

// ---- Recordings ----

static void recording_destroy(void *self) {
    RtRecording *r = self;
    for (size_t i = 0; i < r->n_sets; i++) mtl_release(r->sets[i]);
    rt_free(r->sets);
    rt_forget_reached(r);
    rt_free(r->reached);
    mtl_release(r->feedback);
    mtl_release(r->home);
    MTLDevice *device = r->commands.device;
    rt_cb_destroy(self);
    mtl_release(device);
}

static RT_CLASS recording_class = {.name = "commands of a MTL4CommandBuffer",
                                   .destroy = recording_destroy,
                                   .label_at = offsetof(RtRecording, commands.label)};

RtRecording *rt_recording_new(MTLDevice *device, MTL4CommandAllocator *home) {
    RtRecording *r = rt_new(&recording_class, sizeof *r);
    if (!r) return NULL;
    rt_cb_init(&r->commands, mtl_retain(device));
    r->commands.unretained = true;
    r->commands.recorder = &rt_metal4_recorder;
    r->commands.notes_resources = device->debug_layer;
    r->home = mtl_retain(home);
    r->commands.allocator = home;
    atomic_store(&r->state, home ? RT_RECORDING_OPEN : RT_RECORDING_ENDED);
    return r;
}

void rt_recording_leave(RtRecording *r, RtRecordingState state) {
    MTL4CommandAllocator *home = r->home;
    if (!home) return;
    pthread_mutex_lock(&home->lock);
    r->home = NULL;
    r->commands.allocator = NULL;
    if (home->open == r) home->open = NULL;
    atomic_store(&r->state, state);
    pthread_mutex_unlock(&home->lock);
    mtl_release(home);
}

// ---- The command buffer ----

// Lets go of a recording that will not be committed.
static void drop(MTL4CommandBuffer *buffer) {
    RtRecording *r = buffer->recording;
    if (!r) return;
    if (r->commands.open_encoder) {
        rt_misuse_in(&r->commands, RT_RULE_encoder_not_ended, "mtl_release", NULL);
        r->commands.open_encoder->ended = true;
        r->commands.open_encoder = NULL;
    }
    rt_recording_leave(r, RT_RECORDING_DROPPED);
    mtl_release(rt_recording_take(buffer));
}

RtRecording *rt_recording_take(MTL4CommandBuffer *buffer) {
    RtRecording *r = buffer->recording;
    buffer->recording = NULL;
    for (MTLCommandEncoder *e = r->commands.encoders; e; e = e->next)
        if (rt_is(e, &rt_mtl4_compute_encoder_class))
            ((MTL4ComputeCommandEncoder *)(void *)e)->owner = NULL;
        else if (rt_is(e, &rt_mtl4_render_encoder_class))
            ((MTL4RenderCommandEncoder *)(void *)e)->owner = NULL;
        else if (rt_is(e, &rt_ml_encoder_class))
            ((MTL4MachineLearningCommandEncoder *)(void *)e)->owner = NULL;
    return r;
}

static void command_buffer_destroy(void *self) {
    MTL4CommandBuffer *buffer = self;
    drop(buffer);
    rt_label_free(&buffer->label);
    mtl_release(buffer->device);
    rt_free(buffer);
}

RT_CLASS rt_mtl4_command_buffer_class = {.name = "MTL4CommandBuffer",
                                         .destroy = command_buffer_destroy,
                                         .label_at = offsetof(MTL4CommandBuffer, label)};

static bool present(const MTL4CommandBuffer *buffer, const char *call) {
    if (rt_is(buffer, &rt_mtl4_command_buffer_class)) return true;
    rt_misuse(NULL, buffer ? RT_RULE_wrong_class : RT_RULE_null_object, call, "%s",
              mtl_class_name(buffer));
    return false;
}

static bool is_open(const MTL4CommandBuffer *buffer) {
    return buffer->recording && atomic_load(&buffer->recording->state) == RT_RECORDING_OPEN;
}

MTLCommandBuffer *rt_mtl4_recording(MTL4CommandBuffer *buffer, const char *call) {
    if (!present(buffer, call)) return NULL;
    if (is_open(buffer)) return &buffer->recording->commands;
    rt_misuse(buffer->device, RT_RULE_metal4_not_begun, call, "command buffer '%s'",
              rt_label(&buffer->label));
    return NULL;
}

MTL4CommandBuffer *mtl_device_new_command_buffer(MTLDevice *device) {
    if (!device) {
        rt_misuse(NULL, RT_RULE_null_object, __func__, NULL);
        return NULL;
    }
    MTL4CommandBuffer *buffer = rt_new(&rt_mtl4_command_buffer_class, sizeof *buffer);
    if (buffer) buffer->device = mtl_retain(device);
    return buffer;
}

void mtl4_command_buffer_set_label(MTL4CommandBuffer *buffer, const char *label) {
    if (!buffer) return;
    rt_label_set(&buffer->label, label);
    if (buffer->recording) rt_label_set(&buffer->recording->commands.label, label);
}

// ---- Begin and end ----

// Makes the recording the allocator's open one; NULL, or the recording that is that already.
static RtRecording *enter(MTL4CommandAllocator *allocator, RtRecording *r) {
    pthread_mutex_lock(&allocator->lock);
    RtRecording *other = mtl_retain(allocator->open);
    if (!other) {
        allocator->open = r;
        r->next = allocator->first;
        allocator->first = mtl_retain(r);
    }
    pthread_mutex_unlock(&allocator->lock);
    return other;
}

void mtl4_command_buffer_begin_command_buffer_with_options(
    MTL4CommandBuffer *buffer, MTL4CommandAllocator *allocator,
    const MTL4CommandBufferOptions *options) {
    if (!present(buffer, __func__)) return;
    if (!rt_is(allocator, &rt_allocator_class)) {
        rt_misuse(buffer->device, allocator ? RT_RULE_wrong_class : RT_RULE_null_argument, __func__,
                  "allocator %s, command buffer '%s'", mtl_class_name(allocator),
                  rt_label(&buffer->label));
        return;
    }
    if (is_open(buffer)) {
        rt_misuse(buffer->device, RT_RULE_metal4_already_begun, __func__,
                  "command buffer '%s', allocator '%s'", rt_label(&buffer->label),
                  rt_label(&allocator->label));
        return;
    }
    RtRecording *r = rt_recording_new(buffer->device, allocator);
    if (!r) {
        rt_misuse(buffer->device, RT_RULE_metal4_no_memory, __func__, "command buffer '%s'",
                  rt_label(&buffer->label));
        return;
    }
    rt_label_set(&r->commands.label, rt_label(&buffer->label));
    RtRecording *other = enter(allocator, r);
    if (other) {
        rt_misuse(buffer->device, RT_RULE_metal4_allocator_busy, __func__,
                  "allocator '%s' is in use by command buffer '%s', not for '%s'",
                  rt_label(&allocator->label), rt_label(&other->commands.label),
                  rt_label(&buffer->label));
        mtl_release(other);
        mtl_release(r);
        return;
    }
    drop(buffer);
    if (options) r->commands.log_state = mtl_retain(options->log_state);
    buffer->recording = r;
}

void mtl4_command_buffer_begin_command_buffer(MTL4CommandBuffer *buffer,
                                              MTL4CommandAllocator *allocator) {
    mtl4_command_buffer_begin_command_buffer_with_options(buffer, allocator, NULL);
}

void mtl4_command_buffer_end_command_buffer(MTL4CommandBuffer *buffer) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, __func__);
    if (!commands) return;
    if (commands->open_encoder) {
        // Nothing will end it: the commands are incomplete and must not run.
        rt_misuse_encoding(commands, RT_RULE_command_buffer_open_encoder, __func__, NULL);
        commands->open_encoder->ended = true;
        commands->open_encoder = NULL;
    }
    RtRecording *r = buffer->recording;
    MTL4CommandAllocator *home = r->home;
    pthread_mutex_lock(&home->lock);
    home->open = NULL;
    commands->allocator = NULL; // somebody else may record there now
    atomic_store(&r->state, RT_RECORDING_ENDED);
    pthread_mutex_unlock(&home->lock);
}

// ---- Between begin and end ----

static void use(MTL4CommandBuffer *buffer, MTLResidencySet *const *sets, size_t count,
                const char *call) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, call);
    if (!commands) return;
    RtRecording *r = buffer->recording;
    if (!sets && count > 1) count = 1;
    for (size_t i = 0; i < count; i++) {
        MTLResidencySet *set = sets ? sets[i] : NULL;
        if (!rt_is_residency_set(set))
            rt_misuse_encoding(commands, set ? RT_RULE_wrong_class : RT_RULE_null_argument, call,
                               "residency set %s", mtl_class_name(set));
        else if (!rt_grow(&r->sets, &r->sets_capacity, r->n_sets + 1, sizeof *r->sets))
            rt_cb_no_memory(commands);
        else
            r->sets[r->n_sets++] = mtl_retain(set);
    }
}

void mtl4_command_buffer_use_residency_set(MTL4CommandBuffer *buffer, MTLResidencySet *set) {
    use(buffer, &set, 1, __func__);
}

void mtl4_command_buffer_use_residency_sets(MTL4CommandBuffer *buffer, MTLResidencySet *const *sets,
                                            size_t count) {
    use(buffer, sets, count, __func__);
}

void mtl4_command_buffer_push_debug_group(MTL4CommandBuffer *buffer, const char *name) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, __func__);
    if (!commands) return;
    if (!name) {
        rt_misuse_in(commands, RT_RULE_null_argument, __func__, "name");
        return;
    }
    commands->debug_depth++;
    rt_inspector.push(commands, !commands->open_encoder, name);
}

void mtl4_command_buffer_pop_debug_group(MTL4CommandBuffer *buffer) {
    MTLCommandBuffer *commands = rt_mtl4_recording(buffer, __func__);
    if (!commands) return;
    if (commands->debug_depth == 0) {
        rt_misuse_in(commands, RT_RULE_debug_group_underflow, __func__, NULL);
        return;
    }
    commands->debug_depth--;
    rt_inspector.pop(commands, !commands->open_encoder);
}

#include "accessors/metal4/command_buffer.inc" // plain accessors, from the table
