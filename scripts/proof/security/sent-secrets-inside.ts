// Process inside the namespace of sent-secrets.ts, next to the appliance. Records which destinations Admins approve and
// where secrets are sent.

import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { type SnmpAgent, startAgent } from "../../../test/support/snmp/agent.ts";
import { viewOf } from "../../../test/support/snmp/view.ts";
import { communityCredential } from "../../benchmark/requests.ts";
import type { Finding, ProofContext } from "../part.ts";
import type { InsideReport } from "./sent-secrets.ts";
import { type Caller, dataOf, type Json, type People, populate, Testbed } from "./testbed.ts";

/** Prefixes of the Admin's subnet, of one where Members create theirs, and of one that is scanned only when named. */
const PREFIXES = ["10.66.0", "10.66.1", "10.66.2"] as const;
const LISTENERS_OF_PREFIX = 10;
const SNMP_PORT = 16_100;
/** Address of an honest device, which reports its two addresses. */
const HONEST = "10.66.0.1";
const HONEST_SECOND = "10.66.0.2";
/** Address of a device with the honest one's name that claims many addresses. */
const IMPOSTOR = "10.66.0.9";
const POLL_MS = 50;
/** Subnets that Members may create. */
const SUBNETS = ["1.0/27", "1.0/28", "1.0/29", "0.0/28", "2.0/28", "2.0/29"].map((end) => `10.66.${end}`);
/** Number of writes between two scans. */
const WRITES = 12;
const ROUNDS = { short: 8, long: 150 } as const;
/** SNMP's authorizationError: an immediate response without information. */
const REFUSED = 16;

type Secret = "host" | "named" | "network";
const SECRETS: Readonly<Record<Secret, string>> = {
  host: "c9-sent-host",
  named: "c9-sent-named",
  network: "c9-sent-network",
};
type Role = "owner" | "member";

class Trial {
  private readonly testbed: Testbed;
  private readonly rounds: number;
  private readonly random: SeededRandom;
  private readonly agents = new Map<string, SnmpAgent>();
  /**
   * Destinations that an Admin has approved or an honest device has reported. Never removed: the test is that nothing
   * is sent elsewhere.
   */
  private readonly approved: Record<Secret, Set<string>> = { host: new Set(), named: new Set(), network: new Set() };
  private readonly violations = new Set<string>();
  private readonly refusals = new Map<number, number>();
  private readonly callers = new Map<Role, Caller>();
  private people!: People;
  private hosts: string[] = [];
  private readonly credentials = new Map<Secret, Json>();
  private readonly instants: string[] = [];
  private scans = 0;
  private writes = 0;

  constructor(context: Pick<ProofContext, "form" | "executable" | "directory" | "seed">) {
    this.testbed = new Testbed({ ...context, say: () => {} }, "sent-secrets");
    this.rounds = ROUNDS[context.form];
    this.random = seededRandom(context.seed);
  }

  async prove(): Promise<Finding[]> {
    try {
      await this.listen();
      this.people = await populate(this.testbed, ["--snmp-port", String(SNMP_PORT), "--scan-tcp-ports", "9"]);
      this.callers.set("owner", this.people.byKey);
      this.callers.set("member", await this.testbed.asMember());
      await this.createFixtures();
      await this.scan("member", { kind: "snmp" });
      const initial = this.arrivalCount();
      for (let round = 0; round < this.rounds; round += 1) {
        for (let write = 0; write < WRITES; write += 1) await this.write();
        const kind = this.random.pick(["snmp", "snmp", "full"]);
        await this.scan("member", { kind, commit: this.random.integer(4) > 0 });
        this.assess(`round ${round}`);
      }
      const pairs = this.arrivalCount();
      const approval = await this.proveApproval();
      const refused = [...this.refusals].map(([status, count]) => `${count} × ${status}`).join(", ");
      return [
        {
          claim:
            "no secret is sent to an address not approved by an Admin, whatever Members, scans, restores and reverts do to addresses, hosts and subnets",
          held: this.violations.size === 0 && initial > 0 && pairs >= initial,
          figure:
            this.violations.size === 0
              ? `${this.agents.size} listening sockets, ${this.writes} writes (${refused}), ${this.scans} scans, ${pairs} pairs of secret and address approved by an Admin`
              : [...this.violations].slice(0, 5).join("; "),
        },
        approval,
      ];
    } finally {
      for (const agent of this.agents.values()) agent.close();
      await this.testbed.close();
    }
  }

  private async listen(): Promise<void> {
    const system = (addresses: readonly string[]) =>
      viewOf({
        "1.3.6.1.2.1.1.1.0": "a switch",
        "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.99999.1" },
        "1.3.6.1.2.1.1.5.0": "core",
        ...Object.assign(
          {},
          ...addresses.map((address) => ({
            [`1.3.6.1.2.1.4.20.1.1.${address}`]: { ip: address },
            [`1.3.6.1.2.1.4.20.1.2.${address}`]: 1,
            [`1.3.6.1.2.1.4.20.1.3.${address}`]: { ip: "255.255.255.0" },
          })),
        ),
      });
    const refusal = { errorAt: { oid: "1.3", status: REFUSED } };
    for (const prefix of PREFIXES) {
      for (let last = 1; last <= LISTENERS_OF_PREFIX; last += 1) {
        const address = `${prefix}.${last}`;
        const addresses = address === IMPOSTOR ? [IMPOSTOR, ...this.listeners("10.66.1")] : [HONEST, HONEST_SECOND];
        const known: Secret[] =
          address === HONEST ? ["host"] : address === IMPOSTOR ? ["network"] : ["host", "named", "network"];
        const communities = Object.fromEntries(known.map((secret) => [SECRETS[secret], () => system(addresses)]));
        const faults = known.length > 1 ? { faults: refusal } : {};
        this.agents.set(address, await startAgent({ address, port: SNMP_PORT, communities, ...faults }));
      }
    }
  }

  private listeners(prefix: string): string[] {
    return Array.from({ length: LISTENERS_OF_PREFIX }, (_, index) => `${prefix}.${index + 1}`);
  }

  /** Creates the initial records, all as the Owner. */
  private async createFixtures(): Promise<void> {
    const { organizationId, networkId } = this.people;
    await this.create("subnets", { network_id: networkId, cidr: "10.66.0.0/27" });
    await this.create("subnets", { network_id: networkId, cidr: "10.66.2.0/27", subnet_type: "Internet" });
    for (const address of this.listeners("10.66.0")) this.approved.network.add(address);
    const host = (name: string, addresses: readonly string[]) => {
      const ip_addresses = addresses.map((ip_address) => ({ ip_address }));
      return this.create("hosts", { network_id: networkId, name, ip_addresses });
    };
    const [core, edge] = [await host("core", [HONEST]), await host("edge", ["10.66.0.3", "10.66.0.4"])];
    this.hosts = [core.id, edge.id];
    const named = edge.ip_addresses[0];
    const credential = async (secret: Secret, host_assignments: Json[], networkIds: string[] = []) => {
      const body = communityCredential(organizationId, secret, SECRETS[secret], networkIds);
      this.credentials.set(secret, await this.create("credentials", { ...body, host_assignments }));
    };
    await credential("host", assignmentsOf(this.hosts));
    await credential("named", [{ host_id: edge.id, ip_address_ids: [named.id] }]);
    await credential("network", [], [networkId]);
    for (const address of [HONEST, HONEST_SECOND, "10.66.0.3", "10.66.0.4"]) this.approved.host.add(address);
    this.approved.named.add(named.ip_address);
    this.instants.push(core.updated_at, edge.updated_at);
  }

  /**
   * Makes one random write: usually by a Member, sometimes by an Admin. If an Admin's write approves destinations, they
   * are recorded.
   */
  private async write(): Promise<void> {
    const { random } = this;
    const actions: ReadonlyArray<() => Promise<unknown>> = [
      () => this.addAddress(),
      () => this.addAddress(),
      () => this.changeAddress(),
      () => this.changeAddress(),
      () => this.removeAddress(),
      () => this.updateHost("member", true),
      () => this.updateHost("member", false),
      () => this.bulk(),
      () => this.restore("member"),
      () => this.restore("member"),
      () => this.removeHost(),
      () => this.createSubnet(),
      () => this.changeSubnet(),
      () => this.removeSubnet(),
      () => this.overreach(),
      () => this.updateHost("owner", false),
      () => this.sendCredential(),
      () => this.restore("owner"),
      () => this.revert(),
      () => this.confirm(),
      () => this.reassign(),
      () => this.scanNamed(),
      // A Member may have deleted this subnet.
      () => this.send("owner", "POST", "subnets", { network_id: this.people.networkId, cidr: "10.66.0.0/27" }),
    ];
    this.writes += 1;
    await random.pick(actions)();
  }

  private randomAddress(): string {
    return `${this.random.pick(PREFIXES)}.${1 + this.random.integer(LISTENERS_OF_PREFIX)}`;
  }

  private async addAddress(): Promise<void> {
    const host_id = this.random.pick(this.hosts);
    await this.send("member", "POST", "ip-addresses", { host_id, ip_address: this.randomAddress() });
  }

  private async changeAddress(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    if (address !== null)
      await this.send("member", "PUT", `ip-addresses/${address.id}`, { ip_address: this.randomAddress() });
  }

  private async removeAddress(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    if (address !== null) await this.send("member", "DELETE", `ip-addresses/${address.id}`);
  }

  /** Sends a host back as a client that has read it would. @param isChanged whether to change its addresses */
  private async updateHost(role: Role, isChanged: boolean): Promise<void> {
    const host = await this.hostOf(this.random.pick(this.hosts));
    if (host === null) return;
    const { id, name, hidden, tags, ports, services, credential_assignments } = host;
    const ip_addresses = isChanged ? this.mutatedAddresses(host.ip_addresses) : host.ip_addresses;
    const body = { id, name, hidden, tags, ip_addresses, ports, services, credential_assignments };
    await this.send(role, "PUT", `hosts/${id}`, body);
  }

  private async bulk(): Promise<void> {
    const hosts = (await Promise.all(this.hosts.map((id) => this.hostOf(id)))).filter((host) => host !== null);
    const values = new Set<string>();
    const items = hosts.map(({ id, name, ip_addresses, credential_assignments }) => ({
      id,
      name,
      credential_assignments,
      ip_addresses: this.mutatedAddresses(ip_addresses).filter(
        ({ ip_address }) => !values.has(ip_address) && values.add(ip_address),
      ),
    }));
    await this.send("member", "POST", "hosts/bulk", items);
  }

  /** Returns addresses of which some are changed, removed, added or swapped. */
  private mutatedAddresses(addresses: readonly Json[]): Json[] {
    const { random } = this;
    const items = addresses
      .filter(() => random.integer(5) > 0)
      .map(
        ({ id, ip_address }) =>
          ({ id, ip_address: random.integer(3) === 0 ? this.randomAddress() : ip_address }) as Json,
      );
    if (random.integer(2) === 0) items.push({ ip_address: this.randomAddress() });
    const [a, b] = items;
    if (a !== undefined && b !== undefined && random.integer(3) === 0)
      [a.ip_address, b.ip_address] = [b.ip_address, a.ip_address];
    return items;
  }

  /** Restores a host, an address or a subnet to any past timestamp; an Admin also restores credentials. */
  private async restore(role: Role): Promise<void> {
    const at = this.random.pick(this.instants);
    const plural = this.random.pick(
      role === "owner" ? ["hosts", "credentials", "ip-addresses"] : ["hosts", "ip-addresses", "subnets"],
    );
    const records =
      plural === "hosts"
        ? this.hosts.map((id) => ({ id }))
        : plural === "credentials"
          ? [...this.credentials.values()]
          : ((await this.data("owner", `${plural}?limit=0&at=${at}`)) as Json[]);
    if (records.length > 0) await this.send(role, "POST", `${plural}/${this.random.pick(records).id}/restore`, { at });
  }

  private async removeHost(): Promise<void> {
    const id = this.random.pick(this.hosts);
    await this.send("member", "DELETE", `hosts/${id}?cascade=true`);
    const role = this.random.pick(["member", "owner"] as const);
    await this.send(role, "POST", `hosts/${id}/restore`, { at: this.random.pick(this.instants) });
  }

  private async createSubnet(): Promise<void> {
    const cidr = this.random.pick(SUBNETS);
    const flag = this.random.integer(3) === 0 ? { accepts_credentials: true } : {};
    const subnet_type = this.random.pick(["Lan", "Unknown", "Internet"]);
    await this.send("member", "POST", "subnets", { network_id: this.people.networkId, cidr, subnet_type, ...flag });
  }

  private async changeSubnet(): Promise<void> {
    const subnets = (await this.data("owner", "subnets?limit=0")) as Json[];
    // A Member may have deleted them all.
    if (subnets.length === 0) return;
    const { id, cidr, subnet_type, accepts_credentials } = this.random.pick(subnets) as Json;
    const change = this.random.pick([
      { cidr: "10.66.1.0/28" },
      { cidr: "10.66.1.0/27" },
      { cidr: "10.66.0.0/26" },
      { subnet_type: "Lan" },
      { accepts_credentials: true },
      {},
    ]);
    await this.send("member", "PUT", `subnets/${id}`, { cidr, subnet_type, accepts_credentials, ...change });
  }

  private async removeSubnet(): Promise<void> {
    const subnets = ((await this.data("owner", "subnets?limit=0")) as Json[]).filter(
      ({ accepts_credentials }) => accepts_credentials !== true || this.random.integer(8) === 0,
    );
    if (subnets.length > 0) await this.send("member", "DELETE", `subnets/${this.random.pick(subnets).id}?cascade=true`);
  }

  /** Makes a request that a Member is never allowed to make. */
  private async overreach(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    const { networkId } = this.people;
    const credential = this.credentials.get("host") as Json;
    const full = { network_id: networkId, kind: "full" };
    const actions: ReadonlyArray<() => Promise<unknown>> = [
      () => this.send("member", "POST", `ip-addresses/${address?.id ?? credential.id}/confirm`, {}),
      () => this.send("member", "POST", "discovery/scans", { ...full, targets: [this.randomAddress()] }),
      () => {
        const schedule = { ...full, name: "mine", cron: "* * * * *", targets: [this.randomAddress()] };
        return this.send("member", "POST", "discovery/schedules", schedule);
      },
      () =>
        this.send("member", "POST", `credentials/${credential.id}/restore`, { at: this.random.pick(this.instants) }),
      () =>
        this.send("member", "POST", "hosts", {
          network_id: networkId,
          name: "mine",
          ip_addresses: [{ ip_address: "10.66.0.8" }],
          credential_assignments: [{ credential_id: credential.id }],
        }),
    ];
    await this.random.pick(actions)();
  }

  private async sendCredential(): Promise<void> {
    const id = this.credentials.get(this.random.pick(["host", "named", "network"]))?.id;
    const { organization_id, name, credential_type, assigned_network_ids, host_assignments, tags, target_ips } =
      (await this.data("owner", `credentials/${id}`)) as Json;
    const body = { organization_id, name, credential_type, assigned_network_ids, host_assignments, tags, target_ips };
    await this.send("owner", "PUT", `credentials/${id}`, body);
  }

  private async revert(): Promise<void> {
    const recent = (await this.data("owner", "transactions?limit=6")) as Json[];
    await this.send("owner", "POST", `transactions/${this.random.pick(recent).sequence}/revert`, {});
  }

  private async confirm(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    if (address !== null) await this.confirmAddress(address);
  }

  /** Confirms an address, and records the approved destinations from the response. */
  private async confirmAddress(address: Json): Promise<void> {
    const { data } = await this.send("owner", "POST", `ip-addresses/${address.id}/confirm`, {});
    for (const id of (data?.credential_ids ?? []) as string[]) this.approve(id, [address.ip_address]);
  }

  /** Withdraws the credential from the hosts and assigns it again, to all their addresses. */
  private async reassign(): Promise<void> {
    const existing = (await Promise.all(this.hosts.map((id) => this.hostOf(id)))).filter((host) => host !== null);
    await this.assign([]);
    const { data } = await this.assign(existing.map(({ id }) => id));
    if (data === null) return;
    const addresses = existing.flatMap(({ ip_addresses }) => ip_addresses as Json[]);
    for (const { ip_address } of addresses) this.approved.host.add(ip_address);
  }

  /** Assigns the host credential to these hosts only. */
  private assign(hostIds: readonly string[]): Promise<{ readonly data: Json | null }> {
    const { id, organization_id, credential_type } = this.credentials.get("host") as Json;
    const body = { organization_id, name: "host", credential_type, assigned_network_ids: [], tags: [] };
    return this.send("owner", "PUT", `credentials/${id}`, { ...body, host_assignments: assignmentsOf(hostIds) });
  }

  private async scanNamed(): Promise<void> {
    const targets = [this.randomAddress(), this.randomAddress()];
    for (const address of targets) this.approved.network.add(address);
    await this.scan("owner", { kind: "snmp", targets });
  }

  private approve(credentialId: string, addresses: readonly string[]): void {
    for (const [secret, credential] of this.credentials)
      if (credential.id === credentialId) for (const address of addresses) this.approved[secret].add(address);
  }

  private async scan(role: Role, fields: Json): Promise<void> {
    const { data } = await this.send(role, "POST", "discovery/scans", { network_id: this.people.networkId, ...fields });
    if (data === null) return;
    this.scans += 1;
    for (const deadline = performance.now() + HANG_MS; performance.now() < deadline; ) {
      const { status } = (await this.data("owner", `discovery/scans/${data.id}`)) as Json;
      if (status === "Completed") return;
      if (status !== "Queued" && status !== "Running") throw new Error(`a scan finished with status ${status}`);
      await Bun.sleep(POLL_MS);
    }
    throw new Error("a scan did not complete");
  }

  private *arrivals(): Generator<readonly [Secret, string]> {
    for (const [address, { requests }] of this.agents) {
      const communities = new Set(requests.map(({ community }) => community));
      for (const secret of Object.keys(SECRETS) as Secret[])
        if (communities.has(SECRETS[secret])) yield [secret, address];
    }
  }

  private arrivalCount(): number {
    return [...this.arrivals()].length;
  }

  private assess(when: string): void {
    for (const [secret, address] of this.arrivals()) {
      if (this.approved[secret].has(address) || this.violations.size > 100) continue;
      this.approved[secret].add(address);
      this.violations.add(`the secret of ${secret} at ${address} in ${when}`);
    }
  }

  /** Checks that withheld secrets are sent after an Admin's approval: otherwise the test would prove nothing. */
  private async proveApproval(): Promise<Finding> {
    const { networkId } = this.people;
    await this.send("owner", "POST", "subnets", { network_id: networkId, cidr: "10.66.0.0/22" });
    const open = { subnet_type: "Lan", accepts_credentials: true };
    for (const { id, cidr } of (await this.data("owner", "subnets?limit=0")) as Json[])
      await this.send("owner", "PUT", `subnets/${id}`, { cidr, ...open });
    const fresh = await this.create("hosts", { network_id: networkId, name: "last", ip_addresses: [] });
    await this.assign([fresh.id]);
    const evil = "10.66.1.10";
    const address = await this.create("ip-addresses", { host_id: fresh.id, ip_address: evil });
    const before = new Set([...this.arrivals()].map(String));
    await this.scan("member", { kind: "snmp" });
    const between = [...this.arrivals()].map(String).filter((pair) => !before.has(pair));
    await this.confirmAddress(address);
    await this.scan("member", { kind: "snmp" });
    const arrived = new Set([...this.arrivals()].map(String));
    return {
      claim: "a withheld secret is sent once an Admin confirms the address, or allows the subnet to accept credentials",
      held:
        arrived.has(`host,${evil}`) &&
        between.every((pair) => pair.startsWith("network,")) &&
        arrived.has(`network,${evil}`),
      figure: `at ${evil}: ${[...arrived].filter((pair) => pair.endsWith(`,${evil}`)).join("; ")}`,
    };
  }

  private async hostOf(id: string): Promise<Json | null> {
    return (await this.send("owner", "GET", `hosts/${id}`)).data;
  }

  private async addressOf(hostId: string): Promise<Json | null> {
    const addresses = ((await this.hostOf(hostId))?.ip_addresses ?? []) as Json[];
    return addresses.length === 0 ? null : this.random.pick(addresses);
  }

  private async data(role: Role, path: string): Promise<unknown> {
    return dataOf(await this.as(role).get(path));
  }

  private async create(path: string, body: Json): Promise<Json> {
    return dataOf(await this.as("owner").post(path, body));
  }

  /** Sends a request. Refusals are expected. @throws Error for a 5xx response */
  private async send(
    role: Role,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly data: Json | null }> {
    const response = await this.as(role).send(method, path, body);
    if (response.status >= 500) throw new Error(`${method} ${path}: ${response.status} ${response.text}`);
    if (method !== "GET") this.refusals.set(response.status, (this.refusals.get(response.status) ?? 0) + 1);
    if (response.status !== 200) return { data: null };
    const data = dataOf(response);
    if (method !== "GET" && typeof data.updated_at === "string") this.instants.push(data.updated_at);
    return { data };
  }

  private as(role: Role): Caller {
    return this.callers.get(role) as Caller;
  }
}

function assignmentsOf(hostIds: readonly string[]): Json[] {
  return hostIds.map((host_id) => ({ host_id }));
}

if (import.meta.main) {
  for (const args of [
    ["link", "set", "lo", "up"],
    ["route", "add", "local", "10.66.0.0/22", "dev", "lo"],
  ]) {
    const { exitCode, stderr } = Bun.spawnSync(["ip", ...args], { stderr: "pipe" });
    if (exitCode !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr.toString()}`);
  }
  const findings = await new Trial(JSON.parse(process.argv[2] ?? "")).prove();
  process.stdout.write(`${JSON.stringify({ findings } satisfies InsideReport)}\n`);
  process.exit(0);
}
