// Pictures: the data of each, and its numbers as a table.

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

function scatterRows(x, y, bars, names) {
  return runs.map((run, r) => ({
    run: r, name: short(run.name, 60), group: run.group ?? groups.length, groupName: run.group === undefined ? "–" : short(groups[run.group], 60),
    label: names ? short(run.name, 24) : "", x: means[x][r], y: means[y][r], sx: value(means[x][r]), sy: value(means[y][r]),
    xl: bars ? lower[x][r] ?? means[x][r] : means[x][r], xu: bars ? upper[x][r] ?? means[x][r] : means[x][r],
    yl: bars ? lower[y][r] ?? means[y][r] : means[y][r], yu: bars ? upper[y][r] ?? means[y][r] : means[y][r],
  })).filter((row) => row.x !== null && row.y !== null);
}

async function drawScatter(figure) {
  const [x, y] = [Number($("#scatter-x").value), Number($("#scatter-y").value)];
  const place = $(".plot", figure);
  const wide = place.clientWidth;
  await draw(place, "scatter", scatterRows(x, y, $("#scatter-bars").checked, $("#scatter-names").checked), { groups: [...groups.map((g) => short(g, 22)), "no group"] }, (spec) => {
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
