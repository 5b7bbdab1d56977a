// SPDX-License-Identifier: Apache-2.0
// function_table.h: visible_function_table<R(A...)>, a table of visible functions that the host
// fills in. The object is the address of the table (abi/function_table.h); what the table holds
// becomes a function pointer in the compiler (codegen/link_calls.c), which knows the functions of
// the pipeline.
#pragma once

namespace metal {
template <class S> struct visible_function_table {
    static_assert(__is_function(S), "visible_function_table needs a function type, as int(float)");
    using value_type = S *;
    visible_function_table() = default;
    METAL_FUNC constexpr visible_function_table(nullptr_t) : __table(nullptr) {}
    METAL_FUNC S *operator[](size_t i) const {
        return __ingot_table_entry<S>(__table, i > 0xffffffff ? 0xffffffff : (uint)i);
    }
    METAL_FUNC uint size() const { return __table ? __table->count : 0; }
    METAL_FUNC bool empty() const { return size() == 0; }
    const device __ingot_table *__table;
};
template <class S> METAL_FUNC bool is_null_visible_function_table(visible_function_table<S> t) {
    return t.__table == nullptr;
}
} // namespace metal
