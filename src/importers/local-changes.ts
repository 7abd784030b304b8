// Last author of each field: a field that users have changed since the import is no longer overwritten.

import { fieldValueOf } from "../base/custom-field-names.ts";
import type { HistoryVersion, Ledger } from "./ledger.ts";

export type LastAuthor =
  /** An import of the same source, a scan, or no one: the field has its default. */
  | { readonly by: "import" | "scan" | "nobody" }
  | { readonly by: "somebody"; readonly name: string; readonly at: string };

const PAGE_VERSIONS = 100;
/** Maximum versions read: an older value is not a recent change. */
const VERSIONS_MAX = 2_000;

export class LocalChanges {
  private readonly ledger: Ledger;
  private readonly sourceReason: string;

  /** @param sourceReason change reason of all imports of the source */
  constructor(ledger: Ledger, sourceReason: string) {
    this.ledger = ledger;
    this.sourceReason = sourceReason;
  }

  /** Returns the last author of each of these fields. @param path list of the record: `/hosts` */
  async lastAuthors(path: string, id: string, fields: readonly string[]): Promise<ReadonlyMap<string, LastAuthor>> {
    const authors = new Map<string, LastAuthor>();
    for await (const version of this.versions(path, id)) {
      // A host's history includes the hosts consolidated into it.
      if (version.record.id !== id) continue;
      for (const field of fields) {
        if (authors.has(field)) continue;
        if (version.operation === "Created") {
          const isUnspecified = isEmpty(fieldValueOf(version.record, field));
          authors.set(field, isUnspecified ? { by: "nobody" } : this.authorOf(version));
        } else if (version.changed_fields.includes(field)) authors.set(field, this.authorOf(version));
      }
      if (authors.size === fields.length) break;
    }
    for (const field of fields) if (!authors.has(field)) authors.set(field, { by: "nobody" });
    return authors;
  }

  /** Returns the tags that the record had before and that were removed since. */
  async removedTags(path: string, id: string, tags: readonly string[]): Promise<ReadonlySet<string>> {
    const removed = new Set<string>();
    for await (const { record } of this.versions(path, id)) {
      if (record.id !== id) continue;
      for (const tag of tags) if (Array.isArray(record.tags) && record.tags.includes(tag)) removed.add(tag);
      if (removed.size === tags.length) break;
    }
    return removed;
  }

  private async *versions(path: string, id: string): AsyncGenerator<HistoryVersion> {
    for (let offset = 0; offset < VERSIONS_MAX; offset += PAGE_VERSIONS) {
      const versions = await this.ledger.history(path, id, PAGE_VERSIONS, offset);
      yield* versions;
      if (versions.length < PAGE_VERSIONS) return;
    }
  }

  private authorOf({ transaction }: HistoryVersion): LastAuthor {
    const { actor, reason, at } = transaction;
    if (isReasonOf(reason, this.sourceReason)) return { by: "import" };
    if (actor.type === "Discovery") return { by: "scan" };
    return { by: "somebody", name: actor.name ?? actor.type, at };
  }
}

/** True if a transaction belongs to an import of this source, not of one whose address merely has the same prefix. */
export function isReasonOf(reason: string | null | undefined, sourceReason: string): boolean {
  return reason === sourceReason || reason?.startsWith(`${sourceReason}: `) === true;
}

export function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);
}
