// SPDX-License-Identifier: Apache-2.0
// records.h: the records of the device table as schemas (schema.h), in records.c.
#ifndef INGOT_DEVICE_RECORDS_H
#define INGOT_DEVICE_RECORDS_H
#include "devices/table/schema.h"

extern SchemaOf schema_AbiTexture, schema_AbiSampler;
extern SchemaOf schema_DevDispatch, schema_DevMove;
extern SchemaOf schema_DevPass, schema_DevDraw;
extern SchemaOf schema_DevRayBuild;
#endif
