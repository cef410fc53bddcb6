"""The recipe for Spark in docs/past-one-machine.md, run as it stands there."""

import importlib.util
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ir_measures_relative import RunContext
from long_campaigns import campaign, frame_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "past-one-machine.md"

if importlib.util.find_spec("pyspark") is None:
    pytest.skip("pyspark is not installed: pip install 'pyspark>=4'", allow_module_level=True)
if shutil.which("java") is None:
    pytest.skip("Spark needs Java 17 or newer, and there is no java on the PATH", allow_module_level=True)


@pytest.fixture(scope="module")
def spark() -> Any:
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)  # the workers are this Python, which has the package
        builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
        session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


def test_the_recipe(spark: Any, tmp_path: Path) -> None:
    runs, judgments = campaign(seed=4, n_queries=6)
    frame_of(runs).sample(frac=1, random_state=1).to_parquet(tmp_path / "runs.parquet")
    judgments.to_parquet(tmp_path / "qrels.parquet")
    section = PAGE.read_text(encoding="utf-8").split("## On Spark")[1]
    (recipe,) = re.findall(r"^```py\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {"spark": spark}
    exec(compile(recipe.replace("s3://campaign", str(tmp_path)), str(PAGE), "exec"), names)

    context = RunContext({n: runs[n] for n in sorted(runs)}, reference="run0")
    expected = context.evaluate(judgments, names["measures"], perquery=True)
    keys = ["name", "query_id", "measure"]
    found = names["scores"].toPandas().sort_values(keys, ignore_index=True)
    pd.testing.assert_frame_equal(
        found, expected.sort_values(keys, ignore_index=True), check_exact=True, check_dtype=False
    )
    means = names["means"].toPandas().set_index("name").sort_index()
    table = context.evaluate(judgments, names["measures"]).set_index("name").sort_index()
    pd.testing.assert_frame_equal(means[table.columns], table, check_dtype=False, rtol=1e-13)
