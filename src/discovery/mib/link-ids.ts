// LLDP chassis and port ID decoder (IEEE 802.1AB, clauses 8.5.2 and 8.5.3).

import { parseIp } from "../../base/ip.ts";
import {
  CHASSIS_ID_SUBTYPES,
  type ChassisIdSubtype,
  PORT_ID_SUBTYPES,
  type PortIdSubtype,
} from "../../resources/if-entries/vocabulary.ts";
import type { LinkId } from "../device.ts";
import type { SnmpValue } from "./reads.ts";
import { identifierOf, integerOf, macOfBytesOrText, unicastOf, unicastOfOctets } from "./values.ts";

/** Maps an unknown subtype to LocallyAssigned, to keep the ID. Returns null for an empty ID. */
export function chassisIdOf(
  subtype: SnmpValue | undefined,
  id: SnmpValue | undefined,
): LinkId<ChassisIdSubtype> | null {
  return linkIdOf(CHASSIS_ID_SUBTYPES, subtype, id);
}

/** Same rules as chassisIdOf. */
export function portIdOf(subtype: SnmpValue | undefined, id: SnmpValue | undefined): LinkId<PortIdSubtype> | null {
  return linkIdOf(PORT_ID_SUBTYPES, subtype, id);
}

/** networkAddress: IANA address family number, then the address. Some devices omit the family or write text. */
function networkAddressOf(value: SnmpValue): string | null {
  if (!(value instanceof Uint8Array)) return null;
  const [family] = value;
  if (family === IPV4_FAMILY && value.length === 5) return unicastOfOctets(value, 1, 5);
  if (family === IPV6_FAMILY && value.length === 17) return unicastOfOctets(value, 1, 17);
  return parseIp(identifierOf(value) ?? "")?.text ?? unicastOf(value);
}

const IPV4_FAMILY = 1;
const IPV6_FAMILY = 2;

function linkIdOf<Subtype extends string>(
  subtypes: readonly Subtype[],
  subtype: SnmpValue | undefined,
  id: SnmpValue | undefined,
): LinkId<Subtype> | null {
  const number = integerOf(subtype, 1, subtypes.length);
  const name = number === null ? subtypes.at(-1) : subtypes[number - 1];
  if (id === undefined || name === undefined) return null;
  const value =
    (name === "MacAddress" ? macOfBytesOrText(id) : name === "NetworkAddress" ? networkAddressOf(id) : null) ??
    identifierOf(id);
  return value === null || value === "" ? null : { subtype: name, value };
}
