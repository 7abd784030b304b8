// The markers that the reader can name, as far as they are known here: the time bar asks for them.

import { computed, signal } from "@preact/signals";

/** An instant with a name. */
export interface NamedInstant {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly ms: number;
  /** Null for one of the whole organization. */
  readonly networkId: string | null;
}

/** Undefined until they were asked for. */
export const markers = signal<readonly NamedInstant[] | undefined>(undefined);

/** How many there are of each name; the API asks for the id where there are several. */
const counts = computed(() => {
  const found = new Map<string, number>();
  for (const { name } of markers.value ?? []) found.set(folded(name), (found.get(folded(name)) ?? 0) + 1);
  return found;
});

const PREFIX = "marker:";

/** What an address says for a marker: its name, or its id where others are called the same. */
export function markerAddress({ id, name }: NamedInstant): string {
  return PREFIX + ((counts.value.get(folded(name)) ?? 0) > 1 ? id : name);
}

/** The marker that an address or a person names, by its name or its id; undefined where none is, or where several are. */
export function markerNamed(name: string): NamedInstant | undefined {
  const all = markers.value ?? [];
  const found = all.filter((each) => folded(each.name) === folded(name));
  return found.length > 0 ? (found.length === 1 ? found[0] : undefined) : all.find(({ id }) => id === name);
}

/** The name in `marker:NAME`; null for anything else. */
export function markerNameIn(text: string): string | null {
  return text.toLowerCase().startsWith(PREFIX) ? text.slice(PREFIX.length).trim() : null;
}

function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
