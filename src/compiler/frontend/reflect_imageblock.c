// SPDX-License-Identifier: Apache-2.0
// reflect_imageblock.c: imageblocks in reflection: arguments of tile functions, which are kernels,
// one of each layout at most, and [[imageblock_data]] of fragment functions. Whether an imageblock
// is implicit is said by its second template argument, else by its members: all of them are
// colours, or they are not.
#include "compiler/frontend/frontend_int.h"
#include <string.h>

enum { MAX_PIXEL = 256 };

static bool set_size(BridgeJob *job, const RfFunction *f, const BridgeType *info, uint32_t *bytes,
                     uint32_t at) {
    if (info->size < 1 || info->size > MAX_PIXEL) {
        reflect_report(job, at, "an imageblock of '%s' takes %u bytes for a pixel: there may be %d",
                       f->name, info->size, MAX_PIXEL);
        return false;
    }
    if (info->size > *bytes) *bytes = info->size;
    return true;
}

bool reflect_imageblock_argument(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfArg *arg,
                                 const BridgeDecl *p) {
    const BridgeType *info = &b->infos[p->type];
    if (info->kind != BRIDGE_TYPE_METAL || info->n_args != 2 ||
        strcmp(info->template_name, "imageblock") != 0)
        return false;
    arg->kind = RF_ARG_IMAGEBLOCK;
    arg->access = RF_READ_WRITE;
    arg->index = 0;
    if (f->stage != RF_KERNEL) {
        reflect_report(job, p->location,
                       "'%s' of '%s': an imageblock is an argument of kernels; fragment functions "
                       "have 'imageblock_data'",
                       p->name, f->name);
        return true;
    }
    uint32_t type = info->arg_types[0], layout = info->arg_types[1];
    if (type >= b->lib->n_types || b->infos[type].kind != BRIDGE_TYPE_RECORD) {
        reflect_report(job, p->location, "'%s': the pixels of an imageblock are structures",
                       p->name);
        return true;
    }
    const char *name = layout < b->lib->n_types ? b->infos[layout].template_name : NULL;
    bool is_explicit = name && strcmp(name, "imageblock_layout_explicit") == 0;
    bool colors = !is_explicit && reflect_is_colors(b, type);
    if (!is_explicit && !colors && name && strcmp(name, "imageblock_layout_implicit") == 0)
        reflect_report(job, p->location,
                       "'%s': every member of an imageblock with implicit layout needs the "
                       "attribute 'color(n)'",
                       p->name);
    uint32_t *bytes = colors ? &f->color_block_bytes : &f->imageblock_bytes;
    if (*bytes) {
        reflect_report(job, p->location, "'%s': function '%s' has more than one imageblock%s",
                       p->name, f->name, colors ? " of colors" : "");
        return true;
    }
    arg->index = colors;
    if (set_size(job, f, &b->infos[type], bytes, p->location) && colors)
        reflect_imageblock_values(b, job, f, type, p->location);
    return true;
}

void reflect_imageblock_data(ReflectBuilder *b, BridgeJob *job, RfFunction *f, RfValue *v,
                             uint32_t type, const BridgeAttr *said, uint32_t at) {
    const BridgeType *info = &b->infos[type];
    v->data_type = DT_UINT;
    v->n = 1;
    v->stride = info->size;
    if (info->kind != BRIDGE_TYPE_RECORD) {
        reflect_report(job, at,
                       "type '%s' is not valid for attribute 'imageblock_data': it must "
                       "be a structure",
                       b->lib->types[type].name);
        v->stride = 0;
    } else if (!set_size(job, f, info, &f->imageblock_bytes, at)) {
        v->stride = 0;
    }
    const char *text = said && said->n_args && said->args[0].is_string ? said->args[0].text : NULL;
    if (text && strcmp(text, b->lib->types[type].name) != 0)
        reflect_report(job, said->location,
                       "'imageblock_data(%s)' of type '%s': views of another structure are not "
                       "supported",
                       text, b->lib->types[type].name);
}
