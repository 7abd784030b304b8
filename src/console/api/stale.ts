// Stale state of a page: true while it still shows, dimmed, the response for another timestamp or filter.

import { computed, effect, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext, useLayoutEffect } from "preact/hooks";

/** Whether responses belong to the page rather than to its frame. */
export const PageContent = createContext(false);

const count = signal(0);

/** Whether any response of the page is outdated. */
export const isStale = computed(() => count.value > 0);

/** Shorter delays need no message. */
const LONG_MS = 700;

/** Whether the delay is long enough for a message. */
export const isStaleLong = signal(false);

let timer: ReturnType<typeof setTimeout> | undefined;
effect(() => {
  clearTimeout(timer);
  if (isStale.value) timer = setTimeout(() => (isStaleLong.value = true), LONG_MS);
  else isStaleLong.value = false;
});

/** Marks the content of a component as outdated. */
export function useStaleMark(isEarlier: boolean): void {
  const isCounted = useContext(PageContent) && isEarlier;
  useLayoutEffect(() => {
    if (!isCounted) return;
    count.value += 1;
    return () => {
      count.value -= 1;
    };
  }, [isCounted]);
}
