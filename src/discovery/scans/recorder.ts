// Ordered batches of a scan's sightings for the writer, a few commands at a time: a fast network waits for a slow disk
// instead of filling memory.

import { DomainError } from "../../base/errors.ts";
import { sharedBytes } from "../../base/shared-bytes.ts";
import type { Timers } from "../../base/timers.ts";
import type { CommandOutcome } from "../../db/writing/transaction.ts";
import { inputText, type SightingText, sightingText } from "../sighting-lines.ts";
import type { AddressSighting, DeviceSighting, Recorded, Unfinished } from "../sightings.ts";
import type { SightingCommands, SightingInputs } from "./sighting-commands.ts";

export const DEVICES_PER_BATCH = 16;
const ADDRESSES_PER_BATCH = 500;
/** Characters of JSON per batch: one device may have 100,000 rows. */
export const LENGTH_PER_BATCH = 2_000_000;
/** Maximum wait for a batch to fill. */
export const BATCH_MS = 200;
export const CONCURRENT_COMMANDS = 2;
/** Retries while the store is busy. */
const BUSY_TRIES = 120;
const BUSY_MS = 1_000;
/** Errors of a single sighting that do not affect the others. */
const SINGLE_SIGHTING_ERRORS: ReadonlySet<string> = new Set(["internal_error", "payload_too_large"]);

/** Runs a command on the bytes of its input. @throws DomainError */
type RunCommand = (command: keyof SightingCommands, bytes: Uint8Array) => Promise<CommandOutcome<Recorded>>;

/** broken: the sighting made its command fail; endless: a continued command wrote nothing more. */
export type LostReason = "broken" | "endless";

interface Item extends SightingText {
  readonly label: string;
}

interface Batch {
  readonly command: "discovery.devices" | "discovery.addresses";
  readonly maxItems: number;
  items: Item[];
  length: number;
}

interface RecorderOptions {
  readonly scanId: string;
  readonly networkId: string;
  /** Target CIDRs of the scan. */
  readonly blocks?: readonly string[];
  /** True if an Admin named them: subnets created from them accept credentials. */
  readonly areBlocksAccepting?: boolean;
  readonly run: RunCommand;
  readonly timers: Timers;
  readonly recorded: (recorded: Recorded, sequence: number | null) => void;
  /** Called for sightings not, or not fully, written; the rest of the batch is written. */
  readonly lost: (label: string, reason: LostReason) => void;
}

export class Recorder {
  private readonly options: RecorderOptions;
  private readonly devices: Batch = { command: "discovery.devices", maxItems: DEVICES_PER_BATCH, items: [], length: 0 };
  private readonly addresses: Batch = {
    command: "discovery.addresses",
    maxItems: ADDRESSES_PER_BATCH,
    items: [],
    length: 0,
  };
  private cancelTimer: () => void = () => {};
  private isTimerSet = false;
  private readonly turns: Array<() => void> = [];
  /** Callers waiting for room. */
  private waiting: Array<() => void> = [];
  private inProgress = 0;
  private readonly sending = new Set<Promise<void>>();
  private failure: unknown = null;
  private isClosed = false;

  constructor(options: RecorderOptions) {
    this.options = options;
  }

  /** Resolves when there is room for more. @throws the error that stopped the recording */
  device(sighting: DeviceSighting): Promise<void> {
    return this.add(this.devices, sighting);
  }

  /** Same as device; ordered after earlier sightings. */
  address(sighting: AddressSighting): Promise<void> {
    return this.add(this.addresses, sighting);
  }

  /**
   * Runs another command, after earlier sightings, and again while it is cut off.
   * @param input without the scan and its network
   */
  async command<N extends keyof SightingInputs>(command: N, input: SightingInputs[N]): Promise<void> {
    this.flushBatches();
    await this.send(async () => {
      while ((await this.runInput(command, input)).is_cut_off === true && !this.isClosed);
    });
    this.assertNotFailed();
  }

  async flush(): Promise<void> {
    this.flushBatches();
    while (this.sending.size > 0) await Promise.all(this.sending);
    this.assertNotFailed();
  }

  /** Rejects new input, drops unsent batches, and waits for the rest. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.cancelTimer();
    for (const resume of this.turns.splice(0)) resume();
    this.releaseWaiting();
    await Promise.allSettled(this.sending);
  }

  private async add(batch: Batch, sighting: AddressSighting | DeviceSighting): Promise<void> {
    this.assertNotFailed();
    const item = { label: sighting.ip_address, ...sightingText(sighting) };
    batch.items.push(item);
    batch.length += item.text.length + item.interfaces.length;
    if (batch.items.length >= batch.maxItems || batch.length >= LENGTH_PER_BATCH) this.flushBatches();
    else this.setTimer();
    while (this.inProgress >= CONCURRENT_COMMANDS && !this.isClosed && this.failure === null)
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.assertNotFailed();
  }

  private releaseWaiting(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resume of waiting) resume();
  }

  private setTimer(): void {
    if (this.isTimerSet) return;
    this.isTimerSet = true;
    this.cancelTimer = this.options.timers.after(BATCH_MS, () => this.flushBatches());
  }

  /** Devices first: an address may belong to one of them. */
  private flushBatches(): void {
    this.cancelTimer();
    this.isTimerSet = false;
    for (const batch of [this.devices, this.addresses]) {
      const { items } = batch;
      batch.items = [];
      batch.length = 0;
      if (items.length > 0) void this.send(() => this.sightings(batch.command, items));
    }
  }

  private send(work: () => Promise<unknown>): Promise<void> {
    const sent = this.runWhenFree(work).catch((error: unknown) => {
      this.failure ??= error;
    });
    this.sending.add(sent);
    void sent.then(() => this.sending.delete(sent));
    return sent;
  }

  private async runWhenFree(work: () => Promise<unknown>): Promise<void> {
    // Pass the slot on directly, so that no other caller gets in between.
    if (this.inProgress >= CONCURRENT_COMMANDS) await new Promise<void>((resolve) => this.turns.push(resolve));
    else this.inProgress += 1;
    try {
      if (!this.isClosed && this.failure === null) await work();
    } finally {
      const next = this.turns.shift();
      if (next === undefined) this.inProgress -= 1;
      else next();
      this.releaseWaiting();
    }
  }

  /**
   * A sighting that makes its command fail must not affect others.
   * @param isContinued true if an earlier command wrote part of it
   */
  private async sightings(command: Batch["command"], items: readonly Item[], isContinued = false): Promise<void> {
    try {
      const { blocks = [], areBlocksAccepting = false } = this.options;
      const reported = blocks.length === 0 ? {} : { blocks, are_blocks_accepting: areBlocksAccepting };
      const { unfinished = [], records } = await this.runInput(command, reported, items);
      // The next command continues an unfinished one; other commands may run in between.
      for (const item of items) {
        const { label } = item;
        const remainder = unfinished.find(({ ip_address }) => ip_address === label);
        if (remainder === undefined) continue;
        if (this.isClosed) return;
        // Another command would write nothing either.
        if (isContinued && Object.keys(records).length === 0) this.options.lost(label, "endless");
        else await this.sightings(command, [isContinued ? item : asContinuation(item, remainder)], true);
      }
    } catch (error) {
      if (!(error instanceof DomainError && SINGLE_SIGHTING_ERRORS.has(error.code))) throw error;
      const [first] = items;
      if (items.length === 1 && first !== undefined) {
        this.options.lost(first.label, "broken");
        return;
      }
      for (const item of items) await this.sightings(command, [item], isContinued);
    }
  }

  /** @param input without the scan, its network and the sightings */
  private async runInput(
    command: keyof SightingCommands,
    input: object,
    sightings?: readonly Item[],
  ): Promise<Recorded> {
    const { scanId, networkId, run, timers, recorded } = this.options;
    const members = JSON.stringify({ scan_id: scanId, network_id: networkId, ...input }).slice(1, -1);
    const bytes = sharedBytes(inputText(members, sightings));
    for (let tries = 1; ; tries += 1) {
      try {
        const { result, sequence } = await run(command, bytes);
        recorded(result, sequence);
        return result;
      } catch (error) {
        if (
          !(error instanceof DomainError && error.code === "rate_limit_exceeded") ||
          tries >= BUSY_TRIES ||
          this.isClosed
        )
          throw error;
        await new Promise<void>((resolve) => timers.after(BUSY_MS, resolve));
      }
    }
  }

  private assertNotFailed(): void {
    if (this.failure !== null) throw this.failure;
  }
}

function asContinuation(item: Item, { is_repeat }: Unfinished): Item {
  return { ...item, text: `{"is_continued":true,"is_repeat":${is_repeat},${item.text.slice(1)}` };
}
