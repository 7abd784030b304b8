// Renderer for single versions as changes: operation, transaction, author, and the record at that time. Shared by
// record history, change feed and transactions.

import { type TProperties, type TSchema, Type } from "@sinclair/typebox";
import type { Actor } from "../access/actor.ts";
import { formatInstant } from "../base/instant.ts";
import { pascalCase } from "../base/text.ts";
import type { AnyKind } from "../db/kind.ts";
import { ChangeLog, type LedgerEntry, type RecordChange } from "../db/reading/change-log.ts";
import type { AsOf } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { CHANGE_LOG_RESOURCES, RESOURCES } from "../records/resources.ts";
import { organizationView } from "../resources/organizations/resource.ts";
import { Nullable, OneOf, Timestamp, Uuid } from "../schemas/schemas.ts";
import { ReachedFields } from "./reached-fields.ts";

/** Kinds that change queries accept. */
export const CHANGE_KINDS: readonly AnyKind[] = CHANGE_LOG_RESOURCES.map(({ kind }) => kind);
export const CHANGE_TYPES = CHANGE_KINDS.map((kind) => kind.name);

export const ACTOR_TYPES = ["User", "ApiKey", "Discovery", "System"] as const;
export const OPERATIONS = ["Created", "Updated", "Deleted"] as const;

/** Author and time of a change. */
export const TransactionOfChange = Type.Object(
  {
    sequence: Type.Integer({
      minimum: 1,
      description: "The position in the ledger: strictly increasing, without gaps.",
    }),
    at: Timestamp,
    actor: Type.Object({
      type: OneOf(ACTOR_TYPES),
      id: Nullable(Uuid),
      name: Type.String({ description: "The actor's name at that time, even if the actor has since been deleted." }),
    }),
    request_id: Nullable(Type.String({ description: "X-Request-Id of the request." })),
    reason: Nullable(Type.String({ description: "The reason, from `X-Change-Reason`; null if none was given." })),
  },
  { $id: "TransactionOfChange" },
);

const changeFields = {
  operation: OneOf(OPERATIONS, { description: "Created also covers the restore of a deleted record." }),
  changed_fields: Type.Array(Type.String(), {
    description:
      "The fields that differ from the previous version; empty if the record is new or deleted. A host also lists the kinds of children that changed.",
  }),
  transaction: TransactionOfChange,
};

/** Schema of a version of one kind. @param record the record's own schema */
export function VersionOf(record: TSchema, title: string) {
  return Type.Object({ ...changeFields, record }, { $id: `${title}Version` });
}

/**
 * Schema of a change to a record of any kind. `entity_type` selects the record's schema. Hosts and services come
 * without their children, which are separate changes.
 * @param suffix the schema's name, and the suffix of its variants: `Change`, `HostChange`
 */
export function unionOfKinds(suffix: string, fields: TProperties) {
  const kinds: TSchema[] = CHANGE_LOG_RESOURCES.map(({ kind, responseSchema, schemaWithoutParts = responseSchema }) =>
    Type.Object(
      { entity_type: Type.Literal(kind.name), ...fields, record: schemaWithoutParts },
      { $id: `${pascalCase(kind.name)}${suffix}` },
    ),
  );
  return Type.Union(kinds, { $id: suffix });
}

/** A version of any kind; a deleted record is shown in its last state. */
export const ChangeOfAny = unionOfKinds("Change", changeFields);

export const TRANSACTION_EXAMPLE = {
  sequence: 42,
  at: "2026-11-21T09:15:00.123Z",
  actor: { type: "User", id: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0003", name: "Ada" },
  request_id: "0f3a1c9be2d4-1x",
  reason: "CHG-4711: move the uplink",
};

/** Example version of this record. */
export function versionExample(record: object): object {
  return { operation: "Updated", changed_fields: ["name"], transaction: TRANSACTION_EXAMPLE, record };
}

export const CHANGE_EXAMPLE = { entity_type: "organization", ...versionExample(organizationView.example) };

/** Renders versions for one caller. */
export class ChangeView {
  private readonly reader: Reader;
  private readonly log: ChangeLog;
  private readonly actor: Actor;
  private readonly reached: ReachedFields;

  constructor(reader: Reader, actor: Actor) {
    this.reader = reader;
    this.log = new ChangeLog(reader);
    this.actor = actor;
    this.reached = new ReachedFields(reader, actor);
  }

  /**
   * Each version as a JSON object, in the given order.
   * @param options.withType adds the kind of each
   * @param options.withChildren hosts with their children; null: without the record
   */
  render(changes: readonly RecordChange[], options: { withType: boolean; withChildren: boolean | null }): string[] {
    const entries = this.log.entries(changes.map((change) => change.sequence));
    const records =
      options.withChildren === null ? changes.map(() => "null") : this.records(changes, options.withChildren);
    return changes.map((change, position) => {
      const type = options.withType ? `"entity_type":"${change.kind.name}",` : "";
      const fields = JSON.stringify(this.reached.of(change.kind, [change])[0] ?? []);
      return `{${type}"operation":"${change.operation}","changed_fields":${fields},"transaction":${transactionText(entries.get(change.sequence) as LedgerEntry)},"record":${records[position]}}`;
    });
  }

  /** Splits versions into runs that each render in one step. */
  *lightRuns(changes: readonly RecordChange[]): Generator<readonly RecordChange[]> {
    for (let start = 0; start < changes.length; ) {
      const { kind } = changes[start] as RecordChange;
      let end = start + 1;
      while (changes[end]?.kind === kind) end += 1;
      yield* this.reader.lightRuns(kind, changes.slice(start, end), this.actor, ({ sequence }) => [
        this.reader.atSequence(sequence),
      ]);
      start = end;
    }
  }

  /** Records as of these versions; a deleted one in its last state. */
  private records(changes: readonly RecordChange[], withChildren: boolean): string[] {
    // Groups reads by transaction and kind.
    const groups = new Map<string, { kind: AnyKind; sequence: number; positions: number[] }>();
    const { thinnedHistory: thinnedPast } = this.reader;
    for (const [position, change] of changes.entries()) {
      // In thinned history, composed parts are complete only at a retained transaction.
      const sequence =
        change.operation === "Deleted" ? change.sequence - 1 : thinnedPast.firstCompleteFrom(change.sequence);
      const name = `${sequence} ${change.kind.code}`;
      const group = groups.get(name);
      if (group === undefined) groups.set(name, { kind: change.kind, sequence, positions: [position] });
      else group.positions.push(position);
    }
    const texts: string[] = [];
    for (const { kind, sequence, positions } of groups.values()) {
      const asOf = this.reader.atSequence(sequence);
      const ns = positions.map((position) => (changes[position] as RecordChange).n);
      const items = this.reader.itemsOf(kind, ns, asOf, this.actor);
      const rendered = composedTexts(this.reader, this.actor, kind, items, asOf, withChildren);
      for (const [index, position] of positions.entries()) texts[position] = rendered[index] as string;
    }
    return texts;
  }
}

/** A kind's records as of a transaction, as composed in the change log. */
export function composedTexts(
  reader: Reader,
  actor: Actor,
  kind: AnyKind,
  items: ReturnType<Reader["itemsOf"]>,
  asOf: AsOf,
  withChildren: boolean,
): string[] {
  const resource = RESOURCES.find((each) => each.kind === kind);
  const compose = withChildren ? resource?.compose : (resource?.composeWithoutParts ?? resource?.compose);
  return compose === undefined ? items.map((item) => item.text) : compose(reader, actor)(items, asOf);
}

/** Cached: a transaction appears with every field it changed. */
const texts = new WeakMap<LedgerEntry, string>();

/** Renders TransactionOfChange. */
export function transactionText(entry: LedgerEntry): string {
  let text = texts.get(entry);
  if (text === undefined) {
    text = renderTransaction(entry);
    texts.set(entry, text);
  }
  return text;
}

function renderTransaction(entry: LedgerEntry): string {
  const { sequence, at, actorType, actorId, actorName, requestId, reason } = entry;
  const actor = { type: actorType, id: actorId, name: actorName };
  return JSON.stringify({ sequence, at: formatInstant(at), actor, request_id: requestId, reason });
}
