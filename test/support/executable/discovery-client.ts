// Discovery through the API of a separate appliance process: credentials, completed scans, results. No assertions
// beyond success.

import type { Answer, Client } from "../appliance/client.ts";
import { made, type Wire } from "../appliance/factories.ts";

const SCANS = "/api/v1/discovery/scans";

export class DiscoveryClient {
  readonly client: Client;
  private readonly organizationId: string;

  constructor(client: Client, organizationId: string) {
    this.client = client;
    this.organizationId = organizationId;
  }

  /** Creates another network of the organization. */
  network(name: string): Promise<Wire> {
    return made(this.client.post("networks", { organization_id: this.organizationId, name, tags: [] }));
  }

  /** Creates a credential for these networks. */
  credential(credentialType: Wire, networkIds: readonly string[], fields: Wire = {}): Promise<Wire> {
    const name = credentialType.security_name ?? credentialType.type;
    return made(
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
  begin(fields: Wire): Promise<Wire> {
    return made(this.client.post(SCANS, fields));
  }

  /** Waits for the scan to end. */
  async ended(id: string): Promise<Wire> {
    // The scan's end closes its event stream.
    const followed = await this.client.get(`${SCANS}/${id}/events`);
    if (followed.status !== 200) throw new Error(followed.text);
    return this.scan(id);
  }

  scan(id: string): Promise<Wire> {
    return made(this.client.get(`${SCANS}/${id}`));
  }

  /** Requests a scan and waits for it. @throws Error unless it completed */
  async scanned(fields: Wire): Promise<Wire> {
    const scan = await this.ended((await this.begin(fields)).id);
    if (scan.status !== "Completed") throw new Error(`the scan is ${scan.status}: ${scan.outcome?.problem}`);
    return scan;
  }

  findings(scan: Wire): Promise<Wire[]> {
    return this.all(`${SCANS}/${scan.id}/findings`);
  }

  /** All records of a list, across pages. @param path may have parameters */
  async all(path: string): Promise<Wire[]> {
    return (await made(this.client.get(`${path}${path.includes("?") ? "&" : "?"}limit=0`))) as unknown as Wire[];
  }

  /** Differences in a network since a timestamp. */
  diff(networkId: string, from: string, to?: string): Promise<Wire> {
    return made(this.client.get(`diff?network_id=${networkId}&from=${from}${to === undefined ? "" : `&to=${to}`}`));
  }

  /** Sequence of the latest transaction. */
  async sequence(): Promise<number> {
    return (await made(this.client.get("ledger"))).sequence;
  }

  cancel(id: string): Promise<Answer> {
    return this.client.send("POST", `${SCANS}/${id}/cancel`);
  }
}

export function community(value: string): Wire {
  return { type: "SnmpV2c", community: { mode: "Inline", value } };
}

/** authPriv with SHA-1 and AES-128. */
export function user(securityName: string, authPassword: string, privPassword: string): Wire {
  return {
    type: "SnmpV3",
    security_name: securityName,
    auth_protocol: "Sha1",
    auth_password: { mode: "Inline", value: authPassword },
    priv_protocol: "Aes128",
    priv_password: { mode: "Inline", value: privPassword },
  };
}
