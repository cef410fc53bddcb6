// The page at work: sorting, pictures when they come into view, and a page a run by the address (#run=…&topic=…).
// Names and texts only ever become text nodes, titles and data.
const data = JSON.parse(document.getElementById("data").textContent);
const charts = JSON.parse(document.getElementById("charts").textContent);
const { runs, topics, measures, groups, values, means, lower, upper, documents } = data;
const $ = (selector, within = document) => within.querySelector(selector);

// ---- elements ----

function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

const value = (x) => (x === null || x === undefined ? "–" : x !== 0 && Math.abs(x) < 5e-5 ? x.toExponential(1) : x.toFixed(4));
const shown = (x) => (typeof x === "number" && !Number.isInteger(x) ? value(x) : String(x ?? "–"));
const text = (s) => el("bdi", {}, s);

// A name where there is little room: in one line, without its middle, and without what steers the direction of writing.
function short(name, longest = 28) {
  const line = name.replace(/[\p{Cc}\p{Cf}\p{Cs}\s]+/gu, " ").trim() || "(no name)";
  const half = Math.floor((longest - 1) / 2);
  return line.length <= longest ? line : `${line.slice(0, half)}…${line.slice(-half)}`;
}

const address = (r, t = null) => `#run=${runs[r].slug}` + (t === null ? "" : `&topic=${topics[t].slug}`);
const runLink = (r) => el("a", { class: "name", href: address(r), title: runs[r].name }, text(runs[r].name));
const topicLink = (r, t) => el("a", { href: address(r, t), class: "name", title: topics[t].id }, text(topics[t].id));
const asked = (t) => (topics[t].query ? el("small", {}, " ", text(topics[t].query)) : null);

// ---- tables ----

// Columns are [title, is a number]; cells are numbers, strings, elements, or [what is shown, what it is sorted by].
function table(columns, rows, caption) {
  const head = columns.map(([title, number]) =>
    el("th", { scope: "col", "aria-sort": "none", class: number && "n" }, el("button", { type: "button" }, title)));
  const body = rows.map((row) => el("tr", {}, row.map((cell, i) => {
    const [node, key] = Array.isArray(cell) ? cell : [cell, cell instanceof Node ? cell.textContent : cell];
    const attributes = { "data-v": key, class: columns[i][1] && "n" };
    return el(i ? "td" : "th", i ? attributes : { scope: "row", ...attributes }, node instanceof Node ? node : shown(node));
  })));
  return el("table", { class: "sortable" }, el("caption", { class: "unseen" }, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
}

// Sorting, of every table there is or will be: numbers from the largest, words from the first, and then the other way.
document.addEventListener("click", (event) => {
  const button = event.target.closest("table.sortable thead button");
  if (!button) return;
  const header = button.closest("th");
  const column = [...header.parentNode.children].indexOf(header);
  const number = header.classList.contains("n");
  const before = header.getAttribute("aria-sort");
  const descending = before === "none" ? number : before === "ascending";
  for (const other of header.parentNode.children) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = header.closest("table").tBodies[0];
  const key = (row) => row.children[column].dataset.v ?? "";
  const compare = number ? (a, b) => Number(a) - Number(b) : (a, b) => a.localeCompare(b, "en", { numeric: true });
  const rows = [...body.rows].map((row, i) => [key(row), i, row]);
  rows.sort(([a, i], [b, j]) => {
    if (a === "" || b === "") return (a === "") - (b === "") || i - j; // what has no value stays last
    return (descending ? -compare(a, b) : compare(a, b)) || i - j;
  });
  body.append(...rows.map(([, , row]) => row));
});

// ---- pictures ----

const views = new Map();

// Draws a picture; a click on what stands for a run opens it.
async function draw(place, name, rows, parameters = {}, change = null) {
  const spec = structuredClone(charts[name]);
  spec.data = { values: rows };
  for (const parameter of spec.params ?? []) if (parameter.name in parameters) parameter.value = parameters[parameter.name];
  change?.(spec);
  views.get(place)?.finalize();
  const result = await window.vegaEmbed(place, spec, { mode: "vega-lite", renderer: "svg", actions: false, logLevel: 1, tooltip: { theme: "custom" } });
  views.set(place, result);
  const svg = $("svg", place);
  svg.setAttribute("aria-hidden", "true"); // its table says the same
  result.view.addEventListener("click", (event, item) => {
    const datum = item?.datum?.datum ?? item?.datum;
    if (Number.isInteger(datum?.run)) location.hash = address(datum.run, Number.isInteger(datum.topic_) ? datum.topic_ : null);
  });
  return result;
}

const measureTitle = (spec, keys, title) => {
  const visit = (node) => {
    for (const key of keys) if (node.encoding?.[key]) node.encoding[key].title = title;
    node.layer?.forEach(visit);
  };
  visit(spec);
};

function scatterRows(x, y, bars) {
  return runs.map((run, r) => ({
    run: r, name: short(run.name, 60), group: run.group ?? groups.length, groupName: run.group === undefined ? "–" : short(groups[run.group], 60),
    x: means[x][r], y: means[y][r], sx: value(means[x][r]), sy: value(means[y][r]),
    xl: bars ? lower[x][r] ?? means[x][r] : means[x][r], xu: bars ? upper[x][r] ?? means[x][r] : means[x][r],
    yl: bars ? lower[y][r] ?? means[y][r] : means[y][r], yu: bars ? upper[y][r] ?? means[y][r] : means[y][r],
  })).filter((row) => row.x !== null && row.y !== null);
}

async function drawScatter(figure) {
  const [x, y] = [Number($("#scatter-x").value), Number($("#scatter-y").value)];
  const place = $(".plot", figure);
  const wide = place.clientWidth;
  await draw(place, "scatter", scatterRows(x, y, $("#scatter-bars").checked), { groups: [...groups.map((g) => short(g, 22)), "no group"] }, (spec) => {
    measureTitle(spec, ["x"], measures[x].name);
    measureTitle(spec, ["y"], measures[y].name);
    if (wide < 500) spec.height = 320;
    for (const channel of groups.length ? [spec.encoding.color, spec.layer[2].encoding.shape] : []) {
      channel.legend.columns = Math.max(1, Math.floor(wide / 165));
      if (runs.every((run) => run.group !== undefined)) { // nobody is in no group
        channel.scale.domain.pop();
        channel.scale.range.pop();
      }
    }
    const said = spec.layer[2].encoding.tooltip;
    said[1].title = measures[x].name;
    said[2].title = measures[y].name;
    if (!groups.length) said.pop();
  });
  fill(figure, () => table([["run"], ...(groups.length ? [["group"]] : []), [measures[x].name, true], [measures[y].name, true]],
    runs.map((run, r) => [runLink(r), ...(groups.length ? [run.group === undefined ? "–" : text(groups[run.group])] : []), value2(means[x][r]), value2(means[y][r])]), "The two measures of each run"));
}

// A number as it is shown, and as it is sorted.
const value2 = (x) => [value(x), x];

function zoom(factor) {
  const view = views.get($("#scatter .plot"))?.view;
  if (!view) return;
  for (const axis of ["x", "y"]) {
    const [low, high] = view.scale(axis).domain();
    const middle = (low + high) / 2;
    const half = ((high - low) / 2) * factor;
    view.signal(`zoom_${axis}`, factor ? [middle - half, middle + half] : null);
  }
  if (factor) view.run();
  else drawScatter($("#scatter figure"));
}

// The table of a picture is made when it is opened, or when the page is printed with it open.
function fill(figure, make) {
  const details = $("details", figure);
  const put = () => { if (details.open) $(".scroll", details).replaceChildren(make()); };
  details.ontoggle = put;
  put();
}

// As high as a row a run takes.
const tall = (rows) => (spec) => { spec.height = 17 * rows.length; };

// How large the cells of a square map are, so that names are legible and it fits a screen where that goes.
function squareSpec(place, n) {
  const cell = Math.max(9, Math.min(24, Math.floor((place.clientWidth - 130) / n)));
  return (spec) => {
    spec.width = { step: cell };
    spec.height = { step: cell };
    for (const axis of ["x", "y"]) spec.encoding[axis].axis.labelFontSize = Math.min(11, cell);
  };
}

async function drawLikeness(figure) {
  const { order, distance } = data.likeness;
  const far = (a, b) => distance[Math.max(a, b)][Math.min(a, b)];
  const rows = [];
  order.forEach((a, y) => order.forEach((b, x) => {
    if (a !== b) rows.push({ x, y, run: a, name: short(runs[a].name, 60), other: short(runs[b].name, 60), value: far(a, b), shown: value(far(a, b)) });
  }));
  await draw($(".plot", figure), "likeness", rows, { names: order.map((r) => short(runs[r].name, 20)) }, (spec) => {
    squareSpec($(".plot", figure), order.length)(spec);
    spec.encoding.color.scale.domain = data.likeness.colours; // what is far outside has the last colour
  });
  fill(figure, () => table([["run"], ["most like"], ["distance", true], ["least like"], ["distance", true]], order.map((a) => {
    const others = order.filter((b) => b !== a && far(a, b) !== null).sort((b, c) => far(a, b) - far(a, c));
    const [near, most] = [others[0], others[others.length - 1]];
    return [runLink(a), runLink(near), value2(far(a, near)), runLink(most), value2(far(a, most))];
  }), "The nearest and the farthest run of each"));
}

async function drawSelection(figure) {
  const rows = data.selection.rows.map(([run, marginal, total, bound], i) => ({
    run, place: i + 1, value: total, bound, name: short(runs[run].name, 60), marginal: value(marginal), total: value(total), limit: value(bound),
  }));
  await draw($(".plot", figure), "selection", rows.filter((row) => row.value !== null));
  fill(figure, () => table([["place", true], ["run"], [data.selection.measure, true], ["together", true], ["at most", true]],
    data.selection.rows.map(([run, marginal, total, bound], i) => [i + 1, runLink(run), value2(marginal), value2(total), value2(bound)]), "The runs in the order chosen"));
}

async function drawShapley(figure) {
  const rows = [...data.shapley.rows].sort((a, b) => b[1] - a[1]);
  const names = rows.map(([r]) => short(runs[r].name, 24));
  await draw($(".plot", figure), "shapley", rows.map(([run, x], place) => ({ run, place, value: x, name: short(runs[run].name, 60), shown: value(x) })), { names }, tall(rows));
  fill(figure, () => table([["run"], [data.shapley.measure, true]], rows.map(([r, x]) => [runLink(r), value2(x)]), "The credit of each run"));
}

async function drawBounds(figure, { measure, rows }) {
  const sorted = [...rows].sort((a, b) => b[2] - a[2]);
  const names = sorted.map(([r]) => short(runs[r].name, 24));
  await draw($(".plot", figure), "bounds", sorted.map(([run, low, x, high], place) => ({
    run, place, lower: low, value: x, upper: high, name: short(runs[run].name, 60), low: value(low), shown: value(x), high: value(high),
  })), { names }, tall(rows));
  fill(figure, () => table([["run"], ["at least", true], [measure, true], ["at most", true]],
    sorted.map(([r, low, x, high]) => [runLink(r), value2(low), value2(x), value2(high)]), "The least and the greatest value of each run"));
}

// The verdicts where all are on one run: the differences from it, as intervals.
async function drawAgainst(figure, rows) {
  const sorted = [...rows].sort((a, b) => b[4] - a[4]);
  await draw($(".plot", figure), "bounds", sorted.map(([run, , verdict, low, x, high], place) => ({
    run, place, lower: low, value: x, upper: high, name: `${short(runs[run].name, 60)}: ${verdict}`, low: value(low), shown: value(x), high: value(high),
  })), { names: sorted.map(([r]) => short(runs[r].name, 24)) }, tall(rows));
  fill(figure, () => table([["run"], ["is"], ["difference", true], ["at least", true], ["at most", true], ["open documents", true]],
    sorted.map(([r, , verdict, low, x, high, open]) => [runLink(r), verdict, value2(x), value2(low), value2(high), [shown(open), open]]), "The verdict on each run"));
}

async function drawVerdicts(figure, { measure, rows, reference }) {
  if (reference !== undefined) return drawAgainst(figure, rows);
  const turned = { better: "worse", worse: "better" };
  const both = rows.flatMap(([a, b, verdict, low, x, high, open]) => [
    [a, b, verdict, low, x, high, open], [b, a, turned[verdict] ?? verdict, -high, -x, -low, open]]);
  const count = (r, word) => both.filter(([a, , verdict]) => a === r && verdict === word).length;
  const met = runs.map((_, r) => r).filter((r) => both.some(([a]) => a === r));
  const of = new Map(met.map((r) => [r, ["better", "worse", "equal", "open"].map((word) => count(r, word))]));
  const order = [...met].sort((a, b) => of.get(b)[0] - of.get(b)[1] - (of.get(a)[0] - of.get(a)[1]));
  const at = new Map(order.map((r, i) => [r, i]));
  const cells = both.map(([a, b, verdict, low, x, high]) => ({
    run: a, y: at.get(a), x: at.get(b), verdict, name: short(runs[a].name, 60), other: short(runs[b].name, 60), shown: value(x), range: `${value(low)} and ${value(high)}`,
  }));
  await draw($(".plot", figure), "verdicts", cells, { names: order.map((r) => short(runs[r].name, 20)) }, squareSpec($(".plot", figure), order.length));
  fill(figure, () => table([["run"], ["better than", true], ["worse than", true], ["equal to", true], ["open", true]],
    order.map((r) => [runLink(r), ...of.get(r)]), `How many runs each is proved better or worse than by ${measure}`));
}

function comparisonTable() {
  const place = $('[data-table="comparison"]');
  if (!place) return;
  place.append(table([["run"], ["measure"], ["mean", true], ["difference", true], ["from", true], ["to", true], ["p (Holm)", true], ["wins", true], ["ties", true], ["losses", true]],
    data.comparison.rows.map(([r, measure, mean, difference, low, high, p, ...counts]) => [runLink(r), measure, ...[mean, difference, low, high, p].map(value2), ...counts.map((c) => [shown(c), c])]),
    "The difference of each run from the reference"));
}

// ---- the page of a run ----

const above = (m, r, t) => values[m].reduce((n, of) => n + (of[t] !== null && values[m][r][t] !== null && of[t] > values[m][r][t] ? 1 : 0), 0);

function runPage(r, t) {
  const run = runs[r];
  const named = run.group === undefined ? null : el("p", {}, el("span", { class: "dot", style: `--c: var(--g${run.group % 7})` }), text(groups[run.group]));
  const page = el("article", {},
    el("p", {}, el("a", { href: "#runs" }, "← all runs")),
    el("h2", { tabindex: "-1", class: "name-of-run" }, text(run.name.length > 300 ? short(run.name, 300) : run.name)), named,
    el("div", { class: "scroll" }, table([["measure"], ["mean", true], ["95 % interval", true], ["runs above", true]], measures.map((m, i) => [
      m.name, value2(means[i][r]), [lower[i][r] === null ? "–" : `${value(lower[i][r])} to ${value(upper[i][r])}`, lower[i][r]],
      means[i].filter((x) => x !== null && x > means[i][r]).length]), "The means of the run")));
  const first = documents ? documents.measure : Math.max(0, measures.findIndex((m) => m.relative));
  if (documents && documents.priors[r].length) {
    const names = documents.priors[r].flatMap((p, i) => [i ? ", " : "", runLink(p)]);
    page.append(el("details", {}, el("summary", {}, `${measures[first].name} is relative to ${names.length > 1 ? `${documents.priors[r].length} runs` : "one run"}`), el("p", {}, names)));
  }
  const select = el("select", { id: "strip-measure" }, measures.map((m, i) => el("option", { value: i, selected: i === first }, m.name)));
  const figure = el("figure", { class: "picture" },
    el("div", { class: "plot", role: "img", "aria-label": "The value on each topic, over those of all runs; the table below has the same numbers" }),
    el("details", { class: "numbers" }, el("summary", {}, "The numbers as a table"), el("div", { class: "scroll" })));
  page.append(el("h3", {}, "Topic by topic"), el("p", {}, "Each dot is this run, each tick another one. A click opens the topic."),
    el("div", { class: "controls" }, el("label", {}, "measure ", select)), figure);
  const topicPart = el("div", { id: "topic" });
  if (documents) {
    const known = topics.map((_, i) => i).filter((i) => values[first][r][i] !== null);
    const sorted = known.sort((a, b) => values[first][r][b] - values[first][r][a] || a - b);
    const list = (some) => el("ol", {}, some.map((i) => el("li", {}, topicLink(r, i), ` ${value(values[first][r][i])}`, asked(i))));
    const n = Math.min(5, Math.floor(sorted.length / 2) || sorted.length);
    const last = values[first][r][sorted[sorted.length - 1]];
    const ties = sorted.filter((i) => values[first][r][i] === last).length;
    page.append(el("div", { class: "two" },
      el("div", {}, el("h3", {}, `Where ${measures[first].name} is highest`), list(sorted.slice(0, n))),
      el("div", {}, el("h3", {}, "and where it is lowest"), list(sorted.slice(-n).reverse()), ties > n ? el("p", {}, `and ${ties - n} more topics with ${value(last)}`) : null)), topicPart);
    if (sorted.length) showTopic(topicPart, r, t ?? sorted[0], sorted);
  }
  const strip = () => drawStrip(figure, r, Number(select.value));
  select.addEventListener("change", strip);
  $("#run").replaceChildren(page);
  strip();
  return topicPart;
}

async function drawStrip(figure, r, m) {
  const order = topics.map((_, t) => t).filter((t) => values[m][r][t] !== null).sort((a, b) => values[m][r][b] - values[m][r][a] || a - b);
  const rows = [];
  order.forEach((t, place) => {
    const topic = short(topics[t].id, 40);
    runs.forEach((run, i) => {
      const x = values[m][i][t];
      if (i !== r && x !== null) rows.push({ run: i, topic_: t, place, topic, value: x, name: short(run.name, 60), shown: value(x), own: false });
    });
    rows.push({ run: r, topic_: t, place, topic, value: values[m][r][t], shown: value(values[m][r][t]), others: above(m, r, t), own: true });
  });
  await draw($(".plot", figure), "strip", rows, { topics: order.map((t) => short(topics[t].id, 16)) }, (spec) => measureTitle(spec, ["y"], measures[m].name));
  const field = (t) => values.map((of) => of)[m].map((of) => of[t]).filter((x) => x !== null);
  fill(figure, () => table([["topic"], [measures[m].name, true], ["lowest run", true], ["highest run", true], ["runs above", true]],
    order.map((t) => [topicLink(r, t), value2(values[m][r][t]), value2(Math.min(...field(t))), value2(Math.max(...field(t))), above(m, r, t)]), "The value on each topic"));
}

// The documents at the top of a run for one topic, and where the others have them.
function showTopic(place, r, t, order) {
  const m = documents.measure;
  const at = order.indexOf(t);
  const step = (to, label) => el("a", order[to] === undefined ? { "aria-disabled": "true" } : { href: address(r, order[to]) }, label);
  const others = new Set(documents.priors[r]);
  const listed = documents.listed[r][t];
  const most = Math.max(...listed.map(([, , , contribution]) => contribution), 0);
  const rows = listed.map(([i, position, gain, contribution]) => {
    const [doc, grade, places] = documents.found[t][i];
    const seen = [];
    for (let j = 0; j < places.length; j += 2) if (others.has(places[j])) seen.push([places[j], places[j + 1]]);
    seen.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
    const said = documents.texts?.[doc];
    const where = seen.flatMap(([p, j], k) => [k ? ", " : "", el("bdi", {}, short(runs[p].name)), ` ${j}`]);
    const listing = seen.length > 8 ? el("details", {}, el("summary", {}, `in ${seen.length} of ${others.size}, at best ${seen[0][1]}`), ...where) : el("span", {}, `${seen.length} of ${others.size}`, seen.length ? ": " : "", ...where);
    const bar = el("span", { class: "bar", "aria-hidden": "true" });
    bar.style.width = most > 0 ? `${Math.round((100 * Math.max(contribution, 0)) / most)}%` : "0";
    return [position, [el("div", { class: "doc" }, el("span", { class: "id", title: documents.docs[doc] }, text(documents.docs[doc])), said ? el("p", {}, text(said)) : null), documents.docs[doc]],
      [grade === null ? "unjudged" : String(grade), grade ?? ""], value2(gain), [el("span", {}, value(contribution), bar), contribution], [el("div", { class: "seen" }, listing), seen.length]];
  });
  const cut = documents.cutoff === null || documents.cutoff > documents.depth ? `, of which these are the first ${documents.depth}` : "";
  place.replaceChildren(el("h3", { tabindex: "-1" }, "Topic ", text(short(topics[t].id, 80))), topics[t].query ? el("p", {}, text(topics[t].query)) : "",
    el("p", { class: "steps" }, `${measures[m].name} ${value(values[m][r][t])}; ${above(m, r, t)} of ${runs.length} runs are above. `, step(at - 1, "← higher"), step(at + 1, "lower →")),
    el("p", {}, `What the documents at the top contribute${cut}: the contributions of all add up to the value.`),
    rows.length ? el("div", { class: "scroll" }, table([["position", true], ["document"], ["grade", true], ["gain", true], ["contribution", true], ["also in"]], rows, "The documents at the top")) : el("p", {}, "The run has no document for this topic."));
}

// ---- addresses ----

function route() {
  const match = /^#run=([^&]*)(?:&topic=(.*))?$/.exec(location.hash);
  const r = match ? runs.findIndex((run) => run.slug === match[1]) : -1;
  const t = match?.[2] === undefined ? -1 : topics.findIndex((topic) => topic.slug === match[2]);
  $("#campaign").hidden = r >= 0;
  $("#run").hidden = r < 0;
  if (r < 0) {
    if (match) location.replace("#runs");
    else if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    return;
  }
  const topicPart = runPage(r, t < 0 ? null : t);
  if (t < 0) {
    scrollTo(0, 0);
    $("h2", $("#run")).focus({ preventScroll: true });
  } else {
    topicPart.scrollIntoView();
    $("h3", topicPart)?.focus({ preventScroll: true });
  }
}

// ---- start ----

const drawings = { scatter: drawScatter, likeness: drawLikeness, selection: drawSelection, shapley: drawShapley };

function drawFigure(figure) {
  const [name, i] = figure.dataset.chart.split("-");
  if (name === "bounds") return drawBounds(figure, data.bounds[i]);
  if (name === "verdicts") return drawVerdicts(figure, data.verdicts[i]);
  return drawings[name](figure);
}

if ($("#scatter")) {
  const find = (relative) => Math.max(0, measures.findIndex((m) => m.relative === relative));
  const start = { x: find(false), y: find(true) };
  if (start.x === start.y) start.y = start.x ? 0 : 1;
  for (const axis of ["x", "y"]) {
    const select = $(`#scatter-${axis}`);
    select.append(...measures.map((m, i) => el("option", { value: i, selected: i === start[axis] }, m.name)));
    select.addEventListener("change", () => drawScatter($("#scatter figure")));
  }
  $("#scatter-bars").addEventListener("change", () => drawScatter($("#scatter figure")));
  $("#scatter .buttons").addEventListener("click", (event) => {
    if (event.target.dataset.zoom) zoom(Number(event.target.dataset.zoom));
  });
}

const waiting = new Set(document.querySelectorAll("#campaign figure[data-chart]"));
const begin = (figure) => { if (waiting.delete(figure)) return drawFigure(figure); };
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { watch.unobserve(entry.target); begin(entry.target); }
}, { rootMargin: "400px" });
for (const figure of waiting) watch.observe(figure);
addEventListener("beforeprint", () => { if (!$("#campaign").hidden) waiting.forEach(begin); });

comparisonTable();
addEventListener("hashchange", route);
route();
document.documentElement.dataset.ready = "true";
