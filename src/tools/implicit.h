// SPDX-License-Identifier: Apache-2.0
// implicit.h: the parts of `ingot implicit`, one function each, and what they share.
#ifndef INGOT_TOOLS_IMPLICIT_H
#define INGOT_TOOLS_IMPLICIT_H
#include "neural/image.h"
#include "neural/render.h"
#include "neural/weights.h"
#include "tools/tools.h"

int implicit_render(int argc, char **argv);
int implicit_eval(int argc, char **argv);
int implicit_train(int argc, char **argv);
int implicit_sdf(int argc, char **argv);
int implicit_picture(int argc, char **argv);

// "coop" or "thread"; false if it is neither.
bool parse_kernel(const char *text, NeuralKernel *kernel);
// "float", "half" or "bfloat".
bool parse_precision(const char *text, NeuralPrecision *precision);
// A size of at most two dimensions, WxH.
bool parse_picture_size(const char *text, uint32_t *width, uint32_t *height);
// A whole number or a finite one in a range; otherwise says so and returns false.
bool parse_whole(const char *command, const char *option, const char *text, uint64_t low,
                 uint64_t high, uint64_t *value);
bool parse_real(const char *command, const char *option, const char *text, double low, double high,
                double *value);
#endif
