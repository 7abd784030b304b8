// Testbed for security tests: an appliance with two organizations, users of every role and an API key. All its secrets
// are known, so that they can be searched for.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  type CommandResult,
  Running,
  setUpBy,
  spawnPiped,
  waitForExit,
} from "../../../test/support/executable/executable.ts";
import type { ProofContext } from "../part.ts";
import { type Header, jsonField, type RawRequest, type RawResponse, sendRaw, sessionOf } from "./raw-client.ts";

/** Plausible password that occurs nowhere else in the searched data. */
export const OWNER_PASSWORD = "vKq7 canary owner phrase Zp3x";
export const PERSON_PASSWORD = "Hh2m canary person phrase Ww8t";
export const OWNER_EMAIL = "owner@acme.example";
export const MEMBER_EMAIL = "member@acme.example";
export const DISABLED_EMAIL = "disabled@acme.example";
export const STRANGER_EMAIL = "owner@other.example";

export type Json = Record<string, any>;

export class Testbed {
  readonly context: ProofContext;
  readonly folder: string;
  readonly data: string;
  /** Output and logs of all finished runs of the appliance. */
  readonly logs: string[] = [];
  private current: Running | null = null;

  /** @param name name of a directory for this testbed alone */
  constructor(context: ProofContext, name: string) {
    this.context = context;
    this.folder = join(context.directory, name);
    this.data = join(this.folder, "data");
    mkdirSync(this.folder, { recursive: true });
  }

  get running(): Running {
    if (this.current === null) throw new Error("the appliance is not running");
    return this.current;
  }

  get port(): number {
    return Number(new URL(this.running.url).port);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a subcommand on the data while no appliance is running. @throws Error if it fails */
  async run(args: readonly string[], input = ""): Promise<CommandResult> {
    const child = this.spawn([...args, "--data", this.data]);
    child.stdin.write(input);
    child.stdin.end();
    const result = await waitForExit(child, `netledger ${args[0]}`);
    if (result.code !== 0) throw new Error(`netledger ${args.join(" ")}: ${result.err}`);
    return result;
  }

  /**
   * @param args arguments of `serve` in addition to the directory and the address
   * @param redirection redirection of the streams, in shell syntax
   */
  async start(args: readonly string[] = [], listen = "127.0.0.1:0", redirection = ""): Promise<void> {
    const child = this.spawn(["serve", "--data", this.data, "--listen", listen, ...args], redirection);
    child.stdin.end();
    this.current = new Running(child);
    await this.current.waitForStart();
  }

  async stop(): Promise<void> {
    if (this.current === null) return;
    const { out, err } = await this.current.stop();
    this.logs.push(out, err);
    this.current = null;
  }

  /** Kills the appliance, if it is running. */
  async close(): Promise<void> {
    if (this.current === null) return;
    this.current.kill("SIGKILL");
    await this.current.exited;
    this.current = null;
  }

  request(request: RawRequest): Promise<RawResponse> {
    return sendRaw(this.port, request);
  }

  /** Sends JSON, or a string unchanged. */
  send(
    method: string,
    path: string,
    body: unknown,
    headers: readonly Header[] = [],
    source?: string,
  ): Promise<RawResponse> {
    const from = source === undefined ? {} : { source };
    if (body === undefined) return this.request({ method, path, headers, ...from });
    const content = typeof body === "string" ? body : JSON.stringify(body);
    const withType: Header[] = [["Content-Type", "application/json"], ...headers];
    return this.request({ method, path, headers: withType, body: content, ...from });
  }

  as(header: Header): Caller {
    return new Caller((...args) => this.send(...args), header);
  }

  /** Signs in. @returns a caller with the session @throws Error if the sign-in fails */
  async signedIn(email: string, password: string, source?: string): Promise<Caller> {
    return this.as(await this.cookieOf(email, password, source));
  }

  asOwner(source?: string): Promise<Caller> {
    return this.signedIn(OWNER_EMAIL, OWNER_PASSWORD, source);
  }

  asMember(source?: string): Promise<Caller> {
    return this.signedIn(MEMBER_EMAIL, PERSON_PASSWORD, source);
  }

  signIn(email: string, password: string, source?: string, headers: readonly Header[] = []): Promise<RawResponse> {
    return this.send("POST", "/api/auth/login", { email, password }, headers, source);
  }

  /** Signs in. @returns the Cookie header @throws Error if the sign-in fails */
  async cookieOf(email: string, password: string, source?: string): Promise<Header> {
    const response = await this.signIn(email, password, source);
    const session = sessionOf(response);
    if (response.status !== 200 || session === null) throw new Error(`${email} could not sign in: ${response.text}`);
    return ["Cookie", `session_id=${session}`];
  }

  private spawn(args: readonly string[], redirection = "") {
    // Core files are allowed here, so that only the program can prevent them.
    const shell = ["/bin/sh", "-c", `ulimit -S -c "$(ulimit -H -c)"; exec "$0" "$@" ${redirection}`];
    return spawnPiped([...shell, this.context.executable, ...args], {}, this.folder);
  }
}

export type Send = (method: string, path: string, body: unknown, headers: readonly Header[]) => Promise<RawResponse>;

/** Sends requests with a header, such as a session cookie. Paths without a leading slash are relative to `/api/v1/`. */
export class Caller {
  readonly header: Header;
  private readonly sendWith: Send;

  constructor(send: Send, header: Header) {
    this.sendWith = send;
    this.header = header;
  }

  get(path: string, ...headers: Header[]): Promise<RawResponse> {
    return this.send("GET", path, undefined, ...headers);
  }

  post(path: string, body?: unknown, ...headers: Header[]): Promise<RawResponse> {
    return this.send("POST", path, body, ...headers);
  }

  put(path: string, body: unknown, ...headers: Header[]): Promise<RawResponse> {
    return this.send("PUT", path, body, ...headers);
  }

  delete(path: string): Promise<RawResponse> {
    return this.send("DELETE", path);
  }

  send(method: string, path: string, body?: unknown, ...headers: Header[]): Promise<RawResponse> {
    return this.sendWith(method, path.startsWith("/") ? path : `/api/v1/${path}`, body, [this.header, ...headers]);
  }
}

/** Returns `data` of a response. @throws Error for any status but 200 */
export function dataOf(response: RawResponse): Json {
  if (response.status !== 200) throw new Error(`${response.status}: ${response.text}`);
  return jsonField(response, "data") as Json;
}

export interface People {
  readonly organizationId: string;
  readonly networkId: string;
  readonly memberId: string;
  readonly disabledId: string;
  /** Caller with an API key of the Owner, which has the Owner's permissions. */
  readonly byKey: Caller;
  readonly keyText: string;
}

/** Creates two organizations, starts the appliance, and creates users. A subcommand creates the Owner's key. */
export async function populate(testbed: Testbed, args: readonly string[] = []): Promise<People> {
  const ownerFile = testbed.path("owner-password");
  writeFileSync(ownerFile, `${OWNER_PASSWORD}\n`, { mode: 0o600 });
  const run = (runArgs: readonly string[]) => testbed.run(runArgs);
  const { key: keyText, networkId, organizationId } = await setUpBy(run, ownerFile);
  await setUpBy(run, ownerFile, { organization: "Other", network: "Theirs", email: STRANGER_EMAIL });
  await testbed.start(args);
  const byKey = testbed.as(bearer(keyText));
  const createUser = async (fields: Json) =>
    dataOf(await byKey.post("users", { password: PERSON_PASSWORD, network_ids: [networkId], ...fields }));
  const member = await createUser({ email: MEMBER_EMAIL, role: "Member" });
  const disabled = await createUser({ email: DISABLED_EMAIL, role: "Member", is_enabled: false });
  return { organizationId, networkId, memberId: member.id, disabledId: disabled.id, byKey, keyText };
}

export function bearer(key: string): Header {
  return ["Authorization", `Bearer ${key}`];
}

/** Changes fields of the Member, keeping the others. */
export async function changeMember(
  { memberId, byKey }: People,
  fields: Json,
  caller: Caller = byKey,
): Promise<RawResponse> {
  return caller.put(`users/${memberId}`, { ...dataOf(await byKey.get(`users/${memberId}`)), ...fields });
}

/** Request body for an API key of the Member. */
export function keyBody({ organizationId, memberId }: People, name: string, permissions: string): Json {
  return { organization_id: organizationId, user_id: memberId, name, permissions, tags: [] };
}

/** Returns a function whose every call returns another loopback address. */
export function sources(): () => string {
  let next = 0;
  return () => {
    next += 1;
    return `127.${1 + (Math.floor(next / 62_500) % 250)}.${Math.floor(next / 250) % 250}.${1 + (next % 250)}`;
  };
}
