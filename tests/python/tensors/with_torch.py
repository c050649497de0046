"""Functions for PyTorch, held against differences by its own gradcheck."""
import unittest

import numpy as np
import torch
from torch.autograd import gradcheck, gradgradcheck

import fields
import functions

f = functions.torch
r = np.random.default_rng(0)


def T(*shape):
    return torch.tensor(r.standard_normal(shape), requires_grad=True)


class Functions(unittest.TestCase):
    def test_derivatives(self):
        for call, arguments in ((lambda h, v: f.fall(h, v, 4), (T(), T(2))), (f.oscillate, (T(5, 2), T(5), T())), (f.turn, (T(2, 2), T(2)))):
            self.assertTrue(gradcheck(call, arguments))
            self.assertTrue(gradgradcheck(call, arguments))
        self.assertTrue(gradcheck(lambda x: f.plain(x, {"k": 2.0})[0], (T(5),)))
        self.assertTrue(gradcheck(lambda a: f.spread(a, n=4), (T(),)))

    def test_inputs(self):
        """const, and lists in derive(...)."""
        rain = T(5).detach()
        self.assertTrue(gradcheck(lambda p, k: f.runoff(rain, p, k), (T(2), T())))
        self.assertTrue(gradgradcheck(lambda p, k: f.runoff(rain, p, k), (T(2), T())))
        with self.assertRaisesRegex(TypeError, "rain: the tensor requires a gradient, which there is none of"):
            f.runoff(T(5), T(2), T())
        self.assertTrue(gradcheck(f.second_by_one, (T(), T())))
        b = T().detach()
        self.assertTrue(gradcheck(lambda a: f.forward_by_one(a, b), (T(),)))
        for call, arguments in ((f.second_by_one, (T(), T())), (lambda a: f.forward_by_one(a, b), (T(),))):
            g, = torch.autograd.grad(call(*arguments), arguments[:1], create_graph=True)
            with self.assertRaisesRegex(RuntimeError, "no second derivative here: .*by the same inputs"):
                g.backward()

    def test_values(self):
        s, k = T(5, 2), T(5)
        before = s.detach().clone()
        a, e = f.oscillate(s, k, 0.1)
        changed = before.numpy().copy()
        self.assertTrue(np.array_equal(functions.oscillate(changed, k.detach().numpy(), 0.1), e.detach()))
        self.assertTrue(np.array_equal(changed, a.detach()) and torch.equal(s, before))
        self.assertEqual((f.fall(5.0, [3, 4], 4).item(), f.plain(k, {"n": 3})[1].item()), (functions.fall(5, [3, 4], 4), 4))
        self.assertEqual(f.torch_(3.0).item(), 6)
        self.assertIn("Falls.", f.fall.__doc__)
        self.assertNotIn("given", dir(f))
        with torch.no_grad():
            self.assertFalse(f.fall(T(), T(2), 1).requires_grad)
        self.assertTrue(f.none(0.5).item() == 0.5 and not f.plain(k, {"n": 3})[1].requires_grad)

    def test_seeds(self):
        h, v = T(), T(2)
        for g, other in ((0.0, 1.0), (2.0, 0.0)):
            a, b = torch.autograd.grad(f.fall(h, v, 3) * g, (h, v))
            want = functions.fall_grad(h.item(), v.detach().numpy(), 3, result_grad=g)
            self.assertTrue(np.allclose(a, want.height_grad) and np.allclose(b, want.v_grad))
        x, A = T(2), T(2, 2)
        by_second, = torch.autograd.grad(f.turn(A, x)[1].sum(), A)
        self.assertTrue(np.allclose(by_second, (torch.ones(2, 2, dtype=A.dtype) @ A.T + A.T @ torch.ones(2, 2, dtype=A.dtype)).detach()))

    @unittest.skipUnless(hasattr(torch, "compiler"), "no torch.compile")
    def test_compiled(self):
        x = T(5)
        y = torch.compile(lambda x: f.plain(torch.sin(x), {"k": 2.0})[0], backend="eager")(x)
        y.backward()
        self.assertTrue(torch.allclose(x.grad, 2 * torch.cos(torch.sin(x)) * torch.cos(x)))

    def test_results_in_place(self):
        """Results are the caller's: no gradient needs them."""
        s = T(3, 2)
        e = f.oscillate(s, T(3).detach(), 0.1)[1]
        e.mul_(2)
        e.sum().backward()
        self.assertTrue(torch.isfinite(s.grad).all())

    def test_refused(self):
        x, k, s, dt = T(5), T(5), T(5, 2), T()
        g, = torch.autograd.grad(f.plain(x, {"k": 2.0})[0], x, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "no second derivative"):
            g.sum().backward()
        h = T()
        g, = torch.autograd.grad(f.fall(h, [3, 4], 4), h, create_graph=True)
        g, = torch.autograd.grad(g, h, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "no third derivative"):
            torch.autograd.grad(g * h, h)
        for error, text, call in (
                (TypeError, "there is none of", lambda: f.none(dt)),
                (TypeError, "float64 is wanted, not float32", lambda: f.oscillate(s.detach().float(), k, dt)),
                (ValueError, "n = 3", lambda: f.oscillate(s.detach()[:3], k, dt)),
                (ValueError, "contiguous", lambda: f.oscillate(s.detach().T.contiguous().T, k, dt)),
                (TypeError, "'dt'", lambda: f.oscillate(s, k)),
                (TypeError, "'n'", lambda: f.spread(0.5)),
                (TypeError, "in a struct", lambda: f.plain(x, {"k": dt})),
                (TypeError, "torch.stack", lambda: f.fall(h, [dt, dt], 4)),
                (TypeError, "on meta, and kernels run on the CPU", lambda: f.oscillate(s.to("meta"), k, dt)),
                (AttributeError, "structs", lambda: f.given), (AttributeError, "no function nothing", lambda: f.nothing)):
            with self.assertRaisesRegex(error, text):
                call()
        if hasattr(torch, "func"):
            for transform in torch.func.grad, torch.vmap:
                with self.assertRaisesRegex(TypeError, "torch.func"):
                    transform(lambda a: f.fall(a, [3, 4], 4))(x if transform is torch.vmap else dt)
        k2 = k.clone()
        e = f.oscillate(s, k2, dt)[1].sum()
        with torch.no_grad():
            k2.mul_(2)
        with self.assertRaisesRegex(RuntimeError, "inplace"):
            e.backward()


class Kernels(unittest.TestCase):
    def setUp(self):
        self.m, self.f = fields.Module(threads=1), fields.torch

    def test_arrays(self):
        A, b, m = T(3, 4), T(4, 2), self.m
        self.assertTrue(gradcheck(lambda A, b: self.f.product(m, A, b), (A, b)))
        y = self.f.product(m, A, b).sum()
        m.params.K = 7                                      # the gradient is that of the call
        g, = torch.autograd.grad(y, A)
        self.assertTrue(np.allclose(g, 2 * b.detach().sum(1)) and m.params.K == 7)
        arguments = T(4), T(), T(4)
        self.assertTrue(gradcheck(lambda *a: self.f.power(m, *a), arguments))
        self.assertTrue(gradgradcheck(lambda *a: self.f.power(m, *a), arguments))
        self.assertTrue(gradcheck(lambda a: self.f.sized(m, a), (T(5),)))
        for other in 3, functions:
            with self.assertRaisesRegex(TypeError, "first argument is the module"):
                self.f.product(other, A, b)
        with self.assertRaisesRegex(ValueError, "an extent is 4, where 5"):
            self.f.sized(m, T(4))
        self.assertIsNone(self.f.empty(m, 3))
        with self.assertRaisesRegex(TypeError, "there is none of"):
            self.f.fixed(m, T(4), T())
        for name, why in (("noise", "random"), ("seen", "over_fields"), ("measure", "over_fields")):
            with self.assertRaisesRegex(AttributeError, why):
                getattr(self.f, name)

    def test_single_number(self):
        m = self.m
        m.goal, m.y = 0.3, r.standard_normal(5)
        loss = self.f.over_fields(m, m.measure, [m.x, m.w, m.bodies.p, m.apart], m.loss)
        arguments = T(5, 2), T(), T(5, 2), T(5, 3)
        self.assertTrue(gradcheck(loss, arguments))
        g, = torch.autograd.grad(loss(*arguments), arguments[0], create_graph=True)
        with self.assertRaisesRegex(RuntimeError, "no second derivative"):
            g.sum().backward()
        with self.assertRaisesRegex(ValueError, "shape"):
            loss(arguments[0].detach()[:3], *arguments[1:])
        with self.assertRaisesRegex(TypeError, "4 tensors"):
            loss(arguments[0])
        with m.tape(m.loss), self.assertRaisesRegex(fields.Error.BadState, "is open"):
            loss(*arguments)

    def test_fields(self):
        m, x, w = self.m, T(5, 2), T()
        m.goal = 0.3
        move = self.f.over_fields(m, m.move, [m.x, m.w], [m.y, m.count])
        self.assertTrue(gradcheck(lambda *a: move(*a)[0], (x, w)))
        first = move(x, w)[0]
        m.goal = 9                                          # and a second call before the first one's gradient
        second = move(x, w)[0]
        a, b = (torch.autograd.grad(y.sum(), x)[0][:, 1] for y in (first, second))
        self.assertTrue(np.allclose(a, 0.15) and np.allclose(b, 4.5) and float(m.goal) == 9)
        self.assertEqual(move(x, w)[1].tolist(), [1] * 5)    # outputs begin at zero

        def steps():
            for i in range(4):
                m.step(i)
        self.assertTrue(gradcheck(self.f.over_fields(m, steps, [m.t, m.w], m.t), (T(5, 2), w)))

        def two():
            m.move()
            m.both()
        self.assertTrue(gradcheck(lambda *a: self.f.over_fields(m, two, [m.x, m.w], [m.y, m.loss])(*a), (x, w)))

    def test_random_numbers(self):
        m, x = self.m, T(5, 2)
        shake = self.f.over_fields(m, m.shake, m.x, m.y, seed=3)
        a, b = shake(x), shake(x)
        g, = torch.autograd.grad(a.sum(), x)
        self.assertTrue(np.allclose(g[:, 0] * x.detach()[:, 0], a.detach()) and not np.allclose(a.detach(), b.detach()))

    def test_what_is_no_function(self):
        m, x, w = self.m, T(5, 2), T()
        runs = []

        def other():
            runs.append(0)
            m.goal = len(runs)
            m.move()
        y = self.f.over_fields(m, other, [m.x, m.w], m.y)(x, w)
        with self.assertRaisesRegex(RuntimeError, "gave another y"):
            y.sum().backward()
        with self.assertRaisesRegex(TypeError, "members of structs"):
            self.f.over_fields(m, m.move, m.bodies, m.y)
        with self.assertRaisesRegex(ValueError, "not given"):
            self.f.over_fields(fields.Module(session=m.session), m.move, m.x, m.y)
        with self.assertRaisesRegex(TypeError, "there is none of"):
            self.f.over_fields(m, m.move, m.goal, m.y)(T())


unittest.main()
