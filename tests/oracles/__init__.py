"""The measures, written slowly and plainly from the papers' formulas. One query at a time, no arrays where it can be.

A ranking is a list of document ids, a run a dict {query: {doc: score}}, labels a dict {doc: relevance}.
"""
