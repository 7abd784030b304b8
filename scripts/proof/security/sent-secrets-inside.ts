// Process inside the namespace of sent-secrets.ts, next to the appliance. Records the approvals by Admins, and the
// destinations of secrets.

import { type SeededRandom, seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { type SnmpAgent, startAgent } from "../../../test/support/snmp/agent.ts";
import { viewOf } from "../../../test/support/snmp/view.ts";
import type { Finding, Proving } from "../part.ts";
import type { InsideReport } from "./sent-secrets.ts";
import { dataOf, type Json, MEMBER_EMAIL, PERSON_PASSWORD, type People, populate, Stage } from "./stage.ts";

/** The Admin's subnet, one where Members may create their own, and one that is scanned only when named. */
const PREFIXES = ["10.66.0", "10.66.1", "10.66.2"] as const;
const LISTENERS_OF_PREFIX = 10;
const SNMP_PORT = 16_100;
/** Address of the honest device, which reports its two addresses. */
const HONEST = "10.66.0.1";
const HONEST_TOO = "10.66.0.2";
/** A device with the honest one's name that claims various addresses. */
const LIAR = "10.66.0.9";
const POLL_MS = 50;
/** Writes between two scans. */
const WRITES = 12;
const ROUNDS = { short: 8, long: 150 } as const;
/** SNMP's authorizationError: an immediate answer without information. */
const REFUSED = 16;

type Secret = "host" | "named" | "network";
const SECRETS: Readonly<Record<Secret, string>> = {
  host: "c9-sent-host",
  named: "c9-sent-named",
  network: "c9-sent-network",
};
type By = "owner" | "member";

class Trial {
  private readonly stage: Stage;
  private readonly rounds: number;
  private readonly random: SeededRandom;
  private readonly agents = new Map<string, SnmpAgent>();
  /**
   * Destinations approved by an Admin or reported by an honest device. Never removed: the test is that nothing goes
   * elsewhere.
   */
  private readonly words: Record<Secret, Set<string>> = { host: new Set(), named: new Set(), network: new Set() };
  private readonly wrong = new Set<string>();
  private readonly refusals = new Map<number, number>();
  private readonly cookies = new Map<By, readonly [string, string]>();
  private people!: People;
  private hosts: string[] = [];
  private readonly credentials = new Map<Secret, Json>();
  private readonly instants: string[] = [];
  private scans = 0;
  private writes = 0;

  constructor(proving: Pick<Proving, "form" | "executable" | "directory" | "seed">) {
    this.stage = new Stage({ ...proving, say: () => {} }, "sent-secrets");
    this.rounds = ROUNDS[proving.form];
    this.random = seededRandom(proving.seed);
  }

  async prove(): Promise<Finding[]> {
    try {
      await this.listen();
      this.people = await populate(this.stage, ["--snmp-port", String(SNMP_PORT), "--scan-tcp-ports", "9"]);
      this.cookies.set("owner", this.people.key);
      this.cookies.set("member", await this.stage.cookieOf(MEMBER_EMAIL, PERSON_PASSWORD));
      await this.furnish();
      await this.scan("member", { kind: "snmp" });
      const first = this.sent();
      for (let round = 0; round < this.rounds; round += 1) {
        for (let write = 0; write < WRITES; write += 1) await this.write();
        await this.scan("member", {
          kind: this.random.pick(["snmp", "snmp", "full"]),
          commit: this.random.integer(4) > 0,
        });
        this.judge(`round ${round}`);
      }
      const tried = this.sent();
      const teeth = await this.teeth();
      const refused = [...this.refusals].map(([status, count]) => `${count} × ${status}`).join(", ");
      return [
        {
          claim:
            "no secret is sent to an address not approved by an Admin, whatever Members, scans, restores and reverts make of addresses, hosts and subnets",
          held: this.wrong.size === 0 && first > 0 && tried >= first,
          figure:
            this.wrong.size === 0
              ? `${this.agents.size} listening sockets, ${this.writes} writes (${refused}), ${this.scans} scans, ${tried} pairs of secret and address that an Admin had sent`
              : [...this.wrong].slice(0, 5).join("; "),
        },
        teeth,
      ];
    } finally {
      for (const agent of this.agents.values()) agent.close();
      await this.stage.close();
    }
  }

  private async listen(): Promise<void> {
    const system = (name: string, own: readonly string[]) =>
      viewOf({
        "1.3.6.1.2.1.1.1.0": "a switch",
        "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.99999.1" },
        "1.3.6.1.2.1.1.5.0": name,
        ...Object.fromEntries(
          own.flatMap(
            (address) =>
              [
                [`1.3.6.1.2.1.4.20.1.1.${address}`, { ip: address }],
                [`1.3.6.1.2.1.4.20.1.2.${address}`, 1],
                [`1.3.6.1.2.1.4.20.1.3.${address}`, { ip: "255.255.255.0" }],
              ] as const,
          ),
        ),
      });
    const refusing = { errorAt: { oid: "1.3", status: REFUSED } };
    for (const prefix of PREFIXES) {
      for (let last = 1; last <= LISTENERS_OF_PREFIX; last += 1) {
        const address = `${prefix}.${last}`;
        const of = (...secrets: Secret[]) =>
          Object.fromEntries(
            secrets.map((secret) => [
              SECRETS[secret],
              () =>
                address === LIAR
                  ? system("core", [LIAR, ...this.listeners("10.66.1")])
                  : system("core", [HONEST, HONEST_TOO]),
            ]),
          );
        if (address === HONEST)
          this.agents.set(address, await startAgent({ address, port: SNMP_PORT, communities: of("host") }));
        else if (address === LIAR)
          this.agents.set(address, await startAgent({ address, port: SNMP_PORT, communities: of("network") }));
        else
          this.agents.set(
            address,
            await startAgent({
              address,
              port: SNMP_PORT,
              communities: of("host", "named", "network"),
              faults: refusing,
            }),
          );
      }
    }
  }

  private listeners(prefix: string): string[] {
    return Array.from({ length: LISTENERS_OF_PREFIX }, (_, index) => `${prefix}.${index + 1}`);
  }

  /** Initial records, all by the Owner. */
  private async furnish(): Promise<void> {
    const { organizationId, networkId } = this.people;
    await this.made("POST", "/api/v1/subnets", { network_id: networkId, cidr: "10.66.0.0/27" });
    await this.made("POST", "/api/v1/subnets", {
      network_id: networkId,
      cidr: "10.66.2.0/27",
      subnet_type: "Internet",
    });
    for (const address of this.listeners("10.66.0")) this.words.network.add(address);
    const host = (name: string, addresses: readonly string[]) =>
      this.made("POST", "/api/v1/hosts", {
        network_id: networkId,
        name,
        ip_addresses: addresses.map((ip_address) => ({ ip_address })),
      });
    const [core, edge] = [await host("core", [HONEST]), await host("edge", ["10.66.0.3", "10.66.0.4"])];
    this.hosts = [core.id, edge.id];
    const named = edge.ip_addresses[0];
    const credential = async (secret: Secret, assigned_network_ids: string[], host_assignments: Json[]) => {
      const body = {
        organization_id: organizationId,
        name: secret,
        credential_type: { type: "SnmpV2c", community: { mode: "Inline", value: SECRETS[secret] } },
        assigned_network_ids,
        host_assignments,
        tags: [],
      };
      this.credentials.set(secret, await this.made("POST", "/api/v1/credentials", body));
    };
    await credential(
      "host",
      [],
      this.hosts.map((host_id) => ({ host_id })),
    );
    await credential("named", [], [{ host_id: edge.id, ip_address_ids: [named.id] }]);
    await credential("network", [networkId], []);
    for (const address of [HONEST, HONEST_TOO, "10.66.0.3", "10.66.0.4"]) this.words.host.add(address);
    this.words.named.add(named.ip_address);
    this.instants.push(core.updated_at, edge.updated_at);
  }

  /**
   * One random write: usually a Member's, sometimes an Admin's that approves nothing, or an approving one, which is
   * recorded.
   */
  private async write(): Promise<void> {
    const { random } = this;
    const ways: ReadonlyArray<() => Promise<void>> = [
      () => this.addAddress(),
      () => this.addAddress(),
      () => this.changeAddress(),
      () => this.changeAddress(),
      () => this.removeAddress(),
      () => this.sendHost("member", true),
      () => this.sendHost("member", false),
      () => this.bulk(),
      () => this.restore("member"),
      () => this.restore("member"),
      () => this.removeHost(),
      () => this.makeSubnet(),
      () => this.changeSubnet(),
      () => this.removeSubnet(),
      () => this.overreach(),
      () => this.sendHost("owner", false),
      () => this.sendCredential(),
      () => this.restore("owner"),
      () => this.revert(),
      () => this.confirm(),
      () => this.assignAnew(),
      () => this.scanNamed(),
      // A Member may have deleted it.
      () =>
        this.ask("owner", "POST", "/api/v1/subnets", { network_id: this.people.networkId, cidr: "10.66.0.0/27" }).then(
          () => {},
        ),
    ];
    this.writes += 1;
    await random.pick(ways)();
  }

  private anyAddress(): string {
    return `${this.random.pick(PREFIXES)}.${1 + this.random.integer(LISTENERS_OF_PREFIX)}`;
  }

  private async addAddress(): Promise<void> {
    await this.ask("member", "POST", "/api/v1/ip-addresses", {
      host_id: this.random.pick(this.hosts),
      ip_address: this.anyAddress(),
    });
  }

  private async changeAddress(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    if (address !== null)
      await this.ask("member", "PUT", `/api/v1/ip-addresses/${address.id}`, { ip_address: this.anyAddress() });
  }

  private async removeAddress(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    if (address !== null) await this.ask("member", "DELETE", `/api/v1/ip-addresses/${address.id}`);
  }

  /** Sends a host back like a client that has read it. @param isChanged whether to change its addresses */
  private async sendHost(by: By, isChanged: boolean): Promise<void> {
    const host = await this.hostOf(this.random.pick(this.hosts));
    if (host === null) return;
    const { id, name, hidden, tags, ip_addresses, ports, services, credential_assignments } = host;
    const addresses = isChanged ? this.shuffled(ip_addresses as Json[]) : ip_addresses;
    await this.ask(by, "PUT", `/api/v1/hosts/${id}`, {
      id,
      name,
      hidden,
      tags,
      ip_addresses: addresses,
      ports,
      services,
      credential_assignments,
    });
  }

  private async bulk(): Promise<void> {
    const hosts = (await Promise.all(this.hosts.map((id) => this.hostOf(id)))).filter((host) => host !== null);
    const values = new Set<string>();
    const items = hosts.map(({ id, name, ip_addresses, credential_assignments }) => ({
      id,
      name,
      credential_assignments,
      ip_addresses: this.shuffled(ip_addresses).filter(
        ({ ip_address }) => !values.has(ip_address) && values.add(ip_address),
      ),
    }));
    await this.ask("member", "POST", "/api/v1/hosts/bulk", items);
  }

  /** Changes, removes, adds or swaps some of them. */
  private shuffled(addresses: readonly Json[]): Json[] {
    const { random } = this;
    const items = addresses
      .filter(() => random.integer(5) > 0)
      .map(
        ({ id, ip_address }) => ({ id, ip_address: random.integer(3) === 0 ? this.anyAddress() : ip_address }) as Json,
      );
    if (random.integer(2) === 0) items.push({ ip_address: this.anyAddress() });
    const [a, b] = items;
    if (a !== undefined && b !== undefined && random.integer(3) === 0)
      [a.ip_address, b.ip_address] = [b.ip_address, a.ip_address];
    return items;
  }

  /** To any past timestamp: a host, an address or a subnet; by an Admin also a credential. */
  private async restore(by: By): Promise<void> {
    const at = this.random.pick(this.instants);
    const plural = this.random.pick(
      by === "owner" ? ["hosts", "credentials", "ip-addresses"] : ["hosts", "ip-addresses", "subnets"],
    );
    const records =
      plural === "hosts"
        ? this.hosts.map((id) => ({ id }))
        : plural === "credentials"
          ? [...this.credentials.values()]
          : ((await this.data("owner", `/api/v1/${plural}?limit=0&at=${at}`)) as Json[]);
    if (records.length > 0)
      await this.ask(by, "POST", `/api/v1/${plural}/${this.random.pick(records).id}/restore`, { at });
  }

  private async removeHost(): Promise<void> {
    const id = this.random.pick(this.hosts);
    await this.ask("member", "DELETE", `/api/v1/hosts/${id}?cascade=true`);
    await this.ask(this.random.pick(["member", "owner"]), "POST", `/api/v1/hosts/${id}/restore`, {
      at: this.random.pick(this.instants),
    });
  }

  private async makeSubnet(): Promise<void> {
    const cidr = this.random.pick([
      "10.66.1.0/27",
      "10.66.1.0/28",
      "10.66.1.0/29",
      "10.66.0.0/28",
      "10.66.2.0/28",
      "10.66.2.0/29",
    ]);
    const flag = this.random.integer(3) === 0 ? { accepts_credentials: true } : {};
    await this.ask("member", "POST", "/api/v1/subnets", {
      network_id: this.people.networkId,
      cidr,
      subnet_type: this.random.pick(["Lan", "Unknown", "Internet"]),
      ...flag,
    });
  }

  private async changeSubnet(): Promise<void> {
    const subnets = (await this.data("owner", "/api/v1/subnets?limit=0")) as Json[];
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
    await this.ask("member", "PUT", `/api/v1/subnets/${id}`, { cidr, subnet_type, accepts_credentials, ...change });
  }

  private async removeSubnet(): Promise<void> {
    const subnets = ((await this.data("owner", "/api/v1/subnets?limit=0")) as Json[]).filter(
      ({ accepts_credentials }) => accepts_credentials !== true || this.random.integer(8) === 0,
    );
    if (subnets.length > 0)
      await this.ask("member", "DELETE", `/api/v1/subnets/${this.random.pick(subnets).id}?cascade=true`);
  }

  /** Requests that a Member may not make at all. */
  private async overreach(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    const { networkId } = this.people;
    const credential = this.credentials.get("host") as Json;
    const ways: ReadonlyArray<() => Promise<unknown>> = [
      () => this.ask("member", "POST", `/api/v1/ip-addresses/${address?.id ?? credential.id}/confirm`, {}),
      () =>
        this.ask("member", "POST", "/api/v1/discovery/scans", {
          network_id: networkId,
          kind: "full",
          targets: [this.anyAddress()],
        }),
      () =>
        this.ask("member", "POST", "/api/v1/discovery/schedules", {
          network_id: networkId,
          name: "mine",
          cron: "* * * * *",
          kind: "full",
          targets: [this.anyAddress()],
        }),
      () =>
        this.ask("member", "POST", `/api/v1/credentials/${credential.id}/restore`, {
          at: this.random.pick(this.instants),
        }),
      () =>
        this.ask("member", "POST", "/api/v1/hosts", {
          network_id: networkId,
          name: "mine",
          ip_addresses: [{ ip_address: "10.66.0.8" }],
          credential_assignments: [{ credential_id: credential.id }],
        }),
    ];
    await this.random.pick(ways)();
  }

  private async sendCredential(): Promise<void> {
    const id = this.credentials.get(this.random.pick(["host", "named", "network"]))?.id;
    const { organization_id, name, credential_type, assigned_network_ids, host_assignments, tags, target_ips } =
      (await this.data("owner", `/api/v1/credentials/${id}`)) as Json;
    await this.ask("owner", "PUT", `/api/v1/credentials/${id}`, {
      organization_id,
      name,
      credential_type,
      assigned_network_ids,
      host_assignments,
      tags,
      target_ips,
    });
  }

  private async revert(): Promise<void> {
    const recent = (await this.data("owner", "/api/v1/transactions?limit=6")) as Json[];
    await this.ask("owner", "POST", `/api/v1/transactions/${this.random.pick(recent).sequence}/revert`, {});
  }

  private async confirm(): Promise<void> {
    const address = await this.addressOf(this.random.pick(this.hosts));
    if (address !== null) await this.confirmed(address);
  }

  /** Records the approved destinations from the answer. */
  private async confirmed(address: Json): Promise<void> {
    const { data } = await this.ask("owner", "POST", `/api/v1/ip-addresses/${address.id}/confirm`, {});
    for (const id of (data?.credential_ids ?? []) as string[]) this.said(id, [address.ip_address]);
  }

  /** Removed and assigned again: to all addresses of the hosts. */
  private async assignAnew(): Promise<void> {
    const { id, ...credential } = this.credentials.get("host") as Json;
    const alive = (await Promise.all(this.hosts.map((each) => this.hostOf(each)))).filter((host) => host !== null);
    const body = (host_assignments: Json[]) => ({
      organization_id: credential.organization_id,
      name: "host",
      credential_type: credential.credential_type,
      assigned_network_ids: [],
      tags: [],
      host_assignments,
    });
    await this.ask("owner", "PUT", `/api/v1/credentials/${id}`, body([]));
    const { data } = await this.ask(
      "owner",
      "PUT",
      `/api/v1/credentials/${id}`,
      body(alive.map((host) => ({ host_id: host.id }))),
    );
    if (data !== null)
      for (const host of alive)
        this.said(
          id,
          host.ip_addresses.map((each: Json) => each.ip_address),
        );
  }

  private async scanNamed(): Promise<void> {
    const targets = [this.anyAddress(), this.anyAddress()];
    for (const address of targets) this.words.network.add(address);
    await this.scan("owner", { kind: "snmp", targets });
  }

  private said(credentialId: string, addresses: readonly string[]): void {
    for (const [secret, credential] of this.credentials)
      if (credential.id === credentialId) for (const address of addresses) this.words[secret].add(address);
  }

  private async scan(by: By, fields: Json): Promise<void> {
    const { data } = await this.ask(by, "POST", "/api/v1/discovery/scans", {
      network_id: this.people.networkId,
      ...fields,
    });
    if (data === null) return;
    this.scans += 1;
    for (const deadline = performance.now() + HANG_MS; performance.now() < deadline; ) {
      const { status } = (await this.data("owner", `/api/v1/discovery/scans/${data.id}`)) as Json;
      if (status === "Completed") return;
      if (status !== "Queued" && status !== "Running") throw new Error(`a scan ended as ${status}`);
      await Bun.sleep(POLL_MS);
    }
    throw new Error("a scan did not come to an end");
  }

  private *arrivals(): Generator<readonly [Secret, string]> {
    for (const [address, { requests }] of this.agents) {
      for (const community of new Set(requests.map((request) => request.community))) {
        for (const secret of Object.keys(SECRETS) as Secret[])
          if (SECRETS[secret] === community) yield [secret, address];
      }
    }
  }

  private sent(): number {
    return [...this.arrivals()].length;
  }

  private judge(when: string): void {
    for (const [secret, address] of this.arrivals()) {
      if (this.words[secret].has(address) || this.wrong.size > 100) continue;
      this.words[secret].add(address);
      this.wrong.add(`the secret of ${secret} at ${address} in ${when}`);
    }
  }

  /** Withheld secrets arrive after an Admin's approval: otherwise the test would prove nothing. */
  private async teeth(): Promise<Finding> {
    const { networkId } = this.people;
    await this.ask("owner", "POST", "/api/v1/subnets", { network_id: networkId, cidr: "10.66.0.0/22" });
    for (const subnet of (await this.data("owner", "/api/v1/subnets?limit=0")) as Json[]) {
      await this.ask("owner", "PUT", `/api/v1/subnets/${subnet.id}`, {
        cidr: subnet.cidr,
        subnet_type: "Lan",
        accepts_credentials: true,
      });
    }
    const fresh = await this.made("POST", "/api/v1/hosts", { network_id: networkId, name: "last", ip_addresses: [] });
    const { id, ...credential } = this.credentials.get("host") as Json;
    await this.ask("owner", "PUT", `/api/v1/credentials/${id}`, {
      organization_id: credential.organization_id,
      name: "host",
      credential_type: credential.credential_type,
      assigned_network_ids: [],
      tags: [],
      host_assignments: [{ host_id: fresh.id }],
    });
    const evil = "10.66.1.10";
    const address = await this.made("POST", "/api/v1/ip-addresses", { host_id: fresh.id, ip_address: evil });
    const before = new Set([...this.arrivals()].map(String));
    await this.scan("member", { kind: "snmp" });
    const between = [...this.arrivals()].map(String).filter((pair) => !before.has(pair));
    await this.confirmed(address);
    await this.scan("member", { kind: "snmp" });
    const arrived = new Set([...this.arrivals()].map(String));
    return {
      claim: "a withheld secret is sent once an Admin confirms the address, or lets the subnet accept credentials",
      held:
        arrived.has(`host,${evil}`) &&
        between.every((pair) => pair.startsWith("network,")) &&
        arrived.has(`network,${evil}`),
      figure: `at ${evil}: ${[...arrived].filter((pair) => pair.endsWith(`,${evil}`)).join("; ")}`,
    };
  }

  private async hostOf(id: string): Promise<Json | null> {
    return (await this.ask("owner", "GET", `/api/v1/hosts/${id}`)).data;
  }

  private async addressOf(hostId: string): Promise<Json | null> {
    const addresses = ((await this.hostOf(hostId))?.ip_addresses ?? []) as Json[];
    return addresses.length === 0 ? null : this.random.pick(addresses);
  }

  private async data(by: By, path: string): Promise<unknown> {
    return dataOf(await this.stage.send("GET", path, undefined, this.headers(by)));
  }

  private async made(method: string, path: string, body: Json): Promise<Json> {
    return dataOf(await this.stage.send(method, path, body, this.headers("owner")));
  }

  /** Refusals are expected; errors are not. */
  private async ask(by: By, method: string, path: string, body?: unknown): Promise<{ readonly data: Json | null }> {
    const answer = await this.stage.send(method, path, body, this.headers(by));
    if (answer.status >= 500) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    if (method !== "GET") this.refusals.set(answer.status, (this.refusals.get(answer.status) ?? 0) + 1);
    if (answer.status !== 200) return { data: null };
    const data = dataOf(answer);
    if (method !== "GET" && typeof data.updated_at === "string") this.instants.push(data.updated_at);
    return { data };
  }

  private headers(by: By): ReadonlyArray<readonly [string, string]> {
    return [this.cookies.get(by) as readonly [string, string]];
  }
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
