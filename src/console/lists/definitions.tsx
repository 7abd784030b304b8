// The lists there are: of each its path, its columns and how a cell shows its field. Data, in the order of the pages.

import type { ComponentChildren } from "preact";
import { type DataOf, type QueryOf, read } from "../api/client.ts";
import { quoted } from "../api/filter-text.ts";
import { kindTitle } from "../kinds/kinds.ts";
import { Named } from "../names/named.tsx";
import { RecordLink } from "../names/record-link.tsx";
import { interfaceName } from "../names/shown-name.ts";
import { Tags } from "../names/tags.tsx";
import { Copied } from "../parts/copied.tsx";
import { Fill } from "../parts/fill.tsx";
import { speedOf } from "../parts/speed.ts";
import { Status } from "../parts/status.tsx";
import { listText } from "../text/lists.ts";
import { hrefHere, parameter } from "../url/location.ts";
import { withCondition } from "./conditions.ts";
import type { WindowRead } from "./long-list.ts";
import { FirstOf, Instant, Mac, Reference, Text } from "./values.tsx";

type Host = DataOf<"/api/v1/hosts">[number];
type IfEntry = DataOf<"/api/v1/if-entries">[number];
type IpAddress = DataOf<"/api/v1/ip-addresses">[number];
type IpRange = DataOf<"/api/v1/ip-ranges">[number];
type Port = DataOf<"/api/v1/ports">[number];
type Service = DataOf<"/api/v1/services">[number];
type Subnet = DataOf<"/api/v1/subnets">[number];
type Vlan = DataOf<"/api/v1/vlans">[number];

export interface Column<Row> {
  /** The field's wire name: what is ordered and filtered by. */
  readonly key: string;
  /** In rem: columns do not move while one scrolls. */
  readonly width: number;
  readonly isNumber?: true;
  /** Whether the API orders by it. */
  readonly isOrdered?: true;
  /** Whether it says something of the row, and is no field: neither ordered nor filtered by. */
  readonly isMark?: true;
  /** Whether it is left out in the past, of which it says nothing. */
  readonly isOfNow?: true;
  readonly cell: (row: Row) => ComponentChildren;
}

export interface ListDefinition<Row = never> {
  /** In the API, and in the names of views. */
  readonly kind: string;
  /** Of the list in the API, below /api/v1/. */
  readonly path: string;
  /** Of its page. */
  readonly page: string;
  readonly title: string;
  readonly one: string;
  readonly many: string;
  /** What to do where there are none; the sentence of all lists unless it is said. */
  readonly nothingYet?: string;
  readonly columns: readonly Column<Row>[];
  /** Those that are shown at first. */
  readonly shown: readonly string[];
  readonly order: string;
  readonly idOf: (row: Row) => string;
  /** What the row is called, for those who hear it. */
  readonly nameOf: (row: Row) => string;
  /** Of its row in the table. */
  readonly classOf?: (row: Row) => string;
  /** @param columns that are shown: some cost more to ask for */
  readonly readWith: (query: ListQuery, columns: readonly string[]) => WindowRead<Row>;
  /** A filter that shows what can be written. */
  readonly example: string;
  /** Filters that come with it. */
  readonly views: readonly { readonly name: string; readonly filter: string; readonly order?: string }[];
}

export interface ListQuery {
  readonly ids?: readonly string[];
  readonly network_id?: string;
  readonly filter?: string;
  readonly order_by?: string;
  readonly order_direction?: "asc" | "desc";
}

export const TIMES = <Row extends { created_at: string; updated_at: string }>(): Column<Row>[] => [
  { key: "created_at", width: 11, isOrdered: true, cell: ({ created_at }) => <Instant instant={created_at} /> },
  { key: "updated_at", width: 11, isOrdered: true, cell: ({ updated_at }) => <Instant instant={updated_at} /> },
];

export const networkColumn = <Row extends { network_id: string }>(isOrdered: boolean): Column<Row> => ({
  key: "network_id",
  width: 9,
  ...(isOrdered ? { isOrdered: true } : {}),
  cell: ({ network_id }) => <Reference kind="network" id={network_id} />,
});

const seenColumn = <Row extends { last_seen_at?: string | null }>(isOrdered: boolean): Column<Row> => ({
  key: "last_seen_at",
  width: 11,
  isOfNow: true,
  ...(isOrdered ? { isOrdered: true } : {}),
  cell: ({ last_seen_at }) => <Instant instant={last_seen_at} />,
});

const hostColumn = <Row extends { host_id: string }>(isOrdered: boolean): Column<Row> => ({
  key: "host_id",
  width: 12,
  ...(isOrdered ? { isOrdered: true } : {}),
  cell: ({ host_id }) => <Named kind="host" id={host_id} />,
});

export const textColumn = <Key extends string, Row extends Partial<Record<Key, string | null>>>(
  key: Key,
  width: number,
  isOrdered?: true,
): Column<Row> => ({
  key,
  width,
  ...(isOrdered ? { isOrdered } : {}),
  cell: (row) => <Text text={row[key]} />,
});

const hosts: ListDefinition<Host> = {
  kind: "host",
  path: "hosts",
  page: "/hosts",
  example: 'manufacturer = "Cisco" AND sys_location : "Building 3"',
  title: kindTitle("host"),
  one: "host",
  many: "hosts",
  order: "name",
  idOf: ({ id }) => id,
  nameOf: ({ name, id }) => name || id,
  shown: ["name", "ip_addresses", "hostname", "manufacturer", "model", "sys_location", "tags", "last_seen_at"],
  columns: [
    {
      key: "name",
      width: 14,
      isOrdered: true,
      cell: ({ id, name, hostname }) => <RecordLink type="host" id={id} name={name || (hostname ?? "")} />,
    },
    {
      key: "ip_addresses",
      width: 11,
      cell: ({ ip_addresses = [] }) => (
        <FirstOf items={ip_addresses}>
          <Copied text={ip_addresses[0]?.ip_address ?? ""} />
        </FirstOf>
      ),
    },
    textColumn("hostname", 15, true),
    textColumn("description", 16),
    networkColumn(true),
    textColumn("manufacturer", 10, true),
    textColumn("model", 12, true),
    textColumn("serial_number", 10),
    textColumn("asset_tag", 8),
    textColumn("sys_name", 12),
    textColumn("sys_location", 12, true),
    textColumn("sys_contact", 12),
    textColumn("sys_descr", 20),
    textColumn("chassis_id", 12),
    { key: "tags", width: 12, cell: ({ tags }) => <TagsCell ids={tags} /> },
    { key: "hidden", width: 5, isOrdered: true, cell: ({ hidden }) => (hidden ? listText.yes : "") },
    seenColumn(true),
    ...TIMES<Host>(),
  ],
  readWith: (query, columns) => (window) =>
    read("/api/v1/hosts", {
      query: {
        ...query,
        ...window,
        ...(columns.includes("ip_addresses") ? { children: "ip_addresses" } : { include_children: false }),
      } as QueryOf<"/api/v1/hosts">,
    }),
  views: [
    { name: listText.shippedViews.staleHosts, filter: 'last_seen_at < "-30d"' },
    { name: listText.shippedViews.newThisWeek, filter: 'created_at > "-7d"', order: "-created_at" },
  ],
};

const interfaces: ListDefinition<IfEntry> = {
  kind: "if_entry",
  path: "if-entries",
  page: "/interfaces",
  example: 'oper_status = "Down" AND speed_bps >= 1G',
  title: kindTitle("if_entry"),
  one: "interface",
  many: "interfaces",
  order: "created_at",
  idOf: ({ id }) => id,
  nameOf: interfaceName,
  shown: [
    "host_id",
    "if_name",
    "if_alias",
    "oper_status",
    "admin_status",
    "speed_bps",
    "mac_address",
    "native_vlan_id",
  ],
  columns: [
    hostColumn(false),
    {
      key: "if_name",
      width: 9,
      isOrdered: true,
      cell: ({ id, if_name, if_descr, if_index }) => (
        <RecordLink type="if_entry" id={id} name={interfaceName({ if_name, if_descr, if_index })} />
      ),
    },
    { key: "if_index", width: 5, isNumber: true, isOrdered: true, cell: ({ if_index }) => if_index },
    textColumn("if_descr", 15, true),
    textColumn("if_alias", 15, true),
    { key: "oper_status", width: 9, isOrdered: true, cell: ({ oper_status }) => <Status status={oper_status} /> },
    { key: "admin_status", width: 11, cell: ({ admin_status }) => <Status status={admin_status} /> },
    {
      key: "speed_bps",
      width: 5,
      isNumber: true,
      cell: ({ speed_bps }) => (typeof speed_bps === "number" ? speedOf(speed_bps) : null),
    },
    { key: "mac_address", width: 10, isOrdered: true, cell: ({ mac_address }) => <Mac mac={mac_address} /> },
    {
      key: "native_vlan_id",
      width: 9,
      cell: ({ native_vlan_id }) => <Reference kind="vlan" id={native_vlan_id} />,
    },
    {
      key: "vlan_ids",
      width: 12,
      cell: ({ vlan_ids = [] }) => (
        <FirstOf items={vlan_ids ?? []}>
          <Reference kind="vlan" id={vlan_ids?.[0]} />
        </FirstOf>
      ),
    },
    { key: "fdb_macs", width: 5, isNumber: true, cell: ({ fdb_macs }) => fdb_macs?.length || null },
    textColumn("lldp_sys_name", 12),
    textColumn("cdp_device_id", 12),
    networkColumn(false),
    seenColumn(false),
    ...TIMES<IfEntry>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/if-entries", { query: { ...query, ...window } as QueryOf<"/api/v1/if-entries"> }),
  views: [
    { name: listText.shippedViews.unusedPorts, filter: 'always(oper_status = "Down", "-90d") AND if_type = 6' },
    { name: listText.shippedViews.flapping, filter: 'changes(oper_status, "-24h") >= 6' },
    { name: listText.shippedViews.downLong, filter: 'always(oper_status = "Down", "-30d") AND admin_status = "Up"' },
  ],
};

const addresses: ListDefinition<IpAddress> = {
  kind: "ip_address",
  path: "ip-addresses",
  page: "/addresses",
  example: 'ip_address : "10.2.0.0/16"',
  title: kindTitle("ip_address"),
  one: "address",
  many: "addresses",
  order: "ip_address",
  idOf: ({ id }) => id,
  nameOf: ({ ip_address }) => ip_address,
  shown: ["ip_address", "host_id", "mac_address", "name", "subnet_id", "last_seen_at"],
  columns: [
    { key: "ip_address", width: 12, isOrdered: true, cell: ({ ip_address }) => <Copied text={ip_address} /> },
    hostColumn(true),
    { key: "mac_address", width: 10, isOrdered: true, cell: ({ mac_address }) => <Mac mac={mac_address} /> },
    textColumn("name", 10, true),
    {
      key: "subnet_id",
      width: 11,
      isOrdered: true,
      cell: ({ subnet_id }) => <Reference kind="subnet" id={subnet_id} />,
    },
    networkColumn(false),
    seenColumn(false),
    ...TIMES<IpAddress>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/ip-addresses", { query: { ...query, ...window } as QueryOf<"/api/v1/ip-addresses"> }),
  views: [
    { name: listText.shippedViews.noMac, filter: "NOT mac_address:*" },
    { name: listText.shippedViews.newThisWeek, filter: 'created_at > "-7d"', order: "-created_at" },
  ],
};

const services: ListDefinition<Service> = {
  kind: "service",
  path: "services",
  page: "/services",
  example: 'service_definition = "Ssh"',
  title: kindTitle("service"),
  one: "service",
  many: "services",
  order: "name",
  idOf: ({ id }) => id,
  nameOf: ({ name, id }) => name || id,
  shown: ["name", "service_definition", "host_id", "bindings", "tags", "last_seen_at"],
  columns: [
    textColumn("name", 14, true),
    textColumn("service_definition", 12, true),
    hostColumn(true),
    { key: "bindings", width: 6, isNumber: true, cell: ({ bindings }) => bindings?.length || null },
    { key: "tags", width: 12, cell: ({ tags }) => <TagsCell ids={tags} /> },
    networkColumn(true),
    seenColumn(true),
    ...TIMES<Service>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/services", { query: { ...query, ...window } as QueryOf<"/api/v1/services"> }),
  views: [{ name: listText.shippedViews.newThisWeek, filter: 'created_at > "-7d"', order: "-created_at" }],
};

const ports: ListDefinition<Port> = {
  kind: "port",
  path: "ports",
  page: "/ports",
  example: 'protocol = "Tcp" AND number < 1024',
  title: kindTitle("port"),
  one: "port",
  many: "ports",
  order: "number",
  idOf: ({ id }) => id,
  nameOf: ({ number, protocol }) => `${number}/${protocol}`,
  shown: ["number", "protocol", "type", "host_id", "last_seen_at"],
  columns: [
    { key: "number", width: 6, isNumber: true, isOrdered: true, cell: ({ number }) => number },
    { key: "protocol", width: 7, isOrdered: true, cell: ({ protocol }) => protocol },
    { key: "type", width: 10, isOrdered: true, cell: ({ type }) => type },
    hostColumn(false),
    networkColumn(false),
    seenColumn(false),
    ...TIMES<Port>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/ports", { query: { ...query, ...window } as QueryOf<"/api/v1/ports"> }),
  views: [{ name: listText.shippedViews.newThisWeek, filter: 'created_at > "-7d"', order: "-created_at" }],
};

const ranges: ListDefinition<IpRange> = {
  kind: "ip_range",
  path: "ip-ranges",
  page: "/subnets/ranges",
  example: "purpose = Dhcp",
  title: kindTitle("ip_range"),
  one: "range",
  many: "ranges",
  nothingYet: listText.addOne,
  order: "first",
  idOf: ({ id }) => id,
  nameOf: ({ first, last }) => `${first} – ${last}`,
  shown: ["first", "last", "purpose", "description", "subnet_id", "tags"],
  columns: [
    { key: "first", width: 12, isOrdered: true, cell: ({ first }) => <Copied text={first} /> },
    { key: "last", width: 12, isOrdered: true, cell: ({ last }) => <Copied text={last} /> },
    { key: "purpose", width: 8, isOrdered: true, cell: ({ purpose }) => purpose },
    textColumn("description", 20),
    {
      key: "subnet_id",
      width: 11,
      isOrdered: true,
      cell: ({ subnet_id }) => <Reference kind="subnet" id={subnet_id} />,
    },
    { key: "tags", width: 12, cell: ({ tags }) => <TagsCell ids={tags} /> },
    networkColumn(true),
    ...TIMES<IpRange>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/ip-ranges", { query: { ...query, ...window } as QueryOf<"/api/v1/ip-ranges"> }),
  views: [],
};

const subnets: ListDefinition<Subnet> = {
  kind: "subnet",
  path: "subnets",
  page: "/subnets/list",
  example: 'subnet_type = Lan AND name : "floor 2"',
  title: kindTitle("subnet"),
  one: "subnet",
  many: "subnets",
  order: "cidr",
  idOf: ({ id }) => id,
  nameOf: ({ cidr }) => cidr,
  shown: ["cidr", "name", "subnet_type", "vlan_id", "utilization", "network_id", "tags"],
  columns: [
    {
      key: "cidr",
      width: 12,
      isOrdered: true,
      cell: ({ id, cidr }) => <RecordLink type="subnet" id={id} name={cidr} />,
    },
    textColumn("name", 14, true),
    { key: "subnet_type", width: 8, isOrdered: true, cell: ({ subnet_type }) => subnet_type },
    { key: "vlan_id", width: 10, isOrdered: true, cell: ({ vlan_id }) => <Reference kind="vlan" id={vlan_id} /> },
    {
      key: "utilization",
      width: 12,
      isMark: true,
      cell: ({ utilization }) => utilization !== undefined && <Fill {...utilization} />,
    },
    textColumn("description", 20),
    networkColumn(true),
    { key: "tags", width: 12, cell: ({ tags }) => <TagsCell ids={tags} /> },
    ...TIMES<Subnet>(),
  ],
  readWith: (query, columns) => (window) =>
    read("/api/v1/subnets", {
      query: {
        ...query,
        ...window,
        ...(columns.includes("utilization") ? { include: "utilization" } : {}),
      } as QueryOf<"/api/v1/subnets">,
    }),
  views: [{ name: listText.shippedViews.newThisWeek, filter: 'created_at > "-7d"', order: "-created_at" }],
};

const vlans: ListDefinition<Vlan> = {
  kind: "vlan",
  path: "vlans",
  page: "/vlans",
  example: "number >= 100 AND number < 200",
  title: kindTitle("vlan"),
  one: "VLAN",
  many: "VLANs",
  order: "number",
  idOf: ({ id }) => id,
  nameOf: ({ number, name }) => `${number} ${name}`,
  shown: ["number", "name", "description", "network_id", "updated_at"],
  columns: [
    { key: "number", width: 5, isNumber: true, isOrdered: true, cell: ({ number }) => number },
    {
      key: "name",
      width: 14,
      isOrdered: true,
      cell: ({ id, number, name }) => <RecordLink type="vlan" id={id} name={name === "" ? `${number}` : name} />,
    },
    textColumn("description", 20),
    networkColumn(true),
    ...TIMES<Vlan>(),
  ],
  readWith: (query) => (window) =>
    read("/api/v1/vlans", { query: { ...query, ...window } as QueryOf<"/api/v1/vlans"> }),
  views: [],
};

/** A definition that forgets the type of its rows: they go through it and nothing else. */
export type AnyList = ListDefinition<unknown>;

/** A list as one among others. */
export const sealed = <Row,>(definition: ListDefinition<Row>): AnyList => definition as unknown as AnyList;

/** By their pages. */
export const LISTS = {
  "/hosts": sealed(hosts),
  "/interfaces": sealed(interfaces),
  "/addresses": sealed(addresses),
  "/services": sealed(services),
  "/ports": sealed(ports),
  "/subnets/ranges": sealed(ranges),
  "/subnets/list": sealed(subnets),
  "/vlans": sealed(vlans),
} as const;

/** A tag filters the list by its name, beside what it is filtered by already. */
export function TagsCell({ ids }: { readonly ids: readonly string[] }) {
  return <Tags ids={ids} hrefOf={hrefTagged} />;
}

function hrefTagged(name: string): string {
  const filter = parameter("filter") ?? "";
  const condition = `tags.name = ${quoted(name)}`;
  return hrefHere({ filter: filter.includes(condition) ? filter : withCondition(filter, condition) });
}
