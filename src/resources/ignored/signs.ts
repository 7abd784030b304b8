// Signs by which scans recognize a deleted host or interface entry. Pure.

import { isSingleDevice } from "../../base/mac.ts";

/** Maximum number of signs per host. */
export const SIGNS_MAX = 10_000;

interface HostTexts {
  readonly serial_number: string | null;
  readonly chassis_id: string | null;
  readonly sys_name: string | null;
  readonly engine_id?: string | null | undefined;
}

/**
 * Deduplicated signs as `type:value`, most specific first: `serial:` of the host and its components, `chassis:` and
 * `engine:` as reported by the device, `name:` in lower case, `mac:` of interfaces and addresses, `ip:`. At most SIGNS_MAX.
 */
export function hostSigns(
  host: HostTexts,
  ifEntries: ReadonlyArray<{ readonly mac_address?: string | null | undefined }>,
  addresses: ReadonlyArray<{ readonly ip_address: string; readonly mac_address?: string | null | undefined }>,
  components: ReadonlyArray<{ readonly serial_number: string | null }> = [],
): string[] {
  const signs = new Set<string>();
  const add = (type: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined && value !== "" && signs.size < SIGNS_MAX) signs.add(`${type}:${value}`);
  };
  for (const { serial_number } of [host, ...components]) add("serial", serial_number);
  add("chassis", host.chassis_id);
  add("engine", host.engine_id);
  add("name", host.sys_name?.toLowerCase());
  for (const { mac_address: mac } of [...ifEntries, ...addresses])
    if (typeof mac === "string" && isSingleDevice(mac)) add("mac", mac);
  for (const { ip_address } of addresses) add("ip", ip_address);
  return [...signs];
}

/**
 * Names of an interface, which identify it better than its number: `if_name:Gi0/2`, `if_descr:GigabitEthernet0/2`,
 * where present.
 */
export function interfaceSigns(entry: { readonly if_name?: string | undefined; readonly if_descr: string }): string[] {
  const { if_name: name = "", if_descr: descr } = entry;
  return [...(name === "" ? [] : [`${IF_NAME}${name}`]), ...(descr === "" ? [] : [`${IF_DESCR}${descr}`])];
}

/** Parses the names from interface signs. */
export function namesInSigns(signs: readonly string[]): {
  readonly names: ReadonlySet<string>;
  readonly descrs: ReadonlySet<string>;
} {
  const valuesOf = (type: string) =>
    new Set(signs.filter((sign) => sign.startsWith(type)).map((sign) => sign.slice(type.length)));
  return { names: valuesOf(IF_NAME), descrs: valuesOf(IF_DESCR) };
}

const IF_NAME = "if_name:";
const IF_DESCR = "if_descr:";
