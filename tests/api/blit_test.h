// SPDX-License-Identifier: Apache-2.0
// blit_test.h: for tests of copies: one command buffer with one blit encoder at a time.
#ifndef INGOT_TESTS_API_BLIT_TEST_H
#define INGOT_TESTS_API_BLIT_TEST_H
#include "queue_test.h"
#include "guard.h"

static MTLCommandBuffer *commands;
static MTLBlitCommandEncoder *blit;

static inline void begin(void) {
    clear_messages();
    commands = mtl_command_queue_command_buffer(queue);
    blit = mtl_command_buffer_blit_command_encoder(commands);
    assert_non_null(blit);
}

static inline void run(void) {
    mtl_blit_command_encoder_end_encoding(blit);
    run_to_end(commands);
}

// The call just made broke the rule: said once, and the command buffer fails with it.
static inline void broke(const char *rule) {
    assert_broke(rule);
    mtl_blit_command_encoder_end_encoding(blit);
    assert_fails_with(commands, rule);
}
#endif
