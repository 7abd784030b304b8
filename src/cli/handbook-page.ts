// netledger help TOPIC: a handbook page as text for a terminal.

import { handbook } from "../handbook/handbook.ts";
import type { Page, Section } from "../handbook/render.ts";
import { UsageError } from "./config.ts";

const COLUMNS_MAX = 100;
const SIMILAR_MAX = 5;

/** All pages for the overview. */
export function handbookTopics(): readonly Pick<Page, "topic" | "summary">[] {
  return handbook().pages;
}

/**
 * A page by the name of its file.
 * @param terminal null for other outputs: no escape codes, and maximum line width
 * @throws UsageError with similar page names
 */
export function handbookPage(
  topic: string,
  terminal: { readonly columns: number; readonly hasColors: boolean } | null,
): string {
  const { pages } = handbook();
  const page = pages.find((each) => each.topic === topic.toLowerCase());
  if (page === undefined) {
    const similar = similarPages(topic.toLowerCase()).slice(0, SIMILAR_MAX);
    const hint = similar.length === 0 ? "" : `; similar pages: ${similar.join(", ")}`;
    throw new UsageError(`there is no page about ${JSON.stringify(topic.slice(0, 100))}${hint}`);
  }
  // Terminals cannot show images.
  const words = page.markdown.replace(/^!\[[^\]]*\]\([^)]*\)\n+/gm, "");
  const markdown = words.replace(/\[([^[\]]+)\]\(([^)\s]+)\)/g, (_, text: string, link: string) => {
    const to = /^([a-z-]+)\.md/.exec(link)?.[1];
    return to === undefined || to === topic ? text : `${text} (→ ${to})`;
  });
  const colors = terminal?.hasColors ?? false;
  const columns = Math.min(terminal?.columns ?? COLUMNS_MAX, COLUMNS_MAX);
  const text = Bun.markdown.ansi(markdown, { colors, columns }).trim();
  const isLinked = markdown.includes("(→ ");
  return `${colors ? text : spaced(text)}\n${isLinked ? "\n(→ NAME) is another page: netledger help NAME.\n" : ""}`;
}

/** Adds a blank line above each list, and removes the frame of code blocks, so that they can be copied. */
function spaced(text: string): string {
  return text
    .replace(/^\+- ?\S*\n((?:\|.*\n)*?)\+-$/gm, (_, code: string) => code.replace(/^\| ?/gm, "    ").trimEnd())
    .replace(/^(\S.*)\n(?= {2}\* | {3}1\. )/gm, "$1\n\n");
}

/** Names of similar pages: by name, by heading, by content, in this order. */
function similarPages(word: string): string[] {
  const { pages, files } = handbook();
  const index = files["/handbook/search.json"];
  const sections = JSON.parse(index !== undefined && "text" in index ? index.text : "[]") as Section[];
  const topicsWhere = (accepts: (section: Section) => boolean) =>
    sections.filter(accepts).map((section) => section.url.replace(/^\/handbook\/|#.*$/g, ""));
  const contains = (text: string) => word !== "" && text.toLowerCase().includes(word);
  return [
    ...new Set([
      ...pages
        .filter(({ topic, title }) => isSimilar(topic, word) || contains(`${topic} ${title}`))
        .map(({ topic }) => topic),
      ...topicsWhere(({ heading }) => contains(heading)),
      ...topicsWhere(({ text }) => contains(text)),
    ]),
  ];
}

/** Whether the edit distance of two words (Levenshtein) is at most two. */
function isSimilar(a: string, b: string): boolean {
  let distances = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...a].entries()) {
    const next = [row + 1];
    for (const [column, against] of [...b].entries()) {
      const change = (distances[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(change, (distances[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    distances = next;
  }
  return (distances[b.length] ?? 0) <= 2;
}
