// The names of records that answers refer to by id, as they were at the instant that is shown. Asked for together: all
// that a page draws at once is one request for each kind.

import { batch, type Signal, signal } from "@preact/signals";
import { onForgotten } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { IDS_MAX, idGroups } from "../api/ids.ts";
import { onChanges } from "../api/live.ts";
import { apiPath, entryOf, type RecordKind } from "../kinds/kinds.ts";
import { calledOf } from "./called.ts";

/** Undefined while it is not known; null where there is no such record then, or not within reach. */
type Name = string | null | undefined;

/** By instant, as the address has it; what was looked at last comes last. */
const names = new Map<string | null, Map<string, Signal<Name>>>();
/** Of tags, by the same instants. */
const colors = new Map<string | null, Map<string, string>>();
/** Whoever moves through time looks at many. */
const INSTANTS_MAX = 30;
/** What each was called when it was last named: shown until it is known what it was called at the instant. */
const lastNames = new Map<string, string | null>();
/** Of what is named as it is now, which can change. */
const kindsOfNow = new Map<string, RecordKind>();
const wanted = new Map<string, { readonly kind: RecordKind; readonly at: string | null; readonly ids: Set<string> }>();

/**
 * The name of a record, which comes in later where it is not known yet.
 * @param at as the address has it; null for now
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

/** The color of a tag whose name is known; undefined while it is not. */
export function tagColor(id: string, at: string | null): string | undefined {
  return colors.get(at)?.get(id);
}

onChanges((changes) => {
  // What was missed is not known: all that is named now may be called otherwise.
  for (const id of changes === null ? kindsOfNow.keys() : changes.map((change) => change.id)) {
    const kind = kindsOfNow.get(id);
    if (kind !== undefined) want(kind, id, null);
  }
});

/** Counts who has left: what was asked for one of them is nothing to the next. */
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
    // They stay ids: what the page shows is more than its names.
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
  /** Of a tag. */
  readonly color?: string;
}

async function listNames(kind: RecordKind, at: string | null, ids: string[]): Promise<readonly NamedRecord[]> {
  const query = { ids, limit: IDS_MAX, ...(at === null ? {} : { at }), ...entryOf(kind)?.alone };
  const { data } = await read(apiPath(kind), { query }).load();
  return data.map((record) => ({ ...record, name: calledOf(kind, record) }));
}
