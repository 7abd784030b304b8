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
import { type Finished, finished, PASSWORD, Running, setUpBy, spawnPiped, withDeadline } from "./executable.ts";
import { makePipe } from "./special-files.ts";

/** Kinds of entries where a file or a folder is expected. */
const KINDS = {
  "a folder": (path: string) => mkdirSync(path),
  "a named pipe": makePipe,
  "a device": (path: string) => symlinkSync("/dev/null", path),
  "a link that leads nowhere": (path: string) => symlinkSync(`${path}.not-there`, path),
  "a link to itself": (path: string) => symlinkSync(path, path),
  nothing: () => {},
  "an empty file": (path: string) => writeFileSync(path, ""),
  "a text": (path: string) => writeFileSync(path, "a letter to somebody else\n".repeat(10)),
  "another program's database": (path: string) => makeDatabase(path, []),
  "a database that only says it is ours": (path: string) =>
    makeDatabase(path, [`PRAGMA application_id = ${APPLICATION_ID}`, `PRAGMA user_version = ${SCHEMA_VERSION}`]),
  // Of the last schema before the first release.
  "data from before 0.2.0": (path: string) =>
    makeDatabase(path, [`PRAGMA application_id = ${APPLICATION_ID}`, "PRAGMA user_version = 35"]),
  "a file without rights": (path: string) => writeFileSync(path, "x", { mode: 0 }),
  "a folder without rights": (path: string) => mkdirSync(path, { mode: 0 }),
} as const;
export type KindName = keyof typeof KINDS;
const FILE_KINDS = (Object.keys(KINDS) as KindName[]).filter((kind) => kind !== "a folder without rights");
/** In place of a database; where none exists, one is created. */
const DATABASE_KINDS = FILE_KINDS.filter((kind) => kind !== "nothing" && kind !== "a link that leads nowhere");
const FOLDER_KINDS: readonly KindName[] = [
  "a named pipe",
  "a device",
  "a link that leads nowhere",
  "a link to itself",
  "nothing",
  "an empty file",
  "a folder without rights",
];

/** Refused like other wrong files, with its own status. */
function refusalOf(kind: KindName, status: number = EXIT.dataRefused): number {
  return kind === "data from before 0.2.0" && status === EXIT.dataRefused ? EXIT.failed : status;
}

/** Allowed exit statuses by kind, where the file is to be created, its content is arbitrary, or it is not read. */
type Right = Partial<Record<KindName, readonly number[]>>;

interface Place {
  readonly status: number;
  readonly right?: Right;
  /** Further arguments of the same command. */
  readonly with?: readonly string[];
}

/** Exit status for a wrong file, for every path setting. */
const PLACES: Partial<Record<OptionName, (pair: PairFiles) => Place>> = {
  data: () => ({ status: EXIT.dataRefused }),
  servedData: () => ({ status: EXIT.dataRefused }),
  tlsCertificate: (pair) => ({ status: EXIT.usage, with: ["--tls-key", pair.privateKey.path] }),
  tlsKey: (pair) => ({ status: EXIT.usage, with: ["--tls-certificate", pair.certificate.path] }),
  setupPasswordFile: () => ({
    status: EXIT.usage,
    with: ["--setup-organization", "A", "--setup-network", "N", "--setup-email", "a@b.example"],
  }),
  // Read when a credential is used; that reports the error.
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

const NEW_FOLDER: Right = { nothing: [EXIT.done] };

/** Commands with a different meaning of a setting. */
const OTHERWISE: Readonly<Record<string, Partial<Place>>> = {
  "serve servedData": { right: NEW_FOLDER },
  "setup data": { right: NEW_FOLDER },
  "restore data": { right: NEW_FOLDER },
  // The file to create. An existing one is kept.
  "backup file": {
    status: EXIT.failed,
    right: { nothing: [EXIT.done], "a folder": [EXIT.usage], "a link to itself": [EXIT.usage, EXIT.failed] },
  },
};

/** A file in place of a database may be judged by its content. */
const BY_CONTENT: Right = {
  // As left by a start that was interrupted at its very beginning.
  "an empty file": [EXIT.done, EXIT.failed, EXIT.dataRefused],
  // Its tables are missing, which verify reports as findings.
  "a database that only says it is ours": [EXIT.failed, EXIT.dataRefused],
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
export function settingsLeftOut(): string[] {
  return (Object.keys(OPTIONS) as OptionName[]).filter((name) => isPath(name) && PLACES[name] === undefined);
}

const isOfFolder = (name: OptionName) => name === "data" || name === "servedData";

const SETTINGS = SUBCOMMANDS.flatMap(({ form }) =>
  [...form.always, ...form.maybe].filter(isPath).map((name) => ({ command: form.name, name })),
);

/** Further files that an appliance keeps or may find next to its database. */
const BESIDE: readonly string[] = [
  ...Object.entries(dataFiles("/"))
    .filter(([name]) => name !== "directory" && name !== "database")
    .map(([, path]) => path.slice(1)),
  ...["-wal", "-shm", "-journal"].map((suffix) => `netledger.db${suffix}`),
  "netledger-demo.json",
];

/** One place, tested with each kind: problems by kind. */
export interface WrongFileRow {
  readonly name: string;
  readonly kinds: readonly KindName[];
  /** @param only some kinds; by default all of the row */
  readonly tried: (stage: WrongFileStage, only?: readonly KindName[]) => Promise<Record<string, string[]>>;
}

export const WRONG_FILE_ROWS: readonly WrongFileRow[] = [
  ...SETTINGS.map(({ command, name }) => {
    const isFolder = isOfFolder(name) || name === "secretsFolder";
    return row(
      `netledger ${command}, ${OPTIONS[name].flag}`,
      isFolder ? FOLDER_KINDS : FILE_KINDS,
      (stage, kind, folder) => setting(stage, command, name, kind, folder),
    );
  }),
  ...SETTINGS.filter(({ name }) => isOfFolder(name)).map(({ command, name }) =>
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
  ...BESIDE.map((file) =>
    row(`netledger serve, ${file}`, FILE_KINDS, async (stage, kind, folder) => {
      const data = dataWith(stage, folder, file, kind);
      const end = await stage.run(argsOf(stage, "serve", { servedData: data }, folder, ["--tls-self-signed"]), folder);
      return problems(end, [EXIT.done, EXIT.dataRefused], []);
    }),
  ),
];

/** Valid files of all kinds, and the executable. */
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

  /** @param directory an empty folder */
  static async make(executable: string, directory: string): Promise<WrongFileStage> {
    const stage = new WrongFileStage(executable, directory, writePair(directory, await makePair(Date.now())));
    writeFileSync(stage.password, `${PASSWORD}\n`);
    writeFileSync(stage.token, "a-token\n");
    const run = (args: readonly string[]) => {
      const child = spawnPiped([executable, ...args, "--data", stage.data], {}, directory);
      child.stdin.end();
      return finished(child, `netledger ${args.join(" ")}`);
    };
    await setUpBy(run, stage.password);
    const { code, err } = await run(["backup", stage.backup]);
    if (code !== 0) throw new Error(err);
    return stage;
  }

  /** Exit of a command; a started appliance is stopped at once. */
  async run(args: readonly string[], folder: string): Promise<Finished> {
    const child = spawnPiped([...LIKE_OTHERS, this.executable, ...args], {}, folder);
    child.stdin.end();
    const running = new Running(child);
    const isServing = await Promise.race([
      running.exited.then(() => false),
      running.greeted().then(
        () => true,
        () => false,
      ),
    ]);
    if (args[0] === "serve" && isServing) running.kill("SIGTERM");
    return withDeadline(running.exited, args.join(" "), () => running.kill("SIGKILL"));
  }
}

type Cell = (stage: WrongFileStage, kind: KindName, folder: string) => Promise<string[]>;

/** Each kind in a separate folder, some in parallel. */
function row(name: string, kinds: readonly KindName[], cell: Cell): WrongFileRow {
  const tried = async (stage: WrongFileStage, only = kinds) => {
    const wrong: Record<string, string[]> = {};
    await Promise.all(
      kinds
        .filter((kind) => only.includes(kind))
        .map(async (kind) => {
          const found = await cell(stage, kind, mkdtempSync(join(stage.directory, "cell-")));
          if (found.length > 0) wrong[kind] = found;
        }),
    );
    return wrong;
  };
  return { name, kinds, tried };
}

async function setting(
  stage: WrongFileStage,
  command: string,
  name: OptionName,
  kind: KindName,
  folder: string,
): Promise<string[]> {
  const found = PLACES[name]?.(stage.pair);
  if (found === undefined) throw new Error(`${name} is a path: say what a wrong file there comes to`);
  const { status, right = {}, with: also = [] } = { ...found, ...OTHERWISE[`${command} ${name}`] };
  const path = join(folder, "it");
  KINDS[kind](path);
  const end = await stage.run(argsOf(stage, command, { [name]: path }, folder, also), folder);
  return problems(end, right[kind] ?? [refusalOf(kind, status)], right[kind] === undefined ? [path] : []);
}

/** Names, and bytes if readable, of the files in a folder, without the lock. */
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
  also: readonly string[] = [],
): string[] {
  const command = SUBCOMMANDS.find(({ form }) => form.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  const { form } = command;
  const files: Partial<Record<OptionName, string>> = {
    data: name === "restore" ? join(folder, "restored") : stage.data,
    file: name === "backup" ? join(folder, "backup.db") : stage.backup,
    passwordFile: stage.password,
    ...(name.startsWith("import ") ? { tokenFile: stage.token, keyFile: stage.token } : {}),
    ...(name === "serve" && !("readOnly" in given) ? { servedData: join(folder, "served") } : {}),
  };
  const wanted = new Set([
    ...form.always.filter((each) => OPTIONS[each].fallback === null || each === "data"),
    ...(Object.keys(files) as OptionName[]).filter((each) => (form.maybe as readonly OptionName[]).includes(each)),
    ...(Object.keys(given) as OptionName[]),
  ]);
  const values = [...wanted].flatMap((each) => {
    const value = given[each] ?? files[each] ?? SAMPLES[each];
    if (value === undefined) throw new Error(`${name} requires ${each}: give a sample of it`);
    return [`--${OPTIONS[each].flag}`, value];
  });
  return [...name.split(" "), ...values, ...(name === "serve" ? ["--listen", "127.0.0.1:0"] : []), ...also];
}

/** Root may open everything; without these capabilities it has the rights of other users. */
const LIKE_OTHERS =
  process.getuid?.() === 0
    ? ["setpriv", "--inh-caps=-dac_override,-dac_read_search", "--bounding-set=-dac_override,-dac_read_search"]
    : [];

/** Deviations of an exit from the expected one. */
function problems(end: Finished, allowed: readonly number[], named: readonly string[]): string[] {
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
  if (/SQLiteError|^ +at |Error:/m.test(end.err)) found.push(`the program's own words: ${end.err}`);
  if (end.code !== 0 && !named.every((path) => end.err.includes(path))) found.push(`names no file: ${end.err}`);
  return found;
}

function makeDatabase(path: string, statements: readonly string[]): void {
  const db = new Database(path, { create: true, readwrite: true });
  for (const each of ["CREATE TABLE theirs (a)", ...statements]) db.run(each);
  db.close(true);
}
