// Summary compared with a reference implementation over all versions: at random timestamps of a random history, for
// callers with access to all or some networks, and for one network or all.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { KINDS } from "../../src/records/resources.ts";
import { LONG_READS } from "../../src/registry/long-reads.ts";
import { conflicts } from "../../src/reports/conflicts/conflicts.ts";
import { scheduleFirstSummary } from "../../src/reports/summary/first-summary.ts";
import { flappingPorts } from "../../src/reports/summary/flapping.ts";
import { dayBefore, summary } from "../../src/reports/summary/summary.ts";
import { SUMMARY_CONFLICT_TYPES } from "../../src/resources/conflict-acceptances/acceptance.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { OPER_STATUSES } from "../../src/resources/if-entries/vocabulary.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { recordLabel } from "../../src/resources/record-label.ts";
import { DirectLongReads } from "../support/injected/direct-long-reads.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";
import type { Draft, ModelRecord } from "../support/model/draft.ts";
import { type ExpectedChange, expectedChanges, matchesQuery } from "../support/model/expected-changes.ts";
import { Model } from "../support/model/model.ts";
import { countSteps } from "../support/store/counted-steps.ts";
import { momentOf } from "../support/store/moments.ts";
import { DAY_MS, type JsonRecord, Store } from "../support/store/store.ts";

const store = new Store({ seed: 52 });
const model = new Model(store, 52);
let allChanges: ExpectedChange[];
/** Stored scans, with network and time; NaN if the scan did not fail. */
const failed: Array<{ readonly id: string; readonly networkId: string; readonly at: number }> = [];

beforeAll(() => {
  model.movesHosts = false;
  const { random } = model;
  for (let step = 0; step < 500; step += 1) {
    // Some ports flap, and some hosts are no longer seen.
    const choice = random.integer(6);
    if (choice === 0)
      model.step((draft) => {
        const port = draft.all(ifEntryKind)[random.integer(3)];
        if (port !== undefined) flip(draft, port);
      });
    else if (choice === 1)
      model.step((draft) => {
        const hosts = draft.all(hostKind);
        if (hosts.length > 0)
          draft.update(random.pick(hosts), {
            stale_since: random.integer(3) === 0 ? undefined : formatInstant(store.clock.at - random.integer(DAY_MS)),
          });
      });
    else if (choice === 2)
      model.step((draft) => {
        // A few MAC addresses move from port to port, and some ports have a neighbor.
        const entries = draft.all(ifEntryKind);
        for (const { fields } of draft.all(fdbEntryKind).filter(() => random.integer(3) === 0)) {
          const port = entries.find(({ id }) => id === fields.if_entry_id);
          if (port !== undefined) draft.forwardTo(port, fields.mac_address);
        }
        for (let mac = 0; mac < 3 && entries.length > 0; mac += 1)
          draft.forwardTo(random.pick(entries), `00:00:00:00:00:0${mac}`);
        const neighbor = { subtype: "MacAddress", value: "00:00:5e:00:53:01" };
        if (entries.length > 0 && random.integer(3) === 0)
          draft.update(random.pick(entries), { lldp_chassis_id: neighbor });
      });
    else model.step();
    if (step % 10 === 0) failScan();
    if (step % 30 === 0) store.clock.at += random.integer(DAY_MS);
  }
  store.clock.at += 60_000;
  allChanges = expectedChanges(store);
});
afterAll(() => store.close());

function flip(draft: Draft, port: ModelRecord): void {
  draft.update(port, { oper_status: port.fields.oper_status === "Up" ? "Down" : "Up" });
}

/** Stores a scan, usually a failed one. */
function failScan(): void {
  const networks = [...model.head.records.values()].filter(({ kind }) => kind === networkKind);
  const networkId = model.random.pick(networks).id;
  const id = `01936f2e-0d5c-7d3a-9a39-${failed.length.toString(16).padStart(12, "0")}`;
  const at = store.clock.at;
  const isFailed = model.random.integer(3) > 0;
  store.db.$client
    .prepare(
      `INSERT INTO discovery_scans (id, organization_n, network_n, status, requested_at, started_at, ended_at, request, checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?, '{}', 0)`,
    )
    .run(id, store.n(store.organizationId), store.n(networkId), isFailed ? "Failed" : "Completed", at, at, at);
  failed.push({ id, networkId, at: isFailed ? at : Number.NaN });
}

interface SummaryQuery {
  readonly reach: readonly string[] | null;
  readonly networkId: string | null;
  readonly to: number;
}

function runSummary({ reach, networkId, to }: SummaryQuery): JsonRecord {
  const { reader } = store;
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Owner" };
  const past = reader.thinnedHistory;
  const sequence = past.lastBefore(to + 1);
  const chunks = [
    ...summary(reader, {
      actor,
      networkN: networkId === null ? null : (new ChangeLog(reader).everVisible(networkKind, networkId, actor) ?? 0),
      networkId,
      moment: { at: null, asOf: { ...reader.atSequence(sequence), present: to > store.clock.at } },
      day: { after: past.lastBefore(to - DAY_MS + 1), until: sequence },
      to,
    }),
  ];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))).data;
}

/** Reference implementation. */
function referenceSummary({ reach, networkId, to }: SummaryQuery): JsonRecord {
  const isReached = networkId === null || reach === null || reach.includes(networkId);
  const query = { reach, ...(networkId === null ? {} : { network_id: networkId }) };
  const visible = allChanges.filter((change) => isReached && change.at <= to && matchesQuery(change, query));
  const living = new Map<string, { type: string; record: JsonRecord }>();
  for (const { id, type, operation, states } of visible)
    if (operation === "Deleted") living.delete(id);
    else living.set(id, { type, record: states.at(-1) as JsonRecord });
  const alive = (type: string) =>
    [...living.values()].filter((entry) => entry.type === type).map(({ record }) => record);
  const inDay = visible.filter(({ at }) => at > to - DAY_MS);
  const countedChanges = inDay.filter(({ isCounted }) => isCounted);
  const countsOf = (changes: readonly ExpectedChange[]) => {
    const countOf = (operation: string) => changes.filter((change) => change.operation === operation).length;
    return { created: countOf("Created"), updated: countOf("Updated"), deleted: countOf("Deleted") };
  };
  const latest = (operation: string) =>
    countedChanges
      .filter((change) => change.operation === operation && !PARTS.includes(change.type))
      .sort((a, b) => b.sequence - a.sequence)
      .slice(0, 10)
      .map(({ type, id, at }) => ({ entity_type: type, id, name: nameAt(type, id, to), at: formatInstant(at) }));
  const flaps = new Map<string, ExpectedChange[]>();
  for (const change of inDay)
    if (change.type === "if_entry" && change.fields.includes("oper_status"))
      flaps.set(change.id, [...(flaps.get(change.id) ?? []), change]);
  const flapping = [...flaps]
    .filter(([id, changes]) => changes.length >= 6 && living.has(id))
    .map(([id, changes]) => ({ id, changes: changes.length, last: formatInstant(changes.at(-1)?.at as number) }))
    .sort((a, b) => b.changes - a.changes || (a.last < b.last ? 1 : -1));
  // Ports of each MAC address over the day, limited to ports that are edges now.
  const previousEntries = new Map<string, ExpectedChange>();
  const ports = new Map<string, Set<string>>();
  for (const change of visible.filter(({ type }) => type === "fdb_entry")) {
    const { network_id, mac_address, if_entry_id } = change.states[0] as JsonRecord;
    if (change.at <= to - DAY_MS) {
      if (change.operation === "Deleted") previousEntries.delete(change.id);
      else previousEntries.set(change.id, change);
    } else if (change.operation === "Created") {
      const key = `${network_id} ${mac_address}`;
      ports.set(key, (ports.get(key) ?? new Set()).add(if_entry_id));
    }
  }
  const movingKeys = [...ports].filter(([, portIds]) => portIds.size >= 2).map(([key]) => key);
  for (const { states } of previousEntries.values()) {
    const { network_id, mac_address, if_entry_id } = states[0] as JsonRecord;
    const key = `${network_id} ${mac_address}`;
    if (movingKeys.includes(key)) ports.get(key)?.add(if_entry_id);
  }
  const isEdge = (id: string) => {
    const port = living.get(id)?.record;
    const macs = alive("fdb_entry").filter(({ if_entry_id }) => if_entry_id === id).length;
    return port !== undefined && port.lldp_chassis_id === undefined && macs <= 4;
  };
  const wandering = [...ports]
    .map(([key, portIds]) => ({ key, count: [...portIds].filter(isEdge).length }))
    .filter(({ count }) => count >= 3);
  const stale = alive("host").filter((host) => host.stale_since !== undefined);
  const scans = failed
    .filter(({ networkId: own, at }) => at > to - DAY_MS && at <= to && (living.has(own) || networkId === own))
    .filter(({ networkId: own }) => (networkId ?? own) === own && (reach?.includes(own) ?? true));
  return {
    counts: Object.fromEntries(LISTED.map((type) => [type, alive(type).length])),
    statuses: Object.fromEntries(
      OPER_STATUSES.map((status) => [status, alive("if_entry").filter((port) => port.oper_status === status).length]),
    ),
    changes: {
      ...countsOf(countedChanges),
      types: Object.fromEntries(
        [...new Set(countedChanges.map(({ type }) => type))].map((type) => [
          type,
          countsOf(countedChanges.filter((change) => change.type === type)),
        ]),
      ),
    },
    new: latest("Created"),
    vanished: latest("Deleted"),
    flapping,
    wandering: wandering.map(({ key, count }) => `${key} ${count}`).sort(),
    stale: stale.map(({ stale_since }) => stale_since).sort(),
    failed: scans.map(({ id }) => id).sort(),
  };
}

/** Conflicts as listed; conflicts.test.ts compares the list with a reference implementation. */
function conflictsAt({ reach, networkId, to }: SummaryQuery): JsonRecord[] {
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Owner" };
  const sequence = store.reader.thinnedHistory.lastBefore(to + 1);
  const query = {
    moment: momentOf(store.reader, sequence),
    isAccepted: null,
    format: "json" as const,
    types: SUMMARY_CONFLICT_TYPES,
    limit: 0,
    offset: 0,
  };
  const chunks = [...conflicts(store.reader, { actor, networkId, ...query })];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))).data;
}

const PARTS = ["ip_address", "port", "service", "binding", "if_entry"];
const LISTED = ["host", "port", "ip_address", "service", "if_entry", "subnet"];

/** Name at a timestamp, or at the record's deletion. */
function nameAt(type: string, id: string, to: number): string {
  const kind = KINDS.find(({ name }) => name === type) as (typeof KINDS)[number];
  const last = allChanges.findLast((change) => change.id === id && change.at <= to);
  return recordLabel(kind, last?.states.at(-1) as JsonRecord);
}

test("the summary matches a reference implementation, at any timestamp, for all networks and for some", () => {
  const { random } = model;
  const networks = [...new Set(allChanges.filter(({ type }) => type === "network").map(({ id }) => id))];
  const found = { flapping: 0, stale: 0, failed: 0, vanished: 0, wandering: 0, conflicts: 0 };
  for (let round = 0; round < 150; round += 1) {
    const first = allChanges[0]?.at as number;
    const query: SummaryQuery = {
      reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
      networkId: random.integer(3) === 0 ? random.pick(networks) : null,
      to: random.pick([first + random.integer(store.clock.at - first), random.pick(allChanges).at, store.clock.at + 1]),
    };
    const data = runSummary(query);
    const expectedSummary = referenceSummary(query);
    expect({ query, counts: data.counts }).toMatchObject({ query, counts: expectedSummary.counts });
    expect({ query, statuses: data.interfaces_by_oper_status }).toEqual({ query, statuses: expectedSummary.statuses });
    expect({ query, changes: data.changes }).toEqual({ query, changes: expectedSummary.changes });
    const named = (records: JsonRecord[]) => records.map(({ network_id: _, ...rest }) => rest);
    expect({ query, new: named(data.new) }).toEqual({ query, new: expectedSummary.new });
    expect({ query, vanished: named(data.vanished) }).toEqual({ query, vanished: expectedSummary.vanished });
    expect(data.flapping.count).toBe(expectedSummary.flapping.length);
    expect(data.flapping.ports.map(({ id, changes, last }: JsonRecord) => ({ id, changes, last }))).toEqual(
      expectedSummary.flapping.slice(0, 10),
    );
    expect({ query, count: data.wandering.count }).toEqual({ query, count: expectedSummary.wandering.length });
    if (expectedSummary.wandering.length <= 10)
      expect(
        data.wandering.macs
          .map(({ network_id, mac_address, port_count }: JsonRecord) => `${network_id} ${mac_address} ${port_count}`)
          .sort(),
      ).toEqual(expectedSummary.wandering);
    found.wandering += expectedSummary.wandering.length;
    expect({ query, count: data.stale.count }).toEqual({ query, count: expectedSummary.stale.length });
    expect(data.stale.hosts.map((host: JsonRecord) => host.stale_since)).toEqual(expectedSummary.stale.slice(0, 10));
    expect(data.failed_scans.count).toBe(expectedSummary.failed.length);
    if (expectedSummary.failed.length <= 10)
      expect(data.failed_scans.scans.map((scan: JsonRecord) => scan.id).sort()).toEqual(expectedSummary.failed);
    const attention = new Map((data.needs_attention as JsonRecord[]).map(({ kind, count }) => [kind, count]));
    const problemKinds = { FailedScan: "failed", Flapping: "flapping", Wandering: "wandering", Stale: "stale" };
    for (const [kind, part] of Object.entries(problemKinds))
      expect([kind, attention.get(kind) ?? 0]).toEqual([kind, expectedSummary[part].length]);
    expect(attention.get("Conflict") ?? 0).toBe(data.conflicts.count);
    const inConflict = conflictsAt(query);
    expect({ query, count: data.conflicts.count }).toEqual({ query, count: inConflict.length });
    expect(data.conflicts.conflicts).toEqual(inConflict.slice(0, 10));
    found.conflicts += inConflict.length;
    found.flapping += expectedSummary.flapping.length;
    found.stale += expectedSummary.stale.length;
    found.failed += expectedSummary.failed.length;
    found.vanished += expectedSummary.vanished.length;
  }
  for (const [part, count] of Object.entries(found)) expect([part, count > 20]).toEqual([part, true]);
});

test("shortly after startup, the last day's flapping is computed in advance for the first caller", () => {
  for (let flap = 0; flap < 7; flap += 1)
    model.step((draft) => {
      for (const port of draft.all(ifEntryKind)) flip(draft, port);
    });
  const { clock } = store;
  const stepsOf = (reader: Reader) => {
    const day = dayBefore(reader, clock.now(), reader.head().sequence);
    const { result: ports, steps } = countSteps(flappingPorts(reader, store.reach(), null, day, 10));
    return { ports, steps };
  };
  const uncached = stepsOf(new Reader(store.readDb, clock));
  const stepsAfterStart = (recordsMin: number) => {
    const reader = new Reader(store.readDb, clock);
    const timers = new ManualTimers();
    const longReads = new DirectLongReads(reader, LONG_READS);
    scheduleFirstSummary({ reader, longReads, clock, timers, recordsMin });
    timers.advance(1_000);
    return stepsOf(reader);
  };
  // All changes of the day take one step.
  expect(stepsAfterStart(1)).toEqual({ ports: uncached.ports, steps: uncached.steps - 1 });
  expect(uncached.ports.count).toBeGreaterThan(3);
  // With little data there is nothing to wait for.
  expect(stepsAfterStart(1_000_000)).toEqual(uncached);
});

test("an appliance stopped before its first summary computes none", () => {
  const timers = new ManualTimers();
  const longReads = new DirectLongReads(store.reader, LONG_READS);
  scheduleFirstSummary({ reader: store.reader, longReads, clock: store.clock, timers, recordsMin: 1 })();
  timers.advance(60_000);
  expect(timers.pendingCount).toBe(0);
});
