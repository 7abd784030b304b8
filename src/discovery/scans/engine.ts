// Scan run from start to finish: devices to poll, phases, and data flow between them. Orchestration only.

import type { Clock } from "../../base/clock.ts";
import { sharedBytes } from "../../base/shared-bytes.ts";
import type { Timers } from "../../base/timers.ts";
import { AcceptingSubnets } from "../../resources/subnets/accepting.ts";
import type { ServedBefore } from "../mib/served.ts";
import type { Expired } from "../reconcile/expired.ts";
import { neighborKey } from "../reconcile/neighbor-tables.ts";
import type { Unseen } from "../reconcile/staleness.ts";
import { describeRows, type RowReason } from "../rows.ts";
import { type AddressSighting, OUTSIDE_REPORTED_MAX, type SeenDevice } from "../sightings.ts";
import { candidateAt, candidateOfHost, candidatesIn, candidatesOf, isExpected } from "./candidates.ts";
import type { ScanEnd, ScanNote } from "./commands.ts";
import type { AddressPermissions } from "./credential-permissions.ts";
import { type Choice, Credentials } from "./credentials.ts";
import { DevicePolling, inParallel, type PollTarget } from "./device-polling.ts";
import type { DryRun } from "./dry-run.ts";
import type { KnownHost, KnownNetwork } from "./known-network.ts";
import type { OpenedCredential } from "./opened-credentials.ts";
import { CONCURRENT_NAME_LOOKUPS, type Probes } from "./probes.ts";
import { ProgressMeter } from "./progress.ts";
import { type LostReason, Recorder } from "./recorder.ts";
import { type Ending, failed, ScanProblem, stopped, untilStopped } from "./scan-ending.ts";
import { ScanReport } from "./scan-report.ts";
import type { ScanOrder, ScanPorts, StopReason } from "./scan-thread.ts";
import { Scope, targetProblems } from "./scope.ts";
import type { SightingInputs } from "./sighting-commands.ts";
import { withheldFindings } from "./withheld.ts";

/** Addresses swept before the responding ones are polled; their sightings are held until then. */
const ADDRESSES_PER_SLICE = 16_384;
/** Maximum devices polled because neighbors announced them. */
const FOLLOWED_MAX = 10_000;
/** Maximum neighbor names looked up. */
const NAMES_MAX = 1_000;
/** Consecutive failures after which the name server counts as down. */
export const NAMES_UNANSWERED_MAX = 16;
/** Per command. */
const STALE_PER_BATCH = 2_000;
/** Records searched per pass, and maximum passes. */
const STALE_PER_PASS = 50_000;
const STALE_PASSES_MAX = 1_000;
/** Maximum expired records, and expired sightings, per scan: the next one ends the rest. */
const EXPIRED_MAX = 200_000;
/** Hosts end with their parts, of which a command ends 10,000. */
const EXPIRED_PER_BATCH = 1_000;
const SIGHTINGS_PER_BATCH = 10_000;
/** Interval for saving the outcome so far, and findings per save. */
export const SAVE_INTERVAL_MS = 1_000;
const FINDINGS_PER_SAVE = 500;

const LOST_REASONS: Readonly<Record<LostReason, string>> = {
  broken: "its report could not be written; see the appliance's log",
  endless: "its report could not be written in full: the write made no progress",
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
  readonly permissions: (networkN: number) => AddressPermissions;
  /** See reconcile/served-data.ts. */
  readonly servedBefore: (networkN: number, address: string, hostId: string | null) => ServedBefore | null;
  readonly macsBefore: (networkN: number, address: string, hostId: string | null) => readonly string[];
  /** Null unless this is a dry run. */
  readonly dryRun: DryRun | null;
  readonly links: Links;
  readonly unseen: (networkN: number, cutoff: number) => Iterable<Unseen>;
  /** Records and sightings that have expired by now. */
  readonly expired: (
    networkN: number,
    scanId: string,
  ) => { readonly records: Iterable<Expired>; readonly sightings: Iterable<number> };
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
  private readonly scanReport = new ScanReport();
  private readonly progress: ProgressMeter;
  private readonly recorder: Recorder;
  /** Ends the scan of a deleted network, which no user could cancel. */
  private readonly networkGone = new AbortController();
  /** Aborted if stopped or if the network was deleted. */
  private readonly signal: AbortSignal;
  /** Known hosts, and single-address targets, that responded to a sweep. */
  private readonly alive = new Set<string>();
  private readonly aliveTargets = new Set<string>();
  /** Responding devices by address, and dropped learned addresses. */
  private readonly devices = new Map<string, SeenDevice>();
  private readonly setAside = new Map<string, RowReason>();
  private saving: Promise<void> = Promise.resolve();
  private saved = "";
  private hasAnnouncedChanges = false;
  private cancelSave: () => void = () => {};

  constructor(order: ScanOrder, ports: ScanPorts, parts: EngineParts) {
    this.order = order;
    this.ports = ports;
    this.parts = parts;
    this.signal = AbortSignal.any([ports.signal, this.networkGone.signal]);
    this.progress = new ProgressMeter({
      clock: parts.clock,
      timers: parts.timers,
      report: (progress) => ports.report(progress, this.scanReport.count),
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
        this.scanReport.addRecorded(recorded, sequence);
        for (const device of recorded.devices ?? []) this.devices.set(device.ip_address, device);
        for (const each of recorded.set_aside ?? []) this.setAside.set(neighborKey(each), each.reason);
      },
      lost: (label, reason) =>
        this.scanReport.add({ type: "Skipped", entity: null, id: null, label, reason: LOST_REASONS[reason] }),
    });
    this.scanReport.addTransaction(order.dispatch_sequence);
  }

  async run(): Promise<{ readonly end: ScanEnd; readonly cause: string | null }> {
    const { signal } = this;
    this.startSaving();
    let ending: Ending = { status: "Completed", problem: null, cause: null };
    try {
      await untilStopped(this.scan(), signal, this.parts.timers);
      this.progress.enter("done");
    } catch (error) {
      ending = this.ports.signal.aborted
        ? stopped(this.ports.signal.reason as StopReason)
        : failed(signal.aborted ? signal.reason : error);
    }
    await this.recorder.close();
    this.progress.end();
    this.cancelSave();
    try {
      await this.reportChanges();
    } catch (error) {
      if (ending.status === "Completed") ending = failed(error);
    }
    await this.saving;
    await this.note().catch((error: unknown) => {
      ending = { ...ending, cause: ending.cause ?? String(error) };
    });
    const { status, problem, cause } = ending;
    const progress = this.progress.now();
    const outcome = this.scanReport.outcome(this.progress.hostsFound);
    return { end: { id: this.order.id, status, progress, outcome, problem }, cause };
  }

  private async scan(): Promise<void> {
    const { order, parts, scanReport, progress } = this;
    const { network } = parts;
    if (network === null) throw new ScanProblem("the network was deleted");
    const [refused] = targetProblems(order.targets ?? [], order.allow_large);
    if (refused !== undefined) throw new ScanProblem(`the target ${order.targets?.[refused.index]} ${refused.message}`);
    const knownAddresses = new Set(network.byAddress.keys());
    const scope =
      order.targets === null
        ? Scope.ofSubnets(network.subnets, knownAddresses)
        : Scope.ofTargets(order.targets, network.subnets, knownAddresses, !order.are_targets_permitted);
    for (const { cidr, reason } of scope.skipped)
      scanReport.add({ type: "Skipped", entity: "subnet", id: null, label: cidr, reason });
    const subnets = new AcceptingSubnets(network.subnets);
    const isNamed = order.are_targets_permitted ? (address: string) => scope.contains(address) : () => false;
    const isAccepting = (address: string) => isNamed(address) || subnets.accepts(address);
    const credentials = new Credentials(network, order.target_ips, parts.openCredential, isAccepting);
    const permissions = parts.permissions(network.n);
    const first = this.targetIps();
    const polling = new DevicePolling({
      probes: parts.probes,
      network,
      choose: (address) => this.credentialsFor(address, network, permissions, isNamed),
      maySend: (address, credential) =>
        permissions.untilCommit(`${order.id} ${address} ${credential.credential_id}`, () =>
          this.credentialsFor(address, network, permissions, isNamed).credentials.some((each) =>
            Bun.deepEquals(each, credential),
          ),
        ),
      servedBefore: (address, hostId) => parts.servedBefore(network.n, address, hostId),
      macsBefore: (address, hostId) => parts.macsBefore(network.n, address, hostId),
      mayPoll: (address) => scope.contains(address) || first.has(address),
      progress,
      signal: this.signal,
      device: (sighting) => this.recorder.device(sighting),
      address: (sighting) => this.recorder.address(sighting),
    });
    const isPolling = order.kind !== "sweep" && !credentials.isEmpty;
    if (order.kind !== "sweep" && credentials.isEmpty)
      scanReport.problem = "no credential is assigned in this network: no device was read by SNMP";
    if (isPolling && first.size > 0) {
      progress.enter("target_ips");
      const targets = [...first].map((address) => candidateAt(address, network, true));
      await this.poll(polling, targets);
    }
    const startedAt = parts.clock.now();
    if (order.kind !== "snmp") await this.sweep(scope, network, polling, isPolling, credentials);
    else if (isPolling) await this.pollKnownHosts(scope, network, polling);
    if (isPolling) await this.follow(scope, network, polling);
    // Neighbors of all devices; the writer keeps those within the network.
    for (const sighting of polling.neighborsOfDevices()) await this.recorder.address(sighting);
    await this.recorder.flush();
    this.reportNeighborTables(polling);
    await this.link();
    const blocks = scope.walkedBlocks;
    if (order.kind !== "snmp" && blocks.length > 0)
      await this.recorder.command("discovery.swept", { swept: blocks, started_at: startedAt });
    await this.endUnusedVlans();
    await this.markStale(network);
    await this.expire(network);
    await this.reportChanges();
    // Last, since there may be many: other findings come first.
    this.reportUnreached(scope, network, polling, credentials);
    for (const finding of withheldFindings(polling.unanswered(), subnets, network.hosts)) scanReport.add(finding);
  }

  /** Uses current permissions: a credential revoked by an Admin during the scan is not sent. */
  private credentialsFor(
    address: string,
    { remembered }: KnownNetwork,
    permissions: AddressPermissions,
    isNamed: (address: string) => boolean,
  ): Choice {
    const { order, parts } = this;
    const targetCredentials = order.target_ips.filter(
      (each) =>
        each.ip_addresses.includes(address) && permissions.isTargetIp(each.credential_id, address, order.commit),
    );
    const { subnets, assignments, byAddress } = permissions.at(address);
    const network = { assignments, byAddress, remembered };
    const isAccepting = (candidate: string) => isNamed(candidate) || subnets.accepts(candidate);
    return new Credentials(network, targetCredentials, parts.openCredential, isAccepting).at(address);
  }

  private async reportChanges(): Promise<void> {
    if (this.parts.dryRun === null || this.hasAnnouncedChanges) return;
    this.hasAnnouncedChanges = true;
    for (const finding of this.parts.dryRun.findings()) {
      this.scanReport.add(finding);
      // Save in batches: all at once would double the memory.
      if (this.scanReport.pendingCount >= FINDINGS_PER_SAVE) await this.note();
    }
  }

  /** First addresses of credentials, anywhere, except addresses without a host. */
  private targetIps(): Set<string> {
    const targets = new Set(this.order.target_ips.flatMap(({ ip_addresses }) => ip_addresses));
    for (const address of targets) {
      const [problem] = targetProblems([address], false);
      if (problem === undefined) continue;
      targets.delete(address);
      this.scanReport.add({ type: "Skipped", entity: null, id: null, label: address, reason: problem.message });
    }
    return targets;
  }

  /** Sweeps slice by slice: polls, then forgets, the responding addresses before the next slice. */
  private async sweep(
    scope: Scope,
    network: KnownNetwork,
    polling: DevicePolling,
    isPolling: boolean,
    credentials: Credentials,
  ): Promise<void> {
    const { progress, parts, recorder } = this;
    // Known addresses of blocks too large to sweep.
    const outsideBlocks = [...network.byAddress.keys()].filter(
      (address) => scope.contains(address) && !scope.enumerates(address),
    );
    progress.addressesTotal = scope.total + outsideBlocks.length;
    for (const slice of sliced(chained(scope.addresses(), outsideBlocks), ADDRESSES_PER_SLICE)) {
      progress.enter("sweep");
      const seen = new Map<string, AddressSighting>();
      const inSlice = new Set(slice);
      const before = progress.beginSlice();
      const { methods: means } = await parts.probes.sweep(slice, this.signal, {
        answer: (sighting) => {
          if (!inSlice.has(sighting.ip_address) || seen.has(sighting.ip_address) || this.signal.aborted) return;
          seen.set(sighting.ip_address, sighting);
          progress.hostsFound += 1;
          for (const { host_id } of network.byAddress.get(sighting.ip_address) ?? []) this.alive.add(host_id);
          if (scope.isTarget(sighting.ip_address)) this.aliveTargets.add(sighting.ip_address);
          return isPolling ? undefined : recorder.address(sighting);
        },
        progress: (reported) => progress.updateSweep(before, reported),
      });
      this.signal.throwIfAborted();
      this.scanReport.icmp = means;
      progress.addressesDone = before.addressesDone + slice.length;
      if (!isPolling) await recorder.flush();
      if (!isPolling || seen.size === 0) continue;
      progress.enter("snmp");
      await this.poll(polling, candidatesOf(seen, network, scope));
    }
    if (!isPolling) return;
    // Known or named devices that respond only to SNMP.
    const silent = [...network.hosts.values()].filter(
      (host) => !this.alive.has(host.id) && !polling.hasReached(host.id) && isExpected(host, network, credentials),
    );
    const unansweredTargets = scope.namedAddresses.filter(
      (address) => !this.aliveTargets.has(address) && !polling.isSettled(address),
    );
    progress.enter("snmp");
    await this.poll(polling, [
      ...unansweredTargets.map((address) => candidateAt(address, network, true)),
      ...silent.flatMap((host) => candidateOfHost(host, network, scope) ?? []),
    ]);
  }

  /** Polls each host once. */
  private async pollKnownHosts(scope: Scope, network: KnownNetwork, polling: DevicePolling): Promise<void> {
    const { progress } = this;
    progress.enter("snmp");
    if (this.order.targets === null) {
      const candidates = [...network.hosts.values()].flatMap((host) => candidateOfHost(host, network, scope) ?? []);
      progress.addressesTotal = candidates.length;
      await this.poll(polling, counted(candidates, progress), candidates.length);
      return;
    }
    progress.addressesTotal = scope.total;
    await this.poll(polling, counted(candidatesIn(scope, network), progress), scope.total);
  }

  /** Polls the permitted neighbors of responding devices, and their neighbors in turn. */
  private async follow(scope: Scope, network: KnownNetwork, polling: DevicePolling): Promise<void> {
    const { progress, parts } = this;
    progress.enter("follow");
    const hostNames = [...network.hosts.values()].flatMap(({ name, sys_name }) => [name, sys_name ?? []].flat());
    const knownNames = new Set(hostNames.map((name) => name.toLowerCase()));
    let remainingNames = NAMES_MAX;
    let left = FOLLOWED_MAX;
    let unanswered = 0;
    for (
      let neighbors = polling.takeNeighbors();
      neighbors.addresses.length + neighbors.names.length > 0 && left > 0;
      neighbors = polling.takeNeighbors()
    ) {
      const names = neighbors.names.filter((name) => !knownNames.has(name)).slice(0, remainingNames);
      remainingNames -= names.length;
      for (const name of names) knownNames.add(name);
      const found = new Set(neighbors.addresses);
      await inParallel(names, CONCURRENT_NAME_LOOKUPS, this.signal, async (name) => {
        if (unanswered >= NAMES_UNANSWERED_MAX) return;
        const addresses = await parts.probes.addressesOf(name, this.signal);
        unanswered = addresses === null ? unanswered + 1 : 0;
        for (const address of addresses ?? []) found.add(address);
      });
      const addresses = [...found]
        .filter((address) => scope.contains(address) && !polling.isSettled(address))
        .slice(0, left);
      left -= addresses.length;
      const candidates = addresses.map((address) => candidateAt(address, network, false));
      await this.poll(polling, candidates);
    }
  }

  private async poll(
    polling: DevicePolling,
    candidates: readonly PollTarget[] | Generator<PollTarget>,
    total: number | null = Array.isArray(candidates) ? candidates.length : null,
  ): Promise<void> {
    this.progress.beginPolling(total);
    const before = this.progress.devicesAnswered;
    await polling.poll(candidates);
    this.scanReport.devices += this.progress.devicesAnswered - before;
  }

  private reportUnreached(scope: Scope, network: KnownNetwork, polling: DevicePolling, credentials: Credentials): void {
    const { kind } = this.order;
    const reported = new Set<string>();
    const isReported = (host: KnownHost) =>
      kind === "snmp" || !this.alive.has(host.id) || isExpected(host, network, credentials);
    for (const finding of polling.unreached(isReported)) {
      if (finding.id !== null && reported.has(finding.id)) continue;
      reported.add(finding.id ?? finding.label);
      this.scanReport.add(finding);
    }
    if (kind === "snmp") return;
    const silentTargets = scope.namedAddresses.filter(
      (address) =>
        !this.aliveTargets.has(address) &&
        !polling.hasAnswered(address) &&
        !reported.has(address) &&
        !network.byAddress.has(address),
    );
    for (const address of silentTargets)
      this.scanReport.add({ type: "Unreached", entity: null, id: null, label: address, reason: "no response" });
    for (const host of network.hosts.values()) {
      if (this.alive.has(host.id) || polling.hasReached(host.id) || reported.has(host.id)) continue;
      const silent = host.addresses.map((each) => each.ip_address).filter((address) => scope.contains(address));
      if (silent.length === 0) continue;
      const reason = `no response from ${silent.slice(0, 3).join(", ")}${silent.length > 3 ? ", …" : ""}`;
      this.scanReport.add({ type: "Unreached", entity: "host", id: host.id, label: host.name, reason });
    }
  }

  /** Reports the outcomes of neighbor table rows per device; neighbors are written after all devices. */
  private reportNeighborTables(polling: DevicePolling): void {
    for (const { ip_address, rows, outside } of polling.neighborTableRows(this.setAside)) {
      const device = this.devices.get(ip_address);
      if (device === undefined) continue;
      const sample =
        outside.length === 0 ? "" : `; outside: ${outside.slice(0, 3).join(", ")}${outside.length > 3 ? ", …" : ""}`;
      const addresses = outside.length === 0 ? {} : { addresses: outside.slice(0, OUTSIDE_REPORTED_MAX) };
      const [label, reason] = [`${device.name}: arp`, describeRows(rows) + sample];
      this.scanReport.add({ type: "Read", entity: "host", id: device.host_id, label, reason, rows, ...addresses });
    }
  }

  private async link(): Promise<void> {
    // What a sweep has found may be a neighbor that switches announced before.
    if (this.order.kind === "sweep" && !["hosts", "ip_addresses"].some((kind) => this.scanReport.hasCreated(kind)))
      return;
    this.progress.enter("links");
    for (const input of this.parts.links.find()) {
      this.signal.throwIfAborted();
      await this.recorder.command("discovery.links", input);
    }
  }

  private async endUnusedVlans(): Promise<void> {
    if (this.order.kind !== "sweep") await this.recorder.command("discovery.vlans", {});
  }

  private async markStale({ n, staleAfterHours }: KnownNetwork): Promise<void> {
    if (staleAfterHours === null) return;
    this.progress.enter("stale");
    const { clock, unseen, dryRun } = this.parts;
    const cutoff = clock.now() - staleAfterHours * 3_600_000;
    // Collected first: an open read would hold its snapshot for all scans of this thread. Marked records are not found
    // again.
    for (let passes = 0; passes < STALE_PASSES_MAX; passes += 1) {
      const records = takeUpTo(unseen(n, cutoff), STALE_PER_PASS);
      for (const batch of sliced(records, STALE_PER_BATCH)) {
        this.signal.throwIfAborted();
        await this.recorder.command("discovery.stale", { records: batch });
      }
      if (records.length < STALE_PER_PASS || dryRun !== null) return;
    }
  }

  /** Ends what has expired, hosts before addresses. */
  private async expire({ n }: KnownNetwork): Promise<void> {
    const { records, sightings } = this.parts.expired(n, this.order.id);
    for (const batch of sliced(takeUpTo(records, EXPIRED_MAX), EXPIRED_PER_BATCH)) {
      this.signal.throwIfAborted();
      await this.recorder.command("discovery.expire", { records: batch, sightings: [] });
    }
    for (const batch of sliced(takeUpTo(sightings, EXPIRED_MAX), SIGHTINGS_PER_BATCH)) {
      this.signal.throwIfAborted();
      await this.recorder.command("discovery.expire", { records: [], sightings: batch });
    }
  }

  private startSaving(): void {
    this.cancelSave = this.parts.timers.after(SAVE_INTERVAL_MS, () => {
      this.saving = this.saving.then(() => this.note()).catch(() => {});
      this.startSaving();
    });
  }

  /** Saves the outcome if it changed since the last save. */
  private async note(): Promise<void> {
    const { ordinal, findings } = this.scanReport.takePending();
    const progress = this.progress.now();
    const outcome = this.scanReport.outcome(progress.hosts_found);
    const saved = JSON.stringify([progress.phase, progress.addresses_done, progress.devices_asked, outcome]);
    if (findings.length === 0 && saved === this.saved) return;
    this.saved = saved;
    for (let start = 0; start === 0 || start < findings.length; start += FINDINGS_PER_SAVE) {
      const batch = findings.slice(start, start + FINDINGS_PER_SAVE);
      const note: ScanNote = { id: this.order.id, ordinal: ordinal + start, findings: batch, progress, outcome };
      const { result } = await this.ports.write("discovery.note", sharedBytes(JSON.stringify(note)));
      if (result.isNetworkGone) this.networkGone.abort(new ScanProblem("the network was deleted"));
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

function takeUpTo<T>(items: Iterable<T>, max: number): T[] {
  const sample: T[] = [];
  for (const item of items) {
    if (sample.push(item) >= max) break;
  }
  return sample;
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
