"""What modules say of themselves, what kernels print, and launches that Ctrl-C ends."""
import os
import signal
import threading
import time
import unittest

import numpy as np

import said

# A shell ignores SIGINT in commands that it starts in the background, and Python keeps that.
signal.signal(signal.SIGINT, signal.default_int_handler)

LONG = 3000         # of a launch that takes half a minute


def interrupt(after=0.3):
    threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


class Prints(unittest.TestCase):
    def test_lines(self):
        """Each call gets one whole line; of a parallel loop all of them."""
        lines = []
        m = said.Module(threads=2, on_print=lines.append)
        m.say_two()
        self.assertEqual(lines, ["one", "two", ""])
        lines.clear()
        m.say(5000)
        self.assertEqual(sorted(lines, key=lambda line: int(line[5:])), [f"line {i}" for i in range(5000)])

    def test_thread(self):
        """on_print runs in the thread of the launch."""
        seen = set()
        m = said.Module(threads=4, on_print=lambda line: seen.add(threading.get_ident()))
        m.say(100000)
        self.assertEqual(seen, {threading.get_ident()})

    def test_exceptions(self):
        """The first comes out of the launch, which calls the function no more; the module goes on."""
        lines = []

        def fail_at_third(line):
            lines.append(line)
            if len(lines) == 3:
                raise KeyError("third")

        for threads in 1, 2:
            lines.clear()
            m = said.Module(N=10, threads=threads, on_print=fail_at_third)
            with self.assertRaisesRegex(KeyError, "third"):
                m.say(100000)
            self.assertEqual(len(lines), 3)
            m.say(2)
            self.assertEqual(len(lines), 5)
            lines.clear()
            with self.assertRaisesRegex(KeyError, "third"):
                with m.tape(m.loss):
                    m.measure(1)
                    m.say(3)
            with m.tape(m.loss):
                m.measure(1)
            np.testing.assert_allclose(m.y.grad, np.ones(10))
        with self.assertRaisesRegex(TypeError, "on_print is a function of a line, not 3"):
            said.Module(on_print=3)


class Interrupts(unittest.TestCase):
    def ends(self, program):
        start = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            program()
        self.assertLess(time.monotonic() - start, 60)

    def test_launch(self):
        for threads in 1, 2:
            m = said.Module(threads=threads)
            m.y = 0.5
            interrupt()
            self.ends(lambda: m.move(LONG))
            m.y = 0.5
            m.move(1)
            np.testing.assert_allclose(m.y, np.full(400000, np.sin(0.5) + 0.1 * np.cos(0.5)))

    def test_tape(self):
        """The block is left by the exception: no adjoint runs, and the next tape is a new one."""
        m = said.Module(threads=1)

        def program():
            with m.tape(m.loss):
                m.measure(1)
                m.measure(LONG)

        interrupt()
        self.ends(program)
        np.testing.assert_array_equal(m.y.grad, 0)
        with m.tape(m.loss):
            m.measure(1)
        np.testing.assert_allclose(m.y.grad, 1)

    def test_print(self):
        """None is lost to a call of on_print."""
        for threads in 1, 2:
            lines = []
            m = said.Module(threads=threads, on_print=lines.append)
            interrupt()
            self.ends(lambda: m.say(2**31 - 1))
            lines.clear()
            m.say(2)
            self.assertEqual(len(lines), 2)

    def test_handlers(self):
        """Any handler's exception ends a launch; a handler without one does not."""
        class Enough(BaseException):
            pass

        def handler(*_):
            calls.append(1)
            if len(calls) == 2:
                raise Enough

        calls, m = [], said.Module(threads=1)
        before = signal.signal(signal.SIGINT, handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        interrupt(0.2)
        interrupt(0.6)
        with self.assertRaises(Enough):
            m.move(LONG)
        self.assertEqual(len(calls), 2)


class Words(unittest.TestCase):
    def test_dir(self):
        m = said.Module(N=2)
        self.assertEqual([x for x in dir(said) if not x.startswith("_")], ["Ball", "Error", "Field", "Module", "Session"])
        self.assertTrue({"y", "loss", "measure", "say", "tape", "params"} <= set(dir(m)))
        self.assertTrue({"data", "grad", "clear_grad", "shape", "sum"} <= set(dir(m.y)))
        self.assertFalse({"dual", "clear_dual", "grad_dual"} & set(dir(m.y)))
        self.assertTrue({"mass", "at", "grad"} <= set(dir(m.balls)))
        self.assertTrue({"mass", "at"} <= set(dir(m.apart)))
        for x in m, m.y, m.loss, m.balls, m.apart, m.measure, m.params, m.session:
            for name in set(dir(x)) - set(dir(np.ndarray)):
                getattr(x, name)

    def test_repr(self):
        m = said.Module(N=3, threads=1)
        self.assertEqual(repr(m), """<said.Module(N=3, M=2)
  y: float64[3], grad
  loss: float64, grad, dual
  balls: struct[2] of mass, at, grad
  apart: struct, soa, of mass: float32[2], at: float32[2, 2]
  kernels: say, say_two, measure, move>""")
        self.assertEqual([repr(x) for x in (m.measure, m.apart, m.session)], ["<kernel measure>", "<field apart: soa, members mass, at>", "<session: 1 thread>"])
        kernel = m.measure
        m.close()
        self.assertEqual([repr(m), repr(kernel)], ["<said.Module, closed>", "<kernel measure, closed>"])


if __name__ == "__main__":
    unittest.main()
