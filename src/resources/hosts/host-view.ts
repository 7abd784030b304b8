// Host views: its own fields, with the children, which are separate records, inserted as serialized JSON.

import type { Actor } from "../../access/actor.ts";
import { ownValue } from "../../base/fields.ts";
import type { AnyKind } from "../../db/kind.ts";
import type { AsOf } from "../../db/reading/list-query.ts";
import type { Compose, Item, Reader } from "../../db/reading/reader.ts";
import type { CsvColumn } from "../../schemas/csv.ts";
import { bindingKind } from "../bindings/binding.ts";
import { componentKind } from "../components/component.ts";
import { appendMembers, type ComposeFor } from "../compose.ts";
import { destinationsOf } from "../consolidations/consolidation.ts";
import { hostAssignmentsView } from "../credential-assignments/assignments.ts";
import { credentialAssignmentKind } from "../credential-assignments/credential-assignment.ts";
import { ifEntryKind } from "../if-entries/if-entry.ts";
import { ipAddressKind } from "../ip-addresses/ip-address.ts";
import type { LastSeenOf } from "../last-seen.ts";
import { type PortRecord, portKind } from "../ports/port.ts";
import { serviceKind } from "../services/service.ts";
import { servicesWithBindings } from "../services/service-view.ts";
import { Host, type HostCounts, HostIfEntry, LIST_ONLY_FIELDS } from "./host-body.ts";

/** The host with its children. */
export const composeHosts: ComposeFor = Object.assign(composeHost, {
  parts: { scope: "host" as const, kinds: [ifEntryKind, ipAddressKind, portKind, serviceKind, bindingKind] },
});

/** Adds the last known location of a host that is currently at no port. It changes without a version of the host. */
export function withLastSeen(compose: ComposeFor, lastSeenOf: LastSeenOf): ComposeFor {
  return Object.assign(
    (reader: Reader, actor: Actor): Compose => {
      const composed = compose(reader, actor);
      return (items, asOf) =>
        composed(items, asOf).map((text, index) => {
          const lastSeen = lastSeenOf(reader, actor, items[index]?.n ?? 0, asOf);
          return lastSeen === null ? text : appendMembers(text, `"last_seen":${JSON.stringify(lastSeen)}`);
        });
    },
    compose.parts === undefined ? {} : { parts: compose.parts },
  );
}

/** The host without its children. Credential assignments are not children and are included. */
export const composeHostsAlone: ComposeFor = (reader, actor) => (items, asOf) => {
  const numbers = items.map((item) => item.n);
  const assignments = reader.parts(credentialAssignmentKind, "host", numbers, asOf, actor);
  const consolidatedInto = destinationsOf(reader, numbers, asOf);
  return items.map(({ n, text }) =>
    appendMembers(text, `${assignmentsMember(assignments.get(n))},${consolidatedIntoMember(consolidatedInto.get(n))}`),
  );
};

/** The host with its addresses and without its other children: enough to identify hosts in a long list. */
const composeHostsWithAddresses: ComposeFor = Object.assign(
  (reader: Reader, actor: Actor): Compose => {
    const composeWithoutParts = composeHostsAlone(reader, actor);
    return (items, asOf) => {
      const numbers = items.map((item) => item.n);
      const addresses = reader.parts(ipAddressKind, "host", numbers, asOf, actor);
      return composeWithoutParts(items, asOf).map((text, index) =>
        appendMembers(text, `"ip_addresses":[${(addresses.get(numbers[index] as number) ?? []).join(",")}]`),
      );
    };
  },
  { parts: { scope: "host" as const, kinds: [ipAddressKind] } },
);

/** The host without its children, with the number of children of each kind. */
export const composeHostsCounted: ComposeFor = (reader, actor) => {
  const composeWithoutParts = composeHostsAlone(reader, actor);
  return (items, asOf) =>
    composeWithoutParts(items, asOf).map((text, index) => {
      const count = (kind: AnyKind) => reader.countParts((items[index] as Item).n, kind, asOf);
      const counts: HostCounts = {
        interfaces: count(ifEntryKind),
        ip_addresses: count(ipAddressKind),
        ports: count(portKind),
        services: count(serviceKind),
        components: count(componentKind),
      };
      return appendMembers(text, `"counts":${JSON.stringify(counts)}`);
    });
};

/** Number of addresses in a host's overview, in list order. */
export const OVERVIEW_ADDRESSES = 50;
/** TCP ports of a host in its overview: SSH and web. */
export const OVERVIEW_PORTS: readonly number[] = [22, 80, 443];

/** The host with its child counts, and the children that make it reachable. */
export const composeHostOverviews: ComposeFor = (reader, actor) => {
  const composeCounted = composeHostsCounted(reader, actor);
  return (items, asOf) => {
    const ids = reader.recordIds(items.map((item) => item.n));
    return composeCounted(items, asOf).map((text, index) => {
      const query = { reach: actor, asOf, within: { host: ids[index] }, offset: 0 };
      const addresses = reader.items({ ...query, kind: ipAddressKind, limit: OVERVIEW_ADDRESSES });
      const ports = OVERVIEW_PORTS.flatMap((number) =>
        reader.items({ ...query, kind: portKind, filters: [{ field: "number", equals: number }], limit: 0 }),
      ).filter((port) => (JSON.parse(port.text) as PortRecord).protocol === "Tcp");
      return appendMembers(text, `"ip_addresses":[${joined(addresses)}],"ports":[${joined(ports)}]`);
    });
  };
};

function joined(items: readonly Item[]): string {
  return items.map(({ text }) => text).join(",");
}

/** Views by the values of `children` and `include`. */
export const HOST_INCLUDES = {
  ip_addresses: composeHostsWithAddresses,
  counts: composeHostsCounted,
  overview: composeHostOverviews,
};

/** A host as a table row: its own fields, and the identifying fields of its children. */
export const HOST_COLUMNS: readonly CsvColumn[] = Object.keys(Host.properties).map((name) => ({
  name,
  cell: (host) => (ownValue(CHILD_CELLS, name) ?? ((value: unknown) => value))(ownValue(host, name) as never),
}));

const CHILDREN: readonly string[] = ["interfaces", "ip_addresses", "ports", "services"];
const CHILD_CELLS: Readonly<Record<string, (children: ReadonlyArray<Record<string, unknown>>) => unknown>> = {
  credential_assignments: (assignments) => assignments.map((each) => each.credential_id),
  interfaces: (entries) => entries.map((each) => each.if_name ?? each.if_descr),
  ip_addresses: (addresses) => addresses.map((each) => each.ip_address),
  ports: (ports) => ports.map((each) => `${each.number}/${each.protocol}`),
  services: (services) => services.map((each) => each.name),
};

/** The same row without children. */
export const HOST_ALONE_COLUMNS: readonly CsvColumn[] = HOST_COLUMNS.filter(({ name }) => !CHILDREN.includes(name));

function composeHost(reader: Reader, actor: Actor): Compose {
  return (items: Item[], asOf: AsOf | null) => {
    const numbers = items.map((item) => item.n);
    const assignments = reader.parts(credentialAssignmentKind, "host", numbers, asOf, actor);
    const interfaces = reader.parts(ifEntryKind, "host", numbers, asOf, actor);
    const addresses = reader.parts(ipAddressKind, "host", numbers, asOf, actor);
    const ports = reader.parts(portKind, "host", numbers, asOf, actor);
    const services = reader.parts(serviceKind, "host", numbers, asOf, actor);
    const bindings = reader.parts(bindingKind, "host", numbers, asOf, actor);
    const consolidatedInto = destinationsOf(reader, numbers, asOf);
    return items.map(({ n, text }) => {
      const members = [
        assignmentsMember(assignments.get(n)),
        `"interfaces":[${(interfaces.get(n) ?? []).map(interfaceOfHost).join(",")}]`,
        `"ip_addresses":[${(addresses.get(n) ?? []).join(",")}]`,
        `"ports":[${(ports.get(n) ?? []).join(",")}]`,
        `"services":[${servicesWithBindings(services.get(n) ?? [], bindings.get(n) ?? []).join(",")}]`,
        consolidatedIntoMember(consolidatedInto.get(n)),
      ];
      return appendMembers(text, members.join(","));
    });
  };
}

/** Fast path: most hosts have no assignments. */
function assignmentsMember(assignments: readonly string[] | undefined): string {
  if (assignments === undefined) return '"credential_assignments":[]';
  return `"credential_assignments":${JSON.stringify(hostAssignmentsView(assignments))}`;
}

function consolidatedIntoMember(consolidatedInto: string | undefined): string {
  return consolidatedInto === undefined ? '"consolidated_into":null' : `"consolidated_into":"${consolidatedInto}"`;
}

/** Every required field with null as default; fields outside HostIfEntry belong to the interface list. */
const IF_ENTRY_DEFAULTS = Object.fromEntries((HostIfEntry.required ?? []).map((name) => [name, null]));

function interfaceOfHost(text: string): string {
  return JSON.stringify({ ...IF_ENTRY_DEFAULTS, ...JSON.parse(text), ...LIST_ONLY_FIELDS });
}
