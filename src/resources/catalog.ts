// Every resource with what is common to all of them: where it is, how its records are shown, and who may read them. For what
// goes across resources: history, changes, exports. The routes themselves are spelled out in the resources' folders.

import type { TObject } from "@sinclair/typebox";
import { ADMIN, MEMBER, VIEWER, type Access } from "../access/actor.ts";
import type { AnyKind } from "../db/kind.ts";
import type { CsvColumn } from "../http/csv.ts";
import type { ComposeFor } from "./answers.ts";
import { composeApiKeys } from "./api-keys/api-key-view.ts";
import { API_KEY_EXAMPLE, ApiKey, apiKeyKind } from "./api-keys/api-key.ts";
import { composeBindings } from "./bindings/binding-view.ts";
import { Binding, BINDING_EXAMPLE, bindingKind } from "./bindings/binding.ts";
import { composeCredentials } from "./credentials/credential-view.ts";
import { Credential, CREDENTIAL_EXAMPLE, credentialKind } from "./credentials/credential.ts";
import { Host, HostAlone, ListedHost } from "./hosts/host-body.ts";
import { HOST_EXAMPLE } from "./hosts/host-example.ts";
import { composeHosts, composeHostsAlone, HOST_ALONE_COLUMNS, HOST_COLUMNS } from "./hosts/host-view.ts";
import { hostKind } from "./hosts/host.ts";
import { IF_ENTRY_EXAMPLE, IfEntry, ifEntryKind } from "./if-entries/if-entry.ts";
import { Ignored, IGNORED_EXAMPLE, ignoredKind } from "./ignored/ignored.ts";
import { IP_ADDRESS_EXAMPLE, IpAddress, ipAddressKind } from "./ip-addresses/ip-address.ts";
import { composeNetworks } from "./networks/network-view.ts";
import { Network, NETWORK_EXAMPLE, networkKind } from "./networks/network.ts";
import { Port, PORT_EXAMPLE, portKind } from "./ports/port.ts";
import { composeSchedules } from "./schedules/schedule-view.ts";
import { Schedule, SCHEDULE_EXAMPLE, scheduleKind } from "./schedules/schedule.ts";
import { Service, SERVICE_EXAMPLE, ServiceAlone } from "./services/service-body.ts";
import { composeServices, composeServicesAlone, SERVICE_COLUMNS } from "./services/service-view.ts";
import { serviceKind } from "./services/service.ts";
import { Subnet, SUBNET_EXAMPLE, subnetKind } from "./subnets/subnet.ts";
import { Tag, TAG_EXAMPLE, tagKind } from "./tags/tag.ts";
import { composeUsers } from "./users/user-view.ts";
import { User, USER_EXAMPLE, userKind } from "./users/user.ts";
import { Vlan, VLAN_EXAMPLE, vlanKind } from "./vlans/vlan.ts";

export interface Resource {
  readonly kind: AnyKind;
  /** Below /api/v1. */
  readonly path: string;
  /** Of its operations in the documentation. */
  readonly group: string;
  /** In the names of operations: `Host`. */
  readonly title: string;
  readonly answer: TObject;
  /** Where parts that are resources of their own may be left out. */
  readonly listed?: TObject;
  readonly example: Record<string, unknown>;
  readonly compose?: ComposeFor;
  /** Of its table; its own fields unless told otherwise. */
  readonly columns?: readonly CsvColumn[];
  /** As it shows among changes, and in lists on request: without the parts that are resources of their own. */
  readonly composeAlone?: ComposeFor;
  /** Its schema, then. */
  readonly answerAlone?: TObject;
  /** Of its table, then. */
  readonly columnsAlone?: readonly CsvColumn[];
  /** Who reads it, and who writes it. */
  readonly read: Access;
  readonly write: Access;
}

/** In the order of the documentation. */
export const RESOURCES: readonly Resource[] = [
  {
    kind: networkKind,
    path: "networks",
    group: "Networks",
    title: "Network",
    answer: Network,
    example: NETWORK_EXAMPLE,
    compose: composeNetworks,
    read: VIEWER,
    write: ADMIN,
  },
  {
    kind: subnetKind,
    path: "subnets",
    group: "Subnets",
    title: "Subnet",
    answer: Subnet,
    example: SUBNET_EXAMPLE,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: vlanKind,
    path: "vlans",
    group: "VLANs",
    title: "Vlan",
    answer: Vlan,
    example: VLAN_EXAMPLE,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: hostKind,
    path: "hosts",
    group: "Hosts",
    title: "Host",
    answer: Host,
    listed: ListedHost,
    example: HOST_EXAMPLE,
    compose: composeHosts,
    composeAlone: composeHostsAlone,
    answerAlone: HostAlone,
    columns: HOST_COLUMNS,
    columnsAlone: HOST_ALONE_COLUMNS,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: ipAddressKind,
    path: "ip-addresses",
    group: "IP addresses",
    title: "IpAddress",
    answer: IpAddress,
    example: IP_ADDRESS_EXAMPLE,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: portKind,
    path: "ports",
    group: "Ports",
    title: "Port",
    answer: Port,
    example: PORT_EXAMPLE,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: serviceKind,
    path: "services",
    group: "Services",
    title: "Service",
    answer: Service,
    example: SERVICE_EXAMPLE,
    compose: composeServices,
    composeAlone: composeServicesAlone,
    answerAlone: ServiceAlone,
    columns: SERVICE_COLUMNS,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: bindingKind,
    path: "bindings",
    group: "Bindings",
    title: "Binding",
    answer: Binding,
    example: BINDING_EXAMPLE,
    compose: composeBindings,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: ifEntryKind,
    path: "if-entries",
    group: "Interface entries",
    title: "IfEntry",
    answer: IfEntry,
    example: IF_ENTRY_EXAMPLE,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: scheduleKind,
    path: "discovery/schedules",
    group: "Discovery",
    title: "Schedule",
    answer: Schedule,
    example: SCHEDULE_EXAMPLE,
    compose: composeSchedules,
    read: VIEWER,
    write: ADMIN,
  },
  {
    kind: ignoredKind,
    path: "discovery/ignored",
    group: "Discovery",
    title: "Ignored",
    answer: Ignored,
    example: IGNORED_EXAMPLE,
    read: VIEWER,
    write: MEMBER,
  },
  {
    kind: credentialKind,
    path: "credentials",
    group: "Credentials",
    title: "Credential",
    answer: Credential,
    example: CREDENTIAL_EXAMPLE,
    compose: composeCredentials,
    read: VIEWER,
    write: ADMIN,
  },
  {
    kind: tagKind,
    path: "tags",
    group: "Tags",
    title: "Tag",
    answer: Tag,
    example: TAG_EXAMPLE,
    read: VIEWER,
    write: ADMIN,
  },
  {
    kind: userKind,
    path: "users",
    group: "Users",
    title: "User",
    answer: User,
    example: USER_EXAMPLE,
    compose: composeUsers,
    read: VIEWER,
    write: ADMIN,
  },
  {
    kind: apiKeyKind,
    path: "auth/keys",
    group: "API keys",
    title: "ApiKey",
    answer: ApiKey,
    example: API_KEY_EXAMPLE,
    compose: composeApiKeys,
    read: { role: "Viewer", sessionOnly: true },
    write: { role: "Member", sessionOnly: true },
  },
];

/** The resource whose records are of this kind. @throws Error for a kind that has none */
export function resourceOf(kindName: string): Resource {
  const resource = RESOURCES.find((each) => each.kind.name === kindName);
  if (resource === undefined) throw new Error(`catalog: no resource has records of the kind ${kindName}`);
  return resource;
}
