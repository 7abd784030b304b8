// Filter results in every evaluation strategy: windows of any size, by changed or by all records, by an index or by a
// scan.

import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  ConditionEvaluator,
  type EvaluatorBounds,
  type EvaluatorSource,
} from "../../src/db/reading/condition-evaluator.ts";
import { FieldChanges } from "../../src/db/reading/field-changes.ts";
import type { ListQuery, Reach } from "../../src/db/reading/list-query.ts";
import { Populations } from "../../src/db/reading/population.ts";
import { listCondition } from "../../src/records/list-filter.ts";
import { parsedFilter } from "../../src/records/read-filter.ts";
import { resourceOf } from "../../src/records/resources.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { networkKind } from "../../src/resources/networks/network.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import { hostFields, ifEntryFields, networkFields, Store } from "../support/store/store.ts";
import { runSteps } from "../support/topology/steps.ts";

const STATUSES = ["Up", "Down", "Dormant"] as const;
const store = new Store({ seed: 4 });
const instants: number[] = [];
let networkNs: number[] = [];
afterAll(() => store.close());

beforeAll(() => {
  const { organizationId, random } = store;
  const networkIds = ["one", "two", "three"].map(
    (name) => store.create(networkKind, networkFields(organizationId, name)).id,
  );
  networkNs = networkIds.map((id) => store.n(id));
  const sites = networkIds.flatMap((networkId, network) =>
    Array.from({ length: 4 }, (_, number) =>
      store.write((tx) => {
        const host = tx.create(hostKind, organizationId, hostFields(networkId, `switch-${network}-${number}`));
        const named = { name: `v${number}`, description: null, source: { type: "Manual" } } as const;
        const vlan = tx.create(vlanKind, organizationId, { network_id: networkId, number: 10 + number, ...named });
        return { host, vlanId: vlan.id };
      }),
    ),
  );
  const entryIds: string[] = [];
  for (let round = 0; round < 400; round += 1) {
    store.clock.at += 60_000;
    const site = random.pick(sites);
    store.write((tx) => {
      const known = entryIds.length > 60 ? random.pick(entryIds) : null;
      const fields = {
        oper_status: random.pick(STATUSES),
        speed_bps: random.pick([1e8, 1e9, 1e10]),
        if_alias: random.pick(["Zürich uplink", "ZÜRICH", "server", "K elvin \u212a"]),
      };
      if (known === null) {
        const vlan = { native_vlan_id: random.pick([site.vlanId, undefined]) };
        const all = ifEntryFields(site.host, round + 1, { ...fields, ...vlan });
        entryIds.push(tx.create(ifEntryKind, organizationId, all).id);
      } else if (random.pick([true, true, true, false]) || tx.find(ifEntryKind, known) === null) {
        if (tx.find(ifEntryKind, known) !== null) tx.update(ifEntryKind, known, fields);
      } else tx.remove(ifEntryKind, known);
    });
    if (round % 40 === 0) instants.push(store.clock.at);
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
  "changes(oper_status, -5h) >= 2",
  "changes(oper_status, -5h) <= 1 AND if_index > 20",
  "changes(oper_status, -5h) != 1",
  "changes(speed_bps, -5h) >= 2",
  "ever(if_alias : ZÜRICH, -3h)",
  "always(NOT oper_status = Dormant, -3h) AND if_index > 20",
  "was(-2h, oper_status = Down)",
  "NOT was(-2h, if_alias : zürich)",
];

const BOUNDS: readonly EvaluatorBounds[] = [
  { windowNumbers: 7, singleStepMax: 0, changedShare: 0 },
  { windowNumbers: 64, singleStepMax: 0, changedShare: 100_000 },
  { windowNumbers: 1_000_000, singleStepMax: 100_000, changedShare: 0 },
];

test.each(FILTERS)("%s has the same matches in every strategy, at any time, for every caller", (text) => {
  const { reader } = store;
  const source: Omit<EvaluatorSource, "fieldChanges"> = {
    connection: reader,
    populations: new Populations(reader),
    head: () => reader.head(),
  };
  const evaluators = BOUNDS.map((bounds, index) => {
    const fieldChanges = new FieldChanges(reader, () => reader.thinnedHistory.until, 1 + 3 * index);
    return new ConditionEvaluator({ ...source, fieldChanges }, bounds);
  });
  const fullReach: Reach = { organizationN: store.n(store.organizationId), networkNs: null };
  let found = 0;
  for (const reach of [fullReach, { ...fullReach, networkNs: networkNs.slice(0, 1) }, { ...fullReach, networkNs }]) {
    for (const at of [null, ...instants]) {
      const asOf = reader.resolve(at);
      const filter = { ...parsedFilter(text), base: at ?? store.clock.at };
      const { condition } = listCondition(reader, { kindName: "if_entry", reach, asOf }, filter);
      if (condition === undefined) throw new Error(`${text} has no condition`);
      const query: ListQuery = { kind: resourceOf("if_entry").kind, reach, asOf, limit: 0, offset: 0 };
      const expected = idsOf(reader.filteredAtOnce({ ...query, condition }) ?? query);
      found += expected.length;
      for (const evaluator of evaluators)
        expect(idsOf(runSteps(evaluator.filtered({ ...query, condition })))).toEqual(expected);
      // Pinned, as in a long read of the present.
      if (asOf !== null) continue;
      const pinned = { ...query, asOf: reader.present(), condition };
      for (const evaluator of evaluators) expect(idsOf(runSteps(evaluator.filtered(pinned)))).toEqual(expected);
    }
  }
  expect(found).toBeGreaterThan(0);
});

function idsOf(query: ListQuery): string[] {
  const items = store.reader.items(query);
  expect(store.reader.total(query)).toBe(items.length);
  return items.map(({ text }) => (JSON.parse(text) as { id: string }).id);
}
