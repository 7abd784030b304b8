// netledger help TOPIC: a handbook page as text for a terminal.

import { handbook } from "../handbook/handbook.ts";
import type { Page, Section } from "../handbook/render.ts";
import { UsageError } from "./config.ts";

const COLUMNS_MAX = 100;
const NEAR_MAX = 5;

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
    const near = nearPages(topic.toLowerCase()).slice(0, NEAR_MAX);
    const hint = near.length === 0 ? "" : `; near it: ${near.join(", ")}`;
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
  return `${colors ? text : airy(text)}\n${isLinked ? "\n(→ NAME) is another page: netledger help NAME.\n" : ""}`;
}

/** Adds a blank line above each list, and removes the frame of code blocks, so that they can be copied. */
function airy(text: string): string {
  return text
    .replace(/^\+- ?\S*\n((?:\|.*\n)*?)\+-$/gm, (_, code: string) => code.replace(/^\| ?/gm, "    ").trimEnd())
    .replace(/^(\S.*)\n(?= {2}\* | {3}1\. )/gm, "$1\n\n");
}

/** Names of similar pages: by name, by heading, by content, in this order. */
function nearPages(word: string): string[] {
  const { pages, files } = handbook();
  const index = files["/handbook/search.json"];
  const sections = JSON.parse(index !== undefined && "text" in index ? index.text : "[]") as Section[];
  const topicsWhere = (holds: (section: Section) => boolean) =>
    sections.filter(holds).map((section) => section.url.replace(/^\/handbook\/|#.*$/g, ""));
  const has = (text: string) => word !== "" && text.toLowerCase().includes(word);
  return [
    ...new Set([
      ...pages.filter(({ topic, title }) => isAlike(topic, word) || has(`${topic} ${title}`)).map(({ topic }) => topic),
      ...topicsWhere(({ heading }) => has(heading)),
      ...topicsWhere(({ text }) => has(text)),
    ]),
  ];
}

/** Whether the edit distance of two words (Levenshtein) is at most two. */
function isAlike(one: string, other: string): boolean {
  let distances = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of [...one].entries()) {
    const next = [row + 1];
    for (const [column, against] of [...other].entries()) {
      const change = (distances[column] ?? 0) + (letter === against ? 0 : 1);
      next.push(Math.min(change, (distances[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    distances = next;
  }
  return (distances[other.length] ?? 0) <= 2;
}
