// Referenced record names at the shown timestamp, requested in batches: one request per kind and render.

import { batch, type Signal, signal } from "@preact/signals";
import { read } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { onChanges } from "../api/live.ts";
import { onResponsesCleared } from "../api/response.ts";
import { apiPath, entryOf, type RecordKind } from "../kinds/kinds.ts";
import { displayName } from "./display-name.ts";

/** Undefined while loading; null for a record that did not exist then or is not accessible. */
type Name = string | null | undefined;

/** Names by timestamp (the URL's `at`) and id; least recently used timestamp first. */
const names = new Map<string | null, Map<string, Signal<Name>>>();
/** Tag colors by timestamp and id. */
const colors = new Map<string | null, Map<string, string>>();
/** Limit of cached timestamps: stepping through time visits many. */
const INSTANTS_MAX = 30;
/** Last known name of each record, shown while the name at the timestamp is loading. */
const lastNames = new Map<string, string | null>();
/** Kinds by id of records with a current name, which can change. */
const presentKinds = new Map<string, RecordKind>();
const pending = new Map<string, { readonly kind: RecordKind; readonly at: string | null; readonly ids: Set<string> }>();
let isFlushQueued = false;
/** Kinds of which a component is loading all current records. */
const loadingLists = new Set<RecordKind>();

/** Name of a record, loaded if unknown; the caller rerenders once it is. @param at as in the URL; null for now */
export function nameOf(kind: RecordKind, id: string, at: string | null): Name {
  const namesById = namesAt(at);
  const existing = namesById.get(id);
  if (existing !== undefined) return existing.value;
  const name = signal<Name>(lastNames.get(id));
  namesById.set(id, name);
  if (at === null) presentKinds.set(id, kind);
  enqueue(kind, id, at);
  return name.value;
}

/** Stores the names of records as they are now, which another component has loaded. */
export function storeNames(kind: RecordKind, records: readonly NamedRecord[]): void {
  const namesById = namesAt(null);
  for (const { id, name } of records) {
    presentKinds.set(id, kind);
    lastNames.set(id, name);
    pending.get(pendingKey(kind, null))?.ids.delete(id);
    const stored = namesById.get(id);
    if (stored === undefined) namesById.set(id, signal<Name>(name));
    else stored.value = name;
  }
}

/**
 * Requests no current names of a kind while a component is loading its whole list, which it then stores.
 * @returns a function that ends this: names that were not in the list are requested
 */
export function awaitNames(kind: RecordKind): () => void {
  loadingLists.add(kind);
  return () => {
    loadingLists.delete(kind);
    queueFlush();
  };
}

function enqueue(kind: RecordKind, id: string, at: string | null): void {
  const key = pendingKey(kind, at);
  const ids = pending.get(key)?.ids ?? new Set();
  pending.set(key, { kind, at, ids: ids.add(id) });
  queueFlush();
}

function pendingKey(kind: RecordKind, at: string | null): string {
  return `${at} ${kind}`;
}

function queueFlush(): void {
  if (!isFlushQueued) queueMicrotask(flush);
  isFlushQueued = true;
}

/** Color of a tag with a known name; undefined while loading. */
export function tagColor(id: string, at: string | null): string | undefined {
  return colors.get(at)?.get(id);
}

onChanges((changes) => {
  // Changes were missed: any current name may be outdated.
  for (const id of changes === null ? presentKinds.keys() : changes.map((change) => change.id)) {
    const kind = presentKinds.get(id);
    if (kind !== undefined) enqueue(kind, id, null);
  }
});

/** Counts sign-outs: responses for a previous user are dropped. */
let session = 0;
onResponsesCleared(() => {
  session += 1;
  for (const cache of [names, colors, lastNames, presentKinds, pending]) cache.clear();
});

function namesAt(at: string | null): Map<string, Signal<Name>> {
  const namesById = names.get(at) ?? new Map<string, Signal<Name>>();
  names.delete(at);
  names.set(at, namesById);
  for (const oldest of names.keys()) {
    if (names.size <= INSTANTS_MAX) break;
    names.delete(oldest);
    colors.delete(oldest);
    if (oldest === null) presentKinds.clear();
  }
  return namesById;
}

function flush(): void {
  isFlushQueued = false;
  for (const [key, { kind, at, ids }] of [...pending]) {
    if (at === null && loadingLists.has(kind)) continue;
    pending.delete(key);
    for (const group of idGroups([...ids])) void load(kind, at, group);
  }
}

async function load(kind: RecordKind, at: string | null, ids: string[]): Promise<void> {
  const startedIn = session;
  const found = await listNames(kind, at, ids).then(
    (records) => new Map(records.map((record) => [record.id, record])),
    // On failure, ids are shown instead; the rest of the page still works.
    () => new Map<string, NamedRecord>(),
  );
  if (startedIn !== session) return;
  const namesById = names.get(at);
  if (namesById !== undefined) {
    const tagColors = colors.get(at) ?? new Map<string, string>();
    for (const { id, color } of found.values()) if (color !== undefined) tagColors.set(id, color);
    if (tagColors.size > 0) colors.set(at, tagColors);
  }
  batch(() => {
    for (const id of ids) {
      const newName = found.get(id)?.name ?? null;
      lastNames.set(id, newName);
      const name = namesById?.get(id);
      if (name !== undefined) name.value = newName;
    }
  });
}

interface NamedRecord {
  readonly id: string;
  readonly name: string;
  /** Only tags have a color. */
  readonly color?: string;
}

async function listNames(kind: RecordKind, at: string | null, ids: string[]): Promise<readonly NamedRecord[]> {
  const query = { ids, limit: IDS_MAX, ...(at === null ? {} : { at }), ...entryOf(kind)?.withoutParts };
  const { data } = await read(apiPath(kind), { query }).load();
  return data.map((record) => ({ ...record, name: displayName(kind, record) }));
}
