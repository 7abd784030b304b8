// Newest markers readable by the user. Loaded by the time bar.

import { computed, signal } from "@preact/signals";

/** Named instant. */
export interface NamedInstant {
  readonly id: string;
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly ms: number;
  /** Null for an organization-wide marker. */
  readonly networkId: string | null;
}

/** Undefined until loaded. */
export const markers = signal<readonly NamedInstant[] | undefined>(undefined);

/** Number of markers per name. The API requires the id for a duplicate name. */
const counts = computed(() => {
  const found = new Map<string, number>();
  for (const { name } of markers.value ?? []) found.set(folded(name), (found.get(folded(name)) ?? 0) + 1);
  return found;
});

const PREFIX = "marker:";

/** Name of a marker in the address, or its id where the name is not unique. */
export function markerAddress({ id, name }: NamedInstant): string {
  return PREFIX + ((counts.value.get(folded(name)) ?? 0) > 1 ? id : name);
}

/** Marker with this name or id; undefined if unknown or ambiguous. */
export function markerNamed(name: string): NamedInstant | undefined {
  const all = markers.value ?? [];
  const found = all.filter((each) => folded(each.name) === folded(name));
  return found.length > 0 ? (found.length === 1 ? found[0] : undefined) : all.find(({ id }) => id === name);
}

/** Name in `marker:NAME`; null for any other text. */
export function markerNameIn(text: string): string | null {
  return text.toLowerCase().startsWith(PREFIX) ? text.slice(PREFIX.length).trim() : null;
}

function folded(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
