"""A campaign whose names, ids and texts try to break out of where they stand."""

#: Each sets ``window.broken`` if it runs anywhere.
NAMES = [
    "<script>window.broken=1</script>",
    "</script><img src=x onerror=window.broken=1>",
    "\" onmouseover='window.broken=1' <!--",
    "\u202egnp.exe\u2066",
    "x" * 10_000,
    "two\nlines & 100%41",
    "a&topic=b#run=c {{7*7}} ${window.broken=1} {% raise %}",
    "datum.value;window.broken=1",
    "  \t ",
]
QUERIES = ["<b>1</b>", "</script>2", "\u202e3", "q" * 400, "5&run=6"]
GROUPS = ["<i>one</i>", "</script>two", "\u202e" + "g" * 500]
TEXT = "</script><script>window.broken=1</script><!-- <img src=x onerror=window.broken=1> " * 9


def doc_id(i: int) -> str:
    kinds = [
        "<script>window.broken=1</script>",
        "</title></script>",
        "d" * 300,
        "\u202ed",
        "'\"><svg onload=window.broken=1>",
    ]
    return f"{kinds[i % len(kinds)]} {i}"


RUNS = {
    name: {q: {doc_id((r + 2 * i + j) % 12): float(-i) for i in range(6)} for j, q in enumerate(QUERIES)}
    for r, name in enumerate(NAMES)
}
QRELS = {q: {doc_id(i): (i + j) % 3 for i in range(10)} for j, q in enumerate(QUERIES)}
OF_GROUP = {name: GROUPS[i % len(GROUPS)] for i, name in enumerate(NAMES[:-1])}  # and one is in no group
