// Command table, and the compiler's checks of its callers.

import { expect, test } from "bun:test";
import type { Author } from "../../src/db/writing/ledger.ts";
import type { WriteQueue } from "../../src/db/writing/write-queue.ts";
import type { RestoreCommands } from "../../src/history/restore/restore-commands.ts";
import type { ActorCall, Backend } from "../../src/records/backend.ts";
import { answerBulkRemoval, answerRemoval, answerWrite, runWrite } from "../../src/records/write-answers.ts";
import { COMMANDS } from "../../src/registry/commands.ts";
import type { HostCommands } from "../../src/resources/hosts/commands.ts";
import type { VlanCommands } from "../../src/resources/vlans/commands.ts";
import { vlanResource } from "../../src/resources/vlans/resource.ts";
import { vlanKind } from "../../src/resources/vlans/vlan.ts";
import type { SignInCommands } from "../../src/sessions/commands.ts";
import { readRepository } from "../support/source/syntax.ts";

const SOURCES = readRepository(["src"], (path) => path.endsWith(".ts"));

test("every command of a folder is in the table, under a unique name", async () => {
  const table = SOURCES["src/registry/commands.ts"] as string;
  const spread = new Set([...table.matchAll(/^ {2}\.\.\.(\w+)(?:,$|\()/gm)].map(([, name]) => name));
  const names: string[] = [];
  for (const { path } of new Bun.Transpiler({ loader: "ts" }).scanImports(table)) {
    const folder = await import(`../../src/registry/${path}`);
    // Factories with injected dependencies have the same names without them.
    for (const [name, commands] of Object.entries(folder))
      if (spread.delete(name)) names.push(...Object.keys(typeof commands === "function" ? commands({}) : commands));
  }
  expect([...spread]).toEqual([]);
  expect(names.sort()).toEqual(Object.keys(COMMANDS).sort());
});

/** Commands of all or many kinds: one line covers them. */
const OF_EVERY_KIND = [".restore", ".bulk_update", ".import_csv"];

test("every command is used by a route, a scan, the command line or the appliance itself", () => {
  // Except for the declarations.
  const text = Object.values(SOURCES)
    .join("\n")
    .replaceAll(/"[\w.]+":/g, "");
  const isAsked = (name: string) =>
    OF_EVERY_KIND.some((of) => name.endsWith(of))
      ? text.includes(`.name}${name.slice(name.indexOf("."))}\``)
      : text.includes(`"${name}"`);
  expect(Object.keys(COMMANDS).filter((name) => !isAsked(name))).toEqual([]);
});

test("the compiler rejects a misspelled command, wrong arguments, and one of another folder", () => {
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
    await answerWrite(vlans, call, "vlan.create", { body }, vlanResource);
    // @ts-expect-error a misspelled command
    await answerWrite(vlans, call, "vlan.craete", { body }, vlanResource);
    // @ts-expect-error a misspelled field
    await answerWrite(vlans, call, "vlan.create", { bdy: body }, vlanResource);
    // @ts-expect-error a missing field
    await answerWrite(vlans, call, "vlan.update", { body }, vlanResource);
    // @ts-expect-error a field of another type within the body
    await answerWrite(vlans, call, "vlan.update", { id, body: { number: "7" } }, vlanResource);
    // @ts-expect-error a result that names no record
    await answerWrite(vlans, call, "vlan.bulk_delete", { ids: [id] }, vlanResource);
    // @ts-expect-error a command of another folder
    await answerWrite(vlans, call, "host.create", { body: { name: "" } }, vlanResource);

    await answerRemoval(vlans, call, "vlan.delete", vlanResource);
    // @ts-expect-error a command that removes nothing
    await answerRemoval(vlans, call, "vlan.update", vlanResource);
    await answerBulkRemoval(vlans, call, "vlan.bulk_delete", vlanResource);
    // @ts-expect-error a command that takes one record
    await answerBulkRemoval(vlans, call, "vlan.delete", vlanResource);

    // A large body may be passed as bytes.
    await runWrite(hosts, call, "host.create", { body: new Uint8Array() });
    // @ts-expect-error where the command does not take them
    await runWrite(vlans, call, "vlan.create", { body: new Uint8Array() });

    const { result } = await runWrite(restores, call, `${vlanKind.name}.restore`, {
      id,
      at: 0,
      isPresent: true,
      dryRun: true,
    });
    // @ts-expect-error a field that no plan has
    await runWrite(restores, call, "transaction.revert", { sequence: result.sequence, dryRun: true });

    const origin = { last_used_from: "10.0.30.7", user_agent: null };
    await sessions.run("session.touch", { hash: new Uint8Array(), at: 0, origin }, author);
    // @ts-expect-error a misspelled field
    await sessions.run("session.touch", { hsh: new Uint8Array(), at: 0, origin }, author);

    const fewer: WriteQueue<Pick<SignInCommands, "key.touch">> = sessions;
    // @ts-expect-error a queue that runs less than is asked for
    const more: WriteQueue<SignInCommands & VlanCommands> = sessions;
    return [fewer, more];
  };
  expect(typed).toBeFunction();
});
