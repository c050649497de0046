"""Kernels, tapes and forward scopes, held against finite differences."""
import contextlib
import copy
import gc
import io
import os
import pathlib
import pickle
import sys
import tempfile
import threading
import time
import unittest
import weakref

import numpy as np

import kernels


def difference(f, array, step=1e-6):
    """The gradient of f() by the elements of an array, by central differences."""
    g = np.zeros(array.shape)
    for k in np.ndindex(array.shape):
        kept = array[k]
        array[k] = kept + step
        above = f()
        array[k] = kept - step
        g[k] = (above - f()) / (2 * step)
        array[k] = kept
    return g


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


class Derivatives(unittest.TestCase):
    def setUp(self):
        self.m = m = kernels.Module(threads=1)
        r = np.random.default_rng(1)
        for f in (m.x, m.y, m.w, m.apart, m.bodies.line.slope, m.bodies.line.offset, m.bodies.weight, m.z):
            f[...] = r.standard_normal(f.shape)
        self.inputs = [m.x, m.y, m.w, m.apart, m.bodies.line.slope, m.bodies.line.offset, m.bodies.weight, m.z]

    def value(self):
        self.m.loss = 0
        self.m.measure()
        return float(self.m.loss)

    def test_tape(self):
        m = self.m
        with m.tape(m.loss):
            m.measure()
        for f in self.inputs:
            close(f.grad, difference(self.value, f.data))
        before = m.x.grad.copy()
        with m.tape(m.loss, sum=True, gradient=2):
            m.measure()
        close(m.x.grad, 3 * before)
        self.assertGreaterEqual(m.session.tape_bytes, 0)

    def test_budget(self):
        m = self.m
        grads = []
        for budget in (0, 1 << 20, 12000):
            with m.tape(m.loss, budget=budget):
                for _ in range(200):
                    m.measure()
            grads.append(m.x.grad.copy())
            report = m.session.tape_report
            self.assertEqual((report.budget, report.launches), (budget, 200 if budget else 0))
            self.assertEqual(report.again > 0, budget == 12000)
            self.assertEqual(report.seconds > 0 and report.predicted > 0 and report.slots > 1, budget == 12000)
            self.assertLessEqual(report.bytes, budget)
        self.assertTrue((grads[0] == grads[1]).all() and (grads[0] == grads[2]).all())
        with self.assertRaisesRegex(kernels.Error.BadArgument, "a budget of 1 bytes is too small"):
            with m.tape(m.loss, budget=1):
                m.measure()
        for wrong in (-1, 1.5, "much"):
            with self.assertRaises((TypeError, ValueError, OverflowError)):
                m.tape(m.loss, budget=wrong)
        with m.tape(m.loss):
            m.measure()

    def test_budget_files(self):
        m, grads = kernels.Module(N=100, threads=1), []
        with tempfile.TemporaryDirectory() as folder:
            for files in (None, (folder, 1 << 20), (pathlib.Path(folder), 0), None):
                m.z = np.arange(100) * 0.01
                with m.tape(m.loss, budget=40000, files=files):
                    for _ in range(200):
                        m.swing()
                grads.append(m.z.grad.copy())
                self.assertEqual(m.session.tape_report.filed > 0, len(grads) == 2)
            for g in grads:
                np.testing.assert_array_equal(g, grads[0])
            self.assertEqual(os.listdir(folder), [])
        with self.assertRaisesRegex(kernels.Error.File, "no such directory"):
            with m.tape(m.loss, budget=40000, files=(folder, 1 << 20)):
                m.measure()
        with self.assertRaisesRegex(kernels.Error.BadArgument, "the directory has no name"):
            with m.tape(m.loss, files=("", 1)):
                m.measure()
        for wrong in ("/tmp", ("/tmp",), ("/tmp", 1.5), (3, 1), ("/tmp", -1)):
            with self.assertRaises((TypeError, ValueError, OverflowError)):
                m.tape(m.loss, files=wrong)
        with m.tape(m.loss):
            m.swing()

    def test_forward(self):
        m = self.m
        with m.tape(m.loss):
            m.measure()
        r = np.random.default_rng(2)
        for f in self.inputs:
            seed = r.standard_normal(f.shape)
            m.loss = 0
            with m.forward(f, seed, m.loss):
                m.measure()
            close(float(m.loss.dual), (seed * f.grad).sum())

    def test_second_order(self):
        m = self.m

        def gradient():
            with m.tape(m.loss):
                m.measure()
            return m.x.grad.copy()

        seed = np.random.default_rng(3).standard_normal(m.x.shape)
        with m.forward(m.x, seed, [m.loss]):
            gradient()
        product = m.x.grad_dual.copy()
        x = m.x.copy()
        m.x = x + 1e-6 * seed
        above = gradient()
        m.x = x - 1e-6 * seed
        close(product, (above - gradient()) / 2e-6)

    def test_direct(self):
        m = self.m
        m.clear_grad()
        m.loss.grad = 1
        m.measure.grad()
        close(m.y.grad, 3 * m.y ** 2)
        m.y.clear_grad()
        self.assertEqual(m.y.grad.sum(), 0)
        m.bodies.clear_grad()
        self.assertEqual(m.bodies.weight.grad.sum(), 0)
        m.clear_dual()
        m.y.dual = 1
        m.loss = 0
        m.measure.jvp()
        close(float(m.loss.dual), (3 * m.y ** 2).sum())
        m.bodies.clear_dual()
        m.y.clear_dual()
        self.assertEqual(m.y.dual.sum(), 0)
        m.clear_grad()
        m.loss.grad, m.y.dual, m.y.grad_dual = 1, 1, 0
        m.measure.hvp()
        close(m.y.grad_dual, 6 * m.y)

    def test_gradcheck(self):
        m = self.m
        r = m.gradcheck(m.loss, m.measure)
        self.assertEqual(r.compared, sum(f.size for f in self.inputs))
        close(r.reverse, r.forward)
        with self.assertRaises(kernels.Error.WrongGradient):
            m.gradcheck(m.loss, m.stopped, [m.y])
        with self.assertRaisesRegex(KeyError, "mine"):
            m.gradcheck(m.loss, lambda: {}["mine"], [m.y])
        m.y[0] = np.nan
        with self.assertRaisesRegex(kernels.Error.NotFinite, "'loss' is NaN at the checked point"):
            m.gradcheck(m.loss, m.measure)
        m.y[0] = 1
        runs = []

        def fails():
            runs.append(0)
            m.measure()
            if len(runs) == 4:
                raise KeyError("here")

        with self.assertRaisesRegex(KeyError, "here"):
            m.gradcheck(m.loss, fails)
        self.assertEqual(len(runs), 4)
        m.gradcheck(m.loss, m.measure, [m.y])
        m.measure()

    def test_gradcheck_along_directions(self):
        m, seen = self.m, []
        r = m.gradcheck(m.loss, m.measure, directions=3, progress=lambda done, of: seen.append((done, of)))
        self.assertEqual((r.compared, seen), (3, [(1, 3), (2, 3), (3, 3)]))
        close(r.reverse, r.forward)
        self.assertNotEqual(r.reverse, m.gradcheck(m.loss, m.measure, directions=3, seed=7).reverse)
        with self.assertRaisesRegex(kernels.Error.WrongGradient, "along direction"):
            m.gradcheck(m.loss, m.stopped, [m.y], directions=2)
        with self.assertRaises(ValueError):
            m.gradcheck(m.loss, m.measure, directions=-1)
        stderr = io.StringIO()
        with contextlib.redirect_stderr(stderr):
            m.gradcheck(m.loss, m.measure, directions=2, progress=True)
        self.assertEqual(stderr.getvalue(), "\rgradcheck: 1 of 2\rgradcheck: 2 of 2\n")
        runs = []

        def stops(done, of):
            runs.append(done)
            raise KeyError("enough")

        with self.assertRaisesRegex(KeyError, "enough"):
            m.gradcheck(m.loss, m.measure, progress=stops)
        self.assertEqual(runs, [1])
        m.measure()

    def test_continued(self):
        m = self.m
        with m.tape(m.loss):
            m.measure()
        first = m.y.grad.copy()
        m.loss.grad = 0
        with m.tape(m.loss, continued=True):
            m.measure()
        close(m.y.grad, 2 * first)


class Arguments(unittest.TestCase):
    def setUp(self):
        self.m = kernels.Module(threads=1)

    def test_values(self):
        m = self.m
        line = {"line": {"offset": 1, "slope": 2}, "weight": [3, 4], "count": 5}
        m.push(0.5, [1, 2], [[1, 3], [5, 7]], line, 1, True)
        close(m.y, [0.5 + 6 + 8 + 1] * 5)
        m.push(dt=np.float64(0), by=np.zeros(2, np.float32), turn=np.eye(2), l=((0, 0), (0, 0), 0), n=np.int64(2), on=np.bool_(True))
        close(m.y, [17.5] * 5)
        m.push(1, [1, 1], np.zeros((2, 2)), line, 1, False)
        close(m.y, [17.5] * 5)
        m.y.grad = 1
        g = m.push.grad(0.5, [1, 2], [[1, 3], [5, 7]], line, 1, True)
        close(g.by_grad, [2.5, 15])
        close(g.turn_grad, [[0, 10], [0, 0]])
        close([g.l_grad.line.slope, g.l_grad.weight[1], g.l_grad.line.offset], [20, 10, 0])
        m.clear_dual()
        m.push.jvp(0.5, [1, 2], [[1, 3], [5, 7]], line, 1, True, dt_dual=1, by_dual=[0, 1], l_dual={"line": {"slope": 0.5}})
        close(m.y.dual, [1 + 3 + 2] * 5)

    def test_values_that_do_not_fit(self):
        m, good = self.m, dict(dt=1, by=[1, 2], turn=np.eye(2), l=((0, 0), (0, 0), 0), n=1, on=True)
        for error, bad in ((TypeError, {"dt": "1"}), (TypeError, {"dt": None}), (TypeError, {"dt": 1j}), (ValueError, {"by": [1, 2, 3]}), (TypeError, {"by": ["a", "b"]}),
                           (TypeError, {"by": None}), (ValueError, {"turn": [1, 2, 3, 4]}), (TypeError, {"n": 1.0}), (ValueError, {"n": 2**31}),
                           (TypeError, {"on": 1}), (TypeError, {"l": 1}), (ValueError, {"l": {"slope": 1}}), (TypeError, {"more": 1})):
            with self.assertRaises(error, msg=str(bad)):
                m.push(**{**good, **bad})
        with self.assertRaises(TypeError):
            m.push(1)
        m.push(**good)

    def test_arrays(self):
        m, r = self.m, np.random.default_rng(4)
        A, b = r.standard_normal((3, 4)), r.standard_normal((4, 2))
        c = m.product(A, b)
        close(c, A @ b)
        given = np.full((3, 2), 7.0)
        self.assertIs(m.product(A, b=b, c=given), given)
        close(given, c)
        seed = r.standard_normal((3, 2))
        g = m.product.grad(A, b, c, c_grad=seed)
        close(g.A_grad, seed @ b.T)
        close(g.b_grad, A.T @ seed)
        more = np.ones((4, 2))
        m.product.grad(A, b, c, c_grad=seed, b_grad=more)
        close(more, 1 + A.T @ seed)
        d = m.product.jvp(A, b, A_dual=2 * A)
        close(d.c, c)
        close(d.c_dual, 2 * c)
        a = np.array([1.0, 2.0, 3.0])
        s = np.array([(0, 0), (1, 2)], kernels.Line)
        k = np.array([10, 0, 0], np.int32)
        self.assertIsNone(m.scaled(a, s, k))
        close(a, [12, 14, 16])
        s[1] = (0, 3)
        g = m.scaled.grad(a, s, k, a_grad=np.array([1.0, 0.0, 2.0]))
        close(g, [3, 0, 6])
        close(m.lines(np.zeros(2, kernels.Line))["slope"], [2, 2])
        self.assertEqual(m.product(np.zeros((0, 4)), b).shape, (0, 2))

    def test_arrays_that_do_not_fit(self):
        m = self.m
        A, b = np.ones((3, 4)), np.ones((4, 2))
        fixed = np.ones((3, 2))
        fixed.flags.writeable = False
        s, k = np.zeros(2, kernels.Line), np.zeros(3, np.int32)
        for error, call in (
                (TypeError, lambda: m.product(A.tolist(), b)), (TypeError, lambda: m.product(A.astype("f4"), b)), (TypeError, lambda: m.product(None, b)),
                (ValueError, lambda: m.product(A.T, b)), (ValueError, lambda: m.product(A, np.ones((4, 3)))), (ValueError, lambda: m.product(A, np.ones(4))),
                (ValueError, lambda: m.product(A[:, ::2], b)), (ValueError, lambda: m.product(np.asfortranarray(A), b)),
                (ValueError, lambda: m.product(A, b, fixed)), (ValueError, lambda: m.product(A, b, np.ones((4, 2)))), (ValueError, lambda: m.product(A, b, b[:3])),
                (TypeError, lambda: m.lines()), (TypeError, lambda: m.scaled(A[0], np.zeros((2, 2)), k)), (ValueError, lambda: m.scaled(A[0], np.zeros(3, kernels.Line), k)),
                (ValueError, lambda: m.scaled(A[0], s, np.zeros(4, np.int32))), (TypeError, lambda: m.scaled(A[0], s, np.zeros(3, np.int64)))):
            with self.assertRaises(error):
                call()
        m.scaled(A[0], s, k)

    def test_arrays_on_a_tape(self):
        m = self.m
        m.y = [1, 2, 3, 4, 5]
        with m.tape(m.loss):
            m.seen(np.arange(5.0), np.full((5, 2), 3.0))     # nobody else holds them
            gc.collect()
            [np.full(5, 99.0) for _ in range(100)]
        close(m.y.grad, 3 * np.arange(5))
        self.assertEqual(float(m.loss), 3 * (2 + 6 + 12 + 20))

    def test_results(self):
        m = self.m
        m.y = [1, 2, 3, 4, 5]
        m.loss = 6
        self.assertEqual(m.total((0, 2)), 30)
        g = m.total.grad((0, 2))
        self.assertEqual((g.slope, g.offset), (15, 0))
        close(m.y.grad, [2] * 5)
        self.assertEqual(m.total.jvp((0, 2), l_dual=(0, 1)), (30, 15))
        self.assertEqual(m.both().offset, 6)
        np.testing.assert_array_equal(m.turned(), [[1, 2, 3], [4, 5, 6]])

    def test_names(self):
        m = self.m
        self.assertEqual(m.pick(lambda_=3, self_=4), 7)
        m.del_()
        m.tape_(7, None_=True, all=0.5)
        self.assertEqual(float(m.loss), 7.5)
        self.assertIn('Says "twice"\n', kernels.Module.measure.__doc__)
        self.assertIn("A: f64[n, m]", kernels.Module.product.__call__.__doc__)
        self.assertFalse(hasattr(m.pick, "grad"))


class Host(unittest.TestCase):
    def setUp(self):
        self.lines = []
        self.m = kernels.Module(threads=1, on_print=self.lines.append)
        self.m.apart = 0

    def double(self):
        """y *= 2, by Python."""
        m = self.m

        def forward():
            m.y *= 2

        def backward():
            m.y.grad[...] *= 2

        def jvp():
            m.y *= 2
            m.y.dual[...] *= 2

        m.session.call(forward, backward, jvp)

    def test_on_a_tape_and_in_a_scope(self):
        m = self.m
        m.y = 1
        with m.tape(m.loss):
            self.double()
            gc.collect()
            m.measure()
        close(m.y.grad, 3 * 2.0 ** 2 * np.full(5, 2.0))
        m.y = 1
        m.loss = 0
        with m.forward(m.y, np.ones(5), m.loss):
            self.double()
            m.measure()
        close(float(m.loss.dual), 5 * 24)
        self.double()
        close(m.y, [4] * 5)

    def test_footprint(self):
        m = self.m
        m.y = 1
        with self.assertRaisesRegex(TypeError, "a footprint has fields of modules, not float"):
            m.session.call(lambda: None, needs=[1.5])
        self.overwritten(needs=[m.y])
        close(m.y.grad, np.full(5, 1.0))
        self.overwritten(reads=[m.y])  # its own word
        close(m.y.grad, np.full(5, -1.0))
        self.overwritten()
        close(m.y.grad, np.full(5, 1.0))

    def overwritten(self, **footprint):
        """backward() adds y to y.grad, and the host stores y again behind it."""
        m = self.m
        m.y = 1

        def keeps():
            pass

        def backward():
            m.y.grad[...] += m.y

        def store():
            m.y = -1

        with m.tape(m.loss):
            m.session.call(keeps, backward, **footprint)
            m.session.call(store, lambda: m.y.grad.fill(0), stores=[m.y])
            m.measure()

    def test_exceptions(self):
        m = self.m

        def fail():
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            m.session.call(fail)
        with self.assertRaisesRegex(KeyError, "mine"):
            with m.tape(m.loss):
                m.session.call(lambda: None, fail)
        with self.assertRaises(kernels.Error.Assert):
            m.session.call(lambda: m.checked(-1))
        with self.assertRaises(kernels.Error.NoDerivative):
            with m.tape(m.loss):
                m.session.call(lambda: None)
        m.measure()

    def test_print(self):
        self.m.pick(12, 0)
        self.m.said()
        self.assertEqual(self.lines, ["chosen 12"])


class Stores(unittest.TestCase):
    """Stores of the host are steps of tapes and forward scopes: a value that is replaced has no derivative."""

    def setUp(self):
        self.m = kernels.Module(N=5, threads=1)

    def program(self, store):
        m = self.m
        m.lift()
        store()
        m.measure()

    def derivatives(self, store):
        """Of the loss by y as it was in the beginning, in both modes and under a budget."""
        m = self.m
        start, seed = [0.1, -0.7, 0.3, 0.9, 0.2], [1, 2, -1, 0.5, 3]
        m.y = start
        m.bodies.line.offset = 0.5
        with m.tape(m.loss):
            self.program(store)
        gradient, y = m.y.grad.copy(), m.y.copy()
        m.y, m.loss = start, 0
        with m.forward(m.y, seed, m.loss):
            self.program(store)
        close(m.loss.dual, gradient @ seed)
        m.y = start
        with m.tape(m.loss, budget=100000):
            self.program(store)
        close(m.y.grad, gradient)
        return gradient, 3 * y ** 2

    def test_replaced(self):
        y = self.m.y
        for kept, store in ((0, lambda: setattr(self.m, "y", 0.5)), (0, lambda: y.fill(2)), ([1, 0, 1, 1, 1], lambda: y.__setitem__(1, 0.25)),
                            ([0, 0, 1, 0, 1], lambda: y.__setitem__(np.array([True, True, False, True, False]), 3)), ([1, 0, 0, 1, 1], lambda: y.__setitem__(slice(1, 3), [4, 5])),
                            (1, lambda: setattr(self.m, "bodies", np.zeros(5, self.m.bodies.dtype))), (1, lambda: self.m.chosen.fill(3))):
            gradient, through = self.derivatives(store)
            close(gradient, through * kept)

    def test_in_place(self):
        y, c = self.m.y, np.array([1, 2, 3, 4, 5.0])
        for by, store in ((1, lambda: np.add(y, c, out=y)), (1, lambda: np.subtract(y, c, out=y)), (c, lambda: np.multiply(y, c, out=y)), (2, lambda: np.multiply(2.0, y, out=y)),
                          (1 / c, lambda: np.true_divide(y, c, out=y))):
            gradient, through = self.derivatives(store)
            close(gradient, through * by)

    def test_a_struct(self):
        m = self.m
        for store in (lambda: m.bodies.__setitem__(2, m.bodies[3].copy()), lambda: setattr(m.bodies.line, "offset", [1, 2, 7, 4, 5])):
            m.bodies.line.offset = [1, 2, 3, 4, 5]
            with m.tape(m.loss):
                m.lift()
                store()
                m.measure()
            close(m.bodies.line.offset.grad, np.array([2, 4, 0, 8, 10]) if m.bodies.line.offset[2] == 4 else 0)

    def test_before_the_first_launch(self):
        """Inputs may be set inside of the block: gradients are by these values."""
        m = self.m
        with m.tape(m.loss):
            m.y = [1, 2, 3, 4, 5]
            m.measure()
        close(m.y.grad, 3 * m.y ** 2)
        m.loss = 0
        with m.forward(m.y, 1, m.loss):
            m.y = [1, 2, 3, 4, 5]
            m.measure()
        close(m.loss.dual, m.y.grad.sum())
        m.y = 0.3
        close(m.gradcheck(m.loss, m.measure, m.y).compared, 5)

    def test_nested(self):
        with self.assertRaisesRegex(kernels.Error.BadState, "a tape is already open|tape.* is open"):
            with self.m.tape(self.m.loss), self.m.tape(self.m.loss):
                pass

    def test_without_a_derivative(self):
        m = self.m
        for store in (lambda: setattr(m, "y", m.loss), lambda: m.y.__setitem__(slice(2), m.loss), lambda: np.add(m.y, m.y, out=m.y), lambda: np.sin(m.y, out=m.y), lambda: m.y.sort(),
                      lambda: np.add(m.y, 1.0, out=m.y, where=[True] * 5), lambda: np.power(m.y, 2, out=m.y)):
            for scope in (lambda: m.tape(m.loss), lambda: m.forward(m.y, 1, m.loss)):
                with self.assertRaisesRegex(TypeError, "a store to y .* has no derivative here"):
                    with scope():
                        m.lift()
                        store()
            store()    # outside


class Errors(unittest.TestCase):
    def setUp(self):
        self.m = kernels.Module(threads=1)

    def test_a_kernel_that_fails(self):
        m = self.m
        with self.assertRaisesRegex(kernels.Error.Assert, "i is negative"):
            m.checked(-1)
        with self.assertRaises(AssertionError) as caught:
            m.checked(-1)
        self.assertEqual(caught.exception.status, "TK_ASSERT")
        with self.assertRaises(kernels.Error.Bounds):
            m.checked(5)
        m.checked(4)
        self.assertEqual(m.y[4], 1)

    def test_what_arguments_are_told(self):
        m, line = self.m, ((0, 0), (0, 0), 0)
        wanted = "A: a NumPy array of float64 is wanted, not "
        for error, told, wrong in (
                (TypeError, "n is an integer (i32), not 1.5", lambda: m.push(0.1, [1, 2], np.eye(2), line, 1.5, True)),
                (ValueError, "n is i32, and 1099511627776 is out of its range", lambda: m.push(0.1, [1, 2], np.eye(2), line, 2**40, True)),
                (TypeError, "on is True or False, not 1", lambda: m.push(0.1, [1, 2], np.eye(2), line, 1, 1)),
                (TypeError, "dt is a number, not 'a'", lambda: m.push("a", [1, 2], np.eye(2), line, 1, True)),
                (ValueError, "by has the shape (2,), not (3,)", lambda: m.push(0.1, [1, 2, 3], np.eye(2), line, 1, True)),
                (TypeError, wanted + "list (numpy.array(..., 'float64'))", lambda: m.product([[1.0]], np.ones((1, 2)))),
                (TypeError, wanted + "float32 (A.astype('float64') is one; or let the .tk have f32)", lambda: m.product(np.ones((1, 1), "f4"), np.ones((1, 2)))),
                (TypeError, wanted + "int64", lambda: m.product(np.ones((1, 1), "i8"), np.ones((1, 2)))),
                (ValueError, "the seed of y has the shape (5,), not (4,)", lambda: m.forward(m.y, np.ones(4), m.loss)),
                (AttributeError, "kernel pick has no grad: 'derive(grad, jvp)' behind its parameters in the .tk asks for it", lambda: m.pick.grad)):
            with self.assertRaises(error) as caught:
                wrong()
            self.assertEqual(str(caught.exception), told)
        if sys.version_info >= (3, 10):
            with self.assertRaisesRegex(TypeError, r"^product\(\) missing 1 required positional argument: 'b'"):
                m.product(np.ones((1, 1)))
            with self.assertRaisesRegex(TypeError, r"^push\.jvp\(\) missing"):
                m.push.jvp(1.0)

    def test_states(self):
        m = self.m
        with self.assertRaises(kernels.Error.BadState):
            with m.tape(m.loss):
                m.clear_grad()
        with self.assertRaisesRegex(kernels.Error.NoDerivative, "nothing"):
            with m.tape(m.loss):
                m.nothing()
        with self.assertRaises(kernels.Error.BadState):
            with m.tape(m.loss):
                with m.tape(m.loss):
                    pass
        with self.assertRaises(ValueError):
            with m.tape(m.y):
                pass
        with self.assertRaisesRegex(kernels.Error.BadArgument, r"'order' .* order\[0\] and order\[1\] are both 0"):
            m.put()
        m.order[...] = np.arange(5)[::-1]
        m.put()
        self.assertEqual(list(m.y), [4, 3, 2, 1, 0])
        with self.assertRaises(kernels.Error.BadArgument):
            with m.forward(m.y, np.ones(5)):
                pass
        with self.assertRaises(ValueError):
            m.forward(m.y, np.ones(4), m.loss)
        with self.assertRaises(TypeError):
            m.forward(m.bodies, 1, m.loss)
        other = kernels.Module(threads=1)
        for scope in (lambda: m.tape(other.loss), lambda: m.forward(m.y, 1, other.loss), lambda: m.gradcheck(other.loss, m.measure)):
            with self.assertRaisesRegex(ValueError, "session"):
                scope()
        with self.assertRaises(TypeError):
            m.tape("loss")
        with self.assertRaises(KeyError):
            with m.tape(m.loss):
                m.measure()
                raise KeyError
        with self.assertRaises(KeyError):
            with m.forward(m.y, 1, m.loss):
                raise KeyError
        m.y = 1
        with m.tape(m.loss):
            m.measure()
        close(m.y.grad, [3] * 5)

    def test_a_failure_caught_inside(self):
        m = self.m
        with self.assertRaises(kernels.Error.Assert):
            with m.tape(m.loss):
                try:
                    m.checked(-1)
                except kernels.Error:
                    pass

    def test_validated(self):
        m = self.m
        with self.assertRaises(kernels.Error.Overwritten):
            with m.tape(m.loss, validate=True):
                m.measure()
                m.y = 5

    def test_nonfinite(self):
        m = self.m
        m.session.stop_at_nonfinite()
        m.y = np.inf
        with self.assertRaises(kernels.Error.NotFinite):
            m.measure()

    def test_closed_under_a_tape(self):
        m = self.m
        with m.tape(m.loss):
            m.measure()
            m.close()
        self.assertTrue(m.closed)


class Threads(unittest.TestCase):
    def test_others_run_during_a_launch(self):
        """The other thread counts; without the switches that Python makes by the clock, it gets its turn in launches alone."""
        m = kernels.Module(N=200000, threads=1)
        m.y = m.x = 0.5
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)

        other = threading.Thread(target=count)
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        self.addCleanup(sys.setswitchinterval, interval)
        other.start()
        inside, launches = 0, 0
        while inside == 0 and launches < 20000:    # a busy machine may keep it from a processor in many of them
            launches += 1
            before = counted[0]
            m.measure()
            inside = counted[0] - before
        stop.set()
        other.join()
        self.assertGreater(inside, 0, f"the other thread ran in none of {launches} launches")


if __name__ == "__main__":
    unittest.main()
