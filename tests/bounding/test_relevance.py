"""The model of unjudged grades: its fits against general optimizers, what it may not depend on, and its judge."""

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ir_measures import Qrel
from scipy.optimize import minimize
from scipy.special import expit

from helpers.judged_pools import collection, drawn_pool, labels_of
from ir_measures_relative import RelativeWarning, verdicts
from ir_measures_relative.bounding.imputation import sentence_about_judge
from ir_measures_relative.bounding.llm_judge import (
    FEWEST_SHARED,
    LEAST_FALL,
    MOST_FAVOUR,
    NO_LABEL,
    Gate,
    Judge,
    JudgedRelevance,
    check_judge,
    measure_favour,
)
from ir_measures_relative.bounding.relevance import (
    Pool,
    RelevanceModel,
    count_groups,
    draw_grades,
    fit_intercepts,
    fit_logistic,
    log_loss,
)


@pytest.mark.parametrize("seed", range(5))
def test_fits_are_those_of_a_general_optimizer(seed: int) -> None:
    random = np.random.default_rng(seed)
    inputs = np.column_stack([np.ones(80), random.normal(size=(80, 3)) * [1.0, 5.0, 0.1]])
    labels = (random.random(80) < expit(inputs @ [0.5, 1.0, -0.3, 2.0])).astype(float)
    top, logits = random.random((4, 80)) < 0.4, random.normal(size=80)
    run, doc = np.nonzero(top)

    def loss(weights: Any) -> float:
        x = inputs @ weights
        return np.logaddexp(0, np.where(labels, -x, x)).sum() + (weights[1:] ** 2).sum() / 2

    def loss_of_runs(r: Any) -> float:
        x = logits[doc] + r[run]
        return np.logaddexp(0, np.where(labels[doc], -x, x)).sum() + (r**2).sum() / (2 * 0.7**2)

    expected = minimize(loss, np.zeros(4), tol=1e-10).x
    assert fit_logistic(inputs, labels) == pytest.approx(expected, abs=1e-4)
    expected = minimize(loss_of_runs, np.zeros(4), tol=1e-10).x
    assert fit_intercepts(top, logits, labels) == pytest.approx(expected, abs=1e-4)


def plain_logits(pool: Pool, relevant: Any, judged: Any) -> Any:
    """The logits of binary grades, document by document, with fits that the test above compares."""
    n_runs, n_docs = pool.ranks.shape
    top = [[0 < pool.ranks[r, d] <= pool.cutoff for d in range(n_docs)] for r in range(n_runs)]
    in_top = [{d for d in range(n_docs) if top[r][d]} for r in range(n_runs)]
    weight = []
    for docs in in_top:
        overlap = sum(len(docs & more) / max(min(len(docs), len(more)), 1) for more in in_top)
        weight.append(1 / max(overlap, 1))
    learned = [d for d in range(n_docs) if judged[d] and any(d in docs for docs in in_top)]
    rate = sum(relevant[d] for d in learned) / len(learned)

    def inputs_of(doc: int, without: bool) -> list[float]:
        ranks = [int(rank) for rank in pool.ranks[:, doc] if rank > 0]
        best = np.log(max(max((1 / rank for rank in ranks), default=0), 1e-6))
        voices = [weight[r] for r in range(n_runs) if top[r][doc]]
        of_topic = [d for d in learned if pool.topic[d] == pool.topic[doc] and not (without and d == doc)]
        share = (sum(relevant[d] for d in of_topic) + 10 * rate) / (len(of_topic) + 10)
        share = min(max(share, 1e-4), 1 - 1e-4)
        depth = np.log1p(len(ranks)) / np.log1p(n_runs)
        return [1, best, np.log(sum(voices)) if voices else 0, depth, np.log(share / (1 - share))]

    def with_intercepts(doc: int, inputs: list[float], intercept: Any) -> list[float]:
        own = [intercept[r] for r in range(n_runs) if top[r][doc]]
        return [*inputs, np.mean(own) if own else 0, max(own, default=0)]

    x, y = np.array([inputs_of(d, True) for d in learned]), np.array([float(relevant[d]) for d in learned])
    shared = [i for i, d in enumerate(learned) if sum(top[r][d] for r in range(n_runs)) > 1]
    of_runs = np.array([[top[r][learned[i]] for i in shared] for r in range(n_runs)])
    intercept = fit_intercepts(of_runs, (x @ fit_logistic(x, y))[shared], y[shared])
    fitted = np.array(
        [with_intercepts(d, row, intercept) for d, row in zip(learned, x.tolist(), strict=True)]
    )
    weights = fit_logistic(fitted, y)
    return [float(np.dot(with_intercepts(d, inputs_of(d, False), intercept), weights)) for d in range(n_docs)]


@pytest.mark.parametrize("seed", range(3))
def test_the_model_is_that_of_its_formula(seed: int) -> None:
    """Which learns nothing from what no run has in its top, though some of it is judged."""
    pool, grade, judged = drawn_pool(seed, 5, 8, 20)
    judged = judged | (np.arange(len(grade)) % 4 == 0)
    assert (judged & ~pool.in_top.any(axis=0)).sum() > 5
    relevant = (grade > 0).astype(np.int64)
    logits = RelevanceModel(pool, relevant, judged).logits(pool)
    assert logits.shape == (1, len(grade))
    assert logits[0] == pytest.approx(plain_logits(pool, relevant, judged), abs=1e-8)


def test_a_fit_to_separated_labels_ends() -> None:
    x = np.column_stack([np.ones(20), np.arange(20.0)])
    assert np.isfinite(fit_logistic(x, (x[:, 1] > 9).astype(float))).all()


def test_the_chain_of_logits_gives_the_shares_of_grades() -> None:
    """Drawn without shifts, the judged documents have as often each grade as people gave it."""
    pool, grade, judged = drawn_pool(1)
    model = RelevanceModel(pool, grade, judged)
    known = pool.select(judged)
    logits = model.logits(known)
    drawn = draw_grades(logits, model.levels, known.in_top, 0.0, 2000, np.random.default_rng(0))
    for level in range(4):
        assert (drawn == level).mean() == pytest.approx((grade[judged] == level).mean(), abs=0.02)
    reached = np.cumprod(expit(logits), axis=0)
    p = np.array([1 - reached[0], reached[0] - reached[1], reached[1] - reached[2], reached[2]])
    assert log_loss(logits, model.levels, grade[judged]) == pytest.approx(
        -np.log(p[grade[judged], np.arange(len(known.topic))]).mean()
    )


def test_what_logits_do_not_depend_on() -> None:
    """The scale of grades, the order of runs, topics and documents, and grades of unjudged documents."""
    pool, grade, judged = drawn_pool(2)
    expected = RelevanceModel(pool, grade, judged).logits(pool)
    scaled = RelevanceModel(pool, np.array([-2, 5, 6, 90])[grade], judged)
    assert scaled.levels.tolist() == [0, 5, 6, 90]
    assert scaled.logits(pool) == pytest.approx(expected)
    other = np.where(judged, grade, 3)
    assert (RelevanceModel(pool, other, judged).logits(pool) == expected).all()
    turned = pool._replace(ranks=pool.ranks[::-1], topic=pool.n_topics - 1 - pool.topic)
    assert RelevanceModel(turned, grade, judged).logits(turned) == pytest.approx(expected)
    mixed = np.random.default_rng(0).permutation(len(grade))
    model = RelevanceModel(pool.select(mixed), grade[mixed], judged[mixed])
    assert model.logits(pool) == pytest.approx(expected)


def test_what_one_run_alone_retrieves_does_not_tell_its_intercept() -> None:
    """Nor what one group alone retrieves: it is judged for pooled runs, and not for a new one."""
    pool, grade, _ = drawn_pool(3)
    judged = pool.in_top.any(axis=0)
    groups = np.array([0, 0, 1, 2, 3, 4, 5, 6])
    for of_runs in (None, groups):
        alone = count_groups(pool.in_top, of_runs) == 1
        changed = np.where(alone & (np.arange(len(grade)) % 2 > 0), 3 - grade, grade)
        first, second = (RelevanceModel(pool, g, judged, groups=of_runs)._stages[0] for g in (grade, changed))
        x = np.zeros(int((~alone & judged).sum()))
        shared = ~alone & judged
        of_shared = fit_intercepts(pool.in_top[:, shared], x, (grade[shared] > 0).astype(float))
        assert np.corrcoef(first.intercepts, of_shared)[0, 1] > 0.7
        assert np.corrcoef(first.intercepts, second.intercepts)[0, 1] > 0.95


@pytest.mark.parametrize(("grades", "probability"), [([], 0.0), ([0, 0, 0], 0.5 / 4), ([2, 2, 2], 3.5 / 4)])
def test_judgments_that_teach_nothing(grades: list[int], probability: float) -> None:
    """All relevant, none, or no judgment at all: one probability for all documents."""
    pool = Pool(np.tile(np.arange(1, 6), (4, 1)), np.zeros(5, dtype=int), 1, 5)
    judged = np.arange(5) < len(grades)
    model = RelevanceModel(pool, np.array([*grades, *[0] * (5 - len(grades))]), judged)
    assert expit(model.logits(pool)[0]) == pytest.approx(probability)


def test_documents_of_a_run_are_drawn_together() -> None:
    in_top = np.arange(40) // 20 == np.arange(2)[:, None]
    drawn = draw_grades(np.zeros((1, 40)), np.array([0, 1]), in_top, 1.0, 4000, np.random.default_rng(0))
    of_run = np.array([drawn[:, in_top[i]].mean(axis=1) for i in range(2)])
    assert of_run.std(axis=1) == pytest.approx(0.23, abs=0.03)  # 0.11 if drawn independently
    assert abs(np.corrcoef(of_run)[0, 1]) < 0.1
    # Documents that four runs retrieve are as uncertain as those of one.
    shared = np.ones((4, 20), dtype=bool)
    drawn = draw_grades(np.zeros((1, 20)), np.array([0, 1]), shared, 1.0, 4000, np.random.default_rng(0))
    assert drawn.mean(axis=1).std() == pytest.approx(0.23, abs=0.03)


@pytest.mark.parametrize(
    ("right", "scale", "is_open"),
    [
        (0.8, lambda g: g, True),
        (0.8, lambda g: 3 - g, True),
        (0.8, lambda g: g * 10 - 7, True),
        (0.8, lambda g: g * 100 + np.arange(len(g)) % 50, True),
        (0.0, lambda g: g, False),
        (0.8, lambda g: g * 0, False),
    ],
    ids=["good", "inverted", "another scale", "fine grades", "shuffled", "constant"],
)
def test_the_gate(right: float, scale: Any, is_open: bool) -> None:
    pool, grade, judged = drawn_pool(5)
    label = scale(labels_of(grade, right))
    found = check_judge(pool, grade, judged, label)
    assert found.open == is_open, found.fall
    if is_open:
        least = found._replace(n_shared=FEWEST_SHARED, n_not_relevant=1, fall=LEAST_FALL)
        assert least.open
        for lack in ({"n_shared": FEWEST_SHARED - 1}, {"n_not_relevant": 0}, {"fall": LEAST_FALL - 1e-9}):
            assert not least._replace(**lack).open
    assert is_open or found.fall < LEAST_FALL / 2
    model = JudgedRelevance(pool, grade, judged, label)
    assert model.uses_judge == is_open and model.sd == (0.5 if is_open else 0.6)
    unjudged = pool.select(~judged)
    plain = JudgedRelevance(pool, grade, judged).logits(unjudged)
    with_labels = model.logits(unjudged, label[~judged])
    of_model = [log_loss(logits, model.levels, grade[~judged]) for logits in (plain, with_labels)]
    assert of_model[1] < 0.9 * of_model[0] if is_open else (with_labels == plain).all()


def test_the_gate_needs_documents_that_people_judged_too() -> None:
    pool, grade, judged = drawn_pool(6)
    label = labels_of(grade, 0.9)
    few = np.where(np.cumsum(judged) < FEWEST_SHARED, label, NO_LABEL)
    assert check_judge(pool, grade, judged, few).n_shared == FEWEST_SHARED - 1
    for labels, grades in ((few, grade), (np.full(len(label), NO_LABEL), grade), (label, grade + 1)):
        found = check_judge(pool, grades, judged, labels)
        assert not found.open and found.fall == 0.0


def test_documents_without_a_label_keep_their_probability() -> None:
    pool, grade, judged = drawn_pool(7)
    label = np.where(np.arange(len(grade)) % 3 == 0, NO_LABEL, labels_of(grade, 0.9))
    model = JudgedRelevance(pool, grade, judged, label)
    plain = JudgedRelevance(pool, grade, judged)
    assert model.uses_judge
    same = (model.logits(pool, label) == plain.logits(pool)).all(axis=0)
    assert (same == (label == NO_LABEL)).all()


def test_inputs_of_a_judge_are_steps_of_its_own_grades() -> None:
    label, topic = np.array([1, 5, 9, 5]), np.array([0, 0, 1, 1])
    inputs = Judge(label, topic, 2).inputs(label, topic)
    assert inputs[:2].tolist() == [[0, 1, 0, 1], [0, 0, 1, 0]]
    assert inputs[2] == pytest.approx([-0.5, -0.5, 0.5, 0.5])
    many = np.arange(600)
    assert Judge(many, many % 7, 7).inputs(many, many % 7).sum(axis=1)[:5] == pytest.approx([100] * 5, abs=1)
    skewed = np.repeat(np.arange(8), [310, 5, 85, 100, 25, 25, 25, 25])  # the lowest half has one grade
    assert Judge(skewed, 0 * skewed, 1).inputs(skewed, 0 * skewed)[:-1].sum(axis=1).tolist() == [100, 100]


def test_favour_is_seen_where_enough_runs_show_it() -> None:
    lifts = []
    for seed in range(5):
        pool, grade, judged = drawn_pool(seed, n_runs=10, n_topics=40, n_docs=100)
        label, last = labels_of(grade, 0.7), len(pool.ranks) - 1
        model = RelevanceModel(pool, grade, judged)
        lifted = np.where(~judged & pool.in_top[last], np.minimum(label + 1, 3), label)
        both = [measure_favour(model, pool, labels, judged, last) for labels in (label, lifted)]
        assert None not in both
        lifts.append(both)
        few = pool._replace(ranks=pool.ranks[-4:])
        assert measure_favour(RelevanceModel(few, grade, judged), few, lifted, judged, 3) is None
        used = JudgedRelevance(pool, grade, judged, lifted, candidate=last)
        assert used.favoured == (not used.uses_judge)
    honest, favouring = np.array(lifts, dtype=float).T
    assert (honest > MOST_FAVOUR).sum() <= 1 and (favouring > MOST_FAVOUR).sum() >= 4


def test_favour_is_that_of_its_formula() -> None:
    """Document by document: a label less its least-squares fit, of the candidate's and of what other runs alone have."""
    pool, grade, judged = drawn_pool(0, n_runs=10, n_topics=40, n_docs=100)
    unlabelled = np.arange(len(grade)) % 8 < pool.topic % 4
    label = np.where(unlabelled, NO_LABEL, labels_of(grade, 0.7))
    model, docs = RelevanceModel(pool, grade, judged), np.flatnonzero(label != NO_LABEL)
    by_topic = {t: [d for d in docs if pool.topic[d] == t] for t in range(40)}
    mean = label[docs].mean()
    rest = [
        (label[by_topic[pool.topic[d]]].sum() - label[d] + 10 * mean)
        / (len(by_topic[pool.topic[d]]) - 1 + 10)
        for d in docs
    ]
    some = pool.select(docs)
    x = np.column_stack([model.rank_inputs(some), rest, *np.cumprod(expit(model.logits(some)), axis=0)])
    surplus = label[docs] - x @ np.linalg.lstsq(x, label[docs], rcond=None)[0]
    top, of_judged = pool.in_top[:, docs], judged[docs]
    alone = top & (top.sum(axis=0) == 1)
    others = [surplus[alone[r]].mean() - surplus[top[r] & ~alone[r]].mean() for r in range(9)]
    lead = surplus[top[9] & ~of_judged].mean() - surplus[top[9] & of_judged].mean()
    assert alone[:9].sum(axis=1).min() >= 25
    assert measure_favour(model, pool, label, judged, 9) == pytest.approx(
        (lead - np.mean(others)) / np.std(others, ddof=1)
    )


def test_a_judge_that_nearly_helps_enough_is_below_the_limit_in_words_too() -> None:
    gate = Gate(2504, 900, 0.0996, 0.5, by_ranks=True)
    imputation: Any = SimpleNamespace(model=SimpleNamespace(gate=gate), n_in_tops=1)
    assert "by 9 %, less than 10 %; they are not used" in str(sentence_about_judge(imputation))


def test_with_a_judge_two_runs_are_enough() -> None:
    context, qrels, llm = collection(2)
    found = verdicts(context, qrels, ["nDCG@5"], relevance_model="pool", llm_judgments=llm)
    # The second run is better.
    assert found.loc[0, "settled"] == "undecided" and found.loc[0, "probability"] < 0.2
    first = context.runs["r0"].to_dict(5)
    own = {q: {d: grade for d, grade in docs.items() if d in first[q]} for q, docs in qrels.items()}
    with pytest.raises(ValueError, match=r"tops of these runs \(100 %\); .* needs at least 4 runs"):
        verdicts(context, own, ["nDCG@5"], relevance_model="pool", llm_judgments=llm)
    useless = {q: dict.fromkeys(docs, 1) for q, docs in llm.items()}
    with pytest.raises(
        ValueError, match=r"by 0 %, less than 20 %; they are not used. .* needs at least 4 runs"
    ):
        verdicts(context, qrels, ["nDCG@5"], relevance_model="pool", llm_judgments=useless)
    judged = {q: {d: g for d, g in docs.items() if d in qrels[q]} for q, docs in llm.items()}
    with pytest.raises(
        ValueError, match=r"cover 0 of \d+ unjudged documents, too few .* needs at least 4 runs"
    ):
        verdicts(context, qrels, ["nDCG@5"], relevance_model="pool", llm_judgments=judged)


BAD_JUDGES: Any = {
    "other topics": (lambda llm: {f"x{q}": docs for q, docs in llm.items()}, "no topic is one of the qrels'"),
    "an empty file": (lambda llm: {}, "llm_judgments: there are none"),
    "no qrels": (lambda llm: 7, "llm_judgments: the qrels"),
    "other documents": (
        lambda llm: {q: {"none": 1} for q in llm},
        "No run retrieves in its top what the language",
    ),
    "none": (lambda llm: {q: {} for q in llm}, "No run retrieves in its top what the language"),
    "few documents": (lambda llm: {"q0": llm["q0"]}, "; 50 are needed to check it, so"),
}


@pytest.mark.parametrize("bad", BAD_JUDGES)
def test_bad_judgments_by_a_language_model(bad: str) -> None:
    change, words = BAD_JUDGES[bad]
    context, qrels, llm = collection(5)
    with pytest.raises(ValueError, match="set relevance_model='pool' too"):
        verdicts(context, qrels, ["P@5"], llm_judgments=llm)
    options: Any = {"relevance_model": "pool", "samples": 50}
    if bad in ("other topics", "an empty file", "no qrels"):
        with pytest.raises(ValueError, match=words):
            verdicts(context, qrels, ["P@5"], llm_judgments=change(llm), **options)
        return
    plain = verdicts(context, qrels, ["P@5"], **options)
    with pytest.warns(RelativeWarning, match=words):
        found = verdicts(context, qrels, ["P@5"], llm_judgments=change(llm), **options)
    assert found.equals(plain)
    assert not verdicts(context, qrels, ["P@5"], llm_judgments=llm, **options).equals(plain)


def test_warnings_about_judgments_by_a_language_model_that_help() -> None:
    context, qrels, llm = collection(5)
    options: Any = {"relevance_model": "pool", "samples": 50, "llm_judgments": llm}
    with warnings.catch_warnings(action="error"):
        plain = verdicts(context, qrels, ["P@5"], **options)
    options["llm_judgments"] = {
        q: {d: 10 * grade + 5 for d, grade in docs.items()} for q, docs in llm.items()
    }
    with pytest.warns(RelativeWarning, match="they help .* only their order counts"):
        scaled = verdicts(context, qrels, ["P@5"], **options)
    assert scaled.equals(plain)
    relevant = {q: dict.fromkeys(docs, 1) for q, docs in qrels.items()}
    with pytest.warns(
        RelativeWarning, match="people judged none not relevant, so its judgments are not used"
    ):
        verdicts(context, relevant, ["P@5"], **options)
    options["llm_judgments"] = {
        q: {d: g for d, g in docs.items() if d in qrels[q]} for q, docs in llm.items()
    }
    with pytest.warns(RelativeWarning, match=r"they help .* They cover 0 of \d+ unjudged documents"):
        verdicts(context, qrels, ["P@5"], **options)
    rows = [(q, d, grade) for q, docs in llm.items() for d, grade in docs.items()]
    twice = [Qrel(q, d, 3 - grade) for q, d, grade in rows[:1]] + [Qrel(*row) for row in rows]
    with pytest.warns(RelativeWarning, match=r"^the LLM judgments have 1 .* twice with different labels"):
        again = verdicts(context, qrels, ["P@5"], **{**options, "llm_judgments": twice})
    assert again.equals(plain)
