// Query plans of locate and its timeline: always by an index, never a full table scan.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Reader } from "../../src/db/reading/reader.ts";
import { LOCATE_TERM_TYPES, type LocateTerm } from "../../src/history/locate/facts.ts";
import { locate } from "../../src/history/locate/locate.ts";
import { locateTimeline } from "../../src/history/locate/timeline.ts";
import { fdbEntryKind } from "../../src/resources/fdb-entries/fdb-entry.ts";
import { hostKind } from "../../src/resources/hosts/host.ts";
import { ifEntryKind } from "../../src/resources/if-entries/if-entry.ts";
import { ipAddressKind } from "../../src/resources/ip-addresses/ip-address.ts";
import { subnetKind } from "../../src/resources/subnets/subnet.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import { momentOf } from "../support/store/moments.ts";
import { planOf, preparedBy } from "../support/store/prepared-statements.ts";
import {
  addressFields,
  fdbEntryFields,
  hostFields,
  ifEntryFields,
  Store,
  subnetFields,
} from "../support/store/store.ts";

const MAC = "00:1b:21:00:00:07";
const VALUES: Readonly<Record<LocateTerm["by"], string>> = { mac: MAC, ip: "10.0.0.7", hostname: "web" };

const store = new Store();

beforeAll(() => {
  const { organizationId, networkId } = store;
  store.write((tx) => {
    const named = { number: 7, name: "v7", description: null, source: { type: "Manual" } } as const;
    const vlan = tx.create(vlanKind, organizationId, { network_id: networkId, ...named });
    const subnet = tx.create(subnetKind, organizationId, subnetFields(networkId, "10.0.0.0/8", { vlan_id: vlan.id }));
    const web = tx.create(hostKind, organizationId, hostFields(networkId, "web"));
    tx.create(ipAddressKind, organizationId, addressFields(web, subnet.id, "10.0.0.7", { mac_address: MAC }));
    tx.create(ifEntryKind, organizationId, ifEntryFields(web, 1, { mac_address: MAC }));
    const access = tx.create(hostKind, organizationId, hostFields(networkId, "access"));
    const links = [
      { neighbor: { type: "Host" as const, id: web.id } },
      { lldp_sys_name: "core", lldp_chassis_id: { subtype: "MacAddress" as const, value: "00:1b:21:00:00:99" } },
    ];
    for (const [position, link] of links.entries()) {
      const port = tx.create(ifEntryKind, organizationId, ifEntryFields(access, position + 1, link));
      tx.create(fdbEntryKind, organizationId, { ...fdbEntryFields(port, MAC), vlan_number: 7 });
    }
  });
  store.write((tx) => tx.create(hostKind, organizationId, hostFields(networkId, "later")));
});
afterAll(() => store.close());

describe.each(LOCATE_TERM_TYPES)("locate by %s", (by) => {
  test.each([
    ["all networks", null],
    ["one of the networks", [1]],
  ])("every statement uses an index within reach of %s", (_title, networks) => {
    const networkNs = networks === null ? null : [store.n(store.networkId)];
    const query = {
      actor: { type: "User", n: 1, userN: 1, role: "Viewer", organizationN: store.n(store.organizationId), networkNs },
      term: { by, value: VALUES[by] },
      networkId: null,
    } as const;
    const { sequence } = store.reader.head();
    const { texts, result: bytes } = preparedBy(store.readDb.$client, () => {
      // A separate reader without prepared statements.
      const reader = new Reader(store.readDb, store.clock);
      // Steps without bytes have no output yet.
      return [
        ...locate(reader, { ...query, moment: momentOf(reader, sequence) }),
        ...locateTimeline(reader, { ...query, from: null, to: null, until: sequence }),
      ].filter(({ length }) => length > 0);
    });
    expect(new TextDecoder().decode(bytes[0])).toContain('"role":"Edge"');
    expect(texts.length).toBeGreaterThan(8);
    for (const text of texts) {
      expect([text, planOf(store.readDb.$client, text).filter(isTableScan)]).toEqual([text, []]);
    }
  });
});

/** Expected scans: parameter lists, the search index, results of a subquery, and segments of thinned history. */
function isTableScan(detail: string): boolean {
  return (
    /AUTOMATIC/.test(detail) ||
    (/^SCAN /.test(detail) && !/^SCAN (CONSTANT ROW|\(subquery|\w+ VIRTUAL TABLE|history_segments)/.test(detail))
  );
}
