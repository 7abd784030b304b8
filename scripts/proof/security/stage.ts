// Appliance with two organizations, users of every role and a key, for one chapter of the proof. Its secrets are known,
// so that they can be searched for.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Finished, finished, Running, setUpBy, spawnPiped } from "../../../test/support/executable/executable.ts";
import type { Proving } from "../part.ts";
import { askRaw, memberOf, type RawAnswer, type RawRequest, sessionOf } from "./raw-client.ts";

/** A plausible password that occurs nowhere else in the searched data. */
export const OWNER_PASSWORD = "vKq7 canary owner phrase Zp3x";
export const PERSON_PASSWORD = "Hh2m canary person phrase Ww8t";
export const OWNER_EMAIL = "owner@acme.example";
export const MEMBER_EMAIL = "member@acme.example";
export const DISABLED_EMAIL = "disabled@acme.example";
export const STRANGER_EMAIL = "owner@other.example";

export type Json = Record<string, any>;

export class Stage {
  readonly proving: Proving;
  readonly folder: string;
  readonly data: string;
  /** Logs and output of all starts. */
  readonly logs: string[] = [];
  private current: Running | null = null;

  /** @param name of a separate folder */
  constructor(proving: Proving, name: string) {
    this.proving = proving;
    this.folder = join(proving.directory, name);
    this.data = join(this.folder, "data");
    mkdirSync(this.folder, { recursive: true });
  }

  get running(): Running {
    if (this.current === null) throw new Error("the appliance does not run");
    return this.current;
  }

  get port(): number {
    return Number(new URL(this.running.url).port);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a subcommand on the data while no appliance runs. @throws Error on failure */
  async run(args: readonly string[], input = ""): Promise<Finished> {
    const child = this.spawn([...args, "--data", this.data]);
    child.stdin.write(input);
    child.stdin.end();
    const end = await finished(child, `netledger ${args[0]}`);
    if (end.code !== 0) throw new Error(`netledger ${args.join(" ")}: ${end.err}`);
    return end;
  }

  /**
   * @param args of `serve` in addition to the folder and the address
   * @param redirection of its streams, in shell syntax
   */
  async start(args: readonly string[] = [], listen = "127.0.0.1:0", redirection = ""): Promise<void> {
    const child = this.spawn(["serve", "--data", this.data, "--listen", listen, ...args], redirection);
    child.stdin.end();
    this.current = new Running(child);
    await this.current.greeted();
  }

  async stop(): Promise<void> {
    if (this.current === null) return;
    const { out, err } = await this.current.stop();
    this.logs.push(out, err);
    this.current = null;
  }

  /** Ends running processes in any state. */
  async close(): Promise<void> {
    if (this.current === null) return;
    this.current.kill("SIGKILL");
    await this.current.exited;
    this.current = null;
  }

  ask(request: RawRequest): Promise<RawAnswer> {
    return askRaw(this.port, request);
  }

  /** Sends JSON with custom headers. */
  send(
    method: string,
    path: string,
    body: unknown,
    headers: RawRequest["headers"] = [],
    source?: string,
  ): Promise<RawAnswer> {
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
    const typed: [string, string][] = body === undefined ? [] : [["Content-Type", "application/json"]];
    return this.ask({
      method,
      path,
      headers: [...typed, ...headers],
      ...sent,
      ...(source === undefined ? {} : { source }),
    });
  }

  signIn(email: string, password: string, source?: string, headers: RawRequest["headers"] = []): Promise<RawAnswer> {
    return this.send("POST", "/api/auth/login", { email, password }, headers, source);
  }

  /** Cookie header after a sign-in. @throws Error on failure */
  async cookieOf(email: string, password: string, source?: string): Promise<[string, string]> {
    const answer = await this.signIn(email, password, source);
    const session = sessionOf(answer);
    if (answer.status !== 200 || session === null) throw new Error(`${email} could not sign in: ${answer.text}`);
    return ["Cookie", `session_id=${session}`];
  }

  private spawn(args: readonly string[], redirection = "") {
    // Core files are permitted here, so that only the program prevents them.
    const shell = ["/bin/sh", "-c", `ulimit -S -c "$(ulimit -H -c)"; exec "$0" "$@" ${redirection}`];
    return spawnPiped([...shell, this.proving.executable, ...args], {}, this.folder);
  }
}

/** `data` of an answer. @throws Error without success */
export function dataOf(answer: RawAnswer): Json {
  if (answer.status !== 200) throw new Error(`${answer.status}: ${answer.text}`);
  return memberOf(answer, "data") as Json;
}

export interface People {
  readonly organizationId: string;
  readonly networkId: string;
  readonly memberId: string;
  readonly disabledId: string;
  /** Of the Owner, with the Owner's rights. */
  readonly key: readonly [string, string];
  readonly keyText: string;
}

/** Creates two organizations and their users, and starts the appliance. A subcommand creates the Owner's key. */
export async function populate(stage: Stage, args: readonly string[] = []): Promise<People> {
  const ownerFile = stage.path("owner-password");
  writeFileSync(ownerFile, `${OWNER_PASSWORD}\n`, { mode: 0o600 });
  const run = (more: readonly string[]) => stage.run(more);
  const { key: keyText, networkId, organizationId } = await setUpBy(run, ownerFile);
  await setUpBy(run, ownerFile, { organization: "Other", network: "Theirs", email: STRANGER_EMAIL });
  await stage.start(args);
  const key = ["Authorization", `Bearer ${keyText}`] as const;
  const person = async (fields: Json) =>
    dataOf(
      await stage.send("POST", "/api/v1/users", { password: PERSON_PASSWORD, network_ids: [networkId], ...fields }, [
        key,
      ]),
    );
  const member = await person({ email: MEMBER_EMAIL, role: "Member" });
  const disabled = await person({ email: DISABLED_EMAIL, role: "Member", is_enabled: false });
  return {
    organizationId,
    networkId,
    memberId: member.id,
    disabledId: disabled.id,
    key,
    keyText,
  };
}

/** Changes fields of the Member. */
export async function changeMember(
  stage: Stage,
  { memberId, key }: People,
  fields: Json,
  by: readonly [string, string] = key,
): Promise<RawAnswer> {
  const path = `/api/v1/users/${memberId}`;
  return stage.send("PUT", path, { ...dataOf(await stage.send("GET", path, undefined, [key])), ...fields }, [by]);
}

/** Body of an API key for the Member. */
export function keyBody({ organizationId, memberId }: People, name: string, permissions: string): Json {
  return { organization_id: organizationId, user_id: memberId, name, permissions, tags: [] };
}

/** Loopback addresses, each returned once. */
export function sources(): () => string {
  let next = 0;
  return () => {
    next += 1;
    return `127.${1 + (Math.floor(next / 62_500) % 250)}.${Math.floor(next / 250) % 250}.${1 + (next % 250)}`;
  };
}
