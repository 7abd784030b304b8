// Names of referenced records at the shown instant. Requests are batched: all names rendered at once take one request
// per kind.

import { batch, type Signal, signal } from "@preact/signals";
import { onForgotten } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { onChanges } from "../api/live.ts";
import { apiPath, entryOf, type RecordKind } from "../kinds/kinds.ts";
import { calledOf } from "./called.ts";

/** Undefined while loading; null for a record that did not exist then or is not accessible. */
type Name = string | null | undefined;

/** By the URL's `at`; least recently used first. */
const names = new Map<string | null, Map<string, Signal<Name>>>();
/** Colors of tags, by instant. */
const colors = new Map<string | null, Map<string, string>>();
/** Stepping through time visits many instants. */
const INSTANTS_MAX = 30;
/** Last known name of each record, shown while the name at the instant is loading. */
const lastNames = new Map<string, string | null>();
/** Kinds of the records named at the present, whose names can change. */
const kindsOfNow = new Map<string, RecordKind>();
const wanted = new Map<string, { readonly kind: RecordKind; readonly at: string | null; readonly ids: Set<string> }>();

/**
 * Name of a record; loaded if unknown, with a later update.
 * @param at as in the address; null for now
 */
export function nameOf(kind: RecordKind, id: string, at: string | null): Name {
  const ofInstant = namesAt(at);
  const known = ofInstant.get(id);
  if (known !== undefined) return known.value;
  const name = signal<Name>(lastNames.get(id));
  ofInstant.set(id, name);
  if (at === null) kindsOfNow.set(id, kind);
  want(kind, id, at);
  return name.value;
}

function want(kind: RecordKind, id: string, at: string | null): void {
  const together = `${at} ${kind}`;
  if (wanted.size === 0) queueMicrotask(ask);
  const ids = wanted.get(together)?.ids ?? new Set();
  wanted.set(together, { kind, at, ids: ids.add(id) });
}

/** Color of a tag with a known name; undefined while loading. */
export function tagColor(id: string, at: string | null): string | undefined {
  return colors.get(at)?.get(id);
}

onChanges((changes) => {
  // Changes were missed: any current name may be outdated.
  for (const id of changes === null ? kindsOfNow.keys() : changes.map((change) => change.id)) {
    const kind = kindsOfNow.get(id);
    if (kind !== undefined) want(kind, id, null);
  }
});

/** Counts sign-outs: responses for a previous user are dropped. */
let turn = 0;
onForgotten(() => {
  turn += 1;
  for (const each of [names, colors, lastNames, kindsOfNow, wanted]) each.clear();
});

function namesAt(at: string | null): Map<string, Signal<Name>> {
  const ofInstant = names.get(at) ?? new Map<string, Signal<Name>>();
  names.delete(at);
  names.set(at, ofInstant);
  for (const oldest of names.keys()) {
    if (names.size <= INSTANTS_MAX) break;
    names.delete(oldest);
    colors.delete(oldest);
    if (oldest === null) kindsOfNow.clear();
  }
  return ofInstant;
}

function ask(): void {
  const batches = [...wanted.values()];
  wanted.clear();
  for (const { kind, at, ids } of batches) for (const group of idGroups([...ids])) void fill(kind, at, group);
}

async function fill(kind: RecordKind, at: string | null, ids: string[]): Promise<void> {
  const asked = turn;
  const found = await listNames(kind, at, ids).then(
    (told) => new Map(told.map((each) => [each.id, each])),
    // On failure the ids are shown; the rest of the page still works.
    () => new Map<string, NamedRecord>(),
  );
  if (asked !== turn) return;
  const ofInstant = names.get(at);
  if (ofInstant !== undefined) {
    const ofTags = colors.get(at) ?? new Map<string, string>();
    for (const { id, color } of found.values()) if (color !== undefined) ofTags.set(id, color);
    if (ofTags.size > 0) colors.set(at, ofTags);
  }
  batch(() => {
    for (const id of ids) {
      const own = found.get(id)?.name ?? null;
      lastNames.set(id, own);
      const name = ofInstant?.get(id);
      if (name !== undefined) name.value = own;
    }
  });
}

interface NamedRecord {
  readonly id: string;
  readonly name: string;
  /** Tags only. */
  readonly color?: string;
}

async function listNames(kind: RecordKind, at: string | null, ids: string[]): Promise<readonly NamedRecord[]> {
  const query = { ids, limit: IDS_MAX, ...(at === null ? {} : { at }), ...entryOf(kind)?.alone };
  const { data } = await read(apiPath(kind), { query }).load();
  return data.map((record) => ({ ...record, name: calledOf(kind, record) }));
}
