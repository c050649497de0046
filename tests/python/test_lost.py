"""Tangents of arguments that would be lost, and derivatives by arguments."""
import unittest

import numpy as np

import lost


class Lost(unittest.TestCase):
    def setUp(self):
        self.m = lost.Module(threads=1)
        self.a, self.b = np.arange(3.0), np.zeros(3, lost.P)
        self.b["a"], self.b["n"] = 2, 1

    def test_refused_unless_zero(self):
        m = self.m
        c = m.keep.jvp(self.a, self.b, 0.5, (1, 2))
        np.testing.assert_array_equal(c["n"], [1] * 3)
        np.testing.assert_array_equal(self.a, [0, 2, 4])
        for dual in ({"a_dual": np.ones(3)}, {"b_dual": self.b}, {"c_dual": np.zeros(3, lost.P)}, {"dt_dual": 1}, {"p_dual": {"a": 1}}):
            with self.assertRaisesRegex(lost.Error.NoDerivative, next(iter(dual))[:-5]):
                m.keep.jvp(self.a, self.b, 0.5, (1, 2), **dual)
        fixed = np.zeros(3)
        fixed.flags.writeable = False
        with self.assertRaises(ValueError):
            m.keep.jvp(self.a, self.b, 0.5, (1, 2), a_dual=fixed)

    def test_products(self):
        m, a, p, h = self.m, np.array([1.0, 2.0, 3.0]), (1, 2.0), 1e-5
        r = m.power.hvp(a, 2, p, a_dual=np.ones(3), dt_dual=1)
        above, below = m.power.grad(a + h, 2 + h, p), m.power.grad(a - h, 2 - h, p)
        np.testing.assert_allclose(r.a_grad_dual, (above.a_grad - below.a_grad) / (2 * h), rtol=1e-6)
        np.testing.assert_allclose(r.dt_grad_dual, (above.dt_grad - below.dt_grad) / (2 * h), rtol=1e-6)
        np.testing.assert_allclose(r.p_grad_dual.a, (above.p_grad.a - below.p_grad.a) / (2 * h), rtol=1e-6)
        self.assertEqual(r.p_grad.n, 0)

    def test_arrays_of_structs(self):
        m = self.m
        r = m.parts(self.b)
        np.testing.assert_array_equal(r.c, [[2, 6]] * 3)
        seed = np.zeros(3, [("n", np.int32), ("a", np.float64)])
        with self.assertRaises(TypeError):          # other places of the members
            m.parts.grad(self.b, r.a, r.c, a_grad=seed)
        seed = np.zeros(3, np.dtype([("n", np.int32), ("a", np.float64)], align=True))
        seed["a"] = 10
        g = m.parts.grad(self.b, r.a, r.c, a_grad=seed, c_grad=np.ones((3, 2)))
        np.testing.assert_array_equal(g["a"], [14] * 3)
        np.testing.assert_array_equal(m.parts.jvp(self.b, b_dual=self.b).c_dual, [[2, 6]] * 3)


if __name__ == "__main__":
    unittest.main()
