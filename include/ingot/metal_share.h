// SPDX-License-Identifier: Apache-2.0
// metal_share.h: textures over memory that others see too: those of another process, and those of
// a surface (Apple's IOSurface). metal.h includes it.
//
//     MTLTexture *mine = mtl_device_new_shared_texture(device, &descriptor);
//     MTLSharedTextureHandle *handle = mtl_texture_new_shared_texture_handle(mine);
//     ... its name or a descriptor of it goes to the other process, which does:
//     MTLSharedTextureHandle *handle = mtl_shared_texture_handle_new_with_name(name, &error);
//     MTLTexture *yours = mtl_device_new_shared_texture_with_handle(device, handle);
//
// Both textures are the same memory. Who draws when is said by a shared event (metal_sync.h).
#ifndef INGOT_METAL_SHARE_H
#define INGOT_METAL_SHARE_H
#include "ingot/metal_texture.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- Between processes ----

typedef struct MTLSharedTextureHandle MTLSharedTextureHandle;

// A texture of storage mode private or shared in memory that other processes can map. NULL: a
// message, or no memory.
MTL_API MTLTexture *mtl_device_new_shared_texture(MTLDevice *device,
                                                  const MTLTextureDescriptor *descriptor);
// What another process opens the texture by. NULL and a message for other textures.
MTL_API MTLSharedTextureHandle *mtl_texture_new_shared_texture_handle(MTLTexture *texture);
// The texture behind a handle. NULL: a message, or no memory.
MTL_API MTLTexture *mtl_device_new_shared_texture_with_handle(MTLDevice *device,
                                                              MTLSharedTextureHandle *handle);
MTL_API MTLDevice *mtl_shared_texture_handle_device(const MTLSharedTextureHandle *handle);
MTL_API const char *mtl_shared_texture_handle_label(const MTLSharedTextureHandle *handle);
// On a Mac a handle travels by XPC. Here it is a file descriptor (not Apple's; the caller's to
// close, -1: a message), or a name by which processes of the same user open the texture while this
// handle and this process live.
MTL_API int mtl_shared_texture_handle_new_file_descriptor(const MTLSharedTextureHandle *handle);
MTL_API const char *mtl_shared_texture_handle_name(const MTLSharedTextureHandle *handle);
// The handle behind a descriptor (which stays the caller's) or a name. NULL and MTLDeviceError
// MTLDeviceErrorInvalidInput if it is not one.
MTL_API MTLSharedTextureHandle *mtl_shared_texture_handle_new_with_file_descriptor(
    int descriptor, MTLError **error);
MTL_API MTLSharedTextureHandle *mtl_shared_texture_handle_new_with_name(const char *name,
                                                                        MTLError **error);

// ---- Over a surface ----

typedef struct MTLSurfacePlane {
    void *base;
    size_t width, height; // in texels of the texture
    size_t bytes_per_row; // a multiple of mtl_device_minimum_linear_texture_alignment_...
} MTLSurfacePlane;
// Memory of the program in planes, which a texture keeps alive by `retain` and `release`.
typedef struct MTLSurface {
    void *object; // for retain and release; mtl_texture_iosurface gives it back
    size_t plane_count;
    MTLSurfacePlane planes[4];
    void (*retain)(void *object);
    void (*release)(void *object);
} MTLSurface;
// A 2D texture of one level, not larger than the plane, over its memory. NULL: a message, or no
// memory.
MTL_API MTLTexture *mtl_device_new_texture_with_iosurface(MTLDevice *device,
                                                          const MTLTextureDescriptor *descriptor,
                                                          const MTLSurface *surface, size_t plane);
// NULL, 0: not over one.
MTL_API void *mtl_texture_iosurface(const MTLTexture *texture);
MTL_API size_t mtl_texture_iosurface_plane(const MTLTexture *texture);

#ifdef __cplusplus
}
#endif
#endif
