// What a page must be for a reader without eyes, mouse or good contrast: each check lists its faults.
const paint = Object.assign(document.createElement("canvas"), { width: 1, height: 1 })
  .getContext("2d", { willReadFrequently: true });
const channels = (colour) => {
  paint.clearRect(0, 0, 1, 1);
  paint.fillStyle = colour;
  paint.fillRect(0, 0, 1, 1);
  return [...paint.getImageData(0, 0, 1, 1).data];
};
const light = (colour) => channels(colour).slice(0, 3).map((value) => value / 255)
  .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);

// The element itself and all that it stands in, through every shadow tree.
const up = (e) => e.parentElement ?? (e.getRootNode() instanceof ShadowRoot ? e.getRootNode().host : null);
const within = (e, test) => { for (; e; e = up(e)) if (test(e)) return e; return null; };
const ground = (e) => {
  const opaque = within(e, (one) => channels(getComputedStyle(one).backgroundColor)[3] === 255);
  return opaque ? getComputedStyle(opaque).backgroundColor : "white";
};

// The contrast of an element's text to what is painted behind it.
function contrast(element) {
  const style = getComputedStyle(element);
  const [a, b] = [light(element.closest("svg") ? style.fill : style.color), light(ground(element))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

// Every visible text of a page: WCAG 2 AA asks 4.5, or 3 for large text.
function poorContrast() {
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim(), element = walker.currentNode.parentElement;
    if (!text || !element.checkVisibility() || element.closest("option")) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = contrast(element);
    if (ratio < (large ? 3 : 4.5)) poor.push([text.slice(0, 40), ratio.toFixed(2)]);
  }
  return poor;
}

function headingFaults(headings) {
  const levels = headings.map((heading) => Number(heading.tagName[1]));
  const faults = levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1)
    .map(() => `heading jumps: ${levels}`);
  return levels.filter((level) => level === 1).length === 1 ? faults : [...faults, `headings: ${levels}`];
}

// Controls, pictures and regions without a name, headings that jump, a page without exactly one main.
function nameless() {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const label = (e) => document.getElementById(e.getAttribute("aria-labelledby"));
  const named = (e) => (e.getAttribute("aria-label") || e.textContent || "").trim()
    || e.querySelector("img")?.alt || e.labels?.length || label(e)?.textContent.trim();
  const said = (fault, elements) => elements.map((e) => `${fault}: ${e.outerHTML.slice(0, 80)}`);
  const faults = [
    ...said("no name", all("a, button, select, input, [role=region], [role=img], nav").filter((e) => !named(e))),
    ...said("no alternative text", all("img").filter((e) => !e.alt)),
    ...said("dangling label", all("[aria-labelledby]").filter((e) => !label(e))),
    ...said("no scope", all("th").filter((e) => !e.scope)),
    ...headingFaults(all("h1, h2, h3")),
  ];
  if (all("main").length !== 1) faults.push("main");
  if (!document.documentElement.lang || !document.title) faults.push("language or title");
  return faults;
}

// What we write into a notebook, looked for through every shadow tree.
function notebookFaults() {
  const all = function* (root) {
    for (const element of root.querySelectorAll("*")) {
      yield element;
      if (element.shadowRoot) yield* all(element.shadowRoot);
    }
  };
  const elements = [...all(document)];
  const matching = (selector) => elements.filter((e) => e.matches(selector));
  const labels = (e) => (e.getAttribute("aria-labelledby") ?? "").split(" ")
    .map((id) => e.getRootNode().getElementById(id)?.textContent ?? "").join("");
  const name = (e) => e.getAttribute("aria-label")
    || [...(e.labels ?? [])].map((label) => label.textContent).join(" ") || labels(e);
  const inFigure = (e) => within(e, (one) => one.getAttribute("role") === "figure" && one.getAttribute("aria-label"));
  const said = matching("h1, h2, p, strong, em, label").filter((e) => e.textContent.trim() && e.checkVisibility());
  const faults = [
    ...matching("[role=slider], textarea").filter((e) => !name(e).trim()).map((e) => `no name: ${e.outerHTML.slice(0, 90)}`),
    ...matching(".js-plotly-plot").filter((e) => !inFigure(e)).map(() => "a picture without words"),
    ...headingFaults(matching("h1, h2, h3")),
    ...said.filter((e) => contrast(e) < 4.5)
      .map((e) => `contrast ${contrast(e).toFixed(2)}: ${e.textContent.trim().slice(0, 40)}`),
  ];
  if (!document.title.startsWith("saccade") || !document.documentElement.lang) faults.push("title or language");
  return said.length ? faults : ["nothing is said"];
}

// The role of what has the focus.
function focusedRole() {
  let element = document.activeElement;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element?.getAttribute("role") ?? "";
}
