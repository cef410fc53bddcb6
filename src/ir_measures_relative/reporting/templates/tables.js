// Tables, and their sorting.

// Columns are [title, is a number]; cells are numbers, strings, elements, or [what is shown, what it is sorted by].
function table(columns, rows, caption) {
  const head = columns.map(([title, number]) =>
    el("th", { scope: "col", "aria-sort": "none", class: number && "n" }, el("button", { type: "button" }, title)));
  const body = rows.map((row) => el("tr", {}, row.map((cell, i) => {
    const [node, key] = Array.isArray(cell) ? cell : [cell, cell instanceof Node ? cell.textContent : cell];
    const attributes = { "data-v": key, class: columns[i][1] && "n" };
    return el(i ? "td" : "th", i ? attributes : { scope: "row", ...attributes }, node instanceof Node ? node : shown(node));
  })));
  return el("table", { class: "sortable" }, el("caption", { class: "unseen" }, caption), el("thead", {}, el("tr", {}, head)), el("tbody", {}, body));
}

// Sorting, of every table there is or will be: numbers from the largest, words from the first, and then the other way.
document.addEventListener("click", (event) => {
  const button = event.target.closest("table.sortable thead button");
  if (!button) return;
  const header = button.closest("th");
  const column = [...header.parentNode.children].indexOf(header);
  const number = header.classList.contains("n");
  const before = header.getAttribute("aria-sort");
  const descending = before === "none" ? number : before === "ascending";
  for (const other of header.parentNode.children) other.setAttribute("aria-sort", "none");
  header.setAttribute("aria-sort", descending ? "descending" : "ascending");
  const body = header.closest("table").tBodies[0];
  const key = (row) => row.children[column].dataset.v ?? "";
  const compare = number ? (a, b) => Number(a) - Number(b) : (a, b) => a.localeCompare(b, "en", { numeric: true });
  const rows = [...body.rows].map((row, i) => [key(row), i, row]);
  rows.sort(([a, i], [b, j]) => {
    if (a === "" || b === "") return (a === "") - (b === "") || i - j; // what has no value stays last
    return (descending ? -compare(a, b) : compare(a, b)) || i - j;
  });
  body.append(...rows.map(([, , row]) => row));
});
