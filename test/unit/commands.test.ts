// Command table, and the compiler's checks of its callers.

import { expect, test } from "bun:test";
import type { Author } from "../../src/db/writing/ledger.ts";
import type { WriteQueue } from "../../src/db/writing/write-queue.ts";
import type { RestoreCommands } from "../../src/history/restore/restore-commands.ts";
import type { ActorCall, Backend } from "../../src/records/backend.ts";
import {
  respondWithBulkRemoval,
  respondWithRemoval,
  respondWithWrite,
  runWrite,
} from "../../src/records/write-responses.ts";
import { COMMANDS } from "../../src/registry/commands.ts";
import type { HostCommands } from "../../src/resources/hosts/commands.ts";
import type { VlanCommands } from "../../src/resources/vlans/commands.ts";
import { vlanResource } from "../../src/resources/vlans/resource.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import type { SignInCommands } from "../../src/sessions/commands.ts";
import { readRepository } from "../support/source/syntax.ts";

const SOURCES = readRepository(["src"], (path) => path.endsWith(".ts"));

test("every command that a directory exports is in the table, under a unique name", async () => {
  const table = SOURCES["src/registry/commands.ts"] as string;
  const spread = new Set([...table.matchAll(/^ {2}\.\.\.(\w+)(?:,$|\()/gm)].map(([, name]) => name));
  const names: string[] = [];
  for (const { path } of new Bun.Transpiler({ loader: "ts" }).scanImports(table)) {
    const folder = await import(`../../src/registry/${path}`);
    // A factory returns the same names without its dependencies.
    for (const [name, commands] of Object.entries(folder))
      if (spread.delete(name)) names.push(...Object.keys(typeof commands === "function" ? commands({}) : commands));
  }
  expect([...spread]).toEqual([]);
  expect(names.sort()).toEqual(Object.keys(COMMANDS).sort());
});

/** Commands that all or many kinds have; callers build the name from a template. */
const GENERIC_COMMANDS = [".restore", ".bulk_update", ".import_csv"];

/** Calls of standardRoutes that register the route of a command, by the command's action. */
const STANDARD_ROUTES = { create: "create", update: "update", delete: "removals", bulk_delete: "removals" };

/** Commands that a directory uses through standardRoutes. */
function standardCommands(source: string): string[] {
  const name = /routesOn\(surface, backend, "(\w+)"\)/.exec(source)?.[1];
  const calls = Object.entries(STANDARD_ROUTES).filter(([, call]) => source.includes(`routes.${call}(`));
  return name === undefined ? [] : calls.map(([action]) => `${name}.${action}`);
}

test("every command is used by a route, a scan, the command line or the appliance itself", () => {
  // Ignores the declarations.
  const text = Object.values(SOURCES)
    .join("\n")
    .replaceAll(/"[\w.]+":/g, "");
  const standard = new Set(Object.values(SOURCES).flatMap(standardCommands));
  const isUsed = (name: string) =>
    standard.has(name) ||
    (GENERIC_COMMANDS.some((suffix) => name.endsWith(suffix))
      ? text.includes(`.name}${name.slice(name.indexOf("."))}\``)
      : text.includes(`"${name}"`));
  expect(Object.keys(COMMANDS).filter((name) => !isUsed(name))).toEqual([]);
});

test("the compiler rejects misspelled commands, wrong arguments, and commands of other directories", () => {
  // Never executed: each line below a comment must fail the type check.
  const typed = async (
    vlans: Backend<VlanCommands>,
    hosts: Backend<HostCommands>,
    restores: Backend<RestoreCommands>,
    sessions: WriteQueue<SignInCommands>,
    call: ActorCall & { params: { id: string }; query: { cascade?: boolean }; body: string[] },
    author: Author,
  ) => {
    const [id, body] = ["", { network_id: "", number: 7 }];
    await respondWithWrite(vlans, call, "vlan.create", { body }, vlanResource);
    // @ts-expect-error a misspelled command
    await respondWithWrite(vlans, call, "vlan.craete", { body }, vlanResource);
    // @ts-expect-error a misspelled field
    await respondWithWrite(vlans, call, "vlan.create", { bdy: body }, vlanResource);
    // @ts-expect-error a missing field
    await respondWithWrite(vlans, call, "vlan.update", { body }, vlanResource);
    // @ts-expect-error a field of another type within the body
    await respondWithWrite(vlans, call, "vlan.update", { id, body: { number: "7" } }, vlanResource);
    // @ts-expect-error a result that names no record
    await respondWithWrite(vlans, call, "vlan.bulk_delete", { ids: [id] }, vlanResource);
    // @ts-expect-error a command of another directory
    await respondWithWrite(vlans, call, "host.create", { body: { name: "" } }, vlanResource);

    await respondWithRemoval(vlans, call, "vlan.delete", vlanResource);
    // @ts-expect-error a command that removes nothing
    await respondWithRemoval(vlans, call, "vlan.update", vlanResource);
    await respondWithBulkRemoval(vlans, call, "vlan.bulk_delete", vlanResource);
    // @ts-expect-error a command that takes one record
    await respondWithBulkRemoval(vlans, call, "vlan.delete", vlanResource);

    // A large body may be passed as bytes.
    await runWrite(hosts, call, "host.create", { body: new Uint8Array() });
    // @ts-expect-error a command that does not accept bytes
    await runWrite(vlans, call, "vlan.create", { body: new Uint8Array() });

    const input = { id, at: 0, isPresent: true, dryRun: true };
    const { result } = await runWrite(restores, call, `${vlanKind.name}.restore`, input);
    // @ts-expect-error a field that no plan has
    await runWrite(restores, call, "transaction.revert", { sequence: result.sequence, dryRun: true });

    const origin = { last_used_from: "10.0.30.7", user_agent: null };
    await sessions.run("session.touch", { hash: new Uint8Array(), at: 0, origin }, author);
    // @ts-expect-error a misspelled field
    await sessions.run("session.touch", { hsh: new Uint8Array(), at: 0, origin }, author);

    const fewer: WriteQueue<Pick<SignInCommands, "key.touch">> = sessions;
    // @ts-expect-error a queue with fewer commands than required
    const more: WriteQueue<SignInCommands & VlanCommands> = sessions;
    return [fewer, more];
  };
  expect(typed).toBeFunction();
});
