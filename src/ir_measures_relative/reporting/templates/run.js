// The page of a run.

const above = (m, r, t) => values[m].reduce((n, of) => n + (of[t] !== null && values[m][r][t] !== null && of[t] > values[m][r][t] ? 1 : 0), 0);

function runPage(r, t) {
  const run = runs[r];
  const named = run.group === undefined ? null : el("p", {}, el("span", { class: "dot", style: `--c: var(--g${run.group % 7})` }), text(groups[run.group]));
  const page = el("article", {},
    el("p", {}, el("a", { href: "#runs" }, "← all runs")),
    el("h2", { tabindex: "-1", class: "name-of-run" }, text(run.name.length > 300 ? short(run.name, 300) : run.name)), named,
    runs.length > 1 ? el("p", {}, el("button", { type: "button", class: "pin named", "data-pin": r, "aria-pressed": "false" }, "pin this run")) : null,
    box("The means", table([["measure"], ["mean", true], ["95 % interval", true], ["runs above", true]], measures.map((m, i) => [
      m.name, value2(means[i][r]), [lower[i][r] === null ? "–" : `${value(lower[i][r])} to ${value(upper[i][r])}`, lower[i][r]],
      means[i].filter((x) => x !== null && x > means[i][r]).length]), "The means of the run")));
  const first = documents ? documents.measure : Math.max(0, measures.findIndex((m) => m.relative));
  if (documents && documents.priors[r].length) {
    const names = documents.priors[r].flatMap((p, i) => [i ? ", " : "", runLink(p)]);
    page.append(el("details", {}, el("summary", {}, `${measures[first].name} is relative to ${documents.priors[r].length > 1 ? `${documents.priors[r].length} runs` : "one run"}`), el("p", {}, names)));
  }
  const select = measureSelect("strip-measure", first);
  const figure = figureOf("The value on each topic, over those of all runs");
  page.append(el("h3", {}, "Topic by topic"), el("p", {}, topics.length > MANY ? "The thick line is this run, each thin line another one." : "Each dot is this run, each tick another one. A click opens the topic."), saidOfMany(),
    el("div", { class: "controls" }, el("label", {}, "measure ", select)), figure);
  const topicPart = el("div", { id: "topic" });
  if (documents) {
    const sorted = highestFirst((t) => values[first][r][t]);
    const list = (some) => el("ol", {}, some.map((i) => el("li", {}, topicLink(r, i), ` ${value(values[first][r][i])}`, asked(i))));
    const n = Math.min(LISTED, Math.floor(sorted.length / 2) || sorted.length);
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
  const of = values[m];
  const order = highestFirst((t) => of[r][t]);
  if (topics.length > MANY) {
    const rows = [...runs.keys()].filter((i) => i !== r).concat(r).flatMap((i) => curve(of[i], runs[i].name, { own: i === r, run: i }));
    await draw($(".plot", figure), "curves", rows, {}, (spec) => measureTitle(spec, ["y"], measures[m].name));
  } else {
    const rows = [];
    order.forEach((t, place) => {
      const topic = short(topics[t].id, 40);
      runs.forEach((run, i) => {
        const x = of[i][t];
        if (i !== r && x !== null) rows.push({ run: i, topic_: t, place, topic, value: x, name: short(run.name, 60), shown: value(x), own: false });
      });
      rows.push({ run: r, topic_: t, place, topic, value: of[r][t], shown: value(of[r][t]), others: above(m, r, t), own: true });
    });
    await draw($(".plot", figure), "strip", rows, { topics: order.map((t) => short(topics[t].id, 16)) }, (spec) => measureTitle(spec, ["y"], measures[m].name));
  }
  const field = (t) => of.map((list) => list[t]).filter((x) => x !== null);
  fill(figure, () => table([["topic"], [measures[m].name, true], ["lowest run", true], ["highest run", true], ["runs above", true]],
    (topics.length > MANY ? extremes(order, ENDS) : order).map((t) => [topicLink(r, t), value2(of[r][t]), value2(Math.min(...field(t))), value2(Math.max(...field(t))), above(m, r, t)]), "The value on each topic"));
}

// The documents at the top of a run for one topic, and where the others have them.
function showTopic(place, r, t, order) {
  const m = documents.measure;
  const at = order.indexOf(t);
  const step = (to, label) => el("a", order[to] === undefined ? { "aria-disabled": "true" } : { href: address(r, order[to]) }, label);
  const others = new Set(documents.priors[r]);
  const rowsOfTopic = listed(r, t) ?? [];
  const most = Math.max(...rowsOfTopic.map(([, , , contribution]) => contribution), 0);
  const rows = rowsOfTopic.map(([i, position, gain, contribution]) => {
    const [doc, grade, places] = foundOn(t)[i];
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
    rows.length ? box("The documents", table([["position", true], ["document"], ["grade", true], ["gain", true], ["contribution", true], ["also in"]], rows, "The documents at the top")) : listed(r, t) ? el("p", {}, "The run has no document for this topic.") : notKept());
}
