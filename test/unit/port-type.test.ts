// Port type by number and protocol.

import { describe, expect, test } from "bun:test";
import {
  PORT_PROTOCOLS,
  PORT_TYPES,
  type PortProtocol,
  type PortType,
  portType,
} from "../../src/resources/ports/port-type.ts";

const HANDBOOK_NAMES =
  "Ssh Telnet DnsUdp DnsTcp Samba Nfs Ftp Ipp Ldap Ldaps Kerberos Snmp Rdp Ntp Sip SipTls Rtsp Dhcp Http Http8080 Https Https8443 MySql PostgreSQL MongoDB Redis MsSql " +
  "Docker DockerTls Kubernetes Cassandra Elasticsearch InfluxDb Kafka Mqtt MqttTls AMQP AMQPTls Wireguard OpenVPN BACnet ModbusTcp OpcUa EtherNetIp JetDirect Custom";

describe("PORT_TYPES", () => {
  test('has the names of the contract (handbook: records, "Port types"), in order, each once', () => {
    expect([...PORT_TYPES] as string[]).toEqual(HANDBOOK_NAMES.split(" "));
    expect(new Set(PORT_TYPES).size).toBe(PORT_TYPES.length);
  });

  test("has no unreachable name", () => {
    const reached = new Set<PortType>();
    for (let number = 1; number <= 65535; number += 1)
      for (const protocol of PORT_PROTOCOLS) reached.add(portType(number, protocol));
    expect(PORT_TYPES.filter((type) => !reached.has(type))).toEqual([]);
  });
});

describe("portType", () => {
  const cases: [number, PortProtocol, PortType][] = [
    [22, "Tcp", "Ssh"],
    [53, "Udp", "DnsUdp"],
    [53, "Tcp", "DnsTcp"],
    [139, "Tcp", "Samba"],
    [445, "Tcp", "Samba"],
    [2049, "Tcp", "Nfs"],
    [2049, "Udp", "Nfs"],
    [80, "Tcp", "Http"],
    [8080, "Tcp", "Http8080"],
    [443, "Tcp", "Https"],
    [443, "Udp", "Https"],
    [8443, "Tcp", "Https8443"],
    [161, "Udp", "Snmp"],
    [5061, "Tcp", "SipTls"],
    [5671, "Tcp", "AMQPTls"],
    [5672, "Tcp", "AMQP"],
    [51820, "Udp", "Wireguard"],
    [1194, "Udp", "OpenVPN"],
    [47808, "Udp", "BACnet"],
    [44818, "Udp", "EtherNetIp"],
    [9100, "Tcp", "JetDirect"],
  ];
  test.each(cases)("%d/%s is %s", (number, protocol, type) => expect(portType(number, protocol)).toBe(type));

  const customs: [number, PortProtocol][] = [
    [22, "Udp"],
    [80, "Udp"],
    [123, "Tcp"],
    [67, "Tcp"],
    [68, "Udp"],
    [137, "Udp"],
    [162, "Udp"],
    [51820, "Tcp"],
    [1, "Tcp"],
    [40000, "Tcp"],
    [65535, "Udp"],
  ];
  test.each(customs)("%d/%s is Custom", (number, protocol) => expect(portType(number, protocol)).toBe("Custom"));
});
