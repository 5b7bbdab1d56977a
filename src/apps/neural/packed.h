// SPDX-License-Identifier: Apache-2.0
// packed.h: a SIREN of a picture in few bytes: weights as whole numbers of a few bits, one scale
// for the weights and one for the biases of a layer, range coded.
//
// The file (.ingot), numbers little-endian:
//   "INGN", version 1, bits, n_layers, 0     8 bytes
//   width, height                            u32 each
//   omega of the first layer, of the others  half each
//   outputs of layers 0 .. n_layers - 1      u16 each (there are 2 inputs)
//   scales of weights and of biases          half each, by layer
//   numbers of all layers, range coded
//   checksum of all before                   u32 (FNV-1a)
#ifndef INGOT_NEURAL_PACKED_H
#define INGOT_NEURAL_PACKED_H
#include <stddef.h>
#include <stdint.h>
#include "base/message.h"
#include "apps/neural/network.h"

enum { NEURAL_PACKED_MIN_BITS = 4, NEURAL_PACKED_MAX_BITS = 12 };

// The bytes, malloc'd; NULL and the message on failure. The network is a SIREN of a picture.
unsigned char *neural_pack(const NeuralNetwork *net, uint32_t width, uint32_t height, unsigned bits,
                           size_t *n_bytes, char *message);
// And back. Damage is an error; name stands for the file in messages.
bool neural_unpack(NeuralNetwork *net, uint32_t *width, uint32_t *height, const unsigned char *data,
                   size_t n_bytes, const char *name, char *message);
bool neural_packed_recognised(const unsigned char *data, size_t n_bytes);
#endif
