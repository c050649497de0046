"""Fields as NumPy arrays: where they lie, what may be stored, how long they live."""
import gc
import unittest
import weakref

import numpy as np

import fields


class Layouts(unittest.TestCase):
    def setUp(self):
        self.m = fields.Module(threads=1)
        self.m.fill()

    def test_scalars_and_vectors(self):
        m = self.m
        self.assertEqual((m.s.shape, m.x.shape, m.v.shape, m.a.shape), ((), (4,), (4, 3), (4, 2, 2, 3)))
        np.testing.assert_array_equal(m.x, np.arange(4.0))
        np.testing.assert_allclose(m.v, np.arange(4.0)[:, None] + [0.1, 0.2, 0.3])
        np.testing.assert_array_equal(m.a[3, 1], [[3, 1, 1], [2, 3, 4]])
        self.assertEqual(m.x.dtype, np.float64)

    def test_components_apart(self):
        m = self.m
        self.assertEqual(m.apart.shape, (4, 2, 3))
        np.testing.assert_array_equal(m.apart[3, 1], [3, 1, 9])
        self.assertEqual(m.apart.data.strides, (16, 8, 64))
        np.testing.assert_array_equal(m.turned[2], [[2, 1], [2, 3]])

    def test_structs(self):
        m = self.m
        np.testing.assert_array_equal(m.bodies.pos, [[0, 0.5], [1, 0.5], [2, 0.5], [3, 0.5]])
        np.testing.assert_array_equal(m.bodies.charge.sign, [0, -1, -2, -3])
        self.assertEqual(m.bodies[2].charge.sign, -2)
        self.assertEqual(m.bodies.data.dtype, fields.Body)
        np.testing.assert_array_equal(m.bodies.data["pos"], m.bodies.pos)
        np.testing.assert_array_equal(m.bodies.clear_grad_, [7] * 4)
        self.assertEqual(m.lone.pos.shape, (2,))
        np.testing.assert_array_equal(m.split.pos, [[0, 0.25], [1, 0.25], [2, 0.25], [3, 0.25]])
        np.testing.assert_array_equal(m.split.charge.sign, np.arange(4))
        self.assertEqual(m.split.pos.data.strides, (8, 32))

    def test_other_types(self):
        m = self.m
        np.testing.assert_array_equal(m.small, [0, -1, -2, -3])
        self.assertEqual([int(n) for n in m.large], [2**64 - 1 - i for i in range(4)])
        np.testing.assert_array_equal(m.flags, [True, False, True, False])
        np.testing.assert_array_equal(m.wide, [[0, 0], [1, -1], [2, -2], [3, -3]])
        self.assertEqual((m.single.dtype, m.close_.shape), (np.float32, ()))

    def test_planes(self):
        m = self.m
        self.assertEqual(m.x.grad.shape, (4,))
        self.assertEqual(m.v.dual.shape, (4, 3))
        for field, plane in ((m.small, "grad"), (m.single, "dual"), (m.x, "grad_dual"), (m.bodies, "dual"), (m.bodies.charge.sign, "grad")):
            with self.assertRaises(AttributeError):
                getattr(field, plane)

    def test_without_elements(self):
        m = fields.Module(N=0)
        m.fill()
        self.assertEqual((m.x.shape, m.a.shape, m.bodies.pos.shape, m.split.pos.shape), ((0,), (0, 2, 2, 3), (0, 2), (0, 2)))


class Storing(unittest.TestCase):
    def setUp(self):
        self.m = fields.Module(threads=1)

    def test_what_fits(self):
        m = self.m
        m.x[...] = [1, 2, 3, 4]
        m.x[1] = 0.5
        m.x[2:] = np.float32(7)
        np.testing.assert_array_equal(m.x, [1, 0.5, 7, 7])
        m.x += 1
        m.x = m.x * 2
        np.testing.assert_array_equal(np.sqrt(m.x) ** 2 + m.x, 2 * np.array([4, 3, 16, 16]) + np.zeros(4))
        np.add(m.x, 1, out=m.x)
        self.assertEqual((m.x.sum(), len(m.x), float(m.x[0])), (43, 4, 5))
        m.v[...] = np.ones((4, 3), np.float32)
        m.x.grad = 3
        np.testing.assert_array_equal(m.x.grad, [3] * 4)
        m.small[...] = [-128, 127, 0, 1]
        m.large[0] = 2**64 - 1
        m.flags[...] = [True, False, True, True]

    def test_structs(self):
        m = self.m
        m.bodies[1] = {"pos": [1, 2], "charge": {"q": 0.5, "sign": -1}}
        m.bodies[2] = ([3, 4], (1, 2), 9)
        m.bodies.charge.q = 2
        m.bodies.pos += 1
        self.assertEqual((m.bodies[1].charge.q, m.bodies[1].charge.sign, m.bodies[2].clear_grad_), (2, -1, 9))
        np.testing.assert_array_equal(m.bodies.pos[1:3], [[2, 3], [4, 5]])
        m.bodies[3] = m.bodies[2]
        m.bodies = np.zeros(4, fields.Body)
        self.assertEqual(m.bodies.pos.sum(), 0)
        m.split.charge.q = [1, 2, 3, 4]
        np.testing.assert_array_equal(m.split.charge.q, [1, 2, 3, 4])

    def test_as_words(self):
        self.m.s = 2.5
        self.assertEqual(f"{self.m.s:.2f}", "2.50")
        self.assertEqual(f"{self.m.s}", str(self.m.s))
        with self.assertRaises(TypeError):
            format(self.m.x, ".2f")

    def test_what_does_not_fit(self):
        m = self.m
        for error, store in (
                (TypeError, lambda: m.small.__setitem__(0, 1.5)), (TypeError, lambda: m.x.__setitem__(..., ["a"] * 4)),
                (TypeError, lambda: m.x.__setitem__(..., 1j)), (TypeError, lambda: m.flags.__setitem__(0, 1)),
                (TypeError, lambda: m.bodies.__setitem__(0, 1.0)), (TypeError, lambda: m.x.__setitem__(0, True)),
                (ValueError, lambda: m.x.__setitem__(..., [1, 2, 3])), (ValueError, lambda: m.small.__setitem__(0, 128)),
                (ValueError, lambda: m.large.__setitem__(0, -1)), (ValueError, lambda: m.v.__setitem__(..., np.ones((3, 4)))),
                (ValueError, lambda: m.bodies.__setitem__(0, {"mass": 1})), (ValueError, lambda: m.bodies.__setitem__(0, (1, 2))),
                (AttributeError, lambda: setattr(m, "y", 1)), (AttributeError, lambda: setattr(m, "fill", 1)), (AttributeError, lambda: setattr(m.x, "gard", 1)),
                (AttributeError, lambda: setattr(m.bodies, "mass", 1)), (TypeError, lambda: setattr(m, "split", 1)), (AttributeError, lambda: setattr(m.split, "mass", 1)),
                (TypeError, lambda: setattr(m.bodies.charge, "sign", 0.5)), (ValueError, lambda: setattr(m, "x", [1, 2]))):
            with self.assertRaises(error):
                store()


class Params(unittest.TestCase):
    def test_defaults_and_changes(self):
        m = fields.Module()
        self.assertEqual((m.params.N, m.params.SCALE, m.params.ON, m.params.session_), (4, 0.1, True, -5))
        m = fields.Module(N=2, SCALE=3, ON=np.bool_(True), session_=1)
        m.x = 1
        m.scale()
        m.params.SCALE = 0.5
        m.scale()
        np.testing.assert_array_equal(m.x, [1.5, 1.5])
        self.assertEqual(repr(m.params), "params(N=2, SCALE=0.5, ON=True, session_=1)")

    def test_refused(self):
        m = fields.Module()
        for error, change in ((ValueError, lambda: setattr(m.params, "N", 5)), (TypeError, lambda: setattr(m.params, "N", 5.0)),
                              (AttributeError, lambda: setattr(m.params, "M", 5)), (AttributeError, lambda: m.params.M),
                              (TypeError, lambda: fields.Module(N=1.5)), (ValueError, lambda: fields.Module(N=2**31)),
                              (TypeError, lambda: fields.Module(ON=1)), (TypeError, lambda: fields.Module(M=1)),
                              (TypeError, lambda: fields.Module(4)), (TypeError, lambda: fields.Module(SCALE="1"))):
            with self.assertRaises(error):
                change()
        self.assertEqual(m.params.N, 4)
        m.fill()
        with self.assertRaisesRegex(fields.Error, "negative"):
            fields.Module(N=-1)


class Messages(unittest.TestCase):
    """What is wrong is told by the names of the program, with what to write instead."""

    def told(self, error, told, wrong):
        with self.assertRaises(error) as caught:
            wrong()
        self.assertEqual(str(caught.exception), told)

    def test_memories(self):
        m = fields.Module()
        needs = "write needs_{0} at its declaration in the .tk, 'field {1}: ... needs_{0};'"
        self.told(AttributeError, "field a has no grad: " + needs.format("grad", "a"), lambda: m.a.grad)
        self.told(AttributeError, "field a has no grad: " + needs.format("grad", "a"), lambda: setattr(m.a, "grad", 0))
        self.told(AttributeError, "field single has no dual: " + needs.format("dual", "single"), lambda: m.single.dual)
        self.told(AttributeError, "field lone.pos has no grad: " + needs.format("grad", "lone"), lambda: m.lone.pos.grad)
        self.told(AttributeError, "field bodies has no dual: " + needs.format("dual", "bodies"), lambda: m.bodies.dual)
        self.told(AttributeError, "field small has no grad: it holds int8, and floats alone have derivatives", lambda: m.small.grad)
        self.told(AttributeError, "field x has no grad_dual: that takes needs_grad at the field in the .tk, and a kernel with derive(grad, jvp, hvp)",
                  lambda: m.x.grad_dual)
        self.told(AttributeError, "split is soa: its members have a grad each, split.pos.grad", lambda: m.split.grad)

    def test_names(self):
        m = fields.Module()
        options = "; options of the session: threads, deterministic, flush_denormals, seed, on_print"
        params = "the params are N, SCALE, ON, session_"
        self.told(TypeError, f"there is no param DAY; {params}{options}", lambda: fields.Module(DAY=3))
        self.told(TypeError, f"there is no param SCLAE (did you mean 'SCALE'?); {params}{options}", lambda: fields.Module(SCLAE=3))
        self.told(TypeError, f"there is no param treads (did you mean 'threads'?); {params}{options}", lambda: fields.Module(treads=3))
        self.told(AttributeError, f"there is no param scale (did you mean 'SCALE'?); {params}", lambda: m.params.scale)
        self.told(AttributeError, f"there is no param M; {params}", lambda: setattr(m.params, "M", 1))
        self.told(AttributeError, "SCALE is a param: m.params.SCALE", lambda: m.SCALE)
        self.told(AttributeError, "SCALE is a param: m.params.SCALE", lambda: setattr(m, "SCALE", 1))
        self.told(AttributeError, "the module has no field or kernel enrgy (did you mean 'energy'?)", lambda: m.enrgy)
        self.told(AttributeError, "the module has no field bodeis to set (did you mean 'bodies'?)", lambda: setattr(m, "bodeis", 1))
        self.told(AttributeError, "field x has no gard (did you mean 'grad'?)", lambda: m.x.gard)
        self.told(AttributeError, "field x has no gard (did you mean 'grad'?)", lambda: setattr(m.x, "gard", 1))
        self.told(AttributeError, "field bodies has no chrage (did you mean 'charge'?)", lambda: m.bodies.chrage)
        self.told(AttributeError, "split has no member pso (did you mean 'pos'?)", lambda: m.split.pso)
        self.told(AttributeError, "kernel energy has no hvp: 'derive(grad, jvp, hvp)' behind its parameters in the .tk asks for it", lambda: m.energy.hvp)
        self.told(AttributeError, "kernel energy has no grda (did you mean 'grad'?)", lambda: m.energy.grda)
        self.told(AttributeError, "energy is one of a module object: m = Module(), then m.energy", lambda: fields.energy)
        self.assertFalse(hasattr(fields, "nothing") or hasattr(m, "nothing") or hasattr(m.x, "nothing"))

    def test_values(self):
        m = fields.Module()
        self.told(TypeError, "param N is an integer (i32), not 2.5", lambda: fields.Module(N=2.5))
        self.told(ValueError, "param N is i32, and 2147483648 is out of its range", lambda: fields.Module(N=2**31))
        self.told(TypeError, "param ON is True or False, not 1", lambda: fields.Module(ON=1))
        self.told(TypeError, "param SCALE is a number, not [1]", lambda: setattr(m.params, "SCALE", [1]))
        self.told(TypeError, "threads is an integer (i32), not '2'", lambda: fields.Module(threads="2"))
        self.told(ValueError, "seed is u64, and -1 is out of its range", lambda: fields.Session(seed=-1))
        self.told(ValueError, "x has the shape (4,), not (3,)", lambda: setattr(m, "x", [1, 2, 3]))
        self.told(ValueError, "the part that is assigned to of v has the shape (2, 3), not (2,)", lambda: m.v.__setitem__(slice(2), [1, 2]))
        self.told(ValueError, "bodies.pos has the shape (2,), not (3,)", lambda: fields._struct("bodies", {"pos": [1, 2, 3]}, fields._C_Body, fields.Body))
        self.told(TypeError, "x holds float64, not text", lambda: setattr(m, "x", "abcd"))


class Lives(unittest.TestCase):
    def test_views_keep_the_memory(self):
        m = fields.Module(N=100000)
        m.x = 2
        gone = weakref.ref(m._h.memory)
        view, part = m.x.data, m.bodies.charge.q.data[5:]
        del m
        self.assertIsNotNone(gone())
        self.assertEqual(view.sum() + part.sum(), 200000)
        del view
        self.assertIsNotNone(gone())
        del part
        self.assertIsNone(gone(), "it goes with the last view, before any collection of circles")

    def test_closing(self):
        with fields.Module() as m:
            x, kernel, held, group, params = m.x, m.fill, m.v.data, m.split, m.params
            gone = weakref.ref(m._h.memory)
            m.bodies.pos.data
            self.assertFalse(m.closed)
        self.assertTrue(m.closed)
        m.close()
        for access in (lambda: m.x, lambda: x.data, lambda: x[0], kernel, lambda: m.fill(), lambda: group.pos.data, lambda: params.N, lambda: m.params,
                       lambda: m.tape(x), lambda: m.clear_grad(), lambda: x.clear_grad(), m.__enter__, lambda: setattr(m, "x", 1)):
            with self.assertRaisesRegex(ValueError, "closed"):
                access()
        self.assertIn("closed", repr(x))
        held[0] = 5
        self.assertIsNotNone(gone())
        del held
        self.assertIsNone(gone())

    def test_a_field_keeps_the_module(self):
        x = fields.Module().x
        gc.collect()
        x[...] = 3
        self.assertEqual(x.sum(), 12)

    def test_a_class_made_of_it(self):
        class Simulation(fields.Module):
            def __init__(self):
                super().__init__(N=3)
                self.history = []

        s = Simulation()
        s.x = 2
        s.history.append(s.x.sum())
        self.assertEqual(s.history, [6])

    def test_sessions(self):
        s = fields.Session(threads=2, deterministic=True, seed=3)
        a, b = fields.Module(session=s), fields.Module(N=2, session=s)
        self.assertIs(a.session, s)
        self.assertEqual((s.threads, a.x.shape, b.x.shape), (2, (4,), (2,)))
        s.threads = 1
        self.assertEqual(b.session.threads, 1)
        self.assertEqual(s.draws, 0)
        s.draws = 2**63
        self.assertEqual(a.session.draws, 2**63)
        s.set_seed(3)
        self.assertEqual(s.draws, 0)
        a.x = b.x = 1
        with a.tape(a.s):
            a.energy()
            b.energy()
        a.close()
        b.fill()
        with self.assertRaises(TypeError):
            fields.Module(session=s, threads=1)
        with self.assertRaises(TypeError):
            fields.Module(thread=1)
        with self.assertRaises(ValueError):
            fields.Session(threads=-1)
        with self.assertRaisesRegex(AttributeError, "call it"):
            s.stop_at_nonfinite = True
        with self.assertRaisesRegex(AttributeError, "no thread"):
            s.thread = 1
        s.clear_grad()
        s.clear_dual()
        self.assertEqual(b.x.grad.sum(), 0)


class Directions(unittest.TestCase):
    def setUp(self):
        self.m = fields.Module(threads=1)
        self.m.ways = np.arange(4.0) + 1

    def test_shapes(self):
        m = self.m
        self.assertEqual((m.ways.dual.shape, m.ways_pairs.dual.shape, m.ways_sum.dual.shape), ((4, 3), (4, 2, 3), (3,)))
        self.assertFalse(hasattr(m, "ways.dual"))

    def test_jvp(self):
        m = self.m
        m.ways.dual = np.arange(12.0).reshape(4, 3)
        m.in_directions.jvp()
        np.testing.assert_array_equal(m.ways_sum.dual, (3 * m.ways.data[:, None] ** 2 * m.ways.dual).sum(0))
        np.testing.assert_array_equal(m.ways_pairs.dual[:, 1], 2 * m.ways.dual)
        m.ways.clear_dual()
        self.assertFalse(m.ways.dual.any())
        self.assertTrue(m.ways_sum.dual.any())

    def test_scope(self):
        m = self.m
        with self.assertRaises(ValueError):
            m.forward(m.ways, np.eye(4), [m.ways_sum])
        with m.forward(m.ways, np.eye(4)[:, 1:], [m.ways_sum]):
            m.in_directions()
            m.ways *= 2
            np.testing.assert_array_equal(m.ways.dual, 2 * np.eye(4)[:, 1:])
            m.ways_pairs[:, 1] = 3
            self.assertFalse(m.ways_pairs.dual.any())
        np.testing.assert_array_equal(m.ways_sum.dual, [12, 27, 48])

    def test_gradcheck(self):
        for directions in (0, 4):
            found = self.m.gradcheck(self.m.ways_sum, self.m.in_directions, [self.m.ways], directions=directions)
            self.assertAlmostEqual(found.forward, found.reverse)


if __name__ == "__main__":
    unittest.main()
