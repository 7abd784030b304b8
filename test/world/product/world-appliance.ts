// Appliance that scans the simulated site, on the site's clock. All queries go through its API.

import { neighborChangesOf } from "../../../src/discovery/topology/find-links.ts";
import { networkFacts } from "../../../src/discovery/topology/network-facts.ts";
import { newAppliance, type TestAppliance } from "../../support/appliance/appliance.ts";
import type { Client } from "../../support/appliance/client.ts";
import { expectOk, type JsonRecord, newApiKey, newSubnet } from "../../support/appliance/factories.ts";
import { communityOf, startScan, waitForScan } from "../../support/appliance/scans.ts";
import type { Site } from "../site/site.ts";
import type { WorldProbes } from "./world-probes.ts";

export class WorldAppliance {
  readonly appliance: TestAppliance;
  private readonly client: Client;
  /** Documented subnets, by the start of their addresses. */
  private readonly subnetIds = new Map<string, string>();

  private constructor(appliance: TestAppliance) {
    this.appliance = appliance;
    // A session would end after days without a request.
    this.client = newApiKey(appliance).client;
  }

  /** @param vlans networks with documented subnets, by the first three octets: `10.0.10.` */
  static async open(probes: WorldProbes, nets: readonly string[]): Promise<WorldAppliance> {
    // Links without a garbage collection after each scan: it would dominate hundreds of small scans.
    const links = (...[reader, networkN]: [Parameters<typeof networkFacts>[0], number]) => ({
      *find() {
        const changes = neighborChangesOf(networkFacts(reader, networkN, null));
        if (changes.links.length + changes.types.length > 0) yield changes;
      },
    });
    const appliance = await newAppliance({
      scanning: { probes, links, afterScans: () => {} },
      isOfEarlierVersion: true,
    });
    await communityOf(appliance, "public");
    const product = new WorldAppliance(appliance);
    for (const net of nets) product.subnetIds.set(net, (await newSubnet(appliance, { cidr: `${net}0/24` })).id);
    return product;
  }

  /** Moves the clock forward to the site's time. */
  moveTo(site: Site): void {
    const ahead = site.now - this.appliance.clock.now();
    if (ahead > 0) this.appliance.clock.advance(ahead);
  }

  get now(): number {
    return this.appliance.clock.now();
  }

  /** Runs a scan to completion. @returns its id */
  async scan(kind: "snmp" | "sweep", targets: readonly string[]): Promise<string> {
    const { id } = await startScan(this.appliance, { kind, targets }, this.client);
    const scan = await waitForScan(this.appliance, id, this.client);
    if (scan.status !== "Completed") throw new Error(`the scan ended as ${scan.status}: ${scan.outcome?.problem}`);
    return id;
  }

  /** The data of a response. @throws Error on a refusal */
  async get(path: string): Promise<any> {
    return expectOk(this.client.get(path));
  }

  /** Null for a path or a record that does not exist, such as one of a kind that the product lacks. */
  async getIfServed(path: string): Promise<any> {
    const { status, data } = await this.client.get(path);
    return status === 200 ? data : null;
  }

  /** All records of a list, page by page. */
  async list(path: string, query = ""): Promise<JsonRecord[]> {
    const records: JsonRecord[] = [];
    for (let offset = 0; ; offset += PAGE) {
      const page = await this.getIfServed(`${path}?limit=${PAGE}&offset=${offset}${query}`);
      if (page === null) return records;
      records.push(...page);
      if (page.length < PAGE) return records;
    }
  }

  /** Changes after a transaction, oldest first, with the position to continue from. */
  async changesAfter(after: number): Promise<{ readonly changes: JsonRecord[]; readonly after: number }> {
    const changes: JsonRecord[] = [];
    for (let position = after; ; ) {
      const { body } = await this.client.get(`changes?after=${position}&limit=${PAGE}`);
      changes.push(...body.data);
      position = body.meta.feed.after;
      if (body.meta.feed.has_more !== true) return { changes, after: position };
    }
  }

  async delete(path: string): Promise<void> {
    await this.client.delete(path);
  }

  /** Free addresses of the subnet of an address. */
  async freeNear(ip: string): Promise<string[]> {
    const id = this.subnetIds.get(ip.slice(0, ip.lastIndexOf(".") + 1));
    return (await this.get(`subnets/${id}/free?count=256`)).next;
  }

  /** Adds a note to an interface as a user. */
  async note(ifEntryId: string, text: string): Promise<void> {
    const record = await this.get(`if-entries/${ifEntryId}`);
    const { status, body } = await this.client.put(`if-entries/${ifEntryId}`, { ...record, if_alias: text });
    if (status >= 400) throw new Error(`the note was not written: ${JSON.stringify(body)}`);
  }

  close(): Promise<void> {
    return this.appliance.close();
  }
}

const PAGE = 1_000;
