// Keyboard shortcuts. Each has a description, so that `?` lists those of the current page. Keys with a modifier belong
// to the browser, and letters typed into a field are text.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  /** Value of KeyboardEvent.key: `/`, `ArrowDown`, `t`. */
  readonly key: string;
  /** Description for the key list. */
  readonly meaning: string;
  /** @returns false if not applicable; the browser then handles the key */
  readonly press: (event: KeyboardEvent) => unknown;
}

/** Innermost last: a page's keys take precedence over the frame's. */
const registered = signal<readonly (readonly Key[])[]>([]);

/** All active keys, each once. */
export const keys = computed(() => {
  const found = new Map<string, Key>();
  for (const each of registered.value.flat()) found.set(each.key, each);
  return [...found.values()];
});

/** Registers keys while a component is mounted. @param own must be the same array on every render */
export function useKeys(own: readonly Key[]): void {
  // A layout effect: after painting, the user may already have pressed a key.
  useLayoutEffect(() => {
    registered.value = [...registered.peek(), own];
    return () => {
      registered.value = registered.peek().filter((each) => each !== own);
    };
  }, [own]);
}

/** Adds the only key listener. */
export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || isOfBrowser(event)) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
    for (const own of registered.peek().toReversed()) {
      const key = own.find((each) => each.key === event.key);
      if (key === undefined || key.press(event) === false) continue;
      event.preventDefault();
      return;
    }
  });
}

/** Keys with a modifier, except AltGraph, which `[` requires on many keyboards. */
function isOfBrowser(event: KeyboardEvent): boolean {
  if (event.getModifierState("AltGraph")) return false;
  return event.ctrlKey || event.metaKey || event.altKey;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type);
}
