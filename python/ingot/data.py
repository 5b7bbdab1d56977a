# SPDX-License-Identifier: Apache-2.0
"""Data in batches: datasets and a loader, with the names of torch.utils.data. Workers are threads:
they share memory, and reading files and decoding pictures leaves Python's lock."""

from __future__ import annotations

import bisect
import collections
import concurrent.futures
import itertools
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from . import _tensor
from ._tensor import Tensor

__all__ = ["ConcatDataset", "DataLoader", "Dataset", "Subset", "TensorDataset", "default_collate", "random_split"]


class Dataset:
    """Samples by number: a subclass has __getitem__ and __len__."""

    def __getitem__(self, i: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__()")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__()")


class TensorDataset(Dataset):
    """Sample i is row i of each tensor."""

    def __init__(self, *tensors: Any) -> None:
        self.tensors = tuple(_tensor.asarray(t) for t in tensors)
        lengths = {t.shape[0] if t.ndim else 0 for t in self.tensors}
        if len(lengths) != 1 or not all(t.ndim for t in self.tensors):
            raise _tensor.ShapeError("TensorDataset: tensors with one number of rows are wanted, "
                                     f"not {', '.join(str(t.shape) for t in self.tensors)}")

    def __getitem__(self, i: Any) -> tuple[Tensor, ...]:
        return tuple(t[i] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]

    def batch(self, places: Sequence[int]) -> tuple[Tensor, ...]:
        """Several samples at once: a slice where they follow each other."""
        first = places[0]
        if list(places) == list(range(first, first + len(places))):
            return self[first:first + len(places)]
        index = _tensor.tensor(list(places), dtype="int64")
        return tuple(_tensor.index_select(t, 0, index) for t in self.tensors)


class Subset(Dataset):
    """Some samples of another dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, list(indices)

    def __getitem__(self, i: int) -> Any:
        return self.dataset[self.indices[i]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """The samples of several datasets, one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))
        if not self.datasets:
            raise ValueError("ConcatDataset: no datasets")

    def __getitem__(self, i: int) -> Any:
        place = i + len(self) if i < 0 else i
        if not 0 <= place < len(self):
            raise IndexError(f"sample {i} of {len(self)}")
        k = bisect.bisect_right(self.cumulative_sizes, place)
        return self.datasets[k][place - (self.cumulative_sizes[k - 1] if k else 0)]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]


def random_split(dataset: Any, lengths: Sequence[float], seed: int | None = None) -> list[Subset]:
    """Parts of a dataset, by numbers of samples or by fractions that add up to 1."""
    n = len(dataset)
    if any(isinstance(length, float) for length in lengths):
        if abs(sum(lengths) - 1) > 1e-6:
            raise ValueError(f"random_split(): fractions that add up to {sum(lengths)}")
        sizes = [int(n * length) for length in lengths]
        for i in range(n - sum(sizes)):
            sizes[i % len(sizes)] += 1
    else:
        sizes = [int(length) for length in lengths]
    if sum(sizes) != n or any(size < 0 for size in sizes):
        raise ValueError(f"random_split(): {sizes} of {n} samples")
    order = list(range(n))
    random.Random(_tensor._next_seed() if seed is None else seed).shuffle(order)
    ends = list(itertools.accumulate(sizes, initial=0))
    return [Subset(dataset, order[a:b]) for a, b in zip(ends, ends[1:])]


def default_collate(samples: Sequence[Any]) -> Any:
    """Samples as one batch: tensors, arrays and numbers become tensors with a new first axis; of
    tuples, lists and dicts each part by itself; anything else stays a list."""
    first = samples[0]
    if isinstance(first, Tensor):
        return _tensor.stack(list(samples), 0)
    if isinstance(first, (bool, int, float)):
        return _tensor.tensor(list(samples))
    if isinstance(first, Mapping):
        return {name: default_collate([sample[name] for sample in samples]) for name in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(default_collate(part) for part in zip(*samples)))
    if isinstance(first, (tuple, list)):
        if any(len(sample) != len(first) for sample in samples):
            raise _tensor.ShapeError("samples of different lengths do not make a batch")
        return type(first)(default_collate(list(part)) for part in zip(*samples))
    if hasattr(first, "__array__") or hasattr(first, "__dlpack__"):
        return _tensor.stack([_tensor.tensor(sample) for sample in samples], 0)
    return list(samples)


class DataLoader:
    """Batches of a dataset. shuffle: in a new order in each pass; the same seed gives the same
    orders. sampler: an order of one's own. num_workers: threads that fetch batches ahead, at most
    prefetch_factor each; batches come in order in any case. batch_sampler: lists of places, a batch
    each. pin_memory and persistent_workers are PyTorch's and change nothing: memory is the host's, and
    threads start in no time."""

    def __init__(self, dataset: Any, batch_size: int = 1, shuffle: bool = False,
                 sampler: Iterable[int] | None = None, num_workers: int = 0,
                 collate_fn: Callable[[list[Any]], Any] | None = None, drop_last: bool = False,
                 seed: int | None = None, prefetch_factor: int = 2, *,
                 batch_sampler: Iterable[Sequence[int]] | None = None, pin_memory: bool = False,
                 persistent_workers: bool = False) -> None:
        if batch_size < 1 or num_workers < 0 or prefetch_factor < 1:
            raise ValueError(f"DataLoader: a batch_size of {batch_size}, {num_workers} workers, "
                             f"{prefetch_factor} batches ahead")
        if shuffle and sampler is not None:
            raise ValueError("DataLoader: a sampler has an order already, and shuffle is another")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("DataLoader: a batch_sampler has batch_size, shuffle, sampler and drop_last in it")
        self.dataset, self.batch_size, self.shuffle = dataset, batch_size, shuffle
        self.batch_sampler = batch_sampler
        self.sampler, self.num_workers, self.drop_last = sampler, num_workers, drop_last
        self.collate_fn, self.prefetch_factor = collate_fn, prefetch_factor
        seed = _tensor._next_seed() if seed is None and shuffle else seed
        self._random = random.Random(seed) if shuffle else None

    def __len__(self) -> int:
        """The number of batches."""
        if self.batch_sampler is not None:
            return len(self.batch_sampler)  # type: ignore[arg-type]
        n = len(self.dataset if self.sampler is None else self.sampler)  # type: ignore[arg-type]
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)

    def _order(self) -> Iterable[int]:
        if self.sampler is not None:
            return self.sampler
        if self._random is None:
            return range(len(self.dataset))
        order = list(range(len(self.dataset)))
        self._random.shuffle(order)
        return order

    def _batches(self) -> Iterator[list[int]]:
        if self.batch_sampler is not None:
            yield from map(list, self.batch_sampler)
            return
        order = iter(self._order())
        while places := list(itertools.islice(order, self.batch_size)):
            if len(places) == self.batch_size or not self.drop_last:
                yield places

    def _fetch(self, places: list[int]) -> Any:
        if self.collate_fn is None and isinstance(self.dataset, TensorDataset):
            return self.dataset.batch(places)
        collate = self.collate_fn or default_collate
        return collate([self.dataset[i] for i in places])

    def __iter__(self) -> Iterator[Any]:
        if not self.num_workers:
            yield from map(self._fetch, self._batches())
            return
        with concurrent.futures.ThreadPoolExecutor(self.num_workers) as workers:
            batches, waiting = self._batches(), collections.deque()  # type: ignore[var-annotated]
            try:
                for places in itertools.islice(batches, self.num_workers * self.prefetch_factor):
                    waiting.append(workers.submit(self._fetch, places))
                while waiting:
                    batch = waiting.popleft().result()
                    for places in itertools.islice(batches, 1):
                        waiting.append(workers.submit(self._fetch, places))
                    yield batch
            finally:
                for future in waiting:
                    future.cancel()
