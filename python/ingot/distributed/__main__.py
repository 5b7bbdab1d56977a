# SPDX-License-Identifier: Apache-2.0
"""python3 -m ingot.distributed [-n N] SCRIPT ARGUMENTS...: starts a script N times with Open MPI. Each
process finds its number in RANK, that of all in WORLD_SIZE, and its number on this machine in
LOCAL_RANK."""

import os
import runpy
import shutil
import sys

_VARIABLES = {"RANK": "OMPI_COMM_WORLD_RANK", "WORLD_SIZE": "OMPI_COMM_WORLD_SIZE",
              "LOCAL_RANK": "OMPI_COMM_WORLD_LOCAL_RANK"}


def _run_script(arguments: list[str]) -> None:
    for ours, theirs in _VARIABLES.items():
        os.environ[ours] = os.environ[theirs]
    sys.argv = arguments
    sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
    runpy.run_path(arguments[0], run_name="__main__")


def _start(arguments: list[str]) -> None:
    n = str(os.cpu_count() or 1)
    if arguments[:1] == ["-n"] and len(arguments) > 1:
        n, arguments = arguments[1], arguments[2:]
    if not arguments or arguments[0].startswith("-") or not n.isdigit() or int(n) < 1:
        sys.exit("usage: python3 -m ingot.distributed [-n N] SCRIPT ARGUMENTS...")
    if not os.path.isfile(arguments[0]):
        sys.exit(f"ingot.distributed: there is no file {arguments[0]}")
    mpirun = shutil.which("mpirun")
    if not mpirun:
        sys.exit("ingot.distributed: there is no mpirun here; install Open MPI (openmpi-bin)")
    os.execv(mpirun, [mpirun, "-n", n, "--oversubscribe", "--bind-to", "none", sys.executable, "-m",
                      "ingot.distributed", "--started", *arguments])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--started"]:
        _run_script(sys.argv[2:])
    else:
        _start(sys.argv[1:])
