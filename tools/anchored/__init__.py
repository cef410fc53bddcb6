"""Whether the values are still those of an earlier version: reference outputs on real campaigns, kept in a file.

    python -m tools.anchored write FILE…        # computes, and writes each FILE
    python -m tools.anchored compare FILE       # computes anew, and says what differs; 1 where something is wrong

A file that ends in ``.npz`` holds every value and belongs outside the repository. One that ends in ``.json.gz`` holds a
hash and the means of each table: enough to see that something differs, not where; where a hash of bounds or verdicts
differs, equal means are no proof that each end stayed within 1e-12. To write the outputs of another
version, 0.3.0 or newer, let ``PYTHONPATH`` name its ``src``; :mod:`.names` knows what was called
otherwise. What is wrong depends on the part:

- *measures*: any value that is not the same to the last bit.
- *bounds*, *verdicts*: an end that moved by more than 1e-12, or that was ``exact`` and is not. An interval that was not
  exact may be narrower than before, and its verdict another one.
- *statistics*: nothing; differences are shown for information.

Campaigns are the folders that ``ROBUST03``, ``DL19`` and ``DL21`` name, or ``../shared/robust03`` and so on, or what
``--campaign NAME=FOLDER`` gives: ``runs/`` with run files, ``qrels.txt.gz``, and perhaps ``groups.csv``. Last bits may
differ between machines and versions of numpy: compare on the machine that wrote the file.
"""
