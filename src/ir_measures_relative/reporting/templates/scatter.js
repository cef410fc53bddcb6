// One measure over another. Where points and names stand is computed already, for a screen and for a phone.

const svg = (tag, attributes = {}, ...children) => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, of] of Object.entries(attributes)) if (of !== null && of !== undefined) node.setAttribute(key, of);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
};
const mark = ({ colour, shape }, more = {}) => svg("svg", { class: "mark", viewBox: "-7 -7 14 14", width: 14, height: 14, "aria-hidden": "true" }, svg("path", { d: shape, style: `fill: ${colour}`, ...more }));

function axes(place, x, y) {
  const [left, top, right, bottom] = place.frame;
  const said = (at, words, more) => svg("text", { x: at[0], y: at[1], ...more }, words);
  return [
    ...place.x.flatMap(([at, words]) => [svg("path", { class: "grid", d: `M${at} ${top}V${bottom}` }), said([at, bottom + 15], words, { "text-anchor": "middle" })]),
    ...place.y.flatMap(([at, words]) => [svg("path", { class: "grid", d: `M${left} ${at}H${right}` }), said([left - 6, at + 4], words, { "text-anchor": "end" })]),
    svg("path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` }),
    said([(left + right) / 2, place.height - 6], short(measures[x].axis, 60), { "text-anchor": "middle", class: "title" }),
    said([-(top + bottom) / 2, 13], short(measures[y].axis, 50), { "text-anchor": "middle", class: "title", transform: "rotate(-90)" }),
  ];
}

function drawScatter(figure) {
  const { x, y, sizes } = figures.scatter.planes[Number($("#scatter-measures").value)];
  const of = $(".plot", figure);
  const place = sizes[of.clientWidth < 700 ? 1 : 0];
  const at = new Map(place.points.map(([r, ...point]) => [r, point]));
  const named = new Map(place.names.map(([r, ...name]) => [r, name]));
  const shade = (r) => (visible.has(r) ? null : "dim");
  const bars = $("#scatter-bars").checked ? place.points.filter(([r]) => visible.has(r)).map(([r, px, py, a, b, c, d]) =>
    svg("path", { class: "bar-of-run", d: `M${a} ${py}H${b}M${px} ${c}V${d}`, style: `stroke: ${look(runs[r].group).colour}` })) : [];
  const lines = place.names.filter(([r, , , ex, ey]) => ex !== at.get(r)[0] || ey !== at.get(r)[1]).map(([r, , , ex, ey]) =>
    svg("path", { class: `leader ${shade(r) ?? ""}`, d: `M${at.get(r)[0]} ${at.get(r)[1]}L${ex} ${ey}` }));
  const points = place.points.map(([r, px, py]) => svg("g", { class: `point ${shade(r) ?? ""} ${pinned.includes(r) ? "pinned" : ""}`, "data-run": r, transform: `translate(${px} ${py})` },
    svg("circle", { r: 9, class: "ring" }), svg("path", { d: look(runs[r].group).shape, style: `fill: ${look(runs[r].group).colour}` })));
  const name = (r, cx, cy, more) => svg("text", { x: cx, y: cy + 4, class: `name-of-point ${shade(r) ?? ""} ${pinned.includes(r) ? "pinned" : ""}`, ...more }, short(runs[r].name, 22));
  const names = place.names.map(([r, cx, cy]) => name(r, cx, cy, { "text-anchor": "middle" }));
  // A pinned run that has no name beside it gets one over the picture.
  const more = pinned.filter((r) => at.has(r) && !named.has(r)).map((r) => name(r, at.get(r)[0], at.get(r)[1] - 16, { "text-anchor": at.get(r)[0] > place.width / 2 ? "end" : "start" }));
  const line = place.line.filter((r) => at.has(r)).map((r) => `${at.get(r)[0]} ${at.get(r)[1]}`);
  of.replaceChildren(svg("svg", { class: "marks", viewBox: `0 0 ${place.width} ${place.height}`, "aria-hidden": "true" },
    axes(place, x, y), line.length > 1 ? svg("path", { class: "frontier", d: `M${line.join("L")}` }) : null, bars, lines, points, names, more));
  const picture = $("svg", of);
  const hit = (event) => event.target.closest("[data-run]");
  picture.addEventListener("click", (event) => { if (hit(event)) togglePin(Number(hit(event).dataset.run)); });
  picture.addEventListener("mousemove", (event) => {
    if (!hit(event)) return hush();
    const r = Number(hit(event).dataset.run);
    const group = runs[r].group === undefined ? [] : [short(groups[runs[r].group], 60)];
    tell([el("strong", {}, text(short(runs[r].name, 60))), ...group, `${measures[x].name}: ${value(means[x][r])}`, `${measures[y].name}: ${value(means[y][r])}`], event.clientX, event.clientY);
  });
  picture.addEventListener("mouseleave", hush);
}

function startScatter() {
  const figure = $("#scatter figure");
  const draw = () => { if (!$("#sections").hidden) drawScatter(figure); };
  $("#scatter-measures").append(...figures.scatter.planes.map(({ x, y }, i) => el("option", { value: i }, `${measures[y].name} over ${measures[x].name}`)));
  for (const control of ["#scatter-measures", "#scatter-bars"]) $(control).addEventListener("change", draw);
  changed.push(draw);
  matchMedia("(max-width: 760px)").addEventListener("change", draw);
}
