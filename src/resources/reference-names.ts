// What the records that a table refers to were called, as of the instant that the table is of: looked up many at a time, and only
// where the caller reaches them. Must not know tables: which ids there are is told by name-columns.ts.

import type { AsOf, Reach } from "../db/list-query.ts";
import type { Reader } from "../db/reader.ts";
import { KINDS } from "./kinds.ts";
import type { Target } from "./name-columns.ts";

/** Names kept at hand between two lookups; one lookup may bring more. */
const MAX_KNOWN = 20_000;
/** Records that are looked up by one statement. */
const LOOKUP_MAX = 1_000;

interface Named {
  readonly name: string | number | null;
  /** The host that a part is of. */
  readonly hostId?: string;
}

interface Naming {
  readonly fields: readonly string[];
  readonly named: (...values: never[]) => Named;
}

export class ReferenceNames {
  private readonly reader: Reader;
  private readonly reach: Reach;
  private readonly asOf: AsOf | null;
  private readonly known = new Map<string, Named>();

  constructor(reader: Reader, reach: Reach, asOf: AsOf | null) {
    this.reader = reader;
    this.reach = reach;
    this.asOf = asOf;
  }

  /** Looks up what `of` is going to be asked. */
  learn(targets: readonly Target[]): void {
    if (this.known.size > MAX_KNOWN) this.known.clear();
    this.lookUp(targets);
    // An interface is called by its host's name and its own.
    const hosts: Target[] = [];
    for (const { kind, id } of targets) {
      const hostId = kind === "if_entry" ? this.known.get(id)?.hostId : undefined;
      if (hostId !== undefined) hosts.push({ kind: "host", id: hostId });
    }
    this.lookUp(hosts);
  }

  /** Null for what the caller does not reach, or what was not there then. Learned before. */
  of({ id }: Target): string | number | null {
    const named = this.known.get(id);
    if (named === undefined) throw new Error(`reference names: ${id} was not looked up`);
    if (named.hostId === undefined) return named.name;
    return [this.of({ kind: "host", id: named.hostId }), named.name].filter((part) => part !== null).join(" ");
  }

  private lookUp(targets: readonly Target[]): void {
    const missing = new Map<string, string[]>();
    for (const { kind, id } of targets) {
      if (this.known.has(id)) continue;
      this.known.set(id, NOBODY);
      const ids = missing.get(kind);
      if (ids === undefined) missing.set(kind, [id]);
      else ids.push(id);
    }
    for (const [kindName, ids] of missing) {
      const kind = KINDS.find((each) => each.name === kindName);
      const naming = NAMINGS[kindName];
      if (kind === undefined || naming === undefined) throw new Error(`reference names: ${kindName} has no names`);
      for (let start = 0; start < ids.length; start += LOOKUP_MAX) {
        const query = {
          kind,
          reach: this.reach,
          asOf: this.asOf,
          ids: ids.slice(start, start + LOOKUP_MAX),
          limit: 0,
          offset: 0,
        };
        for (const row of this.reader.ownFields(query, ["id", ...naming.fields])) {
          const [id, ...values] = JSON.parse(row) as [string, ...never[]];
          this.known.set(id, naming.named(...values));
        }
      }
    }
  }
}

const NOBODY: Named = { name: null };

function by(field: string): Naming {
  return { fields: [field], named: (name: string | number) => ({ name }) };
}

const NAMINGS: Readonly<Record<string, Naming>> = {
  organization: by("name"),
  network: by("name"),
  vlan: by("number"),
  subnet: by("cidr"),
  tag: by("name"),
  credential: by("name"),
  host: by("name"),
  ip_address: by("ip_address"),
  if_entry: {
    fields: ["if_name", "if_descr", "host_id"],
    named: (name: string | null, description: string, hostId: string) => ({ name: name ?? description, hostId }),
  },
  port: {
    fields: ["number", "protocol"],
    named: (number: number, protocol: string) => ({ name: `${number}/${protocol}` }),
  },
  service: by("name"),
  user: by("email"),
};
