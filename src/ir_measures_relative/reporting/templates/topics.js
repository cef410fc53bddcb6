// Pictures by topic. Of very many topics they show how the values are distributed, and tables have the extreme ones.

const MANY = 300;
const ENDS = 100; // how many topics a table has of each end, where they are very many
const LISTED = topics.length > MANY ? 10 : 5; // and a list

const highestFirst = (of) => topics.map((_, t) => t).filter((t) => of(t) !== null).sort((a, b) => of(b) - of(a) || a - b);
const extremes = (order, n) => (order.length > 2 * n ? [...order.slice(0, n), ...order.slice(-n)] : order);
const saidOfMany = () => (topics.length > MANY ? el("p", {}, `There are ${topics.length.toLocaleString("en")} topics. The picture shows how the values are distributed: how many topics have at least which value. The table has the ${ENDS} highest and the ${ENDS} lowest topics.`) : "");

// A line for each of some lists of values: the value that each share of the topics reaches.
function curve(list, name, more) {
  const order = list.filter((x) => x !== null).sort((a, b) => b - a);
  return Array.from({ length: 101 }, (_, i) => {
    const x = order[Math.min(order.length - 1, Math.floor((i / 100) * order.length))];
    return { share: i / 100, percent: `${i} %`, value: x, shown: value(x), name: short(name, 60), ...more };
  });
}

const figureOf = (label) => el("figure", { class: "picture" }, el("div", { class: "plot", role: "img", "aria-label": `${label}; the table below has the same numbers` }),
  el("details", { class: "numbers" }, el("summary", {}, "The numbers as a table"), box("The numbers")));
const measureSelect = (id, first) => el("select", { id }, measures.map((m, i) => el("option", { value: i, selected: i === first }, m.name)));

// Documents are in the file for these topics: all, or the extreme ones.
const place = (t) => (documents?.kept ? documents.kept.indexOf(t) : t);
const listed = (r, t) => (documents && place(t) >= 0 ? documents.listed[r][place(t)] : null);
const foundOn = (t) => documents.found[place(t)];
const notKept = () => el("p", {}, `This file holds the documents of ${documents.kept.length} of the ${topics.length.toLocaleString("en")} topics: those where a run is highest or lowest, and those where the runs differ most.`);
