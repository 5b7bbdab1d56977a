# SPDX-License-Identifier: Apache-2.0
"""The cache: used, damaged, edited under, shared by processes, missing, full. Answers stay right."""
import os
import subprocess

import pytest

from conftest import ADD

ARGS = ["--grid", 4, "--arg", "0=f32[4]=iota", "--arg", "1=f32[4]=fill:10", "--arg", "2=f32[4]", "--print",
        2, "-q"]


def add(tool, **env):
    assert tool("run", "a.metal", "add", *ARGS, **env).stdout == "10 11 12 13\n"


def entries(tool, kind):
    folder = tool.folder.parent / "cache" / kind
    return sorted(folder.iterdir()) if folder.exists() else []


def test_second_run_needs_no_compiler(own):
    own.write("a.metal", ADD)
    add(own)
    assert len(entries(own, "libraries")) == 1 and len(entries(own, "kernels")) >= 1
    add(own, INGOT_MSLC="/nowhere/mslc")
    own.write("b.metal", ADD + "// other\n")
    r = own("run", "b.metal", "add", *ARGS, status=1, INGOT_MSLC="/nowhere/mslc")
    assert "/nowhere/mslc" in r.stderr and "INGOT_MSLC" in r.stderr


def test_size_dir_clear(own):
    own.write("a.metal", ADD)
    assert own("cache", "dir").stdout.strip() == str(own.folder.parent / "cache")
    own("cache")  # nothing there yet
    add(own)
    out = own("cache", "size").stdout
    assert "libraries" in out and "1 files" in out
    (own.folder.parent / "cache" / "mine.txt").write_text("not the cache's")
    assert "removed" in own("cache", "clear").stdout
    assert not entries(own, "libraries") and not entries(own, "kernels") and not entries(own, "pch")
    assert (own.folder.parent / "cache" / "mine.txt").exists()
    add(own)
    own("cache", "burn", status=2)


@pytest.mark.parametrize("damage", ["empty", "half", "first byte", "middle byte", "last byte", "longer"])
def test_damaged_entries_are_made_again(own, damage):
    own.write("a.metal", ADD)
    add(own)
    for kind in ["libraries", "kernels"]:
        for path in entries(own, kind):
            data = bytearray(path.read_bytes())
            if damage == "empty":
                data = b""
            elif damage == "half":
                data = data[:len(data) // 2]
            elif damage == "longer":
                data += b"x"
            else:
                data[{"first": 0, "middle": len(data) // 2, "last": -1}[damage.split()[0]]] ^= 0x55
            path.write_bytes(data)
            add(own)
    for kind in ["libraries", "kernels"]:  # whole again
        assert entries(own, kind)
    add(own, INGOT_MSLC="/nowhere/mslc")


def test_damaged_precompiled_header(own):
    own.write("a.metal", ADD)
    add(own)
    for path in entries(own, "pch"):
        path.write_bytes(path.read_bytes()[:1000])
    own.write("a.metal", ADD + "// changed, so that it is compiled\n")
    add(own)


def test_edited_include_is_noticed(own):
    own.write("value.h", "#define VALUE 1\n")
    own.write("i.metal", '#include "value.h"\nkernel void f(device int *x) { x[0] = VALUE; }\n')
    call = ["run", "i.metal", "f", "--grid", 1, "--arg", "0=i32[1]", "--print", 0, "-q"]
    assert own(*call).stdout == "1\n"
    own.write("value.h", "#define VALUE 2\n")
    assert own(*call).stdout == "2\n"
    (own.folder / "value.h").unlink()
    assert "value.h" in own(*call, status=1).stderr


def test_options_are_part_of_the_key(own):
    own.write("m.metal", "kernel void f(device int *x) { x[0] = VALUE; }\n")
    for value in [3, 4, 3]:
        r = own("run", "m.metal", "f", "--grid", 1, "--arg", "0=i32[1]", "--print", 0, "-q", "-D",
                f"VALUE={value}")
        assert r.stdout == f"{value}\n"


def test_same_name_in_two_folders(own):
    for folder, value in [("one", 1), ("two", 2)]:
        own.write(f"{folder}/value.h", f"#define VALUE {value}\n")
        own.write(f"{folder}/i.metal", '#include "value.h"\nkernel void f(device int *x) { x[0] = VALUE; }\n')
    home = own.folder
    for folder, value in [("one", 1), ("two", 2), ("one", 1)]:
        own.folder = home / folder
        r = own("run", "i.metal", "f", "--grid", 1, "--arg", "0=i32[1]", "--print", 0, "-q")
        assert r.stdout == f"{value}\n"
    own.folder = home


def test_many_processes_make_one_entry(own):
    own.write("a.metal", ADD)
    running = [own.start("run", "a.metal", "add", *ARGS) for _ in range(8)]
    for p in running:
        out, err = p.communicate(timeout=120)
        assert p.returncode == 0 and out == b"10 11 12 13\n", err
    assert len(entries(own, "libraries")) == 1
    assert not [p for p in entries(own, "libraries") + entries(own, "kernels") if ".tmp" in p.name]


def test_no_home(own):
    own.write("a.metal", ADD)
    add(own, INGOT_CACHE_DIR=None, HOME=None, XDG_CACHE_HOME=None)
    assert "no cache folder" in own("cache", INGOT_CACHE_DIR=None, HOME=None, XDG_CACHE_HOME=None).stdout


def test_home_is_used(own):
    own.write("a.metal", ADD)
    add(own, INGOT_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=str(own.folder))
    assert (own.folder / ".cache" / "ingot" / "libraries").is_dir()
    add(own, INGOT_CACHE_DIR=None, XDG_CACHE_HOME=str(own.folder / "xdg"))
    assert (own.folder / "xdg" / "ingot" / "libraries").is_dir()


def test_folder_that_cannot_be_written(own):
    own.write("a.metal", ADD)
    own.write("file", "")
    add(own, INGOT_CACHE_DIR=str(own.folder / "file"))
    add(own, INGOT_CACHE_DIR=str(own.folder / "file" / "under"))
    add(own, INGOT_CACHE_DIR="off")


@pytest.mark.skipif(os.geteuid() == 0 and subprocess.run(
    ["unshare", "-m", "true"], capture_output=True).returncode != 0, reason="needs a mount namespace")
def test_read_only_cache(own):
    """Root writes through permissions, so as root the folder is mounted read-only."""
    own.write("a.metal", ADD)
    add(own)
    own.write("b.metal", ADD + "// not in the cache\n")
    cache = own.folder.parent / "cache"
    n = len(entries(own, "libraries"))
    if os.geteuid() == 0:
        from conftest import BUILD
        script = (f"mount --bind {cache} {cache} && mount -o remount,ro,bind {cache} && "
                  f"exec {BUILD}/bin/ingot run b.metal add --grid 4 --arg 0=f32[4]=iota "
                  "--arg 1=f32[4]=fill:10 --arg 2=f32[4] --print 2 -q")
        r = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=own.folder, env=own.env,
                           capture_output=True, text=True, timeout=120)
        assert r.stdout == "10 11 12 13\n", r.stderr
    else:
        for folder, _, _ in os.walk(cache):
            os.chmod(folder, 0o500)
        assert own("run", "b.metal", "add", *ARGS).stdout == "10 11 12 13\n"
        for folder, _, _ in os.walk(cache):
            os.chmod(folder, 0o700)
    assert len(entries(own, "libraries")) == n


def test_limit_removes_the_oldest(own):
    own.write("a.metal", ADD)
    for i in range(3):
        own.write("a.metal", ADD + f"// {i}\n")
        add(own, INGOT_CACHE_LIMIT_MB="1")  # less than the precompiled headers alone
    total = sum(p.stat().st_size for kind in ["libraries", "kernels", "pch"] for p in entries(own, kind))
    assert total < 16 << 20
    add(own)
