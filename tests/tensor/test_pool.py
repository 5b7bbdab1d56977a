# SPDX-License-Identifier: Apache-2.0
"""The buffer pool, scopes, and several threads."""

import gc
import threading

import numpy as np
import pytest

import ig


@pytest.fixture
def empty_pool():
    gc.collect()
    ig.synchronize()
    ig.pool_clear(ig.pool)
    yield
    ig.pool_set_capacity(ig.pool, 10)
    ig.pool_set_memory_limit(ig.pool, 0)


def some(n):
    return [ig.tensor(np.zeros(1000, "f4")) for _ in range(n)]


def test_reuse(empty_pool):
    a = ig.pool_statistics()
    assert a.total_pooled == a.size_classes == a.total_memory == 0
    x = some(1)
    live = ig.pool_statistics().live_memory - a.live_memory
    assert 4000 <= live <= 5120
    del x
    b = ig.pool_statistics()
    assert (b.total_pooled, b.size_classes, b.total_memory) == (1, 1, live)
    x = some(1)
    c = ig.pool_statistics()
    assert c.allocation_count - a.allocation_count == 2 and c.reuse_count - a.reuse_count == 1
    assert c.total_pooled == 0
    del x


def test_capacity(empty_pool):
    ig.pool_set_capacity(ig.pool, 2)
    assert ig.pool_capacity(ig.pool) == 2
    before = ig.pool_statistics().eviction_count
    x = some(3)
    del x
    s = ig.pool_statistics()
    assert s.total_pooled == 2 and s.eviction_count - before == 1
    ig.pool_set_capacity(ig.pool, 0)
    assert ig.pool_statistics().total_pooled == 0


def test_clear_and_shrink(empty_pool):
    x = some(4) + [ig.tensor(np.zeros(50000, "f4"))]
    del x
    assert ig.pool_statistics().size_classes == 2
    ig.pool_shrink_to_fit(ig.pool, 20000)  # the largest goes first
    s = ig.pool_statistics()
    assert s.size_classes == 1 and 0 < s.total_memory <= 20000
    ig.pool_clear_size(ig.pool, 100)
    assert ig.pool_statistics().total_pooled == s.total_pooled
    ig.pool_clear_size(ig.pool, 4000)
    assert ig.pool_statistics().total_pooled == 0


def test_limit(empty_pool):
    ig.pool_set_memory_limit(ig.pool, ig.pool_statistics().live_memory + 100000)
    with pytest.raises(ig.Error) as e:
        ig.tensor(np.zeros(100000, "f4"))
    assert e.value.code == ig.MEMORY and "limit" in str(e.value)
    x = some(10)
    del x  # waiting memory makes room
    x = ig.tensor(np.zeros(20000, "f4"))
    with pytest.raises(ig.Error):
        ig.evaluate(ig.add_scalar(x, 1))
    ig.pool_set_memory_limit(ig.pool, 0)
    assert (ig.add_scalar(x, 1).numpy() == 1).all()
    del x


def test_steps_do_not_grow(empty_pool):
    """A loop reuses what it had before, and the numbers are right although memory changes hands
    while work is under way."""
    x = ig.tensor(np.ones(5000, "f4"))
    y = x
    for i in range(20):
        y = ig.evaluate(ig.add(y, x))
    start = ig.pool_statistics()
    for i in range(1000):
        y = ig.add(y, x)
        if i % 3 == 0:
            ig.evaluate(y)
    end = ig.pool_statistics()
    assert (y.numpy() == 1021).all()
    requests = end.allocation_count - start.allocation_count
    assert end.reuse_count - start.reuse_count >= 0.95 * requests
    assert end.live_memory == start.live_memory


def test_host_never_writes_under_running_work():
    rng = np.random.default_rng(3)
    for _ in range(200):
        a = rng.integers(0, 100, 3000).astype("f4")
        x = ig.tensor(a)
        y = ig.evaluate(ig.square(x))
        del x  # its memory is free for the next tensor only when the work is done
        z = ig.tensor(a + 1)
        assert (y.numpy() == a * a).all() and (z.numpy() == a + 1).all()


def test_scopes():
    live = ig.pool_statistics().live_memory
    with ig.scope():
        x = ig.tensor(np.ones(4000, "f4"))
        with ig.scope():
            y = ig.evaluate(ig.add(x, x))
            z = ig.keep(ig.evaluate(ig.neg(y)))
        assert (x.numpy() == 1).all() and (z.numpy() == -2).all()
    assert ig.pool_statistics().live_memory > live
    del z
    assert ig.pool_statistics().live_memory == live


def test_threads():
    failed = []

    def work(seed):
        try:
            rng = np.random.default_rng(seed)
            for _ in range(60):
                a = rng.standard_normal((20, 30)).astype("f4")
                x = ig.tensor(a)
                y = ig.sum(ig.relu(ig.add(x, x)), 1, False)
                p = ig.matmul(x, ig.transpose(x, 0, 1))
                assert np.allclose(y.numpy(), np.maximum(2 * a, 0).sum(1), rtol=1e-4)
                assert np.allclose(p.numpy(), a @ a.T, atol=1e-4)
        except BaseException as e:  # noqa: B902
            failed.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not failed, failed[0]
