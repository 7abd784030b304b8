// Newest markers visible to the user. Loaded by the time bar.

import { computed, signal } from "@preact/signals";

/** Named timestamp. */
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

/** The API requires the id for a duplicate name. */
const markersByName = computed(() => Map.groupBy(markers.value ?? [], ({ name }) => normalized(name)));

const PREFIX = "marker:";

/** Marker as a URL parameter: its name, or its id if the name is not unique. */
export function markerParameter({ id, name }: NamedInstant): string {
  return PREFIX + ((markersByName.value.get(normalized(name)) ?? []).length > 1 ? id : name);
}

/** Marker with this name or id; undefined if unknown or ambiguous. */
export function markerNamed(name: string): NamedInstant | undefined {
  const [match, ...others] = markersByName.value.get(normalized(name)) ?? [];
  if (match === undefined) return markers.value?.find(({ id }) => id === name);
  return others.length === 0 ? match : undefined;
}

/** Name in `marker:NAME`; null for any other text. */
export function markerNameIn(text: string): string | null {
  return text.toLowerCase().startsWith(PREFIX) ? text.slice(PREFIX.length).trim() : null;
}

function normalized(name: string): string {
  return name.normalize("NFC").toLowerCase();
}
