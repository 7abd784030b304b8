// Resolution of competing claims: which of the MAC addresses seen at an IP address still have it. Uses all current
// sightings, so the order of responses does not matter; a MAC address that has left is not a conflict.

import { isLocalBridge } from "../../base/interface-name.ts";
import { isSingleDevice } from "../../base/mac.ts";
import { type SightingKind, sightingKey } from "../../resources/sightings.ts";
import type { AddressSighting } from "../sightings.ts";
import type { ScanWrite } from "./scan-write.ts";

/** Current sightings of a MAC address at an IP address. */
interface MacClaim {
  readonly first: number;
  /** Last time that any reporter had it. */
  readonly last: number;
  /** Last time that it responded there, or reported the address as its own; 0 for never. */
  readonly answeredAt: number;
  /** True if it is in another device's neighbor table. */
  readonly isLearned: boolean;
  /** True if a device reports the address as its own, with this MAC address. */
  readonly isOwn: boolean;
}

/** Hours after which a claimed address that no neighbor table lists moves to the machine that responds there. */
const UNCONFIRMED_AFTER_HOURS = 24;
/** Placeholder for the MAC address of a device that does not report it. */
export const UNKNOWN_MAC = "";

type Row = [
  mac: string | null,
  first: number,
  last: number,
  kind: SightingKind,
  hostN: number | null,
  interfaceName: string | null,
];

interface Seen {
  readonly macs: ReadonlyMap<string, MacClaim>;
  /** Record numbers of devices that report the address as their own. */
  readonly owners: ReadonlySet<number>;
}

/** By command and address: MAC addresses that responded to a sweep, which are stored at the end of the command. */
const RESPONSES = new WeakMap<ScanWrite, ReadonlyMap<string, ReadonlySet<string | null>>>();

/** Registers the responses of a command before any of them is recorded. */
export function registerResponses(write: ScanWrite, sightings: readonly AddressSighting[]): void {
  const answered = sightings.filter((each) => each.answered.length > 0);
  const byAddress = Map.groupBy(answered, ({ ip_address }) => ip_address);
  const macs = (all: readonly AddressSighting[]) => new Set(all.map(({ mac_address }) => mac_address));
  RESPONSES.set(write, new Map([...byAddress].map(([address, all]) => [address, macs(all)])));
}

/** Loaded on first use: most addresses have one MAC address, and one host. */
export class AddressClaims {
  private readonly write: ScanWrite;
  private readonly address: string;
  private readonly sighting: AddressSighting | null;
  private readonly verdicts = new Map<string, boolean>();
  private known: Seen | null = null;

  /** @param sighting counts as current; a response supersedes what responded there before */
  constructor(write: ScanWrite, address: string, sighting: AddressSighting | null = null) {
    this.write = write;
    this.address = address;
    this.sighting = sighting;
  }

  /** Number of devices that report the address as their own. */
  get ownerCount(): number {
    return this.seen.owners.size;
  }

  /** True if a sighting of the MAC address at the address is current. */
  isSeen(mac: string): boolean {
    return this.seen.macs.has(mac);
  }

  /** True if the MAC address still has the IP address: it is seen there, and has not moved elsewhere. */
  has(mac: string): boolean {
    let verdict = this.verdicts.get(mac);
    if (verdict === undefined) this.verdicts.set(mac, (verdict = this.isSeen(mac) && !this.hasLeft(mac)));
    return verdict;
  }

  /**
   * True for the MAC address assigned to a holder without one; independent of order.
   * @param taken MAC addresses of other holders
   */
  isFirst(mac: string, taken: ReadonlySet<string | null>): boolean {
    return ![...this.seen.macs.keys()].some(
      (each) => each !== UNKNOWN_MAC && each < mac && !taken.has(each) && this.has(each),
    );
  }

  private get seen(): Seen {
    this.known ??= this.read();
    return this.known;
  }

  private read(): Seen {
    const { tx, networkId, scanId, index } = this.write;
    const { sighting } = this;
    const answers = RESPONSES.get(this.write)?.get(this.address);
    const owners = new Set<number>();
    const macs = new Map<string, MacClaim>();
    const add = (mac: string | null, first: number, last: number, kind: SightingKind) => {
      if (mac === null || (mac !== UNKNOWN_MAC && (!isSingleDevice(mac) || index.isShared(mac)))) return;
      const isLearned = kind === "Neighbor";
      const before = macs.get(mac) ?? { first, last, answeredAt: 0, isLearned, isOwn: false };
      macs.set(mac, {
        first: Math.min(before.first, first),
        last: Math.max(before.last, last),
        answeredAt: Math.max(before.answeredAt, isLearned ? 0 : last),
        isLearned: before.isLearned || isLearned,
        isOwn: before.isOwn || kind === "Own",
      });
    };
    const rows = tx.db.$client
      .query(CURRENT)
      .values(tx.recordN(networkId), sightingKey(this.address), scanId, tx.instant) as Row[];
    for (const [mac, first, last, kind, hostN, interfaceName] of rows) {
      if (kind === "Own" && hostN !== null) owners.add(hostN);
      if (kind === "Sweep" && answers !== undefined && !answers.has(mac)) continue;
      if (interfaceName === null || !isLocalBridge(interfaceName)) add(mac, first, last, kind);
    }
    for (const mac of answers ?? []) add(mac, tx.instant, tx.instant, "Sweep");
    if (sighting !== null)
      add(sighting.mac_address, tx.instant, tx.instant, sighting.answered.length === 0 ? "Neighbor" : "Sweep");
    return { macs, owners };
  }

  private hasLeft(mac: string): boolean {
    const { macs } = this.seen;
    const { first, last, answeredAt, isLearned, isOwn } = macs.get(mac) as MacClaim;
    const rivals = [...macs].flatMap(([each, rival]) => (each === mac ? [] : [rival]));
    if (rivals.length === 0) return false;
    if (this.isAnswering(mac)) return true;
    // It responded after another one appeared: both are present.
    if (rivals.some((rival) => rival.first <= answeredAt)) return false;
    const isUnconfirmed = this.write.tx.instant - last >= UNCONFIRMED_AFTER_HOURS * 3_600_000;
    if (!isLearned && isUnconfirmed && rivals.some((rival) => rival.answeredAt > 0)) return true;
    // A device's own report is valid until its next one.
    return !isOwn && (this.isElsewhereSince(mac, last) || this.isUnforwarded(mac, first));
  }

  private isElsewhereSince(mac: string, last: number): boolean {
    const { tx, networkId } = this.write;
    const key = sightingKey(this.address);
    const version = key.slice(0, 1);
    const networkN = tx.recordN(networkId);
    const values = [networkN, mac, key, version, `${version}g`, last];
    if (tx.db.$client.query(ELSEWHERE).get(...values) !== null) return true;
    // It responded in this command at an address that it did not have before.
    const isNew = (other: string) => tx.db.$client.query(THERE).get(networkN, mac, other) === null;
    return (
      last < tx.instant &&
      [...(RESPONSES.get(this.write) ?? [])].some(
        ([address, macs]) => macs.has(mac) && isOther(sightingKey(address), key) && isNew(sightingKey(address)),
      )
    );
  }

  /** True if it is in no forwarding table, while another one is that has been seen there since: it is off. */
  private isUnforwarded(mac: string, since: number): boolean {
    if (this.isForwarded(mac)) return false;
    return [...this.seen.macs].some(([each, { last }]) => each !== mac && last >= since && this.isForwarded(each));
  }

  private isForwarded(mac: string): boolean {
    const { tx, networkId } = this.write;
    return tx.db.$client.query(FORWARDED).get(mac, tx.recordN(networkId)) !== null;
  }

  /** True if it belongs to a device that reports its addresses without this one: it replies on behalf of others. */
  private isAnswering(mac: string): boolean {
    const { tx, index } = this.write;
    return index.atMac(mac).some((id) => {
      const hostN = tx.recordN(id) ?? 0;
      return !this.seen.owners.has(hostN) && tx.db.$client.query(REPORTS_OWN).get(hostN) !== null;
    });
  }
}

/** True for another address of the same IP version. */
function isOther(key: string, own: string): boolean {
  return key !== own && key[0] === own[0];
}

/** For a row of its reporter's last complete read, the time of that read; for a row read by this scan, now. */
const CURRENT = `SELECT s.mac_address, s.first_seen, iif(r.scan_id = ?3, ?4, max(s.last_seen, r.read_at)), r.kind, r.host_n,
    (SELECT coalesce(('{' || e.members || '}') ->> '$.if_name', ('{' || e.members || '}') ->> '$.if_descr')
      FROM if_entries e WHERE e.n = s.if_entry_n)
  FROM discovery_sightings s JOIN discovery_reporters r ON r.n = s.reporter_n
  WHERE s.network_n = +?1 AND s.address_key = +?2 AND s.gone_at IS NULL
    AND s.ended_at IS NULL`;
const ELSEWHERE = `SELECT 1 FROM discovery_sightings
  WHERE network_n = +?1 AND mac_address = +?2 AND address_key <> +?3 AND address_key BETWEEN +?4 AND +?5
    AND gone_at IS NULL AND ended_at IS NULL AND first_seen > +?6 LIMIT 1`;
const THERE = `SELECT 1 FROM discovery_sightings
  WHERE network_n = +?1 AND mac_address = +?2 AND address_key = +?3 AND gone_at IS NULL AND ended_at IS NULL LIMIT 1`;
const FORWARDED = "SELECT 1 FROM fdb_entries WHERE mac_address = +?1 AND network_n = +?2 LIMIT 1";
const REPORTS_OWN = "SELECT 1 FROM discovery_reporters WHERE host_n = +?1 AND kind = 'Own' AND read_at > 0 LIMIT 1";
