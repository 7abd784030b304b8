// Build-time macro that renders the handbook: HTML pages, search index, style and script; only its result is bundled.
// Must not be imported without `with { type: "macro" }`: the Markdown is not available at run time.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";

/** The page that lists all others in order; each list item contains the title and the summary of a page. */
const CONTENTS = "contents";

/** Colors and dimensions of the console, for a common look. */
const TOKENS = "../console/styles/tokens.css";

/**
 * Screenshots of the demo, made by `scripts/pictures`, at two pixels per unit; pages reserve this space before they
 * load.
 */
const PICTURES = "pictures";
const PICTURE = { width: 1280, height: 800 };

/** A page for the command line. */
export interface Page {
  /** Name used to request it: the name of its file. */
  readonly topic: string;
  readonly title: string;
  readonly summary: string;
  readonly markdown: string;
}

/** A heading with its text, unformatted. */
export interface Section {
  /** With the anchor: `/handbook/time#pages`. */
  readonly url: string;
  readonly page: string;
  /** Empty for text above the first heading of a page. */
  readonly heading: string;
  readonly text: string;
}

/** Content of a path: text, or bytes in base64. */
export type HandbookFile = { readonly type: string } & ({ readonly text: string } | { readonly base64: string });

/** All embedded content; files by their paths. */
export interface Handbook {
  readonly pages: readonly Page[];
  readonly files: Readonly<Record<string, HandbookFile>>;
}

/** Source files of the handbook, by paths relative to this directory. */
export interface HandbookSources {
  readonly read: (name: string) => string;
  /** In base64. */
  readonly readBytes: (name: string) => string;
  readonly pictures: readonly string[];
}

/** All paths of the handbook and its content: JSON of Handbook, Brotli-compressed, in base64. */
export function renderHandbook(): { paths: string[]; packed: string } {
  const pathTo = (name: string) => join(import.meta.dir, name);
  const handbook = buildHandbook({
    read: (name) => readFileSync(pathTo(name), "utf8"),
    readBytes: (name) => readFileSync(pathTo(name), "base64"),
    pictures: readdirSync(pathTo(PICTURES)).sort(),
  });
  // Every run from source evaluates this macro: the highest level would take two seconds to save 4 % of the size.
  const params = { [constants.BROTLI_PARAM_QUALITY]: 6 };
  const packed = brotliCompressSync(JSON.stringify(handbook), { params }).toString("base64");
  return { paths: Object.keys(handbook.files), packed };
}

export function buildHandbook({ read, readBytes, pictures }: HandbookSources): Handbook {
  const contents = read(`${CONTENTS}.md`);
  const pages = [...contents.matchAll(/^- \[(.+?)\]\(([a-z-]+)\.md\): (.+)$/gm)].map(
    ([, title = "", topic = "", summary = ""]): Page => ({ title, topic, summary, markdown: read(`${topic}.md`) }),
  );
  const html = "text/html; charset=utf-8";
  return {
    pages,
    files: {
      "/handbook": { type: html, text: document(pages, null, contents) },
      ...Object.fromEntries(
        pages.map((page) => [urlOf(page), { type: html, text: document(pages, page, page.markdown) }]),
      ),
      "/handbook/search.json": { type: "application/json", text: JSON.stringify(pages.flatMap(sectionsOf)) },
      "/handbook/search.js": { type: "text/javascript; charset=utf-8", text: read("search.js") },
      "/handbook/handbook.css": { type: "text/css; charset=utf-8", text: read(TOKENS) + read("handbook.css") },
      ...Object.fromEntries(
        pictures.map((name) => [
          `/handbook/${PICTURES}/${name}`,
          { type: "image/webp", base64: readBytes(`${PICTURES}/${name}`) },
        ]),
      ),
    },
  };
}

const urlOf = (page: Page) => `/handbook/${page.topic}`;

/** @param page null for the contents */
function document(pages: readonly Page[], page: Page | null, markdown: string): string {
  const body = Bun.markdown
    .html(markdown, { headings: true, noHtmlBlocks: true, noHtmlSpans: true })
    .replace(/href="([a-z-]+)\.md(#[^"]*)?"/g, (_, topic: string, anchor = "") => {
      return `href="/handbook${topic === CONTENTS ? "" : `/${topic}`}${anchor}"`;
    })
    .replace(
      new RegExp(`<img src="(?=${PICTURES}/)`, "g"),
      `<img width="${PICTURE.width}" height="${PICTURE.height}" loading="lazy" src="/handbook/`,
    )
    .replaceAll("<table>", '<div class="table" tabindex="0"><table>')
    .replaceAll("</table>", "</table></div>")
    .replaceAll("<pre>", '<pre tabindex="0">');
  const index = page === null ? -1 : pages.indexOf(page);
  const neighbor = (other: Page | undefined, rel: string) =>
    page === null || other === undefined ? "" : `<a rel="${rel}" href="${urlOf(other)}">${escapeHtml(other.title)}</a>`;
  const entry = (each: Page) =>
    `<li><a href="${urlOf(each)}"${each === page ? ' aria-current="page"' : ""}>${escapeHtml(each.title)}</a>${
      each === page ? chapterLinks(body) : ""
    }</li>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page === null ? "netledger handbook" : `${escapeHtml(page.title)} · netledger handbook`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/handbook/handbook.css">
<script src="/handbook/search.js" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="/">netledger</a>
<search hidden><input type="search" placeholder="Search the handbook: /" aria-label="Search the handbook" autocomplete="off"
 aria-controls="results"><ol id="results" aria-live="polite"></ol></search>
<nav class="places" aria-label="netledger">
<a href="/">Console</a>
<a href="/handbook" aria-current="${page === null ? "page" : "true"}">Handbook</a>
<a href="/docs">API reference</a>
<a href="#pages" class="to-pages">Pages</a>
</nav>
</header>
<main id="content" tabindex="-1">
${body}<nav class="neighbors" aria-label="Next and previous page">${neighbor(pages[index - 1], "prev")}${neighbor(pages[index + 1], "next")}</nav>
</main>
<nav id="pages" aria-label="Pages">
<ol>
${pages.map(entry).join("\n")}
</ol>
</nav>
</body>
</html>
`;
}

/** Second-level headings of a page, as a list of links. */
function chapterLinks(body: string): string {
  const items = [...body.matchAll(/<h2 id="([^"]+)"><a[^>]*>(.*?)<\/a><\/h2>/g)].map(
    ([, id, heading]) => `<li><a href="#${id}">${heading}</a></li>`,
  );
  return items.length === 0 ? "" : `<ol>${items.join("")}</ol>`;
}

/** Sections in page order. */
export function sectionsOf(page: Page): Section[] {
  const line = (text: string) => `${text}\n`;
  const text = Bun.markdown.render(
    page.markdown,
    {
      heading: (heading, { level, id }) => (level === 1 ? "" : `\0${id}\0${heading}\0`),
      paragraph: line,
      listItem: line,
      td: line,
      th: line,
      code: line,
    },
    { headings: { ids: true }, noHtmlBlocks: true, noHtmlSpans: true },
  );
  const [lead = "", ...rest] = text.split("\0");
  const section = (anchor: string, heading: string, words: string): Section => ({
    url: `${urlOf(page)}${anchor}`,
    page: page.title,
    heading,
    text: words.replace(/\s+/g, " ").trim(),
  });
  const sections = [section("", "", lead)];
  for (let index = 0; index < rest.length; index += 3)
    sections.push(section(`#${rest[index]}`, rest[index + 1] ?? "", rest[index + 2] ?? ""));
  return sections;
}

const escapeHtml = (text: string) => Bun.escapeHTML(text);
