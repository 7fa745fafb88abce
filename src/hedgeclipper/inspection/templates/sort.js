"use strict";
// A click on the head of a column sorts its table: numbers largest first, text from A, then back.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const valueOf = (row, column) => row.cells[column].dataset.value;
  heads.forEach((head, column) => {
    head.querySelector("button").addEventListener("click", () => {
      const rows = [...table.tBodies[0].rows];
      const areNumbers = rows.every((row) => row.cells[column].className === "number");
      const first = areNumbers ? "descending" : "ascending";
      const second = areNumbers ? "ascending" : "descending";
      const order = head.getAttribute("aria-sort") === first ? second : first;
      const compare = areNumbers
        ? (a, b) => toNumber(valueOf(a, column)) - toNumber(valueOf(b, column))
        : (a, b) => valueOf(a, column).localeCompare(valueOf(b, column), undefined, { numeric: true });
      const direction = order === "ascending" ? 1 : -1;
      rows.sort((a, b) => direction * compare(a, b));
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", order);
      table.tBodies[0].append(...rows);
    });
  });
}
// what is not known is marked by the least number there is
function toNumber(text) {
  return text === "-inf" ? -Number.MAX_VALUE : Number(text);
}
