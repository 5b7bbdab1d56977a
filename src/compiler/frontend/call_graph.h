// SPDX-License-Identifier: Apache-2.0
// call_graph.h: what refers to what in a module: functions and global variables (call_graph.c).
#ifndef INGOT_CALL_GRAPH_H
#define INGOT_CALL_GRAPH_H
#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/hash_table.h"

#define NONE UINT32_MAX

// A node is a function or a global variable; edges are references.
typedef struct Node {
    HashNode base; // of the table, by value
    LLVMValueRef value;
    uint32_t first_edge, n_edges;
    uint32_t initialiser; // of a variable: the start-up function that sets it, or NONE
    uint32_t constant;    // index in RfLibrary.constants, or NONE
    uint32_t binding;     // index in RfLibrary.bindings, or NONE
    uint32_t entry;       // index in RfLibrary.functions, or NONE
    uint32_t stamp;       // of the last walk that came by
    uint8_t only_in;      // a bit for each RfStage that may call it; 0: all may
    bool callable;        // an entry that other functions may call: a visible function
    uint8_t colour;       // recursion: 0 new, 1 on the path, 2 done
} Node;

typedef struct Graph { // {0} is empty
    Node *nodes;
    uint32_t n_nodes;
    uint32_t *edges; // node numbers
    HashTable table;
} Graph;

bool graph_build(Graph *g, LLVMModuleRef m); // false without memory
uint32_t graph_node(const Graph *g, LLVMValueRef v);
void graph_free(Graph *g);
#endif
