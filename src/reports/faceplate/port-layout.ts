// Port layout of a device: ports by stack member and module in numeric order, management ports, and logical interfaces.
// Derived from names and types alone. Pure.

import { isLogicalType } from "../../base/interface-name.ts";

/** Interface fields used by the layout. */
export interface LayoutInput {
  readonly if_index: number;
  readonly name: string;
  /** IANAifType-MIB. */
  readonly if_type: number;
}

export interface PortGroup<P> {
  readonly type: "Module" | "Management";
  /** Stack member number: `1` of `Gi1/0/7`; null for names with one or two numbers. */
  readonly member: string | null;
  /** Prefix of the port number: `1/0` of `Gi1/0/7`; null for none. */
  readonly module: string | null;
  /** In layout order. */
  readonly ports: P[];
}

export interface Layout<P> {
  /** Modules in order, then management ports. */
  readonly groups: readonly PortGroup<P>[];
  /** Aggregates, VLAN interfaces, loopbacks, tunnels, subinterfaces. */
  readonly logical: readonly P[];
}

export function layOutPorts<P extends LayoutInput>(interfaces: readonly P[]): Layout<P> {
  const parsed = interfaces.map((port) => ({ port, ...nameOf(port) }));
  const ports = withBreakouts(parsed.filter(({ port, type, isSub }) => isPort(port, type, isSub)));
  const portsOf = new Set(ports.map(({ port }) => port));
  const logical = parsed.filter(({ port }) => !portsOf.has(port));
  const groups = Map.groupBy(ports, ({ type, numbers }) =>
    MANAGEMENT.has(type) ? MANAGEMENT_KEY : numbers.slice(0, -1).join("/"),
  );
  return {
    groups: [...groups]
      .map(([key, members]) => {
        const prefix = key === MANAGEMENT_KEY || key === "" ? [] : key.split("/");
        return {
          type: key === MANAGEMENT_KEY ? ("Management" as const) : ("Module" as const),
          member: prefix.length > 1 ? (prefix[0] as string) : null,
          module: prefix.length === 0 ? null : prefix.join("/"),
          ports: sortPorts(members),
          prefix: prefix.map(Number),
        };
      })
      .sort(
        (lhs, rhs) =>
          Number(lhs.type === "Management") - Number(rhs.type === "Management") ||
          compareNumbers(lhs.prefix, rhs.prefix),
      )
      .map(({ prefix: _, ...group }) => group),
    logical: sortPorts(logical),
  };
}

interface ReadName {
  /** Lower case, without separators before the number: `gigabitethernet`, `xe`. */
  readonly type: string;
  /** `1/0/7`; empty for names of another form. */
  readonly numbers: readonly number[];
  /** Channel of a breakout port: `xe-0/0/1:2`, or unit of a subinterface: `Gi0/1.100`. */
  readonly sub: readonly number[];
  readonly isSub: boolean;
  readonly name: string;
}

type Read<P> = ReadName & { readonly port: P };

const NUMBERED = /^(\D*?)[-\s]*(\d+(?:\/\d+)+|\d+(?::\d+)*)(:\d+)?(\.\d+)?$/;

function nameOf({ name: rawName }: LayoutInput): ReadName {
  const name = rawName.trim().toLowerCase();
  const [, type, numbers, channel, unit] = NUMBERED.exec(name) ?? [];
  if (numbers === undefined)
    return { type: /^[^\d\s.:-]*/.exec(name)?.[0] ?? "", numbers: [], sub: [], isSub: /\.\d+$/.test(name), name };
  return {
    type: type ?? "",
    // Some vendors separate slot and port with a colon.
    numbers: numbers.split(/[/:]/).map(Number),
    sub: [channel, unit].flatMap((text) => (text === undefined ? [] : Number(text.slice(1)))),
    isSub: unit !== undefined,
    name,
  };
}

/** IANAifType-MIB types of physical ports. */
const PORT_TYPES: ReadonlySet<number> = new Set([
  6, 7, 9, 15, 18, 19, 22, 26, 30, 37, 39, 45, 46, 56, 62, 69, 71, 94, 95, 96, 97, 117, 168, 169, 199, 237, 238, 250,
]);
/** `other`: used for manual entries, and by devices that report no specific type. */
const OTHER_TYPE = 1;

const MANAGEMENT = new Set(["mgmt", "management", "mgmteth", "ma", "fxp", "me", "vme", "oob"]);
const MANAGEMENT_KEY = "management";

function isPort({ if_type: ifType }: LayoutInput, type: string, isSub: boolean): boolean {
  if (isSub || isLogicalType(type)) return false;
  return PORT_TYPES.has(ifType) || ifType === OTHER_TYPE;
}

/** A port name with one more number than most of its type is a breakout: `Eth1/49/2` next to `Eth1/1`. */
function withBreakouts<P>(ports: readonly Read<P>[]): Read<P>[] {
  const usualLengths = new Map<string, number>();
  for (const [type, members] of Map.groupBy(ports, (port) => port.type)) {
    const lengths = [...Map.groupBy(members, ({ numbers }) => numbers.length)];
    lengths.sort(([length, many], [otherLength, others]) => others.length - many.length || length - otherLength);
    usualLengths.set(type, lengths[0]?.[0] ?? 0);
  }
  return ports.map((port) => {
    const { numbers, sub, type } = port;
    const isPart = numbers.length > 1 && numbers.length === (usualLengths.get(type) ?? 0) + 1;
    return isPart ? { ...port, numbers: numbers.slice(0, -1), sub: [numbers.at(-1) as number, ...sub] } : port;
  });
}

/** Types in the order of their first if_index, then by number. */
function sortPorts<P extends LayoutInput>(members: readonly Read<P>[]): P[] {
  const first = new Map<string, number>();
  for (const { type, port } of members) first.set(type, Math.min(first.get(type) ?? port.if_index, port.if_index));
  return [...members]
    .sort(
      (lhs, rhs) =>
        (first.get(lhs.type) as number) - (first.get(rhs.type) as number) ||
        compareNumbers(lhs.numbers, rhs.numbers) ||
        compareNumbers(lhs.sub, rhs.sub) ||
        compareNaturally(lhs.name, rhs.name) ||
        lhs.port.if_index - rhs.port.if_index,
    )
    .map(({ port }) => port);
}

/** Compares number by number; a prefix sorts first. */
function compareNumbers(lhs: readonly number[], rhs: readonly number[]): number {
  for (let index = 0; ; index += 1) {
    const [left, right] = [lhs[index], rhs[index]];
    if (left === undefined || right === undefined) return lhs.length - rhs.length;
    if (left !== right) return left - right;
  }
}

/** Natural order: `swp2` before `swp10`. */
function compareNaturally(lhs: string, rhs: string): number {
  const [left, right] = [lhs, rhs].map((text) => text.split(/(\d+)/)) as [string[], string[]];
  for (let index = 0; index < Math.min(left.length, right.length); index += 1) {
    const [a, b] = [left[index] as string, right[index] as string];
    if (a === b) continue;
    // Odd-indexed pieces are numbers.
    const difference = index % 2 === 1 ? Number(a) - Number(b) : 0;
    return difference !== 0 ? difference : a < b ? -1 : 1;
  }
  return left.length - right.length;
}
