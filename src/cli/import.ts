// netledger import …: imports another product's inventory into a running netledger, as a client of its API.

import { systemLog } from "../base/log.ts";
import { systemTimers } from "../base/timers.ts";
import { isThisMachine } from "../importers/direct-hosts.ts";
import { ImportRun } from "../importers/import-run.ts";
import { importSource } from "../importers/import-source.ts";
import type { ImportSource } from "../importers/imported-objects.ts";
import { JsonClient } from "../importers/json-client.ts";
import { Ledger } from "../importers/ledger.ts";
import { LocalChanges } from "../importers/local-changes.ts";
import { Netbox } from "../importers/netbox/netbox.ts";
import type { NetboxServer } from "../importers/netbox/netbox-api.ts";
import { Phpipam } from "../importers/phpipam/phpipam.ts";
import { ImportPlan } from "../importers/plan.ts";
import { SecretMask } from "../importers/secret-mask.ts";
import { certificatesIn, TlsRefused } from "../tls/pair.ts";
import { type Command, defineCommand, EXIT, type ProcessIo } from "./command.ts";
import { type Config, UsageError } from "./config.ts";
import { checkReason } from "./operator.ts";
import { progressTo } from "./progress.ts";
import { readSettingFile } from "./setting-file.ts";

const ALWAYS = ["source", "server", "remotePlainHttp", "overwrite", "dryRun", "verbose"] as const;
const OPTIONAL = ["tokenFile", "token", "keyFile", "key", "caFile", "defaultNetwork", "knownAs", "reason"] as const;
type ImportConfig = Config<(typeof ALWAYS)[number], (typeof OPTIONAL)[number]>;

const netbox = defineCommand(
  {
    name: "import netbox",
    summary: "imports the inventory of a NetBox into a running netledger; repeat it to import later changes.",
    always: ALWAYS,
    maybe: OPTIONAL,
    operand: "source",
  },
  (config, io) => run(config, io, (server, identity) => Netbox.open(server, identity)),
);

const phpipam = defineCommand(
  {
    name: "import phpipam",
    summary: "imports the inventory of a phpIPAM into a running netledger; repeat it to import later changes.",
    always: [...ALWAYS, "appId"],
    maybe: OPTIONAL,
    operand: "source",
  },
  (config, io) => run(config, io, (server, identity) => Phpipam.open({ ...server, appId: config.appId }, identity)),
);

export const importCommands: readonly Command[] = [netbox, phpipam];

async function run(
  config: ImportConfig,
  io: ProcessIo,
  open: (server: NetboxServer, identity: string) => Promise<ImportSource>,
): Promise<number> {
  for (const url of [config.source, config.server]) requireTls(url, config.remotePlainHttp);
  const reason = checkReason(config.reason);
  const ca = config.caFile === null ? null : await readCertificates(config.caFile, io);
  const key = await readSecret(config.key, config.keyFile, "key", io);
  const token = await readSecret(config.token, config.tokenFile, "token", io);
  const secrets = new SecretMask([key, token]);
  try {
    return await openAndImport(config, { ...io, print: (text) => io.print(secrets.text(text)) }, open, {
      ca,
      key,
      token,
      reason,
      secrets,
    });
  } catch (error) {
    throw secrets.error(error);
  }
}

interface ImportInput {
  readonly ca: string | null;
  readonly key: string;
  readonly token: string;
  readonly reason: string | null;
  readonly secrets: SecretMask;
}

async function openAndImport(
  config: ImportConfig,
  io: ProcessIo,
  open: (server: NetboxServer, identity: string) => Promise<ImportSource>,
  { ca, key, token, reason, secrets }: ImportInput,
): Promise<number> {
  const timers = systemTimers;
  const source = await open({ base: config.source, ca, timers, secrets, token }, config.knownAs ?? config.source);
  const headers = { authorization: `Bearer ${key}` };
  const client = new JsonClient({ product: "netledger", base: config.server, ca, timers, secrets, headers });
  const ledger = new Ledger(client, {
    reason: reason === null ? source.reason : `${source.reason}: ${reason}`,
    isDryRun: config.dryRun,
    run: io.random.bytes(16).toHex(),
  });
  await ledger.connect();
  const plan = new ImportPlan(config.verbose);
  const flush = async () => {
    const lines = plan.takeLines();
    if (lines !== "") await io.print(lines);
  };
  const reportProgress = progressTo(systemLog(), io.clock, "importing");
  const importRun = new ImportRun({
    source,
    ledger,
    plan,
    localChanges: new LocalChanges(ledger, source.reason),
    options: {
      defaultNetwork: config.defaultNetwork,
      overwrites: config.overwrite,
      progress: (step, done) => reportProgress({ step, done, total: null }),
      flush,
    },
    isRepeated: await ledger.hasWrittenFor(source.reason),
  });
  await importSource(importRun);
  await flush();
  await io.print(report(config, source, plan));
  return plan.total("refused") === 0 ? EXIT.done : EXIT.failed;
}

function report(config: ImportConfig, source: ImportSource, plan: ImportPlan): string {
  const title = `${source.title} at ${config.source} into ${config.server}`;
  return [
    config.dryRun ? `${title}: dry run, nothing was written` : `${title}: done`,
    "",
    plan.text(),
    "Not imported:",
    ...source.leftOut.map((each) => `  ${each}`),
    "",
  ].join("\n");
}

/**
 * Other machines are reached over a network, or through a proxy that Bun reads from the environment.
 * @throws UsageError if secrets would be sent there in plaintext
 */
function requireTls(text: string, isPlainAllowed: boolean): void {
  const { protocol, hostname } = new URL(text);
  // The address of a name below localhost depends on the resolver.
  const isLocal = isThisMachine(hostname) && !/\.localhost\.?$/i.test(hostname);
  if (protocol === "https:" || isLocal || isPlainAllowed) return;
  throw new UsageError(`${text} is not https: token, key and data could be read in transit; --plain-http permits this`);
}

/** @throws UsageError if missing */
async function readSecret(text: string | null, path: string | null, name: string, io: ProcessIo): Promise<string> {
  if (path === null && text === null)
    throw new UsageError(`--${name}-file FILE is required (or NETLEDGER_${name.toUpperCase()})`);
  const value = path === null ? (text as string) : await readSetting(path, `--${name}-file`, io);
  const line = value.replace(/\r?\n$/, "");
  // Used as a header value.
  if (!/^[\x21-\x7e]{1,1000}$/.test(line)) {
    const source = path === null ? "" : `--${name}-file ${path}: `;
    throw new UsageError(`${source}the ${name} must be one line of ASCII without spaces`);
  }
  return line;
}

async function readSetting(path: string, flag: string, io: ProcessIo): Promise<string> {
  return new TextDecoder().decode(await readSettingFile(path, flag, io));
}

/** @throws UsageError for a file without certificates */
async function readCertificates(path: string, io: ProcessIo): Promise<string> {
  const text = await readSetting(path, "--ca-file", io);
  try {
    certificatesIn(text, `--ca-file ${path}`);
  } catch (error) {
    throw error instanceof TlsRefused ? new UsageError(error.message) : error;
  }
  return text;
}
