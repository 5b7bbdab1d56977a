# SPDX-License-Identifier: Apache-2.0
"""Apple's metal-cpp, whose headers the macOS wheel of mlx-metal carries: programs of ours in C++ built with it."""
import pathlib

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests" / "face"
PARTS = ("compute", "render", "mesh", "events", "heaps", "metal4")


def run(p):
    headers = p.wheel("mlx-metal", platform="macosx_14_0_arm64") / "mlx" / "include" / "metal_cpp"
    for source in sorted(TESTS.glob("metal_cpp*.cpp")):
        out = p.folder / source.stem
        built = p.sh([p.ingot, "c++", "-std=c++17", "-w", f"-I{headers}", source, "-o", out], log=f"{source.stem}-build")
        for part in PARTS:
            ran = p.sh([out, part], log=f"{source.stem}-{part}") if built.status == 0 else built
            p.row(f"{source.name}: {part}", passed=int(ran.status == 0), failed=int(ran.status != 0),
                  seconds=ran.seconds, note="" if ran.status == 0 else ran.text.strip().split("\n")[-1][:100])
