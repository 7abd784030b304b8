// Service names by port number.

import { expect, test } from "bun:test";
import { serviceOf } from "../../src/discovery/self/well-known-services.ts";
import { PORT_PROTOCOLS, portType } from "../../src/resources/ports/port-type.ts";

const tcp = (number: number) => ({ number, protocol: "Tcp" as const });
const udp = (number: number) => ({ number, protocol: "Udp" as const });
const EVERY_PORT = PORT_PROTOCOLS.flatMap((protocol) =>
  Array.from({ length: 65_535 }, (_, index) => ({ number: index + 1, protocol })),
);

test("a well-known port number identifies its service", () => {
  expect(serviceOf(tcp(22))).toEqual({ name: "SSH", service_definition: "ssh" });
  expect(serviceOf(udp(123))).toEqual({ name: "NTP", service_definition: "ntp" });
  expect(serviceOf(tcp(5432))).toEqual({ name: "PostgreSQL", service_definition: "postgresql" });
});

test("a service on both protocols is the same service", () => {
  expect(serviceOf(udp(53))).toEqual(serviceOf(tcp(53)));
  expect(serviceOf(udp(443))).toEqual(serviceOf(tcp(443)));
});

test("an unknown number, a client port and a known number over the wrong protocol identify no service", () => {
  for (const port of [tcp(4711), udp(68), udp(546), udp(22), tcp(0)]) expect(serviceOf(port)).toBeNull();
  expect(serviceOf(tcp(161))?.service_definition).toBe("snmp");
});

test("each definition has one name, within its field's limits", () => {
  const names = new Map<string, Set<string>>();
  for (const port of EVERY_PORT) {
    const service = serviceOf(port);
    if (service)
      names.set(service.service_definition, (names.get(service.service_definition) ?? new Set()).add(service.name));
  }
  expect(names.size).toBeGreaterThan(60);
  for (const [definition, knownNames] of names) {
    expect(definition).toMatch(/^[a-z0-9](-?[a-z0-9]+)*$/);
    expect([...knownNames]).toHaveLength(1);
  }
});

test("every port with its own type has a service, except printing on 9100, which metrics exporters also use", () => {
  const portsWithoutService = EVERY_PORT.filter(
    (port) => portType(port.number, port.protocol) !== "Custom" && !serviceOf(port),
  );
  expect(portsWithoutService).toEqual([tcp(9100)]);
});
