"""Learning-to-rank data (LETOR, SVMlight files): qrels, runs, and rankers that make a campaign of a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from ir_measures_relative.data.arrays import FloatArray, IntArray

from .data import Campaign

#: From the features and labels of training rows, and their queries, to the scores of other rows.
Ranker = Callable[["Rows"], Callable[[FloatArray], FloatArray]]

#: Labels lie within this, on both sides of 0: a double beyond it is not a label, and may be no whole number.
_LABELS = 2**31


@dataclass(frozen=True)
class Rows:
    """The rows of an SVMlight file, one a query and document: ``label qid:7 1:0.3 2:0.5 # comment``."""

    features: (
        FloatArray  #: a row a document; a column is the feature of its number, and feature 0 is often empty
    )
    label: IntArray
    query: IntArray

    @classmethod
    def read(cls, path: Path) -> Rows:
        """Raises SystemExit for a file that is not one, says no queries, or has a label that is no whole number."""
        from sklearn.datasets import load_svmlight_file

        try:  # where numbers start is said: a guess may differ between train.txt and test.txt
            features, label, query = load_svmlight_file(str(path), query_id=True, zero_based=True)
        except (ValueError, OverflowError, OSError) as error:
            raise SystemExit(
                f"{path} is not an SVMlight file of 'label qid:7 1:0.3 …' a line: {error}"
            ) from None
        if len(query) != len(label) or not len(label):
            raise SystemExit(
                f"{path}: {len(label)} rows, of which {len(query)} have a qid; every row needs one"
            )
        odd = ~(np.abs(label) < _LABELS) | (label != np.trunc(label))  # NaN is odd, too
        if odd.any():
            raise SystemExit(f"{path}: a row has the label {label[odd][0]}; labels are whole numbers")
        if not np.isfinite(features.data).all():
            raise SystemExit(f"{path}: a feature is NaN or infinite; leave it out, and it counts as 0")
        return cls(np.asarray(features.todense()), label.astype(np.int64), query.astype(np.int64))

    @property
    def ids(self) -> pd.DataFrame:
        """The query and the document of each row: documents are numbered within their query, from 0."""
        query = pd.Series(self.query)
        number = query.groupby(query).cumcount()
        return pd.DataFrame({"query_id": query.astype(str), "doc_id": "d" + number.astype(str)})

    def qrels(self) -> pd.DataFrame:
        """The labels, in ir_measures' columns."""
        return self.ids.assign(relevance=self.label)

    def run(self, scores: FloatArray) -> pd.DataFrame:
        """A run of these scores, one a row, in ir_measures' columns."""
        return self.ids.assign(score=scores)


def _regression(model: Any) -> Ranker:
    """By a model that predicts the label."""

    def fitted(train: Rows) -> Callable[[FloatArray], FloatArray]:
        model.fit(train.features, train.label)
        return lambda features: np.asarray(model.predict(features), dtype=np.float64)

    return fitted


def _pairwise(model: Any, most: int = 20_000) -> Ranker:
    """By a linear model of which of two documents of a query has the higher label, on at most so many pairs."""

    def fitted(train: Rows) -> Callable[[FloatArray], FloatArray]:
        better, worse = _pairs(train, most)
        differences = train.features[better] - train.features[worse]
        sign = np.where(np.arange(len(better)) % 2, 1, -1)
        model.fit(differences * sign[:, None], sign)
        return lambda features: np.asarray(features @ model.coef_.ravel())

    return fitted


def _pairs(train: Rows, most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    rng, found = np.random.default_rng(0), []
    for query in np.unique(train.query):
        rows = np.flatnonzero(train.query == query)
        a, b = rng.choice(rows, (2, 4 * len(rows)))
        keep = train.label[a] > train.label[b]
        found.append((a[keep], b[keep]))
    better, worse = (np.concatenate(side) for side in zip(*found, strict=True))
    drawn = rng.permutation(len(better))[:most]
    return better[drawn], worse[drawn]


def _lambdarank(train: Rows) -> Callable[[FloatArray], FloatArray]:
    from lightgbm import LGBMRanker

    order = np.argsort(train.query, kind="stable")
    sizes = np.unique(train.query[order], return_counts=True)[1]
    model = LGBMRanker(objective="lambdarank", random_state=0, verbose=-1)
    model.fit(train.features[order], train.label[order], group=sizes)
    return lambda features: np.asarray(model.predict(features), dtype=np.float64)


def rankers() -> dict[str, Ranker]:
    """What stands for the eight methods of RankLib: scikit-learn's, and LightGBM's lambdarank where it is installed."""
    from sklearn import ensemble, linear_model, neighbors, neural_network, svm

    found: dict[str, Ranker] = {
        "linear": _regression(linear_model.Ridge()),
        "boosted-trees": _regression(ensemble.HistGradientBoostingRegressor(random_state=0)),
        "forest": _regression(
            ensemble.RandomForestRegressor(n_estimators=50, min_samples_leaf=5, random_state=0)
        ),
        "adaboost": _regression(ensemble.AdaBoostRegressor(random_state=0)),
        "network": _regression(
            neural_network.MLPRegressor(
                hidden_layer_sizes=(32,), max_iter=100, early_stopping=True, random_state=0
            )
        ),
        "neighbours": _regression(neighbors.KNeighborsRegressor(20)),
        "pairwise-logistic": _pairwise(linear_model.LogisticRegression(max_iter=500)),
        "pairwise-svm": _pairwise(svm.LinearSVC(random_state=0)),
    }
    try:
        import lightgbm  # noqa: F401
    except ImportError:
        return found
    return {**found, "lambdarank": _lambdarank}


def campaign(folder: Path, out: Path) -> Campaign:
    """Trains the rankers on each fold's train.txt, and writes what they make of its test.txt as a campaign.

    Args:
        folder: with train.txt and test.txt, or with folders of these (Fold1, Fold2, …), whose tests are put together.
        out: where the campaign is written to, as a folder of the same name.
    """
    folds = [folder] if (folder / "train.txt").exists() else sorted(folder.glob("*/train.txt"))
    folds = [fold.parent if fold.name == "train.txt" else fold for fold in folds]
    if not folds or not all((fold / "test.txt").exists() for fold in folds):
        raise SystemExit(
            f"{folder} holds no train.txt beside a test.txt, and no folders of these: give such a folder"
        )
    qrels: list[pd.DataFrame] = []
    runs: dict[str, list[pd.DataFrame]] = {name: [] for name in rankers()}
    seen: list[np.int64] = []
    for fold in folds:
        train, test = Rows.read(fold / "train.txt"), Rows.read(fold / "test.txt")
        mean, width = train.features.mean(axis=0), train.features.std(axis=0)
        width = np.where(width > 0, width, 1.0)
        scaled = Rows((train.features - mean) / width, train.label, train.query)
        columns = scaled.features.shape[1]
        features = np.zeros((len(test.label), columns))  # a file ends with the last feature that is not 0
        features[:, : test.features.shape[1]] = test.features[:, :columns]
        qrels.append(test.qrels())
        tested = test.query[np.isin(test.query, seen)]
        if tested.size:
            raise SystemExit(f"{fold / 'test.txt'}: query {tested[0]} is in the test of another fold, too")
        seen.extend(np.unique(test.query))
        for name, ranker in tqdm(rankers().items(), desc=fold.name, unit="ranker", disable=None, leave=False):
            runs[name].append(test.run(ranker(scaled)((features - mean) / width)))
    target = out / folder.resolve().name
    (target / "runs").mkdir(parents=True, exist_ok=True)
    judged = pd.concat(qrels)
    judged.insert(1, "iteration", 0)
    judged.to_csv(target / "qrels.txt", sep=" ", header=False, index=False)
    for name, parts in runs.items():
        table = pd.concat(parts)
        rows = table.assign(q0="Q0", rank=0, tag=name)[["query_id", "q0", "doc_id", "rank", "score", "tag"]]
        rows.to_csv(target / "runs" / f"{name}.txt", sep=" ", header=False, index=False)
    return Campaign(target)
