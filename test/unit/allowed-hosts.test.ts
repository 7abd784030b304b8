// Accepted host names of requests, by listen address and configured names.

import { describe, expect, test } from "bun:test";
import { DomainError } from "../../src/base/errors.ts";
import { AllowedHosts, type HostRules } from "../../src/http/allowed-hosts.ts";
import { dnsNamesOf } from "../../src/tls/pair.ts";

const ADDRESSES = "127.0.0.1 10.0.0.5:8080 192.0.2.1. [::1] [2001:DB8::1]:8443 [::ffff:10.0.0.5] [fe80::1]:".split(" ");

function hostsOf(rules: Partial<HostRules>, certificateNames?: readonly string[]): AllowedHosts {
  const hosts = new AllowedHosts({ isLoopback: true, names: [], ...rules });
  if (certificateNames !== undefined) hosts.certify(certificateNames);
  return hosts;
}

/** Code of the refusal; null if accepted. */
function refusalCode(hosts: AllowedHosts, host: string | null): string | null {
  try {
    hosts.require(new Headers(host === null ? {} : { host }));
    return null;
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

const refusedNames = (hosts: AllowedHosts, names: readonly string[]) =>
  names.filter((name) => refusalCode(hosts, name) === "host_not_allowed");

describe("a request on loopback", () => {
  test("may name addresses and loopback names, in any case, with a port and with the root dot", () => {
    const names = "localhost LOCALHOST:8080 localhost. netledger.localhost a.b.LocalHost.:80 localhost:".split(" ");
    expect(refusedNames(hostsOf({}), [...ADDRESSES, ...names])).toEqual([]);
  });

  test("is refused for any other name, regardless of its prefix or suffix, including a certificate's names", () => {
    const others =
      "evil.example evil.example:8080 localhost.evil.example notlocalhost localhost.. 127.0.0.1.evil.example " +
      "127.0.0.1.nip.io 2130706433 0x7f.1 127.1 %6cocalhost xn--lcalhost-9cf netledger.lan";
    const names = others.split(" ");
    expect(refusedNames(hostsOf({}), names)).toEqual(names);
    expect(refusedNames(hostsOf({}, ["netledger.lan", "*.example"]), names)).toEqual(names);
  });

  test("may name a configured name, but not its subdomains", () => {
    const hosts = hostsOf({ names: ["netledger.lan", "inventory"] });
    const accepted = ["netledger.lan", "NetLedger.LAN.:443", "inventory", "localhost", "127.0.0.1"];
    const refused = ["a.netledger.lan", "lan", "inventory.lan"];
    expect(refusedNames(hosts, [...accepted, ...refused])).toEqual(refused);
  });

  test("is refused with advice for proxies and without echoing the name", () => {
    expect(() => hostsOf({}).require(new Headers({ host: "evil.example" }))).toThrow(
      /^(?!.*evil)(?=.*IP address)(?=.*--host-name NAME)(?=.*reverse proxy on the same machine)/,
    );
  });
});

describe("a request that other machines can make", () => {
  test("may use any name while none is configured, and health reports the limitation", () => {
    const hosts = hostsOf({ isLoopback: false });
    expect(refusedNames(hosts, ["evil.example", "localhost", ...ADDRESSES])).toEqual([]);
    expect(hosts.limitations.map(({ code }) => code)).toEqual(["host_not_checked"]);
    expect(hostsOf({}).limitations).toEqual([]);
  });

  test("may use the certificate's and configured names, and no others", () => {
    const hosts = hostsOf({ isLoopback: false, names: ["inventory"] }, ["NetLedger.lan", "localhost"]);
    expect(hosts.limitations).toEqual([]);
    const accepted = ["netledger.lan:8443", "NETLEDGER.lan.", "inventory", "localhost", ...ADDRESSES];
    const refused = ["evil.example", "a.netledger.lan", "a.localhost"];
    expect(refusedNames(hosts, [...accepted, ...refused])).toEqual(refused);
    const withoutCertificate = hostsOf({ isLoopback: false, names: ["inventory"] });
    expect(refusedNames(withoutCertificate, ["inventory", "localhost"])).toEqual(["localhost"]);
  });

  test("matches a wildcard by one complete leading label, never by a part of a label", () => {
    const hosts = hostsOf({ isLoopback: false }, ["*.Example.net", "w*.example.org", "a.*.example.com"]);
    expect(refusedNames(hosts, ["a.example.net", "XN--BCHER-KVA.example.net.:80"])).toEqual([]);
    const others =
      "example.net .example.net a.b.example.net aexample.net www.example.org a.b.example.com *.example.org".split(" ");
    expect(refusedNames(hosts, others)).toEqual(others);
  });

  test("must use a new certificate's names once they replace the old ones", () => {
    const hosts = hostsOf({ isLoopback: false }, ["old.example"]);
    expect(refusedNames(hosts, ["old.example"])).toEqual([]);
    hosts.certify(["new.example"]);
    expect(refusedNames(hosts, ["old.example", "new.example"])).toEqual(["old.example"]);
  });
});

test("a missing Host is accepted, and an invalid or repeated one is refused", () => {
  for (const hosts of [hostsOf({}), hostsOf({ isLoopback: false })]) {
    expect(refusalCode(hosts, null)).toBeNull();
    for (const host of ["", "a, b", "localhost, localhost", "user@localhost", "a b", "localhost:80:81", "::1", "[::1"])
      expect([host, refusalCode(hosts, host)]).toEqual([host, "validation_failed"]);
  }
});

test("only host names of a certificate count, not names embedded in others", () => {
  const names = 'DNS:localhost, IP Address:127.0.0.1, DNS:*.example.net, email:a@b.example, DNS:"x, DNS:evil.example"';
  expect(dnsNamesOf({ names })).toEqual(["localhost", "*.example.net"]);
  expect(dnsNamesOf({ names: "" })).toEqual([]);
  expect(dnsNamesOf({ names: "IP Address:10.0.0.5" })).toEqual([]);
});
