// Locate for a name shared by many hosts: in short steps that let other reads run, and each table read once.

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Reader } from "../../src/db/reading/reader.ts";
import { type LocateInput, locate } from "../../src/history/locate/locate.ts";
import { locateTimeline } from "../../src/history/locate/timeline.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { momentOf } from "../support/store/moments.ts";
import { addressFields, hostFields, ifEntryFields, Store, subnetFields } from "../support/store/store.ts";

const HOSTS = 20;
/** Per host. */
const MACS = 5;
const SWITCHES = 10;
/** Per switch; every MAC address is learned on one of them. */
const PORTS = 5;
/** A query takes some milliseconds at most. */
const QUERIES_OF_STEP_MAX = 50;

const store = new Store();
let query: Omit<LocateInput, "moment">;
let sequence: number;

beforeAll(() => {
  const { organizationId, networkId } = store;
  const mac = (host: number, n: number) =>
    `00:1b:21:00:${host.toString(16).padStart(2, "0")}:${n.toString(16).padStart(2, "0")}`;
  store.write((tx) => {
    const subnet = tx.create(subnetKind, organizationId, subnetFields(networkId, "10.0.0.0/8"));
    const macs: string[] = [];
    for (let site = 0; site < HOSTS; site += 1) {
      const host = tx.create(
        hostKind,
        organizationId,
        hostFields(networkId, `host at ${site}`, { hostname: `web.site${site}.example.net` }),
      );
      for (let n = 0; n < MACS; n += 1) {
        macs.push(mac(site, n));
        tx.create(
          ipAddressKind,
          organizationId,
          addressFields(host, subnet.id, `10.${site}.0.${n + 1}`, { mac_address: mac(site, n) }),
        );
      }
    }
    for (let device = 0; device < SWITCHES; device += 1) {
      const host = tx.create(hostKind, organizationId, hostFields(networkId, `switch ${device}`));
      const ports = Array.from({ length: PORTS }, (_, port) =>
        tx.create(ifEntryKind, organizationId, ifEntryFields(host, port + 1, { oper_status: "Up" })),
      );
      for (const [n, mac_address] of macs.entries()) {
        tx.create(fdbEntryKind, organizationId, {
          if_entry_id: (ports[(n + device) % PORTS] as (typeof ports)[number]).id,
          host_id: host.id,
          network_id: networkId,
          mac_address,
          vlan_number: null,
        });
      }
    }
  });
  sequence = store.reader.head().sequence;
  const actor = {
    type: "User",
    n: 1,
    userN: 1,
    role: "Viewer",
    organizationN: store.n(organizationId),
    networkNs: null,
  } as const;
  query = { actor, asked: { by: "hostname", value: "web" }, networkId: null };
});
afterAll(() => store.close());

/** Queries in each step of a read. */
function queriesOf(read: (reader: Reader) => Generator<Uint8Array, void>): { steps: string[][]; text: string } {
  const reader = new Reader(store.readDb, store.clock);
  const steps: string[][] = [];
  const { statement } = reader;
  reader.statement = (sql: string) => {
    steps.at(-1)?.push(sql);
    return statement.call(reader, sql);
  };
  const bytes: Uint8Array[] = [];
  const reading = read(reader);
  for (;;) {
    steps.push([]);
    const step = reading.next();
    if (step.done === true) return { steps, text: Buffer.concat(bytes).toString() };
    bytes.push(step.value);
  }
}

test("works in steps of a few queries", () => {
  const live = queriesOf((reader) => locate(reader, { ...query, moment: momentOf(reader, sequence) }));
  expect(JSON.parse(live.text).data).toMatchObject({ truncated: true, asked: { by: "hostname", value: "web" } });
  const ever = queriesOf((reader) => locateTimeline(reader, { ...query, from: null, to: null, until: sequence }));
  expect(JSON.parse(ever.text).data.intervals).toHaveLength(1);
  for (const { steps } of [live, ever]) {
    expect(steps.length).toBeGreaterThan(HOSTS * MACS);
    expect(Math.max(...steps.map((queries) => queries.length))).toBeLessThanOrEqual(QUERIES_OF_STEP_MAX);
  }
});

test("reads a port's table once, and looks up each MAC address once, however many candidates there are", () => {
  const all = queriesOf((reader) => locate(reader, { ...query, moment: momentOf(reader, sequence) })).steps.flat();
  const tables = all.filter(
    (sql) => sql.includes("FROM history_spans s CROSS JOIN history_records r") && sql.includes("ORDER BY s.n LIMIT"),
  );
  // In addition to those of the hosts' own addresses and interfaces.
  expect(tables.length).toBeLessThanOrEqual(2 * HOSTS + SWITCHES * PORTS);
  expect(all.length).toBeLessThan(1_000);
});
