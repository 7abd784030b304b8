// Locate for a name shared by many hosts: works in short steps that let other reads run, and reads each table once.

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
import {
  addressFields,
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  Store,
  subnetFields,
} from "../support/store/store.ts";

const HOSTS = 20;
const MACS_PER_HOST = 5;
const SWITCHES = 10;
/** Every MAC address is learned on one port of each switch. */
const PORTS_PER_SWITCH = 5;
/** A query takes some milliseconds at most. */
const QUERIES_OF_STEP_MAX = 50;

const store = new Store();
let query: Omit<LocateInput, "moment">;
let sequence: number;

beforeAll(() => {
  const { organizationId, networkId } = store;
  const mac = (host: number, n: number) => `00:1b:21:00:${Buffer.of(host, n).toString("hex").replace(/..$/, ":$&")}`;
  store.write((tx) => {
    const subnet = tx.create(subnetKind, organizationId, subnetFields(networkId, "10.0.0.0/8"));
    const macs: string[] = [];
    for (let site = 0; site < HOSTS; site += 1) {
      const named = hostFields(networkId, `host at ${site}`, { hostname: `web.site${site}.example.net` });
      const host = tx.create(hostKind, organizationId, named);
      for (let n = 0; n < MACS_PER_HOST; n += 1) {
        macs.push(mac(site, n));
        const fields = addressFields(host, subnet.id, `10.${site}.0.${n + 1}`, { mac_address: mac(site, n) });
        tx.create(ipAddressKind, organizationId, fields);
      }
    }
    for (let device = 0; device < SWITCHES; device += 1) {
      const host = tx.create(hostKind, organizationId, hostFields(networkId, `switch ${device}`));
      const ports = Array.from({ length: PORTS_PER_SWITCH }, (_, port) =>
        tx.create(ifEntryKind, organizationId, ifEntryFields(host, port + 1, { oper_status: "Up" })),
      );
      for (const [n, mac] of macs.entries()) {
        const port = ports[(n + device) % PORTS_PER_SWITCH] as (typeof ports)[number];
        tx.create(fdbEntryKind, organizationId, fdbEntryFields(port, mac));
      }
    }
  });
  sequence = store.reader.head().sequence;
  const actor = { ...store.reach(), type: "User", n: 1, userN: 1, role: "Viewer" } as const;
  query = { actor, term: { by: "hostname", value: "web" }, networkId: null };
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
  const timeline = queriesOf((reader) => locateTimeline(reader, { ...query, from: null, to: null, until: sequence }));
  expect(JSON.parse(timeline.text).data.intervals).toHaveLength(1);
  for (const { steps } of [live, timeline]) {
    expect(steps.length).toBeGreaterThan(HOSTS * MACS_PER_HOST);
    expect(Math.max(...steps.map((queries) => queries.length))).toBeLessThanOrEqual(QUERIES_OF_STEP_MAX);
  }
});

test("reads a port's table once, and looks up each MAC address once, for any number of candidates", () => {
  const all = queriesOf((reader) => locate(reader, { ...query, moment: momentOf(reader, sequence) })).steps.flat();
  const tables = all.filter(
    (sql) => sql.includes("FROM history_spans s CROSS JOIN history_records r") && sql.includes("ORDER BY s.n LIMIT"),
  );
  // In addition to those for the hosts' own addresses and interfaces.
  expect(tables.length).toBeLessThanOrEqual(2 * HOSTS + SWITCHES * PORTS_PER_SWITCH);
  expect(all.length).toBeLessThan(1_000);
});
