// Random filter values of each type, in a random notation, and their comparison with a record's value. Compares one
// character, number or bit at a time.

import { compareCodePoints, foldCase } from "../../../src/base/text.ts";
import type { SeededRandom } from "../injected/seeded-random.ts";
import { IPS, MACS, TEXTS } from "./filter-drafts.ts";
import type { Operator } from "./filter-reference.ts";

/** Field description from `/fields`. */
export interface FieldType {
  readonly type: string;
  readonly values: readonly string[] | null;
  readonly units: readonly string[];
}

export interface DrawnValue {
  /** Notation in the filter. */
  readonly text: string;
  matches(value: unknown): boolean;
}

const MINUTE_MS = 60_000;
const AGE_MS = { s: 1_000, m: MINUTE_MS, h: 60 * MINUTE_MS, d: 1_440 * MINUTE_MS, w: 10_080 * MINUTE_MS } as const;
const UNIT_DIGITS = { k: 3, M: 6, G: 9, T: 12 } as const;

/** @param known current and past values of fields of this name */
export function drawValue(
  random: SeededRandom,
  type: FieldType,
  operator: Operator,
  known: readonly unknown[],
  at: number,
): DrawnValue {
  const own = known.length > 0 && random.integer(5) > 0 ? random.pick(known) : undefined;
  switch (type.type) {
    case "text":
      return drawText(random, operator, String(own ?? random.pick(TEXTS)));
    case "enumeration":
    case "boolean": {
      const name = String(own ?? random.pick(type.values as readonly string[]));
      return {
        text: formatValue(random, random.pick([name, name.toLowerCase(), name.toUpperCase()])),
        matches: (value) => String(value) === name,
      };
    }
    case "uuid": {
      const id = String(own ?? "01936f2e-0d5c-7d3a-9a39-3f6f1f7a00ff");
      return { text: formatValue(random, random.pick([id, id.toUpperCase()])), matches: (value) => value === id };
    }
    case "number":
      return drawNumber(
        random,
        operator,
        type.units,
        Number(own ?? random.integer(100)) + random.pick([0, 0, 0, 1, -1]),
      );
    case "instant":
      return drawInstant(random, operator, own === undefined ? at : Date.parse(String(own)), at);
    case "ip_address":
    case "prefix":
      return drawAddress(random, operator, type.type, String(own ?? random.pick(IPS)));
    case "mac_address":
      return drawMac(random, operator, String(own ?? random.pick(MACS)));
    default:
      throw new RangeError(`unknown field type ${type.type}`);
  }
}

/** Timestamps by marker name. */
export type Markers = ReadonlyMap<string, string>;

/** Random start of a period, at or before a timestamp, and its notation. */
export function drawStart(
  random: SeededRandom,
  instants: readonly string[],
  markers: Markers,
  at: number,
): { text: string; from: number } {
  const before = instants.filter((instant) => Date.parse(instant) <= at);
  if (before.length > 0 && random.integer(2) === 0) {
    const instant = random.pick(before);
    const names = [...markers].flatMap(([name, marked]) => (marked === instant ? [name, name.toUpperCase()] : []));
    const text = names.length > 0 ? `marker:${random.pick(names)}` : instant;
    return { text: `"${text}"`, from: Date.parse(instant) };
  }
  const { text, ms } = drawAge(random);
  return { text: random.pick([text, `"${text}"`]), from: at - ms };
}

function drawAge(random: SeededRandom): { text: string; ms: number } {
  const unit = random.pick(["s", "m", "h", "d", "d", "d", "w"] as const);
  const count = 1 + random.integer(unit === "w" ? 6 : 40);
  return { text: `-${count}${unit}`, ms: count * AGE_MS[unit] };
}

const matchesOrder = (operator: Operator, order: number): boolean =>
  ({ "=": order === 0, ":": order === 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0 })[
    operator
  ];

/** A string, with a star for part of it where wildcards apply. */
function drawText(random: SeededRandom, operator: Operator, known: string): DrawnValue {
  const base = random.pick([known, known, known.toUpperCase(), known.toLowerCase(), known.normalize("NFD"), ""]);
  if (operator !== "=" && operator !== ":") {
    const literal = random.pick([base, base.slice(0, random.integer(base.length + 1))]);
    return {
      text: formatValue(random, literal),
      matches: (value) =>
        matchesOrder(operator, Math.sign(compareCodePoints(foldCase(String(value)), foldCase(literal)))),
    };
  }
  const characters = [...base];
  const from = random.integer(characters.length + 1);
  const until = from + random.integer(characters.length + 1 - from);
  const middle = characters.slice(from, until).join("");
  const pieces = random.pick<string[]>([
    [base],
    operator === ":" ? [middle] : [base],
    [characters.slice(0, from).join(""), characters.slice(until).join("")],
    // The prefix and the suffix overlap.
    [characters.slice(0, until).join(""), characters.slice(from).join("")],
    [characters.slice(0, from).join(""), ""],
    ["", characters.slice(from).join("")],
    ["", middle, ""],
    ["", "", middle, random.pick(TEXTS)],
  ]);
  const folded = (operator === ":" ? ["", ...pieces, ""] : pieces).map(foldCase);
  return { text: formatValue(random, ...pieces), matches: (value) => matchesPattern(foldCase(String(value)), folded) };
}

/** Whether a string consists of the pieces in order, with anything in between. */
function matchesPattern(text: string, [first = "", ...rest]: readonly string[]): boolean {
  if (!text.startsWith(first)) return false;
  if (rest.length === 0) return text === first;
  for (let index = first.length; index <= text.length; index += 1)
    if (matchesPattern(text.slice(index), rest)) return true;
  return false;
}

/** Notation of a string: quoted where necessary, otherwise sometimes; pieces are joined by stars. */
export function formatValue(random: SeededRandom, ...pieces: string[]): string {
  const isPlain = pieces.every((piece) => /^[\p{L}\p{N}_.:/%+-]*$/u.test(piece)) && pieces.join("") !== "";
  const isReserved = /^(AND|OR|NOT)$/.test(pieces.join("*"));
  if (isPlain && !isReserved && random.integer(2) === 0) return pieces.join("*");
  const quote = random.pick(['"', "'"]);
  const escaped = pieces.map((piece) =>
    [...piece].map((character) => ([quote, "\\", "*"].includes(character) ? `\\${character}` : character)).join(""),
  );
  return `${quote}${escaped.join("*")}${quote}`;
}

function drawNumber(random: SeededRandom, operator: Operator, units: readonly string[], number: number): DrawnValue {
  const unit = units.length > 0 && random.integer(3) > 0 ? (random.pick(units) as keyof typeof UNIT_DIGITS) : null;
  const notation = unit === null ? String(number) : `${shiftDecimal(number, UNIT_DIGITS[unit])}${unit}`;
  return {
    text: random.pick([notation, `"${notation}"`]),
    matches: (value) => matchesOrder(operator, Math.sign((value as number) - number)),
  };
}

/** An integer with its decimal point shifted left by some digits. */
function shiftDecimal(number: number, digits: number): string {
  const all = String(Math.abs(number)).padStart(digits + 1, "0");
  const text = `${all.slice(0, -digits)}.${all.slice(-digits)}`.replace(/\.?0+$/, "");
  return number < 0 ? `-${text}` : text;
}

function drawInstant(random: SeededRandom, operator: Operator, near: number, at: number): DrawnValue {
  const exact = near + random.pick([0, 0, 1, -1, 3_600_000]);
  const day = Math.floor(near / AGE_MS.d) * AGE_MS.d;
  const age = drawAge(random);
  const east = new Date(exact + 2 * AGE_MS.h).toISOString().replace("Z", "+02:00");
  const [text, instant] = random.pick<[string, number]>([
    [new Date(exact).toISOString(), exact],
    [new Date(exact).toISOString().replace("Z", "000Z"), exact],
    [east, exact],
    [new Date(day).toISOString().slice(0, 10), day],
    [age.text, at - age.ms],
    ["now", at],
  ]);
  return {
    text: random.pick([text, `"${text}"`]),
    matches: (value) => matchesOrder(operator, Math.sign(Date.parse(String(value)) - instant)),
  };
}

interface Block {
  readonly version: number;
  readonly bits: string;
  /** Number of significant bits. */
  readonly length: number;
}

/** An address is a prefix of full length. */
function blockOf(text: string): Block {
  const [address, length] = text.split("/") as [string, string | undefined];
  const isIpv4 = address.includes(".");
  const [head = "", tail] = address.split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(isIpv4 ? "." : ":"));
  const gap =
    tail === undefined ? [] : Array.from({ length: 8 - groups(head).length - groups(tail).length }, () => "0");
  const bits = [...groups(head), ...gap, ...groups(tail ?? "")]
    .map((group) =>
      Number.parseInt(group, isIpv4 ? 10 : 16)
        .toString(2)
        .padStart(isIpv4 ? 8 : 16, "0"),
    )
    .join("");
  return { version: isIpv4 ? 4 : 6, bits, length: length === undefined ? bits.length : Number(length) };
}

function isInside(inner: Block, outer: Block): boolean {
  const { version, bits, length } = outer;
  return inner.version === version && inner.length >= length && inner.bits.slice(0, length) === bits.slice(0, length);
}

const compareBlocks = (a: Block, b: Block): number =>
  a.version - b.version || (a.bits < b.bits ? -1 : a.bits > b.bits ? 1 : 0) || a.length - b.length;

function drawAddress(
  random: SeededRandom,
  operator: Operator,
  type: "ip_address" | "prefix",
  known: string,
): DrawnValue {
  const block = blockOf(known);
  const hasLength =
    type === "prefix" ? operator !== ":" || random.integer(2) === 0 : operator === ":" && random.integer(3) > 0;
  const length = hasLength ? random.pick([block.length, 0, 8, 15, 16, 23, 24, 32]) : block.bits.length;
  const bits = block.bits.slice(0, length).padEnd(block.bits.length, "0");
  const target = { ...block, bits, length };
  const address = addressOf(random, target);
  const text = hasLength ? `${address}/${length}` : address;
  return {
    text: block.version === 4 ? random.pick([text, `"${text}"`]) : `"${text}"`,
    matches: (value) => {
      const own = blockOf(String(value));
      if (operator !== ":") return matchesOrder(operator, compareBlocks(own, target));
      return type === "prefix" && !hasLength ? isInside(target, own) : isInside(own, target);
    },
  };
}

function addressOf(random: SeededRandom, { version, bits }: Block): string {
  const size = version === 4 ? 8 : 16;
  const groups = Array.from({ length: bits.length / size }, (_, index) =>
    Number.parseInt(bits.slice(index * size, (index + 1) * size), 2),
  );
  if (version === 4) return groups.join(".");
  const full = groups.map((group) => group.toString(16)).join(":");
  return random.pick([full, full.toUpperCase(), full.replace(/:0(:0)+$/, "::")]);
}

function drawMac(random: SeededRandom, operator: Operator, known: string): DrawnValue {
  const all = known.replaceAll(":", "");
  const digits = operator === ":" ? all.slice(0, 2 + random.integer(11)) : all;
  const grouped = (size: number, separator: string) =>
    (digits.match(new RegExp(`.{1,${size}}`, "g")) ?? []).join(separator);
  const text = random.pick([
    grouped(2, ":"),
    grouped(2, "-"),
    grouped(4, "."),
    operator === ":" ? digits : grouped(2, ":"),
  ]);
  return {
    text: formatValue(random, random.pick([text, text.toUpperCase()])),
    matches: (value) => {
      const own = String(value).replaceAll(":", "");
      return operator === ":" ? own.startsWith(digits) : own === digits;
    },
  };
}
