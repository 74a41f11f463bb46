import math
import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_okl._linalg import one_blas_thread
from sklearn_okl.datasets import load_dataset
from sklearn_okl.features._nystroem import ALDNystroem, BudgetNystroem, OnlineNystroem
from sklearn_okl.kernels import kernel_matrix, kernel_of
from tests.oracles import dictionaries

MAPS = [
    ALDNystroem(gamma=2.0, novelty=1e-3),
    ALDNystroem("poly", gamma=0.5, degree=2, novelty=1e-3),
    BudgetNystroem(gamma=2.0, budget=25),
    BudgetNystroem("matern32", budget=1000),
    OnlineNystroem(gamma=2.0, kors_mu=0.1, random_state=0),
    OnlineNystroem("laplacian", kors_mu=1.0, kors_beta=0.3, random_state=1),
]


@pytest.fixture(autouse=True)
def one_thread():
    """Oracles run as the maps do: small matrices lose by threads."""
    with one_blas_thread:
        yield


each_map = pytest.mark.parametrize("map_", MAPS, ids=repr)


def rbf(gamma):
    return lambda X, Y: kernel_matrix(X, Y, gamma=gamma)


def uniforms_of(random_state, n):
    """The numbers that a map draws: those of a generator seeded from its random_state."""
    seed = np.random.RandomState(random_state).randint(2**31 - 1)
    return np.random.RandomState(seed).uniform(size=n)


def in_cuts(model, X, rng, lengths=(1, 2, 3, 17, 120)):
    start = 0
    while start < len(X):
        stop = start + rng.choice(lengths)
        model.partial_fit(X[start:stop])
        start = stop
    return model


def same_state(a, b):
    return pickle.dumps(a._state) == pickle.dumps(b._state)


def uniform_rows(n, seed=0, d=2):
    return np.random.default_rng(seed).uniform(-1, 1, (n, d))


# ----------------------------------------------------------------------------------- oracles


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern52", "poly"])
@pytest.mark.parametrize("seed", range(3))
def test_ald_takes_the_rows_of_its_oracle(kernel, seed):
    X = uniform_rows(300, seed)
    model = ALDNystroem(kernel, gamma=1.5, degree=4, novelty=0.03).fit(X)
    chosen = dictionaries.ald(kernel_of(model), X, 0.03)
    assert len(chosen) > 5
    np.testing.assert_array_equal(model.components_, X[chosen])


@pytest.mark.long(every=3)
@pytest.mark.parametrize(("mu", "beta", "eps"), [(1.0, 1.0, 0.5), (0.05, 0.5, 0.5), (5.0, 3, 0.1)])
@pytest.mark.parametrize("seed", range(3))
def test_kors_takes_the_rows_of_its_oracle(mu, beta, eps, seed):
    X = uniform_rows(300, seed)
    model = OnlineNystroem(
        gamma=1.5, kors_mu=mu, kors_beta=beta, kors_eps=eps, random_state=seed
    ).fit(X)
    chosen, _ = dictionaries.kors(rbf(1.5), X, mu, beta, eps, uniforms_of(seed, len(X)))
    assert len(chosen) > 3
    np.testing.assert_array_equal(model.components_, X[chosen])


@pytest.mark.parametrize("budget", [1, 20, 1000])
def test_budget_takes_the_first_rows(budget):
    X = uniform_rows(60)
    model = BudgetNystroem("laplacian", budget=budget)
    np.testing.assert_array_equal(model.fit(X).components_, X[:budget])
    repeated = X[np.random.default_rng(1).integers(0, 40, 300)]
    chosen = dictionaries.first_rows(repeated, budget)
    np.testing.assert_array_equal(model.fit(repeated).components_, repeated[chosen])


@each_map
def test_features_are_those_of_the_projections(map_):
    X, new = uniform_rows(100), uniform_rows(30, 1)
    model = clone(map_).fit(X)
    Z = model.transform(new)
    expected = dictionaries.projected(kernel_of(model), new, model.components_)
    np.testing.assert_allclose(Z @ Z.T, expected, rtol=1e-7, atol=1e-8)
    # the rows of the dictionary lose nothing
    Z, atoms = model.transform(model.components_), model.components_
    np.testing.assert_allclose(Z @ Z.T, kernel_of(model)(atoms, atoms), rtol=1e-9, atol=1e-10)


def test_ald_on_airfoil(data_files):
    data_files("airfoil")
    X, _ = load_dataset("airfoil", return_X_y=True)
    X = 2 * (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0)) - 1
    model = ALDNystroem(gamma=1 / 8, horizon=len(X))
    assert len(X) == 1503
    assert model.fit(X).components_.shape == (37, 5)
    assert same_state(in_cuts(clone(model), X, np.random.default_rng(0)), model)
    assert dictionaries.ald(rbf(1 / 8), X, 25 / len(X)) == [
        int(np.flatnonzero((atom == X).all(axis=1))[0]) for atom in model.components_
    ]


def test_the_threshold_of_ald():
    assert ALDNystroem()._rule().novelty == 0.01
    assert ALDNystroem(horizon=2500)._rule().novelty == 0.01
    assert ALDNystroem(horizon=1000)._rule().novelty == 0.025
    assert ALDNystroem(horizon=1000, novelty=0.3)._rule().novelty == 0.3
    for horizon in (1, 25, 49):  # the first row enters
        assert len(ALDNystroem(horizon=horizon).fit(uniform_rows(5)).components_) >= 1


# ---------------------------------------------------------------------------------- theorems


def spectral_norm(A):
    return float(np.abs(np.linalg.eigvalsh(A)).max(initial=0.0))


def gaussian_line(n, seed):
    """Rows for which the eigenvalues of the Gaussian kernel decay geometrically (Mercer)."""
    return np.random.default_rng(seed).normal(size=(n, 1))


@pytest.mark.parametrize("novelty", [0.1, 1e-2, 1e-3, 1e-6])
@pytest.mark.parametrize("seed", range(2))
def test_bounds_of_ald(novelty, seed):
    T, gamma = 400, 2.0
    X = gaussian_line(T, seed)
    model = ALDNystroem(gamma=gamma, novelty=novelty).fit(X)
    sizes = np.cumsum(np.isin(X, model.components_))  # atoms once each row was learnt
    J = sizes[-1]
    assert len(model.components_) == J
    K, Z = rbf(gamma)(X, X), model.transform(X)

    # eq. (13) between two growths, the map of that time: the first columns of the last one
    worst = 0.0
    cuts = np.flatnonzero(np.diff(np.append(0, sizes)))
    for start, stop in pairwise([*cuts, T]):
        rows = slice(start, stop)
        Zj = Z[rows, : sizes[start]]
        error = spectral_norm(K[rows, rows] - Zj @ Zj.T)
        worst = max(worst, error / ((stop - start) * novelty))
    # eq. (14), each row in the coordinates of its time; and the last map for all rows
    padded = Z * (np.arange(J) < sizes[:, None])
    error_then = spectral_norm(K - padded @ padded.T)
    error_now = spectral_norm(K - Z @ Z.T)

    # Lemma 3.1 with constant: the determinant of K_S against the largest eigenvalues of K
    spectrum = np.linalg.eigvalsh(K)[::-1] + 1e-12
    i = np.arange(1, T + 1)
    sharp = i[np.cumsum(np.log(spectrum)) > i * np.log(novelty)].max()
    bound, r, R0 = min(
        (2 * math.log(R0 / novelty) / math.log(1 / r) - 1, r, R0)
        for r in np.linspace(0.05, 0.95, 91)
        for R0 in [np.max(spectrum[:25] / r ** i[:25])]
    )
    printed = 2 ** (math.log(R0 / novelty) / (math.log(r) - 1))
    print(
        f"\nALD, novelty {novelty:g}, T = {T}: {J} atoms; determinant bound {sharp}, "
        f"2 ln(R0/a)/ln(1/r) - 1 = {bound:.1f} (r = {r:.2f}, R0 = {R0:.0f}), Lemma 3.1 as printed "
        f"{printed:.3f} C1^..; |K - K~| {error_now:.2e} <= {T * novelty:.2e}, rows as met "
        f"{error_then:.2e} <= {T * math.sqrt(novelty):.2e}, worst share of (13) {worst:.3f}"
    )
    assert min(sharp, bound) >= J
    assert printed < 1 < J  # a slip of typesetting: 2 to a power in place of 2 times
    assert worst <= 1 + 1e-6
    assert error_now <= T * novelty
    assert error_then <= T * math.sqrt(novelty)
    assert (np.diag(K - Z @ Z.T) <= novelty + 1e-9).all()
    # the dictionary is not larger than needed: any smaller span of rows leaves a row out
    assert np.diag(K - Z[:, :-1] @ Z[:, :-1].T).max() > novelty


@pytest.mark.long(every=3)
@pytest.mark.parametrize("mu", [0.1, 1.0, 10.0])
def test_bounds_of_kors(mu):
    T, delta, gamma = 400, 0.1, 2.0
    beta = 12 * math.log(T / delta)
    for seed in range(3):
        X = gaussian_line(T, seed)
        K = rbf(gamma)(X, X)
        values = np.linalg.eigvalsh(K)
        d_eff = np.sum(values / (values + mu))
        limit = 9 * d_eff * math.log(2 * T / delta) ** 2
        model = OnlineNystroem(gamma=gamma, kors_mu=mu, kors_beta=beta, random_state=seed)
        plain = OnlineNystroem(gamma=gamma, kors_mu=mu, random_state=seed)
        errors, plain_errors = [], []
        start = 0
        for t in (5, 30, 150, T):
            for map_, found in ((model, errors), (plain, plain_errors)):
                Z = map_.partial_fit(X[start:t]).transform(X[:t])
                found.append(spectral_norm(K[:t, :t] - Z @ Z.T))
            start = t
        sampled = len(model._state["sampler"]["atoms"])
        few = len(plain._state["sampler"]["atoms"])
        print(
            f"\nKORS, mu = {mu:g}, seed {seed}: d_eff {d_eff:.1f}; beta = {beta:.0f}: {sampled} "
            f"rows sampled <= {limit:.0f}, {len(model.components_)} atoms, largest |K_t - K~_t| "
            f"{max(errors):.1e} <= {mu:g}; beta = 1: {few} sampled, {len(plain.components_)} "
            f"atoms, {max(plain_errors):.1e}"
        )
        assert max(errors) <= mu
        assert sampled <= limit
        assert few < sampled
        # the control: the bound bites, two atoms do not keep it
        assert spectral_norm(K - dictionaries.projected(rbf(gamma), X, X[:2])) > mu


@pytest.mark.long
@pytest.mark.slow
def test_the_size_of_kors_is_bounded_where_the_bound_is_less_than_all_rows():
    T, delta, gamma, mu = 4000, 0.1, 0.02, 30.0
    beta = 12 * math.log(T / delta)
    X = gaussian_line(T, 0)
    model = OnlineNystroem(gamma=gamma, kors_mu=mu, kors_beta=beta, random_state=0)
    start = 0
    for t in (100, 1000, T):
        Z = model.partial_fit(X[start:t]).transform(X[:t])
        assert np.sum(1 - np.sum(Z**2, axis=1)) <= mu  # the trace of K_t - K~_t, above its norm
        start = t
    values = np.linalg.eigvalsh(Z.T @ Z)  # those of K~_T, and of K_T but for that trace
    limit = 9 * np.sum(values / (values + mu)) * math.log(2 * T / delta) ** 2
    sampled = len(model._state["sampler"]["atoms"])
    print(f"\nKORS, T = {T}, mu = {mu:g}: {sampled} rows sampled <= {limit:.0f}, of {T}")
    assert sampled <= limit < T


@pytest.mark.long
def test_kors_samples_as_often_as_its_probabilities_say():
    X, n_runs = uniform_rows(30), 100
    mean, sampled = 0.0, 0.0
    for seed in range(n_runs):
        chosen, p = dictionaries.kors(rbf(0.5), X, 1.0, 1.0, 0.5, uniforms_of(seed, len(X)))
        mean += p.sum() / n_runs
        model = OnlineNystroem(gamma=0.5, random_state=seed).fit(X)
        assert len(model._state["sampler"]["atoms"]) == len(chosen)
        sampled += len(chosen) / n_runs
    assert abs(sampled - mean) < 4 * np.sqrt(mean / n_runs)


# ------------------------------------------------------------------------------- cuts, resume


@pytest.mark.long(every=2)
@each_map
@pytest.mark.parametrize("seed", range(4))
def test_no_cut_changes_a_dictionary(map_, seed):
    X = uniform_rows(400, seed)
    whole = clone(map_).fit(X)
    rng = np.random.default_rng(seed)
    assert same_state(in_cuts(clone(map_), X, rng), whole)
    if seed == 0:
        whole = clone(map_).fit(X[:150])
        assert same_state(in_cuts(clone(map_), X[:150], rng, lengths=(1,)), whole)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("sigma", [1e-3, 1e-1, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("kind", ["repeated", "1e-12 apart", "1e-5 apart"])
def test_repeated_and_nearly_repeated_rows(sigma, kind):
    rng = np.random.default_rng(7)
    base = rng.uniform(-1, 1, (40, 2))
    X = base[rng.integers(0, 40, 400)]
    if kind != "repeated":
        X = X + float(kind.split()[0]) * rng.normal(size=X.shape)
    gamma = 0.5 / sigma**2
    for model in (
        ALDNystroem(gamma=gamma, novelty=1e-12),
        ALDNystroem(gamma=gamma),
        BudgetNystroem(gamma=gamma),
        OnlineNystroem(gamma=gamma, kors_mu=1e-3, random_state=0),
    ):
        model.fit(X)
        Z = model.transform(X)
        assert np.isfinite(Z).all()
        if kind != "1e-5 apart" or sigma > 1:
            assert 1 <= len(model.components_) <= 40
        np.testing.assert_allclose(np.sum(Z**2, axis=1).clip(max=1), np.sum(Z**2, axis=1))
        assert same_state(in_cuts(clone(model), X, rng), model)
    if kind == "repeated":  # the leverage of repeats falls like 1/t, and they add no coordinate
        sampled = len(model._state["sampler"]["atoms"])
        assert len(model.components_) <= sampled
        one = OnlineNystroem(random_state=0).fit(np.zeros((3000, 2)))
        assert one.components_.shape == (1, 2)
        assert 1 < len(one._state["sampler"]["atoms"]) < 40


def test_a_large_polynomial_kernel_does_not_outgrow_its_rank():
    X = 1e3 * uniform_rows(500, d=3)  # k(x, x) up to 3e19, rank C(3 + 3, 3) = 20
    for model in (ALDNystroem("poly", gamma=1.0), BudgetNystroem("poly", gamma=1.0)):
        assert 18 <= len(model.fit(X).components_) <= 25
        assert same_state(in_cuts(clone(model), X, np.random.default_rng(0)), model)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("sigma", [0.3, 1.0, 1e3])
def test_many_rows(sigma, full_size):
    n = 100_000 if full_size else 20_000
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 2))
    X[n // 2 :] = X[rng.integers(0, n // 2, n - n // 2)] + 1e-12 * rng.normal(size=(n - n // 2, 2))
    for model in (
        ALDNystroem(gamma=0.5 / sigma**2),
        BudgetNystroem(gamma=0.5 / sigma**2, budget=200),
        OnlineNystroem(gamma=0.5 / sigma**2, random_state=0),
    ):
        atoms = model.fit(X).components_
        assert model.n_samples_seen_ == n
        assert len(atoms) < 1200
        assert np.isfinite(model.transform(X[:1000])).all()
    if full_size:
        cut = in_cuts(clone(model), X, rng, lengths=(100, 3000))
        assert same_state(cut, model)


@each_map
def test_pickled_in_mid_stream(map_):
    X = uniform_rows(300)
    model = clone(map_).partial_fit(X[:123])
    resumed = pickle.loads(pickle.dumps(model)).partial_fit(X[123:])
    model.partial_fit(X[123:])
    assert same_state(model, resumed)
    np.testing.assert_array_equal(model.transform(X), resumed.transform(X))
    assert model.n_samples_seen_ == 300


def test_fit_forgets():
    X = uniform_rows(100)
    for map_ in MAPS:
        model = clone(map_).fit(uniform_rows(50, 1, d=3)).fit(X)
        assert same_state(model, clone(map_).fit(X))
        assert model.n_features_in_ == 2


def test_a_random_state_object_is_drawn_from_once_a_fit():
    source, X = np.random.RandomState(3), uniform_rows(100)
    model = OnlineNystroem(gamma=2.0, random_state=source).fit(X)
    other = OnlineNystroem(gamma=2.0, random_state=3).fit(X)
    np.testing.assert_array_equal(model.components_, other.components_)
    expected = np.random.RandomState(3)
    expected.randint(2**31 - 1)
    assert source.uniform() == expected.uniform()


# ---------------------------------------------------------------------------------- transform


@each_map
def test_coordinates_are_nested(map_):
    X, new = uniform_rows(200), uniform_rows(30, 1)
    model = clone(map_).partial_fit(X[:20])
    before = model.transform(new)
    after = model.partial_fit(X[20:]).transform(new)
    J = before.shape[1]
    assert after.shape[1] >= J
    np.testing.assert_allclose(after[:, :J], before, rtol=1e-9, atol=1e-12)
    assert list(model.get_feature_names_out()) == [
        f"{type(map_).__name__.lower()}{j}" for j in range(after.shape[1])
    ]


@each_map
def test_transform_is_pure(map_):
    X = uniform_rows(100)
    model = clone(map_).fit(X)
    before = pickle.dumps(model)
    given = X.copy()
    Z = model.transform(given)
    np.testing.assert_array_equal(given, X)
    assert pickle.dumps(model) == before
    Z[...] = 7.0
    model.components_[...] = 7.0  # a copy
    assert pickle.dumps(model) == before


def test_float32_gives_float32():
    X = uniform_rows(50)
    model = ALDNystroem(gamma=2.0).fit(X.astype(np.float32))
    assert model.components_.dtype == np.float64
    Z = model.transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-5)
    assert model.transform(X).dtype == np.float64


def test_frames_come_back_as_frames():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(uniform_rows(50), columns=["a", "b"])
    model = BudgetNystroem(budget=3).set_output(transform="pandas").fit(frame)
    out = model.transform(frame)
    assert list(out.columns) == ["budgetnystroem0", "budgetnystroem1", "budgetnystroem2"]
    assert list(model.feature_names_in_) == ["a", "b"]


def test_no_atoms_no_columns():
    model = ALDNystroem("poly", gamma=1.0, coef0=0.0).fit(np.zeros((3, 2)))
    assert model.transform(uniform_rows(4)).shape == (4, 0)
    assert model.partial_fit(uniform_rows(4)).transform(uniform_rows(4)).shape[1] > 0


@pytest.mark.long
def test_a_callable_is_the_kernel_that_it_computes():
    X = uniform_rows(100)
    for name, options in (
        (ALDNystroem, {}),
        (BudgetNystroem, {"budget": 5}),
        (OnlineNystroem, {"random_state": 0}),
    ):
        named = name("rbf", 0.7, **options).fit(X)
        called = name(rbf(0.7), **options).fit(X)
        np.testing.assert_array_equal(named.components_, called.components_)
        np.testing.assert_allclose(named.transform(X), called.transform(X), rtol=1e-8, atol=1e-10)


# ------------------------------------------------------------------------------------ refusals


def test_a_parameter_of_the_state_cannot_change_in_mid_stream():
    X = uniform_rows(40)
    for map_, changes in (
        (MAPS[0], {"kernel": "cauchy", "gamma": 0.3, "degree": 5, "coef0": 0.0}),
        (MAPS[4], {"gamma": 0.3, "kors_mu": 0.7}),
    ):
        for name, value in changes.items():
            model = clone(map_).fit(X)
            before, old = pickle.dumps(model._state), getattr(model, name)
            model.set_params(**{name: value})
            for use in (model.partial_fit, model.transform):
                with pytest.raises(ValueError, match=name):
                    use(X)
            assert pickle.dumps(model._state) == before
            model.set_params(**{name: old}).partial_fit(X)


def test_novelty_and_budget_may_change_in_mid_stream():
    X = uniform_rows(200)
    model = ALDNystroem(gamma=2.0, novelty=0.1).fit(X)
    first = model.components_
    again = model.set_params(novelty=1e-3).partial_fit(X).components_
    np.testing.assert_array_equal(again[: len(first)], first)
    assert len(again) > len(first)
    model = BudgetNystroem("laplacian", budget=5).fit(X)
    assert len(model.set_params(budget=3).partial_fit(X).components_) == 5
    np.testing.assert_array_equal(
        model.set_params(budget=8).partial_fit(X[50:]).components_, X[[0, 1, 2, 3, 4, 50, 51, 52]]
    )


@pytest.mark.parametrize("model", [ALDNystroem, BudgetNystroem, OnlineNystroem])
def test_a_failed_call_changes_nothing(model):
    calls = []

    def kernel(X, Y):
        calls.append(1)
        if len(calls) > 40:
            raise KeyboardInterrupt
        return np.exp(-kernel_matrix(X, Y, gamma=0.0) * np.square(X[:, :1] - Y[:, 0]))

    X = uniform_rows(300)
    model = model(kernel)
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X)
    assert not hasattr(model, "n_features_in_")
    calls.clear()
    model.partial_fit(X[:2])
    before = pickle.dumps(vars(model)["_state"])
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X)
    calls.clear()
    bad = X.copy()
    bad[5, 1] = np.nan
    for rows in (bad, X[:, :1]):
        with pytest.raises(ValueError, match=r"NaN|features"):
            model.partial_fit(rows)
    assert pickle.dumps(model._state) == before


def test_an_overflow_is_refused():
    model = ALDNystroem("poly", gamma=1.0).fit(uniform_rows(10))
    before = pickle.dumps(model._state)
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(np.full((2, 2), 1e120))
    assert pickle.dumps(model._state) == before


def test_a_gamma_with_a_callable_is_refused():
    with pytest.raises(ValueError, match="callable"):
        ALDNystroem(rbf(1.0), gamma=1.0).fit(uniform_rows(3))
