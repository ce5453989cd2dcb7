// What the pages do beyond being read: a theme that is remembered, copy buttons, a ledger that filters and sorts.
// Without this file every page is still complete; what it serves is unhidden here.
"use strict";

const THEME = "saccade-theme";

// A page from the file system may be refused its own storage; then the theme lasts for the page.
function remembered() {
  try { return localStorage.getItem(THEME); } catch { return null; }
}
function remember(theme) {
  try { localStorage.setItem(THEME, theme); } catch { /* see above */ }
}

// Before the body is painted, so that a dark page never flashes white.
const chosen = remembered();
if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;

function isDark() {
  const set = document.documentElement.dataset.theme;
  return set ? set === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function newButton(text) {
  return Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: text });
}

function themeToggle(header) {
  const button = newButton("");
  const say = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Use ${isDark() ? "light" : "dark"} colours`);
  };
  button.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    remember(theme);
    say();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  say();
  header.append(button);
}

// Read out by screen readers; on the page from its beginning, or the first words would be missed.
const announcer = Object.assign(document.createElement("p"), { className: "hidden-text", role: "status" });

function announce(text) {
  announcer.textContent = text;
}

async function copyText(source) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    return true;
  } catch {
    // Older browsers, or no permission: select it, so that one key finishes the job.
    const range = document.createRange();
    range.selectNodeContents(source);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    return document.execCommand("copy");
  }
}

function copyButton(place) {
  const button = newButton("Copy");
  button.setAttribute("aria-label", `Copy: ${place.dataset.copy}`);
  place.append(button);
  button.addEventListener("click", async () => {
    const done = await copyText(place.querySelector("code"));
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    announce(done ? "Copied to the clipboard" : "Selected; press Control and C to copy");
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// --- The ledger -------------------------------------------------------------------------------------------------------

const NUMERIC = new Set(["prediction", "measurement", "away", "seconds"]);

// What a cell is sorted by: the claim's whole name, the number it carries, or what it shows.
function cellValue(row, column) {
  const cell = row.cells[column];
  if (column === 0) return decodeURIComponent(cell.querySelector("a").pathname.split("/").pop()).replace(/\.html$/, "");
  const word = cell.querySelector(".chip") ?? cell;
  const text = cell.dataset.value ?? word.textContent.trim();
  return text === "–" ? "" : text;
}

function asNumber(text) {
  return Number.parseFloat(text.replaceAll("\u2212", "-"));
}

// Rows without a value come last whichever way the rest is sorted.
function compare(key, column, direction) {
  return (one, other) => {
    const [a, b] = [cellValue(one, column), cellValue(other, column)];
    if (a === "" || b === "") return (a === "") - (b === "") || inOrder(one, other);
    const difference = NUMERIC.has(key) ? asNumber(a) - asNumber(b) : a.localeCompare(b, "en", { numeric: true });
    return direction * difference || inOrder(one, other);
  };
}

function inOrder(one, other) {
  return Number(one.dataset.order) - Number(other.dataset.order);
}

function sortTable(table, key, direction) {
  const heads = [...table.tHead.rows[0].cells];
  const column = heads.findIndex((head) => head.dataset.key === key);
  const rows = [...table.tBodies[0].rows];
  rows.sort(column < 0 ? inOrder : compare(key, column, direction));
  table.tBodies[0].append(...rows);
  heads.forEach((head, index) => {
    if (index === column) head.setAttribute("aria-sort", direction > 0 ? "ascending" : "descending");
    else head.removeAttribute("aria-sort");
  });
  table.dispatchEvent(new Event("reordered"));
}

// Narrow screens restack the rows, after which some browsers forget that this is a table.
function tabular(table) {
  const roles = [["table", [table]], ["rowgroup", [table.tHead, ...table.tBodies]], ["row", table.rows],
    ["columnheader", table.tHead.rows[0].cells], ["rowheader", table.querySelectorAll("tbody th")], ["cell", table.querySelectorAll("td")]];
  for (const [role, elements] of roles) for (const element of elements) element.setAttribute("role", role);
}

function sortable(table) {
  [...table.tBodies[0].rows].forEach((row, order) => { row.dataset.order = order; });
  for (const head of table.tHead.rows[0].cells) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sorter";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const direction = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      sortTable(table, head.dataset.key, direction);
      announce(`Sorted by ${button.textContent}, ${direction > 0 ? "ascending" : "descending"}`);
    });
  }
}

// Formulas are typeset, but readers type "lambda".
const GREEK = {
  α: "alpha", β: "beta", γ: "gamma", δ: "delta", ε: "epsilon", ζ: "zeta", η: "eta", θ: "theta", κ: "kappa", λ: "lambda", μ: "mu",
  ν: "nu", ξ: "xi", π: "pi", ρ: "rho", σ: "sigma", τ: "tau", φ: "phi", χ: "chi", ψ: "psi", ω: "omega",
};

function searchable(row) {
  const text = `${cellValue(row, 0)} ${row.textContent}`.toLowerCase();
  return text + " " + [...new Set(text)].map((letter) => GREEK[letter] ?? "").join(" ");
}

function matches(row, wanted) {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const text = words.length ? searchable(row) : "";
  return (!wanted.study || row.dataset.study === wanted.study)
    && (!wanted.verdict || row.dataset.verdict.split(" ").includes(wanted.verdict))
    && (!wanted.status || row.dataset.status === wanted.status)
    && (!wanted.reading || row.dataset.reading === wanted.reading)
    && (!wanted.bound || row.dataset.bound === wanted.bound)
    && words.every((word) => text.includes(word));
}

// --- A long ledger is shown page by page ---------------------------------------------------------------------------------

const PAGE = 20;

// Rows that a filter leaves out carry `data-out`; of the others one page is shown. Without scripts, and on paper, all are.
function paged(table) {
  const [back, on, all, says] = [newButton("Previous"), newButton("Next"), newButton("Show all"), document.createElement("span")];
  const pager = document.createElement("nav");
  pager.className = "pager";
  pager.setAttribute("aria-label", "Pages of the ledger");
  says.className = "small";
  pager.append(back, on, says, all);
  table.after(pager);
  let first = 0, size = PAGE;
  const show = () => {
    const kept = [...table.tBodies[0].rows].filter((row) => !("out" in row.dataset));
    first = size === Infinity ? 0 : Math.max(0, Math.min(first, size * Math.floor((kept.length - 1) / size)));
    for (const row of table.tBodies[0].rows) row.hidden = true;
    for (const row of kept.slice(first, first + size)) row.hidden = false;
    const last = Math.min(first + size, kept.length);
    says.textContent = `${kept.length ? first + 1 : 0} to ${last} of ${kept.length}`;
    [back.disabled, on.disabled] = [first === 0, last === kept.length];
    pager.hidden = kept.length <= PAGE;
    all.textContent = size === PAGE ? "Show all" : "Show pages";
  };
  const turn = (by) => { first += by * PAGE; show(); table.scrollIntoView(); announce(`Claims ${says.textContent}`); };
  back.addEventListener("click", () => turn(-1));
  on.addEventListener("click", () => turn(1));
  all.addEventListener("click", () => { [first, size] = [0, size === PAGE ? Infinity : PAGE]; show(); });
  addEventListener("beforeprint", () => { size = Infinity; show(); });
  addEventListener("afterprint", () => { size = PAGE; show(); });
  table.addEventListener("reordered", () => { first = 0; show(); });
  show();
}

function filterable(form, table) {
  const shown = form.querySelector("[data-shown]");
  const nothing = document.querySelector("[data-nothing]");
  const fields = ["study", "verdict", "status", "reading", "bound", "text"];

  const apply = () => {
    const wanted = Object.fromEntries(fields.map((name) => [name, form.elements[name].value.trim()]));
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) {
      if (matches(row, wanted)) delete row.dataset.out;
      else row.dataset.out = "";
    }
    const left = rows.filter((row) => !("out" in row.dataset)).length;
    table.dispatchEvent(new Event("reordered"));
    const all = rows.length === 1 ? "1 claim" : `${rows.length} claims`;
    shown.textContent = left === rows.length ? all : `${left} of ${all}`;
    nothing.hidden = left > 0;
    const asked = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
    if (asked || location.hash.includes("=")) history.replaceState(null, "", `#${asked || "ledger-title"}`);
  };
  // A filtered ledger has an address of its own: index.html#study=single-location&verdict=refuted
  const read = () => {
    if (!location.hash.includes("=")) return;
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const name of fields) form.elements[name].value = asked.get(name) ?? "";
    apply();
    table.closest("section").scrollIntoView();
  };

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.name === "sort") sortTable(table, event.target.value, 1);
    else apply();
  });
  form.addEventListener("reset", () => setTimeout(() => { sortTable(table, "", 1); apply(); }));
  addEventListener("hashchange", read);
  form.hidden = false;
  read();
}

// --- Attention learning to look -----------------------------------------------------------------------------------------

function play(picture) {
  picture.classList.remove("at");
  picture.classList.add("still");
  void picture.getBoundingClientRect();  // so that the animation begins anew
  picture.classList.remove("still");
}

function stepper(place) {
  const [picture, slider, output] = [place.closest("figure").querySelector(".looks"), place.querySelector("input"), place.querySelector("output")];
  const steps = place.dataset.steps.split(";");
  slider.addEventListener("input", () => {
    picture.style.setProperty("--at", slider.value);
    picture.classList.add("at");
    output.textContent = steps[slider.value];
    slider.setAttribute("aria-valuetext", `${place.dataset.unit} ${steps[slider.value]}`);
  });
  place.querySelector("button").addEventListener("click", () => {
    slider.value = slider.max;
    output.textContent = steps.at(-1);
    play(picture);
  });
  place.hidden = false;
}

function playAll(button) {
  button.addEventListener("click", () => document.querySelectorAll(".looks").forEach(play));
  button.hidden = false;
}

// --- Figures one can zoom and point at ---------------------------------------------------------------------------------

const loading = new Map();

// Scripts are loaded when first asked for: most readers never open them, and Plotly is five megabytes when unpacked.
function load(source) {
  if (!loading.has(source)) {
    loading.set(source, new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = done;
      script.onerror = () => failed(new Error(`${source} is missing`));
      document.head.append(script);
    }));
  }
  return loading.get(source);
}

let plotly = null;

// One copy for all figures of a page; a failure is not kept, so that the next press tries again.
function loadPlotly(source) {
  plotly ??= unpackPlotly(source).catch((problem) => { plotly = null; throw problem; });
  return plotly;
}

const LETTERS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
const DIGITS = new Map([...LETTERS].map((letter, digit) => [letter, digit]));

// Base 85: five letters are four bytes; a last group is short, as if "~" stood in for the rest.
function bytesOf(text) {
  const bytes = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let start = 0; start < text.length; start += 5) {
    const group = text.slice(start, start + 5).padEnd(5, "~");
    bytes.setUint32(start / 5 * 4, [...group].reduce((value, letter) => 85 * value + DIGITS.get(letter), 0));
  }
  return bytes.buffer.slice(0, Math.floor(text.length * 4 / 5));
}

// What is packed is gzip in base 85.
function unpacked(text) {
  const bytes = bytesOf(text);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}

async function unpackPlotly(source) {
  await load(source);
  const text = new Blob([await unpacked(window.saccadePlotly).arrayBuffer()], { type: "text/javascript" });
  await load(URL.createObjectURL(text));
}

function inPageColours(layout) {
  const style = getComputedStyle(document.body);
  const grid = isDark() ? "#3a3d42" : "#e4e4e4";
  const made = structuredClone(layout);
  Object.assign(made, { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: style.color, family: style.fontFamily, size: 12 } });
  for (const name of Object.keys(made).filter((key) => /^[xy]axis/.test(key)))
    Object.assign(made[name], { gridcolor: grid, zerolinecolor: grid, linecolor: style.color, showline: true, ticks: "outside" });
  return made;
}

// Black lines of a drawing for paper are invisible on a dark page.
function visible(data) {
  if (!isDark()) return data;
  return JSON.parse(JSON.stringify(data).replaceAll("rgba(0,0,0,1)", "rgba(235,235,235,1)"));
}

async function drawLive(place, plate) {
  await loadPlotly(place.dataset.library);
  await load(place.dataset.source);
  const figure = await unpacked(window.saccadeFigures[place.dataset.live]).json();
  const image = plate.querySelector("img");
  place.hidden = false;
  plate.hidden = true;
  place.style.height = `${Math.max(380, 70 + Math.round(place.clientWidth * image.height / image.width))}px`;
  await Plotly.newPlot(place, visible(figure.data), inPageColours(figure.layout), { responsive: true, displaylogo: false });
}

function liveFigure(button) {
  const figure = button.closest("figure");
  const [place, plate] = [figure.querySelector("[data-live]"), figure.querySelector(".plate")];
  button.hidden = false;
  button.addEventListener("click", async () => {
    const open = button.getAttribute("aria-pressed") === "true";
    try {
      if (open) {
        Plotly.purge(place);
        [place.hidden, plate.hidden] = [true, false];
      } else await drawLive(place, plate);
    } catch (problem) {
      announce(`The interactive figure could not be opened: ${problem.message}`);
      [place.hidden, plate.hidden] = [true, false];
      return;
    }
    button.setAttribute("aria-pressed", String(!open));
    button.textContent = open ? "Interactive" : "Picture";
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.body.append(announcer);
  document.querySelectorAll("header.top").forEach(themeToggle);
  document.querySelectorAll("[data-live-toggle]").forEach(liveFigure);
  document.querySelectorAll("[data-copy]").forEach(copyButton);
  document.querySelectorAll("table.ledger").forEach(tabular);
  document.querySelectorAll("table.ledger").forEach(sortable);
  document.querySelectorAll("table.ledger").forEach(paged);
  document.querySelectorAll(".stepper").forEach(stepper);
  document.querySelectorAll("[data-again-all]").forEach(playAll);
  const form = document.querySelector("[data-filters]");
  if (form) filterable(form, document.getElementById(form.dataset.filters));
});
