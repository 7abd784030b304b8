// Program entry: maps the command line to a command, and its outcome to the exit status. The only place where the
// process is ended.

import { DomainError } from "./base/errors.ts";
import { EXIT } from "./cli/command.ts";
import { runtimeVariables, UsageError } from "./cli/config.ts";
import { forbidCoreFiles } from "./cli/core-files.ts";
import { handbookPage, handbookTopics } from "./cli/handbook-page.ts";
import { helpOf, helpOverview } from "./cli/help.ts";
import { printError, processIo } from "./cli/process-io.ts";
import { SUBCOMMANDS } from "./cli/subcommands.ts";
import { version } from "./cli/version.ts";
import { DatabaseRefused, PrereleaseDatabase } from "./db/files/migrate.ts";
import { readFailureOf } from "./db/sqlite-failures.ts";
import { RemoteError } from "./importers/json-client.ts";
import { ListenError } from "./server/listener.ts";

process.exit(await main(process.argv.slice(2)));

async function main(args: readonly string[]): Promise<number> {
  // Created files are readable by their owner only: the database, its log, the key.
  process.umask(0o077);
  forbidCoreFiles();
  try {
    refuseRuntimeVariables();
    return await dispatch(args);
  } catch (error) {
    return reportError(error, args);
  }
}

/** @throws UsageError */
function refuseRuntimeVariables(): void {
  const [name] = runtimeVariables();
  if (name !== undefined) throw new UsageError(`${name} is set, and would change what this program runs: unset it`);
}

async function dispatch(args: readonly string[]): Promise<number> {
  const [first = "", second = ""] = args;
  const wantsHelp = args.some((arg) => arg === "--help" || arg === "-h");
  if (first === "--version") return version.execute([], processIo);
  const matching = SUBCOMMANDS.filter(({ form }) => form.name === first || form.name.startsWith(`${first} `));
  if (matching.length === 0) {
    if (first === "help" && second !== "" && !wantsHelp) return helpAbout(args.slice(1).join(" "));
    const all = SUBCOMMANDS.map((command) => command.form);
    if (first === "help" || (wantsHelp && first.startsWith("-"))) return help(helpOverview(all, handbookTopics()));
    throw new UsageError(
      first === "" ? "a command is required" : `there is no command ${JSON.stringify(first.slice(0, 100))}`,
    );
  }
  const exactMatches = matching.filter(({ form }) => form.name === first || form.name === `${first} ${second}`);
  const forms = (exactMatches.length > 0 ? exactMatches : matching).map((command) => command.form);
  if (wantsHelp) return help(helpOf(forms));
  const command = exactMatches[0];
  if (command === undefined) throw new UsageError(`${first} is one of ${forms.map((form) => form.name).join(", ")}`);
  return command.execute(args.slice(command.form.name.split(" ").length), processIo);
}

/** A page of the handbook, or the help of a command of that name if there is no such page. */
async function helpAbout(topic: string): Promise<number> {
  const forms = SUBCOMMANDS.map((command) => command.form).filter(
    ({ name }) => name === topic || name.startsWith(`${topic} `),
  );
  const isPage = handbookTopics().some((page) => page.topic === topic);
  return help(isPage || forms.length === 0 ? handbookPage(topic, processIo.terminal) : helpOf(forms));
}

async function help(text: string): Promise<number> {
  await processIo.print(text);
  return EXIT.done;
}

/** One line for the operator, and the exit status. */
async function reportError(error: unknown, args: readonly string[]): Promise<number> {
  if (error instanceof UsageError) {
    const command = SUBCOMMANDS.find(({ form }) => form.name.split(" ")[0] === args[0])?.form.name.split(" ")[0];
    await printError(`${error.message}; see netledger ${command === undefined ? "" : `${command} `}--help`);
    return EXIT.usage;
  }
  if (error instanceof DatabaseRefused) {
    await printError(error.message);
    return error instanceof PrereleaseDatabase ? EXIT.failed : EXIT.dataRefused;
  }
  if (error instanceof RemoteError) {
    await printError(error.message);
    return EXIT.failed;
  }
  if (error instanceof ListenError) {
    await printError(error.message);
    return EXIT.notListening;
  }
  const problem = readFailureOf(error);
  if (problem !== null) {
    await printError(problem.code === "storage_full" ? `${problem.message} ${problem.cause}` : String(problem.cause));
    return problem.code === "storage_full" ? EXIT.failed : EXIT.dataRefused;
  }
  // Unexpected file-system error.
  if (error instanceof Error && "syscall" in error && "code" in error) {
    await printError(`${error.message}.`);
    return EXIT.failed;
  }
  if (error instanceof DomainError)
    await printError(error.cause === undefined ? error.message : `${error.message} ${error.cause}`);
  else await printError(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return EXIT.failed;
}
