// Summary compared with plain code over all versions: at random timestamps of a random history, for callers of all
// networks and of some, for one network and for all.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Actor } from "../../src/access/actor.ts";
import { formatInstant } from "../../src/base/instant.ts";
import { ChangeLog } from "../../src/db/reading/change-log.ts";
import { Reader } from "../../src/db/reading/reader.ts";
import { KINDS } from "../../src/records/resources.ts";
import { LONG_READS } from "../../src/registry/long-reads.ts";
import { conflicts } from "../../src/reports/conflicts/conflicts.ts";
import { workOutFirstSummary } from "../../src/reports/summary/first-summary.ts";
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
import { Model } from "../support/model/model.ts";
import { isTold, type ToldChange, toldChanges } from "../support/model/told-changes.ts";
import { momentOf } from "../support/store/moments.ts";
import { DAY_MS, Store, type Wire } from "../support/store/store.ts";

const store = new Store({ seed: 52 });
const model = new Model(store, 52);
let told: ToldChange[];
/** Failed scans, with network and time. */
const failed: Array<{ readonly id: string; readonly networkId: string; readonly at: number }> = [];

beforeAll(() => {
  model.movesHosts = false;
  const { random } = model;
  for (let each = 0; each < 500; each += 1) {
    // Some ports flap, and some hosts are no longer seen.
    const dice = random.integer(6);
    if (dice === 0)
      model.step((draft) => {
        const port = draft.all(ifEntryKind)[random.integer(3)];
        if (port !== undefined) draft.update(port, { oper_status: port.fields.oper_status === "Up" ? "Down" : "Up" });
      });
    else if (dice === 1)
      model.step((draft) => {
        const hosts = draft.all(hostKind);
        if (hosts.length > 0)
          draft.update(random.pick(hosts), {
            stale_since: random.integer(3) === 0 ? undefined : formatInstant(store.clock.at - random.integer(DAY_MS)),
          });
      });
    else if (dice === 2)
      model.step((draft) => {
        // A few MAC addresses move from port to port, and some ports have a neighbor.
        const entries = draft.all(ifEntryKind);
        for (const { fields } of draft.all(fdbEntryKind).filter(() => random.integer(3) === 0)) {
          const port = entries.find(({ id }) => id === fields.if_entry_id);
          if (port !== undefined) draft.forwardTo(port, fields.mac_address);
        }
        for (let mac = 0; mac < 3 && entries.length > 0; mac += 1)
          draft.forwardTo(random.pick(entries), `00:00:00:00:00:0${mac}`);
        if (entries.length > 0 && random.integer(3) === 0)
          draft.update(random.pick(entries), {
            lldp_chassis_id: { subtype: "MacAddress", value: "00:00:5e:00:53:01" },
          });
      });
    else model.step();
    if (each % 10 === 0) failScan();
    if (each % 30 === 0) store.clock.at += random.integer(DAY_MS);
  }
  store.clock.at += 60_000;
  told = toldChanges(store);
});
afterAll(() => store.close());

/** As left by a scan. */
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

interface Asked {
  readonly reach: readonly string[] | null;
  readonly networkId: string | null;
  readonly to: number;
}

function answer({ reach, networkId, to }: Asked): Wire {
  const { reader } = store;
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Owner" };
  const past = reader.thinnedPast;
  const sequence = past.lastBefore(to + 1);
  const chunks = [
    ...summary(reader, {
      actor,
      networkN: networkId === null ? null : (new ChangeLog(reader).everSeen(networkKind, networkId, actor) ?? 0),
      networkId,
      moment: { at: null, asOf: { ...reader.atSequence(sequence), present: to > store.clock.at } },
      day: { after: past.lastBefore(to - DAY_MS + 1), until: sequence },
      to,
    }),
  ];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))).data;
}

/** Expected summary in plain code. */
function expected({ reach, networkId, to }: Asked): Wire {
  const isReached = networkId === null || reach === null || reach.includes(networkId);
  const query = { reach, ...(networkId === null ? {} : { network_id: networkId }) };
  const visible = told.filter((change) => isReached && change.at <= to && isTold(change, query));
  const living = new Map<string, { type: string; record: Wire }>();
  for (const { id, type, operation, states } of visible)
    if (operation === "Deleted") living.delete(id);
    else living.set(id, { type, record: states.at(-1) as Wire });
  const alive = (type: string) => [...living.values()].filter((each) => each.type === type).map(({ record }) => record);
  const inDay = visible.filter(({ at }) => at > to - DAY_MS);
  const counted = inDay.filter(({ isCounted }) => isCounted);
  const countsOf = (changes: readonly ToldChange[]) => {
    const of = (operation: string) => changes.filter((change) => change.operation === operation).length;
    return { created: of("Created"), updated: of("Updated"), deleted: of("Deleted") };
  };
  const latest = (operation: string) =>
    counted
      .filter((change) => change.operation === operation && !PARTS.includes(change.type))
      .map((change, place) => ({ change, place }))
      .sort((one, other) => other.change.sequence - one.change.sequence || one.place - other.place)
      .slice(0, 10)
      .map(({ change: { type, id, at } }) => ({
        entity_type: type,
        id,
        name: nameAt(type, id, to),
        at: formatInstant(at),
      }));
  const flaps = new Map<string, ToldChange[]>();
  for (const change of inDay)
    if (change.type === "if_entry" && change.fields.includes("oper_status"))
      flaps.set(change.id, [...(flaps.get(change.id) ?? []), change]);
  const flapping = [...flaps]
    .filter(([, changes]) => changes.length >= 6)
    .map(([id, changes]) => ({ id, changes: changes.length, last: formatInstant(changes.at(-1)?.at as number) }))
    .sort((one, other) => other.changes - one.changes || (one.last < other.last ? 1 : -1));
  // Ports of each MAC address over the day, limited to ports that are edges now.
  const began = new Map<string, ToldChange>();
  const ports = new Map<string, Set<string>>();
  for (const change of visible.filter(({ type }) => type === "fdb_entry")) {
    const { network_id, mac_address, if_entry_id } = change.states[0] as Wire;
    if (change.at <= to - DAY_MS) {
      if (change.operation === "Deleted") began.delete(change.id);
      else began.set(change.id, change);
    } else if (change.operation === "Created") {
      const key = `${network_id} ${mac_address}`;
      ports.set(key, (ports.get(key) ?? new Set()).add(if_entry_id));
    }
  }
  const isNew = [...ports].filter(([, each]) => each.size >= 2).map(([key]) => key);
  for (const { states } of began.values()) {
    const { network_id, mac_address, if_entry_id } = states[0] as Wire;
    const key = `${network_id} ${mac_address}`;
    if (isNew.includes(key)) ports.get(key)?.add(if_entry_id);
  }
  const isEdge = (id: string) => {
    const port = living.get(id)?.record;
    const macs = alive("fdb_entry").filter(({ if_entry_id }) => if_entry_id === id).length;
    return port !== undefined && port.lldp_chassis_id === undefined && macs <= 4;
  };
  const wandering = [...ports]
    .map(([key, each]) => ({ key, count: [...each].filter(isEdge).length }))
    .filter(({ count }) => count >= 3);
  const stale = alive("host").filter((host) => host.stale_since !== undefined);
  const scans = failed
    .filter(({ networkId: of, at }) => at > to - DAY_MS && at <= to && (living.has(of) || networkId === of))
    .filter(({ networkId: of }) => (networkId ?? of) === of && (reach?.includes(of) ?? true));
  return {
    counts: Object.fromEntries(LISTED.map((type) => [type, alive(type).length])),
    statuses: Object.fromEntries(
      OPER_STATUSES.map((status) => [status, alive("if_entry").filter((each) => each.oper_status === status).length]),
    ),
    changes: {
      ...countsOf(counted),
      types: Object.fromEntries(
        [...new Set(counted.map(({ type }) => type))].map((type) => [
          type,
          countsOf(counted.filter((change) => change.type === type)),
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

/** As listed; conflicts.test.ts compares the list with plain code. */
function conflictsThen({ reach, networkId, to }: Asked): Wire[] {
  const actor: Actor = { ...store.reach(reach), type: "User", n: 1, userN: 1, role: "Owner" };
  const sequence = store.reader.thinnedPast.lastBefore(to + 1);
  const asked = {
    moment: momentOf(store.reader, sequence),
    isAccepted: null,
    format: "json" as const,
    types: SUMMARY_CONFLICT_TYPES,
    limit: 0,
    offset: 0,
  };
  const chunks = [...conflicts(store.reader, { actor, networkId, ...asked })];
  return JSON.parse(new TextDecoder().decode(Buffer.concat(chunks))).data;
}

const PARTS = ["ip_address", "port", "service", "binding", "if_entry"];
const LISTED = ["host", "port", "ip_address", "service", "if_entry", "subnet"];

/** Name at a timestamp, or at the record's end. */
function nameAt(type: string, id: string, to: number): string {
  const kind = KINDS.find((each) => each.name === type) as (typeof KINDS)[number];
  return recordLabel(kind, told.findLast((change) => change.id === id && change.at <= to)?.states.at(-1) as Wire);
}

test("matches a naive model, at any instant, of all networks and of some", () => {
  const { random } = model;
  const networks = [...new Set(told.filter(({ type }) => type === "network").map(({ id }) => id))];
  const found = { flapping: 0, stale: 0, failed: 0, vanished: 0, wandering: 0, conflicts: 0 };
  for (let time = 0; time < 150; time += 1) {
    const first = told[0]?.at as number;
    const asked: Asked = {
      reach: random.pick([null, null, networks.filter(() => random.integer(2) === 0), []]),
      networkId: random.integer(3) === 0 ? random.pick(networks) : null,
      to: random.pick([first + random.integer(store.clock.at - first), random.pick(told).at, store.clock.at + 1]),
    };
    const data = answer(asked);
    const wanted = expected(asked);
    expect({ asked, counts: data.counts }).toMatchObject({ asked, counts: wanted.counts });
    expect({ asked, statuses: data.interfaces_by_oper_status }).toEqual({ asked, statuses: wanted.statuses });
    expect({ asked, changes: data.changes }).toEqual({ asked, changes: wanted.changes });
    const named = (records: Wire[]) => records.map(({ network_id: _, ...rest }) => rest);
    expect({ asked, new: named(data.new) }).toEqual({ asked, new: wanted.new });
    expect({ asked, vanished: named(data.vanished) }).toEqual({ asked, vanished: wanted.vanished });
    expect(data.flapping.count).toBe(wanted.flapping.length);
    expect(data.flapping.ports.map(({ id, changes, last }: Wire) => ({ id, changes, last }))).toEqual(
      wanted.flapping.slice(0, 10),
    );
    expect({ asked, count: data.wandering.count }).toEqual({ asked, count: wanted.wandering.length });
    if (wanted.wandering.length <= 10)
      expect(
        data.wandering.macs
          .map(({ network_id, mac_address, port_count }: Wire) => `${network_id} ${mac_address} ${port_count}`)
          .sort(),
      ).toEqual(wanted.wandering);
    found.wandering += wanted.wandering.length;
    expect({ asked, count: data.stale.count }).toEqual({ asked, count: wanted.stale.length });
    expect(data.stale.hosts.map((host: Wire) => host.stale_since)).toEqual(wanted.stale.slice(0, 10));
    expect(data.failed_scans.count).toBe(wanted.failed.length);
    if (wanted.failed.length <= 10)
      expect(data.failed_scans.scans.map((scan: Wire) => scan.id).sort()).toEqual(wanted.failed);
    const attention = new Map((data.needs_attention as Wire[]).map(({ kind, count }) => [kind, count]));
    const troubles = { FailedScan: "failed", Flapping: "flapping", Wandering: "wandering", Stale: "stale" };
    for (const [kind, part] of Object.entries(troubles))
      expect([kind, attention.get(kind) ?? 0]).toEqual([kind, wanted[part].length]);
    expect(attention.get("Conflict") ?? 0).toBe(data.conflicts.count);
    const inConflict = conflictsThen(asked);
    expect({ asked, count: data.conflicts.count }).toEqual({ asked, count: inConflict.length });
    expect(data.conflicts.conflicts).toEqual(inConflict.slice(0, 10));
    found.conflicts += inConflict.length;
    found.flapping += wanted.flapping.length;
    found.stale += wanted.stale.length;
    found.failed += wanted.failed.length;
    found.vanished += wanted.vanished.length;
  }
  for (const [part, count] of Object.entries(found)) expect([part, count > 20]).toEqual([part, true]);
});

test("requests for successive days report flapping as if each were the first", () => {
  const { random } = model;
  const all = model.head.sequence;
  const found = (reader: Reader, day: { after: number; until: number }) => {
    const steps = flappingPorts(reader, store.reach(), null, day);
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
  };
  let flapping = 0;
  for (let start = 0; start < 20; start += 1) {
    let after = random.integer(all / 2);
    let until = after + random.integer(all / 2);
    for (let day = 0; day < 20; day += 1) {
      // Usually forward by a little; sometimes beyond the existing history, or back.
      const [on, end] = [random.integer(40), random.integer(40)];
      after = Math.max(0, Math.min(all, after + (random.integer(10) === 0 ? -on : on)));
      until = Math.max(after, Math.min(all, until + (random.integer(10) === 0 ? -end : end)));
      const alone = found(new Reader(store.readDb, store.clock), { after, until });
      expect({ after, until, found: found(store.reader, { after, until }) }).toEqual({ after, until, found: alone });
      flapping += alone.length;
    }
  }
  expect(flapping).toBeGreaterThan(100);
});

test("finds flapping ports in any number of steps, each change once, without reading other versions", () => {
  const sequences: number[] = [];
  for (let each = 0; each < 7; each += 1)
    model.step((draft) => {
      for (const port of draft.all(ifEntryKind))
        draft.update(port, { oper_status: port.fields.oper_status === "Up" ? "Down" : "Up" });
      sequences.push(model.head.sequence + 1);
    });
  const range = { after: (sequences[0] as number) - 1, until: sequences.at(-1) as number };
  const found = (stepVersions?: number) => {
    // A reader without cached days.
    const reader = new Reader(store.readDb, store.clock);
    const steps = flappingPorts(reader, store.reach(), null, range, stepVersions);
    for (let count = 1; ; count += 1) {
      const step = steps.next();
      if (step.done === true) return { ports: step.value, steps: count };
    }
  };
  const whole = found();
  expect(whole.ports.length).toBeGreaterThan(3);
  expect(whole.ports.every(({ changes, last }) => changes === 7 && last === range.until)).toBe(true);
  for (const stepVersions of [1, 2, 5]) {
    const stepwise = found(stepVersions);
    expect(stepwise.ports).toEqual(whole.ports);
    expect(stepwise.steps).toBeGreaterThan((whole.ports.length * 7) / stepVersions);
  }
});

test("shortly after the start, the last day's flapping is computed in advance for the first caller", () => {
  for (let each = 0; each < 7; each += 1)
    model.step((draft) => {
      for (const port of draft.all(ifEntryKind))
        draft.update(port, { oper_status: port.fields.oper_status === "Up" ? "Down" : "Up" });
    });
  const { clock } = store;
  const stepsOf = (reader: Reader) => {
    const day = dayBefore(reader, clock.now(), reader.head().sequence);
    const steps = flappingPorts(reader, store.reach(), null, day, 1);
    for (let count = 1; ; count += 1) {
      const step = steps.next();
      if (step.done === true) return { ports: step.value, steps: count };
    }
  };
  const alone = stepsOf(new Reader(store.readDb, clock));
  const counted = (recordsMin: number) => {
    const reader = new Reader(store.readDb, clock);
    const timers = new ManualTimers();
    const longReads = new DirectLongReads(reader, LONG_READS);
    workOutFirstSummary({ reader, longReads, clock, timers, recordsMin });
    timers.advance(1_000);
    return stepsOf(reader);
  };
  expect(counted(1)).toEqual({ ports: alone.ports, steps: 2 });
  expect(alone.steps).toBeGreaterThan(7);
  // With little data there is nothing to wait for.
  expect(counted(1_000_000)).toEqual(alone);
});

test("an appliance stopped before its first summary computes none", () => {
  const timers = new ManualTimers();
  const longReads = new DirectLongReads(store.reader, LONG_READS);
  workOutFirstSummary({ reader: store.reader, longReads, clock: store.clock, timers, recordsMin: 1 })();
  timers.advance(60_000);
  expect(timers.pendingCount).toBe(0);
});
