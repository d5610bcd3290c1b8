// The table of parameters: sorted by its heads, filtered by words and by class.

function startParameterTable() {
  const table = document.getElementById("parameter-table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const controls = document.getElementById("parameter-controls");
  const filter = document.getElementById("parameter-filter");
  const count = document.getElementById("parameter-count");
  const select = document.getElementById("parameter-sort");
  const boxes = [...controls.querySelectorAll("[data-kind]")];
  const heads = [...table.tHead.rows[0].cells];
  const words = rows.map((row) => row.textContent.toLowerCase());

  const narrow = () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const hidden = new Set(boxes.filter((box) => !box.checked).map((box) => box.dataset.kind));
    let shown = 0;
    rows.forEach((row, k) => {
      row.hidden = hidden.has(row.dataset.kind) || !wanted.every((word) => words[k].includes(word));
      if (!row.hidden) shown += 1;
    });
    count.textContent = `${shown} of ${rows.length}`;
    document.getElementById("no-parameter").hidden = shown > 0;
  };

  /** Numbers by size, words by alphabet; what has no key comes last either way. */
  const sort = (column, direction) => {
    const keyOf = (row) => row.cells[column].dataset.key;
    const compare = (one, other) => {
      const [a, b] = [keyOf(one), keyOf(other)];
      if (a === "" || b === "") return (a === "") - (b === "");
      const difference = Number(a) - Number(b);
      return direction * (Number.isNaN(difference) ? a.localeCompare(b, "en", { numeric: true }) : difference);
    };
    const listed = (one, other) => one.dataset.place - other.dataset.place;
    body.append(...rows.slice().sort(direction ? (a, b) => compare(a, b) || listed(a, b) : listed));
    heads.forEach((head, k) => {
      const state = { 1: "ascending", "-1": "descending" }[direction];
      if (k === column && state) head.setAttribute("aria-sort", state);
      else head.removeAttribute("aria-sort");
    });
  };

  heads.forEach((head, k) => {
    const button = element("button", { type: "button" }, head.textContent);
    button.addEventListener("click", () => {
      const next = { ascending: -1, descending: 0 }[head.getAttribute("aria-sort")] ?? 1;
      sort(k, next);
    });
    head.replaceChildren(button);
  });
  select.addEventListener("change", () => sort(Number(select.value), select.value === "" ? 0 : 1));
  filter.addEventListener("input", narrow);
  for (const box of boxes) box.addEventListener("change", narrow);
  controls.hidden = false;
  narrow();
}
