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
"$ingot" cc --show | grep -q -- -fobjc-runtime=
if "$ingot" cc 2> /dev/null; then echo "no arguments must be an error"; exit 1; fi
