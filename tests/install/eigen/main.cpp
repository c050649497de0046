// Fields bound to containers of Eigen, mapped and copied. With REFUSED, lines that the compiler refuses.
#include "shapes.h"
#include <tkc/eigen.hpp>
#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>

#include <cstdio>
#include <vector>

static int failures;
#define CHECK(x) ((x) ? (void)0 : (void)(failures++, std::printf("%d: %s\n", __LINE__, #x)))

using Eigen::Matrix;
using Points = std::vector<Eigen::Vector3d>;
using Row23 = Matrix<double, 2, 3, Eigen::RowMajor>;
using Images = Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The failure of the session, which is cleared.
static tk_status failure(shapes *m)
{
    const tk_status status = shapes_status(m);
    tk_session_clear_error(tk_module_session(&m->tk));
    return status;
}

static const Eigen::Matrix3d turn = (Eigen::Matrix3d() << 0, -1, 0, 2, 0, 0, 0, 3, 1).finished();
static const Eigen::Vector3d at(1, 2, 3);

static Points make_points()
{
    Points p;
    for (int i = 0; i < 4; i++)
        p.emplace_back(i, 10 * i, 1 - i);
    return p;
}

static void bound(shapes *m)
{
    Points x = make_points(), x_grad(4), x_dual(4);
    std::vector<Row23> a(4), a_grad(4);
    Eigen::VectorXd mass = Eigen::VectorXd::LinSpaced(4, 1, 4);
    Images image(2, 4);
    for (Row23 &each : a)
        each << 1, 2, 3, 4, 5, 6;
    CHECK(tkc::bind(shapes_bind_x, m, m->x, x, x_grad, x_dual) == TK_OK);
    CHECK(tkc::bind(shapes_bind_a, m, m->a, a, a_grad) == TK_OK);
    CHECK(tkc::bind(shapes_bind_mass, m, m->mass, mass) == TK_OK);
    CHECK(tkc::bind(shapes_bind_image, m, m->image, image) == TK_OK);
    CHECK(m->x.grad[0] == x_grad[0].data() && &m->mass.data[0] == mass.data() && m->image.data == image.data());
    TK_TAPE(m, m->U) { shapes_measure(m); }
    double U = 0;
    for (int i = 0; i < 4; i++) {
        U += mass[i] * x[i].squaredNorm() + a[i](0, 2) * x[i].y();
        CHECK(x_grad[i] == 2 * mass[i] * x[i] + 3 * Eigen::Vector3d::UnitY());
        CHECK(a_grad[i](0, 2) == x[i].y() && a_grad[i].sum() == x[i].y());
    }
    CHECK(m->U.data[0] == U);

    // turn is not symmetric, and is column-major here
    CHECK(tkc::copy_in(m, m->turn, turn) == TK_OK && tkc::copy_in(m, m->at, at) == TK_OK);
    CHECK(m->turn.data[0][1][0] == 2 && m->turn.data[0][0][1] == -1);
    shapes_rotate(m);
    const Points before = make_points();
    for (int i = 0; i < 4; i++)
        CHECK(x[i] == turn * before[i] + at);

    Eigen::Matrix3Xd columns = Eigen::Matrix3Xd::Random(3, 4), dual(3, 4);
    Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> rows(4, 3);
    CHECK(tkc::bind(shapes_bind_x, m, m->x, columns, rows, dual) == TK_OK);
    TK_TAPE(m, m->U) { shapes_measure(m); }
    CHECK(rows.row(3).transpose() == 2 * mass[3] * columns.col(3) + 3 * Eigen::Vector3d::UnitY());
    CHECK(tkc::bind(shapes_bind_x, m, m->x, x, x_grad, x_dual) == TK_OK);

    Points small(3);
    Images upright(4, 2);
    CHECK(tkc::bind(shapes_bind_x, m, m->x, x, small, x_dual) == TK_BAD_ARGUMENT && failure(m) == TK_BAD_ARGUMENT);
    CHECK(tkc::bind(shapes_bind_image, m, m->image, upright) == TK_BAD_ARGUMENT && failure(m) == TK_BAD_ARGUMENT);
}

static void mapped(shapes *m)
{
    tkc::map(m->x) << 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12;
    CHECK(m->x.data[1][2] == 6 && tkc::map(m->x).rows() == 4);
    tkc::map(m->x, 2) = at;
    CHECK(m->x.data[2][0] == 1 && m->x.data[2][2] == 3);
    tkc::map_grad(m->x).setConstant(7);
    tkc::map_dual(m->x, 3).setConstant(8);
    CHECK(m->x.grad[3][1] == 7 && m->x.dual[3][2] == 8);
    tkc::map_grad(m->x, 3).setZero();
    tkc::map_dual(m->x).setZero();
    CHECK(m->x.grad[3][1] == 0 && m->x.dual[3][2] == 0);
    tkc::map(m->a, 1) << 1, 2, 3, 4, 5, 6;
    CHECK(m->a.data[1][0][2] == 3 && m->a.data[1][1][0] == 4 && tkc::map(m->a)(1, 3) == 4);
    tkc::map(m->turn, 0) = turn;
    CHECK(m->turn.data[0][1][0] == 2);
    tkc::map(m->image) = Eigen::Matrix<float, 2, 4>::Identity();
    CHECK(m->image.data[shapes_idx_image(m, 1, 1)] == 1 && m->image.data[shapes_idx_image(m, 1, 0)] == 0);
    tkc::map(m->mass).setLinSpaced(1, 4);
    CHECK(m->mass.data[3] == 4 && tkc::map(m->U).size() == 1);
}

// Every container gives what the field has, and takes it.
template <class View, class C> static void both_ways(shapes *m, const View &view, const C &c)
{
    C other, smaller;
    CHECK(tkc::copy_in(m, view, c) == TK_OK);
    CHECK(tkc::copy_out(m, view, other) == TK_OK && other == c);
    if (view.shape[0] > 1)
        CHECK(tkc::copy_in(m, view, smaller) == TK_BAD_ARGUMENT && failure(m) == TK_BAD_ARGUMENT);
}

static void copied(shapes *m)
{
    const Eigen::MatrixX3d rows = Eigen::MatrixX3d::Random(4, 3);
    const Eigen::Matrix3Xd columns = Eigen::Matrix3Xd::Random(3, 4);
    both_ways(m, m->x, make_points());
    CHECK(m->x.data[2][1] == 20);
    both_ways(m, m->x, rows);
    CHECK(m->x.data[2][1] == rows(2, 1));
    both_ways(m, m->x, columns);
    CHECK(m->x.data[2][1] == columns(1, 2));
    both_ways(m, m->x, Eigen::MatrixXd(rows));
    both_ways(m, m->apart, columns);
    CHECK(m->apart.data[1][2] == columns(1, 2));
    both_ways(m, m->mass, std::vector<double>{1, 2, 3, 4});
    both_ways(m, m->mass, Eigen::VectorXd(Eigen::Vector4d(4, 3, 2, 1)));
    both_ways(m, m->flags, std::vector<int>{1, -2, 3, -4});
    both_ways(m, m->image, Eigen::MatrixXf(Eigen::MatrixXf::Random(2, 4)));
    both_ways(m, m->pale, std::vector<Eigen::Vector3f>(4, Eigen::Vector3f(1, 2, 3)));
    both_ways(m, m->at, at);
    both_ways(m, m->a, std::vector<Matrix<double, 2, 3>>(4, Matrix<double, 2, 3>::Random()));
    std::vector<Matrix<double, 2, 3>> by_columns;
    std::vector<Row23> by_rows;
    CHECK(tkc::copy_out(m, m->a, by_columns) == TK_OK && tkc::copy_out(m, m->a, by_rows) == TK_OK);
    CHECK(by_columns[3] == by_rows[3] && by_rows[3](1, 0) == m->a.data[3][1][0]);

    std::vector<Eigen::Vector3d> wide;
    CHECK(tkc::copy_out(m, m->pale, wide) == TK_OK && wide[2] == Eigen::Vector3d(1, 2, 3));
    tkc::copy_in(m, m->x, columns);
    shapes_fill(m);
    std::vector<Eigen::Vector2d> spread;
    CHECK(tkc::copy_out(m, m->apart, wide) == TK_OK && wide[3] == 2 * columns.col(3));
    CHECK(tkc::copy_out(m, m->spread, spread) == TK_OK && spread[1].x() == columns(0, 1));
    both_ways(m, m->spread, std::vector<Eigen::Vector2d>(4, Eigen::Vector2d(5, 6)));
    CHECK(tkc::copy_in(m, m->spread, make_points()) == TK_BAD_ARGUMENT && failure(m) == TK_BAD_ARGUMENT);

    tkc::copy_in(m, m->x, columns, TK_GRAD);
    tkc::copy_in(m, m->x, rows, TK_DUAL);
    CHECK(m->x.grad[1][2] == columns(2, 1) && m->x.dual[1][2] == rows(1, 2));
    CHECK(tkc::copy_in(m, m->at, at, TK_GRAD) == TK_NO_DERIVATIVE && failure(m) == TK_NO_DERIVATIVE);
}

// Differences of the gradient that the kernels add to x.grad.
static Eigen::MatrixXd differences(shapes *m, double k, double c)
{
    Eigen::MatrixXd H(12, 12);
    auto x = tkc::map(m->x), g = tkc::map_grad(m->x);
    for (int j = 0; j < 12; j++) {
        double &at = x.data()[j];
        const double here = at, h = 1e-5;
        Eigen::MatrixXd side[2];
        for (int i = 0; i < 2; i++) {
            tkc::sparse<double> s;
            at = here + (i ? h : -h);
            g.setZero();
            CHECK(s.pattern(shapes_pull_hess_pattern, m, k) == TK_OK && s.add(shapes_pull_hess, m, k) == TK_OK);
            CHECK(s.pattern(shapes_hold_hess_pattern, m, c) == TK_OK && s.add(shapes_hold_hess, m, c) == TK_OK);
            side[i] = g;
        }
        at = here;
        const Eigen::MatrixXd d = (side[1] - side[0]) / (2 * h);
        for (int i = 0; i < 12; i++)
            H(i, j) = d(i / 3, i % 3);
    }
    return H;
}

template <int Order, class I> static void hessians(shapes *m, const Eigen::MatrixXd &want, bool full)
{
    tkc::sparse<double, Order, I> H(full), other;
    CHECK(H.pattern(shapes_pull_hess_pattern, m, 2.0) == TK_OK);
    CHECK(H.pattern(shapes_hold_hess_pattern, m, 3.0) == TK_OK);
    for (int round = 0; round < 2; round++) {
        H.set_zero();
        CHECK(H.add(shapes_pull_hess, m, 2.0) == TK_OK && H.add(shapes_hold_hess, m, 3.0) == TK_OK);
    }
    other = std::move(H);
    const auto map = other.map();
    const Eigen::MatrixXd dense(map), lower(want.template triangularView<Eigen::Lower>());
    CHECK(dense.isApprox(full ? want : lower, 1e-6));
    Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> solver{Eigen::SparseMatrix<double>(map)};
    const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(12, -1, 1);
    CHECK(solver.info() == Eigen::Success && (want * solver.solve(b)).isApprox(b, 1e-6));
}

// project before pattern, after it, and through a move; the pattern for functions of C. All springs are compressed.
static void projections(shapes *m)
{
    const Eigen::MatrixXd x = tkc::map(m->x);
    tkc::map(m->x) *= 0.1;
    tkc::sparse<double> early(true), H(true);
    CHECK(early.project(true) == TK_OK);
    H = std::move(early);
    for (const bool on : {true, false}) {
        CHECK(H.project(on) == TK_OK && H.pattern(shapes_pull_hess_pattern, m, 2.0) == TK_OK);
        CHECK(H.add(shapes_pull_hess, m, 2.0) == TK_OK && tk_sparse_projected(H.get()) == (on ? 3 : 0));
        const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> values{Eigen::MatrixXd(H.map())};
        CHECK((values.eigenvalues().minCoeff() > -1e-9) == on);
    }
    tk_gradcheck_result r;
    const auto run = [](void *user) { shapes_pull(static_cast<shapes *>(user), 2.0); };
    CHECK(tk_gradcheck_sparse(H.get(), H.map().valuePtr(), m->U.field, m->x.field, run, m, 1e-5, &r) == TK_OK);
    tkc::map(m->x) = x;

    CHECK(H.fix(std::vector<bool>(12, false)) == TK_OK && H.fix(Eigen::Array<bool, 12, 1>::Constant(true)) == TK_OK);
    CHECK(Eigen::MatrixXd(H.map()) == Eigen::MatrixXd::Identity(12, 12));
    CHECK(H.fix(std::vector<bool>(4)) == TK_BAD_ARGUMENT);

    tkc::sparse<double> rows;
    CHECK(rows.project(true) == TK_OK && rows.pattern(shapes_rows_jac_pattern, m) == TK_BAD_ARGUMENT);
    CHECK(failure(m) == TK_BAD_ARGUMENT);
    CHECK(rows.project(true) == TK_BAD_ARGUMENT);
}

static void sparse(shapes *m)
{
    const int ends[3][2] = {{0, 1}, {3, 1}, {2, 0}};
    for (int s = 0; s < 3; s++)
        for (int i = 0; i < 2; i++)
            m->springs.data[s][i] = ends[s][i];
    tkc::map(m->x) << 0, 0, 0, 1.5, 0.1, 0.3, -1, 2, 0.5, 2, 2, 2;
    const Eigen::MatrixXd want = differences(m, 2, 3);
    hessians<Eigen::RowMajor, std::int32_t>(m, want, false);
    hessians<Eigen::ColMajor, std::int32_t>(m, want, false);
    hessians<Eigen::RowMajor, std::int64_t>(m, want, true);
    hessians<Eigen::ColMajor, std::int64_t>(m, want, true);

    const Eigen::SparseMatrix<double> J = tkc::jacobian(shapes_rows_jac_pattern, shapes_rows_jac, m);
    CHECK(J.rows() == 8 && J.cols() == 12 && J.nonZeros() == 24);
    CHECK(J.coeff(2, 3) == 0.1 && J.coeff(2, 4) == 1.5 && J.coeff(7, 11) == 1 && J.coeff(7, 10) == 0);
    const Eigen::SparseMatrix<double> H = tkc::hessian(shapes_hold_hess_pattern, shapes_hold_hess, m, 3.0);
    CHECK(Eigen::MatrixXd(H) == 3 * Eigen::MatrixXd::Identity(12, 12));
    m->light.data[1] = 0.5f;
    const Eigen::SparseMatrix<float> W = tkc::hessian<float>(shapes_well_hess_pattern, shapes_well_hess, m, 1.0f);
    CHECK(W.coeff(1, 1) == 3.0f && W.rows() == 4);

    // by two fields, of three components and one: the columns of rest stand behind those of x
    tkc::map(m->rest) << 0.5, -2;
    const Eigen::SparseMatrix<double> T = tkc::jacobian(shapes_tied_jac_pattern, shapes_tied_jac, m, 2.0);
    CHECK(T.rows() == 8 && T.cols() == 14 && T.nonZeros() == 20);
    CHECK(T.coeff(6, 9) == -4 && T.coeff(6, 13) == 4 && T.coeff(3, 12) == 1 && T.coeff(2, 12) == 3);
    tkc::sparse<double> S(true);
    CHECK(S.pattern(shapes_slack_hess_pattern, m) == TK_OK && S.add(shapes_slack_hess, m) == TK_OK);
    const Eigen::MatrixXd dense(S.map());
    CHECK(dense(7, 7) == -4 && dense(7, 13) == 4 && dense(13, 7) == 4 && dense(13, 13) == 0);
    CHECK(S.fix(std::vector<bool>(14, true)) == TK_OK && S.fix(std::vector<bool>(12, true)) == TK_BAD_ARGUMENT);

    projections(m);
    tkc::sparse<double> none;
    CHECK(!none.get() && none.add(shapes_hold_hess, m, 3.0) == TK_BAD_ARGUMENT && failure(m) == TK_BAD_ARGUMENT);
    m->springs.data[0][0] = 9;
    const Eigen::SparseMatrix<double> bad = tkc::hessian(shapes_pull_hess_pattern, shapes_pull_hess, m, 2.0);
    CHECK(bad.rows() == 0 && failure(m) == TK_BAD_STATE);
}

#ifdef REFUSED
void refused(shapes *m)
{
    Points x, x_grad, x_dual;
    std::vector<Eigen::Vector3f> floats;
    std::vector<Matrix<double, 2, 3>> columns, columns_grad;
    Eigen::MatrixXf image;
    Eigen::VectorXd vector;
#include "refused.h"
}
#endif

int main()
{
    shapes *m = shapes_create(nullptr, nullptr);
    if (!m)
        return 1;
    mapped(m);
    copied(m);
    sparse(m);
    bound(m);
    CHECK(shapes_status(m) == TK_OK);
    shapes_destroy(m);
    return failures != 0;
}
