// SPDX-License-Identifier: Apache-2.0
// metal4.h: what the tests of Metal 4 share: a queue with its parts, and commits that are waited
// for.
#ifndef INGOT_TESTS_METAL4_H
#define INGOT_TESTS_METAL4_H
#include "api_test.h"

typedef struct Bench { // one of each
    MTL4CommandQueue *queue;
    MTL4CommandAllocator *allocator;
    MTL4CommandBuffer *commands;
    MTL4ArgumentTable *table;
    MTLResidencySet *set; // of the queue
} Bench;

static inline Bench open_bench(void) {
    MTLError *error = NULL;
    Bench b = {.queue = mtl_device_new_mtl4_command_queue_with_descriptor(
                   device, &(MTL4CommandQueueDescriptor){.label = "Queue"}, NULL),
               .allocator = mtl_device_new_command_allocator_with_descriptor(
                   device, &(MTL4CommandAllocatorDescriptor){.label = "Allocator"}, NULL),
               .commands = mtl_device_new_command_buffer(device),
               .set = mtl_device_new_residency_set(device, NULL, NULL)};
    b.table = mtl_device_new_argument_table(
        device,
        &(MTL4ArgumentTableDescriptor){.label = "Table",
                                       .max_buffer_bind_count = 8,
                                       .max_texture_bind_count = 4,
                                       .max_sampler_state_bind_count = 2},
        &error);
    if (!b.table) fail_msg("%s", mtl_error_localized_description(error));
    assert_non_null(b.queue);
    assert_non_null(b.allocator);
    assert_non_null(b.commands);
    mtl4_command_buffer_set_label(b.commands, "Commands");
    mtl4_command_queue_add_residency_set(b.queue, b.set);
    return b;
}

static inline void close_bench(Bench *b) {
    mtl_release(b->table);
    mtl_release(b->commands);
    mtl_release(b->allocator);
    mtl_release(b->queue);
    mtl_release(b->set);
}

static inline MTLBuffer *resident_buffer(Bench *b, size_t n_bytes, const char *label) {
    MTLBuffer *buffer = mtl_device_new_buffer(device, n_bytes, 0);
    assert_non_null(buffer);
    mtl_buffer_set_label(buffer, label);
    mtl_residency_set_add_allocation(b->set, (MTLAllocation *)buffer);
    mtl_residency_set_commit(b->set);
    return buffer;
}

typedef struct Outcome {
    pthread_mutex_t lock;
    pthread_cond_t told;
    int n;
    MTLError *error;
    double start, end;
} Outcome;

static inline void note_feedback(MTL4CommitFeedback *feedback, void *context) {
    Outcome *o = context;
    pthread_mutex_lock(&o->lock);
    o->n++;
    mtl_release(o->error);
    o->error = mtl_retain(mtl4_commit_feedback_error(feedback));
    o->start = mtl4_commit_feedback_gpu_start_time(feedback);
    o->end = mtl4_commit_feedback_gpu_end_time(feedback);
    pthread_cond_signal(&o->told);
    pthread_mutex_unlock(&o->lock);
}

static inline void wait_for_outcome(Outcome *o, int n) {
    pthread_mutex_lock(&o->lock);
    while (o->n < n) pthread_cond_wait(&o->told, &o->lock);
    pthread_mutex_unlock(&o->lock);
}

// Commits and waits. The error, owned by the caller; NULL: none.
static inline MTLError *commit_buffers(MTL4CommandQueue *queue, MTL4CommandBuffer *const *buffers,
                                       size_t n) {
    Outcome o = {.lock = PTHREAD_MUTEX_INITIALIZER, .told = PTHREAD_COND_INITIALIZER};
    MTL4CommitOptions *options = mtl4_commit_options_new();
    mtl4_commit_options_add_feedback_handler(options, note_feedback, &o);
    mtl4_command_queue_commit_with_options(queue, buffers, n, options);
    mtl_release(options);
    wait_for_outcome(&o, 1);
    assert_true(o.start > 0 && o.end >= o.start);
    return o.error;
}

static inline MTLError *commit_commands(Bench *b) {
    return commit_buffers(b->queue, &b->commands, 1);
}

static inline void commit_well(Bench *b) {
    MTLError *error = commit_commands(b);
    if (error) fail_msg("%s", mtl_error_localized_description(error));
}

static inline MTL4ComputeCommandEncoder *begin(Bench *b) {
    mtl4_command_buffer_begin_command_buffer(b->commands, b->allocator);
    MTL4ComputeCommandEncoder *e = mtl4_command_buffer_compute_command_encoder(b->commands);
    assert_non_null(e);
    mtl4_compute_command_encoder_set_argument_table(e, b->table);
    return e;
}

static inline void end(Bench *b, MTL4ComputeCommandEncoder *e) {
    mtl4_compute_command_encoder_end_encoding(e);
    mtl4_command_buffer_end_command_buffer(b->commands);
}

static inline void barrier(MTL4ComputeCommandEncoder *e) {
    mtl4_compute_command_encoder_barrier_after_encoder_stages(e, MTLStageDispatch | MTLStageBlit,
                                                              MTLStageDispatch | MTLStageBlit,
                                                              MTL4VisibilityOptionDevice);
}

static inline void dispatch(MTL4ComputeCommandEncoder *e, MTLComputePipelineState *p, size_t n) {
    mtl4_compute_command_encoder_set_compute_pipeline_state(e, p);
    mtl4_compute_command_encoder_dispatch_threads(e, mtl_size_make(n, 1, 1),
                                                  mtl_size_make(n < 64 ? n : 64, 1, 1));
}

// A message of this rule came, with these words in it.
static inline void assert_message(const char *rule, const char *a, const char *b) {
    assert_true(n_messages > 0);
    assert_string_equal(last_rule, rule);
    if (a && !strstr(last_text, a)) fail_msg("no '%s' in: %s", a, last_text);
    if (b && !strstr(last_text, b)) fail_msg("no '%s' in: %s", b, last_text);
    clear_messages();
}

static inline void assert_fails(Bench *b, const char *rule) {
    MTLError *error = commit_commands(b);
    assert_non_null(error);
    assert_string_equal(mtl_error_domain(error), MTL4CommandQueueErrorDomain);
    assert_string_equal(mtl_error_rule(error), rule);
    mtl_release(error);
    clear_messages();
}
#endif
