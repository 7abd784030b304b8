// A binding as it is answered: without the host, which is its service's.

import type { ComposeFor } from "../compose.ts";

export const composeBindings: ComposeFor = () => (items) => items.map(({ text }) => shownBinding(text));

/** @param text the stored binding as a JSON object */
export function shownBinding(text: string): string {
  // No field of a binding holds free text: this is the field itself, and nothing else. Parsing would be felt where a
  // host has thousands.
  return text.replace(/"host_id":"[^"]*",/, "");
}
