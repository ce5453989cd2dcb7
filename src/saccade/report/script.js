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

function themeToggle(button) {
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
  button.hidden = false;
}

function announce(text) {
  const place = document.querySelector("[data-announce]");
  if (place) place.textContent = text;
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

function copyButton(button) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const done = await copyText(document.getElementById(button.dataset.copy));
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    announce(done ? "Copied to the clipboard" : "Selected; press Control and C to copy");
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// --- The ledger -------------------------------------------------------------------------------------------------------

const NUMERIC = new Set(["prediction", "measurement", "away", "seconds"]);

function cellValue(row, column) {
  return row.cells[column].dataset.value ?? "";
}

// Rows without a value come last whichever way the rest is sorted.
function compare(key, column, direction) {
  return (one, other) => {
    const [a, b] = [cellValue(one, column), cellValue(other, column)];
    if (a === "" || b === "") return (a === "") - (b === "") || inOrder(one, other);
    const difference = NUMERIC.has(key) ? Number(a) - Number(b) : a.localeCompare(b, "en", { numeric: true });
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
}

function sortable(table) {
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

function matches(row, wanted) {
  const words = wanted.text.toLowerCase().split(/\s+/).filter(Boolean);
  const text = words.length ? `${cellValue(row, 0)} ${row.textContent}`.toLowerCase() : "";
  return (!wanted.study || row.dataset.study === wanted.study)
    && (!wanted.verdict || row.dataset.verdict.split(" ").includes(wanted.verdict))
    && (!wanted.status || row.dataset.status === wanted.status)
    && words.every((word) => text.includes(word));
}

function filterable(form, table) {
  const shown = form.querySelector("[data-shown]");
  const nothing = document.querySelector("[data-nothing]");
  const fields = ["study", "verdict", "status", "text"];

  const apply = () => {
    const wanted = Object.fromEntries(fields.map((name) => [name, form.elements[name].value.trim()]));
    const rows = [...table.tBodies[0].rows];
    for (const row of rows) row.hidden = !matches(row, wanted);
    const left = rows.filter((row) => !row.hidden).length;
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

async function unpackPlotly(source) {
  await load(source);
  const bytes = Uint8Array.from(atob(window.saccadePlotly), (letter) => letter.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const text = new Blob([await new Response(unpacked).arrayBuffer()], { type: "text/javascript" });
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
  const figure = window.saccadeFigures[place.dataset.live];
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
  document.querySelectorAll("[data-live-toggle]").forEach(liveFigure);
  document.querySelectorAll("[data-theme-toggle]").forEach(themeToggle);
  document.querySelectorAll("[data-copy]").forEach(copyButton);
  document.querySelectorAll("table.ledger").forEach(sortable);
  const form = document.querySelector("[data-filters]");
  if (form) filterable(form, document.getElementById(form.dataset.filters));
});
