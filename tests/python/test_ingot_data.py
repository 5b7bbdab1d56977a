# SPDX-License-Identifier: Apache-2.0
"""Datasets and the loader: order, seeds, the last batch, threads, what becomes a batch."""

import collections
import threading
import time

import numpy as np
import pytest

import ingot as ig
from ingot.data import DataLoader, Dataset, Subset, TensorDataset, default_collate, random_split

X, Y = ig.arange(20).reshape(10, 2).float(), ig.arange(10)


class Squares(Dataset):
    def __init__(self, n, pause=0.0):
        self.n, self.pause, self.threads = n, pause, set()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        self.threads.add(threading.get_ident())
        time.sleep(self.pause * (i % 3))  # later ones are ready before earlier ones
        return {"x": np.full(3, i, "f4"), "y": i * i, "name": str(i)}


def flat(loader):
    return [y for _, part in loader for y in part.tolist()]


@pytest.mark.parametrize("workers", [0, 3])
def test_order_and_last_batch(workers):
    data = TensorDataset(X, Y)
    assert len(data) == 10 and data[3][0].tolist() == [6, 7] and data[-1][1].item() == 9
    loader = DataLoader(data, 4, num_workers=workers)
    batches = list(loader)
    assert len(loader) == len(batches) == 3
    assert [b.tolist() for _, b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert [a.shape for a, _ in batches] == [(4, 2), (4, 2), (2, 2)]
    loader = DataLoader(data, 4, drop_last=True, num_workers=workers)
    assert len(loader) == 2 and flat(loader) == list(range(8))
    assert flat(DataLoader(data, 3, sampler=[4, 4, 1], num_workers=workers)) == [4, 4, 1]
    assert list(DataLoader(TensorDataset(X[:0]), 4, num_workers=workers)) == []


@pytest.mark.parametrize("workers", [0, 2])
def test_shuffle(workers):
    def passes(seed):
        loader = DataLoader(TensorDataset(X, Y), 3, shuffle=True, seed=seed, num_workers=workers)
        return [flat(loader) for _ in range(2)]
    first = passes(1)
    assert first == passes(1) and first != passes(2) and first[0] != first[1]
    assert all(sorted(order) == list(range(10)) for order in first)
    ig.manual_seed(5)
    a = passes(None)
    ig.manual_seed(5)
    assert a == passes(None)
    for x, y in DataLoader(TensorDataset(X, Y), 4, shuffle=True, seed=3):
        assert x[:, 0].tolist() == [2 * v for v in y.tolist()], "rows stay together"


@pytest.mark.parametrize("workers", [0, 4])
def test_samples(workers):
    data = Squares(11, 0.002 if workers else 0)
    batches = list(DataLoader(data, 4, num_workers=workers))
    assert [n for b in batches for n in b["name"]] == [str(i) for i in range(11)]
    assert batches[2]["x"].tolist() == [[8] * 3, [9] * 3, [10] * 3]
    assert batches[1]["y"].tolist() == [16, 25, 36, 49]
    assert len(data.threads) > 1 if workers else data.threads == {threading.get_ident()}
    assert next(iter(DataLoader(data, 2, collate_fn=lambda s: len(s)))) == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_errors_come_through(workers):
    with pytest.raises(IndexError):
        list(DataLoader(Squares(3), 2, sampler=[0, 1, 7, 2], num_workers=workers))
    for x in DataLoader(Squares(9), 1, num_workers=workers):
        break  # whoever leaves early leaves no thread behind
    assert not [t for t in threading.enumerate() if "ThreadPool" in t.name]
    for bad in (dict(batch_size=0), dict(num_workers=-1), dict(shuffle=True, sampler=[0])):
        with pytest.raises(ValueError, match="DataLoader"):
            DataLoader(Squares(3), **bad)
    with pytest.raises(ig.ShapeError, match="one number of rows"):
        TensorDataset(X, Y[:3])
    for method in (Dataset().__len__, lambda: Dataset()[0]):
        with pytest.raises(NotImplementedError):
            method()


def test_collate_and_split():
    Pair = collections.namedtuple("Pair", "a b")
    made = default_collate([Pair(1.5, [ig.ones(2), True]), Pair(2.5, [ig.zeros(2), False])])
    assert isinstance(made, Pair) and made.a.tolist() == [1.5, 2.5]
    assert made.b[0].shape == (2, 2) and made.b[1].tolist() == [True, False]
    with pytest.raises(ig.ShapeError, match="different lengths"):
        default_collate([(1, 2), (1,)])
    parts = random_split(Squares(10), [7, 3], seed=1)
    assert [len(p) for p in parts] == [7, 3]
    assert sorted(i for p in parts for i in p.indices) == list(range(10))
    assert [len(p) for p in random_split(Squares(10), [0.5, 0.25, 0.25], seed=1)] == [6, 2, 2]
    assert parts[0].indices == random_split(Squares(10), [7, 3], seed=1)[0].indices
    assert Subset(Squares(10), [4, 2])[1]["y"] == 4
    for bad in ([5, 4], [0.5, 0.1], [11, -1]):
        with pytest.raises(ValueError, match="random_split"):
            random_split(Squares(10), bad)
