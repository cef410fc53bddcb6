"""A track answers as the runs that it was made of, to the last bit, or says what it does not know."""

import functools
import gzip
import pickle
import random
import re
import tempfile
import threading
import warnings
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import ir_datasets
import ir_measures
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ir_measures import AP, RR, Qrel, nDCG

from drawn import examples
from example_measures import EXAMPLES
from ir_measures_relative import (
    MED,
    NRG,
    RBO,
    UE,
    RelativeWarning,
    RunContext,
    UniqueRel,
    decide,
    demo,
    explain,
    fuse,
    place,
    rrLP,
    verdicts,
    worth,
)
from ir_measures_relative.decisions import Combination
from ir_measures_relative.formats.track_file import locate_track
from random_campaigns import Labels, Run, contexts, qrels

REFUSED = re.compile(
    r"needs (whole rankings|the first \d+ documents)|does not know where|knows nothing of topic|has positions and no"
)
HOST_MEASURES = """
    nDCG@3 nDCG AP AP@2 P@3 R@2 RR Rprec Success@2 Bpref Judged@3 infAP NumRet NumRel IPrec@0.1 SetP SetF
    nDCG(judged_only=True)@3 Compat(p=0.8)
"""
OF_HOST = [*map(ir_measures.parse_measure, HOST_MEASURES.split())]


def tracked(context: RunContext, labels: Any, depth: int = 100, **options: Any) -> RunContext:
    """The context as a track, written and read."""
    with tempfile.TemporaryDirectory() as folder:
        context.save_track(Path(folder, "a.track"), labels, depth)
        return RunContext.from_track(Path(folder, "a.track"), **options)


def values(context: RunContext, labels: Any, measure: Any) -> Any:
    """The values of every run, or the message of the refusal."""
    with warnings.catch_warnings(action="ignore", category=UserWarning):
        try:
            return context.evaluate(labels, [measure], perquery=True)
        except ValueError as error:
            return str(error)


def is_exact_to(measure: Any, depth: int) -> bool:
    """Whether a measure looks no deeper than a cutoff of at most this depth."""
    params = measure.params
    reads_all = params.get("judged_only") or params.get("pool") == "run" or params.get("base") == "RBP"
    return params.get("cutoff") is not None and params["cutoff"] <= depth and not reads_all


def agree(runs: RunContext, track: RunContext, labels: Any, measure: Any, depth: int) -> bool:
    """Compare the values; whether there are any, rather than a refusal."""
    expected, found = values(runs, labels, measure), values(track, labels, measure)
    if isinstance(expected, str) or isinstance(found, str):
        both = isinstance(expected, str) and isinstance(found, str)
        refused = isinstance(found, str) and REFUSED.search(found)
        assert both or (refused and ("knows nothing" in found or not is_exact_to(measure, depth))), (
            measure,
            found,
        )
        return False
    assert found["value"].to_numpy().tobytes() == expected["value"].to_numpy().tobytes(), (
        measure,
        expected,
        found,
    )
    assert found.drop(columns="value").equals(expected.drop(columns="value"))
    return True


@given(contexts, qrels, qrels, st.sampled_from([1, 2, 3, 5]), st.randoms(use_true_random=False))
@examples(8)
def test_a_track_answers_as_its_runs_or_refuses(
    runs: dict[str, Run], labels: Labels, others: Labels, depth: int, rng: random.Random
) -> None:
    assume(runs and all(any(run.get(query) for query in labels) for run in runs.values()))
    names = list(runs)
    how: dict[str, Any] = {"priors": rng.choice(["others", "earlier", names[:1]]), "reference": names[0]}
    context = RunContext(runs, **how, groups={name: name for name in names}, num_docs=50)
    track = tracked(context, labels, depth, **how)
    again = tracked(track, labels, depth, **how)
    assert again.track.sha256 == track.track.sha256
    within = {query: docs for query, docs in others.items() if query in labels}
    for measure in rng.sample(EXAMPLES + OF_HOST, 8):
        if "cutoff" in measure.SUPPORTED_PARAMS and measure.params.get("cutoff") and rng.random() < 0.7:
            measure = measure @ rng.choice([1, 2, 3, 5, 10])
        for judged in (labels, within or labels, others):
            agree(context, pickle.loads(pickle.dumps(track)), judged, measure, depth)
            agree(
                context,
                RunContext({**track.runs}, **how, groups=context.groups, num_docs=50),
                judged,
                measure,
                depth,
            )


@pytest.mark.parametrize("name", ["dl19", "robust03"])
def test_real_runs(name: str, request: pytest.FixtureRequest) -> None:
    folder, depth = request.getfixturevalue(f"{name}_path"), 50
    files = sorted((folder / "runs").iterdir())[::9]
    with gzip.open(folder / "qrels.txt.gz", "rt") as file:
        judged = list(ir_measures.read_trec_qrels(file.read()))
    topics = sorted({row.query_id for row in judged})[::20]
    judged = [row for row in judged if row.query_id in topics]
    context = RunContext.from_files(files, num_docs=9_000_000)
    first = context.names[0]
    track = tracked(context, judged, depth)
    query, doc = next(
        (query, docs[-1])
        for run in context.runs.values()
        for query, ranking in run.to_dict().items()
        for docs in [list(ranking)[60:]]
        if query == judged[0].query_id and docs
    )
    without, with_another = [r for r in judged if r.doc_id != doc], [*judged, Qrel(query, doc, 1)]
    kinds = [judged, random.Random(1).sample(judged, len(judged) // 2), without, with_another]
    deep = [NRG(norm="ideal"), NRG, UniqueRel, MED(ref=first), RBO(ref=first), nDCG, AP]
    measures = [UE, rrLP(ref=first), RR, *deep, *(measure @ k for measure in deep for k in (50, 1000))]
    answered = [agree(context, track, labels, m, depth) for labels in kinds for m in measures]
    assert 0.5 < np.mean(answered) < 1.0


@pytest.fixture(scope="module")
def small() -> tuple[RunContext, Any]:
    context = RunContext(demo.runs(), groups=demo.GROUPS, num_docs=1200, grades=(0, 2))
    return context, list(demo.generate().qrels)


@pytest.fixture(scope="module")
def ten(small: tuple[RunContext, Any]) -> RunContext:
    return tracked(*small, 10)


def test_refusals_name_the_depth_the_document_or_the_topic(
    small: tuple[RunContext, Any], ten: RunContext
) -> None:
    judged = small[1]
    for measure in (RBO(ref="BM25") @ 20, MED(ref="BM25") @ 20):
        message = f"{measure} needs the first 20 documents; a has 10: make it with depth=20, or use @10"
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            ten.evaluate(None, [nDCG @ 5, measure])
    with pytest.raises(ValueError, match=r"10 times the cutoff, needs the first 20 .* depth=20, or use @1$"):
        verdicts(ten, None, [nDCG @ 2], relevance_model="pool")
    with pytest.raises(ValueError, match="^UniqueRel@20 needs the first 20 documents"):
        explain(ten, {"1": {"d": 1.0}}, None, UniqueRel @ 20)
    ranking = small[0].runs["BM25"].to_dict()
    known = {(row.query_id, row.doc_id) for row in judged}
    pairs = ((query, doc) for query, docs in ranking.items() for doc in list(docs)[50:])
    query, unjudged = next(pair for pair in pairs if pair not in known)
    with pytest.raises(
        ValueError, match=f"a does not know where run '.*' ranks '{unjudged}' of topic '{query}'"
    ):
        ten.evaluate([*judged, Qrel(query, unjudged, 1)], [NRG])
    with pytest.raises(
        ValueError, match=r"a knows nothing of topic 'new', one of 1 judged topics it lacks \(it has .'1'"
    ):
        ten.evaluate([*judged, Qrel("new", "d", 1)], [NRG @ 5])
    with pytest.raises(ValueError, match="a has positions and no scores"):
        ten.evaluate(None, ["Compat(p=0.8)"])
    with pytest.raises(ValueError, match="a was made without drop_self=True"):
        RunContext(ten.runs, drop_self=True)
    with pytest.raises(TypeError, match="the track is an int; give a path, a URL, or one of"):
        RunContext.from_track(7)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"what run 'BM25' has on its next page needs the first 30 documents"
    ):
        worth(ten, None, "3-grams", "BM25", labels="judged")
    copies = tracked(RunContext(dict.fromkeys("ab", small[0].runs["BM25"])), judged, 10)
    with pytest.raises(ValueError, match="whether run 'b' and run 'a' go on alike for topic '1' needs whole"):
        copies.evaluate(None, ["MED(ref='a',base='RBP')@10"])
    with pytest.raises(ValueError, match="fusion by 'combsum' needs scores, and a track has positions alone"):
        fuse(ten, None, 2, method="combsum", repeats=1)
    options = {"now": "BM25", "both": ["BM25", "3-grams"]}
    with pytest.raises(ValueError, match="needs the first 500 documents"):
        decide(ten, None, options, combine=Combination(depth=500), labels="judged")
    with pytest.raises(ValueError, match="is a run of a track, which has no scores"):
        decide(ten, None, options, combine=Combination(rerank="LSI" if "LSI" in ten.runs else "4-grams"))
    assert (
        "Runs are fused to their first 10 documents"
        in decide(ten, None, options, "nDCG@5", labels="judged").text
    )


def test_a_cut_copy_warns_as_a_copy(small: tuple[RunContext, Any], ten: RunContext) -> None:
    copy = small[0].runs["BM25"].to_dict(30)
    for context in (small[0], ten):
        with (
            context,
            pytest.warns(UserWarning, match="ranks, to the end of the shorter of the two, exactly as|'BM25'"),
        ):
            ir_measures.calc_aggregate([NRG @ 5], small[1], copy)


def test_names_fingerprints_and_tables_say_which_track(ten: RunContext, tmp_path: Path) -> None:
    ten.save_track(tmp_path / "x.track", name="demo", version="v2", citation="@misc{demo}")
    track = RunContext.from_track(tmp_path / "x.track", priors="earlier")
    said = f"demo v2 (7 runs, sha256 {track.track.sha256[:8]}…)"
    assert str(track.track) == said and track.evaluate(None, [NRG @ 5]).attrs["beside"] == [said]
    mixed = RunContext({**track.runs, "mine": demo.runs()["BM25"]})
    values = mixed.evaluate(demo.generate().qrels, [nDCG @ 5])
    assert values.attrs["beside"] == [said, "1 other run"] and mixed.fingerprint()["tracks"] == [said]
    assert track.fingerprint()["track"]["sha256"] == track.track.sha256
    assert track.fingerprint()["tracks"] == [said] and track.groups == demo.GROUPS and track.num_docs == 1200
    with pytest.raises(ValueError, match="colour='red' is not allowed; a track says by texts"):
        ten.save_track(tmp_path / "y.track", colour="red")
    with pytest.raises(ValueError, match="run 'empty' has no ranking for a topic of the track"):
        RunContext({"empty": {}}).save_track(tmp_path / "y.track", [Qrel("q", "d", 1)])
    with pytest.raises(
        FileNotFoundError, match="is no file, and no track of the catalogue, which has .'demo', 'vaswani'."
    ):
        RunContext.from_track("vaswanni")


def test_place_says_what_is_new_and_what_is_a_copy(small: tuple[RunContext, Any], ten: RunContext) -> None:
    track = tracked(*small, 100)
    answer = place(
        RunContext({n: r for n, r in track.runs.items() if n != "3-grams"}), small[1], demo.runs()["3-grams"]
    )
    expected = small[0].evaluate(small[1], [nDCG @ 10, NRG(norm="ideal") @ 10]).set_index("name")
    assert answer.runs.set_index("name").rename({"candidate": "3-grams"}).loc[expected.index].equals(expected)
    for row in answer.standing.itertuples():
        assert row.best <= row.rank <= row.worst
        assert row.rank == int(expected[row.measure].rank(ascending=False, method="min")["3-grams"])
    assert answer.table["beside"].tolist()[0] == "all runs" and str(answer).startswith("candidate beside")
    with pytest.warns(RelativeWarning, match="They cover 0 of 8 unjudged documents"):
        copied = place(
            track, None, demo.runs()["BM25"].rename(columns={}), llm_judgments=demo.generate().qrels
        )
    assert "ranks exactly as BM25" in copied.text
    assert copied.standing["worst"].tolist() == copied.standing["rank"].tolist()  # a copy is never above
    assert copied.standing["expected"].between(copied.standing["best"], copied.standing["worst"]).all()
    whole = small[0].runs["BM25"].to_dict()
    short = {query: dict(list(docs.items())[:4]) for query, docs in list(whole.items())[1:]}
    cut = place(RunContext({"BM25": track.runs["BM25"]}), small[1], short).text
    assert cut.startswith("To the end of the shorter of the two, candidate ranks exactly as BM25")
    assert "candidate ranks nothing for 1 of" in cut and "beside 1 run of a (7 runs, sha256" in cut
    unique = small[0].evaluate(small[1], [UniqueRel @ 10]).set_index("name").loc["3-grams"].iloc[0]
    assert answer.table["new_relevant"].tolist()[0] == pytest.approx(unique)
    with pytest.raises(ValueError, match="needs other runs; make the context of a track"):
        place(RunContext({"BM25": track.runs["BM25"]}), small[1], "BM25")
    with pytest.raises(ValueError, match="the candidate has no ranking, so it has no place"):
        place(track, None, {})


def test_tracks_of_whole_rankings_and_of_many_copies() -> None:
    labels = [Qrel("q", f"d{i}", 1) for i in range(100)]
    runs = {"short": {"q": {"d1": 1.0}}}
    track = tracked(RunContext(runs), labels, 5)
    assert tracked(track, None, None).track == track.track
    with pytest.raises(
        ValueError, match="has no docs and no queries and no qrels .*; give the qrels yourself"
    ):
        tracked(RunContext(runs), None).evaluate(None, ["P@1"])
    ranking = {f"d{i}": -float(i) for i in range(100)}
    labels = [Qrel(str(i), "d1", 1) for i in range(20)]
    empty = {"a": {"1": {}, "2": {"d1": 1.0}}, "b": {"1": {"d1": 1.0}, "2": {}}}  # of every topic, one run's
    assert tracked(RunContext(empty), labels[1:3]).runs["b"].asked == {"2"}
    same = RunContext({"a": {str(i): ranking for i in range(20)}}).runs["a"]
    assert len(tracked(RunContext({str(i): same for i in range(300)}), labels).names) == 300


def test_a_track_from_a_url_is_fetched_once_and_must_have_its_hash(
    ten: RunContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sha256 = ten.save_track(tmp_path / "x.track")
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("IR_DATASETS_DL_TRIES", "1")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    handler.func.log_message = lambda *_: None  # type: ignore[method-assign]
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_address[1]}/x.track"
        assert RunContext.from_track(f"{url}#sha256={sha256}").names == ten.names
        with pytest.raises(ValueError, match=f"it has the sha256 {sha256}, not 0000"):
            RunContext.from_track(f"{url}#sha256={'0' * 64}")
        with pytest.raises(ValueError, match="a track from a URL needs its sha256"):
            RunContext.from_track(url)
        server.shutdown()
    assert RunContext.from_track(f"{url}#sha256={sha256}").names == ten.names  # without the server
    with pytest.raises(ConnectionError, match=r"could not be fetched .* put the file at .*-y\.track"):
        RunContext.from_track(f"{url.replace('x.track', 'y.track')}#sha256={sha256}")


def test_judgments_in_every_form(small: tuple[RunContext, Any], tmp_path: Path) -> None:
    context, judged = small
    dataset = ir_datasets.load(demo.register())
    path = tmp_path / "qrels.txt"
    path.write_text("".join(f"{r.query_id} 0 {r.doc_id} {r.relevance}\n" for r in judged))
    forms = [
        *(path, str(path), demo.DATASET_ID, f"irds:{demo.DATASET_ID}", dataset),
        *(iter(judged), pd.DataFrame(judged)),
    ]
    expected = context.evaluate(judged, [NRG @ 5, nDCG])
    for form in forms:
        assert context.evaluate(form, [NRG @ 5, nDCG]).equals(expected)
    context.save_track(tmp_path / "x.track", judged, dataset=demo.DATASET_ID)  # which has the judgments
    assert RunContext.from_track(tmp_path / "x.track").evaluate(None, [NRG @ 5, nDCG]).equals(expected)
    with pytest.raises(
        FileNotFoundError, match="'no/such': no such file, and ir_datasets knows no dataset 'no/such'"
    ):
        context.evaluate("no/such", [NRG @ 5])


def test_vaswani_lists_judged_documents_without_grades() -> None:
    track = RunContext.from_track("vaswani")
    assert not track.dataset.has_queries() and not track.dataset.has("docs")  # which the report asks
    assert len(track.names) >= 12 and track.num_docs == 11429 and track.dataset.columns is None
    assert Path(locate_track("vaswani")[0]).stat().st_size <= 260_000
