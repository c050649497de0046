"""Functions with derivatives of their own, C functions, and calls of them."""
from expressions import STEPS, Expr

# For all programs of a module: functions with derivatives of their own, C functions (of libm). In a file of their own or not.
COMMON = """
extern func j0(al: f64) -> f64 grad(-jn(1, al));
extern func fma(al: f64, be: f64, ga: f64) -> f64 grad(be, al, 1.0);
extern func jn(n: i32, al: f64) -> f64 grad(0.5 * (jn(n - 1, al) - jn(n + 1, al)));
extern func spin(v: vec2, k: f64) -> vec2;
func spin_back(v: vec2, k: f64, gp: vec2) -> (vec2, f64) grad_for(spin) {
    return [gp.x * cos(k) + gp.y * sin(k), gp.y - 2.0 * v.y * gp.x], v.x * (gp.y * cos(k) - gp.x * sin(k));
}
func spin_jvp(v: vec2, k: f64, dv: vec2, dk: f64) -> (vec2, vec2) jvp_for(spin) {
    return spin(v, k), [dv.x * cos(k) - v.x * sin(k) * dk - 2.0 * v.y * dv.y, dv.x * sin(k) + v.x * cos(k) * dk + dv.y];
}
struct Tally { a: i64, b: u16, c: ivec2 }
field tally: Tally[N, M];
field pile: vec(3, u8)[N];
extern func swap(p: Pair) -> Pair;
extern func facet(p: Part, n: u8) -> (Frame, i32, bool);
extern func weigh(al: Tone, be: Frame) -> f64;
extern func joint(m: mat(2, 3, real), v: vec3) -> (vec2, f64);
extern func joint_back(m: mat(2, 3, real), v: vec3, gp: vec2, gq: f64) -> (mat(2, 3, real), vec3) grad_for(joint);
extern func joint_jvp(m: mat(2, 3, real), v: vec3, dm: mat(2, 3, real), dv: vec3) -> (vec2, f64, vec2, f64) jvp_for(joint);
extern func tone(al: f32, be: vec(2, f32)) -> f64 grad(2.0 * al, [be.y, be.x]);
func turned(p: Pair) -> Pair { return Pair(p.b.y, [p.a, p.b.x]); }
func bend(al: real, be: real) -> real { return sin(al) * be; }
func bend_back(al: real, be: real, gp: real) -> (real, real) grad_for(bend) { return gp * cos(al) * be, gp * sin(al); }
func bend_jvp(al: real, be: real, dal: real, dbe: real) -> (real, real) jvp_for(bend) { return sin(al) * be, cos(al) * dal * be + sin(al) * dbe; }
func blend(al: real, n: i32, be: vec2) -> (real, vec2) { return sin(al) * be.x, al * be + be * real(n); }
func blend_back(al: real, n: i32, be: vec2, gp: real, gq: vec2) -> (real, vec2) grad_for(blend) {
    return gp * cos(al) * be.x + dot(gq, be), [gp * sin(al), 0.0] + gq * al + gq * real(n);
}
func blend_jvp(al: real, n: i32, be: vec2, dal: real, dbe: vec2) -> (real, vec2, real, vec2) jvp_for(blend) {
    return sin(al) * be.x, al * be + be * real(n), cos(al) * dal * be.x + sin(al) * dbe.x, dal * be + al * dbe + dbe * real(n);
}
"""

# The extern funcs that no library has. The header of the module NAME is in front.
EXTERN = """
#include <math.h>

void spin(const double v[2], double k, double result[2])
{
    result[0] = v[0] * cos(k) - v[1] * v[1];
    result[1] = v[0] * sin(k) + v[1];
}

void swap(NAME_Pair p, NAME_Pair *result)
{
    *result = (NAME_Pair){p.b[1], {p.a, p.b[0]}};
}

void facet(NAME_Part p, uint8_t n, NAME_Frame *f, int32_t *k, bool *above)
{
    for (int i = 0; i < 6; i++)
        f->r[i / 3][i % 3] = sin(p.w + i);
    f->o[0] = cos(p.p.a);
    f->o[1] = 0.5 * sin(p.p.b[0] + n);
    f->i = n & 3;
    *k = (int32_t)((uint32_t)p.n % 5);
    *above = p.p.b[1] > 0;
}

double weigh(NAME_Tone c, NAME_Frame d)
{
    return sin(c.z + c.q[0] * c.q[1] + c.x) + 0.5 * cos(d.o[0] + d.r[1][2] + d.i);
}

void joint(const double m[2][3], const double v[3], double p[2], double *q)
{
    *q = 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) + m[0][1];
    for (int i = 0; i < 2; i++)
        p[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
}

void joint_back(const double m[2][3], const double v[3], const double gp[2], double gq, double gm[2][3], double gv[3])
{
    for (int j = 0; j < 3; j++) {
        gv[j] = gq * v[j] + gp[0] * m[0][j] + gp[1] * m[1][j];
        for (int i = 0; i < 2; i++)
            gm[i][j] = gp[i] * v[j];
    }
    gm[0][1] += gq;
}

void joint_jvp(const double m[2][3], const double v[3], const double dm[2][3], const double dv[3], double p[2], double *q, double dp[2], double *dq)
{
    joint(m, v, p, q);
    *dq = v[0] * dv[0] + v[1] * dv[1] + v[2] * dv[2] + dm[0][1];
    for (int i = 0; i < 2; i++) {
        dp[i] = 0;
        for (int j = 0; j < 3; j++)
            dp[i] += m[i][j] * dv[j] + dm[i][j] * v[j];
    }
}

double tone(float x, const float q[2])
{
    return (double)x * (double)x + (double)q[0] * (double)q[1];
}
"""


class Externs:
    """Part of a Program."""

    def custom(self, kind, d):
        f = self.rng.choice(["bend", "bend", "j0", "fma", "jn", "spin", "structs", "tone"])
        if f != "bend":
            self.count(f"extern func {f}" if f in ("structs", "tone") else "extern func")
            if f == "structs":
                return self.of_structs(kind, d)
            if f == "tone":
                return Expr(f"tone({self.exact('f32')}, {self.exact('vec(2, f32)')})", kind, -13, 13)
            a = self.fit(self.value(kind, d), -3, 3)
            if f == "j0":
                return Expr(f"j0({a})", kind, -1, 1)
            if f == "spin":
                k = self.integer(0, 1, 0) if self.pure else self.integer(0, 1, 1)
                return Expr(f"spin({self.fit(self.value('vec2', d - 1), -2, 2)}, {a})[{k}]", kind, -6, 6)
            if f == "jn":
                return Expr(f"jn({self.integer(0, 3, d - 1)}, {a})", kind, -1, 1)
            b, c = self.fit(self.value(kind, d - 1), -3, 3), self.value(kind, 0)
            return Expr(f"fma({a}, {b}, {c})", kind, c.lo - 9, c.hi + 9)
        self.count("custom derivative")
        a, b = self.value(kind, d), self.fit(self.value(kind, d - 1), -3, 3)
        return Expr(f"bend({a}, {b})", kind, -3, 3)

    def of_structs(self, kind, d):
        """They have no derivative: what is used of one is locally constant."""
        f = self.rng.choice(["floor", "round", "sign", "ceil"])
        of = self.rng.choice(["weigh", "swap"])
        passive, self.passive = self.passive, True
        call = f"weigh({self.argument('Tone', d - 1, 2)}, {self.argument('Frame', d - 1, 2)})" if of == "weigh" else f"swap({self.argument('Pair', d - 1, 2)}).{self.rng.choice(['a', 'b.y'])}"
        self.passive = passive
        b = self.value(kind, d)
        lo, hi = STEPS[f](-2, 2)
        return Expr(f"({b} + 0.2 * {f}({call}))", kind, b.lo + 0.2 * lo, b.hi + 0.2 * hi)

    def several_of_c(self):
        """The results of a C function: structs of what is constant, or vectors and matrices with a derivative by C functions."""
        if self.pure or self.chance(0.4) or "hvp" in self.derive:    # what is made of C functions has no second derivative
            if self.pure:
                return self.let()
            self.count("extern func of structs, several results")
            f, k, c = self.name_new("l"), self.name_new("l"), self.name_new("l")
            pair = f"Pair({self.constant(1)}, [{self.constant(0)}, {self.constant(1)}])"
            self.emit(f"let {f}, {k}, {c} = facet(Part({self.integer(0, 4, 1)}, {self.constant(1)}, {pair}), u8({self.integer(0, 4, 1)}));")
            self.scope += self.param_values(f, "Frame", 1) + self.param_values(k, "int", 1)
            for v in self.scope[-4:]:
                v["used"] = True    # nothing that has a derivative
            return self.scope.append({"name": c, "kind": "bool", "lo": 0, "hi": 1, "mutable": False})
        self.count("extern func of several results")
        a, b = self.name_new("l"), self.name_new("l")
        self.emit(f"let {a}, {b} = joint({self.fit(self.value('mat2x3', 2), -2, 2)}, {self.fit(self.value('vec3', 1), -2, 2)});")
        self.scope += [{"name": a, "kind": "vec2", "lo": -12, "hi": 12, "mutable": False}, {"name": b, "kind": "real", "lo": -2, "hi": 8, "mutable": False}]
        return None
