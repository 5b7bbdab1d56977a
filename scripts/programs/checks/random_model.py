#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""random_model.py OUT.gguf [--type f32|f16|q8_0|q4_0]: a language model of the llama family with random weights.

Nothing in it was learnt: it serves to compare one back end's logits with another's and to time them. It has no
vocabulary, programs give it numbers of tokens. The same arguments give the same file.
"""
import argparse

import gguf
import numpy as np

TYPES = {
    "f32": gguf.GGMLQuantizationType.F32,
    "f16": gguf.GGMLQuantizationType.F16,
    "q8_0": gguf.GGMLQuantizationType.Q8_0,
    "q4_0": gguf.GGMLQuantizationType.Q4_0,
}


def write(path, kind, layers, width, heads, kv_heads, hidden, vocabulary):
    random = np.random.default_rng(7)
    out = gguf.GGUFWriter(path, "llama")
    out.add_tokenizer_model("none")
    out.add_vocab_size(vocabulary)
    out.add_context_length(1024)
    out.add_embedding_length(width)
    out.add_block_count(layers)
    out.add_feed_forward_length(hidden)
    out.add_head_count(heads)
    out.add_head_count_kv(kv_heads)
    out.add_rope_dimension_count(width // heads)
    out.add_layer_norm_rms_eps(1e-5)

    def matrix(name, rows, columns):
        # Rows of length 1 in the mean: activations keep their size from layer to layer.
        values = random.standard_normal((rows, columns)).astype(np.float32) / np.float32(columns**0.5)
        data = gguf.quants.quantize(values, kind)
        out.add_tensor(name, data, raw_dtype=kind)

    def scale(name):
        out.add_tensor(name, (1 + 0.1 * random.standard_normal(width)).astype(np.float32))

    matrix("token_embd.weight", vocabulary, width)
    for i in range(layers):
        scale(f"blk.{i}.attn_norm.weight")
        matrix(f"blk.{i}.attn_q.weight", width, width)
        matrix(f"blk.{i}.attn_k.weight", width * kv_heads // heads, width)
        matrix(f"blk.{i}.attn_v.weight", width * kv_heads // heads, width)
        matrix(f"blk.{i}.attn_output.weight", width, width)
        scale(f"blk.{i}.ffn_norm.weight")
        matrix(f"blk.{i}.ffn_gate.weight", hidden, width)
        matrix(f"blk.{i}.ffn_up.weight", hidden, width)
        matrix(f"blk.{i}.ffn_down.weight", width, hidden)
    scale("output_norm.weight")
    matrix("output.weight", vocabulary, width)
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--type", choices=TYPES, default="f16", dest="kind")
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--kv-heads", type=int, default=4)
    parser.add_argument("--hidden", type=int, default=1536)
    parser.add_argument("--vocabulary", type=int, default=1024)
    args = parser.parse_args()
    write(args.out, TYPES[args.kind], args.layers, args.width, args.heads, args.kv_heads, args.hidden,
          args.vocabulary)


if __name__ == "__main__":
    main()
