// Claims in a conflict: their beginning, the scan or person behind them, MAC address, port and who saw them.

import { type AnyKind, OPERATION } from "../../db/kind.ts";
import { membersSql } from "../../db/shape.ts";
import type { Author } from "../../db/writing/ledger.ts";
import { edgesAt, entriesAt } from "../../history/edge-ports.ts";
import { fdbEntryKind } from "../../resources/fdb-entries/fdb-entry.ts";
import { ipAddressKind } from "../../resources/ip-addresses/ip-address.ts";
import { type SeenMac, sightingsAt } from "../../resources/sightings.ts";
import { subnetKind } from "../../resources/subnets/subnet.ts";
import { type Conflict, type ConflictQuery, networksOf, type Party, type StatementSource } from "./conflict.ts";

export interface Claim {
  /** Timestamp; null if its versions have been pruned. */
  readonly since: string | null;
  readonly by: Pick<Author, "type" | "id" | "name"> | null;
  readonly mac: string | null;
  /** Record number of the edge port at which the MAC address is; null if unknown, and for a port itself. */
  readonly portN: number | null;
  /** Reporters that have the MAC address at the address. */
  readonly seenBy: readonly SeenMac[];
}

/** Kind of the record that makes a claim, and the fields that it consists of. */
const CLAIMS = {
  Address: { kind: ipAddressKind, fields: ["ip_address", "host_id"] },
  Mac: { kind: fdbEntryKind, fields: ["mac_address", "if_entry_id"] },
  Subnet: { kind: subnetKind, fields: ["cidr"] },
} satisfies Record<Conflict["type"], { kind: AnyKind; fields: readonly string[] }>;

const memberSql = (kind: AnyKind, version: string, field: string) =>
  `(('{' || ${membersSql(kind, version)} || '}') ->> '$.${field}')`;
const within = (version: string) => `${version}.key > (+?1 << 31) AND ${version}.key <= ((+?1 << 31) | +?2)`;
const claimSql = (kind: AnyKind, version: string, fields: readonly string[]) =>
  `CASE WHEN ${version}.operation = ${OPERATION.Deleted} THEN NULL
    ELSE ${fields.map((field) => memberSql(kind, version, field)).join(" || ' ' || ")} END`;

/** The newest consecutive versions that make the same claim: the first of them, with its author. */
function beginningSql({ kind, fields }: (typeof CLAIMS)[Conflict["type"]]): string {
  const newest = `(SELECT max(key) FROM history_versions w WHERE ${within("w")})`;
  return `SELECT b.valid_from, t.actor_type, t.actor_id, t.actor_name FROM history_versions b
    CROSS JOIN history_transactions t ON t.sequence = b.key & 2147483647
    WHERE b.key = (SELECT min(w.key) FROM history_versions w WHERE ${within("w")} AND w.key > coalesce(
      (SELECT max(u.key) FROM history_versions u WHERE ${within("u")} AND ${claimSql(kind, "u", fields)} IS NOT
        (SELECT ${claimSql(kind, "n", fields)} FROM history_versions n WHERE n.key = ${newest})), 0))`;
}

type Beginning = [since: string, type: Author["type"], id: string | null, name: string];

/** Looks up claims as of a transaction. */
export class Claims {
  private readonly connection: StatementSource;
  private readonly query: ConflictQuery;
  private isEdge: ReturnType<typeof edgesAt> | null = null;

  constructor(connection: StatementSource, query: ConflictQuery) {
    this.connection = connection;
    this.query = query;
  }

  /** Describes each party of a conflict, in their order. */
  of(conflict: Conflict): Claim[] {
    const { type, value, parties } = conflict;
    if (type === "Mac") return parties.map((party) => this.ofPort(value, party));
    const seen = type === "Address" ? this.seenAt(conflict) : [];
    return parties.map((party) => {
      const mac = type === "Address" ? this.macOf(party.claimN ?? 0) : null;
      const portN = mac === null ? null : this.portOf(mac, party.networkId);
      const seenBy = seen.filter((each) => mac !== null && each.mac === mac);
      return { ...this.beginning(type, [party.claimN ?? 0]), mac, portN, seenBy };
    });
  }

  /** Timestamps at which each party began to make its claim; null if unknown. */
  beginnings({ type, parties }: Conflict): Array<string | null> {
    return parties.map(({ claimN = 0 }) => this.beginning(type, [claimN]).since);
  }

  private ofPort(mac: string, { n, networkId }: Party): Claim {
    const entries = entriesAt(this.connection, this.query, networkId, mac).filter(({ port }) => port === n);
    const beginning = this.beginning(
      "Mac",
      entries.map(({ entry }) => entry),
    );
    return { ...beginning, mac, portN: null, seenBy: [] };
  }

  private seenAt(conflict: Conflict): SeenMac[] {
    return networksOf(conflict).flatMap((id) => sightingsAt(this.connection, id, conflict.value, this.query.at));
  }

  /** The earliest of some records that make the same claim. */
  private beginning(type: Conflict["type"], ns: readonly number[]): Pick<Claim, "since" | "by"> {
    const sql = beginningSql(CLAIMS[type]);
    const found = ns.flatMap((n) => this.connection.statement(sql).values(n, this.query.sequence) as Beginning[]);
    const [first] = found.sort(([left], [right]) => (left < right ? -1 : 1));
    if (first === undefined) return { since: null, by: null };
    const [since, actorType, id, name] = first;
    return { since, by: { type: actorType, id, name } };
  }

  private macOf(n: number): string | null {
    const sql = `SELECT ${memberSql(ipAddressKind, "n", "mac_address")} FROM history_versions n
      WHERE n.key = (SELECT max(key) FROM history_versions w WHERE ${within("w")})`;
    return (this.connection.statement(sql).values(n, this.query.sequence)[0]?.[0] ?? null) as string | null;
  }

  /** The edge port that learned the MAC address last. */
  private portOf(mac: string, networkId: string): number | null {
    this.isEdge ??= edgesAt(this.connection, this.query.sequence);
    const isEdge = this.isEdge;
    const entries = entriesAt(this.connection, this.query, networkId, mac).filter(({ port }) => isEdge(port, mac));
    return (
      entries.reduce<(typeof entries)[number] | null>(
        (newest, each) => (newest === null || each.entry > newest.entry ? each : newest),
        null,
      )?.port ?? null
    );
  }
}

/** Start of a conflict: the start of its second claim. */
export function conflictSince(claims: readonly Pick<Claim, "since">[]): string | null {
  const times = claims.map(({ since }) => since ?? "").sort();
  return times[1] === undefined || times[1] === "" ? null : times[1];
}
