// Log with one line per event, safe to display in a terminal and to parse. The only user of console.
// Callers decide what is worth logging.

import { writeSync } from "node:fs";
import { type Clock, systemClock } from "./clock.ts";
import type { Counts } from "./counters.ts";
import { DomainError } from "./errors.ts";
import { formatInstant } from "./instant.ts";
import { type LogLevel, RecentLines } from "./recent-lines.ts";

export type LogFormat = "text" | "json";

/**
 * `event` is a constant text of the program; external data belongs in `fields`. Values of fields with a secret-like
 * name (`isSecretFieldName`), at any depth, are never printed, nor are API keys in any text: users put them into
 * addresses. Logging never throws, except for `audit`.
 */
export interface Log {
  info(event: string, fields?: Record<string, unknown>): void;
  warn(event: string, fields?: Record<string, unknown>): void;
  error(event: string, fields?: Record<string, unknown>): void;
  /**
   * As info, for an action that must not happen without its log line.
   * @throws DomainError internal_error if the line cannot be written
   */
  audit(event: string, fields?: Record<string, unknown>): void;
  /** Recently written lines. */
  readonly recent: RecentLines;
}

export interface LogOptions {
  /** Writes one line without its line break. */
  write: (line: string) => void;
  /** The same, but throws if the line was not written; default: `write`. */
  writeOrThrow?: (line: string) => void;
  format: LogFormat;
  clock: Clock;
  /** Counts the lines of each level. */
  counts?: Counts["log_lines"];
}

/** Longer values are truncated, in characters. */
export const LOG_VALUE_MAX_LENGTH = 8_000;

/** Limits of nesting and of items per object or array. */
export const LOG_MAX_DEPTH = 6;
export const LOG_MAX_ITEMS = 100;

/**
 * A log in one of two formats, one line per event, with control and bidirectional characters escaped as `\uXXXX`: text
 * `2026-11-21T09:15:00.123Z INFO event key=value key="a b"`, or JSON `{"at":…,"level":"info","event":…,"key":…}`, where
 * fields named `at`, `level` or `event` get a `_` suffix.
 */
export function createLog(options: LogOptions): Log {
  const { write, writeOrThrow = write, clock, counts } = options;
  const render = options.format === "json" ? renderJson : renderText;
  const recent = new RecentLines();
  const at =
    (level: LogLevel, mustSucceed = false) =>
    (event: string, fields: Record<string, unknown> = {}): void => {
      if (counts !== undefined) counts[level] += 1;
      const now = formatInstant(clock.now());
      let line: string;
      try {
        line = render(now, level, event, fields);
      } catch {
        // A getter or a proxy threw.
        line = render(now, level, event, { fields: "[unreadable]" });
      }
      try {
        (mustSucceed ? writeOrThrow : write)(line);
      } catch (cause) {
        if (mustSucceed) throw Object.assign(new DomainError("internal_error", UNLOGGED_MESSAGE), { cause });
      }
      recent.add({ at: now, level, event: clean(event), text: line });
    };
  return { info: at("info"), warn: at("warn"), error: at("error"), audit: at("info", true), recent };
}

/** The program's own log, on standard error. */
export function systemLog(format: LogFormat = "text", options: Pick<LogOptions, "counts"> = {}): Log {
  // Not process.stderr.write, which ends the program if the reader of a pipe has closed it.
  return createLog({
    write: (line) => console.error("%s", line),
    writeOrThrow: (line) => writeFully(STDERR, Buffer.from(`${line}\n`)),
    format,
    clock: systemClock,
    ...options,
  });
}

/** @throws Error of the platform: ENOSPC, EPIPE, EAGAIN for a full pipe without a reader */
function writeFully(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}

/**
 * Whether values under this name are kept out of the log: it contains password, secret, token, key, authorization,
 * cookie, session, community or a related word in any spelling. A key's id (`key_id`, `apiKeyId`) identifies without
 * authenticating.
 */
export function isSecretFieldName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z]/g, "");
  return SECRET_NAME.test(plain) && !/keyids?$/.test(plain);
}

/** Descriptor number: process.stderr would open a stream. */
const STDERR = 2;
const UNLOGGED_MESSAGE = "Nothing was done: the log cannot be written.";
const HIDDEN = "[hidden]";
const RESERVED: ReadonlySet<string> = new Set(["at", "level", "event"]);
const SECRET_NAME = /passw|passphrase|pwd|secret|token|key|authorization|bearer|cookie|session|community/;

/** More of an API key than its four identifying characters (access/api-key.ts); the underscore may be URL-encoded. */
const API_KEY = /(nlk(?:_|%5f))[0-9a-z]{5,}/gi;

/**
 * Characters that JSON leaves unescaped but terminals interpret or readers take for line breaks: DEL, C1, U+2028/2029,
 * direction marks, BOM.
 */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

function renderJson(at: string, level: LogLevel, event: string, fields: Record<string, unknown>): string {
  const line: [string, unknown][] = [
    ["at", at],
    ["level", level],
    ["event", clean(event)],
  ];
  for (const [name, value] of entriesOf(fields)) line.push([RESERVED.has(name) ? `${name}_` : name, value]);
  return quote(Object.fromEntries(line));
}

function renderText(at: string, level: LogLevel, event: string, fields: Record<string, unknown>): string {
  const words = [at, level.toUpperCase().padEnd(5), quote(clean(event)).slice(1, -1).replaceAll('\\"', '"')];
  for (const [name, value] of entriesOf(fields))
    words.push(`${bare(name)}=${typeof value === "string" ? bare(value) : quote(value)}`);
  return words.join(" ");
}

/** Unquoted if unambiguous. */
function bare(text: string): string {
  return /^[\w.:/@+,[\]-]+$/.test(text) ? text : quote(text);
}

function quote(value: unknown): string {
  return JSON.stringify(value).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Name and printable value of each field. */
function entriesOf(fields: object, depth = 0): [string, unknown][] {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(fields).slice(0, LOG_MAX_ITEMS)) {
    if (value !== undefined) entries.push([clean(name), isSecretFieldName(name) ? HIDDEN : printable(value, depth)]);
  }
  return entries;
}

/** Converts to a value that JSON.stringify can print: no cycles, no bigints, bounded size. */
function printable(value: unknown, depth: number): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  if (typeof value === "string") return clean(value);
  if (typeof value !== "object") return clean(String(value));
  // Bytes are more likely a key or a hash than readable data.
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= LOG_MAX_DEPTH) return "[deeper]";
  if (value instanceof Error) return clean(describeError(value));
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
  if (Array.isArray(value)) return value.slice(0, LOG_MAX_ITEMS).map((item) => printable(item ?? null, depth + 1));
  if (value instanceof Map || value instanceof Set) return `[${value.size} items]`;
  return Object.fromEntries(entriesOf(value, depth + 1));
}

/** With stack and cause; the stack starts with the message on this platform, otherwise the message is prepended. */
function describeError(error: Error): string {
  const title = `${error.name}: ${error.message}`;
  const stack = typeof error.stack === "string" ? error.stack : "";
  const text = stack.includes(error.message) ? stack : `${title}\n${stack}`;
  return error.cause instanceof Error && error.cause !== error
    ? `${text}\ncaused by ${error.cause.name}: ${error.cause.message}`
    : text;
}

/** Removes API keys and truncates. */
function clean(value: string): string {
  const text = value.replace(API_KEY, `$1${HIDDEN}`);
  return text.length <= LOG_VALUE_MAX_LENGTH ? text : `${text.slice(0, LOG_VALUE_MAX_LENGTH)}…`;
}
