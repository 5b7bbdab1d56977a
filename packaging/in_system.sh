# SPDX-License-Identifier: Apache-2.0
# in_system.sh: what dist_test does in a fresh system. usage: sh -eu in_system.sh wheel|tar|deb|deb-use|deb-remove
kind=$1
here=/home/tester
export INGOT_CACHE_DIR="/tmp/cache-$kind"

expect() { # what is printed must hold this text
    text=$1
    shift
    out=$("$@" 2>&1) || { printf '%s\n' "$out"; echo "FAILED: $*"; exit 1; }
    case $out in
    *"$text"*) ;;
    *)
        printf '%s\n' "$out"
        echo "FAILED: no '$text' from: $*"
        exit 1
        ;;
    esac
}

use_commands() { # the folder of the commands, or nothing
    work=$(mktemp -d)
    expect "ingot 0." "$1ingot" --version
    expect "Ingot CPU" "$1ingot" info
    expect "1 11 21 31 41 51 61 71" "$1ingot" run $here/shaders/saxpy.metal saxpy --grid 8 --arg '0=f32[8]=iota' \
        --arg '1=f32[8]=fill:1' --arg 2=f32:10 --print 1 -q
    expect "ok 2 - shaders/saxpy.metal: saxpy" sh -c "cd $here && $1ingot test shaders"
    "$1mslc" build $here/shaders/saxpy.metal -o "$work/saxpy.metallib"
    "$1ingot" implicit picture -o "$work/picture.png" # libpng
    "$1train_siren" --input "$work/picture.png" --steps 50 --weights "$work/w.json" --output-image "$work/o.png" >/dev/null
    test -s "$work/w.json" && test -s "$work/o.png"
    echo "commands work"
}

use_python() { # the interpreter
    cd $here/python
    expect "" "$1" -c 'import ingot, pymetal; assert pymetal.create_system_default_device().supports_raytracing'
    for example in 01_image_blur 02_matrix_multiply_tiled 03_triangle_rendering 05_mlp_training; do
        (cd "$(mktemp -d)" && expect "" "$1" "$here/python/$example.py")
    done
    expect "[3.0, 3.0]" "$1" -c 'import ingot; print((ingot.ones(2, 3) @ ingot.ones(3)).tolist())'
    echo "Python works"
}

use_programs() { # where the libraries are, after use_commands
    export LD_LIBRARY_PATH="$1"
    cd "$work"
    for program in vector_add cornell_box compute; do
        expect "" $here/programs/$program
    done
    expect "" $here/programs/texture picture.png # MetalKit, with a picture from a file
    unset LD_LIBRARY_PATH
    echo "programs in C and Objective-C work"
}

case $kind in
wheel)
    python3 -m venv --system-site-packages $here/venv # NumPy is the system's
    $here/venv/bin/pip install --quiet --no-index $here/*.whl
    use_commands $here/venv/bin/
    use_python $here/venv/bin/python
    ;;
tar)
    mkdir $here/unpacked && python3 -W ignore -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' \
        $here/*.tar.xz $here/unpacked # a minimal system has no xz
    mv $here/unpacked/ingot-* $here/moved
    use_commands $here/moved/bin/
    PYTHONPATH=$here/moved/lib/python use_python python3
    use_programs $here/moved/lib/ingot:$here/moved/lib
    ;;
deb)
    apt-get install --yes --quiet --no-install-recommends $here/*.deb >/dev/null 2>&1 || dpkg --install $here/*.deb >/dev/null
    ldconfig
    ;;
deb-use)
    use_commands ""
    use_python python3
    use_programs /usr/lib/ingot
    ;;
deb-remove)
    dpkg --purge python3-ingot libingot-dev ingot-tools libingot0 >/dev/null
    left=$(find /usr /etc -path '*ingot*' -not -path '*/__pycache__*' | head)
    test -z "$left" || { echo "FAILED: left behind: $left"; exit 1; }
    echo "nothing is left"
    ;;
esac
