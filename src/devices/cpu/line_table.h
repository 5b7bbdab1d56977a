// SPDX-License-Identifier: Apache-2.0
// line_table.h: which addresses of a code object come from which source lines: its .debug_line
// section (DWARF 4, as the compiler writes it). Nothing in it is believed.
#ifndef INGOT_CPU_LINE_TABLE_H
#define INGOT_CPU_LINE_TABLE_H
#include <stddef.h>
#include <stdint.h>

// From `address` on, up to the next one; line 0: of no line.
typedef void CpuLineFn(void *context, uint64_t address, uint32_t line, const char *folder,
                       const char *file);
// Calls for all rows, in the order of the table. A file without the section, or a damaged one: for
// those that there are.
void cpu_read_lines(const void *elf, size_t n_bytes, CpuLineFn *row, void *context);
#endif
