import { describe, expect, test } from "bun:test";
import { Credentials } from "../../src/discovery/scans/credentials.ts";
import type { Assignment, KnownAddress, KnownNetwork } from "../../src/discovery/scans/known-network.ts";
import type { OpenedCredential } from "../../src/discovery/scans/opened-credentials.ts";

const address = (id: string, ip_address: string, host_id = "h1"): KnownAddress => ({ id, ip_address, host_id });
const assigned = (
  credential_id: string,
  host_id: string | null = null,
  ip_address_ids: string[] | null = null,
  covered: string[] = ["10.0.0.1", "10.0.0.2", "10.0.0.9"],
): Assignment => ({ credential_id, host_id, ip_address_ids, covered: new Set(covered) });

function network(
  assignments: Assignment[],
  addresses: KnownAddress[] = [],
  remembered: Array<[string, string]> = [],
): KnownNetwork {
  return {
    n: 1,
    staleAfterHours: null,
    subnets: [],
    hosts: new Map(),
    byAddress: new Map(
      addresses.map((row) => [row.ip_address, addresses.filter(({ ip_address }) => ip_address === row.ip_address)]),
    ),
    assignments,
    remembered: new Map(remembered.map(([ip, credential_id]) => [ip, { credential_id, key_extension: null }])),
  };
}

const open = (id: string): OpenedCredential | null => {
  if (id === "gone") return null;
  if (id === "sealed")
    return { ok: false, refusal: { credential_id: id, reason: "secret_unreadable", clause: "it cannot be read" } };
  return { ok: true, credential: { credential_id: id, name: id, version: "SnmpV2c", community: id } };
};

const isIn10 = (ip: string) => ip.startsWith("10.");
type Initial = ConstructorParameters<typeof Credentials>[1];
const credentialsOf = (known: KnownNetwork, initial: Initial = [], accepts = isIn10) =>
  new Credentials(known, initial, open, accepts);
const ONE_AT_FIRST = [{ credential_id: "one", ip_addresses: ["10.0.0.1"] }];
const idsAt = (credentials: Credentials, ip: string) =>
  credentials.at(ip).credentials.map(({ credential_id }) => credential_id);

describe("the credentials for an address", () => {
  const addresses = [address("a1", "10.0.0.1"), address("a2", "10.0.0.2"), address("b1", "10.0.0.9", "h2")];

  test("are ordered by assignment: to the host and address, to the host, to the network", () => {
    const toHosts = [assigned("host", "h1"), assigned("address", "h1", ["a1"]), assigned("other", "h2")];
    const credentials = credentialsOf(network([assigned("network"), ...toHosts], addresses));
    expect(idsAt(credentials, "10.0.0.1")).toEqual(["address", "host", "network"]);
    expect(idsAt(credentials, "10.0.0.2")).toEqual(["host", "network"]);
    expect(idsAt(credentials, "10.0.0.9")).toEqual(["other", "network"]);
    expect(idsAt(credentials, "10.0.0.77")).toEqual(["network"]);
  });

  test("start with the one that has the address as an initial address", () => {
    const knownNetwork = network([assigned("network"), assigned("host", "h1")], addresses);
    const initial = [{ credential_id: "bootstrap", ip_addresses: ["10.0.0.1", "192.0.2.1"] }];
    const credentials = credentialsOf(knownNetwork, initial);
    expect(idsAt(credentials, "10.0.0.1")).toEqual(["bootstrap", "host", "network"]);
    expect(idsAt(credentials, "192.0.2.1")).toEqual(["bootstrap"]);
  });

  test("are listed once each", () => {
    const knownNetwork = network([assigned("one"), assigned("one", "h1"), assigned("one", "h1", ["a1"])], addresses);
    expect(idsAt(credentialsOf(knownNetwork, ONE_AT_FIRST), "10.0.0.1")).toEqual(["one"]);
  });

  test("start with the one that worked, while still assigned there", () => {
    const knownNetwork = network([assigned("network"), assigned("host", "h1"), assigned("other", "h2")], addresses, [
      ["10.0.0.1", "network"],
      ["10.0.0.2", "other"],
    ]);
    const credentials = credentialsOf(knownNetwork);
    expect(idsAt(credentials, "10.0.0.1")).toEqual(["network", "host"]);
    expect(credentials.at("10.0.0.1").remembered).toEqual({ credential_id: "network", key_extension: null });
    expect(idsAt(credentials, "10.0.0.2")).toEqual(["host", "network"]);
    expect(credentials.at("10.0.0.2").remembered).toBeNull();
  });

  test("are those of every host with the address", () => {
    const shared = [address("a1", "10.0.0.1"), address("b1", "10.0.0.1", "h2")];
    const credentials = credentialsOf(network([assigned("one", "h1"), assigned("two", "h2")], shared));
    expect(idsAt(credentials, "10.0.0.1")).toEqual(["one", "two"]);
  });

  test("omit deleted ones, and report those that cannot be decrypted", () => {
    const knownNetwork = network([assigned("gone"), assigned("sealed"), assigned("network")]);
    const { credentials, refused } = credentialsOf(knownNetwork).at("10.0.0.1");
    expect(credentials.map(({ credential_id }) => credential_id)).toEqual(["network"]);
    expect(refused).toEqual([{ credential_id: "sealed", reason: "secret_unreadable", clause: "it cannot be read" }]);
  });

  test("are empty without assignments", () => {
    expect(credentialsOf(network([])).isEmpty).toBe(true);
    expect(credentialsOf(network([]), ONE_AT_FIRST).isEmpty).toBe(false);
  });

  test("are used only in accepting subnets if they are the network's", () => {
    const knownNetwork = network([assigned("network"), assigned("host", "h1")], addresses);
    const credentials = credentialsOf(knownNetwork, [], (ip) => ip === "10.0.0.2");
    expect(idsAt(credentials, "10.0.0.1")).toEqual(["host"]);
    expect(credentials.at("10.0.0.1").withheld).toEqual({ waiting: [], isOutside: true });
    expect(idsAt(credentials, "10.0.0.2")).toEqual(["host", "network"]);
    expect(credentials.at("10.0.0.2").withheld).toBeNull();
    expect(idsAt(credentials, "10.0.0.77")).toEqual([]);
    expect(credentials.at("10.0.0.77").withheld).toEqual({ waiting: [], isOutside: true });
  });

  test("are used only for covered address values if they are a host's, even if an assignment names the address", () => {
    const assignments = [assigned("host", "h1", null, ["10.0.0.1"]), assigned("address", "h1", ["a2"], [])];
    const credentials = credentialsOf(network(assignments, addresses));
    expect(idsAt(credentials, "10.0.0.1")).toEqual(["host"]);
    expect(credentials.at("10.0.0.1").withheld).toBeNull();
    expect(idsAt(credentials, "10.0.0.2")).toEqual([]);
    expect(credentials.at("10.0.0.2").withheld).toEqual({ waiting: [address("a2", "10.0.0.2")], isOutside: false });
  });

  test("are not withheld if allowed for another reason", () => {
    const both = [assigned("one"), assigned("one", "h1", null, [])];
    expect(credentialsOf(network(both, addresses)).at("10.0.0.1").withheld).toBeNull();
    const { credentials, withheld } = credentialsOf(network(both, addresses), ONE_AT_FIRST, () => false).at("10.0.0.1");
    expect([credentials.map(({ credential_id }) => credential_id), withheld]).toEqual([["one"], null]);
  });
});
