// Pictures and tables, as the sections of the report describe them (Picture and Table in sections).

const views = new Map();

// Draws a specification; a click on what stands for a run pins it, and one on two runs opens their page.
async function draw(place, name, rows, parameters = {}, change = null) {
  const spec = structuredClone(figures[name].spec);
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
    if (Number.isInteger(datum?.other)) location.hash = pairAddress(datum.run, datum.other);
    else if (Number.isInteger(datum?.run) && runs.length > 1) togglePin(datum.run);
  });
  return result;
}

// A number as it is shown, and as it is sorted.
const value2 = (x) => [value(x), x];

// The cells of a table, by the kind of their column.
const p = (x) => [typeof x === "number" && x < 5e-5 ? "<0.0001" : value(x), x];
const cells = { run: runName, value: value2, p, count: (x) => [shown(x), x], word: (x) => x, runs: (x) => {
  const links = el("span", { class: "runs" }, x.flatMap((r, i) => [i ? ", " : "", runName(r)]));
  return x.length > 10 ? el("details", {}, el("summary", {}, `${x.length} runs`), links) : links;
} };

function tableOf({ caption, columns, rows }) {
  const run = columns.findIndex(([, kind]) => kind === "run");
  const shown = run < 0 ? rows : rows.filter((row) => visible.has(row[run]));
  return table(columns.map(([title, kind]) => [title, ["value", "p", "count"].includes(kind)]), shown.map((row) => row.map((x, i) => cells[columns[i][1]](x))), caption);
}

// The table of a picture is made when it is opened, or when the page is printed with it open.
function fill(figure, make) {
  const details = $("details", figure);
  const put = () => { if (details.open) $(".scroll", details).replaceChildren(make()); };
  details.ontoggle = put;
  put();
}

// The mirror image of a row about two runs.
function mirror(row, mirrored) {
  const image = { ...row, run: row.other, other: row.run };
  for (const [field, how] of Object.entries(mirrored)) image[field] = typeof how === "string" ? -row[how] : how[row[field]] ?? row[field];
  return image;
}

// The rows of a picture, with what its specification needs beside its fields.
function rowsOf({ fields, rows, names, mirrored }) {
  const place = new Map(names.map((r, i) => [r, i]));
  const plain = rows.map((row) => Object.fromEntries(fields.map(([field], i) => [field, row[i]])));
  const all = mirrored ? plain.flatMap((row) => [row, mirror(row, mirrored)]) : plain;
  for (const row of all) {
    for (const [field, kind] of fields) {
      if (kind === "run") [row[`${field}_name`], row[`${field}_place`]] = [short(runs[row[field]].name, 60), place.get(row[field])];
      else if (kind === "value") row[`${field}_shown`] = value(row[field]);
    }
  }
  return all.filter((row) => row.value !== null && visible.has(row.run) && (row.other === undefined || visible.has(row.other)));
}

// How large the cells of a square map are, so that names are legible and it fits a screen where that goes.
function fitSquare(spec, place, n) {
  const cell = Math.max(9, Math.min(24, Math.floor((place.clientWidth - 130) / n)));
  spec.width = { step: cell };
  spec.height = { step: cell };
  for (const axis of ["x", "y"]) spec.encoding[axis].axis.labelFontSize = Math.min(11, cell);
}

async function drawFigure(figure) {
  const name = figure.dataset.chart;
  const picture = { ...figures[name], names: figures[name].names.filter((r) => visible.has(r)) };
  const place = $(".plot", figure);
  const square = picture.spec.width.step !== undefined;
  const names = picture.names.map((r) => short(runs[r].name, square ? 20 : 24));
  await draw(place, name, rowsOf(picture), { names }, (spec) => {
    if (square) fitSquare(spec, place, names.length);
    else if (spec.encoding.y?.field === "run_place") spec.height = (spec.height / figures[name].names.length) * Math.max(1, names.length);
  });
  fill(figure, () => tableOf(picture.table));
}
