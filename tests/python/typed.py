# Mistakes that type checkers find in uses of tests/python/kernels.tk: each line that ends in "# wrong" has one, no other line has.
import kernels
import numpy as np

m = kernels.Module(N=3, threads=1, on_print=print)
m.y = [1, 2, 3]
m.y += 1
m.y.grad[...] = 0
m.bodies.line.slope = 2.0
line: float = m.total({"offset": 1, "slope": 2})
total = m.total.jvp((0, 2), l_dual=(0, 1))
print(total.result_dual + 1, float(m.loss), m.y.sum(), m.params.N + 1, m.bodies.data["count"])
with m.tape(m.loss, sum=True):
    m.measure()
with m.forward(m.y, [1, 0, 0], [m.loss]):
    m.measure()
print(m.gradcheck(m.loss, m.measure, [m.y]).compared)
c = m.product(np.ones((3, 4)), np.ones((4, 2)))
m.seen(m.y, np.ones((3, 2)))
print(m.product.grad(np.ones((3, 4)), np.ones((4, 2)), c).A_grad[0])
try:
    m.checked(-1)
except kernels.Error.Assert as e:
    print(e.status)
other = kernels.Module(session=m.session)
narrow = np.ones((3, 4), np.float32)

m.mesure()                                       # wrong
m.y.gard                                         # wrong
m.chosen.grad                                    # wrong
m.loss = None                                    # wrong
m.measure = 3                                    # wrong
m.measure(1)                                     # wrong
m.pick.grad(1, 2)                                # wrong
m.pick("a", 2)                                   # wrong
m.pick(1.5, 2)                                   # wrong
m.total({"ofset": 1})                            # wrong
m.product([[1.0]], np.ones((4, 2)))              # wrong
m.product(narrow, np.ones((4, 2)))               # wrong
text: str = m.total((1, 2))                      # wrong
print(total.rezult)                              # wrong
m.params.N = 4                                   # wrong
m.params.Q                                       # wrong
kernels.Module(M=3)                              # wrong
kernels.Module(N=1.5)                            # wrong
kernels.Module(on_print=3)                       # wrong
m.tape(m.chosen)                                 # wrong
m.forward(m.chosen)                              # wrong
kernels.Error.BadStat                            # wrong
kernels.measure                                  # wrong
other.session.set_seed("a")                      # wrong
