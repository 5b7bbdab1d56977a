// SPDX-License-Identifier: Apache-2.0
// NSData.m: bytes.
#include "mac/foundation/foundation_int.h"
#include <fcntl.h>
#include <sys/stat.h>

@implementation NSData {
  @protected
    void *_bytes;
    NSUInteger _length, _room;
    void (^_deallocator)(void *bytes, NSUInteger n); // nil: free, if _owned
    bool _borrowed;
}
+ (instancetype)data {
    return AUTORELEASED([[self alloc] init]);
}
+ (instancetype)dataWithBytes:(const void *)bytes length:(NSUInteger)n {
    return AUTORELEASED([[self alloc] initWithBytes:bytes length:n]);
}
+ (instancetype)dataWithBytesNoCopy:(void *)bytes length:(NSUInteger)n {
    return AUTORELEASED([[self alloc] initWithBytesNoCopy:bytes length:n]);
}
+ (instancetype)dataWithBytesNoCopy:(void *)bytes length:(NSUInteger)n freeWhenDone:(BOOL)owned {
    return AUTORELEASED([[self alloc] initWithBytesNoCopy:bytes length:n freeWhenDone:owned]);
}
+ (instancetype)dataWithData:(NSData *)data {
    return AUTORELEASED([[self alloc] initWithData:data]);
}
+ (instancetype)dataWithContentsOfFile:(NSString *)path {
    return AUTORELEASED([[self alloc] initWithContentsOfFile:path]);
}
+ (instancetype)dataWithContentsOfFile:(NSString *)path
                               options:(NSDataReadingOptions)options
                                 error:(NSError **)error {
    return AUTORELEASED([[self alloc] initWithContentsOfFile:path options:options error:error]);
}
+ (instancetype)dataWithContentsOfURL:(NSURL *)url {
    return AUTORELEASED([[self alloc] initWithContentsOfURL:url]);
}
+ (instancetype)dataWithContentsOfURL:(NSURL *)url
                              options:(NSDataReadingOptions)options
                                error:(NSError **)error {
    return AUTORELEASED([[self alloc] initWithContentsOfFile:url.path options:options error:error]);
}
static void grow(NSData *self, NSUInteger n) {
    if (n <= self->_room && !self->_borrowed) return;
    NSUInteger room = self->_room * 2 > n ? self->_room * 2 : n;
    void *bytes = realloc(self->_borrowed ? NULL : self->_bytes, room ? room : 1);
    if (!bytes) abort();
    if (self->_borrowed) memcpy(bytes, self->_bytes, self->_length < room ? self->_length : room);
    self->_bytes = bytes, self->_room = room, self->_borrowed = false;
}
- (instancetype)initWithBytes:(const void *)bytes length:(NSUInteger)n {
    grow(self, n);
    if (n) memcpy(_bytes, bytes, n);
    _length = n;
    return self;
}
- (instancetype)initWithBytesNoCopy:(void *)bytes length:(NSUInteger)n {
    return [self initWithBytesNoCopy:bytes length:n freeWhenDone:YES];
}
- (instancetype)initWithBytesNoCopy:(void *)bytes length:(NSUInteger)n freeWhenDone:(BOOL)owned {
    _bytes = bytes, _length = _room = n, _borrowed = !owned;
    return self;
}
- (instancetype)initWithBytesNoCopy:(void *)bytes
                             length:(NSUInteger)n
                        deallocator:(void (^)(void *bytes, NSUInteger n))deallocator {
    _bytes = bytes, _length = _room = n, _borrowed = true, _deallocator = [deallocator copy];
    return self;
}
- (instancetype)initWithData:(NSData *)data {
    return [self initWithBytes:data.bytes length:data.length];
}
- (instancetype)initWithContentsOfFile:(NSString *)path {
    return [self initWithContentsOfFile:path options:0 error:NULL];
}
- (instancetype)initWithContentsOfURL:(NSURL *)url
                              options:(NSDataReadingOptions)options
                                error:(NSError **)error {
    return [self initWithContentsOfFile:url.path options:options error:error];
}
- (instancetype)initWithContentsOfURL:(NSURL *)url {
    return [self initWithContentsOfFile:url.path];
}
- (instancetype)initWithContentsOfFile:(NSString *)path
                               options:(NSDataReadingOptions)options
                                 error:(NSError **)error {
    (void)options;
    int file =
        path ? open(path.fileSystemRepresentation, O_RDONLY | O_CLOEXEC) : (errno = ENOENT, -1);
    struct stat about = {0};
    int problem = file < 0 || fstat(file, &about) ? errno : S_ISDIR(about.st_mode) ? EISDIR : 0;
    grow(self, problem ? 0 : (NSUInteger)about.st_size + 1);
    while (!problem) { // until the end: what a device or a pipe says about its size is not true
        if (_length == _room) grow(self, _room * 2);
        ssize_t n = read(file, (char *)_bytes + _length, _room - _length);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) problem = errno;
        if (n <= 0) break;
        _length += (NSUInteger)n;
    }
    if (file >= 0) close(file);
    if (!problem) return self;
    if (error) *error = posix_error(problem, path, false);
    [self release];
    return nil;
}
CODES_NOTHING
- (void)dealloc {
    if (_deallocator) _deallocator(_bytes, _length);
    [_deallocator release];
    if (!_borrowed) free(_bytes);
    [super dealloc];
}
COPIES_AS(NSData, NSMutableData, initWithData, self)
- (NSUInteger)length {
    return _length;
}
- (const void *)bytes {
    return _bytes;
}
- (void)getBytes:(void *)to length:(NSUInteger)n {
    memcpy(to, self.bytes, n < self.length ? n : self.length);
}
- (void)getBytes:(void *)to range:(NSRange)range {
    range_check_range(self, _cmd, range, self.length);
    memcpy(to, (const char *)self.bytes + range.location, range.length);
}
- (NSData *)subdataWithRange:(NSRange)range {
    range_check_range(self, _cmd, range, self.length);
    return [NSData dataWithBytes:(const char *)self.bytes + range.location length:range.length];
}
- (BOOL)isEqual:(id)other {
    return self == other || ([other isKindOfClass:[NSData class]] && [self isEqualToData:other]);
}
- (BOOL)isEqualToData:(NSData *)other {
    return self.length == other.length &&
           (!self.length || !memcmp(self.bytes, other.bytes, self.length));
}
- (NSUInteger)hash {
    NSUInteger h = 5381;
    for (NSUInteger i = 0; i < self.length && i < 80; i++)
        h = h * 33 + ((const uint8_t *)self.bytes)[i];
    return h;
}
- (NSString *)description {
    NSMutableString *text =
        [NSMutableString stringWithFormat:@"{length = %lu, bytes = 0x", self.length];
    for (NSUInteger i = 0; i < self.length && i < 24; i++)
        [text appendFormat:@"%02x", ((const uint8_t *)self.bytes)[i]];
    [text appendString:self.length > 24 ? @"...}" : @"}"];
    return text;
}
- (BOOL)writeToFile:(NSString *)path atomically:(BOOL)atomically {
    return [self writeToFile:path options:atomically ? NSDataWritingAtomic : 0 error:NULL];
}
- (BOOL)writeToURL:(NSURL *)url atomically:(BOOL)atomically {
    return [self writeToFile:url.path atomically:atomically];
}
- (BOOL)writeToFile:(NSString *)path options:(NSDataWritingOptions)options error:(NSError **)error {
    NSString *to =
        options & NSDataWritingAtomic ? [path stringByAppendingFormat:@".%d.new", getpid()] : path;
    int file = open(to.fileSystemRepresentation, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int problem = file < 0 ? errno : 0;
    for (NSUInteger done = 0; !problem && done < self.length;) {
        ssize_t n = write(file, (const char *)self.bytes + done, self.length - done);
        if (n < 0 && errno != EINTR) problem = errno;
        if (n > 0) done += (NSUInteger)n;
    }
    if (file >= 0 && close(file) && !problem) problem = errno;
    if (!problem && to != path &&
        rename(to.fileSystemRepresentation, path.fileSystemRepresentation))
        problem = errno;
    if (problem && to != path) unlink(to.fileSystemRepresentation);
    if (problem && error) *error = posix_error(problem, path, true);
    return !problem;
}
@end

@implementation NSMutableData
@dynamic length;
+ (instancetype)dataWithCapacity:(NSUInteger)capacity {
    return AUTORELEASED([[self alloc] initWithCapacity:capacity]);
}
+ (instancetype)dataWithLength:(NSUInteger)n {
    return AUTORELEASED([[self alloc] initWithLength:n]);
}
- (instancetype)initWithCapacity:(NSUInteger)capacity {
    if ((self = [self init])) grow(self, capacity);
    return self;
}
- (instancetype)initWithLength:(NSUInteger)n {
    if ((self = [self init])) [self setLength:n];
    return self;
}
- (void *)mutableBytes {
    grow(self, _length);
    return _bytes;
}
- (void)setLength:(NSUInteger)n {
    grow(self, n);
    if (n > _length) memset((char *)_bytes + _length, 0, n - _length);
    _length = n;
}
- (void)appendBytes:(const void *)bytes length:(NSUInteger)n {
    grow(self, _length + n);
    if (n) memcpy((char *)_bytes + _length, bytes, n);
    _length += n;
}
- (void)appendData:(NSData *)data {
    NSUInteger n = data.length;
    grow(self, _length + n);
    if (n) memcpy((char *)_bytes + _length, data.bytes, n); // data may be this very object
    _length += n;
}
- (void)increaseLengthBy:(NSUInteger)n {
    [self setLength:_length + n];
}
- (void)replaceBytesInRange:(NSRange)range withBytes:(const void *)bytes {
    range_check(self, _cmd, range.location, _length + 1);
    if (NSMaxRange(range) > _length) [self setLength:NSMaxRange(range)];
    grow(self, _length);
    memmove((char *)_bytes + range.location, bytes, range.length);
}
- (void)setData:(NSData *)data {
    if (data == self) return;
    [self setLength:0];
    [self appendData:data];
}
@end
