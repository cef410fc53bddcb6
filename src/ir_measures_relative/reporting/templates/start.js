// Addresses (#pair=…&with=…), controls, and pictures that are drawn when they come into view.

const runOf = (slug) => runs.findIndex((run) => run.slug === slug);

function route() {
  const match = /^#pair=([^&]*)&with=([^&]*)$/.exec(location.hash);
  const [a, b] = match ? [runOf(match[1]), runOf(match[2])] : [-1, -1];
  const whole = a < 0 || b < 0 || a === b;
  for (const part of ["#campaign", "#sections", "#finder", "#shown"]) $(part).hidden = !whole;
  $("#pair").hidden = whole;
  $("#choice").hidden = runs.length < 2 || (!whole && !pinned.length);
  hush();
  if (whole) {
    $("#pair").replaceChildren();
    if (match) location.replace("#runs");
    else if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
    if (figures.scatter) drawScatter($("#scatter figure"));
    return;
  }
  pairPage(a, b);
  showPins();
  scrollTo(0, 0);
  $("h2", $("#pair")).focus({ preventScroll: true });
}

if (figures.scatter) startScatter();
startChoice();
const fillTables = () => { for (const place of document.querySelectorAll("[data-table]")) place.replaceChildren(tableOf(figures[place.dataset.table].table)); };
fillTables();

const drawn = [...document.querySelectorAll("#sections figure[data-chart]")].filter((figure) => figure.dataset.chart !== "scatter");
const waiting = new Set(drawn);
const begin = (figure) => { if (waiting.delete(figure)) return drawFigure(figure); };
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { watch.unobserve(entry.target); begin(entry.target); }
}, { rootMargin: "400px" });
for (const figure of drawn) watch.observe(figure);
// The rest one by one, in idle time: a capture of the whole page shows every picture.
const idle = window.requestIdleCallback ?? ((then) => setTimeout(then, 50));
const drawRest = async () => {
  const [next] = waiting;
  if (next && !$("#sections").hidden) await begin(next);
  if (waiting.size && !$("#sections").hidden) idle(drawRest);
};
changed.push((what) => {
  if (what === "pins") return;
  fillTables();
  for (const figure of drawn) if (!waiting.has(figure)) { waiting.add(figure); watch.observe(figure); }
  idle(drawRest);
});
addEventListener("beforeprint", () => { if (!$("#sections").hidden) waiting.forEach(begin); });

addEventListener("hashchange", route);
route();
idle(drawRest);
document.documentElement.dataset.ready = "true";
