// Every command and path setting with every wrong kind of file in its place: expects one sentence, the documented
// status, and no blocking. The table is generated from the command definitions.

import { Database } from "bun:sqlite";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { EXIT } from "../../../src/cli/command.ts";
import { OPTIONS, type Option, type OptionName } from "../../../src/cli/config.ts";
import { SUBCOMMANDS } from "../../../src/cli/subcommands.ts";
import { dataFiles } from "../../../src/db/files/data-directory.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "../../../src/db/files/migrate.ts";
import type { PairFiles } from "../../../src/tls/pair.ts";
import { makePair, writePair } from "../tls/certificates.ts";
import {
  type CommandResult,
  PASSWORD,
  Running,
  setUpBy,
  spawnPiped,
  UNPRIVILEGED,
  waitForExit,
  withDeadline,
} from "./executable.ts";
import { makePipe } from "./special-files.ts";

/** Kinds of entries where a file or a directory is expected. */
const KINDS = {
  "a directory": (path: string) => mkdirSync(path),
  "a named pipe": makePipe,
  "a device": (path: string) => symlinkSync("/dev/null", path),
  "a dangling link": (path: string) => symlinkSync(`${path}.not-there`, path),
  "a link to itself": (path: string) => symlinkSync(path, path),
  nothing: () => {},
  "an empty file": (path: string) => writeFileSync(path, ""),
  "a text file": (path: string) => writeFileSync(path, "a letter to somebody else\n".repeat(10)),
  "another program's database": (path: string) => makeDatabase(path, []),
  "a database that only claims to be netledger's": (path: string) =>
    makeDatabase(path, [`PRAGMA application_id = ${APPLICATION_ID}`, `PRAGMA user_version = ${SCHEMA_VERSION}`]),
  // The last schema before the first release.
  "data from before 0.2.0": (path: string) =>
    makeDatabase(path, [`PRAGMA application_id = ${APPLICATION_ID}`, "PRAGMA user_version = 35"]),
  "a file without permissions": (path: string) => writeFileSync(path, "x", { mode: 0 }),
  "a directory without permissions": (path: string) => mkdirSync(path, { mode: 0 }),
} as const;
export type KindName = keyof typeof KINDS;
const FILE_KINDS = (Object.keys(KINDS) as KindName[]).filter((kind) => kind !== "a directory without permissions");
/** Kinds in place of a database, except those for which one is created. */
const DATABASE_KINDS = FILE_KINDS.filter((kind) => kind !== "nothing" && kind !== "a dangling link");
const DIRECTORY_KINDS: readonly KindName[] = [
  "a named pipe",
  "a device",
  "a dangling link",
  "a link to itself",
  "nothing",
  "an empty file",
  "a directory without permissions",
];

/** Exit status for a kind: data from before 0.2.0 has its own. */
function refusalOf(kind: KindName, status: number = EXIT.dataRefused): number {
  return kind === "data from before 0.2.0" && status === EXIT.dataRefused ? EXIT.failed : status;
}

/** Allowed exit statuses by kind, if the command creates the file, accepts any content or does not read it. */
type AllowedStatuses = Partial<Record<KindName, readonly number[]>>;

interface Expectation {
  readonly status: number;
  readonly allowed?: AllowedStatuses;
  /** Additional arguments of the command. */
  readonly with?: readonly string[];
}

/** Exit status for a wrong file, for every path setting. */
const EXPECTATIONS: Partial<Record<OptionName, (pair: PairFiles) => Expectation>> = {
  data: () => ({ status: EXIT.dataRefused }),
  servedData: () => ({ status: EXIT.dataRefused }),
  tlsCertificate: (pair) => ({ status: EXIT.usage, with: ["--tls-key", pair.privateKey.path] }),
  tlsKey: (pair) => ({ status: EXIT.usage, with: ["--tls-certificate", pair.certificate.path] }),
  setupPasswordFile: () => ({
    status: EXIT.usage,
    with: ["--setup-organization", "A", "--setup-network", "N", "--setup-email", "a@b.example"],
  }),
  // Read only when a credential is used, which reports the error.
  secretsFolder: () => ({ status: EXIT.done }),
  console: () => ({ status: EXIT.usage }),
  passwordFile: () => ({ status: EXIT.usage }),
  tokenFile: () => ({ status: EXIT.usage }),
  keyFile: () => ({ status: EXIT.usage }),
  caFile: () => ({ status: EXIT.usage }),
  readOnly: () => ({ status: EXIT.dataRefused }),
  backup: () => ({ status: EXIT.dataRefused }),
  file: () => ({ status: EXIT.dataRefused }),
};

const NEW_FOLDER: AllowedStatuses = { nothing: [EXIT.done] };

/** Expectations for commands in which a setting has a different meaning. */
const OVERRIDES: Readonly<Record<string, Partial<Expectation>>> = {
  "serve servedData": { allowed: NEW_FOLDER },
  "setup data": { allowed: NEW_FOLDER },
  "restore data": { allowed: NEW_FOLDER },
  // The file to create; an existing file is kept.
  "backup file": {
    status: EXIT.failed,
    allowed: { nothing: [EXIT.done], "a directory": [EXIT.usage], "a link to itself": [EXIT.usage, EXIT.failed] },
  },
};

/** Allowed exit statuses by kind, for a file in place of a database whose content is examined. */
const BY_CONTENT: AllowedStatuses = {
  // Left by a start that was interrupted at its very beginning.
  "an empty file": [EXIT.done, EXIT.failed, EXIT.dataRefused],
  // Its tables are missing, which verify reports as findings.
  "a database that only claims to be netledger's": [EXIT.failed, EXIT.dataRefused],
};

/** Values of required settings that are not paths. */
const SAMPLES: Partial<Record<OptionName, string>> = {
  newOrganization: "Second",
  newNetwork: "Main",
  email: "owner@acme.example",
  role: "Viewer",
  name: "k",
  keyId: "01936f2e-0d5c-7d3a-9a39-3f6f1f7a0999",
  before: "2001-01-01",
  source: "http://127.0.0.1:1",
  appId: "app",
};

function isPath(name: OptionName): boolean {
  const { value, parse }: Option<unknown> = OPTIONS[name];
  if (value === null) return false;
  try {
    return parse("a-name") === resolve("a-name");
  } catch {
    return false;
  }
}

/** Path settings missing from this table. */
export function uncoveredSettings(): string[] {
  return (Object.keys(OPTIONS) as OptionName[]).filter((name) => isPath(name) && EXPECTATIONS[name] === undefined);
}

const isFolderSetting = (name: OptionName) => name === "data" || name === "servedData";

const SETTINGS = SUBCOMMANDS.flatMap(({ form }) =>
  [...form.always, ...form.maybe].filter(isPath).map((name) => ({ command: form.name, name })),
);

/** Additional files that an appliance keeps or may find next to its database. */
const COMPANION_FILES: readonly string[] = [
  ...Object.entries(dataFiles("/"))
    .filter(([name]) => name !== "directory" && name !== "database")
    .map(([, path]) => path.slice(1)),
  ...["-wal", "-shm", "-journal"].map((suffix) => `netledger.db${suffix}`),
  "netledger-demo.json",
];

/** One setting or file, tested with each kind of wrong file. */
export interface WrongFileRow {
  readonly name: string;
  readonly kinds: readonly KindName[];
  /** @param only kinds to test, by default all of the row @returns problems by kind */
  readonly check: (stage: WrongFileStage, only?: readonly KindName[]) => Promise<Record<string, string[]>>;
}

export const WRONG_FILE_ROWS: readonly WrongFileRow[] = [
  ...SETTINGS.map(({ command, name }) => {
    const isFolder = isFolderSetting(name) || name === "secretsFolder";
    return row(
      `netledger ${command}, ${OPTIONS[name].flag}`,
      isFolder ? DIRECTORY_KINDS : FILE_KINDS,
      (stage, kind, folder) => checkSetting(stage, command, name, kind, folder),
    );
  }),
  ...SETTINGS.filter(({ name }) => isFolderSetting(name)).map(({ command, name }) =>
    row(`netledger ${command}, the database in ${OPTIONS[name].flag}`, DATABASE_KINDS, async (stage, kind, folder) => {
      const data = dataWith(stage, folder, "netledger.db", kind);
      const before = contentsOf(data);
      const end = await stage.run(argsOf(stage, command, { [name]: data }, folder), folder);
      const byContent = BY_CONTENT[kind];
      // A restore refuses any existing data before it reads it.
      const refusal = command === "restore" ? EXIT.dataRefused : refusalOf(kind);
      const found = problems(end, byContent ?? [refusal], byContent === undefined ? [data] : []);
      return kind === "data from before 0.2.0" && contentsOf(data) !== before ? [...found, "changed the data"] : found;
    }),
  ),
  ...COMPANION_FILES.map((file) =>
    row(`netledger serve, ${file}`, FILE_KINDS, async (stage, kind, folder) => {
      const data = dataWith(stage, folder, file, kind);
      const end = await stage.run(argsOf(stage, "serve", { servedData: data }, folder, ["--tls-self-signed"]), folder);
      return problems(end, [EXIT.done, EXIT.dataRefused], []);
    }),
  ),
];

/** Valid files for all settings, and the executable. */
export class WrongFileStage {
  readonly directory: string;
  readonly executable: string;
  readonly data: string;
  readonly pair: PairFiles;
  readonly password: string;
  readonly token: string;
  readonly backup: string;

  private constructor(executable: string, directory: string, pair: PairFiles) {
    this.executable = executable;
    this.directory = directory;
    this.pair = pair;
    this.data = join(directory, "good");
    this.password = join(directory, "password");
    this.token = join(directory, "token");
    this.backup = join(directory, "good.db");
  }

  /** @param directory an empty directory */
  static async make(executable: string, directory: string): Promise<WrongFileStage> {
    const stage = new WrongFileStage(executable, directory, writePair(directory, await makePair(Date.now())));
    writeFileSync(stage.password, `${PASSWORD}\n`);
    writeFileSync(stage.token, "a-token\n");
    const run = (args: readonly string[]) => {
      const child = spawnPiped([executable, ...args, "--data", stage.data], {}, directory);
      child.stdin.end();
      return waitForExit(child, `netledger ${args.join(" ")}`);
    };
    await setUpBy(run, stage.password);
    const { code, err } = await run(["backup", stage.backup]);
    if (code !== 0) throw new Error(err);
    return stage;
  }

  /** Runs a command to completion; stops a started appliance immediately. */
  async run(args: readonly string[], folder: string): Promise<CommandResult> {
    const child = spawnPiped([...UNPRIVILEGED, this.executable, ...args], {}, folder);
    child.stdin.end();
    const running = new Running(child);
    const isServing = await Promise.race([
      running.exited.then(() => false),
      running.waitForStart().then(
        () => true,
        () => false,
      ),
    ]);
    if (args[0] === "serve" && isServing) running.kill("SIGTERM");
    return withDeadline(running.exited, args.join(" "), () => running.kill("SIGKILL"));
  }
}

type Cell = (stage: WrongFileStage, kind: KindName, folder: string) => Promise<string[]>;

/** Tests each kind in a separate directory, in parallel. */
function row(name: string, kinds: readonly KindName[], cell: Cell): WrongFileRow {
  const check = async (stage: WrongFileStage, only = kinds) => {
    const failures: Record<string, string[]> = {};
    await Promise.all(
      kinds
        .filter((kind) => only.includes(kind))
        .map(async (kind) => {
          const found = await cell(stage, kind, mkdtempSync(join(stage.directory, "cell-")));
          if (found.length > 0) failures[kind] = found;
        }),
    );
    return failures;
  };
  return { name, kinds, check };
}

async function checkSetting(
  stage: WrongFileStage,
  command: string,
  name: OptionName,
  kind: KindName,
  folder: string,
): Promise<string[]> {
  const found = EXPECTATIONS[name]?.(stage.pair);
  if (found === undefined) throw new Error(`${name} is a path setting without an entry in EXPECTATIONS`);
  const { status, allowed = {}, with: extraArgs = [] } = { ...found, ...OVERRIDES[`${command} ${name}`] };
  const path = join(folder, "wrong");
  KINDS[kind](path);
  const end = await stage.run(argsOf(stage, command, { [name]: path }, folder, extraArgs), folder);
  return problems(end, allowed[kind] ?? [refusalOf(kind, status)], allowed[kind] === undefined ? [path] : []);
}

/** Names of the files in a directory except the lock, with hashes of the regular ones. */
function contentsOf(folder: string): string {
  return readdirSync(folder)
    .filter((name) => name !== "netledger.lock")
    .sort()
    .map((name) => {
      const path = join(folder, name);
      return `${name} ${lstatSync(path).isFile() && Bun.hash(readFileSync(path))}`;
    })
    .join("\n");
}

function dataWith(stage: WrongFileStage, folder: string, file: string, kind: KindName): string {
  const data = join(folder, "data");
  cpSync(stage.data, data, { recursive: true });
  rmSync(join(data, file), { recursive: true, force: true });
  KINDS[kind](join(data, file));
  return data;
}

/** Arguments of a command with valid values for all required settings except the given ones. */
function argsOf(
  stage: WrongFileStage,
  name: string,
  given: Partial<Record<OptionName, string>>,
  folder: string,
  extraArgs: readonly string[] = [],
): string[] {
  const command = SUBCOMMANDS.find(({ form }) => form.name === name);
  if (command === undefined) throw new Error(`no command ${name}`);
  const { form } = command;
  const files: Partial<Record<OptionName, string>> = {
    data: name === "restore" ? join(folder, "restored") : stage.data,
    file: name === "backup" ? join(folder, "backup.db") : stage.backup,
    passwordFile: stage.password,
    ...(name.startsWith("import ") ? { tokenFile: stage.token, keyFile: stage.token } : {}),
    ...(name === "serve" && !("readOnly" in given) ? { servedData: join(folder, "served") } : {}),
  };
  const required = new Set([
    ...form.always.filter((option) => OPTIONS[option].fallback === null || option === "data"),
    ...(Object.keys(files) as OptionName[]).filter((option) => (form.maybe as readonly OptionName[]).includes(option)),
    ...(Object.keys(given) as OptionName[]),
  ]);
  const values = [...required].flatMap((option) => {
    const value = given[option] ?? files[option] ?? SAMPLES[option];
    if (value === undefined) throw new Error(`${name} requires ${option}: add a sample`);
    return [`--${OPTIONS[option].flag}`, value];
  });
  return [...name.split(" "), ...values, ...(name === "serve" ? ["--listen", "127.0.0.1:0"] : []), ...extraArgs];
}

/** Deviations of an exit from the expected one. */
function problems(end: CommandResult, allowed: readonly number[], paths: readonly string[]): string[] {
  const found: string[] = [];
  if (end.code === null || !allowed.includes(end.code)) found.push(`status ${end.code ?? end.signal}: ${end.err}`);
  const sentences = end.err
    .split("\n")
    .filter((line) => line !== "" && !/^\d{4}-\d\d-\d\dT\S+ (INFO|WARN) /.test(line));
  // Findings of verify are on standard output.
  if (
    end.code !== 0 &&
    end.out === "" &&
    (sentences.length !== 1 || !/^netledger: .+[.a-z)]$/.test(sentences[0] as string))
  )
    found.push(`not one sentence: ${end.err}`);
  if (/SQLiteError|^ +at |Error:/m.test(end.err)) found.push(`internal error text: ${end.err}`);
  if (end.code !== 0 && !paths.every((path) => end.err.includes(path))) found.push(`file not named: ${end.err}`);
  return found;
}

function makeDatabase(path: string, statements: readonly string[]): void {
  const db = new Database(path, { create: true, readwrite: true });
  for (const statement of ["CREATE TABLE theirs (a)", ...statements]) db.run(statement);
  db.close(true);
}
