# SPDX-License-Identifier: Apache-2.0
"""Several processes that train one network, each on its part of every batch.

    from ingot import distributed
    distributed.broadcast_parameters(net.parameters())     # all begin alike
    for x, y in my_part_of(batches, distributed.rank(), distributed.size()):
        optimizer.zero_grad()
        loss(net(x), y).backward()
        distributed.average_gradients(net.parameters())
        optimizer.step()

Start it with Open MPI, on one machine or on many:

    python3 -m ingot.distributed -n 4 train.py ARGUMENTS       # sets RANK, WORLD_SIZE, LOCAL_RANK
    mpirun -n 4 python3 train.py ARGUMENTS                     # the same without these variables

Every process makes the same calls in the same order. A program that runs by itself is a group of
one. A process that ends with an exception or a status that is not 0 ends the others too; they get
SIGTERM, which a handler may turn into an exception to save what there is.
"""

from __future__ import annotations

from collections.abc import Iterable

from .. import _tensor
from .._tensor import Tensor

__all__ = ["rank", "size", "local_rank", "transport", "all_reduce", "broadcast", "all_gather",
           "reduce_scatter", "barrier", "average_gradients", "broadcast_parameters", "close"]


def rank() -> int:
    """The number of this process, from 0."""
    return _tensor._group()[0]


def size() -> int:
    """How many processes there are."""
    return _tensor._group()[1]


def local_rank() -> int:
    """The number of this process among those of its machine: which GPU to take."""
    return _tensor._group()[2]


def transport() -> str:
    """What carries the messages: "mpi", or "alone"."""
    return _tensor._group()[3]


def all_reduce(x: Tensor, op: str = "sum") -> Tensor:
    """The sum (or "mean", "min", "max") of the tensors of all processes."""
    return _tensor._all_reduce(x, op)


def broadcast(x: Tensor, root: int = 0) -> Tensor:
    """The tensor that process `root` has."""
    return _tensor._broadcast(x, root)


def all_gather(x: Tensor) -> Tensor:
    """The tensors of all processes behind each other along the first axis."""
    return _tensor._all_gather(x)


def reduce_scatter(x: Tensor, op: str = "sum") -> Tensor:
    """Part rank() of size() equal parts of the sum, along the first axis."""
    return _tensor._reduce_scatter(x, op)


def barrier() -> None:
    """Returns when all processes have called it."""
    _tensor._group_barrier()


def average_gradients(parameters: Iterable[Tensor], bucket_bytes: int = 0) -> None:
    """Each gradient becomes the mean over all processes. They travel in buckets of this size (0: 4
    MiB), those of the last layers first: while one is on its way, the next is computed."""
    _tensor._average_gradients(list(parameters), bucket_bytes)


def broadcast_parameters(parameters: Iterable[Tensor], root: int = 0) -> None:
    """The parameters get the values that they have in process `root`."""
    _tensor._broadcast_parameters(list(parameters), root)


def close(failed: bool = False) -> None:
    """Leaves the group, which happens at the end of a program by itself. failed: ends the others
    too."""
    _tensor._group_close(failed)
