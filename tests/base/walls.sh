#!/usr/bin/env bash
# walls.sh SRC: the runtime knows no device: no name of the CPU device's, no header of a device's folder. Apple's word
# cpu_cache_mode is none of them.
set -u
found=$(grep -rnE '\bcpu_|\bCpu[A-Z]|\bCPU_|"(cpu|null|cuda)/' "$1/runtime" --include='*.[ch]' | grep -v 'cpu_cache_mode\|abi/cpu_')
[ -z "$found" ] || { echo "a device is named in the runtime:"; echo "$found"; exit 1; }
