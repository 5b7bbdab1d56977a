// SPDX-License-Identifier: Apache-2.0
// types.c: a value of any first-class type as a sequence of scalar leaves. Vectors, structs and
// arrays are flattened in order, so that a varying value is simply n vectors of lanes, one for each
// leaf.
#include "compiler/passes/passes_int.h"

int msl_leaves(Type t) {
    int n = 0;
    switch (LLVMGetTypeKind(t)) {
    case LLVMVoidTypeKind: return 0;
    case LLVMVectorTypeKind: return (int)LLVMGetVectorSize(t);
    case LLVMArrayTypeKind: return (int)LLVMGetArrayLength2(t) * msl_leaves(LLVMGetElementType(t));
    case LLVMStructTypeKind:
        for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
            n += msl_leaves(LLVMStructGetTypeAtIndex(t, i));
        return n;
    default: return 1;
    }
}

// The member that holds `leaf` (its index within that member is left in *leaf).
static unsigned member_of(Type t, int *leaf, Type *member) {
    if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
        for (unsigned i = 0;; i++) {
            *member = LLVMStructGetTypeAtIndex(t, i);
            int n = msl_leaves(*member);
            if (*leaf < n) return i;
            *leaf -= n;
        }
    }
    *member = LLVMGetElementType(t);
    int n = msl_leaves(*member), i = *leaf / n;
    *leaf %= n;
    return (unsigned)i;
}

Type msl_leaf_type(Type t, int leaf) {
    while (is_vector(t) || is_aggregate(t)) {
        Type m;
        member_of(t, &leaf, &m);
        t = m;
    }
    return t;
}

int msl_leaf_of_path(Type t, const unsigned *path, unsigned n, Type *at) {
    int leaf = 0;
    for (unsigned i = 0; i < n; i++) {
        if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
            for (unsigned k = 0; k < path[i]; k++)
                leaf += msl_leaves(LLVMStructGetTypeAtIndex(t, k));
            t = LLVMStructGetTypeAtIndex(t, path[i]);
        } else {
            t = LLVMGetElementType(t);
            leaf += (int)path[i] * msl_leaves(t);
        }
    }
    *at = t;
    return leaf;
}

Value msl_extract_leaf(Vec *x, Value s, int leaf) {
    Type t = LLVMTypeOf(s);
    while (is_vector(t) || is_aggregate(t)) {
        Type m;
        bool vector = is_vector(t);
        unsigned i = member_of(t, &leaf, &m);
        if (LLVMIsPoison(s))
            s = LLVMGetPoison(m);
        else if (LLVMIsUndef(s))
            s = LLVMGetUndef(m);
        else if (vector)
            s = LLVMBuildExtractElement(x->b, s, const_int(x->i64, i), "");
        else
            s = LLVMBuildExtractValue(x->b, s, i, "");
        t = m;
    }
    return s;
}

Value msl_insert_leaf(Vec *x, Value s, Value scalar, int leaf) {
    Type t = LLVMTypeOf(s), m;
    if (!is_vector(t) && !is_aggregate(t)) return scalar;
    bool vector = is_vector(t);
    unsigned i = member_of(t, &leaf, &m);
    if (vector) return LLVMBuildInsertElement(x->b, s, scalar, const_int(x->i64, i), "");
    Value part = LLVMBuildExtractValue(x->b, s, i, "");
    return LLVMBuildInsertValue(x->b, s, msl_insert_leaf(x, part, scalar, leaf), i, "");
}
