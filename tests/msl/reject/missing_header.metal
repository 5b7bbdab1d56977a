// A header that is not there: the classes after it stay incomplete, and the compiler alive.
#include "not_there.h" // expect-error: 'not_there.h' file not found
struct V { packed_float3 p; };
kernel void k(device V &v [[buffer(0)]]) { v.p = 1; }
