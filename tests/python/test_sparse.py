"""Sparse matrices of kernels, held against products and differences; with SciPy and without."""
import gc
import sys
import unittest
import weakref

import numpy as np

import sparse

try:
    import scipy.sparse
except ImportError:
    scipy = None

ENDS = [[0, 1], [3, 1], [2, 4], [4, 0]]


def dense(parts, layout):
    """The matrix of data, indices, indptr and shape."""
    a = np.zeros(parts.shape)
    r, c = parts.data.shape[1:] if layout == "bsr" else (1, 1)
    for i in range(len(parts.indptr) - 1):
        for k in range(parts.indptr[i], parts.indptr[i + 1]):
            row, col = (parts.indices[k], i) if layout == "csc" else (i, parts.indices[k])
            a[row * r:row * r + r, col * c:col * c + c] += parts.data[k]
    return a


class Matrices(unittest.TestCase):
    def setUp(self):
        self.m = m = sparse.Module(threads=1)
        m.x = np.random.default_rng(2).standard_normal((5, 2))
        m.ends = ENDS
        m.y = [1, 2, -3]

    def hessian(self):
        """By second-order products."""
        m, h = self.m, np.zeros((10, 10))
        for j in range(10):
            m.clear_grad()
            m.clear_dual()
            m.x.dual.reshape(-1)[j] = m.E.grad[...] = 1
            m.springs.hvp((2.0, 0.3), 0.7)
            h[:, j] = m.x.grad_dual.reshape(-1)
        return h

    def test_hessian(self):
        m, want = self.m, self.hessian()
        for layout in ("csr", "csc", "bsr"):
            for full in (True, False):
                m.clear_grad()
                m.E = 0
                h = m.springs.hess((2.0, 0.3), 0.7, layout=layout, full=full)
                self.assertEqual((h.data.dtype, h.shape), (np.float64, (10, 10)))
                a = want if full else np.tril(want)
                if layout == "bsr" and not full:    # diagonal blocks are whole
                    a = np.where(np.kron(np.tril(np.ones((5, 5))), np.ones((2, 2))) > 0, want, 0)
                np.testing.assert_allclose(dense(h, layout), a, atol=1e-12)
        m.springs((2.0, 0.3), 0.7)
        g, e = m.x.grad.copy(), float(m.E)
        m.clear_grad()
        m.E.grad[...] = 1
        m.springs.grad((2.0, 0.3), 0.7)
        np.testing.assert_allclose(g, m.x.grad, atol=1e-12)
        self.assertGreater(e, 0)

    def test_jacobian(self):
        m, want = self.m, np.zeros((12, 10))
        for j in range(10):
            m.clear_dual()
            m.x.dual.reshape(-1)[j] = 1
            m.residuals.jvp()
            want[:, j] = m.r.dual.reshape(-1)
        for layout in ("csr", "csc", "bsr"):
            np.testing.assert_allclose(dense(m.residuals.jac(layout=layout), layout), want, atol=1e-15)
        with self.assertRaises(TypeError):
            m.residuals.jac(project=True)

    def test_computed(self):
        m, want = self.m, np.zeros((12, 10))
        for j in range(10):
            m.clear_dual()
            m.x.dual.reshape(-1)[j] = 1
            m.scaled.jvp()
            want[:, j] = m.r.dual.reshape(-1)
        for layout in ("csr", "csc", "bsr"):
            np.testing.assert_allclose(dense(m.scaled.jac(layout=layout), layout), want, atol=1e-15)

    def test_colouring(self):
        m, seen = self.m, []

        def each_its_own(symmetric, rows, cols, starts, of):
            seen.append((symmetric, rows, cols, [sorted(of[a:b]) for a, b in zip(starts, starts[1:])]))
            return np.arange(cols)

        for kernel, word, shape in ((m.scaled, "jac", (False, 4, 5)), (m.whole, "hess", (True, 5, 5))):
            make = getattr(kernel, word)
            self.assertEqual(kernel.colours, 0)
            for layout in ("csr", "bsr"):
                want = dense(make(layout=layout), layout)
                own = kernel.colours
                seen.clear()
                for _ in range(2):
                    np.testing.assert_array_equal(dense(make(layout=layout, colouring=each_its_own), layout), want)
                    self.assertEqual(kernel.colours, 5)
                self.assertEqual([s[:3] for s in seen], [shape])
                self.assertEqual(seen[0][3][1], [0, 1, 3] if word == "jac" else [0, 2, 3])
                np.testing.assert_array_equal(dense(make(layout=layout), layout), want)
                self.assertEqual(kernel.colours, own)
                self.assertIn(own, range(1, 5))
        m.whole.hess(full=False, colouring=each_its_own)
        m.scaled.jac()
        self.assertEqual(m.whole.colours, 5)
        with self.assertRaisesRegex(TypeError, "an integer for each of 5 columns, not float64"):
            m.scaled.jac(colouring=lambda *given: np.zeros(5))
        with self.assertRaisesRegex(TypeError, "for each of 5 columns, not int.* of shape .4,."):
            m.scaled.jac(colouring=lambda *given: [0, 1, 2, 3])
        with self.assertRaises(ZeroDivisionError):
            m.scaled.jac(colouring=lambda *given: 1 // 0)
        with self.assertRaisesRegex(sparse.Error.BadArgument, "by these colours no product gives entry"):
            m.scaled.jac(colouring=lambda *given: [0] * 5)
        with self.assertRaisesRegex(sparse.Error.BadArgument, "column 2 has colour -1"):
            m.scaled.jac(colouring=lambda *given: [0, 1, -1, 2, 3])
        self.assertEqual(m.scaled.jac().shape, (12, 10))
        with self.assertRaises(TypeError):
            m.residuals.jac(colouring=each_its_own)
        with self.assertRaisesRegex(AttributeError, "kernel residuals has no colours"):
            m.residuals.colours
        m.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            m.scaled.colours

    def columns(self, kernel, first, by, rows, *arguments):
        """By products, field after field."""
        m, all = self.m, []
        for f in by:
            for j in range(f.data.size):
                m.clear_grad()
                m.clear_dual()
                f.dual.reshape(-1)[j] = m.E.grad[...] = 1
                getattr(kernel, first)(*arguments)
                all.append(np.concatenate([r().reshape(-1).copy() for r in rows]))
        return np.array(all).T

    def test_several_fields(self):
        m = self.m
        m.load = [1, -2, 3, 0.5]
        m.t = np.arange(8).reshape(4, 2) * 0.3
        want = self.columns(m.loaded, "jvp", (m.load, m.x), [lambda: m.r.dual])
        for layout in ("csr", "csc", "bsr"):
            np.testing.assert_allclose(dense(m.loaded.jac(layout=layout), layout), want, atol=1e-15)
        both = self.columns(m.stretched, "hvp", (m.x, m.load), [lambda: m.x.grad_dual, lambda: m.load.grad_dual], 0.7)
        fixed = np.arange(14) % 5 == 2
        for layout in ("csr", "csc", "bsr"):
            np.testing.assert_allclose(dense(m.stretched.hess(0.7, layout=layout), layout), both, atol=1e-14)
            a = np.where(fixed[:, None] | fixed, np.eye(14), both)
            np.testing.assert_allclose(dense(m.stretched.hess(0.7, layout=layout, fixed=fixed), layout), a, atol=1e-14)
        m.clear_grad()
        m.E.grad[...] = 1
        m.stretched.grad(0.7)
        g = m.x.grad.copy(), m.load.grad.copy()
        m.clear_grad()
        m.stretched.hess(0.7)
        np.testing.assert_allclose(m.x.grad, g[0], atol=1e-14)
        np.testing.assert_allclose(m.load.grad, g[1], atol=1e-14)
        self.assertEqual(m.pairs.hess(layout="bsr").data.shape[1:], (2, 2))
        for wrong in (5, 9):
            with self.assertRaisesRegex(ValueError, "fixed has 14 bools, one for each component of the fields, not %d" % wrong):
                m.stretched.hess(0.7, fixed=np.ones(wrong, bool))
        with self.assertRaisesRegex(ValueError, "fixed has 18 bools, one for each component of the fields, not 9"):
            m.pairs.hess(fixed=np.ones(9, bool))
        m.ends = [[0, 1], [3, 5], [2, 4], [4, 0]]
        with self.assertRaisesRegex(sparse.Error.BadState, "iteration 1 of kernel 'stretched' takes element 5 of 'x', which has 5"):
            m.stretched.hess(0.7)

    def test_other_elements(self):
        m = self.m
        first = m.springs.hess((2.0, 0.3), 0.7)
        kept, indices = np.array(first.data), np.array(first.indices)
        m.ends = [[0, 2], [1, 2], [3, 2], [4, 2]]
        second = m.springs.hess((2.0, 0.3), 0.7)
        np.testing.assert_allclose(dense(second, "csr"), self.hessian(), atol=1e-12)
        self.assertNotEqual(list(second.indices), list(indices))
        np.testing.assert_array_equal(first.data, kept)
        np.testing.assert_array_equal(first.indices, indices)

    def test_projection(self):
        m = self.m
        m.x = m.x.data * 0.05     # compressed springs
        a = dense(m.springs.hess((2.0, 0.3), 0.7), "csr")
        b = dense(m.springs.hess((2.0, 0.3), 0.7, project=True), "csr")
        c = dense(m.springs.hess((2.0, 0.3), 0.7), "csr")
        self.assertLess(np.linalg.eigvalsh(a)[0], -0.1)
        self.assertGreater(np.linalg.eigvalsh(b)[0], -1e-12)
        np.testing.assert_array_equal(a, c)

    def test_fixed(self):
        m, want = self.m, self.hessian()
        for fixed in (np.array([True, False, False, True, False]), np.arange(10) % 4 == 1, np.zeros((5, 2), bool)):
            flags = np.repeat(fixed.ravel(), 10 // fixed.size)
            a = np.where(flags[:, None] | flags, np.eye(10), want)
            for layout in ("csr", "csc", "bsr"):
                np.testing.assert_allclose(dense(m.springs.hess((2.0, 0.3), 0.7, layout=layout, fixed=fixed), layout), a, atol=1e-12)
        with self.assertRaisesRegex(TypeError, "fixed is an array of bools, not of float64"):
            m.springs.hess((2.0, 0.3), 0.7, fixed=np.ones(5))
        with self.assertRaisesRegex(ValueError, "fixed has 5 bools, one for each element of the field, or 10, one for each component, not 3"):
            m.springs.hess((2.0, 0.3), 0.7, fixed=np.ones(3, bool))

    def test_names(self):
        self.m.plain(2.0, [0, 1])
        h = self.m.plain.hess(2.0, [0, 1], full_=False)
        self.assertEqual(h.data.dtype, np.float32)
        np.testing.assert_array_equal(h.data, [12, 24, -36])

    def test_misuse(self):
        m = self.m
        with self.assertRaisesRegex(ValueError, "layout is 'csr', 'csc' or 'bsr', not 'coo'"):
            m.residuals.jac(layout="coo")
        with self.assertRaisesRegex(TypeError, "full is True or False"):
            m.springs.hess((2.0, 0.3), 0.7, full=1)
        with self.assertRaisesRegex(TypeError, "project is True or False"):
            m.springs.hess((2.0, 0.3), 0.7, project=None)
        with self.assertRaisesRegex(AttributeError, r"has no hess: 'derive\(hess\(x\)\)'"):
            m.bare.hess
        with self.assertRaisesRegex(AttributeError, r"has no jac: 'derive\(jac\(x\)\)'"):
            m.springs.jac
        m.ends = [[0, 9], [1, 2], [3, 2], [4, 2]]
        with self.assertRaisesRegex(sparse.Error.BadState, "iteration 0 of kernel 'springs' takes element 9 of 'x', which has 5"):
            m.springs.hess((2.0, 0.3), 0.7)
        m.ends = ENDS
        m.springs.hess((2.0, 0.3), 0.7)
        m.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            m.springs.hess((2.0, 0.3), 0.7)

    def test_freed(self):
        m = self.m
        h = m.springs.hess((2.0, 0.3), 0.7)
        pattern = weakref.ref(next(iter(m._h.patterns.values())))
        m.springs.hess((2.0, 0.3), 0.7)
        self.assertEqual(len(m._h.patterns), 1)
        m.close()
        gc.collect()
        self.assertIsNone(pattern())
        self.assertEqual(h.shape, (10, 10))

    def test_without_scipy(self):
        present = sys.modules.get("scipy.sparse"), sys.modules.get("scipy")
        sys.modules["scipy.sparse"] = sys.modules["scipy"] = None
        try:
            h = self.m.springs.hess((2.0, 0.3), 0.7)
        finally:
            for name, module in zip(("scipy.sparse", "scipy"), present):
                sys.modules.pop(name)
                if module:
                    sys.modules[name] = module
        self.assertEqual(h._fields, ("data", "indices", "indptr", "shape"))

    @unittest.skipUnless(scipy, "no SciPy")
    def test_scipy(self):
        m = self.m
        for layout in ("csr", "csc", "bsr"):
            h = m.springs.hess((2.0, 0.3), 0.7, layout=layout)
            self.assertIsInstance(h, getattr(scipy.sparse, f"{layout}_matrix"))
            np.testing.assert_allclose(h.toarray(), self.hessian(), atol=1e-12)
            self.assertTrue(h.has_sorted_indices)
            j = m.residuals.jac(layout=layout)
            np.testing.assert_allclose((j.T @ j).toarray(), dense(j, layout).T @ dense(j, layout))


if __name__ == "__main__":
    unittest.main()
