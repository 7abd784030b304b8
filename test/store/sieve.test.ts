// Independence of a filter's answer from its evaluation: windows of any size, by changed or by all records, by an index
// or by a scan.

import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ListQuery, Reach } from "../../src/db/reading/list-query.ts";
import { Populations } from "../../src/db/reading/population.ts";
import { Sieve, type SieveBounds } from "../../src/db/reading/sieve.ts";
import { listCondition } from "../../src/records/list-filter.ts";
import { resourceOf } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import { hostFields, ifEntryFields, networkFields, Store } from "../support/store/store.ts";

const STATUSES = ["Up", "Down", "Dormant"] as const;
const store = new Store({ seed: 4 });
const instants: number[] = [];
let networkNs: number[] = [];
afterAll(() => store.close());

beforeAll(() => {
  const { organizationId, random } = store;
  const networkIds = store.write((tx) =>
    ["one", "two", "three"].map(
      (name) => tx.create(networkKind, organizationId, networkFields(organizationId, name)).id,
    ),
  );
  networkNs = networkIds.map((id) => store.n(id));
  const places = networkIds.flatMap((networkId, network) =>
    Array.from({ length: 4 }, (_, number) =>
      store.write((tx) => {
        const host = tx.create(hostKind, organizationId, hostFields(networkId, `switch-${network}-${number}`));
        const vlan = tx.create(vlanKind, organizationId, {
          network_id: networkId,
          number: 10 + number,
          name: `v${number}`,
          description: null,
          source: { type: "Manual" },
        });
        return { networkId, hostId: host.id, vlanId: vlan.id };
      }),
    ),
  );
  const entryIds: string[] = [];
  for (let turn = 0; turn < 400; turn += 1) {
    store.clock.at += 60_000;
    const place = random.pick(places);
    store.write((tx) => {
      const known = entryIds.length > 60 ? random.pick(entryIds) : null;
      const fields = {
        oper_status: random.pick(STATUSES),
        speed_bps: random.pick([1e8, 1e9, 1e10]),
        if_alias: random.pick(["Zürich uplink", "ZÜRICH", "server", "K elvin \u212a"]),
      };
      if (known === null)
        entryIds.push(
          tx.create(ifEntryKind, organizationId, {
            ...ifEntryFields({ id: place.hostId, network_id: place.networkId }, turn + 1),
            ...fields,
            native_vlan_id: random.pick([place.vlanId, undefined]),
          }).id,
        );
      else if (random.pick([true, true, true, false]) || tx.find(ifEntryKind, known) === null) {
        if (tx.find(ifEntryKind, known) !== null) tx.update(ifEntryKind, known, fields);
      } else tx.remove(ifEntryKind, known);
    });
    if (turn % 40 === 0) instants.push(store.clock.at);
  }
  store.clock.at += 60_000;
});

const FILTERS = [
  "oper_status = Down",
  "oper_status = Down AND network.name = two",
  "oper_status != Down",
  "vlan.number = 11",
  "vlan.number = 11 AND network.name = one",
  "native_vlan.number = 11 AND oper_status = Up",
  "host.name = switch-1-2",
  "host.name = switch-1-* OR speed_bps >= 10G",
  "host.name = switch-1-*",
  "NOT host.name = switch-1-*",
  "host.name = switch-* AND NOT host.name = switch-2-* AND speed_bps >= 10G",
  "host.name = switch-1-* AND ever(oper_status = Down, -3h)",
  "if_alias = zürich* AND NOT speed_bps < 1G",
  'if_alias : "k elvin k"',
  "if_name = Gi7 OR if_alias = server",
  "changes(oper_status, -90m) >= 1",
  "changes(oper_status, -90m) = 0 AND oper_status = Up",
  "ever(if_alias : ZÜRICH, -3h)",
  "always(NOT oper_status = Dormant, -3h) AND if_index > 20",
  "was(-2h, oper_status = Down)",
  "NOT was(-2h, if_alias : zürich)",
];

const SMALL: readonly SieveBounds[] = [
  { windowNumbers: 7, oneStepMax: 0, changedShare: 0 },
  { windowNumbers: 64, oneStepMax: 0, changedShare: 100_000 },
  { windowNumbers: 1_000_000, oneStepMax: 100_000, changedShare: 0 },
];

test.each(FILTERS)("%s matches the same in every strategy, at present and in the past, for every caller", (text) => {
  const { reader } = store;
  const source = { connection: reader, populations: new Populations(reader), head: () => reader.head() };
  const sieves = SMALL.map((bounds) => new Sieve(source, bounds));
  const everywhere: Reach = { organizationN: store.n(store.organizationId), networkNs: null };
  let found = 0;
  for (const reach of [everywhere, { ...everywhere, networkNs: networkNs.slice(0, 1) }, { ...everywhere, networkNs }]) {
    for (const at of [null, ...instants]) {
      const asOf = reader.resolve(at);
      const base = at ?? store.clock.at;
      const { condition } = listCondition(reader, { kindName: "if_entry", reach, asOf }, { text, base });
      if (condition === undefined) throw new Error(`${text} asks nothing`);
      const query: ListQuery = { kind: resourceOf("if_entry").kind, reach, asOf, limit: 0, offset: 0 };
      const expected = idsOf(reader.siftedAtOnce({ ...query, condition }) ?? query);
      found += expected.length;
      for (const sieve of sieves) expect(idsOf(drained(sieve.sifted({ ...query, condition })))).toEqual(expected);
      // Fixed, as in a long read of the present.
      if (asOf !== null) continue;
      const still = { ...query, asOf: reader.present(), condition };
      for (const sieve of sieves) expect(idsOf(drained(sieve.sifted(still)))).toEqual(expected);
    }
  }
  expect(found).toBeGreaterThan(0);
});

function idsOf(query: ListQuery): string[] {
  const items = store.reader.items(query);
  expect(store.reader.total(query)).toBe(items.length);
  return items.map(({ text }) => (JSON.parse(text) as { id: string }).id);
}

function drained<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
