// The keys of the console: each says itself what it does, so that `?` shows what there is where one is. A key with a
// modifier is the browser's, and letters are the text of whoever is typing.

import { computed, signal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export interface Key {
  /** As KeyboardEvent.key has it: `/`, `ArrowDown`, `t`. */
  readonly key: string;
  /** What it does, for the list of keys. */
  readonly meaning: string;
  /** @returns false where it has nothing to do here: the browser does what it would have */
  readonly press: (event: KeyboardEvent) => unknown;
}

/** The innermost last: what a page takes, the frame does not get. */
const registered = signal<readonly (readonly Key[])[]>([]);

/** Every key that does something now, each once. */
export const keys = computed(() => {
  const found = new Map<string, Key>();
  for (const each of registered.value.flat()) found.set(each.key, each);
  return [...found.values()];
});

/** Takes keys while a component is there. @param own is the same array from one rendering to the next */
export function useKeys(own: readonly Key[]): void {
  // Not once it is painted: who sees a page may have pressed one.
  useLayoutEffect(() => {
    registered.value = [...registered.peek(), own];
    return () => {
      registered.value = registered.peek().filter((each) => each !== own);
    };
  }, [own]);
}

/** Listens once, for everybody. */
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

/** With a modifier; but `[` takes one on many keyboards. */
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
