// SPDX-License-Identifier: Apache-2.0
// prelude.h: everything the Metal headers declare. The front end precompiles it and starts every
// source with it that includes one of them; <metal_stdlib> and its parts are then empty. A source that
// includes none gets types.h instead (frontend.c).
#pragma once
#pragma clang system_header
#define __MSL_PRELUDE 1
#include "core.h"
#include "traits.h"
#include "vec.h"
#include "wide_vec.h"
#include "functions.h"
#include "integer.h"
#include "common.h"
#include "relational.h"
#include "geometric.h"
#include "limits.h"
#include "matrix.h"
#include "atomic.h"
#include "compute.h"
#include "simdgroup.h"
#include "simdgroup_matrix.h"
#include "array.h"
#include "function_table.h"
#include "command_buffer.h"
#include "logging.h"
#include "math.h"
#include "sampler.h"
#include "texture.h"
#include "graphics.h"
#include "rate_map.h"
#include "mesh.h"
#include "pack.h"
#include "imageblock.h"
#include "ray.h"
#include "ray_functions.h"
#include "ray_intersector.h"
#include "ray_query.h"
#include "internal.h"
