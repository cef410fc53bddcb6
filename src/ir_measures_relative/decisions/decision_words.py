"""The sentences that :mod:`.decision_text` fills in."""

_NOTHING = "There is nothing to change."
#: On a candidate, by verdict: the reason, and what to do where that is settled.
WORTH = {
    "copy": ("**Keep {deployed}.** {new} ranks every topic exactly as {copy} does.", _NOTHING),
    "keep": (
        "**Keep {deployed}.** {at}neither adding {new} ({add}) nor replacing {best} by it ({replace}) gains {any}.",
        _NOTHING,
    ),
    "open": (
        "**Open: keep {deployed} for now.** {at}adding {new} ({add}) or replacing {best} by it ({replace}) may or may "
        "not gain {any}.",
        "",
    ),
    "add": (
        "**Add {new} to {deployed}.** {at}adding {new} ({add}) {is_gain}, also over replacing {closest} by it "
        "({rival}).",
        "Deploy {new} beside {deployed}.",
    ),
    "replace": (
        "**Replace {best} by {new}.** {at}replacing {best} by {new} ({replace}) {is_gain}. Adding {new} instead does "
        "not gain {any} over that ({rival}).",
        "Deploy {new} and retire {best}.",
    ),
    "add or replace": (
        "**Add {new}, or replace {best} by it.** {at}adding {new} ({add}) or replacing {best} by it ({replace}) "
        "{is_gain}. It is open whether adding is better than replacing ({rival}).",
        "Replacing {best} needs no further run.",
    ),
}
#: On any options, the same.
OPTIONS = {
    "keep": ("**Keep {first}.** {at}no other option gains {any}: {others}.", _NOTHING),
    "open": (
        "**Open: keep {first} for now.** {at}the other options may or may not gain {any}: {others}.",
        "",
    ),
    "one": ("**{best}.** {at}{best} {is_gain} over {first}{beats}: {others}.", ""),
    "several": ("**{best}.** {at}{first} is not the best option, and it is open which one is: {others}.", ""),
}
#: On deployed runs, the reason by verdict.
DROP = {
    "safe": "**Safe to drop, one at a time: {runs}.** {at}the loss is at most {margin}: {losses}.",
    "needed": "Needed: {runs}. The loss is above {margin}: {losses}.",
    "open": "Open: {runs}. The loss may be above {margin}: {losses}.",
    "not graded": "**Not graded: set margin=, the largest loss that you accept.** Without each run: {losses}.",
}
#: What settles an open verdict.
TO_DO = {
    "unbounded": "This takes the judgments as they are: {by} has no bounds for unjudged documents.",
    "few": "Judge more topics: {topics} cannot show how topics vary.",
    "judge 0": "More judgments may settle this; which, is not known.",
    "judge 1": "Judge the unjudged document that can change the verdict, in the table judge.",
    "judge": "Judge the {judge} unjudged documents that can change the verdict, in the order of the table judge.",
    "as judged": "By the judgments as they are the verdict is {as_judged}{stands}.",
}
#: How many topics would.
TOPICS = {
    "alike": "{topics} topics are too few: were the difference the same on others, about {about} would settle it.",
    "few": "Judge more topics: {topics} are too few to say how many would settle it.",
    "close": "More topics will not settle this: the difference is too close to {margin}. Set {larger}.",
    "about": "About {about} topics would settle it with 80 % power ({fewest} to {most}); there are {topics}.",
}
#: Where something else in the candidate's place may gain as much.
NOT_THE_REASON = {
    "no run": "{most} of the gain is from retiring {retired}: with no run in its place, it is {gain} ({new}'s lead "
    "over that: {lead}).",
    "copy": "{most} of the gain does not need {new}: with {instead} in its place, it is {gain} ({new}'s lead over "
    "that: {lead}).",
    "open": "It is open whether {new} is the reason: with {instead} in its place, the gain is {gain} ({new}'s lead "
    "over that: {lead}).",
}
#: Of each table of evidence the sentence of a row.
ROW = {
    "instead": "With {instead} in its place, {option} would gain {gain} (the candidate's lead: {lead}).",
    "unscored": "{option} has {mean}; what its runs alone have is not known, for the reranker did not score them on "
    "every topic.",
    "routers": "{option} has {mean}; the best single run, chosen on other topics, has {single}, and the best run of "
    "each topic {best_of_each}.",
    "pools": "{option} shows {shown} relevant documents; {not_shown} more are in its pool, {outside_pool} outside, and "
    "{never_retrieved} are never retrieved. The best order of its pool has {ceiling}.",
    "fewer": "Fewer runs: {runs}. On topics that were not used to choose them, the loss against all {all} is {loss} "
    "({ci_lower} to {ci_upper}).",
}
#: After an audit: what settles an open verdict, and what the answer rests on.
AUDIT = {
    "judgments": "Label more documents: a plan with a larger budget and the same seed asks for these and for more.",
    "topics": "Label documents of more topics. On these {topics} alone the verdict is {here}.",
    "evidence": "This rests on {labels} human labels on {topics} topics. By the model's labels alone: {alone}.",
}
