// Topology cache of a thread: equal to an uncached thread at every timestamp, regardless of writes in between.

import { beforeEach, expect, test } from "bun:test";
import type { Instant } from "../../src/base/instant.ts";
import { cachedFacts } from "../../src/discovery/topology/cached-facts.ts";
import type { NetworkFacts } from "../../src/discovery/topology/facts.ts";
import { FactsCache } from "../../src/discovery/topology/facts-cache.ts";
import { networkFacts } from "../../src/discovery/topology/network-facts.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { expectOk, type JsonRecord } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { DAY_MS } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, newHost, newIfEntry, newNetwork, newSubnet, owner, prune, tick } = appliance;
let networkIds: string[];

beforeEach(async () => {
  networkIds = [first.networkId, (await newNetwork({ name: "other" })).id];
  for (const network_id of networkIds) await newSubnet({ cidr: "192.0.2.0/24", network_id });
});

function readCachedFacts(cache: FactsCache, networkId: string, sequence: number): NetworkFacts {
  const { reader } = appliance;
  const steps = cachedFacts(reader, reader.recordN(networkId) as number, sequence, cache);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

function uncachedFacts(networkId: string, sequence: number): NetworkFacts {
  const { reader } = appliance;
  return networkFacts(reader, reader.recordN(networkId) as number, reader.atSequence(sequence));
}

test("the cached topology equals the uncached one, at any timestamp, in any order", async () => {
  const random = seededRandom(77);
  const hosts: JsonRecord[] = [];
  const ports: JsonRecord[] = [];
  const instants: Instant[] = [];
  for (let round = 0; round < 80; round += 1) {
    tick();
    const action = random.integer(8);
    if (hosts.length < 4 || action === 0)
      hosts.push(
        await newHost({
          name: `host-${round}`,
          network_id: random.pick(networkIds),
          ip_addresses: [{ ip_address: `192.0.2.${round + 1}` }],
        }),
      );
    else if (ports.length < 4 || action === 1 || action === 2) {
      const host = random.pick(hosts);
      const ip_address_id = action === 1 ? host.ip_addresses[0].id : undefined;
      ports.push(
        await newIfEntry(host.id, { if_name: `Gi0/${round}`, lldp_sys_name: random.pick(hosts).name, ip_address_id }),
      );
    } else if (action === 3 && hosts.length > 6) {
      const [gone] = hosts.splice(random.integer(hosts.length), 1) as [JsonRecord];
      await expectOk(owner.delete(`hosts/${gone.id}?cascade=true`));
      for (const port of ports.splice(0)) if (port.host_id !== gone.id) ports.push(port);
    } else if (ports.length > 0) {
      const port = random.pick(ports);
      const oper_status = random.pick(["Up", "Down", "Dormant"]);
      await expectOk(
        owner.put(`if-entries/${port.id}`, { if_index: port.if_index, if_descr: port.if_descr, oper_status }),
      );
    }
    instants.push(clock.now());
  }
  const compare = () => {
    const cache = new FactsCache();
    const head = appliance.reader.head().sequence;
    let [networkId, sequence] = [first.networkId, head];
    for (let round = 0; round < 120; round += 1) {
      // Mostly nearby, like a user who drags the time slider.
      if (random.integer(6) === 0) networkId = random.pick(networkIds);
      sequence =
        random.integer(4) === 0
          ? 1 + random.integer(head)
          : Math.max(1, Math.min(head, sequence + random.integer(9) - 4));
      expect(readCachedFacts(cache, networkId, sequence)).toEqual(uncachedFacts(networkId, sequence));
    }
    // Without differences the facts are not even rebuilt.
    expect(readCachedFacts(cache, networkId, sequence)).toBe(readCachedFacts(cache, networkId, sequence));
  };
  compare();
  clock.advance(DAY_MS);
  prune(instants[50] as Instant, "none");
  compare();
});
