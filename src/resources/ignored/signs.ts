// What a host or an interface entry that was deleted is known again by when a scan comes upon it. Pure.

import { isOneDevices } from "../../base/mac.ts";

/** Beyond that a host has signs enough. */
export const SIGNS_MAX = 10_000;

interface HostTexts {
  readonly serial_number: string | null;
  readonly chassis_id: string | null;
  readonly sys_name: string | null;
}

/**
 * Each sign once, as its sort, a colon and its value, those that tell most first: `serial:` and `chassis:` as the
 * device says them, `name:` in lower case, `mac:` of interfaces and addresses, `ip:`. At most SIGNS_MAX.
 */
export function hostSigns(
  host: HostTexts,
  ifEntries: ReadonlyArray<{ readonly mac_address?: string | null | undefined }>,
  addresses: ReadonlyArray<{ readonly ip_address: string; readonly mac_address?: string | null | undefined }>,
): string[] {
  const signs = new Set<string>();
  const add = (sort: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined && value !== "" && signs.size < SIGNS_MAX) signs.add(`${sort}:${value}`);
  };
  add("serial", host.serial_number);
  add("chassis", host.chassis_id);
  add("name", host.sys_name?.toLowerCase());
  for (const { mac_address: mac } of [...ifEntries, ...addresses])
    if (typeof mac === "string" && isOneDevices(mac)) add("mac", mac);
  for (const { ip_address } of addresses) add("ip", ip_address);
  return [...signs];
}

/**
 * What an interface was called, which says more than its number: `if_name:Gi0/2`, `if_descr:GigabitEthernet0/2`, as far
 * as it was.
 */
export function interfaceSigns(entry: { readonly if_name?: string | undefined; readonly if_descr: string }): string[] {
  const { if_name: name = "", if_descr: descr } = entry;
  return [...(name === "" ? [] : [`${IF_NAME}${name}`]), ...(descr === "" ? [] : [`${IF_DESCR}${descr}`])];
}

/** The same, read again. */
export function namesInSigns(signs: readonly string[]): {
  readonly names: ReadonlySet<string>;
  readonly descrs: ReadonlySet<string>;
} {
  const of = (sort: string) =>
    new Set(signs.filter((sign) => sign.startsWith(sort)).map((sign) => sign.slice(sort.length)));
  return { names: of(IF_NAME), descrs: of(IF_DESCR) };
}

const IF_NAME = "if_name:";
const IF_DESCR = "if_descr:";
