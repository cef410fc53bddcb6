// Addresses (#run=…&topic=…), controls, and pictures that are drawn when they come into view.

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
  $("#scatter-names").checked = runs.length <= (innerWidth < 600 ? 8 : 25); // of more, names hide each other
  for (const box of ["#scatter-bars", "#scatter-names"]) $(box).addEventListener("change", () => drawScatter($("#scatter figure")));
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
