// SPDX-License-Identifier: Apache-2.0
// reflect_web.h: reflection as the pages read it: types by number, so that bytes can be shown as
// what they are.
#ifndef INGOT_TOOLS_REFLECT_WEB_H
#define INGOT_TOOLS_REFLECT_WEB_H
#include "abi/reflect.h"
#include "base/text.h"

// "types": [...], "functions": [...], members of an object.
void reflect_web(const RfLibrary *rf, Text *json);
#endif
