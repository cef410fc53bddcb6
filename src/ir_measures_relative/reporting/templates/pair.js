// The page of two runs: their differences topic by topic; of very many topics, those of the extreme ones.

const MANY = 300;
const ENDS = 100; // how many topics are shown of each end, where they are very many
const LISTED = topics.length > MANY ? 10 : 5; // and in a list

const extremes = (order) => (topics.length > MANY && order.length > 2 * ENDS ? [...order.slice(0, ENDS), ...order.slice(-ENDS)] : order);

const difference = (m, a, b, t) => (values[m][a][t] === null || values[m][b][t] === null ? null : values[m][a][t] - values[m][b][t]);
const TIE = 1e-8; // values have nine decimal places here

// How two runs compare by a measure: [wins, ties, losses].
function counted(m, a, b) {
  const all = topics.map((_, t) => difference(m, a, b, t)).filter((d) => d !== null);
  const wins = all.filter((d) => d > TIE).length;
  const losses = all.filter((d) => d < -TIE).length;
  return { all, counts: [wins, all.length - wins - losses, losses] };
}

// Whether one of the runs misses so many topics that there is no verdict and no test of the two.
const missesTopics = (a, b) => data.pairs.incomplete.includes(a) || data.pairs.incomplete.includes(b);

// The interval of the mean difference: the report's own, else Student's for this pair alone, of absolute measures.
function intervalOf(m, a, b, all) {
  const { intervals, t } = data.pairs;
  if (missesTopics(a, b)) return null;
  const [first, second] = a < b ? [a, b] : [b, a];
  if (intervals) {
    const ends = intervals[m]?.[first * runs.length - (first * (first + 1)) / 2 + second - first - 1];
    return ends && (a < b ? ends : [-ends[1], -ends[0]]);
  }
  if (measures[m].relative || t === null || all.length < 2) return null;
  const mean = all.reduce((sum, d) => sum + d, 0) / all.length;
  const reach = t * Math.sqrt(all.reduce((sum, d) => sum + (d - mean) ** 2, 0) / (all.length - 1) / all.length);
  return reach > 0 ? [mean - reach, mean + reach] : null;
}

// What no labels of the unjudged documents can change, of this pair: [settled, worst, best difference].
function settledOf(m, a, b) {
  const at = figures.verdicts?.measures.indexOf(measures[m].name) ?? -1;
  if (at < 0) return null;
  const { fields, rows } = figures[`verdicts-${at}`];
  const against = fields.some(([field]) => field === "other");
  for (const row of rows) {
    const of = Object.fromEntries(fields.map(([field], i) => [field, row[i]]));
    const other = against ? of.other : figures.verdicts.reference;
    if (of.run === a && other === b) return [of.settled, of.worst, of.best];
    if (of.run === b && other === a) return [{ above: "below", below: "above" }[of.settled] ?? of.settled, -of.best, -of.worst];
  }
  return null;
}

// The verdict of worth() where the first run is deployed and the second is the candidate.
function decided(a, b) {
  const { decisions } = data.pairs;
  const row = decisions?.rows.find(([deployed, candidate]) => deployed === a && candidate === b);
  return row ? el("p", {}, "With ", runName(a), " deployed: ", el("strong", {}, text(row[2])), text(row[3])) : null;
}

function decisionPart(a, b) {
  const { decisions } = data.pairs;
  const found = [decided(a, b), decided(b, a)].filter((part) => part);
  const none = decisions ? `The report has verdicts for the ${decisions.runs} best runs by ${decisions.by}, and these are not both among them.`
    : "The report has no verdicts: its measures do not say how good a fused list is, or verdicts would take too long.";
  const title = el("h3", {}, "Keep, add or replace?");
  if (missesTopics(a, b)) return [title, el("p", {}, "There is no verdict, since a run misses topics that other runs rank.")];
  const alone = el("p", { class: "about" }, "Each verdict is for these two runs alone: of many candidates, some win by chance.");
  return found.length ? [title, ...found, alone] : [title, el("p", {}, `${none} The table below compares the two as they are.`)];
}

const between = (ends) => (ends ? `${value(ends[0])} to ${value(ends[1])}` : "–");

function pairPage(a, b) {
  const first = Math.max(0, measures.findIndex((m) => m.relative));
  const rows = measures.map((measure, m) => {
    const { all, counts } = counted(m, a, b);
    const settled = settledOf(m, a, b);
    const mean = all.length ? means[m][a] - means[m][b] : null;
    return [measure.name, value2(means[m][a]), value2(means[m][b]), value2(mean), between(intervalOf(m, a, b, all)), ...counts, settled ? `${settled[0]} (${between(settled.slice(1))})` : "–"];
  });
  const pairs = (runs.length * (runs.length - 1)) / 2;
  const [A, B] = [a, b].map((r) => short(runs[r].name, 16));
  const { counts } = counted(first, a, b);
  const select = el("select", { id: "pair-measure" }, measures.map((m, i) => el("option", { value: i, selected: i === first }, m.name)));
  const figure = el("figure", { class: "picture" }, el("div", { class: "plot", role: "img", "aria-label": "The difference on each topic; the table below has the same numbers" }),
    el("details", { class: "numbers" }, el("summary", {}, "The numbers as a table"), box("The numbers")));
  const ofMany = topics.length > MANY ? el("p", {}, `There are ${topics.length.toLocaleString("en")} topics. The figure and its table show the ${ENDS} with the highest and the ${ENDS} with the lowest difference.`) : null;
  const lists = el("div", { class: "two" });
  $("#pair").replaceChildren(el("article", {},
    el("p", {}, el("a", { href: "#runs" }, "← all runs"), " · ", el("a", { href: pairAddress(b, a) }, "the other way round")),
    el("h2", { tabindex: "-1" }, text(short(runs[a].name, 80)), " and ", text(short(runs[b].name, 80))),
    el("p", {}, `By ${measures[first].name}, `, runName(a), ` is higher on ${counts[0]} topics, `, runName(b), ` on ${counts[2]}, and they are equal on ${counts[1]}.`),
    ...decisionPart(a, b), el("h3", {}, "By each measure"),
    box("The two runs by each measure", table([["measure"], [A, true], [B, true], ["difference", true], ["95 % interval"], [`${A} higher`, true], ["equal", true], [`${B} higher`, true], [`settled: ${A} is`]], rows, "The two runs by each measure")),
    el("p", {}, `${data.pairs.intervals ? `The intervals hold at once for all ${pairs.toLocaleString("en")} pairs of runs, so you may choose the pair after seeing the results.` : `The intervals are for this pair alone: of ${pairs.toLocaleString("en")} pairs, some differ by chance. Call compare() for intervals of relative measures, and of all pairs at once.`} The last column is what unjudged documents cannot reverse on these topics; “–” is not computed, or all is judged.`),
    el("h3", {}, "Topic by topic"), el("p", {}, "Above 0 ", runName(a), " is higher, below 0 ", runName(b), "."), ofMany,
    el("div", { class: "controls" }, el("label", {}, "measure ", select)), figure, lists));
  const change = () => drawPair(figure, lists, a, b, Number(select.value));
  select.addEventListener("change", change);
  change();
}

async function drawPair(figure, lists, a, b, m) {
  const of = (t) => difference(m, a, b, t);
  const order = topics.map((_, t) => t).filter((t) => of(t) !== null).sort((s, t) => of(t) - of(s) || s - t);
  const name = (t) => named(topics[t].id);
  const list = (run, some) => el("div", {}, el("h3", {}, runName(run), some.length ? " leads most on" : " leads on no topic"), el("ol", {}, some.map((t) => el("li", {}, name(t), ` ${value(Math.abs(of(t)))}`, asked(t)))));
  lists.replaceChildren(list(a, order.filter((t) => of(t) > TIE).slice(0, LISTED)), list(b, order.filter((t) => of(t) < -TIE).slice(-LISTED).reverse()));
  const some = extremes(order);
  const rows = some.map((t, place) => ({ place, topic: short(topics[t].id, 40), value: of(t), shown: value(of(t)), side: of(t) > 0 ? "first" : "second", first: value(values[m][a][t]), second: value(values[m][b][t]) }));
  await draw($(".plot", figure), "differences", rows, { topics: some.map((t) => short(topics[t].id, 16)) }, (spec) => {
    spec.encoding.y.title = `difference in ${measures[m].name}`;
    const titles = { first: short(runs[a].name, 40), second: short(runs[b].name, 40) };
    for (const part of spec.encoding.tooltip) part.title = titles[part.field] ?? part.title;
  });
  fill(figure, () => table([["topic"], [short(runs[a].name, 16), true], [short(runs[b].name, 16), true], ["difference", true]],
    some.map((t) => [name(t), value2(values[m][a][t]), value2(values[m][b][t]), value2(of(t))]), "The difference on each topic"));
}
