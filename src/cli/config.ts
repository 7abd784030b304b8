// Settings of the program from flags and NETLEDGER_* variables, as one frozen, checked Config per command. The only
// reader of the environment. Opens no files.

import { resolve } from "node:path";
import { ownValue } from "../base/fields.ts";
import { type Cidr, cidrOf, isMappedBlock, parseCidr, parseIp } from "../base/ip.ts";
import type { LogFormat } from "../base/log.ts";

/** Invalid command line or variable; nothing was done. `message` is one sentence without its full stop. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * One setting. Its variable is NETLEDGER_ and the flag in upper case; the flag takes precedence. An empty variable
 * counts as unset.
 */
export interface Option<T> {
  /** Without the dashes. */
  readonly flag: string;
  /** Placeholder of the value in the help; null for a switch, which `--no-…` turns off. */
  readonly value: string | null;
  /** Default; null for none. */
  readonly fallback: string | null;
  readonly meaning: string;
  /** @throws UsageError with a predicate for the flag's name: "must be …" */
  readonly parse: (text: string) => T;
  /** Repeated flags equal one flag with comma-separated values. */
  readonly isRepeatable?: true;
  /** Read from its variable only: command lines are visible to all users of the machine. */
  readonly isSecret?: true;
}

export interface ListenAddress {
  /** Without brackets. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** All settings. */
export const OPTIONS = {
  listen: option(
    "listen HOST:PORT",
    parseListen,
    "The address and port to listen on; IPv6 as [::1]:8080, port 0 for any free port.",
    "127.0.0.1:8080",
  ),
  tlsCertificate: option(
    "tls-certificate FILE",
    parsePath,
    "HTTPS: the certificate (PEM), followed by its chain. A changed file is loaded within a minute, or immediately on SIGHUP.",
  ),
  tlsKey: option("tls-key FILE", parsePath, "HTTPS: the certificate's private key (PEM, without a passphrase)."),
  tlsSelfSigned: flag(
    "tls-self-signed",
    "HTTPS with a self-signed certificate, created at the first start and stored in the data folder.",
  ),
  plainHttp: flag(
    "plain-http",
    "Listen beyond this machine without TLS. Without a TLS proxy in front, anyone on the path can read passwords and keys.",
  ),
  trustedProxy: option(
    "trusted-proxy ADDRESS,…",
    parseBlocks,
    "Proxies in front, by address or CIDR: the caller's address of their requests is taken from X-Forwarded-For.",
  ),
  hostName: {
    ...option(
      "host-name NAME,…",
      parseHostNames,
      "The host names to accept, besides those of the TLS certificate, such as the one that a reverse proxy passes on. On loopback others than localhost are refused; IP addresses never are. May be given more than once.",
    ),
    isRepeatable: true,
  },
  data: option("data DIR", parsePath, "The folder with the database, its key file and its lock file.", "./data"),
  servedData: option(
    "data DIR",
    parsePath,
    "The folder with the database, its key file and its lock file. Default: ./data, or ./data-demo for a demo.",
  ),
  demo: flag(
    "demo",
    "Serve a made-up campus with a month of history, in a separate folder. Its scans send nothing to a real network.",
  ),
  setupOrganization: option(
    "setup-organization NAME",
    parseText,
    "Unattended set-up: the organization to create if there is none yet.",
  ),
  setupNetwork: option("setup-network NAME", parseText, "Unattended set-up: its first network."),
  setupEmail: option(
    "setup-email EMAIL",
    parseText,
    "Unattended set-up: the e-mail address of its Owner, used to sign in.",
  ),
  setupPasswordFile: option(
    "setup-password-file FILE",
    parsePath,
    "Unattended set-up: the file with the Owner's password; a final newline is ignored.",
  ),
  self: flag("self", "Unattended set-up: record this machine as the network's first host."),
  acceptClock: flag("accept-clock", "Accept a clock that is more than 400 days ahead of the last change."),
  secretsFolder: option(
    "secrets-folder DIR",
    parsePath,
    "The folder to read credentials' secrets of mode FilePath from. Without it none are read.",
  ),
  snmpPort: option("snmp-port PORT", parsePort, "The UDP port of the devices' SNMP agents.", "161"),
  scanTcpPorts: option(
    "scan-tcp-ports PORT,…",
    parsePorts,
    "The TCP ports that a sweep connects to, instead of its own list.",
  ),
  console: option(
    "console FILE",
    parsePath,
    "The console to serve instead of the executable's own, for its developers: reloaded when it changes.",
  ),
  logFormat: option("log-format text|json", parseLogFormat, "The format of the log on standard error.", "text"),

  newOrganization: option("organization NAME", parseText, "The organization to create."),
  newNetwork: option("network NAME", parseText, "The first network of the organization."),
  organization: option(
    "organization NAME",
    parseText,
    "The organization, by name or id; not needed if there is only one.",
  ),
  email: option("email EMAIL", parseText, "The user's e-mail address."),
  role: option("role ROLE", parseText, "Owner, Admin, Member or Viewer."),
  networks: option(
    "networks NAME,…",
    parseList,
    "The networks within reach, by name or id. An Owner or Admin reaches all, unless a key is given some.",
  ),
  name: option("name NAME", parseText, "The name."),
  passwordFile: option(
    "password-file FILE",
    parsePathOrStdin,
    "The file with the password, - for standard input; a final newline is ignored.",
  ),
  permissions: option(
    "permissions ROLE",
    parseText,
    "What the key may do, within its user's role: Owner, Admin, Member or Viewer.",
    "Viewer",
  ),
  expiresAt: option("expires-at TIMESTAMP", parseText, "When the key expires (RFC 3339). Default: never."),
  allowedSources: option(
    "allowed-sources ADDRESS,…",
    parseBlocks,
    "Where the key may be used from, by address or CIDR. Default: everywhere.",
  ),
  reason: option("reason TEXT", parseText, "The reason: stored with the change, and shown in the history."),
  keyId: option("id ID", parseText, "The id of the key."),
  repairDerived: flag(
    "repair-derived",
    "Rebuild live tables, spans, counts and links that differ from the ledger, reset damaged observations to those of the newest versions, drop other damaged rows outside the ledger, and accept missing ones. The appliance must not be running.",
  ),
  knownHead: option(
    "head SEQUENCE:HASH",
    parseHead,
    "A transaction and its hash as noted earlier: the ledger must still contain it unchanged.",
  ),
  before: option(
    "before DATE",
    parseText,
    "Thin the history before this: 2026-01-01 (midnight UTC), an RFC 3339 timestamp, or an age in days or weeks such as -365d.",
  ),
  keep: option(
    "keep daily|monthly",
    parseKeep,
    "The states to keep: the last one of each day or month (UTC). Default: only the last state before DATE.",
  ),
  dryRun: flag("dry-run", "Report what would be done, and change nothing."),
  vacuum: flag(
    "vacuum",
    "Then rewrite the file to return the freed space to the disk. This temporarily takes up to twice its size.",
  ),
  source: option("source URL", parseUrl, "The address of the source: https://netbox.example.com."),
  appId: option("app-id ID", parseText, "The id of the app in phpIPAM's API settings, with read permissions."),
  tokenFile: option(
    "token-file FILE",
    parsePathOrStdin,
    "The file with the token of the source, - for standard input; a final newline is ignored.",
  ),
  token: secret("token", "The token of the source, instead of a file."),
  server: option(
    "server URL",
    parseUrl,
    "The address of the running netledger to import into.",
    "http://127.0.0.1:8080",
  ),
  keyFile: option(
    "key-file FILE",
    parsePathOrStdin,
    "The file with an API key of that netledger, - for standard input; a final newline is ignored.",
  ),
  key: secret("key", "The API key, instead of a file."),
  caFile: option(
    "ca-file FILE",
    parsePath,
    "Certificates (PEM) to trust besides those of public authorities, for both sides.",
  ),
  remotePlainHttp: flag(
    "plain-http",
    "Send requests beyond this machine without TLS. Anyone on the path can read token, key and data.",
  ),
  defaultNetwork: option(
    "default-network NAME",
    parseText,
    "The network for objects without a site or section. It is created if it does not exist. Without this flag such objects are refused.",
  ),
  knownAs: option("known-as URL", parseUrl, "The source's address at the first import, if it has changed since."),
  overwrite: flag("overwrite", "Use the source's values even where they have been changed in netledger."),
  verbose: flag("verbose", "List every record, not only refused and kept ones."),
  readOnly: option(
    "read-only FILE",
    parsePath,
    "Serve this backup read-only, instead of a data folder. The file is not changed.",
  ),
  file: option("file FILE", parsePath, "The backup."),
  backup: option("backup FILE", parsePath, "Verify this backup, instead of a data folder. The file is not changed."),
  replace: flag("replace", "Replace existing data with the backup. The previous data is kept next to it."),
  dropSecrets: flag(
    "drop-secrets",
    "Continue without the key file of the credentials' secrets. The secrets are dropped and must be entered again.",
  ),
} as const satisfies Record<string, Option<unknown>>;

export type OptionName = keyof typeof OPTIONS;
type ValueOf<Name extends OptionName> = ReturnType<(typeof OPTIONS)[Name]["parse"]>;

/** Settings of one command. */
export interface Form<Always extends OptionName = OptionName, Maybe extends OptionName = OptionName> {
  /** As typed: `user create`. */
  readonly name: string;
  /** Completes "netledger user create …" in one clause. */
  readonly summary: string;
  /** Settings that always have a value: required, unless they have a default. */
  readonly always: readonly Always[];
  /** Optional settings. */
  readonly maybe: readonly Maybe[];
  /** The setting that may be given without its flag: `backup FILE`. */
  readonly operand?: Always;
}

export type Config<Always extends OptionName = never, Maybe extends OptionName = never> = Readonly<
  { [Name in Always]: ValueOf<Name> } & { [Name in Maybe]: ValueOf<Name> | null }
>;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the settings of one command.
 * @param args following the command's name
 * @throws UsageError for unknown, duplicate, missing or malformed settings
 */
export function readConfig<Always extends OptionName, Maybe extends OptionName>(
  form: Form<Always, Maybe>,
  args: readonly string[],
  environment: Environment = process.env,
): Config<Always, Maybe> {
  const names: readonly OptionName[] = [...form.always, ...form.maybe];
  const given = readFlags(names, form.operand ?? null, args);
  const config: Record<string, unknown> = {};
  for (const name of names) {
    const { flag: flagName, value, fallback, parse, isSecret }: Option<unknown> = OPTIONS[name];
    const variable = variableOf(flagName);
    if (isSecret === true && given.has(name))
      throw new UsageError(`--${flagName} would expose it to every user of this machine; use ${variable} or a file`);
    const shown = name === form.operand ? String(value) : `--${flagName}`;
    const [source, text] = given.has(name)
      ? [shown, given.get(name)]
      : ownValue(environment, variable)
        ? [variable, ownValue(environment, variable)]
        : [shown, fallback];
    if (text === null || text === undefined) {
      if ((form.always as readonly OptionName[]).includes(name))
        throw new UsageError(`${name === form.operand ? shown : `${shown} ${value}`} is required (or ${variable})`);
      config[name] = null;
      continue;
    }
    try {
      config[name] = parse(text);
    } catch (error) {
      throw error instanceof UsageError ? new UsageError(`${source} ${error.message}`) : error;
    }
  }
  return Object.freeze(config) as Config<Always, Maybe>;
}

/** Variables with the program's prefix that no command knows: probably misspelled. */
export function unknownVariables(environment: Environment = process.env): string[] {
  const known = new Set(Object.values(OPTIONS).map((each) => variableOf(each.flag)));
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.has(name))
    .sort();
}

/**
 * Non-empty variables that make Bun, which is embedded in the executable, run additional code or open a debugger.
 * BUN_BE_BUN is not listed: it turns the executable into Bun, so none of this code runs.
 */
export function runtimeVariables(environment: Environment = process.env): string[] {
  return Object.keys(environment)
    .filter((name) => /^BUN_(OPTIONS$|INSPECT)/.test(name) && ownValue(environment, name) !== "")
    .sort();
}

/** Variable name of a flag: `NETLEDGER_SETUP_EMAIL` for `setup-email`. */
export function variableOf(flagName: string): string {
  return PREFIX + flagName.toUpperCase().replaceAll("-", "_");
}

const PREFIX = "NETLEDGER_";

/** Values of the given flags. */
function readFlags(
  names: readonly OptionName[],
  operand: OptionName | null,
  args: readonly string[],
): Map<OptionName, string> {
  const given = new Map<OptionName, string>();
  for (let position = 0; position < args.length; position += 1) {
    const arg = args[position] as string;
    if (operand !== null && !arg.startsWith("-") && !given.has(operand)) {
      given.set(operand, arg);
      continue;
    }
    if (!arg.startsWith("--") || arg === "--")
      throw new UsageError(`${quoted(arg)} is not valid: every ${operand === null ? "" : "other "}setting is a flag`);
    const equals = arg.indexOf("=");
    const flagName = equals === -1 ? arg.slice(2) : arg.slice(2, equals);
    const attached = equals === -1 ? null : arg.slice(equals + 1);
    const name = names.find((each) => OPTIONS[each].flag === flagName);
    const negated =
      name === undefined && flagName.startsWith("no-")
        ? names.find((each) => OPTIONS[each].value === null && OPTIONS[each].flag === flagName.slice(3))
        : undefined;
    const matched = name ?? negated;
    if (matched === undefined) throw new UsageError(`the flag ${quoted(`--${flagName}`)} is unknown`);
    const { isRepeatable }: Option<unknown> = OPTIONS[matched];
    if (given.has(matched) && isRepeatable !== true)
      throw new UsageError(`--${OPTIONS[matched].flag} is given more than once`);
    if (OPTIONS[matched].value === null) {
      if (attached !== null) throw new UsageError(`--${flagName} takes no value`);
      given.set(matched, negated === undefined ? "true" : "false");
      continue;
    }
    // An argument with two dashes is the next flag: such a value must be attached with `=`.
    const next = attached === null ? args[position + 1] : attached;
    if (next === undefined || (attached === null && next.startsWith("--")))
      throw new UsageError(`--${flagName} needs a value: ${OPTIONS[matched].value}`);
    if (attached === null) position += 1;
    const before = given.get(matched);
    given.set(matched, before === undefined ? next : `${before},${next}`);
  }
  return given;
}

/** @param usage the flag and the placeholder of its value, as in the help */
function option<T>(
  usage: `${string} ${string}`,
  parse: (text: string) => T,
  meaning: string,
  fallback: string | null = null,
): Option<T> {
  const [flagName = "", value = ""] = usage.split(" ");
  return { flag: flagName, value, fallback, meaning, parse };
}

function flag(flagName: string, meaning: string): Option<boolean> {
  return { flag: flagName, value: null, fallback: "false", meaning, parse: parseSwitch };
}

/** Read from its variable only. */
function secret(flagName: string, meaning: string): Option<string> & { readonly isSecret: true } {
  return { ...option(`${flagName} TEXT`, parseText, meaning), isSecret: true };
}

function parseText(text: string): string {
  if (text === "") throw new UsageError("must not be empty");
  return text;
}

function parseList(text: string): readonly string[] {
  const items = text.split(",").map((item) => item.trim());
  if (items.includes("")) throw new UsageError("must be names or ids separated by commas");
  return Object.freeze(items);
}

/** Lower case, deduplicated, without trailing dots. */
function parseHostNames(text: string): readonly string[] {
  return Object.freeze([...new Set(text.split(",").map((item) => parseHostName(item.trim())))]);
}

function parseHostName(item: string): string {
  const name = item.toLowerCase().replace(/\.$/, "");
  if (parseIp(name) !== null)
    throw new UsageError(`must be host names; IP addresses are always accepted: not ${quoted(item)}`);
  if (!HOST_NAME.test(name))
    throw new UsageError(`must be host names without a port, separated by commas, not ${quoted(item)}`);
  return name;
}

/** RFC 1123 section 2.1, plus the underscore used in container names. */
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;

/** Addresses and CIDR blocks; an address is a block of one. */
function parseBlocks(text: string): readonly Cidr[] {
  return Object.freeze(text.split(",").map((item) => Object.freeze(parseBlock(item.trim()))));
}

function parseBlock(item: string): Cidr {
  const ip = parseIp(item);
  const block = ip === null ? parseCidr(item) : cidrOf(ip, ip.bytes.length * 8);
  if (block === null)
    throw new UsageError(
      `must be IP addresses and CIDR blocks without host bits, separated by commas, not ${quoted(item)}`,
    );
  if (isMappedBlock(block)) throw new UsageError(`must have IPv4 addresses as such, not as ${quoted(item)}`);
  return block;
}

/** Absolute: relative paths are resolved against the working directory at startup. */
function parsePath(text: string): string {
  if (text.includes("\0")) throw new UsageError("must be a path");
  return resolve(parseText(text));
}

function parsePathOrStdin(text: string): string {
  return text === "-" ? "-" : parsePath(text);
}

function parseSwitch(text: string): boolean {
  if (/^(true|yes|on|1)$/i.test(text)) return true;
  if (/^(false|no|off|0)$/i.test(text)) return false;
  throw new UsageError(`must be true or false, not ${quoted(text)}`);
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535)
    throw new UsageError(`must be a port from 1 to 65535, not ${quoted(text)}`);
  return port;
}

/** Deduplicated, ascending. */
function parsePorts(text: string): readonly number[] {
  return Object.freeze([...new Set(text.split(",").map((item) => parsePort(item.trim())))].sort((a, b) => a - b));
}

function parseLogFormat(text: string): LogFormat {
  if (text === "text" || text === "json") return text;
  throw new UsageError(`must be text or json, not ${quoted(text)}`);
}

function parseKeep(text: string): "daily" | "monthly" {
  if (text === "daily" || text === "monthly") return text;
  throw new UsageError(`must be daily or monthly, not ${quoted(text)}`);
}

function parseHead(text: string): { readonly sequence: number; readonly hash: string } {
  const [, sequence, hash = ""] = /^(\d{1,10}):([0-9a-f]{64})$/i.exec(text) ?? [];
  if (sequence === undefined)
    throw new UsageError(
      `must be SEQUENCE:HASH, the number and the hash of a transaction as verify and GET /api/v1/ledger show them, not ${quoted(text)}`,
    );
  return Object.freeze({ sequence: Number(sequence), hash: hash.toLowerCase() });
}

/** Without a trailing slash and without the API path, which is implied. */
function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === "")
    throw new UsageError(`must be an address such as https://netbox.example.com, not ${quoted(text)}`);
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "")
    throw new UsageError("must be an address without a user, password, query or fragment");
  return url.origin + url.pathname.replace(/\/+$/, "").replace(/\/api$/, "");
}

function parseListen(text: string): ListenAddress {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^\s:[\]/@]+)):(\d{1,5})$/i.exec(text);
  const [, bracketed, plain, digits] = match ?? [];
  const host = bracketed ?? plain;
  const port = Number(digits);
  // Without brackets, a host name or an IPv4 address; digits and dots alone can only be IPv4.
  const isAddress =
    bracketed !== undefined
      ? parseIp(bracketed)?.version === 6
      : plain !== undefined && (/[^\d.]/.test(plain) || parseIp(plain) !== null);
  if (host === undefined || !isAddress || port > 65_535)
    throw new UsageError(`must be HOST:PORT such as 127.0.0.1:8080 or [::1]:8080, not ${quoted(text)}`);
  return Object.freeze({ host, port });
}

/** As typed, on one line and truncated. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
