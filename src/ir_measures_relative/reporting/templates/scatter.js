// One measure over another: the reader chooses them.

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
    for (const channel of groups.length ? [spec.encoding.color, spec.layer[2].encoding.shape] : []) channel.legend.columns = Math.max(1, Math.floor(wide / 165));
    const said = spec.layer[2].encoding.tooltip;
    said[1].title = measures[x].name;
    said[2].title = measures[y].name;
  });
  fill(figure, () => table([["run"], ...(groups.length ? [["group"]] : []), [measures[x].name, true], [measures[y].name, true]],
    runs.map((run, r) => [runLink(r), ...(groups.length ? [run.group === undefined ? "–" : text(groups[run.group])] : []), value2(means[x][r]), value2(means[y][r])]), "The two measures of each run"));
}

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

function startScatter() {
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
