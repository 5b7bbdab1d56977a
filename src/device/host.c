// SPDX-License-Identifier: Apache-2.0
// host.c: what a table leaves out, as it is done for memory of the host. One thread of memcpy fills
// the memory bus: two were not faster for 16 MB or 256 MB (measured 2026-11).
#include <string.h>
#include "abi/sparse.h"
#include "device/device.h"

bool dev_copy(const DevTable *table, DevRun *run, void *to, const void *from, size_t n_bytes) {
    if (table->copy) return table->copy(run, to, from, n_bytes);
    memmove(to, from, n_bytes); // they may overlap: the program's to know
    return true;
}

bool dev_fill(const DevTable *table, DevRun *run, void *to, uint8_t value, size_t n_bytes) {
    if (table->fill) return table->fill(run, to, value, n_bytes);
    memset(to, value, n_bytes);
    return true;
}

static void move_elements(const DevMove *m, const char *from, char *to) {
    for (size_t i = 0; i < m->n_elements; i++) {
        memcpy(to + i * m->to.step, from + i * m->from.step, m->element);
        memset(to + i * m->to.step + m->element, 0, m->fill);
    }
}

void dev_host_move(const DevMove *m) {
    for (size_t z = 0; z < m->n_planes; z++)
        for (size_t y = 0; y < m->n_rows; y++) {
            const char *from = m->from.at + z * m->from.plane + y * m->from.row;
            char *to = m->to.at + z * m->to.plane + y * m->to.row;
            if (m->element)
                move_elements(m, from, to);
            else
                memcpy(to, from, m->row);
        }
}

bool dev_move(const DevTable *table, DevRun *run, const DevMove *move) {
    const DevSide *to = &move->to;
    if (table->move && !table->move(run, move)) return false;
    if (!table->move) dev_host_move(move);
    if (to->texture && to->texture->sparse)
        abi_sparse_scrub(to->texture, to->level, to->slice + to->z, (uint32_t)move->n_planes);
    return true;
}

bool dev_finish(const DevTable *table, DevRun *run) { return !table->finish || table->finish(run); }

static bool is_address(DevHandle *handle, const void *record, size_t n_bytes) {
    *handle = (DevHandle){.value = (uintptr_t)record, .n_bytes = (uint32_t)n_bytes};
    return true;
}

bool dev_texture_make(const DevTable *table, void *context, const AbiTexture *record,
                      DevHandle *handle) {
    return table->texture_make ? table->texture_make(context, record, handle)
                               : is_address(handle, record, sizeof *record);
}

bool dev_sampler_make(const DevTable *table, void *context, const AbiSampler *record,
                      DevHandle *handle) {
    return table->sampler_make ? table->sampler_make(context, record, handle)
                               : is_address(handle, record, sizeof *record);
}

bool dev_tensor_make(const DevTable *table, void *context, const AbiTensor *record,
                     DevHandle *handle) {
    return table->tensor_make ? table->tensor_make(context, record, handle)
                              : is_address(handle, record, sizeof *record);
}

void dev_handle_free(const DevTable *table, void *context, DevHandle *handle) {
    if (table->handle_free && handle->value) table->handle_free(context, handle);
    *handle = (DevHandle){0};
}
