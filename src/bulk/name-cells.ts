// Parsers for name cells that contain more than one name or a list: convert them to the value of the id cell. Does not
// look up names.

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
export interface CellName {
  readonly of: readonly Named[];
  readonly name: string;
}

/** The record found for a name. */
export interface ResolvedRecord {
  readonly of: Named;
  readonly id: string;
}

export interface NameCell {
  /** Names in a cell; for an unreadable cell, the rest of an error sentence. */
  readonly namesIn: (cell: string) => readonly CellName[] | string;
  /** Value of the field. @param records the records found for the names, in order */
  readonly value: (cell: string, records: readonly ResolvedRecord[]) => unknown;
  /**
   * Whether a cell agrees with an id cell, given the exported name cell for those ids; default: the strings must be
   * equal.
   */
  readonly agrees?: (cell: string, exported: string, ids: string) => boolean;
  /** Whether names are looked up within the row's host, or only within its network. */
  readonly isWithinHost: boolean;
}

/** By id field. */
export const NAME_CELLS: Readonly<Record<string, NameCell>> = {
  neighbor: {
    namesIn: (cell) => [{ of: [hostResource, ifEntryResource], name: cell }],
    value: (_cell, [record]) => ({ type: record?.of === hostResource ? "Host" : "IfEntry", id: record?.id }),
    isWithinHost: false,
  },
  virtualization: {
    namesIn: (cell) => {
      const read = parseVirtualization(cell);
      if (typeof read === "string") return read;
      return read.service === undefined ? [] : [{ of: [virtualizingService], name: cellText(read.service) }];
    },
    value: (cell, [record]) => {
      const read = parseVirtualization(cell);
      if (typeof read === "string") throw new Error("name cells: value requested from an unreadable cell");
      const { details, ...rest } = read.given;
      return { ...rest, details: record === undefined ? details : { ...details, service_id: record.id } };
    },
    agrees: (cell, exported, ids) => {
      const [given, expected, fromIds] = [cell, exported, ids].map(parseVirtualization);
      if (typeof given !== "object" || typeof expected !== "object" || typeof fromIds !== "object") return false;
      // A service out of reach has no name: its id is rejected.
      if (expected.service === undefined && Object.hasOwn(fromIds.given.details, "service_id")) return true;
      return Bun.deepEquals(given, expected);
    },
    isWithinHost: false,
  },
  bindings: {
    namesIn: (cell) => {
      const names: CellName[] = [];
      for (const text of splitCell(cell)) {
        const endpoint = parseEndpoint(text);
        if (endpoint === null)
          return "must be ports and addresses such as 443/Tcp, 10.2.3.4:443/Tcp, [2001:db8::1]:443/Tcp or 10.2.3.4, joined with semicolons";
        if (endpoint.port !== null) names.push({ of: [portResource], name: endpoint.port });
        if (endpoint.address !== null) names.push({ of: [ipAddressResource], name: endpoint.address });
      }
      return names;
    },
    value: (cell, records) => {
      const remaining = [...records];
      const bindings = splitCell(cell).map((text) => {
        const endpoint = parseEndpoint(text);
        const port = endpoint?.port == null ? undefined : remaining.shift();
        const address = endpoint?.address == null ? undefined : remaining.shift();
        return boundTo(port?.id ?? null, address?.id ?? null);
      });
      return [...new Map(bindings.map((binding) => [JSON.stringify(binding), binding])).values()];
    },
    isWithinHost: true,
  },
};

/** The endpoint fields of a binding. */
export function boundTo(portId: string | null, addressId: string | null) {
  return { type: portId === null ? "IpAddress" : "Port", port_id: portId, ip_address_id: addressId };
}

/** Whether an id cell contains exactly the existing bindings, in any order. */
export function matchesBindings(cell: string, bindings: readonly ReturnType<typeof boundTo>[]): boolean {
  const read = jsonValue(cell === "" ? "[]" : cell);
  const given = "value" in read && Array.isArray(read.value) ? (read.value as unknown[]) : [];
  const stored = new Set(bindings.map((binding) => JSON.stringify(binding)));
  return given.length === stored.size && given.every((binding) => stored.has(JSON.stringify(binding)));
}

function splitCell(cell: string): string[] {
  return cell.split(";").map((text) => text.trim());
}

interface ParsedVirtualization {
  readonly given: { readonly details: Readonly<Record<string, unknown>> };
  readonly service: string | undefined;
}

/** Parses `virtualization_by_name`; returns the rest of an error sentence if invalid. */
function parseVirtualization(cell: string): ParsedVirtualization | string {
  const read = jsonValue(unguarded(cell));
  if ("message" in read) return read.message;
  const given = read.value as { details?: unknown } | null;
  if (typeof given !== "object" || given === null || typeof given.details !== "object" || given.details === null)
    return "must be a JSON object with type and details";
  const { service, ...details } = given.details as Readonly<Record<string, unknown>>;
  if (service !== undefined && typeof service !== "string") return "must name its service as text";
  if (service !== undefined && Object.hasOwn(details, "service_id")) return "must name its service only once";
  return { given: { ...given, details }, service };
}
