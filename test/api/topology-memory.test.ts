// Topology cache of a thread: equal to an uncached thread at every timestamp, whatever happens in between.

import { beforeEach, expect, test } from "bun:test";
import type { Instant } from "../../src/base/instant.ts";
import type { NetworkFacts } from "../../src/discovery/topology/facts.ts";
import { FactsMemory } from "../../src/discovery/topology/facts-memory.ts";
import { networkFacts } from "../../src/discovery/topology/network-facts.ts";
import { rememberedFacts } from "../../src/discovery/topology/remembered-facts.ts";
import { applianceForEach } from "../support/appliance/appliance-for-each.ts";
import { made, type Wire } from "../support/appliance/factories.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import { DAY_MS } from "../support/store/store.ts";

const appliance = applianceForEach();
const { clock, first, newHost, newIfEntry, newNetwork, newSubnet, owner, pruned, tick } = appliance;
let networkIds: string[];

beforeEach(async () => {
  networkIds = [first.networkId, (await newNetwork({ name: "other" })).id];
  for (const network_id of networkIds) await newSubnet({ cidr: "192.0.2.0/24", network_id });
});

function asked(memory: FactsMemory, networkId: string, sequence: number): NetworkFacts {
  const { reader } = appliance;
  const steps = rememberedFacts(reader, reader.recordN(networkId) as number, sequence, memory);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

function plain(networkId: string, sequence: number): NetworkFacts {
  const { reader } = appliance;
  return networkFacts(reader, reader.recordN(networkId) as number, reader.atSequence(sequence));
}

test("is the same from the cache as without, at any instant, in any order", async () => {
  const random = seededRandom(77);
  const hosts: Wire[] = [];
  const ports: Wire[] = [];
  const instants: Instant[] = [];
  for (let turn = 0; turn < 80; turn += 1) {
    tick();
    const sort = random.integer(8);
    if (hosts.length < 4 || sort === 0)
      hosts.push(
        await newHost({
          name: `host-${turn}`,
          network_id: random.pick(networkIds),
          ip_addresses: [{ ip_address: `192.0.2.${turn + 1}` }],
        }),
      );
    else if (ports.length < 4 || sort === 1 || sort === 2) {
      const host = random.pick(hosts);
      const ip_address_id = sort === 1 ? host.ip_addresses[0].id : undefined;
      ports.push(
        await newIfEntry(host.id, { if_name: `Gi0/${turn}`, lldp_sys_name: random.pick(hosts).name, ip_address_id }),
      );
    } else if (sort === 3 && hosts.length > 6) {
      const [gone] = hosts.splice(random.integer(hosts.length), 1) as [Wire];
      await made(owner.delete(`hosts/${gone.id}?cascade=true`));
      for (const port of ports.splice(0)) if (port.host_id !== gone.id) ports.push(port);
    } else if (ports.length > 0) {
      const port = random.pick(ports);
      const oper_status = random.pick(["Up", "Down", "Dormant"]);
      await made(owner.put(`if-entries/${port.id}`, { if_index: port.if_index, if_descr: port.if_descr, oper_status }));
    }
    instants.push(clock.now());
  }
  const compare = () => {
    const memory = new FactsMemory();
    const head = appliance.reader.head().sequence;
    let [networkId, sequence] = [first.networkId, head];
    for (let turn = 0; turn < 120; turn += 1) {
      // Mostly nearby, like a user who drags the time.
      if (random.integer(6) === 0) networkId = random.pick(networkIds);
      sequence =
        random.integer(4) === 0
          ? 1 + random.integer(head)
          : Math.max(1, Math.min(head, sequence + random.integer(9) - 4));
      expect(asked(memory, networkId, sequence)).toEqual(plain(networkId, sequence));
    }
    // Without differences it is not even rebuilt.
    expect(asked(memory, networkId, sequence)).toBe(asked(memory, networkId, sequence));
  };
  compare();
  clock.advance(DAY_MS);
  pruned(instants[50] as Instant, "none");
  compare();
});
