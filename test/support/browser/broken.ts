// Effects of hostile names on a page, seen from within: executed markup, elements foreign to the console, overflow, and
// right-to-left text that reorders its neighbors.

import type { Page } from "playwright-core";

interface Broken {
  /** Value set by executed test markup; null if none ran. */
  readonly ran: unknown;
  readonly foreign: number;
  /** Overflow of the page beyond the window, in pixels. */
  readonly beside: number;
  /** Start of the context of each text without bidi isolation. */
  readonly turning: readonly string[];
}

export const UNBROKEN: Broken = { ran: null, foreign: 0, beside: 0, turning: [] };

/** Right-to-left letters, and characters that override, embed or mark a direction (Unicode Standard Annex 9). */
const TURNING = "[\\u0590-\\u08ff\\u200e\\u200f\\u061c\\u202a-\\u202e\\u2066-\\u2069]";

/** @param words that end an isolate without being a sentence about one */
export function brokenOn(page: Page, words: readonly string[] = []): Promise<Broken> {
  return page.evaluate<Broken>(`(() => {
    const styleOf = (element) => getComputedStyle(element);
    const isBlock = (element) => !styleOf(element).display.startsWith("inline") || element.tagName === "text";
    const isIsolated = (element) => /isolate|plaintext/.test(styleOf(element).unicodeBidi);
    // It ends the isolate that the element is, wherever it stands.
    const endsIsolate = (said) => {
      let open = 0;
      for (const sign of said) {
        if (/[\\u2066-\\u2068]/.test(sign)) open += 1;
        else if (sign === "\\u2069" && --open < 0) return true;
      }
      return false;
    };
    const turning = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const said = text.nodeValue.trim();
      // A sentence that names it ends where the name says so.
      if (endsIsolate(said) && !${JSON.stringify(words)}.includes(said)) turning.push(said.slice(0, 80));
      if (!/${TURNING}/u.test(said) || ["OPTION", "SCRIPT", "STYLE", "TITLE"].includes(text.parentElement.tagName)) continue;
      let around = text.parentElement;
      while (!isBlock(around) && (endsIsolate(said) || !isIsolated(around))) around = around.parentElement;
      // What is alone in its block turns nothing but itself; what is within a sentence says so itself, sign by sign.
      if (!isBlock(around) || around.textContent.trim() === said) continue;
      const apart = said.replaceAll(/\\u2068[^\\u2066-\\u2069]*\\u2069/gu, "");
      if (/${TURNING}/u.test(apart)) turning.push(around.tagName + ": " + around.textContent.trim().slice(0, 80));
    }
    return {
      ran: window.broken ?? null,
      foreign: document.querySelectorAll(
        "main :is(script, img, iframe), dialog :is(script, img, iframe), svg [onload], a[href^='javascript:' i]",
      ).length,
      beside: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
      turning,
    };
  })()`);
}
