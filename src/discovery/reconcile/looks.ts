// Looks: completed scans that would have found an address, had it been in use. They swept it, or read a neighbor table
// that had it before to the end, or found the device of such a table gone.

import { type Instant, parseInstant } from "../../base/instant.ts";
import { isIpWithin } from "../../base/ip.ts";
import type { Sql } from "../../db/connection.ts";
import { sightingKey } from "../../resources/sightings.ts";
import { isWithin, type KeyBlocks } from "./sweeps.ts";

/** Scans that must have looked in vain since the last sighting before anything expires. */
export const LOOKS_MIN = 2;

type Look = readonly [scanId: string, at: Instant];

export class Looks {
  private readonly db: Sql["$client"];
  private readonly networkN: number;
  /** The scan that asks, whose looks count as well. */
  private readonly scanId: string;
  private readonly completed = new Map<string, boolean>();
  private sweeps: ReadonlyArray<{ readonly looks: readonly Look[]; readonly blocks: KeyBlocks }> | null = null;
  private polls: ReadonlyArray<{ readonly look: Look; readonly targets: readonly string[] | null }> | null = null;

  constructor(db: Sql["$client"], networkN: number, scanId: string) {
    this.db = db;
    this.networkN = networkN;
    this.scanId = scanId;
  }

  /**
   * True if enough scans have looked for an address since.
   * @param silentFrom a device that has not been seen from then on is gone: scans that polled its address in vain count
   * instead of reads of its table
   */
  haveBeenAt(address: string, since: Instant, silentFrom: Instant): boolean {
    const key = sightingKey(address);
    const swept = this.allSweeps().flatMap(({ looks, blocks }) =>
      looks.some(([, at]) => at > since) && isWithin(blocks, key) ? looks : [],
    );
    const readers = this.db.query(READERS_OF_ADDRESS).values(this.networkN, key) as ReaderColumns[];
    const read = readers.flatMap(([reporterAddress, seenAt, ...reads]) => {
      const lastSeen = Math.max(reads[1], parseInstant(seenAt ?? "") ?? 0);
      const inVain = lastSeen > silentFrom ? [] : this.pollsOf(reporterAddress).filter(([, at]) => at > lastSeen);
      return [...looksOf([reads]), ...inVain];
    });
    return this.isEnough([...swept, ...read], since);
  }

  /** True if enough scans have looked for anything in the network since. */
  haveBeen(since: Instant): boolean {
    const reads = looksOf(this.db.query(READERS).values(this.networkN, since));
    return this.isEnough([...this.allSweeps().flatMap(({ looks }) => looks), ...reads, ...this.pollsOf(null)], since);
  }

  /** Scans that polled the devices at an address, or of the whole network. */
  private pollsOf(address: string | null): Look[] {
    this.polls ??= (this.db.query(POLLS).values(this.networkN, this.scanId) as Array<[...Look, string | null]>).map(
      ([scanId, at, targets]) => ({ look: [scanId, at], targets: JSON.parse(targets ?? "null") as string[] | null }),
    );
    const isTarget = (target: string) => address !== null && (target === address || isIpWithin(address, target));
    return this.polls.flatMap(({ look, targets }) => (targets === null || targets.some(isTarget) ? [look] : []));
  }

  private isEnough(looks: readonly Look[], since: Instant): boolean {
    const scans = new Set(looks.flatMap(([scanId, at]) => (at > since && this.isCompleted(scanId) ? [scanId] : [])));
    return scans.size >= LOOKS_MIN;
  }

  private isCompleted(scanId: string): boolean {
    if (scanId === this.scanId) return true;
    const known = this.completed.get(scanId);
    if (known !== undefined) return known;
    const isCompleted = this.db.query(IS_INCOMPLETE).values(scanId).length === 0;
    this.completed.set(scanId, isCompleted);
    return isCompleted;
  }

  private allSweeps() {
    this.sweeps ??= (this.db.query(SWEEPS).values(this.networkN) as Array<[string, ...LookColumns]>).map(
      ([blocks, ...looks]) => ({ looks: looksOf([looks]), blocks: JSON.parse(blocks) as KeyBlocks }),
    );
    return this.sweeps;
  }
}

/** The last two looks. */
type LookColumns = [scanId: string, at: Instant, previousScanId: string, previousAt: Instant];

/** Address where a table was read, when its device was last seen (null if it ended), and the reads. */
type ReaderColumns = [ipAddress: string, seenAt: string | null, ...LookColumns];

function looksOf(rows: readonly unknown[][]): Look[] {
  return (rows as LookColumns[]).flatMap(([scanId, at, previousScanId, previousAt]): Look[] => [
    [scanId, at],
    [previousScanId, previousAt],
  ]);
}

const IS_INCOMPLETE = "SELECT 1 FROM discovery_scans WHERE id = ?1 AND status <> 'Completed'";
const SWEEPS = `SELECT blocks, scan_id, swept_at, previous_scan_id, previous_swept_at FROM discovery_sweeps
  WHERE network_n = ?1`;
const READ_COLUMNS = "r.scan_id, r.read_at, r.previous_scan_id, r.previous_read_at";
const READERS_OF_ADDRESS = `SELECT DISTINCT r.ip_address,
    (SELECT json_extract('{' || substr(o.observed, 2) || '}', '$.last_seen_at') FROM hosts h
      JOIN observations o ON o.n = h.n WHERE h.n = r.host_n), ${READ_COLUMNS}
  FROM discovery_sightings s JOIN discovery_reporters r ON r.n = s.reporter_n
  WHERE s.network_n = ?1 AND s.address_key = ?2 AND r.kind = 'Neighbor'`;
const READERS = `SELECT DISTINCT ${READ_COLUMNS} FROM discovery_reporters r
  WHERE r.network_n = ?1 AND r.kind = 'Neighbor' AND r.read_at > ?2`;
/** With a credential, or else they have a problem. */
const POLLS = `SELECT id, started_at, request ->> '$.targets' FROM discovery_scans
  WHERE network_n = ?1 AND started_at IS NOT NULL AND request ->> '$.kind' <> 'sweep'
    AND (id = ?2 OR status = 'Completed' AND request ->> '$.commit' AND outcome ->> '$.problem' IS NULL)`;
