// Covering scans: completed scans that would have seen an address in use. They swept it, completely read a neighbor
// table that listed it before, or found that the device with this table is gone.

import { type Instant, parseInstant } from "../../base/instant.ts";
import { isIpWithin } from "../../base/ip.ts";
import type { Sql } from "../../db/connection.ts";
import { sightingKey } from "../../resources/sightings.ts";
import { isWithin, type KeyBlocks } from "./sweeps.ts";

/** Number of scans that must have covered an address without a sighting before it expires. */
export const COVERING_SCANS_MIN = 2;

type Coverage = readonly [scanId: string, at: Instant];

export class CoveringScans {
  private readonly db: Sql["$client"];
  private readonly networkN: number;
  /** The running scan, which counts as well. */
  private readonly scanId: string;
  private readonly isInSubnets: (address: string) => boolean;
  /** By address and timestamp: a device may be the only one that reported thousands of addresses. */
  private readonly polled = new Map<string, readonly Coverage[]>();
  private readonly completed = new Map<string, boolean>();
  private sweeps: ReadonlyArray<{ readonly coverage: readonly Coverage[]; readonly blocks: KeyBlocks }> | null = null;
  private polls: ReadonlyArray<{ readonly covered: Coverage; readonly targets: readonly string[] | null }> | null =
    null;

  /**
   * @param scanId the current scan, which counts as completed
   * @param isInSubnets true for an address that scans without targets may poll
   */
  constructor(db: Sql["$client"], networkN: number, scanId: string, isInSubnets: (address: string) => boolean) {
    this.db = db;
    this.networkN = networkN;
    this.scanId = scanId;
    this.isInSubnets = isInSubnets;
  }

  /**
   * True if enough scans have covered an address since.
   * @param silentFrom start of a device's silence: from then on, unanswered polls of its address count in place of
   * reads of its table
   */
  haveCovered(address: string, since: Instant, silentFrom: Instant): boolean {
    const key = sightingKey(address);
    const swept = this.allSweeps().flatMap(({ coverage, blocks }) =>
      coverage.some(([, at]) => at > since) && isWithin(blocks, key) ? coverage : [],
    );
    const readers = this.db.query(READERS_OF_ADDRESS).values(this.networkN, key) as ReaderColumns[];
    const read = readers.flatMap(([reporterAddress, seenAt, ...reads]) => {
      const lastSeen = Math.max(reads[1], parseInstant(seenAt ?? "") ?? 0);
      const inVain = lastSeen > silentFrom ? [] : this.pollsSince(reporterAddress, lastSeen);
      return [...coverageOf([reads]), ...inVain];
    });
    return this.isEnough([...swept, ...read], since);
  }

  /** True if enough scans of the network have covered any of its addresses since. */
  haveRun(since: Instant): boolean {
    const reads = coverageOf(this.db.query(READERS).values(this.networkN, since));
    return this.isEnough(
      [...this.allSweeps().flatMap(({ coverage }) => coverage), ...reads, ...this.pollsOf(null)],
      since,
    );
  }

  /** Scans that polled the devices at an address since a timestamp. */
  private pollsSince(address: string, since: Instant): readonly Coverage[] {
    const key = `${address} ${since}`;
    const known = this.polled.get(key) ?? this.pollsOf(address).filter(([, at]) => at > since);
    this.polled.set(key, known);
    return known;
  }

  /** Scans that polled the devices at an address, or of the whole network. */
  private pollsOf(address: string | null): Coverage[] {
    this.polls ??= (this.db.query(POLLS).values(this.networkN, this.scanId) as Array<[...Coverage, string | null]>).map(
      ([scanId, at, targets]) => ({ covered: [scanId, at], targets: JSON.parse(targets ?? "null") as string[] | null }),
    );
    const isTarget = (target: string) => address !== null && (target === address || isIpWithin(address, target));
    const isWithinAll = address === null || this.isInSubnets(address);
    return this.polls.flatMap(({ covered, targets }) =>
      (targets === null ? isWithinAll : targets.some(isTarget)) ? [covered] : [],
    );
  }

  private isEnough(coverage: readonly Coverage[], since: Instant): boolean {
    const scans = new Set(coverage.flatMap(([scanId, at]) => (at > since && this.isCompleted(scanId) ? [scanId] : [])));
    return scans.size >= COVERING_SCANS_MIN;
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
    this.sweeps ??= (this.db.query(SWEEPS).values(this.networkN) as Array<[string, ...CoverageColumns]>).map(
      ([blocks, ...coverage]) => ({ coverage: coverageOf([coverage]), blocks: JSON.parse(blocks) as KeyBlocks }),
    );
    return this.sweeps;
  }
}

/** The last two reads or sweeps. */
type CoverageColumns = [scanId: string, at: Instant, previousScanId: string, previousAt: Instant];

/** Address from which a table was read, when its device was last seen (null if the host ended), and the reads. */
type ReaderColumns = [ipAddress: string, seenAt: string | null, ...CoverageColumns];

function coverageOf(rows: readonly unknown[][]): Coverage[] {
  return (rows as CoverageColumns[]).flatMap(([scanId, at, previousScanId, previousAt]): Coverage[] => [
    [scanId, at],
    [previousScanId, previousAt],
  ]);
}

/** Scans without a row completed: of the others, those whose coverage counts are kept. */
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
/** Scans with a credential; the others have a problem. */
const POLLS = `SELECT id, started_at, request ->> '$.targets' FROM discovery_scans
  WHERE network_n = ?1 AND started_at IS NOT NULL AND request ->> '$.kind' <> 'sweep'
    AND (id = ?2 OR status = 'Completed' AND request ->> '$.commit' AND outcome ->> '$.problem' IS NULL)`;
