// The search of the handbook, in the browser: each word must begin a word of a section or of its headings.
// The index is fetched once, when somebody starts to type.

const SHOWN = 12;
const SNIPPET = 160;

const box = document.querySelector("search");
const input = box.querySelector("input");
const results = box.querySelector("ol");
let index;

box.hidden = false;
input.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    event.preventDefault();
    input.focus();
  } else if (event.key === "Escape" && box.contains(document.activeElement)) {
    input.value = "";
    input.blur();
    void show();
  } else if (event.key === "Enter" && document.activeElement === input) {
    results.querySelector("a")?.click();
  } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    step(event);
  }
});
results.addEventListener("click", (event) => {
  if (event.target.closest("a") === null) return;
  results.replaceChildren();
});

function step(event) {
  const places = [input, ...results.querySelectorAll("a")];
  const place = places.indexOf(document.activeElement);
  if (place === -1 || places.length === 1) return;
  event.preventDefault();
  places[(place + (event.key === "ArrowDown" ? 1 : places.length - 1)) % places.length].focus();
}

async function show() {
  index ??= fetch("/handbook/search.json").then((answer) => answer.json());
  const sections = await index;
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : find(sections, words);
  results.replaceChildren(...found.slice(0, SHOWN).map((section) => item(section, words)));
  if (words.length > 0 && found.length === 0) results.append(element("li", "Nothing found."));
}

function find(sections, words) {
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .map(({ section }) => section);
}

/** 0 unless every word is found; a word in a heading counts more than any number in the text. */
function scoreOf({ page, heading, text }, words) {
  let score = 0;
  for (const word of words) {
    const inHeading = count(heading, word) * 20;
    const inTitle = count(page, word) * (heading === "" ? 30 : 10);
    const inText = Math.min(count(text, word), 9);
    if (inHeading + inTitle + inText === 0) return 0;
    score += inHeading + inTitle + inText;
  }
  return score;
}

function count(text, word) {
  let times = 0;
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(lower[at - 1]) || !/[\p{L}\p{N}]/u.test(word[0])) times += 1;
  }
  return times;
}

function item(section, words) {
  const link = element("a");
  link.href = section.url;
  link.append(
    element("strong", section.heading || section.page),
    element("small", section.heading === "" ? "" : section.page),
  );
  const snippet = element("span");
  snippet.append(...marked(snippetOf(section.text, words), words));
  link.append(snippet);
  const row = element("li");
  row.append(link);
  return row;
}

/** The beginning of the text, or what surrounds the first word that is found further on. */
function snippetOf(text, words) {
  const places = words.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
  const first = Math.max(0, Math.min(...places, text.length) - SNIPPET / 3);
  const start = places.length === 0 || first === 0 ? 0 : text.indexOf(" ", first) + 1;
  const cut = text.slice(start, start + SNIPPET);
  return `${start > 0 ? "… " : ""}${cut}${start + SNIPPET < text.length ? " …" : ""}`;
}

function marked(text, words) {
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const pieces = text.split(new RegExp(`(${escaped.join("|")})`, "i"));
  return pieces.map((piece, place) => (place % 2 === 1 ? element("mark", piece) : piece));
}

function element(name, text = "") {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}
