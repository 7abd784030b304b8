// Known secrets of every kind, sent through every path, and then searched for in all storage and output.

import { Database } from "bun:sqlite";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AuthProtocols, PrivProtocols, SecurityLevel, type User } from "net-snmp";
import { systemRandom } from "../../../src/base/random.ts";
import { SecretBox } from "../../../src/base/secret-box.ts";
import { secretContext } from "../../../src/resources/credentials/secrets.ts";
import { seededRandom } from "../../../test/support/injected/seeded-random.ts";
import { HANG_MS } from "../../../test/support/measure/limits.ts";
import { startAgent } from "../../../test/support/snmp/agent.ts";
import { startV3Agent } from "../../../test/support/snmp/v3-agent.ts";
import { viewOf } from "../../../test/support/snmp/view.ts";
import { communityCredential } from "../../benchmark/requests.ts";
import type { Finding, ProofContext } from "../part.ts";
import { texts } from "../string-list.ts";
import { misplacedCredentials } from "./misplaced-credentials.ts";
import { type Header, jsonField, type RawResponse, sessionOf } from "./raw-client.ts";
import {
  accessibleByOthers,
  describeMatches,
  encodingsOf,
  filesBelow,
  type Match,
  type SearchTarget,
  search,
} from "./secret-search.ts";
import { bearer, Caller, dataOf, type Json, OWNER_EMAIL, Testbed } from "./testbed.ts";

const AGENTS = {
  text: { v3: "127.16.77.3", community: "127.16.77.2" },
  json: { v3: "127.16.78.3", community: "127.16.78.2" },
} as const;
const FILE = "switches/community";
/** Idempotency-Keys of the requests that return an API key. */
const REPEATED = ["a-key", "a-rotation"] as const;

export async function proveSecrets(context: ProofContext): Promise<{ findings: Finding[]; skipped: string[] }> {
  // In parallel, as most of the time is spent waiting for silent devices.
  const trials = (["text", "json"] as const).map((format) => new SecretsTrial(context, format).prove());
  return {
    findings: (await Promise.all(trials)).flat(),
    skipped: [
      "The memory of the running process holds secrets while they are used, like any program's: whoever can read it (root, the same user) can read the key file as well.",
    ],
  };
}

/** Trial of one appliance with one log format, from its first start to its exit. */
class SecretsTrial {
  private readonly testbed: Testbed;
  private readonly format: "text" | "json";
  private readonly isShort: boolean;
  private readonly random;
  /** Secrets that must not be found anywhere, by name. */
  private readonly secrets = new Map<string, string>();
  /** All responses except those that return an API key. */
  private readonly responses: SearchTarget[] = [];
  private readonly proc: SearchTarget[] = [];

  constructor(context: ProofContext, format: "text" | "json") {
    this.testbed = new Testbed(context, `secrets-${format}`);
    this.format = format;
    this.isShort = context.form === "short";
    this.random = seededRandom(context.seed + format.length);
  }

  async prove(): Promise<Finding[]> {
    const { testbed } = this;
    const secretsFolder = testbed.path("secrets");
    mkdirSync(join(secretsFolder, "switches"), { recursive: true });
    writeFileSync(join(secretsFolder, FILE), `${this.createSecret("secret file")}\n`);
    const v3Auth = this.createSecret("SNMPv3 auth password");
    const v3Priv = this.createSecret("SNMPv3 priv password");
    const community = this.createSecret("v2c community");
    const view = (name: string) => () =>
      viewOf({
        "1.3.6.1.2.1.1.1.0": "a switch",
        "1.3.6.1.2.1.1.5.0": name,
        "1.3.6.1.2.1.1.2.0": { oid: "1.3.6.1.4.1.99999.1" },
      });
    const user: User = {
      name: "auditor",
      level: SecurityLevel.authPriv,
      authProtocol: AuthProtocols.sha,
      authKey: v3Auth,
      privProtocol: PrivProtocols.aes,
      privKey: v3Priv,
    };
    const addresses = AGENTS[this.format];
    const v3Agent = await startV3Agent({ address: addresses.v3, users: [user], contexts: { "": view("three") } });
    const { port } = v3Agent;
    const communities = { [this.secrets.get("secret file") as string]: view("two") };
    const agent = await startAgent({ address: addresses.community, port, communities });
    try {
      const args = ["--log-format", this.format, "--secrets-folder", secretsFolder];
      await testbed.start([...args, "--snmp-port", String(port), "--scan-tcp-ports", "9"]);
      const owner = await this.claim();
      await this.people(owner);
      const keys = await this.keys(owner);
      const credentials = await this.credentials(owner, { v3Auth, v3Priv, community });
      const scans = await this.scans(owner, credentials.networkId);
      const inUrls = await this.misplaced(owner);
      const misplaced = await misplacedCredentials(owner, [
        this.secrets.get("API key") as string,
        this.secrets.get("session of the claim") as string,
      ]);
      await this.read(owner, credentials.ids);
      await this.takeBackup(owner);
      for (const name of ["cmdline", "environ"])
        this.proc.push({ location: `/proc/PID/${name}`, bytes: readFileSync(`/proc/${testbed.running.pid}/${name}`) });
      const limit =
        /^Max core file size.*$/m.exec(readFileSync(`/proc/${testbed.running.pid}/limits`, "utf8"))?.[0] ?? "";
      const whileRunning = filesBelow(testbed.data);
      // Crashes the appliance without a checkpoint or a shutdown, which could leave a core file.
      testbed.running.kill("SIGQUIT");
      const { out, err } = await testbed.running.exited;
      const files = [
        ...whileRunning.map(({ location, bytes }) => ({ location: `${location} at run time`, bytes })),
        ...filesBelow(testbed.data),
      ];
      const names = [...readdirSync(testbed.folder), ...readdirSync(testbed.data)];
      const core = names.filter((name) => name.startsWith("core"));
      const log = { location: `the log (${this.format})`, bytes: Buffer.from(err) };
      // The setup token is printed once, to the user who started the program.
      const printed = { location: "standard output", bytes: Buffer.from(out) };
      const found = [
        ...search(this.secrets, [...files, log, ...this.responses, ...this.proc]),
        ...search(new Map([...this.secrets].filter(([name]) => name !== "set-up token")), [printed]),
      ];
      return [
        {
          claim: `no secret is in the log (${this.format}), the database and its log, backups, history, differences, exports, errors, other responses, the command line or the environment: neither in plain text nor in base64, hexadecimal, UTF-16, URL or JSON`,
          held: found.length === 0 && this.secrets.size >= 20 && err.length > 5_000,
          figure: `${this.secrets.size} secrets in ${encodingsOf("x y").size} or more forms, ${files.length} files, ${Math.round(err.length / 1024)} KiB of log, ${this.responses.length} responses: ${describeMatches(found)}`,
        },
        ...[scans, keys, inUrls, misplaced].map(({ claim, ...rest }) => ({
          ...rest,
          claim: `${claim} (${this.format})`,
        })),
        this.sealed({ v3Auth, v3Priv }),
        {
          claim: `all written files are readable by their owner only, and a crash leaves no core file (${this.format})`,
          held:
            accessibleByOthers(testbed.data).length === 0 &&
            existsSync(join(testbed.data, "netledger.key")) &&
            (statSync(join(testbed.data, "netledger.key")).mode & 0o777) === 0o600 &&
            core.length === 0 &&
            /^Max core file size +0 /.test(limit),
          figure: `${accessibleByOthers(testbed.data).join(", ") || "nothing is open to others"}; ${limit.replace(/\s+/g, " ")}; ${core.length} core files after SIGQUIT`,
        },
        this.proveSearch([...files, log, ...this.responses.slice(0, 3), ...this.proc]),
      ];
    } finally {
      agent.close();
      v3Agent.close();
      await testbed.close();
    }
  }

  /** Creates a distinctive secret with characters that every encoding treats differently. */
  private createSecret(name: string): string {
    const secret = `c9 ${this.random.bytes(9).toBase64()}/é&"${this.random.bytes(6).toHex()}`;
    return this.remember(name, secret);
  }

  private remember(name: string, secret: string): string {
    this.secrets.set(name, secret);
    return secret;
  }

  /** Sends a request, and records the response for the search. */
  private async send(
    method: string,
    path: string,
    body: unknown,
    headers: readonly Header[] = [],
  ): Promise<RawResponse> {
    const response = await this.testbed.send(method, path, body, headers);
    const location = `the response to ${method} ${path.slice(0, 60)}`;
    this.responses.push({ location, bytes: Buffer.from(response.raw, "latin1") });
    return response;
  }

  private as(header: Header): Caller {
    return new Caller((...args) => this.send(...args), header);
  }

  private async claim(): Promise<Caller> {
    const { testbed } = this;
    this.remember("set-up token", testbed.running.setupToken);
    const owner = { email: OWNER_EMAIL, password: this.createSecret("password") };
    const body = { organization_name: "Acme", network_name: "Main", ...owner };
    const path = "/api/auth/setup";
    await this.send("POST", path, { setup_token: this.createSecret("guessed set-up token"), ...body });
    const claimed = await testbed.send("POST", path, { setup_token: testbed.running.setupToken, ...body });
    dataOf(claimed);
    return this.as(["Cookie", `session_id=${this.rememberSession("session of the claim", claimed)}`]);
  }

  private rememberSession(name: string, response: RawResponse): string {
    return this.remember(name, sessionOf(response) ?? "");
  }

  private async people(owner: Caller): Promise<void> {
    const password = this.secrets.get("password") as string;
    const wrong = this.createSecret("wrong password");
    await this.send("POST", "/api/auth/login", { email: OWNER_EMAIL, password: wrong });
    this.rememberSession("session of a sign-in", await this.testbed.signIn(OWNER_EMAIL, password));
    const new_password = this.createSecret("new password");
    const current_password = this.createSecret("wrong current password");
    await owner.put("/api/auth/password", { current_password, new_password });
    dataOf(await owner.put("/api/auth/password", { current_password: password, new_password }));
    const person = { email: "person@acme.example", role: "Member" };
    const created = { ...person, password: this.createSecret("password of a new user") };
    const user = dataOf(await owner.post("users", created, ["Idempotency-Key", "a-user"]));
    const changed = { ...person, password: this.createSecret("password set by an administrator") };
    dataOf(await owner.put(`users/${user.id}`, changed));
    await owner.post("users", { email: "another@acme.example", role: "Member", password: "short" });
  }

  /** Tests requests that create API keys, and their repetitions: both return the keys. */
  private async keys(owner: Caller): Promise<Finding> {
    const me = dataOf(await owner.get("/api/auth/me"));
    const body = {
      organization_id: me.organization.id,
      user_id: me.id,
      name: "canary",
      permissions: "Owner",
      tags: [],
    };
    // These responses may contain the keys, so they are not searched.
    const unsearched = this.testbed.as(owner.header);
    const create = () => unsearched.post("auth/keys", body, ["Idempotency-Key", REPEATED[0]]);
    const [created, repeated] = [dataOf(await create()), dataOf(await create())];
    const key = this.remember("API key", created.key);
    const path = `auth/keys/${created.api_key.id}/rotate`;
    const rotate = () => unsearched.post(path, undefined, ["Idempotency-Key", REPEATED[1]]);
    const [rotated, rotatedAgain] = [dataOf(await rotate()), dataOf(await rotate())];
    const rotatedKey = this.remember("rotated API key", rotated.key);
    await this.as(bearer(key)).get("hosts");
    const used = await this.as(bearer(rotatedKey)).get("hosts");
    for (const scheme of ["Basic", "Bearer  ", "Token", ""])
      await this.as(["Authorization", `${scheme} ${key}x`]).get("hosts");
    return {
      claim: "a repeated request returns the same key, which is stored encrypted for that",
      held:
        repeated.key === key &&
        rotatedAgain.key === rotatedKey &&
        used.status === 200 &&
        this.storedOutcomes().some((text) => text.includes(key)) &&
        this.storedOutcomes().some((text) => text.includes(rotatedKey)),
      figure: `${this.storedOutcomes().length} stored outcomes can be opened with the key file and contain the keys`,
    };
  }

  /** Decrypts the stored outcomes of repeatable requests with the appliance's own key. */
  private storedOutcomes(): string[] {
    return this.withCopy((db, box) => {
      const rows = db.query("SELECT caller_n, key, sealed FROM idempotency_keys").values();
      return (rows as Array<[number, string, Uint8Array]>).flatMap(([callerN, hash, sealed]) => {
        const sent = REPEATED.find((key) => Bun.SHA256.hash(`${callerN} ${key}`, "hex") === hash);
        return sent === undefined ? [] : [box.open(sealed, `idempotency:${callerN}:${sent}`)];
      });
    });
  }

  private async credentials(
    owner: Caller,
    { v3Auth, v3Priv, community }: { v3Auth: string; v3Priv: string; community: string },
  ): Promise<{ ids: string[]; networkId: string }> {
    const me = dataOf(await owner.get("/api/auth/me"));
    const networkId = me.reachable_network_ids[0];
    const inline = (value: string) => ({ mode: "Inline", value });
    const v2c = (value: string) => ({ type: "SnmpV2c", community: inline(value) });
    const v3 = (auth: string, priv: string) => ({
      type: "SnmpV3",
      security_name: "auditor",
      auth_protocol: "Sha1",
      auth_password: inline(auth),
      priv_protocol: "Aes128",
      priv_password: inline(priv),
    });
    // Each credential that a device does not know costs a timeout: the short form has only one.
    const assigned = new Set(this.isShort ? ["wrong", "right", "file"] : ["replaced", "v1", "wrong", "right", "file"]);
    const credentialBody = (name: string, credential_type: Json) => ({
      ...communityCredential(me.organization.id, name, "", assigned.has(name) ? [networkId] : []),
      credential_type,
    });
    const create = async (name: string, type: Json) =>
      dataOf(await owner.post("credentials", credentialBody(name, type), ["Idempotency-Key", name]));
    const replaced = await create("replaced", v2c(this.createSecret("replaced v2c community")));
    const created = [
      replaced,
      await create("v1", { type: "SnmpV1", community: inline(this.createSecret("v1 community")) }),
      await create("wrong", v3(this.createSecret("wrong auth password"), this.createSecret("wrong priv password"))),
      await create("right", v3(v3Auth, v3Priv)),
      await create("file", { type: "SnmpV2c", community: { mode: "FilePath", path: FILE } }),
      await create("deleted", v2c(this.createSecret("community of a deleted credential"))),
    ];
    const put = async (record: Json, fields: Json) =>
      dataOf(await owner.put(`credentials/${record.id}`, { ...record, ...fields }));
    const updated = await put(replaced, { credential_type: v2c(community) });
    // A client may send back what it received: the mask keeps the stored value.
    await put(updated, { name: "replaced and renamed" });
    dataOf(await owner.delete(`credentials/${created[5]?.id}?cascade=true`));
    const inV2c = (community: unknown) => credentialBody("bad", { type: "SnmpV2c", community });
    const invalid: unknown[] = [
      inV2c(this.createSecret("secret in the place of an object")),
      inV2c({ mode: "Inlin", value: this.createSecret("secret of a misspelled mode") }),
      inV2c({ mode: "Inline", value: [this.createSecret("secret in a list")] }),
      credentialBody("bad", { type: "SnmpV2c", comunity: inline(this.createSecret("secret in a misspelled field")) }),
      credentialBody("bad", { type: "SnmpV4", community: inline(this.createSecret("secret of an unknown type")) }),
      credentialBody("bad", {
        type: "SnmpV3",
        security_name: "a",
        auth_protocol: "None",
        auth_password: inline(this.createSecret("superfluous password")),
        priv_protocol: "None",
      }),
      {
        ...credentialBody("bad", { type: "SnmpV1", community: inline("x") }),
        auth_pasword: this.createSecret("secret in an unknown extra field"),
      },
      inV2c({ mode: "FilePath", path: `../${this.createSecret("secret in a path")}` }),
    ];
    for (const body of invalid) {
      const response = await owner.post("credentials", body);
      if (response.status !== 400) throw new Error(`${JSON.stringify(body)}: ${response.status}`);
    }
    const restore = ({ id, updated_at: at }: Json, dry_run: boolean) =>
      owner.post(`credentials/${id}/restore`, dry_run ? { at, dry_run } : { at });
    for (const record of created.slice(0, 5)) {
      await restore(record, true);
      if (record === replaced) await restore(record, false);
    }
    await restore(created[5] as Json, false);
    await put(dataOf(await owner.get(`credentials/${replaced.id}`)), { credential_type: v2c(community) });
    return { ids: created.map((record) => record.id), networkId };
  }

  /** Scans with right and wrong credentials: devices respond, refuse or stay silent. */
  private async scans(owner: Caller, networkId: string): Promise<Finding> {
    const outcomes: string[] = [];
    for (const commit of this.isShort ? [true] : [false, true]) {
      const body = { network_id: networkId, kind: "full", targets: Object.values(AGENTS[this.format]), commit };
      const path = `discovery/scans/${dataOf(await owner.post("discovery/scans", body)).id}`;
      const deadline = performance.now() + HANG_MS;
      for (;;) {
        // The event stream closes when the scan ends.
        await owner.get(`${path}/events`, ["Accept", "text/event-stream"]);
        const current = dataOf(await owner.get(path));
        if (!["Queued", "Running"].includes(current.status) || performance.now() > deadline) {
          outcomes.push(`${current.status}, ${current.outcome?.hosts?.devices} devices`);
          break;
        }
      }
      await owner.get(`${path}/findings`);
    }
    return {
      claim: "devices are read with the secrets, so that responding ones received them",
      held: outcomes.every((outcome) => outcome === "Completed, 2 devices"),
      figure: outcomes.join("; "),
    };
  }

  /** Sends secrets in wrong places. */
  private async misplaced(owner: Caller): Promise<Finding> {
    const broken = this.createSecret("password in a broken body");
    for (const body of [
      `{"email":"${OWNER_EMAIL}","password":${JSON.stringify(broken)}`,
      `{"password":${JSON.stringify(broken)},}`,
      `password=${encodeURIComponent(broken)}`,
      JSON.stringify([broken]),
      JSON.stringify(broken),
    ]) {
      await this.send("POST", "/api/auth/login", body);
      await owner.post("credentials", body);
    }
    await this.send("POST", "/api/auth/login", {
      email: OWNER_EMAIL,
      password: "x",
      pasword: this.createSecret("password in a misspelled field"),
      Password: this.createSecret("password in capitals"),
      secret: { deep: this.createSecret("password deep in an unknown field") },
    });
    const key = this.secrets.get("API key") as string;
    const inUrl = encodeURIComponent(this.createSecret("secret in a URL"));
    const paths = texts(`/api/v1/hosts?api_key=${key} ¦ /api/v1/hosts?access_token=${key} ¦
  /api/v1/hosts?token=${inUrl} ¦ /api/v1/hosts?password=${inUrl} ¦
  /api/auth/login?email=a&password=${inUrl} ¦ /api/v1/hosts?session_id=${inUrl} ¦ /api/v1/auth/keys/${key} ¦
  /api/v1/auth/keys/${key.replace("_", "%5F")}/rotate ¦ /${key} ¦ /docs?x=${key} ¦ /api/v1/hosts?search=${key}`);
    // Sent with and without credentials: the refusal is due to the URL.
    const responses = [
      ...(await Promise.all(paths.map((path) => owner.get(path)))),
      ...(await Promise.all(paths.map((path) => this.send("GET", path, undefined)))),
    ];
    const headers: Header[] = [
      bearer(key),
      ["X-Request-Id", key],
      ["Referer", `https://x/?k=${key}`],
      ["User-Agent", key],
    ];
    await this.testbed.request({ path: "/api/v1/hosts", headers });
    await owner.post("hosts", { name: "host", network_id: "x", api_key: key });
    const notRefused = responses.filter(({ status }) => status !== 400);
    return {
      claim: "a key, a token or a password in a URL is refused with 400, from any caller on any path",
      held: notRefused.length === 0,
      figure: `${responses.length} URLs: ${[...new Set(responses.map(({ status }) => status))].join(", ")}`,
    };
  }

  private async read(owner: Caller, credentialIds: readonly string[]): Promise<void> {
    for (const kind of ["hosts", "credentials", "auth/keys", "users", "networks", "tags"]) {
      await owner.get(`${kind}?limit=0`);
      await owner.get(`${kind}/export/csv`);
    }
    for (const id of credentialIds) await owner.get(`credentials/${id}/history`);
    for (const key of (jsonField(await owner.get("auth/keys"), "data") as Json[]) ?? [])
      await owner.get(`auth/keys/${key.id}/history`);
    const from = "2000-01-01T00:00:00Z";
    for (const path of texts(`diff?from=${from} ¦ diff?from=${from}&format=csv ¦ changes?after=0&limit=1000 ¦
  transactions?limit=0 ¦ hosts?search=c9 ¦ /api/openapi.json ¦ ledger`))
      await owner.get(path);
  }

  private async takeBackup(owner: Caller): Promise<void> {
    const { name } = dataOf(await owner.post("backups"));
    for (const deadline = performance.now() + HANG_MS; performance.now() < deadline; ) {
      const { state } = dataOf(await owner.get(`backups/${name}`));
      if (state === "Done") return;
      if (state === "Failed") break;
    }
    throw new Error("the backup was not taken");
  }

  /** Checks that the secrets are stored, and that only the key file decrypts them. */
  private sealed({ v3Auth, v3Priv }: { v3Auth: string; v3Priv: string }): Finding {
    const openWith = (box: SecretBox | null) =>
      this.withCopy((db, ownBox) => {
        const secrets = db.query(
          "SELECT r.id, s.field, s.sealed FROM credential_secrets s JOIN history_records r ON r.n = s.credential_n",
        );
        return (secrets.values() as Array<[string, "community", Uint8Array]>).map(([id, field, sealed]) => {
          try {
            return (box ?? ownBox).open(sealed, secretContext(id, field));
          } catch {
            return null;
          }
        });
      });
    const [texts, textsByOtherKey] = [openWith(null), openWith(new SecretBox(systemRandom.bytes(32), systemRandom))];
    return {
      claim: `credential secrets are in the database in encrypted form only: the key file opens every one, another key opens none (${this.format})`,
      held:
        texts.length > 4 &&
        texts.includes(v3Auth) &&
        texts.includes(v3Priv) &&
        !texts.includes(null) &&
        textsByOtherKey.every((text) => text === null) &&
        !texts.includes(this.secrets.get("community of a deleted credential") as string) &&
        !texts.includes(this.secrets.get("replaced v2c community") as string),
      figure: `${texts.length} sealed secrets, ${texts.filter((text) => text !== null).length} opened by the key file, ${textsByOtherKey.filter((text) => text !== null).length} by another key; those of the replaced and the deleted credential are gone`,
    };
  }

  /** Reads a copy of the database: a file in use should not be opened by another process. */
  private withCopy<T>(read: (db: Database, box: SecretBox) => T): T {
    const copy = this.testbed.path("copy.db");
    for (const suffix of ["", "-wal"]) {
      const from = join(this.testbed.data, `netledger.db${suffix}`);
      if (existsSync(from)) copyFileSync(from, `${copy}${suffix}`);
    }
    const db = new Database(copy);
    try {
      return read(db, new SecretBox(readFileSync(join(this.testbed.data, "netledger.key")), systemRandom));
    } finally {
      db.close();
    }
  }

  /** Checks that the search finds a secret planted in each location and encoding. */
  private proveSearch(targets: readonly SearchTarget[]): Finding {
    const planted = `planted ${this.random.bytes(9).toBase64()}/é&"`;
    const secrets = new Map([["planted", planted]]);
    const plant = ({ location, bytes }: SearchTarget, piece: Buffer): SearchTarget => ({
      location,
      bytes: Buffer.concat([bytes.subarray(0, bytes.length >> 1), piece, bytes.subarray(bytes.length >> 1)]),
    });
    const missed: string[] = [];
    let count = 0;
    const check = (target: SearchTarget, name: string, piece: Buffer) => {
      count += 1;
      if (!search(secrets, [plant(target, piece)]).some(({ location }: Match) => location === target.location))
        missed.push(`${name} in ${target.location}`);
    };
    for (const target of targets) check(target, "raw", Buffer.from(planted));
    const [small] = [...targets].sort((a, b) => a.bytes.length - b.bytes.length);
    if (small !== undefined) {
      for (const [name, piece] of encodingsOf(planted)) check(small, name, piece);
      // Encoded by others, the secret has text before and after it.
      for (const before of ["", "a", "ab", "abc"])
        for (const encoding of ["base64", "base64url", "hex", "utf16le"] as const) {
          const text = `${before}${planted}after`;
          const encoded =
            encoding === "utf16le" ? Buffer.from(text, encoding) : Buffer.from(Buffer.from(text).toString(encoding));
          check(small, `${encoding} after ${before.length}`, encoded);
        }
    }
    const untouched = search(secrets, targets);
    return {
      claim: `the search finds a secret planted in any of these locations and encodings (${this.format})`,
      held: missed.length === 0 && untouched.length === 0 && count > 30,
      figure:
        missed.length === 0 ? `${count} planted secrets, all found` : `not found: ${missed.slice(0, 5).join(", ")}`,
    };
  }
}
