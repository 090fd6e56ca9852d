"use strict";
// Names come from files that anybody may have written: they become text, never HTML.
const data = JSON.parse(document.getElementById("data").textContent);
// A text in the language of the page, with values in its gaps.
const say = (text, ...values) => values.reduce((made, one) => made.replace("{}", () => one), data.words[text] ?? text);
const root = document.documentElement;
const plots = new Map();
let chosen = "all";
let marked = new Set(); // what the search found

// A long path breaks behind a "/", not within a name.
function write(element, text) {
  element.replaceChildren();
  text.split(/(?<=\/)/).forEach((part, place) => element.append(...(place ? [document.createElement("wbr")] : []), part));
}

function make(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// Light and dark: as the system has it, until the button says otherwise.
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);

function showTheme(dark = isDark()) {
  const button = document.getElementById("theme");
  button.hidden = false;
  button.textContent = say(dark ? "Light" : "Dark");
  button.setAttribute("aria-label", say(dark ? "Light colours" : "Dark colours"));
  for (const div of plots.values()) Plotly.relayout(div, { template: data.themes[dark ? "dark" : "light"] });
  if (plots.has("modules")) {
    const plot = plots.get("modules");
    Plotly.restyle(plot, { "marker.colors": [withRoot(plot.data[0].marker.colors, dark)], "outsidetextfont.color": inkOfRoot(dark) });
  }
}

// The outermost sector has the colour of the page's text in front of it, whatever the others have.
const withRoot = (colours, dark = isDark()) => [dark ? "#3a3f48" : "#c8c8c8", ...colours.slice(1)];

const inkOfRoot = (dark = isDark()) => (dark ? "#e8e8e8" : "#1f2328");

document.getElementById("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
prefersDark.addEventListener("change", () => showTheme());

// Tables: a click on a heading sorts, a text filters.
const collator = new Intl.Collator("en", { numeric: true });
const valueOf = (cell) => (cell.dataset.v === undefined ? null : Number(cell.dataset.v));

function compare(one, other, isNumber) {
  if (!isNumber) return collator.compare(one.textContent, other.textContent);
  const [a, b] = [valueOf(one), valueOf(other)];
  return a === null || b === null ? (a === null) - (b === null) : b - a; // what is not known comes last
}

function sortBy(table, place) {
  const heading = table.tHead.rows[0].cells[place];
  const isNumber = heading.classList.contains("n");
  const first = isNumber ? "descending" : "ascending";
  const order = heading.getAttribute("aria-sort") === first ? (isNumber ? "ascending" : "descending") : first;
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  const rows = [...table.tBodies[0].rows].sort((a, b) => compare(a.cells[place], b.cells[place], isNumber));
  if (order !== first) {
    const known = rows.filter((row) => !isNumber || valueOf(row.cells[place]) !== null).reverse();
    rows.splice(0, known.length, ...known);
  }
  table.tBodies[0].append(...rows);
}

function makeSortable(table) {
  [...table.tHead.rows[0].cells].forEach((heading, place) => {
    const button = make("button", heading.textContent, { type: "button" });
    heading.replaceChildren(button);
    button.addEventListener("click", () => sortBy(table, place));
  });
}

function filterRows(table, text, status) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of table.tBodies[0].rows) {
    const content = (row.title + " " + row.textContent).toLowerCase();
    row.hidden = !words.every((word) => content.includes(word));
    shown += !row.hidden;
  }
  status.textContent = words.length ? say("{} of {} rows", shown, table.tBodies[0].rows.length) : "";
}

function makeFilter(grid) {
  const table = grid.querySelector("table");
  const tools = make("div", "", { class: "tools" });
  const field = make("label", say("Filter "));
  const input = make("input", "", { type: "search", autocomplete: "off", spellcheck: "false" });
  const status = make("span", "", { role: "status" });
  input.setAttribute("aria-label", `${say("Filter ").trim()}: ${table.caption.textContent}`);
  input.addEventListener("input", () => filterRows(table, input.value, status));
  field.append(input);
  tools.append(field, status);
  grid.prepend(tools);
}

for (const grid of document.querySelectorAll(".grid")) {
  makeSortable(grid.querySelector("table"));
  if (grid.dataset.rows > 8 && !grid.querySelector("tr[data-id]")) makeFilter(grid);
}

// Modules: the picture, the table of all modules, and what the chosen one costs show the same module.
const icicle = data.figures.modules?.data[0];
const moduleRows = new Map([...document.querySelectorAll("tr[data-id]")].map((row) => [row.dataset.id, row]));
const placeOf = new Map((icicle?.ids ?? []).map((id, place) => [id, place]));
const parentOf = (id) => icicle.parents[placeOf.get(id)] || null;
const nameOf = (id) => moduleRows.get(id).cells[0].textContent;
const holders = new Set(icicle?.parents ?? []);
// A module without others inside is shown in the one around it: alone it would fill the picture.
const levelOf = (id) => (holders.has(id) ? id : parentOf(id) ?? id);

function around(id) {
  const found = [];
  for (let one = id; one; one = parentOf(one)) found.unshift(one);
  return found;
}

function choose(id) {
  if (!moduleRows.has(id)) return;
  for (const row of moduleRows.values()) row.removeAttribute("aria-current");
  chosen = id;
  moduleRows.get(id).setAttribute("aria-current", "true");
  showCrumbs();
  showCosts();
  mark();
}

function showCrumbs() {
  const crumbs = around(chosen).map((id, place) => {
    const button = make("button", nameOf(id), { type: "button", ...(id === chosen ? { "aria-current": "true" } : {}) });
    button.addEventListener("click", () => {
      choose(id);
      document.querySelector("#crumbs [aria-current]").focus();
    });
    return place ? [document.createTextNode("›"), button] : [button];
  });
  document.getElementById("crumbs").replaceChildren(...crumbs.flat());
}

const MOST_COSTS = 200;

function showCosts() {
  const inside = (id) => {
    for (let one = id; one; one = parentOf(one)) if (one === chosen) return true;
    return false;
  };
  const known = new Map([...placeOf.keys()].map((id) => [id, inside(id)]));
  const rows = data.costs.rows.filter((row) => known.get(row[0]));
  const grid = make("div", "", { class: "grid" });
  const scroll = make("div", "", { class: "scroll", tabindex: "0", role: "region", "aria-label": say("What the chosen module costs") });
  const table = make("table", "");
  const cut = rows.length > MOST_COSTS ? say(", the first {} of {} rows", MOST_COSTS, rows.length) : "";
  table.createCaption().textContent = say("{}, with all inside: what ops in modules cost", nameOf(chosen)) + cut;
  const used = data.costs.columns.map((_, place) => rows.some((row) => row[place + 1] !== "-" && row[place + 1] !== ""));
  const heading = table.createTHead().insertRow();
  data.costs.columns.forEach((column, place) => {
    if (!used[place]) return;
    heading.append(make("th", column, { scope: "col", ...(data.costs.numbers.includes(place) ? { class: "n" } : {}) }));
  });
  const body = table.createTBody();
  for (const row of rows.slice(0, MOST_COSTS)) {
    const line = body.insertRow();
    row.slice(1).forEach((value, place) => {
      if (!used[place]) return;
      const cell = line.insertCell();
      write(cell, Array.isArray(value) ? value[0] : value);
      cell.className = data.costs.numbers.includes(place) ? "n" : value.length <= 32 ? "s" : "";
      if (Array.isArray(value)) cell.dataset.v = value[1];
    });
  }
  makeSortable(table);
  scroll.append(table);
  grid.append(scroll);
  if (rows.length > 8) makeFilter(grid);
  document.getElementById("costs").replaceChildren(grid);
}

function moveTo(row) {
  if (!row) return;
  for (const one of moduleRows.values()) one.querySelector("button").tabIndex = -1;
  const button = row.querySelector("button");
  button.tabIndex = 0;
  button.focus();
}

function onKey(event, row) {
  const shown = [...row.parentNode.rows].filter((one) => !one.hidden);
  const place = shown.indexOf(row);
  const moves = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: shown.length - 1 };
  if (event.key in moves) moveTo(shown[moves[event.key]]);
  else return;
  event.preventDefault();
}

function search(text) {
  const wanted = text.trim().toLowerCase();
  const found = new Set();
  for (const [id, row] of moduleRows) {
    const isFound = !wanted || row.cells[0].textContent.toLowerCase().includes(wanted);
    row.hidden = !isFound;
    if (isFound) found.add(id);
  }
  document.getElementById("found").textContent = wanted ? say("{} of {} modules", found.size, moduleRows.size) : "";
  marked = wanted ? found : new Set();
  if (marked.size && ![...marked].every((id) => around(id).includes(levelOf(chosen)))) choose(holding(marked));
  else mark();
}

// The innermost module that holds all of these.
function holding(ids) {
  const [first, ...others] = [...ids].map(around);
  return first.filter((one) => others.every((path) => path.includes(one))).at(-1);
}

// Zooms to the chosen module, and draws a line around what the search found, or around a chosen one that holds no others.
function mark() {
  if (!plots.has("modules")) return;
  const isMarked = (id) => (marked.size ? marked.has(id) : id === chosen && id !== levelOf(id));
  const line = icicle.ids.map((id) => (isMarked(id) ? 3 : 0.5));
  const colour = icicle.ids.map((id) => (isMarked(id) ? "#D55E00" : "#ffffff"));
  const level = levelOf(chosen);
  Plotly.restyle(plots.get("modules"), { level, "marker.line.width": [line], "marker.line.color": [colour] });
}

function chooseColours(buttons) {
  const label = make("label", say("Colour "));
  const select = make("select", "");
  for (const button of buttons) select.append(make("option", button.label.replace(/^[^:：]*[:：] ?/, "")));
  select.addEventListener("change", () => {
    const [traces, layout] = buttons[select.selectedIndex].args;
    const colours = [withRoot(traces["marker.colors"][0])];
    Plotly.update(plots.get("modules"), { ...traces, "marker.colors": colours }, layout);
  });
  label.append(select);
  document.getElementById("colours").append(label);
}

if (icicle) {
  for (const [id, row] of moduleRows) {
    const button = make("button", row.cells[0].textContent, { type: "button", tabindex: id === "all" ? "0" : "-1" });
    row.cells[0].replaceChildren(button);
    button.addEventListener("click", () => choose(id));
    button.addEventListener("keydown", (event) => onKey(event, row));
  }
  const input = document.getElementById("search");
  input.addEventListener("input", () => search(input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== "ArrowDown") return;
    moveTo([...moduleRows.values()].find((row) => !row.hidden));
    event.preventDefault();
  });
  choose("all");
  // Escape goes back to the module around, from anywhere but a field with a text.
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !event.target.value) choose(parentOf(chosen) ?? chosen);
  });
}

// Pictures: the library is unpacked and started; then each figure is drawn.
async function unpack(element) {
  const bytes = Uint8Array.from(atob(element.textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

async function draw(div) {
  const { data: traces, layout, config } = structuredClone(data.figures[div.dataset.figure]);
  const buttons = layout.updatemenus?.[0]?.buttons;
  if (buttons) layout.margin.t = 84; // the menu of notebooks, here a list above the picture
  delete layout.updatemenus;
  if (traces[0].type === "icicle") {
    traces[0].pathbar = { visible: false };
    traces[0].marker.colors = withRoot(traces[0].marker.colors);
    traces[0].outsidetextfont = { color: inkOfRoot() };
  }
  layout.template = data.themes[isDark() ? "dark" : "light"];
  layout.autosize = true;
  div.replaceChildren();
  await Plotly.newPlot(div, traces, layout, { ...config, responsive: true });
  plots.set(div.dataset.figure, div);
  if (div.dataset.figure !== "modules") return;
  if (buttons) chooseColours(buttons);
  div.on("plotly_icicleclick", (event) => {
    const id = event.points[0].id;
    setTimeout(() => choose(id === levelOf(chosen) ? parentOf(id) ?? id : id));
    return false; // the page zooms
  });
  mark();
}

const heightOf = (name) => data.figures[name].layout.height ?? 440;

async function drawAll() {
  const divs = [...document.querySelectorAll("[data-figure]")];
  for (const div of divs) {
    div.style.minHeight = `${heightOf(div.dataset.figure)}px`;
    div.replaceChildren(make("p", say("drawing…"), { class: "waiting" }));
  }
  try {
    document.head.append(make("script", await unpack(document.getElementById("library"))));
    for (const div of divs) await draw(div);
  } catch (error) {
    for (const div of divs.filter((one) => !plots.has(one.dataset.figure))) {
      div.style.minHeight = "";
      div.replaceChildren(make("p", say("Pictures need a browser of 2023 or later. The tables have the same figures."), { class: "waiting" }));
    }
    throw error;
  }
  root.dataset.drawn = "true";
}

// The style sheet makes pictures smaller on paper, so that each fills the width of a page.
const PRINTED = { width: 1130, height: 420 };
addEventListener("beforeprint", () => {
  showTheme(false);
  for (const [name, div] of plots) Plotly.relayout(div, { ...PRINTED, height: Math.min(heightOf(name), PRINTED.height) });
});
addEventListener("afterprint", () => {
  showTheme();
  for (const [name, div] of plots) Plotly.relayout(div, { width: null, height: heightOf(name), autosize: true });
});
showTheme();
drawAll();
