// Usual service of a port, derived from its number and protocol alone. Does not say which service actually listens; a
// service record does.

import { wordList } from "../../base/word-list.ts";

export const PORT_PROTOCOLS = ["Tcp", "Udp"] as const;

export type PortProtocol = (typeof PORT_PROTOCOLS)[number];

export const PORT_TYPES = [
  ...wordList("Ssh Telnet DnsUdp DnsTcp Samba Nfs Ftp Ipp Ldap Ldaps Kerberos Snmp Rdp Ntp Sip SipTls Rtsp Dhcp"),
  ...wordList("Http Http8080 Https Https8443 MySql PostgreSQL MongoDB Redis MsSql Docker DockerTls Kubernetes"),
  ...wordList("Cassandra Elasticsearch InfluxDb Kafka Mqtt MqttTls AMQP AMQPTls Wireguard OpenVPN BACnet ModbusTcp"),
  ...wordList("OpcUa EtherNetIp JetDirect Custom"),
] as const;

export type PortType = (typeof PORT_TYPES)[number];

/**
 * Type of a port by the IANA Service Name and Transport Protocol Port Number Registry (RFC 6335), or by the product's
 * default if the product did not register its number or uses one registered for another (Kubernetes, Cassandra,
 * Elasticsearch, InfluxDb, Kafka, Wireguard …). Custom for every other number, and for a known number over a protocol
 * that its service does not use.
 */
export function portType(number: number, protocol: PortProtocol): PortType {
  return TYPE_BY_PORT[protocol].get(number) ?? "Custom";
}

type Row = readonly [type: PortType, number: number, ...protocols: PortProtocol[]];

const DEFAULT_PORTS: readonly Row[] = [
  ["Ssh", 22, "Tcp"],
  ["Telnet", 23, "Tcp"],
  ["DnsUdp", 53, "Udp"],
  ["DnsTcp", 53, "Tcp"],
  ["Samba", 139, "Tcp"], // SMB over NetBIOS; the name and datagram services on 137 and 138 are not SMB
  ["Samba", 445, "Tcp"],
  ["Nfs", 2049, "Tcp", "Udp"],
  ["Ftp", 21, "Tcp"],
  ["Ipp", 631, "Tcp"],
  ["Ldap", 389, "Tcp", "Udp"], // UDP: the connectionless LDAP that domain controllers answer
  ["Ldaps", 636, "Tcp"],
  ["Kerberos", 88, "Tcp", "Udp"], // RFC 4120 §7.2
  ["Snmp", 161, "Tcp", "Udp"], // TCP: RFC 3430
  ["Rdp", 3389, "Tcp", "Udp"],
  ["Ntp", 123, "Udp"],
  ["Sip", 5060, "Tcp", "Udp"], // RFC 3261 §18
  ["SipTls", 5061, "Tcp"],
  ["Rtsp", 554, "Tcp"],
  ["Dhcp", 67, "Udp"], // the server's port; 68 is every client's
  ["Http", 80, "Tcp"],
  ["Http8080", 8080, "Tcp"],
  ["Https", 443, "Tcp", "Udp"], // UDP: HTTP/3 over QUIC (RFC 9114), the same service to users
  ["Https8443", 8443, "Tcp"],
  ["MySql", 3306, "Tcp"],
  ["PostgreSQL", 5432, "Tcp"],
  ["MongoDB", 27017, "Tcp"],
  ["Redis", 6379, "Tcp"],
  ["MsSql", 1433, "Tcp"],
  ["Docker", 2375, "Tcp"],
  ["DockerTls", 2376, "Tcp"],
  ["Kubernetes", 6443, "Tcp"],
  ["Cassandra", 9042, "Tcp"],
  ["Elasticsearch", 9200, "Tcp"],
  ["InfluxDb", 8086, "Tcp"],
  ["Kafka", 9092, "Tcp"],
  ["Mqtt", 1883, "Tcp"],
  ["MqttTls", 8883, "Tcp"],
  ["AMQP", 5672, "Tcp"],
  ["AMQPTls", 5671, "Tcp"],
  ["Wireguard", 51820, "Udp"],
  ["OpenVPN", 1194, "Tcp", "Udp"],
  ["BACnet", 47808, "Udp"], // ASHRAE 135 Annex J
  ["ModbusTcp", 502, "Tcp"],
  ["OpcUa", 4840, "Tcp"],
  ["EtherNetIp", 44818, "Tcp", "Udp"],
  ["JetDirect", 9100, "Tcp"],
];

const TYPE_BY_PORT: Record<PortProtocol, ReadonlyMap<number, PortType>> = {
  Tcp: typesOver("Tcp"),
  Udp: typesOver("Udp"),
};

function typesOver(protocol: PortProtocol): ReadonlyMap<number, PortType> {
  return new Map(
    DEFAULT_PORTS.filter(([, , ...protocols]) => protocols.includes(protocol)).map(([type, number]) => [number, type]),
  );
}
