// Parsers for name cells that contain more than one name or a list: convert them to the value of the id cell. Must not
// look names up.

import { parseEndpoint } from "../resources/bindings/endpoint.ts";
import { hostResource } from "../resources/hosts/resource.ts";
import { ifEntryResource } from "../resources/if-entries/resource.ts";
import { ipAddressResource } from "../resources/ip-addresses/resource.ts";
import { portResource } from "../resources/ports/resource.ts";
import type { Named } from "../resources/resource.ts";
import { virtualizingService } from "../resources/services/resource.ts";
import { cellText, unguarded } from "../schemas/csv.ts";
import { jsonValue } from "./cell-values.ts";

/** A name in a cell, with the possible kinds of its record. */
export interface NameInCell {
  readonly of: readonly Named[];
  readonly name: string;
}

/** The record found for a name. */
export interface MeantRecord {
  readonly of: Named;
  readonly id: string;
}

export interface NameCell {
  /** Names in a cell; for an unreadable cell, the rest of an error sentence. */
  readonly namesIn: (cell: string) => readonly NameInCell[] | string;
  /** Value of the field. @param records found for the names, in order */
  readonly value: (cell: string, records: readonly MeantRecord[]) => unknown;
  /**
   * Whether a cell agrees with an id cell, given the exported name cell for those ids; default: the texts must be
   * equal.
   */
  readonly agrees?: (cell: string, own: string, ids: string) => boolean;
  /** Whether names are looked up within the row's host, or only within its network. */
  readonly isOfHost: boolean;
}

/** By id field. */
export const NAME_CELLS: Readonly<Record<string, NameCell>> = {
  neighbor: {
    namesIn: (cell) => [{ of: [hostResource, ifEntryResource], name: cell }],
    value: (_cell, [record]) => ({ type: record?.of === hostResource ? "Host" : "IfEntry", id: record?.id }),
    isOfHost: false,
  },
  virtualization: {
    namesIn: (cell) => {
      const read = virtualizationIn(cell);
      if (typeof read === "string") return read;
      return read.service === undefined ? [] : [{ of: [virtualizingService], name: cellText(read.service) }];
    },
    value: (cell, [record]) => {
      const read = virtualizationIn(cell);
      if (typeof read === "string") throw new Error("name cells: a value of a cell that could not be read");
      const { details, ...rest } = read.said;
      return { ...rest, details: record === undefined ? details : { ...details, service_id: record.id } };
    },
    agrees: (cell, own, ids) => {
      const [said, meant, named] = [cell, own, ids].map(virtualizationIn);
      if (typeof said !== "object" || typeof meant !== "object" || typeof named !== "object") return false;
      // A service out of reach has no name: its id is refused as such.
      if (meant.service === undefined && Object.hasOwn(named.said.details, "service_id")) return true;
      return Bun.deepEquals(said, meant);
    },
    isOfHost: false,
  },
  bindings: {
    namesIn: (cell) => {
      const names: NameInCell[] = [];
      for (const text of textsIn(cell)) {
        const endpoint = parseEndpoint(text);
        if (endpoint === null)
          return "must be ports and addresses such as 443/Tcp, 10.2.3.4:443/Tcp, [2001:db8::1]:443/Tcp or 10.2.3.4, joined with semicolons";
        if (endpoint.port !== null) names.push({ of: [portResource], name: endpoint.port });
        if (endpoint.address !== null) names.push({ of: [ipAddressResource], name: endpoint.address });
      }
      return names;
    },
    value: (cell, records) => {
      const left = [...records];
      const bindings = textsIn(cell).map((text) => {
        const endpoint = parseEndpoint(text);
        const port = endpoint?.port == null ? undefined : left.shift();
        const address = endpoint?.address == null ? undefined : left.shift();
        return boundTo(port?.id ?? null, address?.id ?? null);
      });
      return [...new Map(bindings.map((binding) => [JSON.stringify(binding), binding])).values()];
    },
    isOfHost: true,
  },
};

/** The endpoint fields of a binding. */
export function boundTo(portId: string | null, addressId: string | null) {
  return { type: portId === null ? "IpAddress" : "Port", port_id: portId, ip_address_id: addressId };
}

/** Whether an id cell contains exactly the existing bindings, in any order. */
export function saysSameBindings(cell: string, bindings: readonly ReturnType<typeof boundTo>[]): boolean {
  const read = jsonValue(cell === "" ? "[]" : cell);
  const said = "value" in read && Array.isArray(read.value) ? (read.value as unknown[]) : [];
  const stored = new Set(bindings.map((binding) => JSON.stringify(binding)));
  return said.length === stored.size && said.every((binding) => stored.has(JSON.stringify(binding)));
}

function textsIn(cell: string): string[] {
  return cell.split(";").map((text) => text.trim());
}

interface SaidVirtualization {
  readonly said: { readonly details: Readonly<Record<string, unknown>> };
  readonly service: string | undefined;
}

/** Parses `virtualization_by_name`; returns the rest of an error sentence if invalid. */
function virtualizationIn(cell: string): SaidVirtualization | string {
  const read = jsonValue(unguarded(cell));
  if ("message" in read) return read.message;
  const said = read.value as { details?: unknown } | null;
  if (typeof said !== "object" || said === null || typeof said.details !== "object" || said.details === null)
    return "must be a JSON object with type and details";
  const { service, ...details } = said.details as Readonly<Record<string, unknown>>;
  if (service !== undefined && typeof service !== "string") return "must name its service by a text";
  if (service !== undefined && Object.hasOwn(details, "service_id")) return "must name its service once";
  return { said: { ...said, details }, service };
}
