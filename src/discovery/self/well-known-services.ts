// Service names by port number, as registered or by convention. Says nothing about what actually listens there; omits
// numbers shared by different kinds of programs.

import type { PortProtocol } from "../../resources/ports/port-type.ts";

interface WellKnownService {
  /** User-readable. */
  name: string;
  /**
   * Name in the IANA Service Name and Transport Protocol Port Number Registry (RFC 6335), or the product's own name in
   * the same form if it is commonly found on an unregistered number. Fixed: clients filter by it.
   */
  service_definition: string;
}

/**
 * Well-known service of a port; null for other numbers, for those that only clients bind (68, 546), and for a protocol
 * that the service does not use.
 */
export function serviceOf(port: { number: number; protocol: PortProtocol }): WellKnownService | null {
  return SERVICE_BY_PORT[port.protocol].get(port.number) ?? null;
}

type Row = readonly [name: string, definition: string, number: number, ...protocols: PortProtocol[]];

/**
 * Rows with the same name and definition are one service on several ports. 3000, 8000, 9000 and 9100 are omitted: too
 * many products use them.
 */
const SERVICES: readonly Row[] = [
  ["FTP", "ftp", 21, "Tcp"],
  ["SSH", "ssh", 22, "Tcp"],
  ["Telnet", "telnet", 23, "Tcp"],
  ["SMTP", "smtp", 25, "Tcp"],
  ["DNS", "domain", 53, "Tcp", "Udp"],
  ["DHCP", "bootps", 67, "Udp"],
  ["TFTP", "tftp", 69, "Udp"],
  ["HTTP", "http", 80, "Tcp"],
  ["Kerberos", "kerberos", 88, "Tcp", "Udp"],
  ["POP3", "pop3", 110, "Tcp"],
  ["RPC port mapper", "sunrpc", 111, "Tcp", "Udp"],
  ["NTP", "ntp", 123, "Udp"],
  ["NetBIOS name service", "netbios-ns", 137, "Udp"],
  ["NetBIOS datagram service", "netbios-dgm", 138, "Udp"],
  ["SMB over NetBIOS", "netbios-ssn", 139, "Tcp"],
  ["IMAP", "imap", 143, "Tcp"],
  ["SNMP", "snmp", 161, "Tcp", "Udp"],
  ["SNMP traps", "snmptrap", 162, "Tcp", "Udp"],
  ["BGP", "bgp", 179, "Tcp"],
  ["PTP", "ptp-event", 319, "Udp"],
  ["PTP", "ptp-event", 320, "Udp"], // one protocol on two ports: IEEE 1588 sends messages without timestamps to 320
  ["LDAP", "ldap", 389, "Tcp", "Udp"],
  ["HTTPS", "https", 443, "Tcp", "Udp"], // UDP: HTTP/3 (RFC 9114)
  ["SMB", "microsoft-ds", 445, "Tcp"],
  ["Mail submission over TLS", "submissions", 465, "Tcp"],
  ["IKE", "isakmp", 500, "Udp"],
  ["Modbus", "mbap", 502, "Tcp"],
  ["Syslog", "syslog", 514, "Udp"],
  ["RIP", "router", 520, "Udp"],
  ["DHCPv6", "dhcpv6-server", 547, "Udp"],
  ["RTSP", "rtsp", 554, "Tcp", "Udp"],
  ["Mail submission", "submission", 587, "Tcp"],
  ["IPP", "ipp", 631, "Tcp"],
  ["LDAP over TLS", "ldaps", 636, "Tcp"],
  ["LDP", "ldp", 646, "Tcp", "Udp"],
  ["DNS over TLS", "domain-s", 853, "Tcp", "Udp"],
  ["rsync", "rsync", 873, "Tcp"],
  ["IMAP over TLS", "imaps", 993, "Tcp"],
  ["POP3 over TLS", "pop3s", 995, "Tcp"],
  ["OpenVPN", "openvpn", 1194, "Tcp", "Udp"],
  ["Microsoft SQL Server", "ms-sql-s", 1433, "Tcp"],
  ["Oracle Database", "oracle-tns", 1521, "Tcp"],
  ["L2TP", "l2tp", 1701, "Udp"],
  ["RADIUS", "radius", 1812, "Tcp", "Udp"],
  ["RADIUS accounting", "radius-acct", 1813, "Tcp", "Udp"],
  ["MQTT", "mqtt", 1883, "Tcp"],
  ["SSDP", "ssdp", 1900, "Udp"],
  ["NFS", "nfs", 2049, "Tcp", "Udp"],
  ["ZooKeeper", "zookeeper", 2181, "Tcp"],
  ["Docker", "docker", 2375, "Tcp"],
  ["Docker over TLS", "docker-s", 2376, "Tcp"],
  ["etcd", "etcd-client", 2379, "Tcp"],
  ["etcd peers", "etcd-server", 2380, "Tcp"],
  ["HTTP proxy", "squid", 3128, "Tcp"],
  ["iSCSI target", "iscsi-target", 3260, "Tcp"],
  ["MySQL", "mysql", 3306, "Tcp"],
  ["RDP", "ms-wbt-server", 3389, "Tcp", "Udp"],
  ["Network UPS Tools", "nut", 3493, "Tcp"],
  ["BFD", "bfd-control", 3784, "Udp"],
  ["NATS", "nats", 4222, "Tcp"],
  ["IPsec NAT traversal", "ipsec-nat-t", 4500, "Udp"],
  ["VXLAN", "vxlan", 4789, "Udp"],
  ["OPC UA", "opcua-tcp", 4840, "Tcp"],
  ["SIP", "sip", 5060, "Tcp", "Udp"],
  ["SIP over TLS", "sips", 5061, "Tcp"],
  ["mDNS", "mdns", 5353, "Udp"],
  ["LLMNR", "llmnr", 5355, "Tcp", "Udp"],
  ["PostgreSQL", "postgresql", 5432, "Tcp"],
  ["AMQP over TLS", "amqps", 5671, "Tcp"],
  ["AMQP", "amqp", 5672, "Tcp"],
  ["VNC", "rfb", 5900, "Tcp"],
  ["CouchDB", "couchdb", 5984, "Tcp"],
  ["Geneve", "geneve", 6081, "Udp"],
  ["sFlow", "sflow", 6343, "Udp"],
  ["Redis", "redis", 6379, "Tcp"],
  ["Kubernetes API", "kubernetes", 6443, "Tcp"],
  ["HTTP alternate", "http-alt", 8080, "Tcp"],
  ["InfluxDB", "influxdb", 8086, "Tcp"],
  ["HTTPS alternate", "https-alt", 8443, "Tcp"],
  ["MQTT over TLS", "secure-mqtt", 8883, "Tcp"],
  ["Cassandra", "cassandra", 9042, "Tcp"],
  ["Prometheus", "prometheus", 9090, "Tcp"],
  ["Kafka", "kafka", 9092, "Tcp"],
  ["Elasticsearch", "elasticsearch", 9200, "Tcp"],
  ["Git", "git", 9418, "Tcp"],
  ["Zabbix agent", "zabbix-agent", 10_050, "Tcp"],
  ["Zabbix server", "zabbix-trapper", 10_051, "Tcp"],
  ["kubelet", "kubelet", 10_250, "Tcp"],
  ["memcached", "memcache", 11_211, "Tcp", "Udp"],
  ["MongoDB", "mongodb", 27_017, "Tcp"],
  ["EtherNet/IP", "ethernet-ip-2", 44_818, "Tcp", "Udp"],
  ["BACnet", "bacnet", 47_808, "Udp"],
  ["WireGuard", "wireguard", 51_820, "Udp"],
];

const SERVICE_BY_PORT: Record<PortProtocol, ReadonlyMap<number, WellKnownService>> = {
  Tcp: servicesFor("Tcp"),
  Udp: servicesFor("Udp"),
};

function servicesFor(protocol: PortProtocol): ReadonlyMap<number, WellKnownService> {
  const rows = SERVICES.filter(([, , , ...protocols]) => protocols.includes(protocol));
  return new Map(rows.map(([name, definition, number]) => [number, { name, service_definition: definition }]));
}
