// Visible changed fields of a version: ignores changes that the caller cannot access, in fields whose content depends
// on reach. Uses the resources' own declarations.

import type { Actor } from "../access/actor.ts";
import { ownValue } from "../base/fields.ts";
import type { AnyKind } from "../db/kind.ts";
import type { RecordChange } from "../db/reading/change-log.ts";
import type { Reader } from "../db/reading/reader.ts";
import { RESOURCES } from "../records/resources.ts";
import type { ComposeFor } from "../resources/compose.ts";

/** The required parts of a version. */
type ChangedVersion = Pick<RecordChange, "n" | "sequence" | "changedFields">;

export class ReachedFields {
  private readonly reader: Reader;
  private readonly actor: Actor;

  constructor(reader: Reader, actor: Actor) {
    this.reader = reader;
    this.actor = actor;
  }

  /**
   * Visible changed fields per version of one kind, in order; null for a creation or deletion. After thinning, such a
   * field counts only if the retained states differ.
   */
  of(kind: AnyKind, versions: readonly ChangedVersion[]): Array<readonly string[] | null> {
    const compose =
      this.actor.networkNs === null ? undefined : RESOURCES.find((resource) => resource.kind === kind)?.compose;
    const reachFields = compose?.reachFields;
    if (compose === undefined || reachFields === undefined) return versions.map(({ changedFields }) => changedFields);
    return versions.map(({ n, sequence, changedFields }) => {
      if (changedFields === null || !changedFields.some((field) => Object.hasOwn(reachFields, field)))
        return changedFields;
      const { thinnedHistory: thinnedPast } = this.reader;
      const before = this.record(kind, compose, n, thinnedPast.firstCompleteFrom(sequence - 1));
      const after = this.record(kind, compose, n, thinnedPast.firstCompleteFrom(sequence));
      return changedFields.filter(
        (field) =>
          !Object.hasOwn(reachFields, field) || !Bun.deepEquals(ownValue(before, field), ownValue(after, field)),
      );
    });
  }

  /** The record as visible to the caller as of a transaction. */
  private record(kind: AnyKind, compose: ComposeFor, n: number, sequence: number): Record<string, unknown> {
    const asOf = this.reader.atSequence(sequence);
    const [text = "{}"] = compose(this.reader, this.actor)(this.reader.itemsOf(kind, [n], asOf, this.actor), asOf);
    return JSON.parse(text) as Record<string, unknown>;
  }
}
