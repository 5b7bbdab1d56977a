# SPDX-License-Identifier: Apache-2.0
"""Threads, the GIL, Ctrl-C, handlers called from the library's threads."""

import multiprocessing
import os
import signal
import threading
import time

import numpy as np
import pytest

import pymetal as pm
from helpers import ADD_ONE, SHARED, SPIN, array_of, encode, pipeline, python, run


def spinning(device, queue):
    """(command buffer under way, its flag): it ends when the flag is set."""
    flag = device.new_buffer(4, SHARED)
    commands = queue.command_buffer()
    encode(commands, pipeline(device, SPIN, "spin"), [flag], 1, 1)
    return commands, flag


class TestGil:
    """While one thread is inside a call, another one runs Python."""

    def test_wait_until_completed(self, device, queue):
        commands, flag = spinning(device, queue)
        commands.commit()
        timer = threading.Timer(0.1, lambda: flag.contents().__setitem__(0, 1))
        timer.start()
        commands.wait_until_completed()  # for ever, if the timer could not run
        assert commands.status is pm.CommandBufferStatus.Completed
        timer.join()

    def test_wait_for_a_value(self, device):
        event = device.new_shared_event()
        timer = threading.Timer(0.1, lambda: setattr(event, "signaled_value", 1))
        timer.start()
        assert event.wait_until_signaled_value(1, 20000) is True
        timer.join()

    def test_compile(self, device):
        """Ticks of another thread during compilation of a source never seen before."""
        ticks, stop = [], threading.Event()

        def tick():
            while not stop.is_set():
                ticks.append(time.perf_counter())
                time.sleep(0.001)

        thread = threading.Thread(target=tick)
        thread.start()
        body = "".join(f"a[{i}] += sin(a[{i}] + {i});" for i in range(200))
        begin = time.perf_counter()
        device.new_library_with_source(
            "#include <metal_stdlib>\nusing namespace metal;\n"
            f"kernel void f{os.getpid()}(device float *a [[buffer(0)]]) {{ {body} }}")
        end = time.perf_counter()
        stop.set()
        thread.join()
        assert end - begin < 0.005 or [t for t in ticks if begin < t < end]


class TestInterrupt:
    """Ctrl-C ends a wait; the work itself goes on."""

    @pytest.mark.parametrize("wait", ["commands.wait_until_completed()",
                                      "event.wait_until_signaled_value(9, 60000)"])
    def test_sigint(self, wait):
        assert python(f"""
            import os, signal, threading, time
            import pymetal as pm
            device = pm.create_system_default_device()
            event = device.new_shared_event()
            commands = device.new_command_queue().command_buffer()
            commands.encode_wait_for_event(event, 1)
            commands.commit()
            threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            begin = time.monotonic()
            try:
                {wait}
                print("not interrupted")
            except KeyboardInterrupt:
                print("interrupted", time.monotonic() - begin < 20)
            event.signaled_value = 1
            commands.wait_until_completed()
            print(commands.status.name)
            """) == "interrupted True\nCompleted"

    def test_handler_without_exception(self):
        """A signal handler that returns lets the wait go on."""
        assert python("""
            import os, signal, threading
            import pymetal as pm
            device = pm.create_system_default_device()
            event = device.new_shared_event()
            seen = []
            def handler(*_):
                seen.append(1)
                event.signaled_value = 1
            signal.signal(signal.SIGUSR1, handler)
            commands = device.new_command_queue().command_buffer()
            commands.encode_wait_for_event(event, 1)
            commands.commit()
            threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGUSR1)).start()
            commands.wait_until_completed()
            print(seen, commands.status.name)
            """) == "[1] Completed"


class TestHandlers:
    def test_completed(self, device, queue):
        done, seen = threading.Event(), []
        commands = queue.command_buffer()

        def handler(buffer):
            seen.append((buffer is commands, buffer.status))
            done.set()

        commands.add_completed_handler(handler)
        commands.commit()
        assert done.wait(20)
        assert seen == [(True, pm.CommandBufferStatus.Completed)]

    def test_order(self, device, queue):
        order, done = [], threading.Event()
        commands = queue.command_buffer()
        commands.add_scheduled_handler(lambda _: order.append("scheduled"))
        commands.add_completed_handler(lambda _: order.append("first"))
        commands.add_completed_handler(lambda _: (order.append("second"), done.set()))
        commands.commit()
        assert done.wait(20) and order == ["scheduled", "first", "second"]

    def test_exception_in_a_handler(self):
        done = python("""
            import sys, threading
            import pymetal as pm
            seen = threading.Event()
            def hook(info):
                print(type(info.exc_value).__name__, info.exc_value)
                seen.set()
            sys.unraisablehook = hook
            commands = pm.create_system_default_device().new_command_queue().command_buffer()
            def handler(_):
                raise ValueError("from the handler")
            commands.add_completed_handler(handler)
            commands.commit()
            commands.wait_until_completed()
            assert seen.wait(20)
            """)
        assert done == "ValueError from the handler"

    def test_new_work_from_a_handler(self, device, queue):
        state, buffer = pipeline(device, ADD_ONE, "add_one"), device.new_buffer(64, SHARED)
        done, left = threading.Event(), [20]

        def go(_=None):
            if left[0] == 0:
                done.set()
                return
            left[0] -= 1
            commands = queue.command_buffer()
            encode(commands, state, [buffer], 16)
            commands.add_completed_handler(go)
            commands.commit()

        go()
        assert done.wait(30) and (array_of(buffer) == 20).all()

    def test_wrong_type_and_too_late(self, commands):
        for bad in (None, 3, "f"):
            with pytest.raises(TypeError):
                commands.add_completed_handler(bad)
        commands.commit()
        with pytest.raises(pm.MetalError):
            commands.add_completed_handler(print)
        commands.wait_until_completed()


class TestThreads:
    def together(self, work, count=8):
        failures = []

        def guarded(i):
            try:
                work(i)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures, failures

    def test_submissions(self, device):
        state, queue = pipeline(device, ADD_ONE, "add_one"), device.new_command_queue()

        def work(i):
            buffer = device.new_buffer(4096, SHARED)
            array_of(buffer)[:] = i
            for _ in range(50):
                run(queue, state, [buffer], 1024)
            assert (array_of(buffer) == i + 50).all()

        self.together(work)

    def test_compiles(self, device):
        queue = device.new_command_queue()

        def work(i):
            for j in range(3):
                source = ADD_ONE.replace("1.0f", f"{i}.0f + {j}")
                buffer = device.new_buffer(64, SHARED)
                run(queue, pipeline(device, source, "add_one"), [buffer], 16)
                assert (array_of(buffer) == i + j).all()

        self.together(work, 4)

    def test_one_object_in_all(self, device):
        """The same wrapper from every thread, made and dropped while others look at it."""
        def work(_):
            for _ in range(300):
                queue = device.new_command_queue()
                assert queue.device is device
                assert queue.command_buffer().command_queue is queue
                assert pm.create_system_default_device() is device

        self.together(work)

    def test_events_between_threads(self, device):
        event = device.new_shared_event()

        def work(i):
            if i == 0:
                for value in range(1, 51):
                    assert event.wait_until_signaled_value(2 * value - 1, 30000)
                    event.signaled_value = 2 * value
            else:
                for value in range(1, 51):
                    event.signaled_value = 2 * value - 1
                    assert event.wait_until_signaled_value(2 * value, 30000)

        self.together(work, 2)
        assert event.signaled_value == 100


def child_job(number):
    """Compiles and runs something of its own."""
    device = pm.create_system_default_device()
    buffer = device.new_buffer(64, SHARED)
    state = pipeline(device, ADD_ONE.replace("1.0f", f"{number}.5f"), "add_one")
    run(device.new_command_queue(), state, [buffer], 16)
    return float(array_of(buffer)[0])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method):
    """Children work on their own, though the parent's threads are not theirs."""
    assert child_job(1) == 1.5
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map_async(child_job, [2, 3, 4]).get(60) == [2.5, 3.5, 4.5]
    assert child_job(5) == 5.5


def test_fork_does_not_hang(device):
    """A child of fork() may end without touching the device."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            assert status == 0
            break
        time.sleep(0.01)
    else:
        os.kill(pid, signal.SIGKILL)
        pytest.fail("the child hangs")
    assert (np.zeros(1) == 0).all()
