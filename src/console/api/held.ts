// State of a page that still shows a previous response, for another timestamp or filter. It is dimmed, so that it is
// not mistaken for the content of the URL.

import { computed, effect, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

/** Whether responses belong to the page rather than to its frame. */
export const OfPage = createContext(false);

const count = signal(0);

/** Whether any response of the page is outdated. */
export const isHeld = computed(() => count.value > 0);

/** Shorter delays need no message. */
const LONG_MS = 700;

/** Whether the delay is long enough for a message. */
export const isHeldLong = signal(false);

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  clearTimeout(timer);
  if (isHeld.value) timer = setTimeout(() => (isHeldLong.value = true), LONG_MS);
  else isHeldLong.value = false;
});

/** Marks the content of a component as outdated. */
export function useHeld(isEarlier: boolean): void {
  const counts = useContext(OfPage) && isEarlier;
  useLayoutEffect(() => {
    if (!counts) return;
    count.value += 1;
    return () => {
      count.value -= 1;
    };
  }, [counts]);
}
