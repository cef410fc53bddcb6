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

if ($("#scatter")) startScatter();
for (const place of document.querySelectorAll("[data-table]")) place.append(tableOf(figures[place.dataset.table].table));

const waiting = new Set(document.querySelectorAll("#campaign figure[data-chart]"));
const begin = (figure) => { if (waiting.delete(figure)) return figure.dataset.chart === "scatter" ? drawScatter(figure) : drawFigure(figure); };
const watch = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) { watch.unobserve(entry.target); begin(entry.target); }
}, { rootMargin: "400px" });
for (const figure of waiting) watch.observe(figure);
addEventListener("beforeprint", () => { if (!$("#campaign").hidden) waiting.forEach(begin); });

addEventListener("hashchange", route);
route();
document.documentElement.dataset.ready = "true";
