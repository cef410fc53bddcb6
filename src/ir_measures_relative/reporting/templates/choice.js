// Which runs are shown, and which are pinned: for the table and all pictures at once.

const pinned = []; // at most this many:
const MOST_PINNED = 3;
const chosenGroups = new Set();
let visible = new Set(runs.keys());
const changed = []; // what is called when the choice has changed

const SHAPES = { circle: "M0-5A5 5 0 1 1 0 5A5 5 0 1 1 0-5", square: "M-4.4-4.4H4.4V4.4H-4.4Z", up: "M0-5.5L5.5 4.4H-5.5Z", diamond: "M0-6L6 0 0 6-6 0Z",
  down: "M0 5.5L5.5-4.4H-5.5Z", cross: "M-2-5.5H2V-2H5.5V2H2V5.5H-2V2H-5.5V-2H-2Z", right: "M5.5 0L-4.4 5.5V-5.5Z" };
const KINDS = Object.values(SHAPES);
// As in the pictures of ``plots``: every seven groups the shapes move on by one.
const look = (group) => (group === undefined ? { colour: groups.length ? "var(--soft)" : "var(--g0)", shape: KINDS[0] } : { colour: `var(--g${group % 7})`, shape: KINDS[(group + Math.floor(group / 7)) % 7] });

function choose() {
  const wanted = $("#filter").value.toLowerCase();
  visible = new Set([...runs.keys()].filter((r) => runs[r].name.toLowerCase().includes(wanted) && (!chosenGroups.size || chosenGroups.has(runs[r].group))));
  for (const row of document.querySelectorAll("#table-of-runs tbody tr")) row.hidden = !visible.has(Number(row.dataset.run));
  $("#shown").textContent = visible.size === runs.length ? `all ${runs.length} runs` : `${visible.size} of ${runs.length} runs`;
  for (const chip of document.querySelectorAll("#groups button")) chip.setAttribute("aria-pressed", chosenGroups.has(Number(chip.dataset.group)));
  changed.forEach((tell) => tell());
}

const pairAddress = (a, b) => `#pair=${runs[a].slug}&with=${runs[b].slug}`;

function showPins() {
  for (const button of document.querySelectorAll("[data-pin]")) {
    const on = pinned.includes(Number(button.dataset.pin));
    button.setAttribute("aria-pressed", on);
    button.disabled = !on && pinned.length === MOST_PINNED;
    button.closest("tr")?.classList.toggle("pinned", on);
  }
  const pairs = pinned.flatMap((a, i) => pinned.slice(i + 1).map((b) => [a, b]));
  const compare = pairs.map(([a, b]) => el("a", { href: pairAddress(a, b), class: "compare" }, pairs.length > 1 ? el("span", {}, "compare ", text(short(runs[a].name, 14)), " and ", text(short(runs[b].name, 14))) : "compare the two"));
  $("#pins").replaceChildren(...pinned.map((r) => el("button", { type: "button", "data-pin": r, class: "pin named", "aria-pressed": "true", title: runs[r].name }, text(short(runs[r].name, 20)), el("span", { class: "unseen" }, " unpin"))), ...compare,
    ...(pinned.length === 1 ? [el("small", {}, "pin another run to compare them")] : []));
  changed.forEach((tell) => tell("pins"));
}

function togglePin(r) {
  if (pinned.includes(r)) pinned.splice(pinned.indexOf(r), 1);
  else if (pinned.length < MOST_PINNED) pinned.push(r);
  showPins();
}

function startChoice() {
  if (runs.length < 2) return;
  $("#groups")?.append(...groups.map((name, g) => el("button", { type: "button", "data-group": g, "aria-pressed": "false", title: name }, mark(look(g)), text(short(name, 24)))));
  document.addEventListener("click", (event) => {
    const chip = event.target.closest("#groups button");
    const pin = event.target.closest("[data-pin]");
    if (chip) {
      const group = Number(chip.dataset.group);
      if (!chosenGroups.delete(group)) chosenGroups.add(group);
      choose();
    } else if (pin) {
      const inBar = $("#pins").contains(pin);
      togglePin(Number(pin.dataset.pin));
      if (inBar) ($("#pins button") ?? $("#filter")).focus(); // the button is gone
    }
  });
  let waits;
  $("#filter").addEventListener("input", () => { clearTimeout(waits); waits = setTimeout(choose, 120); });
  $("#filter").value = "";
  choose();
}

// What stands in a tooltip: of a measure's name on hover and focus, of a point on hover.
function tell(lines, x, y) {
  const tip = $("#tip");
  tip.replaceChildren(...lines.map((line) => el("div", {}, line)));
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 12, innerWidth - box.width - 8))}px`;
  tip.style.top = `${y + 16 + box.height > innerHeight ? Math.max(4, y - box.height - 12) : y + 16}px`;
}
const hush = () => { $("#tip").hidden = true; };
for (const [kind, leave] of [["mouseover", "mouseout"], ["focusin", "focusout"]]) {
  document.addEventListener(kind, (event) => {
    const of = event.target.closest?.("[data-tip]");
    if (!of) return;
    const box = of.getBoundingClientRect();
    tell([of.dataset.tip], box.left, box.bottom - 10);
  });
  document.addEventListener(leave, (event) => { if (event.target.closest?.("[data-tip]")) hush(); });
}
document.addEventListener("keydown", (event) => { if (event.key === "Escape") hush(); });
