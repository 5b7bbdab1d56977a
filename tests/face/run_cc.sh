#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_cc.sh INGOT SOURCE OUT: compiles in one step and in two, with ARC and Apple's flags, and runs the result.
set -e
ingot=$1 source=$2 out=$3
"$ingot" cc -fobjc-arc -arch arm64 -mmacosx-version-min=14.0 "$source" -o "$out" -framework Metal -framework Foundation
"$out"
"$ingot" cc -fobjc-arc -c "$source" -o "$out.o"
"$ingot" cc "$out.o" -o "$out.two"
"$out.two"
# Versions are asked for as on macOS 26; a message to nil is a call with a `this` of NULL, as metal-cpp makes it.
cat > "$out.cpp" << 'END'
struct Object {
    bool is_nil() { return !this; }
};
Object *volatile none;
int main() {
    bool versions = __builtin_available(macOS 26, iOS 26, *) && __builtin_available(macOS 14.4, *) &&
                    __builtin_available(iOS 99, *) && !__builtin_available(macOS 27, *) &&
                    !__builtin_available(iOS 26, macOS 26.1, *);
    return versions && none->is_nil() ? 0 : 1;
}
END
"$ingot" c++ -O1 -w "$out.cpp" -o "$out.version"
"$out.version"
# Versions are asked for as on macOS 26, in every language.
for language in c objective-c c++ objective-c++; do
    case $language in *++) driver=c++;; *) driver=cc;; esac
    "$ingot" $driver -Wall -Werror -x $language "$(dirname "$source")/test_available.m" -o "$out.version"
    "$out.version"
done
"$ingot" cc --show | grep -q -- -fobjc-runtime=
if "$ingot" cc 2> /dev/null; then echo "no arguments must be an error"; exit 1; fi
