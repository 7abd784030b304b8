// Record names for a table's references, as of the table's point in time: looked up in batches, limited to records the
// caller can access. Independent of tables; name-columns.ts determines the ids.

import { ownValue } from "../base/fields.ts";
import { append } from "../base/multimap.ts";
import type { AsOf, Reach } from "../db/reading/list-query.ts";
import type { Reader } from "../db/reading/reader.ts";
import { recordName } from "../resources/record-label.ts";
import type { Named } from "../resources/resource.ts";
import type { Target } from "./name-columns.ts";

/** Maximum cached names between two lookups; one lookup may exceed it. */
const MAX_KNOWN = 20_000;
/** Records per lookup statement. */
const LOOKUP_MAX = 1_000;

interface CachedName {
  readonly name: string | number | null;
  /** The owner of a part; its name precedes the part's own. */
  readonly owner?: Target;
}

export class ReferenceNames {
  private readonly reader: Reader;
  private readonly reach: Reach;
  private readonly asOf: AsOf | null;
  private readonly known = new Map<string, CachedName>();

  constructor(reader: Reader, reach: Reach, asOf: AsOf | null) {
    this.reader = reader;
    this.reach = reach;
    this.asOf = asOf;
  }

  /** Prefetches names for `of`. */
  prefetch(targets: readonly Target[]): void {
    if (this.known.size > MAX_KNOWN) this.known.clear();
    this.lookUp(targets);
    this.lookUp(targets.flatMap(({ id }) => this.known.get(id)?.owner ?? []));
  }

  /** Null if the record is out of reach or did not exist then. Requires a prior `prefetch`. */
  of({ id }: Target): string | number | null {
    const known = this.known.get(id);
    if (known === undefined) throw new Error(`reference names: ${id} was not looked up`);
    if (known.owner === undefined) return known.name;
    return [this.of(known.owner), known.name].filter((part) => part !== null).join(" ");
  }

  private lookUp(targets: readonly Target[]): void {
    const missing = new Map<Named, string[]>();
    for (const { of, id } of targets) {
      if (this.known.has(id)) continue;
      this.known.set(id, NO_NAME);
      append(missing, of, id);
    }
    for (const [{ kind, names }, ids] of missing) {
      const fields = ["id", ...names.fields, ...(names.of === undefined ? [] : [names.of.field])];
      for (let start = 0; start < ids.length; start += LOOKUP_MAX) {
        const query = {
          kind,
          reach: this.reach,
          asOf: this.asOf,
          ids: ids.slice(start, start + LOOKUP_MAX),
          limit: 0,
          offset: 0,
        };
        for (const row of this.reader.ownFields(query, fields)) {
          const values = JSON.parse(row) as unknown[];
          const record = Object.fromEntries(fields.map((field, index) => [field, values[index]]));
          this.known.set(record.id as string, {
            name: names.name === undefined ? recordName(kind, record) : names.name(record),
            ...(names.of === undefined
              ? {}
              : { owner: { of: names.of.part, id: ownValue(record, names.of.field) as string } }),
          });
        }
      }
    }
  }
}

const NO_NAME: CachedName = { name: null };
