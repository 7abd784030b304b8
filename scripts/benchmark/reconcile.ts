// Reconciliation benchmark: the writer's time for scan sightings, initially, without changes, and with one changed port
// per device. Runs the real writer and its commands, compiled like the product, without network access. Usage:
// scripts/bench --reconcile [--devices 1000] [--ports 50]

import { join } from "node:path";
import { type CommandActor, SYSTEM_AUTHOR } from "../../src/access/actor.ts";
import { systemClock } from "../../src/base/clock.ts";
import { systemRandom } from "../../src/base/random.ts";
import { outcomeOf, type WriteReply, type Writer } from "../../src/db/writing/writer.ts";
import { digestOf } from "../../src/discovery/reconcile/reports.ts";
import { inputText, sightingText } from "../../src/discovery/sighting-lines.ts";
import type { DeviceSighting, Recorded } from "../../src/discovery/sightings.ts";
import type { CreatedOrganization } from "../../src/resources/organizations/commands.ts";
import { openWriter } from "../../src/server/open-writer.ts";
import { deviceAt, ethernet, mac } from "../../test/support/reconcile/sightings.ts";
import { folder, printLine, printRow, settings } from "./program.ts";

const { devices, ports } = settings({ devices: 1_000, ports: 50 });
/** Devices per command, as many as the scanner passes. */
const DEVICES_PER_COMMAND = 16;

const writer = openWriter(
  { databasePath: join(folder(), "netledger.db"), secretKey: systemRandom.bytes(32) },
  systemClock,
  systemRandom,
);
const owner = { email: "bench@example.net", passwordHash: "unused", onlyFirst: true };
const input = { organizationName: "Benchmark", networkName: "campus", ...owner };
const setUp = writer.execute([{ command: "organization.set_up", input, actor: SYSTEM_AUTHOR }]);
const organization = outcomeOf<CreatedOrganization>(setUp[0] as WriteReply).result;
printLine(`${devices} devices of ${ports} interfaces, each with four forwarding entries`);
printRow("", 52, ["seconds", "versions", "entries/s"], 11);
// scripts/bench --against compares these titles with those of earlier commits.
measure(writer, organization, "for the first time", sightings(0));
measure(writer, organization, "the same again", sightings(0));
measure(writer, organization, "the same again", sightings(0));
measure(
  writer,
  organization,
  "the same again, every record compared",
  sightings(0).map(({ digest: _digest, ...sighting }) => sighting),
);
measure(writer, organization, "one port of each device is down", sightings(1));
writer.close();

function measure(
  writer: Writer,
  organization: CreatedOrganization,
  name: string,
  reported: readonly DeviceSighting[],
): void {
  const scanId = Bun.randomUUIDv7();
  const actor: CommandActor = {
    type: "Discovery",
    id: scanId,
    name: "benchmark",
    organizationId: organization.organizationId,
    requestId: null,
    userId: null,
    role: "Owner",
    networkIds: [organization.networkId],
  };
  const inputs: Uint8Array[] = [];
  for (let start = 0; start < reported.length; start += DEVICES_PER_COMMAND) {
    const sightings = reported.slice(start, start + DEVICES_PER_COMMAND);
    const members = `"scan_id":"${scanId}","network_id":"${organization.networkId}"`;
    inputs.push(new TextEncoder().encode(inputText(members, sightings.map(sightingText))));
  }
  let versions = 0;
  const started = performance.now();
  for (const bytes of inputs) {
    const [reply] = writer.execute([{ command: "discovery.devices", input: { bytes }, actor }]);
    const { result } = outcomeOf<Recorded>(reply as WriteReply);
    for (const { created, updated, deleted } of Object.values(result.records)) versions += created + updated + deleted;
  }
  const seconds = (performance.now() - started) / 1000;
  const rate = Math.round((devices * ports) / seconds).toString();
  printRow(name, 52, [seconds.toFixed(3), String(versions), rate], 11);
}

/** @param down number of ports of each device that are down */
function sightings(down: number): DeviceSighting[] {
  return Array.from({ length: devices }, (_, number) => {
    const address = `10.${(number >> 8) & 255}.${number & 255}.1`;
    const interfaces = Array.from({ length: ports }, (_, port) =>
      ethernet(port + 1, {
        mac_address: mac(port + 1, number),
        oper_status: port < down ? "Down" : "Up",
        vlans: [1, 10, 20],
        native_vlan: 1,
        forwarding: Array.from({ length: 4 }, (_, entry) => ({
          mac_address: mac(port * 4 + entry, 4_096 + number),
          vlan_number: 10,
        })),
      }),
    );
    const sighting = deviceAt(address, {
      sys_name: `switch-${number}`,
      serial_number: `BENCH${number}`,
      interfaces,
      addresses: [{ ip_address: address, prefix_length: 24, if_index: 1 }],
      vlans: [
        { number: 1, name: "default" },
        { number: 10, name: "users" },
        { number: 20, name: "voice" },
      ],
    });
    return { ...sighting, digest: digestOf(sighting) };
  });
}
