// Discovery through the API of a separate appliance process: credentials, completed scans, results. No assertions
// beyond success.

import type { ApiResponse, Client } from "../appliance/client.ts";
import { expectOk, type JsonRecord } from "../appliance/factories.ts";

const SCANS = "/api/v1/discovery/scans";

export class DiscoveryClient {
  readonly client: Client;
  private readonly organizationId: string;

  constructor(client: Client, organizationId: string) {
    this.client = client;
    this.organizationId = organizationId;
  }

  /** Creates another network of the organization. */
  network(name: string): Promise<JsonRecord> {
    return expectOk(this.client.post("networks", { organization_id: this.organizationId, name, tags: [] }));
  }

  /** Creates a credential for these networks. */
  credential(credentialType: JsonRecord, networkIds: readonly string[], fields: JsonRecord = {}): Promise<JsonRecord> {
    const name = credentialType.security_name ?? credentialType.type;
    return expectOk(
      this.client.post("credentials", {
        organization_id: this.organizationId,
        name,
        credential_type: credentialType,
        assigned_network_ids: networkIds,
        host_assignments: [],
        tags: [],
        ...fields,
      }),
    );
  }

  /** Requests a scan. */
  start(fields: JsonRecord): Promise<JsonRecord> {
    return expectOk(this.client.post(SCANS, fields));
  }

  /** Waits for the scan to end. */
  async waitForEnd(id: string): Promise<JsonRecord> {
    // The scan's end closes its event stream.
    const events = await this.client.get(`${SCANS}/${id}/events`);
    if (events.status !== 200) throw new Error(events.text);
    return this.scan(id);
  }

  scan(id: string): Promise<JsonRecord> {
    return expectOk(this.client.get(`${SCANS}/${id}`));
  }

  /** Requests a scan and waits for it. @throws Error unless it completed */
  async runScan(fields: JsonRecord): Promise<JsonRecord> {
    const scan = await this.waitForEnd((await this.start(fields)).id);
    if (scan.status !== "Completed") throw new Error(`the scan is ${scan.status}: ${scan.outcome?.problem}`);
    return scan;
  }

  findings(scan: JsonRecord): Promise<JsonRecord[]> {
    return this.list(`${SCANS}/${scan.id}/findings`);
  }

  /** All records of a list, across pages. @param path path, possibly with query parameters */
  async list(path: string): Promise<JsonRecord[]> {
    return (await expectOk(
      this.client.get(`${path}${path.includes("?") ? "&" : "?"}limit=0`),
    )) as unknown as JsonRecord[];
  }

  /** Differences in a network since a timestamp. */
  diff(networkId: string, from: string, to?: string): Promise<JsonRecord> {
    return expectOk(this.client.get(`diff?network_id=${networkId}&from=${from}${to === undefined ? "" : `&to=${to}`}`));
  }

  /** Sequence of the latest transaction. */
  async sequence(): Promise<number> {
    return (await expectOk(this.client.get("ledger"))).sequence;
  }

  cancel(id: string): Promise<ApiResponse> {
    return this.client.send("POST", `${SCANS}/${id}/cancel`);
  }
}

export function community(value: string): JsonRecord {
  return { type: "SnmpV2c", community: { mode: "Inline", value } };
}

/** authPriv with SHA-1 and AES-128. */
export function user(securityName: string, authPassword: string, privPassword: string): JsonRecord {
  return {
    type: "SnmpV3",
    security_name: securityName,
    auth_protocol: "Sha1",
    auth_password: { mode: "Inline", value: authPassword },
    priv_protocol: "Aes128",
    priv_password: { mode: "Inline", value: privPassword },
  };
}
