// An appliance whose network holds recorded devices, each at an address of its own, scanned in random order.

import { neighborChangesOf } from "../../../src/discovery/topology/find-links.ts";
import { networkFacts } from "../../../src/discovery/topology/network-facts.ts";
import { newAppliance, type TestAppliance } from "../appliance/appliance.ts";
import { type JsonRecord, newCredential, newNetwork, snmpV2c } from "../appliance/factories.ts";
import { startScan, waitForScan } from "../appliance/scans.ts";
import { COMMUNITY, type RecordedProbes } from "./recorded-probes.ts";
import { withoutIds } from "./without-ids.ts";

const LISTS = [
  "hosts",
  "if-entries",
  "ip-addresses",
  "vlans",
  "subnets",
  "components",
  "ports",
  "services",
  "conflicts",
  "stations",
];
const PAGE = 1_000;

/** Block of the addresses at which recorded devices respond (RFC 2544): none of them has one of its own there. */
export const SITE_BLOCK = "198.19.0.0/21";

/** @param index below 2,000 */
export function siteAddress(index: number): string {
  return `198.19.${Math.floor(index / 250)}.${(index % 250) + 1}`;
}

export class RecordedSite {
  readonly appliance: TestAppliance;

  private constructor(appliance: TestAppliance) {
    this.appliance = appliance;
  }

  static async open(probes: RecordedProbes): Promise<RecordedSite> {
    // Without a garbage collection after each of many small scans.
    const links = (...[reader, networkN]: [Parameters<typeof networkFacts>[0], number]) => ({
      *find() {
        const changes = neighborChangesOf(networkFacts(reader, networkN, null));
        if (changes.links.length + changes.types.length > 0) yield changes;
      },
    });
    return new RecordedSite(
      await newAppliance({ scanning: { probes, links, afterScans: () => {} }, isOfEarlierVersion: true }),
    );
  }

  /** Networks with a credential for the devices. */
  async networks(count: number): Promise<string[]> {
    const ids: string[] = [];
    while (ids.length < count) ids.push((await newNetwork(this.appliance)).id);
    await newCredential(this.appliance, { credential_type: snmpV2c(COMMUNITY), assigned_network_ids: ids });
    return ids;
  }

  /** Runs a full scan, a minute after the one before. */
  async scan(networkId: string, targets: readonly string[]): Promise<JsonRecord> {
    const { appliance } = this;
    appliance.clock.advance(60_000);
    const { id } = await startScan(appliance, { network_id: networkId, targets });
    return waitForScan(appliance, id);
  }

  /** All records of a list in a network. */
  async list(path: string, networkId: string): Promise<JsonRecord[]> {
    const records: JsonRecord[] = [];
    for (;;) {
      const query = `network_id=${networkId}&limit=${PAGE}&offset=${records.length}`;
      const { status, data, body } = await this.appliance.owner.get(`/api/v1/${path}?${query}`);
      if (status !== 200) throw new Error(`${path}: ${JSON.stringify(body)}`);
      records.push(...data);
      if (data.length < PAGE) return records;
    }
  }

  /** The network's records, without ids and timestamps. */
  async inventory(networkId: string): Promise<string[][]> {
    const records: Record<string, JsonRecord[]> = {};
    for (const path of LISTS) records[path] = await this.list(path, networkId);
    return withoutIds(records);
  }
}
