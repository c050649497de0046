/* Fields and Eigen, for C++17: views of fields as Eigen matrices, containers as memory of fields, copies, sparse
 * matrices of kernels.
 *
 * A field of vec or mat is a list of elements. A container for it is
 *   - std::vector, std::array of Eigen vectors or matrices of a fixed size: one of them for each element;
 *   - for a field of one element, an Eigen vector or matrix of its size;
 *   - an Eigen matrix with an element in each row; if its type is fixed to the element's number of rows and has any
 *     number of columns (Matrix3Xd), in each column.
 * A container for a field of scalars is std::vector, an Eigen vector, or for a 2-D field an Eigen matrix.
 *
 * Wrong types are errors of the C++ compiler. Wrong sizes are TK_BAD_ARGUMENT, which stays in the session as any
 * failure; nothing is then copied or bound. */
#ifndef TK_EIGEN_INCLUDED
#define TK_EIGEN_INCLUDED

#ifndef TK_TKC_INCLUDED /* --runtime=embed: the generated header comes first */
#include <tkc/tkc.h>
#endif

#include <Eigen/SparseCore>

#include <array>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

extern "C" tk_status tk_fail(tk_session *s, tk_status status, const char *fmt, ...);

namespace tkc {
namespace detail {

using Eigen::Dynamic;
using Eigen::Index;

template <class> inline constexpr bool never = false;

/* ---- fields, by the type of `data` in a view ---- */

/* rows * columns components, side by side if `dense`; 0: known at run time only. */
template <class T, int Rows, int Columns, bool Dense> struct element {
    using scalar = T;
    static constexpr int rows = Rows, columns = Columns, size = Rows * Columns;
    static constexpr bool dense = Dense;
};
template <class Data> struct element_of {
    static_assert(never<Data>, "this is no view of a field");
};
template <class T> struct element_of<T *> : element<T, 1, 1, true> {
    static_assert(std::is_arithmetic_v<T>, "a field of structs: tkc/eigen.hpp takes fields of numbers");
};
template <class T, std::size_t N> struct element_of<T (*)[N]> : element<T, int(N), 1, true> {};
template <class T, std::size_t R, std::size_t C> struct element_of<T (*)[R][C]> : element<T, int(R), int(C), true> {};
template <class T, std::size_t N> struct element_of<T *[N]> : element<T, int(N), 1, false> {};
template <class T, std::size_t R, std::size_t C> struct element_of<T *[R][C]> : element<T, int(R), int(C), false> {};
template <> struct element_of<void *> : element<void, 0, 1, false> {};

template <class View> using of = element_of<decltype(View::data)>;
template <class View> inline constexpr int dimensions = int(std::extent_v<decltype(View::shape)>);

template <class View> Index count(const View &view)
{
    Index n = 1;
    for (const auto extent : view.shape)
        n *= Index(extent);
    return n;
}

/* ---- containers ---- */

template <class T> std::true_type is_eigen_(const Eigen::DenseBase<T> *);
template <class> std::false_type is_eigen_(...);
template <class C> inline constexpr bool is_eigen = decltype(is_eigen_<C>(static_cast<C *>(nullptr)))::value;

template <class C> struct is_list : std::false_type {};
template <class T, class A> struct is_list<std::vector<T, A>> : std::true_type {};
template <class T, std::size_t N> struct is_list<std::array<T, N>> : std::true_type {};
template <class C> struct resizes : std::is_base_of<Eigen::PlainObjectBase<C>, C> {};
template <class T, class A> struct resizes<std::vector<T, A>> : std::true_type {};

/* A list of numbers or of Eigen objects; an Eigen object. `size`: numbers of an item of a list. */
template <class C, class = void> struct container {
    static_assert(never<C>, "no container that tkc/eigen.hpp takes: std::vector, std::array, or a matrix of Eigen");
};
template <class C> struct container<C, std::enable_if_t<is_eigen<C>>> {
    using scalar = typename C::Scalar;
    static constexpr bool list = false;
};
template <class C>
struct container<C, std::enable_if_t<is_list<C>::value && std::is_arithmetic_v<typename C::value_type>>> {
    using scalar = typename C::value_type;
    static_assert(!std::is_same_v<C, std::vector<bool>>, "std::vector<bool> has no memory of bools");
    static constexpr bool list = true, numbers = true, vector = true, row_major = true;
    static constexpr int rows = 1, columns = 1, size = 1;
};
template <class C> struct container<C, std::enable_if_t<is_list<C>::value && is_eigen<typename C::value_type>>> {
    using item = typename C::value_type;
    using scalar = typename item::Scalar;
    static_assert(item::SizeAtCompileTime != Dynamic, "the items of the list need a fixed size");
    static constexpr bool list = true, numbers = false, vector = item::IsVectorAtCompileTime,
                          row_major = vector || item::IsRowMajor;
    static constexpr int rows = item::RowsAtCompileTime, columns = item::ColsAtCompileTime, size = rows * columns;
};

/* An element of the field is a column of C. */
template <class C> constexpr bool has_columns(int size)
{
    return C::RowsAtCompileTime == size && C::ColsAtCompileTime == Dynamic;
}

/* C is a single element. */
template <class F, class C> constexpr bool is_element()
{
    return F::size > 1 && ((C::IsVectorAtCompileTime && F::columns == 1 && C::SizeAtCompileTime == F::size) ||
                           (C::RowsAtCompileTime == F::rows && C::ColsAtCompileTime == F::columns));
}

/* The number k, row-major, of element i. columns: of a matrix for a 2-D field of scalars, else 0. */
template <class F, class C> decltype(auto) number(C &c, Index i, int k, int size, Index columns)
{
    using traits = container<std::remove_const_t<C>>;
    if constexpr (traits::list) {
        auto &item = c[std::size_t(i)];
        if constexpr (traits::numbers)
            return (item);
        else if constexpr (traits::vector)
            return item.coeffRef(k);
        else
            return item.coeffRef(k / traits::columns, k % traits::columns);
    } else if constexpr (C::IsVectorAtCompileTime) {
        return c.coeffRef(i + k); /* one of both is 0 */
    } else if constexpr (is_element<F, C>()) {
        return c.coeffRef(k / F::columns, k % F::columns);
    } else {
        if (columns)
            return c.coeffRef(i / columns, i % columns);
        return has_columns<C>(size) ? c.coeffRef(k, i) : c.coeffRef(i, k);
    }
}

/* ---- checks ---- */

template <class View, class C, bool Exactly> constexpr void check_types()
{
    using F = of<View>;
    using S = typename container<C>::scalar;
    if constexpr (F::rows > 0) {
        using T = typename F::scalar;
        static_assert(std::is_same_v<S, T> || (!Exactly && std::is_floating_point_v<S> && std::is_floating_point_v<T>),
                      "the field and the container have different types of numbers");
        if constexpr (container<C>::list) {
            using L = container<C>;
            static_assert(L::numbers ? F::size == 1
                                     : L::vector && F::columns == 1 ? L::size == F::rows
                                                                    : L::rows == F::rows && L::columns == F::columns,
                          "the items of the list do not have the shape of the field's elements");
        } else if constexpr (F::size == 1) {
            static_assert(C::IsVectorAtCompileTime || dimensions<View> == 2,
                          "a matrix fits a 2-D field of scalars: take a vector");
        } else if constexpr (!is_element<F, C>()) {
            constexpr int columns = C::ColsAtCompileTime;
            static_assert(!C::IsVectorAtCompileTime, "a vector fits a field of scalars, or one element of its size");
            static_assert(has_columns<C>(F::size) || columns == F::size || columns == Dynamic,
                          "the rows of the matrix do not have the components of the field's elements");
        }
    }
}

/* Columns of a matrix that is a 2-D field; 0: the container is something else. */
template <class View, class C> Index columns_of(const View &view, int size)
{
    if constexpr (container<C>::list || dimensions<View> != 2)
        return 0;
    else
        return size == 1 && !C::IsVectorAtCompileTime ? Index(view.shape[1]) : 0;
}

template <class View, class C> bool fits(const View &view, const C &c, int size)
{
    const Index n = count(view);
    if constexpr (container<C>::list) {
        return Index(c.size()) == n && container<C>::size == size;
    } else {
        const Index columns = columns_of<View, C>(view, size);
        if (columns)
            return c.rows() == Index(view.shape[0]) && c.cols() == columns;
        if (is_element<of<View>, C>())
            return n == 1;
        if (C::IsVectorAtCompileTime)
            return size == 1 && c.size() == n;
        return has_columns<C>(size) ? c.rows() == size && c.cols() == n : c.rows() == n && c.cols() == size;
    }
}

/* Resizes the container to the field, where its type allows that. */
template <class View, class C> void fit(const View &view, C &c, int size)
{
    const Index n = count(view), columns = columns_of<View, C>(view, size);
    if constexpr (!resizes<C>::value) {
        (void)c;
    } else if constexpr (container<C>::list) {
        c.resize(std::size_t(n));
    } else if constexpr (C::SizeAtCompileTime == Dynamic) {
        const Index rows = columns ? Index(view.shape[0]) : has_columns<C>(size) ? size : n;
        const Index wide = columns ? columns : has_columns<C>(size) ? n : size;
        if constexpr (C::IsVectorAtCompileTime)
            c.resize(n);
        else if ((C::RowsAtCompileTime == Dynamic || C::RowsAtCompileTime == rows) &&
                 (C::ColsAtCompileTime == Dynamic || C::ColsAtCompileTime == wide))
            c.resize(rows, wide);
    }
}

template <class Module, class View> tk_status bad_size(Module *m, const View &view)
{
    return tk_fail(m ? tk_module_session(&m->tk) : nullptr, TK_BAD_ARGUMENT,
                   "the container does not have the size of field '%s'", tk_field_name(view.field));
}

template <class Module, class View> tk_status other_field(Module *m, const View &view)
{
    return tk_fail(tk_module_session(&m->tk), TK_BAD_ARGUMENT, "the function does not bind field '%s'",
                   tk_field_name(view.field));
}

inline void *plane_of(const tk_field *f, tk_plane plane)
{
    return plane == TK_DATA ? tk_field_data(f) : plane == TK_GRAD ? tk_field_grad(f)
                                             : plane == TK_DUAL ? tk_field_dual(f) : nullptr;
}

/* ---- copies ---- */

/* All numbers of the plane, for any layout, by way of doubles. */
template <bool In, class View, class Each> tk_status by_doubles(const View &view, tk_plane plane, int size, Each each)
{
    const Index n = count(view);
    std::vector<double> element(std::size_t(size), 0.0);
    tk_status status = TK_OK;
    for (Index i = 0; i < n && status == TK_OK; i++) {
        if (!In)
            status = tk_field_get(view.field, plane, i * size, size, element.data());
        for (int k = 0; k < size && status == TK_OK; k++)
            each(i, k, element[std::size_t(k)]);
        if (In)
            status = tk_field_set(view.field, plane, i * size, size, element.data());
    }
    return status;
}

/* Into the field if the container is const, else out of it. */
template <class Module, class View, class C> tk_status copy(Module *m, const View &view, C &c, tk_plane plane)
{
    using F = of<View>;
    using S = typename container<std::remove_const_t<C>>::scalar;
    static_assert(F::dense || std::is_floating_point_v<S> || sizeof(S) < 8, "64-bit integers need a dense layout");
    const int size = F::size ? F::size : tk_field_components(view.field);
    const Index columns = columns_of<View, std::remove_const_t<C>>(view, size);
    if (!fits(view, c, size))
        return bad_size(m, view);
    if constexpr (F::dense) {
        using T = typename F::scalar;
        T *const at = static_cast<T *>(plane_of(view.field, plane));
        if (!at)
            return tk_fail(tk_module_session(&m->tk), TK_NO_DERIVATIVE, "field '%s' does not have this plane",
                           tk_field_name(view.field));
        for (Index i = 0; i < count(view); i++)
            for (int k = 0; k < size; k++) {
                if constexpr (std::is_const_v<C>)
                    at[i * size + k] = static_cast<T>(number<F>(c, i, k, size, columns));
                else
                    number<F>(c, i, k, size, columns) = static_cast<S>(at[i * size + k]);
            }
        return TK_OK;
    } else {
        return by_doubles<std::is_const_v<C>>(view, plane, size, [&](Index i, int k, double &x) {
            if constexpr (std::is_const_v<C>)
                x = static_cast<double>(number<F>(c, i, k, size, columns));
            else
                number<F>(c, i, k, size, columns) = static_cast<S>(x);
        });
    }
}

/* ---- memory of a field ---- */

template <class View, class C> constexpr void check_memory()
{
    using F = of<View>;
    static_assert(F::rows > 0, "a strided field: use its m_bind_..._strided, or copy");
    static_assert(F::dense, "a field with the layout soa: copy");
    check_types<View, C, true>();
    if constexpr (container<C>::list) {
        static_assert(container<C>::row_major, "matrices are row-major in tkc: use Eigen::RowMajor, or copy");
        static_assert(sizeof(typename C::value_type) == container<C>::size * sizeof(typename container<C>::scalar),
                      "the items of the list are padded: copy");
    } else {
        static_assert(C::IsVectorAtCompileTime || bool(C::IsRowMajor) != has_columns<C>(F::size),
                      "the elements are not one after the other in this matrix: use Eigen::RowMajor, or copy");
    }
}

template <class Data, class C> Data memory(C &c)
{
    return reinterpret_cast<Data>(c.data());
}

} // namespace detail

/** Copies a container into a field (TK_DATA), its gradient (TK_GRAD) or its dual (TK_DUAL): any layout, row-major or
 * column-major matrices, float or double. */
template <class Module, class View, class C>
tk_status copy_in(Module *m, const View &view, const C &from, tk_plane plane = TK_DATA)
{
    detail::check_types<View, C, false>();
    return detail::copy(m, view, from, plane);
}

/** The reverse; resizes the container if its type allows that. */
template <class Module, class View, class C>
tk_status copy_out(Module *m, const View &view, C &to, tk_plane plane = TK_DATA)
{
    detail::check_types<View, C, false>();
    detail::fit(view, to, detail::of<View>::size ? detail::of<View>::size : tk_field_components(view.field));
    return detail::copy(m, view, to, plane);
}

/** Calls m_bind_x: `bind(fit_bind_x, m, m->x, points)`, with a container for each plane that the field declares, data
 * first. The containers must outlive the module or the next bind, and must not be resized. */
template <class Module, class... Pointers, class View, class... C>
tk_status bind(tk_status (*function)(Module *, Pointers...), Module *m, const View &view, C &...planes)
{
    static_assert(sizeof...(Pointers) == sizeof...(C), "bind takes a container for each plane of the field");
    static_assert((std::is_same_v<Pointers, decltype(View::data)> && ...), "the function binds another type of field");
    (detail::check_memory<View, C>(), ...);
    if (!(detail::fits(view, planes, detail::of<View>::size) && ...))
        return detail::bad_size(m, view);
    const tk_status status = function(m, detail::memory<Pointers>(planes)...);
    const void *const given[] = {planes.data()...};
    return status != TK_OK || view.data == given[0] ? status : detail::other_field(m, view);
}

namespace detail {

template <class T, int Rows, int Columns>
using matrix = Eigen::Matrix<T, Rows, Columns,
                             Columns == 1 && Rows != 1 ? Eigen::ColMajor : Eigen::RowMajor>;

/* All of a plane. */
template <class View, class Data> auto map_all(const View &view, Data data)
{
    using F = element_of<Data>;
    static_assert(F::dense, "only a dense field has a map: copy fields that are soa or strided");
    using T = typename F::scalar;
    T *const first = reinterpret_cast<T *>(data);
    if constexpr (F::size > 1)
        return Eigen::Map<matrix<T, Dynamic, F::size>>(first, count(view), F::size);
    else if constexpr (dimensions<View> == 2)
        return Eigen::Map<matrix<T, Dynamic, Dynamic>>(first, Index(view.shape[0]), Index(view.shape[1]));
    else
        return Eigen::Map<matrix<T, Dynamic, 1>>(first, count(view));
}

template <class View, class Data> auto map_one(const View &view, Data data, Index i)
{
    using F = element_of<Data>;
    static_assert(F::dense, "only a dense field has a map: copy fields that are soa or strided");
    using T = typename F::scalar;
    eigen_assert(i >= 0 && i < count(view));
    (void)view;
    return Eigen::Map<matrix<T, F::rows, F::columns>>(reinterpret_cast<T *>(data) + i * F::size);
}

} // namespace detail

/** The data of a field as an Eigen::Map. Scalars: a vector, or of a 2-D field a row-major matrix. vec and mat: an
 * element in each row. The field must be dense: neither soa nor strided. */
template <class View> auto map(const View &view)
{
    return detail::map_all<View, decltype(View::data)>(view, view.data);
}
/** The same of the gradient and the dual, which the field must declare. */
template <class View> auto map_grad(const View &view)
{
    return detail::map_all<View, decltype(View::grad)>(view, view.grad);
}
template <class View> auto map_dual(const View &view)
{
    return detail::map_all<View, decltype(View::dual)>(view, view.dual);
}
/** Element i, row-major, as a vector or matrix of a fixed size. */
template <class View> auto map(const View &view, Eigen::Index i)
{
    return detail::map_one<View, decltype(View::data)>(view, view.data, i);
}
template <class View> auto map_grad(const View &view, Eigen::Index i)
{
    return detail::map_one<View, decltype(View::grad)>(view, view.grad, i);
}
template <class View> auto map_dual(const View &view, Eigen::Index i)
{
    return detail::map_one<View, decltype(View::dual)>(view, view.dual, i);
}

/* ---- sparse matrices of kernels ---- */

/** A sparse Hessian or Jacobian with its pattern. T: type of the values; Order: Eigen::RowMajor, or ColMajor, which
 * takes one more pass; I: type of the indices. A Hessian has its lower triangle unless it is `full`.
 *
 *     tkc::sparse<double> H;
 *     H.pattern(m_springs_hess_pattern, m, k);   // several kernels: one call each
 *     H.set_zero();
 *     H.add(m_springs_hess, m, k);
 *     solver.compute(H.map()); */
template <class T = double, int Order = Eigen::RowMajor, class I = std::int32_t> class sparse {
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, float>, "values are float or double");
    static_assert(std::is_same_v<I, std::int32_t> || std::is_same_v<I, std::int64_t>, "indices have 32 or 64 bits");

public:
    using matrix = Eigen::SparseMatrix<T, Order, I>;

    explicit sparse(bool full = false)
    {
        options.columns = Order == Eigen::ColMajor;
        options.full = full;
        options.wide = sizeof(I) == 8;
    }
    sparse(sparse &&other) noexcept
        : options(other.options), p(std::exchange(other.p, nullptr)), semidefinite(other.semidefinite),
          values(std::move(other.values))
    {
    }
    sparse &operator=(sparse &&other) noexcept
    {
        std::swap(options, other.options);
        std::swap(p, other.p);
        std::swap(semidefinite, other.semidefinite);
        std::swap(values, other.values);
        return *this;
    }
    ~sparse() { tk_sparse_free(p); }

    /** Calls m_k_hess_pattern or m_k_jac_pattern with the kernel's arguments. All values are zero after it. */
    template <class F, class Module, class... A> tk_status pattern(F *function, Module *m, const A &...arguments)
    {
        const tk_status status = function(m, arguments..., &options, &p);
        values.assign(tk_sparse_values(p) + 1, T(0));
        if (status == TK_OK && semidefinite && tk_sparse_project(p, true) != TK_OK)
            return tk_fail(tk_module_session(&m->tk), TK_BAD_ARGUMENT, "%s", tk_error());
        return status;
    }
    /** Calls m_k_hess or m_k_jac, which adds to the values. */
    template <class F, class Module, class... A> tk_status add(F *function, Module *m, const A &...arguments)
    {
        return function(m, arguments..., p, values.data(), tk_sparse_values(p));
    }
    /** tk_sparse_fix, behind the last add; one flag for each component of the fields. */
    template <class Flags> tk_status fix(const Flags &fixed)
    {
        using index = std::conditional_t<detail::is_eigen<Flags>, detail::Index, std::size_t>;
        const auto n = static_cast<index>(fixed.size());
        const std::unique_ptr<bool[]> flags(new bool[std::size_t(n) + 1]);
        for (index i = 0; i < n; i++)
            flags[std::size_t(i)] = fixed[i] != 0;
        return tk_sparse_fix(p, values.data(), tk_sparse_values(p), flags.get(), std::size_t(n));
    }
    void set_zero() { values.assign(values.size(), T(0)); }
    /** tk_sparse_project, also before the first call of pattern. */
    tk_status project(bool on)
    {
        const tk_status status = p ? tk_sparse_project(p, on) : TK_OK;
        if (status == TK_OK)
            semidefinite = on;
        return status;
    }
    /** The pattern, for tk_sparse_projected and tk_gradcheck_sparse; the values are map().valuePtr(). NULL before the
     * first call of pattern. */
    const tk_sparse *get() const { return p; }
    /** The matrix where it lies: valid until the next call of pattern. A pattern must be there. */
    Eigen::Map<const matrix> map() const
    {
        eigen_assert(p);
        const detail::Index rows = detail::Index(tk_sparse_rows(p)), columns = detail::Index(tk_sparse_cols(p)),
                            n = detail::Index(tk_sparse_values(p));
        return Eigen::Map<const matrix>(rows, columns, n, starts(), indices(), values.data());
    }

private:
    tk_sparse_options options = {};
    tk_sparse *p = nullptr;
    bool semidefinite = false;
    std::vector<T> values = {T(0)};

    const I *starts() const
    {
        if constexpr (sizeof(I) == 8)
            return tk_sparse_starts_wide(p);
        else
            return tk_sparse_starts(p);
    }
    const I *indices() const
    {
        if constexpr (sizeof(I) == 8)
            return tk_sparse_indices_wide(p);
        else
            return tk_sparse_indices(p);
    }
};

namespace detail {

template <class T, class Pattern, class F, class Module, class... A>
Eigen::SparseMatrix<T> whole(Pattern *make, F *function, Module *m, const A &...arguments)
{
    sparse<T, Eigen::ColMajor, int> s(true);
    if (s.pattern(make, m, arguments...) != TK_OK || s.add(function, m, arguments...) != TK_OK)
        return {};
    return s.map();
}

} // namespace detail

/** Both triangles of the Hessian of a kernel, with a pattern of its own: `hessian(m_k_hess_pattern, m_k_hess, m, k)`.
 * Empty after a failure, which stays in the session. */
template <class T = double, class Pattern, class F, class Module, class... A>
Eigen::SparseMatrix<T> hessian(Pattern *make, F *function, Module *m, const A &...arguments)
{
    return detail::whole<T>(make, function, m, arguments...);
}
/** The Jacobian of a kernel in the same way. */
template <class T = double, class Pattern, class F, class Module, class... A>
Eigen::SparseMatrix<T> jacobian(Pattern *make, F *function, Module *m, const A &...arguments)
{
    return detail::whole<T>(make, function, m, arguments...);
}

} // namespace tkc

#endif
