// Scan run from start to end: devices to poll, phases, and data passed on. Orchestration only.

import type { Clock } from "../../base/clock.ts";
import { sharedBytes } from "../../base/shared-bytes.ts";
import type { Timers } from "../../base/timers.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import type { ServedBefore } from "../mib/served.ts";
import type { Unseen } from "../reconcile/staleness.ts";
import { type RowReason, rowsInWords } from "../rows.ts";
import { type AddressSighting, OUTSIDE_TOLD_MAX, type SeenDevice } from "../sightings.ts";
import { candidateAt, candidateOfHost, candidatesIn, candidatesOf, isExpected } from "./candidates.ts";
import type { ScanEnd, ScanNote } from "./commands.ts";
import { type Choice, Credentials } from "./credentials.ts";
import { DevicePolling, inParallel, type PollTarget } from "./device-polling.ts";
import type { DryRun } from "./dry-run.ts";
import type { KnownHost, KnownNetwork } from "./known-network.ts";
import type { OpenedCredential } from "./opened-credentials.ts";
import { NAMES_AT_A_TIME, type Probes } from "./probes.ts";
import { ProgressMeter } from "./progress.ts";
import { type LostReason, Recorder } from "./recorder.ts";
import { type Ending, failed, orStopped, ScanProblem, stopped } from "./scan-ending.ts";
import { ScanReport } from "./scan-report.ts";
import type { ScanOrder, ScanPorts, StopReason } from "./scan-thread.ts";
import { Scope, targetProblems } from "./scope.ts";
import type { SightingInputs } from "./sighting-commands.ts";
import type { AddressStanding } from "./standing-credentials.ts";
import { withheldFindings } from "./withheld.ts";

/** Addresses swept before those that answered are polled; their sightings are held until then. */
const ADDRESSES_OF_SLICE = 16_384;
/** Maximum devices polled because neighbors announced them. */
const FOLLOWED_MAX = 10_000;
/** Maximum neighbor names looked up. */
const NAMES_MAX = 1_000;
/** Consecutive failures after which the name server counts as down. */
export const NAMES_UNANSWERED_MAX = 16;
/** Per command. */
const STALE_OF_BATCH = 2_000;
/** Records searched per pass, and maximum passes. */
const STALE_AT_ONCE = 50_000;
const STALE_PASSES_MAX = 1_000;
/** Interval for saving the outcome so far, and findings per save. */
export const NOTE_MS = 1_000;
const FINDINGS_OF_NOTE = 500;

const LOST: Readonly<Record<LostReason, string>> = {
  broken: "its answers could not be written; see the appliance's log",
  endless: "its answers could not all be written: the write stopped making progress",
};

/** Links between interfaces, as announced by their devices. */
export interface Links {
  /** Inputs of the commands that write the links. */
  find(): Iterable<SightingInputs["discovery.links"]>;
}

export interface EngineParts {
  readonly probes: Probes;
  /** Null for a deleted network. */
  readonly network: KnownNetwork | null;
  readonly openCredential: (id: string) => OpenedCredential | null;
  /** Credentials currently allowed per address. */
  readonly standing: (networkN: number) => AddressStanding;
  /** See reconcile/served-memory.ts. */
  readonly servedBefore: (networkN: number, address: string, hostId: string | null) => ServedBefore | null;
  readonly macsBefore: (networkN: number, address: string, hostId: string | null) => readonly string[];
  /** Null unless this is a dry run. */
  readonly dryRun: DryRun | null;
  readonly links: Links;
  readonly unseen: (networkN: number, cutoff: number) => Iterable<Unseen>;
  readonly clock: Clock;
  readonly timers: Timers;
}

export async function runScan(
  order: ScanOrder,
  ports: ScanPorts,
  parts: EngineParts,
): Promise<{ readonly end: ScanEnd; readonly cause: string | null }> {
  return new ScanRun(order, ports, parts).run();
}

class ScanRun {
  private readonly order: ScanOrder;
  private readonly ports: ScanPorts;
  private readonly parts: EngineParts;
  private readonly book = new ScanReport();
  private readonly progress: ProgressMeter;
  private readonly recorder: Recorder;
  /** Ends the scan of a deleted network, which no user could cancel. */
  private readonly gone = new AbortController();
  /** Aborted if stopped or if the network was deleted. */
  private readonly signal: AbortSignal;
  /** Known hosts, and single-address targets, that answered a sweep. */
  private readonly alive = new Set<string>();
  private readonly aliveTargets = new Set<string>();
  /** Answered devices by address, and dropped overheard addresses. */
  private readonly devices = new Map<string, SeenDevice>();
  private readonly setAside = new Map<string, RowReason>();
  private noting: Promise<void> = Promise.resolve();
  private noted = "";
  private hasAnnouncedChanges = false;
  private cancelNote: () => void = () => {};

  constructor(order: ScanOrder, ports: ScanPorts, parts: EngineParts) {
    this.order = order;
    this.ports = ports;
    this.parts = parts;
    this.signal = AbortSignal.any([ports.signal, this.gone.signal]);
    this.progress = new ProgressMeter({
      clock: parts.clock,
      timers: parts.timers,
      report: (progress) => ports.report(progress, this.book.count),
    });
    const { dryRun } = parts;
    this.recorder = new Recorder({
      scanId: order.id,
      networkId: order.network_id,
      blocks: (order.targets ?? []).filter((target) => target.includes("/")),
      areBlocksAccepting: order.are_targets_permitted,
      run: (command, bytes) => (dryRun === null ? ports.write(command, bytes) : dryRun.run(command, bytes)),
      timers: parts.timers,
      recorded: (recorded, sequence) => {
        this.book.addRecorded(recorded, sequence);
        for (const device of recorded.devices ?? []) this.devices.set(device.ip_address, device);
        for (const { ip_address, reason } of recorded.set_aside ?? []) this.setAside.set(ip_address, reason);
      },
      lost: (label, why) => this.book.add({ type: "Skipped", entity: null, id: null, label, reason: LOST[why] }),
    });
    this.book.wrote(order.dispatch_sequence);
  }

  async run(): Promise<{ readonly end: ScanEnd; readonly cause: string | null }> {
    const { signal } = this;
    this.startNoting();
    let ending: Ending = { status: "Completed", problem: null, cause: null };
    try {
      await orStopped(this.scan(), signal, this.parts.timers);
      this.progress.enter("done");
    } catch (error) {
      ending = this.ports.signal.aborted
        ? stopped(this.ports.signal.reason as StopReason)
        : failed(signal.aborted ? signal.reason : error);
    }
    await this.recorder.close();
    this.progress.end();
    this.cancelNote();
    try {
      await this.tellChanges();
    } catch (error) {
      if (ending.status === "Completed") ending = failed(error);
    }
    await this.noting;
    await this.note().catch((error: unknown) => {
      ending = { ...ending, cause: ending.cause ?? String(error) };
    });
    const { status, problem, cause } = ending;
    return {
      end: {
        id: this.order.id,
        status,
        progress: this.progress.now(),
        outcome: this.book.outcome(this.progress.hostsFound),
        problem,
      },
      cause,
    };
  }

  private async scan(): Promise<void> {
    const { order, parts, book, progress } = this;
    const { network } = parts;
    if (network === null) throw new ScanProblem("the network was deleted");
    const [refused] = targetProblems(order.targets ?? [], order.allow_large);
    if (refused !== undefined) throw new ScanProblem(`the target ${order.targets?.[refused.index]} ${refused.message}`);
    const inhabited = new Set(network.byAddress.keys());
    const scope =
      order.targets === null
        ? Scope.ofSubnets(network.subnets, inhabited)
        : Scope.ofTargets(order.targets, network.subnets, inhabited, !order.are_targets_permitted);
    for (const { cidr, reason } of scope.passedOver)
      book.add({ type: "Skipped", entity: "subnet", id: null, label: cidr, reason });
    const subnets = new AcceptingSubnets(network.subnets);
    const isNamed = order.are_targets_permitted ? (address: string) => scope.contains(address) : () => false;
    const credentials = new Credentials(
      network,
      order.target_ips,
      parts.openCredential,
      (address) => isNamed(address) || subnets.accepts(address),
    );
    const standing = parts.standing(network.n);
    const first = this.targetIps();
    const asking = new DevicePolling({
      probes: parts.probes,
      network,
      choose: (address) => this.chosen(address, network, standing, isNamed),
      maySend: (address, credential) =>
        standing.untilCommit(`${order.id} ${address} ${credential.credential_id}`, () =>
          this.chosen(address, network, standing, isNamed).credentials.some((each) => Bun.deepEquals(each, credential)),
        ),
      servedBefore: (address, hostId) => parts.servedBefore(network.n, address, hostId),
      macsBefore: (address, hostId) => parts.macsBefore(network.n, address, hostId),
      mayAsk: (address) => scope.contains(address) || first.has(address),
      progress,
      signal: this.signal,
      device: (sighting) => this.recorder.device(sighting),
      address: (sighting) => this.recorder.address(sighting),
    });
    const isAsking = order.kind !== "sweep" && !credentials.isEmpty;
    if (order.kind !== "sweep" && credentials.isEmpty)
      book.problem = "no credential is assigned in this network: no device was read by SNMP";
    if (isAsking && first.size > 0) {
      progress.enter("target_ips");
      await this.ask(
        asking,
        [...first].map((address) => candidateAt(address, network, true)),
      );
    }
    if (order.kind !== "snmp") await this.sweep(scope, network, asking, isAsking, credentials);
    else if (isAsking) await this.askKnown(scope, network, asking);
    if (isAsking) await this.follow(scope, network, asking);
    // Neighbors of all devices; the writer keeps those within the network.
    for (const sighting of asking.neighborsOfDevices()) await this.recorder.address(sighting);
    await this.recorder.flush();
    this.tellHeard(asking);
    await this.link();
    await this.perish(network);
    await this.tellChanges();
    // Last, since there may be very many: other findings come first.
    this.tellUnreached(scope, network, asking, credentials);
    for (const finding of withheldFindings(asking.unanswered(), subnets, network.hosts)) book.add(finding);
  }

  /** Uses current permissions: a credential revoked by an Admin during the scan is not sent. */
  private chosen(
    address: string,
    { remembered }: KnownNetwork,
    standing: AddressStanding,
    isNamed: (address: string) => boolean,
  ): Choice {
    const { order, parts } = this;
    const given = order.target_ips.filter(
      (each) => each.ip_addresses.includes(address) && standing.isNamed(each.credential_id, address, order.commit),
    );
    const { subnets, assignments, byAddress } = standing.at(address);
    const network = { assignments, byAddress, remembered };
    return new Credentials(network, given, parts.openCredential, (at) => isNamed(at) || subnets.accepts(at)).at(
      address,
    );
  }

  private async tellChanges(): Promise<void> {
    if (this.parts.dryRun === null || this.hasAnnouncedChanges) return;
    this.hasAnnouncedChanges = true;
    for (const finding of this.parts.dryRun.findings()) {
      this.book.add(finding);
      // Save in batches: all at once would double the memory.
      if (this.book.freshCount >= FINDINGS_OF_NOTE) await this.note();
    }
  }

  /** First addresses of credentials, anywhere, except addresses without a host. */
  private targetIps(): Set<string> {
    const wanted = new Set(this.order.target_ips.flatMap(({ ip_addresses }) => ip_addresses));
    for (const address of wanted) {
      const [problem] = targetProblems([address], false);
      if (problem === undefined) continue;
      wanted.delete(address);
      this.book.add({ type: "Skipped", entity: null, id: null, label: address, reason: problem.message });
    }
    return wanted;
  }

  /** Sweeps slice by slice: polls, then forgets, the answering addresses before the next slice. */
  private async sweep(
    scope: Scope,
    network: KnownNetwork,
    asking: DevicePolling,
    isAsking: boolean,
    credentials: Credentials,
  ): Promise<void> {
    const { progress, parts, recorder } = this;
    // Known addresses of blocks too large to sweep.
    const besides = [...network.byAddress.keys()].filter((address) => scope.contains(address) && !scope.walks(address));
    progress.addressesTotal = scope.total + besides.length;
    for (const slice of sliced(chained(scope.addresses(), besides), ADDRESSES_OF_SLICE)) {
      progress.enter("sweep");
      const seen = new Map<string, AddressSighting>();
      const inSlice = new Set(slice);
      const before = progress.beginSlice();
      const { means } = await parts.probes.sweep(slice, this.signal, {
        answer: (sighting) => {
          if (!inSlice.has(sighting.ip_address) || seen.has(sighting.ip_address) || this.signal.aborted) return;
          seen.set(sighting.ip_address, sighting);
          progress.hostsFound += 1;
          for (const { host_id } of network.byAddress.get(sighting.ip_address) ?? []) this.alive.add(host_id);
          if (scope.names(sighting.ip_address)) this.aliveTargets.add(sighting.ip_address);
          return isAsking ? undefined : recorder.address(sighting);
        },
        progress: (reported) => progress.sweptTo(before, reported),
      });
      this.signal.throwIfAborted();
      this.book.icmp = means;
      progress.addressesDone = before.addressesDone + slice.length;
      if (!isAsking) await recorder.flush();
      if (!isAsking || seen.size === 0) continue;
      progress.enter("snmp");
      await this.ask(asking, candidatesOf(seen, network, scope));
    }
    if (!isAsking) return;
    // Known or named devices that answer only SNMP.
    const silent = [...network.hosts.values()].filter(
      (host) => !this.alive.has(host.id) && !asking.hasReached(host.id) && isExpected(host, network, credentials),
    );
    const named = scope.namedAddresses.filter(
      (address) => !this.aliveTargets.has(address) && !asking.isSettled(address),
    );
    progress.enter("snmp");
    await this.ask(asking, [
      ...named.map((address) => candidateAt(address, network, true)),
      ...silent.flatMap((host) => candidateOfHost(host, network, scope) ?? []),
    ]);
  }

  /** Polls each host once. */
  private async askKnown(scope: Scope, network: KnownNetwork, asking: DevicePolling): Promise<void> {
    const { progress } = this;
    progress.enter("snmp");
    if (this.order.targets === null) {
      const candidates = [...network.hosts.values()].flatMap((host) => candidateOfHost(host, network, scope) ?? []);
      progress.addressesTotal = candidates.length;
      await this.ask(asking, counted(candidates, progress), candidates.length);
      return;
    }
    progress.addressesTotal = scope.total;
    await this.ask(asking, counted(candidatesIn(scope, network), progress), scope.total);
  }

  /** Polls the permitted neighbors of answered devices, and their neighbors in turn. */
  private async follow(scope: Scope, network: KnownNetwork, asking: DevicePolling): Promise<void> {
    const { progress, parts } = this;
    progress.enter("follow");
    const knownNames = new Set(
      [...network.hosts.values()].flatMap(({ name, sys_name }) => [
        name.toLowerCase(),
        ...(sys_name === null ? [] : [sys_name.toLowerCase()]),
      ]),
    );
    let namesLeft = NAMES_MAX;
    let left = FOLLOWED_MAX;
    let unanswered = 0;
    for (
      let heard = asking.takeHeard();
      heard.addresses.length + heard.names.length > 0 && left > 0;
      heard = asking.takeHeard()
    ) {
      const names = heard.names.filter((name) => !knownNames.has(name)).slice(0, namesLeft);
      namesLeft -= names.length;
      for (const name of names) knownNames.add(name);
      const found = new Set(heard.addresses);
      await inParallel(names, NAMES_AT_A_TIME, this.signal, async (name) => {
        if (unanswered >= NAMES_UNANSWERED_MAX) return;
        const addresses = await parts.probes.addressesOf(name, this.signal);
        unanswered = addresses === null ? unanswered + 1 : 0;
        for (const address of addresses ?? []) found.add(address);
      });
      const addresses = [...found]
        .filter((address) => scope.contains(address) && !asking.isSettled(address))
        .slice(0, left);
      left -= addresses.length;
      await this.ask(
        asking,
        addresses.map((address) => candidateAt(address, network, false)),
      );
    }
  }

  private async ask(
    asking: DevicePolling,
    candidates: readonly PollTarget[] | Generator<PollTarget>,
    total: number | null = Array.isArray(candidates) ? candidates.length : null,
  ): Promise<void> {
    this.progress.beginAsking(total);
    const before = this.progress.devicesAnswered;
    await asking.ask(candidates);
    this.book.devices += this.progress.devicesAnswered - before;
  }

  private tellUnreached(scope: Scope, network: KnownNetwork, asking: DevicePolling, credentials: Credentials): void {
    const { kind } = this.order;
    const reported = new Set<string>();
    const isReported = (host: KnownHost) =>
      kind === "snmp" || !this.alive.has(host.id) || isExpected(host, network, credentials);
    for (const finding of asking.unreached(isReported)) {
      if (finding.id !== null && reported.has(finding.id)) continue;
      reported.add(finding.id ?? finding.label);
      this.book.add(finding);
    }
    if (kind === "snmp") return;
    const silentTargets = scope.namedAddresses.filter(
      (address) =>
        !this.aliveTargets.has(address) &&
        !asking.hasAnswered(address) &&
        !reported.has(address) &&
        !network.byAddress.has(address),
    );
    for (const address of silentTargets)
      this.book.add({ type: "Unreached", entity: null, id: null, label: address, reason: "no answer" });
    for (const host of network.hosts.values()) {
      if (this.alive.has(host.id) || asking.hasReached(host.id) || reported.has(host.id)) continue;
      const silent = host.addresses.map((each) => each.ip_address).filter((address) => scope.contains(address));
      if (silent.length > 0)
        this.book.add({
          type: "Unreached",
          entity: "host",
          id: host.id,
          label: host.name,
          reason: `no answer from ${silent.slice(0, 3).join(", ")}${silent.length > 3 ? ", …" : ""}`,
        });
    }
  }

  /** Reports the fates of neighbor table rows per device; neighbors are written after all devices. */
  private tellHeard(asking: DevicePolling): void {
    for (const { ip_address, rows, outside } of asking.heardRows(this.setAside)) {
      const device = this.devices.get(ip_address);
      if (device === undefined) continue;
      const some =
        outside.length === 0 ? "" : `; outside: ${outside.slice(0, 3).join(", ")}${outside.length > 3 ? ", …" : ""}`;
      const addresses = outside.length === 0 ? {} : { addresses: outside.slice(0, OUTSIDE_TOLD_MAX) };
      const finding = {
        type: "Read",
        entity: "host",
        id: device.host_id,
        label: `${device.name}: arp`,
        reason: rowsInWords(rows) + some,
      } as const;
      this.book.add({ ...finding, rows, ...addresses });
    }
  }

  private async link(): Promise<void> {
    if (this.order.kind === "sweep") return;
    this.progress.enter("links");
    for (const input of this.parts.links.find()) {
      this.signal.throwIfAborted();
      await this.recorder.command("discovery.links", input);
    }
  }

  private async perish({ n, staleAfterHours }: KnownNetwork): Promise<void> {
    if (staleAfterHours === null) return;
    this.progress.enter("stale");
    const { clock, unseen, dryRun } = this.parts;
    const cutoff = clock.now() - staleAfterHours * 3_600_000;
    // Collected first: an open read would hold its snapshot for all scans of this thread. Marked records are not found
    // again.
    for (let passes = 0; passes < STALE_PASSES_MAX; passes += 1) {
      const records = taken(unseen(n, cutoff), STALE_AT_ONCE);
      for (const batch of sliced(records, STALE_OF_BATCH)) {
        this.signal.throwIfAborted();
        await this.recorder.command("discovery.stale", { records: batch });
      }
      if (records.length < STALE_AT_ONCE || dryRun !== null) return;
    }
  }

  private startNoting(): void {
    this.cancelNote = this.parts.timers.after(NOTE_MS, () => {
      this.noting = this.noting.then(() => this.note()).catch(() => {});
      this.startNoting();
    });
  }

  /** Saves the outcome if it changed since the last save. */
  private async note(): Promise<void> {
    const { ordinal, findings } = this.book.takeFresh();
    const progress = this.progress.now();
    const outcome = this.book.outcome(progress.hosts_found);
    const noted = JSON.stringify([progress.phase, progress.addresses_done, progress.devices_asked, outcome]);
    if (findings.length === 0 && noted === this.noted) return;
    this.noted = noted;
    for (let start = 0; start === 0 || start < findings.length; start += FINDINGS_OF_NOTE) {
      const note: ScanNote = {
        id: this.order.id,
        ordinal: ordinal + start,
        findings: findings.slice(start, start + FINDINGS_OF_NOTE),
        progress,
        outcome,
      };
      const { result } = await this.ports.write("discovery.note", sharedBytes(JSON.stringify(note)));
      if (result.isNetworkGone) this.gone.abort(new ScanProblem("the network was deleted"));
    }
  }
}

/** Counts an item as done when the next one is requested. */
function* counted(candidates: Iterable<PollTarget | null>, progress: ProgressMeter): Generator<PollTarget> {
  for (const candidate of candidates) {
    if (candidate !== null) yield candidate;
    progress.addressesDone += 1;
  }
}

function* chained<T>(...parts: ReadonlyArray<Iterable<T>>): Generator<T> {
  for (const part of parts) yield* part;
}

function taken<T>(items: Iterable<T>, most: number): T[] {
  const some: T[] = [];
  for (const item of items) {
    if (some.push(item) >= most) break;
  }
  return some;
}

function* sliced<T>(items: Iterable<T>, size: number): Generator<T[]> {
  let slice: T[] = [];
  for (const item of items) {
    slice.push(item);
    if (slice.length < size) continue;
    yield slice;
    slice = [];
  }
  if (slice.length > 0) yield slice;
}
