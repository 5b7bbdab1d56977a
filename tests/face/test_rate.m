// SPDX-License-Identifier: Apache-2.0
// test_rate.m: rasterization rate maps through Objective-C: descriptors and their arrays, storage,
// copies, the map, a pass that has one.
#include "face_test.h"

static void body(id<MTLDevice> device) {
    const float columns[] = {0.5f, 1}, rows[] = {1};
    CHECK([device supportsRasterizationRateMapWithLayerCount:1]);
    MTLRasterizationRateLayerDescriptor *layer =
        [[MTLRasterizationRateLayerDescriptor alloc] initWithSampleCount:MTLSizeMake(2, 1, 0)
                                                              horizontal:columns
                                                                vertical:rows];
    CHECK_EQUAL(layer.sampleCount.width, 2);
    CHECK_EQUAL(layer.maxSampleCount.width, 2);
    CHECK_EQUAL([layer.horizontal[0] floatValue], 0.5);
    MTLRasterizationRateLayerDescriptor *copy = [layer copy];
    layer.horizontal[1] = @0.25f;
    CHECK_EQUAL(layer.horizontalSampleStorage[1], 0.25);
    CHECK_EQUAL(copy.horizontalSampleStorage[1], 1); // has its own
    layer.horizontalSampleStorage[1] = 1;
    CHECK_EQUAL([layer.horizontal[1] floatValue], 1);
    MTLRasterizationRateMapDescriptor *d = [MTLRasterizationRateMapDescriptor
        rasterizationRateMapDescriptorWithScreenSize:MTLSizeMake(200, 100, 0)
                                               layer:layer];
    CHECK_EQUAL(d.layerCount, 1);
    CHECK(d.layers[0] == layer);
    [d setLayer:copy atIndex:1];
    CHECK_EQUAL(d.layerCount, 2);
    CHECK([d layerAtIndex:1] == copy);
    d.layers[1] = nil;
    CHECK_EQUAL(d.layerCount, 1);
    d.label = @"map";
    id<MTLRasterizationRateMap> map = [device newRasterizationRateMapWithDescriptor:d];
    CHECK(map != nil);
    CHECK_TEXT(map.label, @"map");
    CHECK_EQUAL(map.layerCount, 1);
    CHECK_EQUAL(map.screenSize.width, 200);
    CHECK_EQUAL([map physicalSizeForLayer:0].width, 150);
    MTLCoordinate2D at = [map mapScreenToPhysicalCoordinates:(MTLCoordinate2D){150, 50} forLayer:0];
    CHECK_EQUAL(at.x, 100);
    at = [map mapPhysicalToScreenCoordinates:at forLayer:0];
    CHECK_EQUAL(at.x, 150);
    id<MTLBuffer> data = [device newBufferWithLength:map.parameterBufferSizeAndAlign.size
                                             options:0];
    [map copyParameterDataToBuffer:data offset:0];
    CHECK(((uint32_t *)data.contents)[0] != 0);
    MTLRenderPassDescriptor *pass = [MTLRenderPassDescriptor renderPassDescriptor];
    pass.rasterizationRateMap = map;
    CHECK(pass.rasterizationRateMap == map);
    RELEASE(data), RELEASE(map), RELEASE(layer), RELEASE(copy);
}

int main(void) { return run_tests(body); }
