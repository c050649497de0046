"""Functions for JAX, held against differences by its own check_grads, under jit and vmap."""
import unittest

import jax
import jax.numpy as jnp
import numpy as np

import fields
import functions

f = functions.jax
r = np.random.default_rng(0)


def T(*shape):
    return jnp.asarray(r.standard_normal(shape))


def check(call, arguments, order=1):
    from jax.test_util import check_grads
    check_grads(call, arguments, order, modes=["rev"])


class Functions(unittest.TestCase):
    def test_width(self):
        with self.assertRaisesRegex(TypeError, "jax_enable_x64"):
            f.fall(5.0, [3, 4], 4)

    def setUp(self):
        jax.config.update("jax_enable_x64", "width" not in self.id())

    def test_derivatives(self):
        check(lambda h, v: f.fall(h, v, 4), (T(), T(2)), 2)
        check(jax.jit(f.oscillate), (T(5, 2), T(5), T()), 2)
        check(f.turn, (T(2, 2), T(2)), 2)
        check(lambda x: f.plain(x, {"k": 2.0})[0], (T(5),))
        check(lambda a: f.spread(a, n=4), (T(),))
        self.assertEqual((float(f.fall(5.0, [3, 4], 4)), float(f.torch_(3))), (functions.fall(5, [3, 4], 4), 6))

    def test_vmap(self):
        g, X, k = jax.grad(lambda x: f.plain(x, {"k": 2.0})[0]), T(3, 5), T(5)
        np.testing.assert_allclose(jax.jit(jax.vmap(g))(X), [g(x) for x in X])
        s, dts = T(5, 2), T(2)
        np.testing.assert_allclose(jax.vmap(lambda dt: f.oscillate(s, k, dt)[1])(dts), [f.oscillate(s, k, dt)[1] for dt in dts])

    def test_refused(self):
        g, s, k = lambda x: f.plain(x, {"k": 2.0})[0], T(5, 2), T(5)
        for error, text, call in (
                (RuntimeError, "no second derivative", lambda: jax.grad(lambda x: jax.grad(g)(x).sum())(k)),
                (TypeError, "there is none of", lambda: jax.grad(f.none)(0.5)),
                (TypeError, "float64 is wanted, not float32", lambda: f.oscillate(s.astype("float32"), k, 0.1)),
                (ValueError, "shape", lambda: f.oscillate(s[:3], k, 0.1)), (ValueError, "shape", lambda: f.oscillate(s[0], k, 0.1)),
                (TypeError, "'dt'", lambda: f.oscillate(s, k)), (TypeError, "custom_vjp", lambda: jax.jacfwd(g)(k)),
                (Exception, "JVP", lambda: jax.grad(jax.grad(jax.grad(lambda h: f.fall(h, [3, 4], 4))))(5.0)),
                (Exception, "traced", lambda: jax.grad(lambda a: f.fall(5.0, [a, 1.0], 4))(2.0)),
                (Exception, "traced", lambda: jax.grad(lambda a: f.plain(k, {"k": a})[0])(2.0))):
            with self.assertRaisesRegex(error, text):
                call()


class Kernels(unittest.TestCase):
    def setUp(self):
        jax.config.update("jax_enable_x64", True)
        self.m, self.f = fields.Module(threads=1), fields.jax

    def test_arrays(self):
        m = self.m
        check(lambda A, b: self.f.product(m, A, b), (T(3, 4), T(4, 2)))
        check(lambda *a: self.f.power(m, *a), (T(4), T(), T(4)), 2)
        check(lambda a: self.f.sized(m, a), (T(5),))
        with self.assertRaisesRegex(ValueError, "shape"):
            self.f.sized(m, T(4))
        self.assertIsNone(self.f.empty(m, 3))
        with self.assertRaisesRegex(TypeError, "there is none of"):
            jax.grad(lambda dt: self.f.fixed(m, T(4), dt).sum())(0.5)

    def test_fields(self):
        m = self.m
        m.goal, m.y = 0.3, r.standard_normal(5)
        arguments = T(5, 2), T(), T(5, 2), T(5, 3)
        loss = self.f.over_fields(m, m.measure, [m.x, m.w, m.bodies.p, m.apart], m.loss)
        check(jax.jit(loss), arguments)
        X = T(3, 5, 2)
        np.testing.assert_allclose(jax.vmap(lambda x: loss(x, *arguments[1:]))(X), [loss(x, *arguments[1:]) for x in X])
        with self.assertRaisesRegex(RuntimeError, "no second derivative"):
            jax.grad(lambda x: jax.grad(loss)(x, *arguments[1:]).sum())(arguments[0])
        with self.assertRaisesRegex(ValueError, "shape"):
            loss(arguments[0][:3], *arguments[1:])
        def fails():
            m.measure()
            raise KeyError("stop")
        with self.assertRaisesRegex(Exception, "stop"):
            jax.block_until_ready(self.f.over_fields(m, fails, m.x, m.loss)(arguments[0]))
        move = self.f.over_fields(m, m.move, [m.x, m.w], [m.y, m.count])
        check(lambda *a: move(*a)[0], arguments[:2])
        self.assertEqual(move(*arguments[:2])[1].tolist(), [1] * 5)
        check(loss, arguments)                              # pure functions of one module do not disturb each other
        m.goal = 0.5
        later = self.f.over_fields(m, m.move, [m.x, m.w], [m.y, m.count])
        self.assertFalse(np.allclose(later(*arguments[:2])[0], 0))
        with self.assertRaisesRegex(Exception, "was changed"):
            jax.block_until_ready(move(*arguments[:2]))


unittest.main()
