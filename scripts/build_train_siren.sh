#!/usr/bin/env bash
# Builds the trainer and nothing else, as build/train_siren. usage: scripts/build_train_siren.sh
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/bootstrap
[ -f build/build.ninja ] || cmake -G Ninja -S . -B build -DCMAKE_BUILD_TYPE=Release >/dev/null
ninja -C build --quiet train_siren mslc
ln -sfn bin/train_siren build/train_siren
echo "Built $(pwd)/build/train_siren"
