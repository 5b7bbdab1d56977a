// SPDX-License-Identifier: Apache-2.0
// tensor_files.h: tensors (tensor.h) in files: safetensors and NumPy's .npy, and dictionaries of
// named tensors, which is what networks and optimisers (tensor_nn.h) are saved as.
//
//     IgDict *dict = ig_dict_new();
//     ig_dict_set(dict, "layer.weight", w, &error);
//     ig_save_safetensors("model.safetensors", dict, &error);
//     ig_dict_release(dict);
//     dict = ig_load_safetensors(device, "model.safetensors", &error);
//     IgTensor *w = ig_retain(ig_dict_get(dict, "layer.weight"));
//
// Files are not believed: every size and place in them is checked against the size of the file
// before memory is allocated for it. A file that is wrong gives IgErrorFile and a message that says
// where. Written files are there as a whole or not at all.
#ifndef INGOT_TENSOR_FILES_H
#define INGOT_TENSOR_FILES_H
#include "ingot/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Named tensors ----
// In the order in which they were set; and metadata, which are pairs of texts. Not for several
// threads at once while one changes it.

typedef struct IgDict IgDict;
MTL_API IgDict *ig_dict_new(void); // NULL: out of memory
MTL_API IgDict *ig_dict_retain(IgDict *dict);
MTL_API void ig_dict_release(IgDict *dict); // NULL is a no-op
// Retains the tensor; an entry of the same name is replaced. Names are UTF-8 and not empty.
MTL_API bool ig_dict_set(IgDict *dict, const char *name, IgTensor *tensor, MTLError **error);
MTL_API bool ig_dict_remove(IgDict *dict, const char *name); // false: there was none
MTL_API int ig_dict_count(const IgDict *dict);
MTL_API const char *ig_dict_name(const IgDict *dict, int i); // NULL: there is no entry i
// Both are valid as long as the entry is; NULL: there is none.
MTL_API IgTensor *ig_dict_tensor(const IgDict *dict, int i);
MTL_API IgTensor *ig_dict_get(const IgDict *dict, const char *name);
MTL_API bool ig_dict_set_metadata(IgDict *dict, const char *key, const char *value,
                                  MTLError **error); // value NULL: none
MTL_API int ig_dict_metadata_count(const IgDict *dict);
MTL_API const char *ig_dict_metadata_key(const IgDict *dict, int i);
MTL_API const char *ig_dict_metadata(const IgDict *dict, const char *key); // NULL: there is none

// ---- safetensors ----
// Types F16, F32, BF16, I8, I32, I64 and BOOL are read and written as they are. The rest of the
// format's types is an error, except that F64 becomes float32, and U8, I16, U16 become int32, U32
// int64.

MTL_API bool ig_save_safetensors(const char *path, const IgDict *dict, MTLError **error);
MTL_API IgDict *ig_load_safetensors(IgDevice *device, const char *path, MTLError **error);
// The same from memory; `name` is what messages call it.
MTL_API IgDict *ig_read_safetensors(IgDevice *device, const void *bytes, size_t n_bytes,
                                    const char *name, MTLError **error);

// ---- .npy ----
// Versions 1 to 3, either order of axes and bytes. NumPy has no bfloat16: it is written as float32.
// Types that tensors do not have become the ones that hold them best: float64 float32, uint16
// int32, uint32 int64, uint64 int64 (a value that does not fit is an error).

MTL_API bool ig_save_npy(const char *path, IgTensor *tensor, MTLError **error);
MTL_API IgTensor *ig_load_npy(IgDevice *device, const char *path, MTLError **error);
MTL_API IgTensor *ig_read_npy(IgDevice *device, const void *bytes, size_t n_bytes, const char *name,
                              MTLError **error);

#ifdef __cplusplus
}
#endif
#endif
