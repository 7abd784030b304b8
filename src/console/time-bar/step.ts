// Steps between changes of the page's subject: `[` and `]`.

import { signal } from "@preact/signals";
import { asRefusal, read } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { sentenceOf } from "../components/problem.tsx";
import { at, atMs, showAt } from "../time/at.ts";
import { formatUtc, urlTimestamp } from "../time/instant.ts";
import { activityScope } from "./activity-scope.ts";

/** Result of the last step: no more changes, or an error. */
export const stepNote = signal<string | null>(null);

/** Runs steps one after another, even if keys are pressed faster than responses arrive. */
let steps: Promise<void> = Promise.resolve();

/** @param direction -1 for the previous change, 1 for the next */
export function stepToChange(direction: -1 | 1): void {
  steps = steps.then(() => step(direction)).catch((cause: unknown) => report(asRefusal(cause)));
}

async function step(direction: -1 | 1): Promise<void> {
  stepNote.value = null;
  const ms = atMs.peek();
  if (direction === 1 && at.peek() === null) {
    stepNote.value = "No later changes. Showing now.";
    return;
  }
  const { data } = await read("/api/v1/transactions", {
    query: {
      ...activityScope.peek(),
      limit: 1,
      ...(ms === null ? {} : direction === -1 ? { to: formatUtc(ms) } : { from: formatUtc(ms + 1) }),
      order_direction: direction === -1 ? "desc" : "asc",
    },
  }).load();
  const [change] = data;
  if (change !== undefined) showAt(urlTimestamp(Date.parse(change.at)));
  else if (direction === -1) stepNote.value = "No earlier changes.";
  else {
    showAt(null);
    stepNote.value = "No later changes. Showing now.";
  }
}

function report(problem: Refusal): void {
  stepNote.value = sentenceOf(problem);
}
