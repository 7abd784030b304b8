// Effects of hostile names on a page, as seen by its own script: executed markup, foreign elements, overflow, and
// right-to-left text that reorders adjacent text.

import type { Page } from "playwright-core";

interface PageDamage {
  /** Value set by executed test markup; null if none ran. */
  readonly ran: unknown;
  readonly foreign: number;
  /** Overflow of the page beyond the window, in pixels. */
  readonly overflow: number;
  /** Start of the context of each text without bidi isolation. */
  readonly unisolated: readonly string[];
}

export const UNDAMAGED: PageDamage = { ran: null, foreign: 0, overflow: 0, unisolated: [] };

/** Right-to-left letters, and characters that override, embed or mark a direction (Unicode Standard Annex 9). */
const DIRECTIONAL = "[\\u0590-\\u08ff\\u200e\\u200f\\u061c\\u202a-\\u202e\\u2066-\\u2069]";

/** @param words texts that may end an isolate */
export function damageOn(page: Page, words: readonly string[] = []): Promise<PageDamage> {
  return page.evaluate<PageDamage>(`(() => {
    const styleOf = (element) => getComputedStyle(element);
    const isBlock = (element) => !styleOf(element).display.startsWith("inline") || element.tagName === "text";
    const isIsolated = (element) => /isolate|plaintext/.test(styleOf(element).unicodeBidi);
    // The text ends the isolate formed by its element.
    const endsIsolate = (content) => {
      let open = 0;
      for (const character of content) {
        if (/[\\u2066-\\u2068]/.test(character)) open += 1;
        else if (character === "\\u2069" && --open < 0) return true;
      }
      return false;
    };
    const unisolated = [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const content = text.nodeValue.trim();
      // A name with an unbalanced isolate end affects the sentence around it.
      if (endsIsolate(content) && !${JSON.stringify(words)}.includes(content)) unisolated.push(content.slice(0, 80));
      if (!/${DIRECTIONAL}/u.test(content) || /^(OPTION|SCRIPT|STYLE|TITLE)$/.test(text.parentElement.tagName)) continue;
      let around = text.parentElement;
      while (!isBlock(around) && (endsIsolate(content) || !isIsolated(around))) around = around.parentElement;
      // Text alone in its block reorders only itself; within a sentence it needs isolating characters.
      if (!isBlock(around) || around.textContent.trim() === content) continue;
      const rest = content.replaceAll(/\\u2068[^\\u2066-\\u2069]*\\u2069/gu, "");
      if (/${DIRECTIONAL}/u.test(rest)) unisolated.push(around.tagName + ": " + around.textContent.trim().slice(0, 80));
    }
    return {
      ran: window.broken ?? null,
      foreign: document.querySelectorAll(
        "main :is(script, img, iframe), dialog :is(script, img, iframe), svg [onload], a[href^='javascript:' i]",
      ).length,
      overflow: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
      unisolated,
    };
  })()`);
}
