// Whether the page still shows what was asked for before: of another instant, of another filter. It is dimmed then, so
// that nobody takes it for what the address says.

import { computed, effect, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

/** Whether answers belong to the page itself, and not to what stands around it. */
export const OfPage = createContext(false);

const count = signal(0);

/** Whether any answer of the page is one of before. */
export const isHeld = computed(() => count.value > 0);

/** Less is not worth a word. */
const LONG_MS = 700;

/** Whether that has lasted so long that it is said. */
export const isHeldLong = signal(false);

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  clearTimeout(timer);
  if (isHeld.value) timer = setTimeout(() => (isHeldLong.value = true), LONG_MS);
  else isHeldLong.value = false;
});

/** Says of what a component shows that it is from before. */
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
