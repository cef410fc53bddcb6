// Data, elements and words. Names and texts only ever become text nodes, titles and data.
const data = JSON.parse(document.getElementById("data").textContent);
const figures = JSON.parse(document.getElementById("figures").textContent);
const { runs, topics, measures, groups, values, means } = data;
const $ = (selector, within = document) => within.querySelector(selector);

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

const named = (name) => el("span", { class: "name", title: name }, text(name));
const runName = (r) => named(runs[r].name);
const asked = (t) => (topics[t].query ? el("small", {}, " ", text(topics[t].query)) : null);

// A box of its own for what is wider than the page; it can be scrolled by keyboard.
const box = (label, ...children) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
