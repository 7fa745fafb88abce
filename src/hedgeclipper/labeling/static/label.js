// One row at a time. Whatever comes from the data is set as text, never as HTML.

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const PHASES = ["start", "choose", "prove", "review", "finished"];
const WHOLE = new Intl.NumberFormat("en-US");
const PERCENT = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 });

// the same after a reload, so that the tab gets the same row again
const tab = sessionStorage.getItem("tab") ?? crypto.randomUUID();
sessionStorage.setItem("tab", tab);

let row = null; // the row that is shown
let writing = false; // whether the last file is still being written
let busy = false;
let timer = 0;

async function ask(what, more = {}) {
  let answer;
  try {
    answer = await fetch(`/${what}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ tab, ...more }),
    });
  } catch {
    throw new Error("The server does not answer, so nothing is confirmed as saved. Is the command still running?");
  }
  const found = await answer.json().catch(() => null);
  if (answer.ok && found) return found;
  const error = new Error(
    found?.error ?? (answer.status === 403
      ? "The server was started again. Open the address that it has printed."
      : `The server failed (${answer.status}). Nothing is confirmed as saved.`),
  );
  error.status = answer.status;
  throw error;
}

// run one request at a time; keys that are pressed meanwhile do nothing
async function turn(action) {
  if (busy) return;
  busy = true;
  document.body.classList.add("busy");
  try {
    await action();
    $("error").hidden = true;
  } catch (error) {
    $("saved").textContent = "";
    complain(error);
    if (error.status === 409) await load().catch(() => {});
  } finally {
    busy = false;
    document.body.classList.remove("busy");
  }
}

function complain(error) {
  $("error").textContent = error.message;
  $("error").hidden = false;
}

async function load() {
  show(await ask("next"));
}

const label = (index) => turn(async () => {
  if (row === null) return;
  const found = await ask("label", { row: row.row, label: index, note: $("note").value });
  $("note").value = ""; // also if the same row comes again
  show(found);
  $("saved").textContent = `Saved: ${found.saved}.`;
});

const undo = () => turn(async () => {
  show(await ask("undo"));
  $("saved").textContent = "Taken back. Label this row again.";
});

const opinion = () => turn(async () => {
  if (row === null) return;
  const found = await ask("opinion", { row: row.row });
  $("opinion-words").textContent = `The model's opinion: ${found.opinion}`;
});

function show(found) {
  const isNew = found.row?.row !== row?.row;
  row = found.row;
  writing = found.writing;
  const isDone = found.done !== null;
  $("row").hidden = row === null;
  $("answer").hidden = false;
  for (const part of document.querySelectorAll("#answer fieldset, #skip, #opinion, .note")) {
    part.hidden = isDone; // the last label can still be taken back
  }
  for (const button of document.querySelectorAll("#classes button, #skip, #opinion")) {
    button.disabled = row === null;
  }
  $("wait").hidden = row !== null || isDone;
  $("done").hidden = !isDone;
  $("done-words").textContent = found.done ?? "";
  schedule(row === null ? 0.5 : 0);
  if (row === null) {
    $("reason").textContent = "";
    $("title").textContent = !isDone ? "One moment"
      : found.undecided ? "Only undecided rows are left" : "The file is finished";
    return;
  }
  $("title").textContent = `Row ${WHOLE.format(row.row + 1)}`;
  $("reason").textContent = row.reason;
  if (!isNew) return;
  $("note").value = "";
  $("opinion-words").textContent = "";
  showRow(row);
  window.scrollTo({ top: 0 });
}

function showRow({ row: number, text, image, cells }) {
  $("text").hidden = text === null;
  $("text").textContent = text ?? "";
  $("picture").hidden = image === null;
  showImage(true);
  if (image === null) $("image").removeAttribute("src");
  else {
    $("image").alt = image;
    $("image").src = `/image/${number}`;
  }
  $("cells").replaceChildren(...cells.map(cell));
}

function showImage(isThere) {
  $("image").hidden = !isThere;
  $("no-image").hidden = isThere;
}

function cell({ name, value, range }) {
  const box = document.createElement("div");
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  const words = document.createElement("div");
  dt.textContent = name;
  words.textContent = value ?? "missing";
  words.classList.add(value === null ? "missing" : "value");
  dd.append(words);
  if (range) dd.append(bar(range));
  box.classList.toggle("long", (value ?? "").length > 60);
  box.append(dt, dd);
  return box;
}

function draw(name, attributes, text) {
  const shape = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) shape.setAttribute(key, value);
  if (text !== undefined) shape.textContent = text;
  return shape;
}

function bar({ at, low, high }) {
  const where = at < low ? "below the usual range" : at > high ? "above the usual range" : "usual";
  const svg = draw("svg", {
    viewBox: "0 0 100 10", preserveAspectRatio: "none", class: "range", role: "img", "aria-label": where,
  });
  svg.append(
    draw("title", {}, where),
    draw("rect", { x: 0, y: 4, width: 100, height: 2, rx: 1, class: "track" }),
    draw("rect", { x: 100 * low, y: 3, width: Math.max(100 * (high - low), 1), height: 4, class: "usual" }),
    draw("rect", { x: Math.min(100 * at, 98.4), y: 0, width: 1.6, height: 10, class: "at" }),
  );
  return svg;
}

function showState(state) {
  const current = PHASES.indexOf(state.phase);
  for (const item of $("phases").children) {
    const phases = item.dataset.phases.split(" ");
    const here = phases.includes(state.phase);
    if (here) item.setAttribute("aria-current", "step");
    else item.removeAttribute("aria-current");
    item.classList.toggle("past", PHASES.indexOf(phases.at(-1)) < current);
  }
  $("labeled").textContent = WHOLE.format(state.n_labeled);
  $("more").textContent = state.phase === "finished" ? "0"
    : state.n_more_labels === null ? "\u2013" : `~${WHOLE.format(state.n_more_labels)}`;
  $("more-words").textContent = state.phase === "finished" ? "more to go"
    : state.n_more_labels === null ? "more: not known yet" : "more labels, roughly";
  $("agreement").hidden = state.agreement === null;
  $("agreement").textContent = `Two people labeled ${WHOLE.format(state.n_second)} rows, and agree on `
    + `${PERCENT.format(state.agreement ?? 0)}.`;
  $("words").textContent = state.words;
  $("fitting").hidden = !state.fitting;
  showFile(state);
  showError(state);
  showPlan(state);
  $("problem").hidden = state.problem === "";
  $("problem").textContent = state.problem;
}

// The progress comes apart from the rows, which never wait for it.
function schedule(seconds) {
  clearTimeout(timer);
  timer = setTimeout(refresh, 1000 * seconds);
}

async function refresh() {
  let seconds = 5;
  try {
    const state = await ask("state");
    showState(state);
    seconds = state.fitting ? 1 : 15;
  } catch (error) {
    if (row === null) complain(error);
  }
  const isWaiting = row === null && ($("done").hidden || writing);
  schedule(isWaiting ? 0.5 : seconds);
  if (isWaiting) turn(load);
}

function showFile({ n_rows, n_labeled, n_needs_no_review }) {
  const sure = n_needs_no_review - n_labeled;
  const parts = { hand: n_labeled, sure, open: n_rows - n_labeled - sure };
  $("file").hidden = false;
  for (const [name, n] of Object.entries(parts)) $(`n-${name}`).textContent = WHOLE.format(n);
  $("stack").replaceChildren(...Object.entries(parts).map(([name, n]) => {
    const part = document.createElement("span");
    part.className = name;
    part.hidden = n === 0;
    part.style.flexGrow = n;
    return part;
  }));
  $("stack").setAttribute("aria-label", `Of ${WHOLE.format(n_rows)} rows ${WHOLE.format(parts.hand)} `
    + `are labeled by hand, ${WHOLE.format(sure)} need no review, ${WHOLE.format(parts.open)} are left.`);
}

function showError({ phase, estimated_error: error, interval, error_upper: proved, max_error: limit }) {
  $("errors").hidden = error === null && proved === null;
  if ($("errors").hidden) return;
  const [low, high] = interval ?? [error, error];
  const words = [];
  if (error !== null) words.push(`${phase === "finished" ? "Estimate" : "If you stopped now"}: about ${PERCENT.format(error)} (${PERCENT.format(low)} to ${PERCENT.format(high)}).`);
  if (proved !== null) words.push(`Proved${phase === "finished" ? "" : ", once the rest is reviewed"}: at most ${PERCENT.format(proved)}.`);
  $("error-words").textContent = words.join(" ");
  const most = Math.max(2 * limit, high ?? 0, proved ?? 0) * 1.05;
  const x = (value) => 4 + (292 * value) / most;
  const shapes = [draw("rect", { x: 4, y: 10, width: 292, height: 8, rx: 4, class: "track" })];
  if (error !== null) {
    shapes.push(
      draw("rect", { x: x(low), y: 10, width: Math.max(x(high) - x(low), 2), height: 8, rx: 4, class: "usual" }),
      draw("circle", { cx: x(error), cy: 14, r: 6, class: "point" }),
    );
  }
  shapes.push(
    draw("line", { x1: x(limit), x2: x(limit), y1: 4, y2: 24, class: "limit" }),
    draw("text", { x: x(limit), y: 39, "text-anchor": "middle" }, `asked for: ${PERCENT.format(limit)}`),
  );
  if (proved !== null) shapes.push(draw("path", { d: `M${x(proved)} 6l8 8l-8 8l-8 -8z`, class: "proved" }));
  $("band").replaceChildren(...shapes);
  $("band").setAttribute("aria-label", `${words.join(" ")} Asked for: ${PERCENT.format(limit)}.`);
}

// labels by hand for each error of the finished file, and the error that is asked for
function showPlan({ plan, n_more_labels: more, max_error: limit }) {
  $("plan").hidden = plan === null;
  if (plan === null) return;
  const [errors, labels] = [plan.max_errors, plan.n_by_hand];
  const most = Math.max(...labels, 1);
  const top = Math.max(...errors);
  const x = (value) => 36 + (252 * value) / most;
  const y = (value) => 118 - (108 * value) / top;
  const line = errors.map((error, k) => `${k ? "L" : "M"}${x(labels[k]).toFixed(1)} ${y(error).toFixed(1)}`);
  const shapes = [
    draw("line", { x1: 36, x2: 288, y1: 118, y2: 118, class: "axis" }),
    draw("line", { x1: 36, x2: 288, y1: y(limit), y2: y(limit), class: "limit" }),
    draw("path", { d: line.join(""), class: "curve" }),
    draw("text", { x: 31, y: y(limit) + 4, "text-anchor": "end" }, PERCENT.format(limit)),
    draw("text", { x: 36, y: 136 }, "0"),
    draw("text", { x: 288, y: 136, "text-anchor": "end" }, `${WHOLE.format(most)} more labels`),
  ];
  const words = `Fewer errors need more labels: at most ${PERCENT.format(limit)} wrong`;
  if (more !== null) {
    const at = x(Math.min(more, most));
    shapes.push(draw("circle", { cx: at, cy: y(limit), r: 5, class: "point" }));
    shapes.push(draw("text", { x: at + 4, y: y(limit) - 9 }, `~${WHOLE.format(more)}`));
  }
  $("curve").replaceChildren(...shapes);
  $("curve").setAttribute("aria-label", more === null ? words : `${words} needs about ${WHOLE.format(more)} more labels.`);
}

function pressed(event) {
  if (event.target === $("note")) {
    if (event.key === "Escape" || event.key === "Enter") {
      event.preventDefault();
      $("note").blur();
    }
    return;
  }
  if (event.repeat && event.target.closest("button")) event.preventDefault(); // Enter held down
  if (event.repeat || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key.toLowerCase();
  const own = { s: () => label(null), u: undo, o: opinion, n: () => $("note").focus() }[key];
  const button = [...$("classes").children].find((one) => one.dataset.keys.split(" ").includes(key));
  if (!own && !button) return;
  event.preventDefault();
  if (own) own();
  else label(Number(button.dataset.index));
}

document.addEventListener("keydown", pressed);
$("answer").addEventListener("submit", (event) => event.preventDefault());
// the second click of a double one was not meant for the row that comes next
const once = (action) => (event) => event.detail < 2 && action();
for (const button of $("classes").children) {
  button.addEventListener("click", once(() => label(Number(button.dataset.index))));
}
$("skip").addEventListener("click", once(() => label(null)));
$("undo").addEventListener("click", once(undo));
$("opinion").addEventListener("click", opinion);
$("image").addEventListener("error", () => showImage(!$("image").hasAttribute("src")));
turn(load);
