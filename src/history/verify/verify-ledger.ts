// Ledger verification: every version against its hash, record and transaction, every transaction against the chain.
// Passes each complete record history on to the checks of derived data.

import { formatInstant } from "../../base/instant.ts";
import { openScratch, type Sql } from "../../db/connection.ts";
import { CHAIN_START, hashTransaction, hashVersion } from "../../db/hash.ts";
import { type AnyKind, OPERATION, parseMembers, type RecordBase } from "../../db/kind.ts";
import { shapeOf } from "../../db/shape.ts";
import { type LedgerPosition, type PruneOptions, parsePruneSource } from "../../db/thinning.ts";
import type { Derivation, RecordHistory } from "./derived.ts";
import { type Findings, whereRecord } from "./findings.ts";
import {
  type DroppedVersion,
  type LedgerTransaction,
  type LedgerVersion,
  walkAllVersions,
  walkTransactions,
} from "./ledger-walk.ts";

/** End of the ledger when the verification started; later transactions are left to the next run. */
export interface LedgerEnd {
  readonly sequence: number;
  readonly lastN: number;
}

/** Input of a verification step. */
export interface VerificationInput<Kinds> {
  readonly db: Sql;
  readonly kinds: Kinds;
  readonly until: LedgerEnd;
  readonly findings: Findings;
  readonly derivation: Derivation;
}

/** Verified amount, without dropped versions. */
export interface LedgerCount {
  transactions: number;
  records: number;
  versions: number;
}

interface Current {
  readonly n: number;
  readonly where: string;
  readonly kind: AnyKind | undefined;
  /** Timestamp of the first version, even if that was dropped. */
  readonly createdAt: string;
  /** From the first remaining document. */
  lineageId: unknown;
  versions: number;
  /** Whether versions were dropped since the last remaining one. */
  isAfterDropped: boolean;
  ended: boolean;
  /** Null if a version is unreadable: derived data is then unknown. */
  history: RecordHistory | null;
}

/** One verification of the ledger: versions first, then transactions, which need the versions' hashes. */
export class LedgerVerification {
  readonly count: LedgerCount = { transactions: 0, records: 0, versions: 0 };
  /** Number of versions with only the hash left. */
  dropped = 0;
  /** Prunes recorded in the ledger, and the last transaction of each day: complete after all transactions were read. */
  readonly prunes: Array<PruneOptions & { readonly sequence: number }> = [];
  readonly dayEnds: LedgerPosition[] = [];
  private readonly db: Sql;
  private readonly kinds: ReadonlyMap<number, AnyKind>;
  private readonly until: LedgerEnd;
  private readonly findings: Findings;
  private readonly derivation: Derivation;
  /** Version hashes, to be read back in transaction order. Too many for memory. */
  private readonly scratch = openScratch(
    "CREATE TABLE scratch.hashes (sequence INTEGER, n INTEGER, is_creation INTEGER, hash BLOB)",
  );
  private readonly insertHash = this.scratch.prepare("INSERT INTO hashes VALUES (?, ?, ?, ?)");
  private current: Current | null = null;
  private lastCreation: Creation = { sequence: 0, kind: 0, id: "" };

  constructor({ db, kinds, until, findings, derivation }: VerificationInput<ReadonlyMap<number, AnyKind>>) {
    this.db = db;
    this.kinds = kinds;
    this.until = until;
    this.findings = findings;
    this.derivation = derivation;
  }

  /**
   * Checks every version against its hash, record and transaction.
   * @param onHistory called for each record whose versions are all readable, on the snapshot of its last step
   * @returns the record number reached, per step
   */
  *versions(onHistory: (history: RecordHistory) => void): Generator<number> {
    this.scratch.run("BEGIN");
    yield* walkAllVersions(this.db, this.kinds, this.until.lastN, (versions, isLast) => {
      for (const version of versions) {
        if (version.operation === null) this.droppedVersion(version, onHistory);
        else this.version(version, onHistory);
      }
      if (isLast) {
        this.complete(onHistory);
        this.gap(this.until.lastN);
      }
    });
    this.scratch.run("COMMIT");
  }

  /**
   * Checks every transaction against its predecessor and the hashes of its versions.
   * @returns the sequence reached, per step
   */
  *transactions(): Generator<number> {
    const hashes = this.scratch
      .prepare("SELECT sequence, n, is_creation, hash FROM hashes ORDER BY sequence, n")
      .iterate() as Iterator<HashRow>;
    let next = hashes.next();
    let previous: LedgerTransaction | null = null;
    yield* walkTransactions(this.db, this.until.sequence, (transactions) => {
      for (const transaction of transactions) {
        const own: HashRow[] = [];
        // Skip versions of a missing transaction: already reported with the versions.
        while (next.done !== true && next.value.sequence <= transaction.sequence) {
          if (next.value.sequence === transaction.sequence) own.push(next.value);
          next = hashes.next();
        }
        this.transaction(transaction, previous, own);
        previous = transaction;
      }
    });
  }

  /** Deletes temporary data. */
  close(): void {
    this.scratch.close();
  }

  /** Record and location of a version; starts a new record if the number changes. */
  private enter(
    version: LedgerVersion | DroppedVersion,
    onHistory: (history: RecordHistory) => void,
  ): { current: Current; where: string } {
    if (version.n !== this.current?.n) {
      this.complete(onHistory);
      this.gap(Math.min(version.n - 1, this.until.lastN));
      this.begin(version);
    }
    const current = this.current as Current;
    const where = `${current.where}, transaction ${version.sequence}`;
    if (version.at === null) this.findings.add("version", where, "its transaction is not in the ledger");
    return { current, where };
  }

  /** A version with only its hash left. Whether it could be dropped is checked elsewhere. */
  private droppedVersion(version: DroppedVersion, onHistory: (history: RecordHistory) => void): void {
    const { current } = this.enter(version, onHistory);
    if (version.sequence > this.until.sequence) return;
    const isFirst = current.versions === 0 && !current.isAfterDropped;
    current.isAfterDropped = true;
    this.dropped += 1;
    this.insertHash.run(version.sequence, version.n, isFirst ? 1 : 0, version.hash as Uint8Array<ArrayBuffer>);
  }

  private version(version: LedgerVersion, onHistory: (history: RecordHistory) => void): void {
    const { current, where } = this.enter(version, onHistory);
    const { sequence, n, hash, at, valid_from } = version;
    if (sequence > this.until.sequence) return;
    this.count.versions += 1;
    this.insertHash.run(sequence, n, version.operation === OPERATION.Created ? 1 : 0, hash as Uint8Array<ArrayBuffer>);
    if (!isEqual(hashVersion({ ...version, id: version.id ?? "", kind: version.kind ?? 0 }), hash))
      this.findings.add("version", where, "its content does not match its hash");
    if (at !== null && valid_from !== formatInstant(at)) {
      const message = `its valid_from ${valid_from} is not the timestamp of its transaction, ${formatInstant(at)}`;
      this.findings.add("version", where, message);
    }
    this.operation(current, version, where);
    const record = parse(version.members);
    if (current.versions === 1) current.lineageId = record?.lineage_id;
    if (version.members !== null) this.document(current, version, record, where);
    const currentRecord = version.currentMembers === version.members ? record : parse(version.currentMembers);
    this.derive(current, version, currentRecord, where);
  }

  private begin(version: LedgerVersion | DroppedVersion): void {
    const kind = version.kind === null ? undefined : this.kinds.get(version.kind);
    const where = whereRecord(kind?.name ?? `kind ${version.kind}`, version.id, version.n);
    const createdAt =
      version.operation !== null ? version.valid_from : version.at === null ? "" : formatInstant(version.at);
    const initial = { lineageId: undefined, versions: 0, isAfterDropped: false, ended: false, history: null };
    this.current = { n: version.n, where, kind, createdAt, ...initial };
    if (version.sequence > this.until.sequence) return;
    this.count.records += 1;
    if (version.id === null) this.findings.add("record", where, "versions of a record that is not in the ledger");
    else if (kind === undefined)
      this.findings.add("record", where, "its kind is not known to this version of netledger");
    const creation = { sequence: version.sequence, kind: version.kind ?? 0, id: version.id ?? "" };
    if (!isInPageOrder(this.lastCreation, creation))
      this.findings.add("record", where, "its number is not in page order: created_at, then id");
    this.lastCreation = creation;
  }

  private operation(current: Current, version: LedgerVersion, where: string): void {
    current.versions += 1;
    const isFirst = current.versions === 1;
    const isCreation = version.operation === OPERATION.Created;
    if (current.isAfterDropped) {
      // A dropped predecessor may have been of any type, but a deletion never remains without the versions it ends.
      if (isFirst && version.operation === OPERATION.Deleted)
        this.findings.add("version", where, "only the end of the record is left");
    } else if (isFirst && !isCreation)
      this.findings.add("version", where, "the record's first version is not its creation");
    // A restored record is created again under its own id.
    else if (!isFirst && isCreation && !current.ended)
      this.findings.add("version", where, "the record is created while it is alive");
    else if (current.ended && !isCreation) this.findings.add("version", where, "it follows the record's end");
    current.ended = version.operation === OPERATION.Deleted;
    current.isAfterDropped = false;
  }

  private document(current: Current, version: LedgerVersion, record: RecordBase | null, where: string): void {
    if (record === null) {
      this.findings.add("version", where, "its document is not JSON");
      return;
    }
    const expected = {
      id: version.id,
      created_at: current.createdAt,
      updated_at: version.valid_from,
      valid_from: version.valid_from,
      lineage_id: current.lineageId,
    };
    for (const [field, value] of Object.entries(expected)) {
      const actual = record[field as keyof RecordBase];
      if (actual === value) continue;
      const message = `its document says ${field} ${JSON.stringify(actual)} instead of ${JSON.stringify(value)}`;
      this.findings.add("version", where, message);
    }
    if (current.kind !== undefined && version.shape > shapeOf(current.kind))
      this.findings.add("version", where, `its shape ${version.shape} is not known to this version of netledger`);
  }

  /** Continues the record history; gives up if a version is unreadable, whose findings are already recorded. */
  private derive(current: Current, version: LedgerVersion, record: RecordBase | null, where: string): void {
    const isReadable =
      current.kind !== undefined &&
      version.id !== null &&
      (record === null) === (version.operation === OPERATION.Deleted);
    try {
      if (!isReadable) current.history = null;
      else if (current.versions > 1) {
        if (current.history !== null) this.derivation.append(current.history, version, record);
      } else if (record !== null)
        current.history = this.derivation.start(current.kind as AnyKind, version.id as string, version, record);
    } catch (error) {
      current.history = null;
      this.findings.add("version", where, error instanceof Error ? error.message : String(error));
    }
  }

  private complete(onHistory: (history: RecordHistory) => void): void {
    const history = this.current?.history ?? null;
    if (history !== null) this.findings.guard("version", this.current?.where ?? "", () => onHistory(history));
  }

  /** Reports missing records up to the next one. */
  private gap(last: number): void {
    const first = Math.max(0, this.current?.n ?? 0) + 1;
    const where = first === last ? `n ${first}` : `n ${first} to ${last}`;
    if (last >= first) this.findings.add("record", where, "without any version, or not in the ledger");
  }

  private transaction(
    transaction: LedgerTransaction,
    previous: LedgerTransaction | null,
    own: readonly HashRow[],
  ): void {
    const where = `transaction ${transaction.sequence}`;
    const add = (message: string) => this.findings.add("transaction", where, message);
    this.count.transactions += 1;
    const expected = (previous?.sequence ?? 0) + 1;
    if (transaction.sequence !== expected) add(`follows transaction ${expected - 1}: those between are missing`);
    if (previous !== null && transaction.at <= previous.at) add("is not later than its predecessor");
    const isPrune = this.collect(transaction);
    if (own.length === 0 && !isPrune) add("has no versions");
    if (own.length > 0 && isPrune) add("is a prune's, but has versions");
    const lastN = Math.max(previous?.last_n ?? 0, ...own.filter((row) => row.is_creation === 1).map((row) => row.n));
    if (transaction.last_n !== lastN)
      add(`gives n ${transaction.last_n} as the last record, but its versions give n ${lastN}`);
    const versionHashes = own.map((row) => row.hash);
    const hash = hashTransaction(previous?.hash ?? CHAIN_START, transaction, versionHashes);
    if (!isEqual(hash, transaction.hash)) add("its hash does not match its predecessor, its content and its versions");
  }

  /** Collects day ends and prunes. @returns whether the transaction is a prune */
  private collect({ sequence, at, source, actor_type, organization_id }: LedgerTransaction): boolean {
    const last = this.dayEnds.at(-1);
    if (last !== undefined && Math.floor(last.at / DAY_MS) === Math.floor(at / DAY_MS)) this.dayEnds.pop();
    this.dayEnds.push({ sequence, at });
    const prune = actor_type === "System" && organization_id === null ? parsePruneSource(source) : null;
    if (prune !== null) this.prunes.push({ ...prune, sequence });
    return prune !== null;
  }
}

const DAY_MS = 86_400_000;

interface HashRow {
  readonly sequence: number;
  readonly n: number;
  readonly is_creation: number;
  readonly hash: Uint8Array;
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

interface Creation {
  readonly sequence: number;
  readonly kind: number;
  readonly id: string;
}

function isInPageOrder(before: Creation, after: Creation): boolean {
  if (before.sequence !== after.sequence) return before.sequence < after.sequence;
  if (before.kind !== after.kind) return before.kind < after.kind;
  return before.id < after.id;
}

function parse(members: string | null): RecordBase | null {
  try {
    return members === null ? null : parseMembers<RecordBase>(members);
  } catch {
    return null;
  }
}
