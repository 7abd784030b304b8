// Who said last what a field is: what people changed here since it was brought is theirs.

import { fieldValueOf } from "../base/custom-field-names.ts";
import type { Ledger, ToldVersion } from "./ledger.ts";

export type LastWord =
  /** An import of the same source, a scan, or nobody: the field is as it was where nothing is said of it. */
  | { readonly by: "import" | "scan" | "nobody" }
  | { readonly by: "somebody"; readonly name: string; readonly at: string };

const VERSIONS_AT_ONCE = 100;
/** Further back nobody looks: a value that old is not what somebody has just changed. */
const VERSIONS_MAX = 2_000;

export class ChangesHere {
  private readonly ledger: Ledger;
  private readonly sourceReason: string;

  /** @param sourceReason why all imports of the source write */
  constructor(ledger: Ledger, sourceReason: string) {
    this.ledger = ledger;
    this.sourceReason = sourceReason;
  }

  /** The last word on each of these fields of a record. @param path its list: `/hosts` */
  async lastWords(path: string, id: string, fields: readonly string[]): Promise<ReadonlyMap<string, LastWord>> {
    const words = new Map<string, LastWord>();
    for await (const version of this.versions(path, id)) {
      // A host's history has those of hosts that went into it as well.
      if (version.record.id !== id) continue;
      for (const field of fields) {
        if (words.has(field)) continue;
        if (version.operation === "Created") {
          const isUnsaid = isEmpty(fieldValueOf(version.record, field));
          words.set(field, isUnsaid ? { by: "nobody" } : this.wordOf(version));
        } else if (version.changed_fields.includes(field)) words.set(field, this.wordOf(version));
      }
      if (words.size === fields.length) break;
    }
    for (const field of fields) if (!words.has(field)) words.set(field, { by: "nobody" });
    return words;
  }

  /** Those of these tags that the record had before: somebody has taken them off. */
  async tagsTakenOff(path: string, id: string, tags: readonly string[]): Promise<ReadonlySet<string>> {
    const taken = new Set<string>();
    for await (const { record } of this.versions(path, id)) {
      if (record.id !== id) continue;
      for (const tag of tags) if (Array.isArray(record.tags) && record.tags.includes(tag)) taken.add(tag);
      if (taken.size === tags.length) break;
    }
    return taken;
  }

  private async *versions(path: string, id: string): AsyncGenerator<ToldVersion> {
    for (let offset = 0; offset < VERSIONS_MAX; offset += VERSIONS_AT_ONCE) {
      const versions = await this.ledger.history(path, id, VERSIONS_AT_ONCE, offset);
      yield* versions;
      if (versions.length < VERSIONS_AT_ONCE) return;
    }
  }

  private wordOf({ transaction }: ToldVersion): LastWord {
    const { actor, reason, at } = transaction;
    if (isReasonOf(reason, this.sourceReason)) return { by: "import" };
    if (actor.type === "Discovery") return { by: "scan" };
    return { by: "somebody", name: actor.name ?? actor.type, at };
  }
}

/** Whether a transaction was of an import of a source: of that alone, not of one whose address only begins so. */
export function isReasonOf(reason: string | null | undefined, sourceReason: string): boolean {
  return reason === sourceReason || reason?.startsWith(`${sourceReason}: `) === true;
}

export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}
