"""Export funcs: values, arrays and derivatives, held against finite differences."""
import builtins
import unittest

import numpy as np

import functions as f


def close(a, b, tolerance=1e-6):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=1e-8)


class Values(unittest.TestCase):
    def test_derivatives(self):
        r = f.fall_grad(5.0, [3, 4], 10)
        close(r.result, f.fall(height=5, v=(3, 4), n=10))
        h = 1e-6
        numbers = [(f.fall(5, [3 + h, 4], 10) - f.fall(5, [3 - h, 4], 10)) / (2 * h), (f.fall(5, [3, 4 + h], 10) - f.fall(5, [3, 4 - h], 10)) / (2 * h)]
        close(r.v_grad, numbers)
        self.assertEqual(r.height_grad, 1)
        close(f.fall_grad(5.0, [3, 4], 10, result_grad=2).v_grad, 2 * r.v_grad)
        close(f.fall_jvp(5.0, [3, 4], 10, v_dual=[1, 2], height_dual=3).result_dual, numbers[0] + 2 * numbers[1] + 3, 1e-5)
        along = f.fall_hvp(5.0, [3, 4], 10, v_dual=[1, 2]).v_grad_dual
        above, below = (f.fall_grad(5.0, [3 + s * h, 4 + s * 2 * h], 10).v_grad for s in (1, -1))
        close(along, (above - below) / (2 * h), 1e-5)
        self.assertEqual(f.fall_grad(1.0, [0, 0], 0).height_grad, 1)
        self.assertEqual(f.fall_grad(1.0, [1, 1], 10000).height_grad, 1)

    def test_inputs(self):
        rain, p, a, k, h = np.linspace(0.1, 0.5, 4), {"mass": 1.5}, np.array([0.4, 0.9]), 0.7, 1e-6
        r = f.runoff_grad(rain, p, a, k)
        self.assertEqual(r._fields, ("result", "a_grad", "k_grad"))
        close(r.result, f.runoff(rain, p, a, k))
        close(r.k_grad, (f.runoff(rain, p, a, k + h) - f.runoff(rain, p, a, k - h)) / (2 * h))
        e = np.eye(2) * h
        close(r.a_grad, [(f.runoff(rain, p, a + e[i], k) - f.runoff(rain, p, a - e[i], k)) / (2 * h) for i in range(2)])
        close(f.runoff_jvp(rain, p, a, k, k_dual=2).result_dual, 2 * r.k_grad)
        s = f.runoff_hvp(rain, p, a, k, a_dual=[1, 2])
        self.assertEqual(s._fields, ("result", "result_dual", "a_grad", "a_grad_dual"))
        close(s.a_grad, r.a_grad)
        above, below = (f.runoff_grad(rain, p, a + t * h * np.array([1, 2]), k).a_grad for t in (1, -1))
        close(s.a_grad_dual, (above - below) / (2 * h), 1e-5)
        for form, name in ((f.runoff_jvp, "a_dual"), (f.runoff_jvp, "rain_dual"), (f.runoff_hvp, "k_dual"), (f.runoff_hvp, "p_dual")):
            with self.assertRaises(TypeError):
                form(rain, p, a, k, **{name: a})

    def test_structs_and_several_results(self):
        p, A = {"mass": 2, "size": [1, 2], "steps": 3, "on": True}, np.arange(6.0).reshape(2, 3)
        q, m, B, n = f.grow(p, 0.1, A)
        self.assertEqual((q.steps, q.on, n), (3, True, 4))
        close(m, q.mass)
        close(B, 0.1 * A)
        h = 1e-6

        def value(rate):
            return f.grow(p, rate, A).result_1
        r = f.grow_grad(p, 0.1, A, result_1_grad=1.0)
        close(r.rate_grad, (value(0.1 + h) - value(0.1 - h)) / (2 * h))
        close(r.p_grad.mass, q.mass / 2)
        close(r.A_grad, [[0, q.mass, 0], [0, 0, 0]])
        close(f.grow_jvp(p, 0.1, A, rate_dual=1).result_1_dual, r.rate_grad)
        e = f.wrap({"inner": p, "lambda_": 0.5})
        self.assertEqual((e.lambda_, e.inner.steps, e.inner["size"][1]), (0.5, 3, 2))
        self.assertEqual(f.wrap(e), e)
        self.assertEqual(f.wrap((e.inner, 7)).lambda_, 7)
        with self.assertRaises(TypeError):
            f.wrap({"inner": {"on": 1}})
        with self.assertRaises(ValueError):
            f.wrap({"inner": {"steps": 2**31}})

    def test_names(self):
        self.assertEqual((f.sorted_(0.5, 2), f.zip_(lambda_=1, None_=2), f.Module_(self_=3)), (2.5, True, 6))
        close(f.del_(4), [4, 4])
        self.assertIsNone(f.none())
        self.assertFalse(hasattr(f, "del_grad"))
        self.assertIs(f.__dict__.get("zip", builtins.zip), builtins.zip)
        self.assertEqual(f.Error_.names, ("inner", "lambda_"))
        for name in f.__all__:
            self.assertTrue(hasattr(f, name))
        self.assertIn("Falls through air.", f.fall.__doc__)


class Matrices(unittest.TestCase):
    p, r, turn, h = np.array([1.5, 0.4]), 0.8, 1.3, 1e-6

    def steps(self, function):
        """Central differences of function(p, r), a column for each of p.x, p.y, r."""
        e = np.eye(3) * self.h
        return np.array([(function(self.p + d[:2], self.r + d[2]) - function(self.p - d[:2], self.r - d[2])) / (2 * self.h) for d in e]).T

    def test_missing_derivatives(self):
        for name, form, asks in (("polar", "grad", "grad, jvp)'"), ("valley", "hvp", "grad, jvp, hvp)'"), ("fall", "hess", "hess(x))'"), ("del_", "jac", "jac(x))'")):
            with self.assertRaises(AttributeError) as raised:
                getattr(f, f"{name.rstrip('_')}_{form}")
            self.assertIn(f"function {name} has no {form}: 'derive({asks} behind its parameters in the .tk asks for it", str(raised.exception))
        for name in ("fal_hess", "Plant_grad", "fall_adjoint"):
            with self.assertRaisesRegex(AttributeError, f"module 'functions' has no attribute '{name}'"):
                getattr(f, name)

    def test_jacobian(self):
        m = f.polar_jac(self.p, self.r, self.turn)
        self.assertEqual(m._fields, ("result_0", "result_1", "jac"))
        self.assertEqual((m.jac.shape, m.jac.dtype), ((3, 3), np.float64))
        close(m.result_0, f.polar(self.p, self.r, self.turn).result_0)
        close(m.jac, self.steps(lambda p, r: np.hstack(f.polar(p, r, self.turn))), 1e-5)
        for k, d in enumerate(np.eye(3)):
            j = f.polar_jvp(self.p, self.r, self.turn, p_dual=d[:2], r_dual=d[2])
            close(m.jac[:, k], [*j.result_0_dual, j.result_1_dual])

    def test_hessian(self):
        weights = np.array([0.7, -2]), 0.3
        m = f.polar_hess(self.p, self.r, self.turn, *weights)
        self.assertEqual(m._fields, ("result_0", "result_1", "grad", "hess"))

        def gradient(p, r):
            return np.array([*weights[0], weights[1]]) @ f.polar_jac(p, r, self.turn).jac
        close(m.grad, gradient(self.p, self.r))
        close(m.hess, self.steps(gradient), 1e-5)
        self.assertTrue((m.hess == m.hess.T).all())
        close(f.valley_hess([1, 1]).hess, [[802, -400], [-400, 200]])
        close(f.valley_hess(x=[1, 1]).grad, [0, 0])

    def test_workspace(self):
        m, x = f.steps_hess([0.3, 0.8], 9), np.array([0.3, 0.8])
        close(m.grad, f.steps_grad(x, 9).x_grad)
        close(m.hess, [(f.steps_grad(x + e, 9).x_grad - f.steps_grad(x - e, 9).x_grad) / (2 * self.h) for e in np.eye(2) * self.h], 1e-5)
        self.assertEqual(len(f.steps_hess.pattern[0]), 4)

    def test_pattern(self):
        rows, columns = f.polar_jac.pattern
        self.assertEqual(f.polar_jac.shape, (3, 3))
        np.testing.assert_array_equal(list(zip(rows, columns)), [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (2, 0)])
        jac = f.polar_jac(self.p, self.r, self.turn).jac
        again = np.zeros(f.polar_jac.shape)
        again[f.polar_jac.pattern] = jac[f.polar_jac.pattern]
        np.testing.assert_array_equal(again, jac)
        with self.assertRaises(ValueError):
            rows[0] = 1
        m = f.narrow_jac([2, 3, 5], np.array([7], np.float32))
        np.testing.assert_array_equal(m[1], [[35, 0, 14]])
        self.assertEqual((m[1].dtype, f.narrow_jac.shape), (np.float32, (1, 3)))
        np.testing.assert_array_equal(f.narrow_jac.pattern[1], [0, 2])

    def test_refused(self):
        self.assertIn("polar_hess", dir(f))
        self.assertIn("Jacobian of polar", f.polar_jac.__doc__)
        for error, call in (
                (TypeError, lambda: f.polar_hess(self.p, self.r, self.turn)), (TypeError, lambda: f.polar_hess(self.p, self.r, self.turn, [1, 2])),
                (ValueError, lambda: f.polar_hess(self.p, self.r, self.turn, [1, 2, 3], 1)), (ValueError, lambda: f.polar_jac([1, 2, 3], 1, 1)),
                (TypeError, lambda: f.polar_jac(self.p, "1", 1)), (AttributeError, lambda: f.valley_jac)):
            with self.assertRaises(error):
                call()


class Arrays(unittest.TestCase):
    def setUp(self):
        r = np.random.default_rng(1)
        self.s, self.k = r.standard_normal((5, 2)), r.standard_normal(5)

    def run_once(self, s, k, dt):
        s = s.copy()
        return s, f.oscillate(s, k, dt)

    def test_in_place(self):
        s, e = self.run_once(self.s, self.k, 0.1)
        y = self.s[:, 1] - 0.1 * self.k * self.s[:, 0]
        close(s[:, 1], y)
        close(e, 0.5 * (y**2 + self.k * s[:, 0]**2))
        given = np.ones(5)
        self.assertIs(f.oscillate(self.s, self.k, 0.1, given), given)
        close(given, e)

    def test_gradient(self):
        r = np.random.default_rng(2)
        s_seed, e_seed = r.standard_normal((5, 2)), r.standard_normal(5)

        def value(s, k, dt):
            s, e = self.run_once(s, k, dt)
            return (s * s_seed).sum() + (e * e_seed).sum()

        s_grad = s_seed.copy()
        g = f.oscillate_grad(self.s, self.k, 0.1, e_grad=e_seed, s_grad=s_grad)
        self.assertIs(g.s_grad, s_grad)
        h = 1e-6
        for array, gradient in ((self.s, s_grad), (self.k, g.k_grad)):
            for at in np.ndindex(array.shape):
                kept, values = array[at], []
                for step in (h, -h):
                    array[at] = kept + step
                    values.append(value(self.s, self.k, 0.1))
                array[at] = kept
                close(gradient[at], (values[0] - values[1]) / (2 * h), 1e-5)
        close(g.dt_grad, (value(self.s, self.k, 0.1 + h) - value(self.s, self.k, 0.1 - h)) / (2 * h), 1e-5)
        dual = np.ones((5, 2))
        j = f.oscillate_jvp(self.s.copy(), self.k, 0.1, s_dual=dual, k_dual=np.ones(5), dt_dual=1)
        self.assertIs(j.s_dual, dual)
        forward = (dual * s_seed).sum() + (j.e_dual * e_seed).sum()
        close(forward, s_grad.sum() + g.k_grad.sum() + g.dt_grad)

    def test_structs(self):
        p = np.zeros((3, 2), f.Plant)
        p["mass"], p["size"] = 2, [3, 4]
        self.assertEqual(f.masses(p, 0.5), 6 * 3)
        self.assertEqual(f.masses(p.view(np.dtype((np.void, p.dtype))), 0.5), 18)
        g = f.masses_grad(p, 0.5)
        self.assertEqual((g.c_grad, g.p_grad["mass"][2, 1], g.p_grad[0, 0]["size"][0]), (36, 1.5, 1))

    def test_constant_extents(self):
        A, x = np.eye(4), np.arange(4.0)
        f.linear(x, np.ones(1), A, 0.5)
        close(x, [0, 1.5, 3, 5])
        for arguments in ((x[:3], np.ones(1), A), (x, np.ones(2), A), (x, np.ones(1), np.eye(3))):
            with self.assertRaises(ValueError):
                f.linear(*arguments, 0.5)

    def test_other_types(self):
        r = f.counted(np.array([1, 2, 300], np.int16), f=np.array([True, False]))
        self.assertEqual(r.result, 303)
        np.testing.assert_array_equal(r.b, [[1, 0], [2, 0], [44, 0]])
        self.assertEqual((r.b.dtype, f.counted(np.zeros(0, np.int16), np.zeros(2, bool)).b.shape), (np.uint8, (0, 2)))

    def test_refused(self):
        s, k = self.s, self.k
        fixed = s.copy()
        fixed.flags.writeable = False
        unaligned = np.frombuffer(bytearray(41), np.uint8)[1:].view(np.float64)
        big = k.astype(">f8")
        for error, call in (
                (TypeError, lambda: f.oscillate(s, k.astype(np.float32), 1)), (TypeError, lambda: f.oscillate(s.tolist(), k, 1)), (TypeError, lambda: f.oscillate(s, big, 1)),
                (TypeError, lambda: f.oscillate(None, k, 1)), (TypeError, lambda: f.oscillate(s, k)), (TypeError, lambda: f.oscillate(s, k, "1")),
                (ValueError, lambda: f.oscillate(s, k[:4], 1)), (ValueError, lambda: f.oscillate(s, k[::-1], 1)), (ValueError, lambda: f.oscillate(fixed, k, 1)),
                (ValueError, lambda: f.oscillate(s, unaligned, 1)), (ValueError, lambda: f.oscillate(s, k, 1, s.ravel()[:5])), (ValueError, lambda: f.oscillate(s, s.ravel()[5:], 1)),
                (ValueError, lambda: f.oscillate(s, k, 1, np.ones(6))), (ValueError, lambda: f.oscillate(s[:, :1].copy(), k, 1)), (ValueError, lambda: f.fall(1, [1, 2, 3], 1)),
                (TypeError, lambda: f.fall(1, [1, 2], 1.5)), (TypeError, lambda: f.fall_grad(1, [1, 2], 1, 1.0))):
            with self.assertRaises(error):
                call()


if __name__ == "__main__":
    unittest.main()
