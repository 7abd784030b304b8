// Keyboard shortcuts. Each has a description, so that `?` can list those of the current page. Keys with a modifier are
// left to the browser, and letters typed into a field are text.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";

export interface Key {
  /** Value of KeyboardEvent.key: `/`, `ArrowDown`, `t`. */
  readonly key: string;
  /** Description for the list of shortcuts. */
  readonly meaning: string;
  /** @returns false if not applicable; the browser then handles the key */
  readonly press: (event: KeyboardEvent) => unknown;
}

/** Last registered wins: a page's keys take precedence over the frame's. */
const registered = signal<readonly (readonly Key[])[]>([]);

/** All active keys, without duplicates. */
export const keys = computed(() => {
  const byKey = new Map<string, Key>();
  for (const shortcut of registered.value.flat()) byKey.set(shortcut.key, shortcut);
  return [...byKey.values()];
});

/** Registers keys while a component is mounted. A key press calls the handler of the latest render. */
export function useKeys(keySet: readonly Key[]): void {
  const latest = useRef(keySet);
  latest.current = keySet;
  // A layout effect: after painting, the user may already have pressed a key. JSON omits the handlers, so the effect
  // runs again only if the keys or their descriptions change.
  useLayoutEffect(() => {
    const current = keySet.map((shortcut, index) => ({
      ...shortcut,
      press: (event: KeyboardEvent) => latest.current[index]?.press(event),
    }));
    registered.value = [...registered.peek(), current];
    return () => {
      registered.value = registered.peek().filter((set) => set !== current);
    };
  }, [JSON.stringify(keySet)]);
}

/** Adds the console's only key listener. */
export function startKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || isBrowserShortcut(event)) return;
    if (isTyping(event.target) || document.querySelector("dialog[open]") !== null) return;
    for (const keySet of registered.peek().toReversed()) {
      const key = keySet.find((shortcut) => shortcut.key === event.key);
      if (key === undefined || key.press(event) === false) continue;
      event.preventDefault();
      return;
    }
  });
}

/** Whether a key has a modifier other than AltGraph, which `[` requires on many keyboards. */
function isBrowserShortcut(event: KeyboardEvent): boolean {
  if (event.getModifierState("AltGraph")) return false;
  return event.ctrlKey || event.metaKey || event.altKey;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement)
    return true;
  return target instanceof HTMLInputElement && !["checkbox", "radio", "button", "submit"].includes(target.type);
}
