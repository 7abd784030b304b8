// Known secrets of every kind through every path, followed by a search of all storage and output.

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
import type { Finding, Proving } from "../part.ts";
import { misplacedCredentials } from "./misplaced-credentials.ts";
import { type Find, filesBelow, formsOf, type Haystack, openToOthers, search, toldFinds } from "./needles.ts";
import { memberOf, type RawAnswer, sessionOf } from "./raw-client.ts";
import { dataOf, type Json, OWNER_EMAIL, Stage } from "./stage.ts";

const AGENTS = {
  text: { v3: "127.16.77.3", community: "127.16.77.2" },
  json: { v3: "127.16.78.3", community: "127.16.78.2" },
} as const;
const FILE = "switches/community";
/** Idempotency-Keys of the requests that are answered with an API key. */
const REPEATED = ["a-key", "a-rotation"] as const;

export async function proveSecrets(proving: Proving): Promise<{ findings: Finding[]; leftOut: string[] }> {
  // In parallel: most of the time is spent waiting for silent devices.
  const findings = (
    await Promise.all((["text", "json"] as const).map((format) => new Exercise(proving, format).prove()))
  ).flat();
  return {
    findings,
    leftOut: [
      "The memory of the running process holds secrets while they are used, as that of any program: who may read it (root, the same user) may read the key file as well.",
    ],
  };
}

/** One appliance with one log format, from its first start to its end. */
class Exercise {
  private readonly stage: Stage;
  private readonly format: "text" | "json";
  private readonly isShort: boolean;
  private readonly random;
  /** Secrets that must not appear anywhere, by name. */
  private readonly secrets = new Map<string, string>();
  /** All answers except those that return a key. */
  private readonly answers: Haystack[] = [];
  private readonly proc: Haystack[] = [];

  constructor(proving: Proving, format: "text" | "json") {
    this.stage = new Stage(proving, `secrets-${format}`);
    this.format = format;
    this.isShort = proving.form === "short";
    this.random = seededRandom(proving.seed + format.length);
  }

  async prove(): Promise<Finding[]> {
    const { stage } = this;
    const secretsFolder = stage.path("secrets");
    mkdirSync(join(secretsFolder, "switches"), { recursive: true });
    writeFileSync(join(secretsFolder, FILE), `${this.invent("secret file")}\n`);
    const [v3Auth, v3Priv, community] = [
      this.invent("SNMPv3 auth password"),
      this.invent("SNMPv3 priv password"),
      this.invent("v2c community"),
    ];
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
    const v3Agent = await startV3Agent({
      address: AGENTS[this.format].v3,
      users: [user],
      contexts: { "": view("three") },
    });
    const agent = await startAgent({
      address: AGENTS[this.format].community,
      port: v3Agent.port,
      communities: { [this.secrets.get("secret file") as string]: view("two") },
    });
    try {
      await stage.start([
        "--log-format",
        this.format,
        "--secrets-folder",
        secretsFolder,
        "--snmp-port",
        String(v3Agent.port),
        "--scan-tcp-ports",
        "9",
      ]);
      const owner = await this.claim();
      await this.people(owner);
      const keys = await this.keys(owner);
      const credentials = await this.credentials(owner, { v3Auth, v3Priv, community });
      const scans = await this.scans(owner, credentials.networkId);
      const inUrls = await this.misplaced(owner);
      const misplaced = await misplacedCredentials((...asked) => this.ask(...asked), owner, [
        this.secrets.get("API key") as string,
        this.secrets.get("session of the claim") as string,
      ]);
      await this.read(owner, credentials.ids);
      await this.backUp(owner);
      for (const name of ["cmdline", "environ"])
        this.proc.push({ place: `/proc/PID/${name}`, bytes: readFileSync(`/proc/${stage.running.pid}/${name}`) });
      const limit =
        /^Max core file size.*$/m.exec(readFileSync(`/proc/${stage.running.pid}/limits`, "utf8"))?.[0] ?? "";
      const whileRunning = filesBelow(stage.data);
      // A crash that could leave a core file: without a checkpoint or a shutdown.
      stage.running.kill("SIGQUIT");
      const { out, err } = await stage.running.exited;
      const files = [
        ...whileRunning.map(({ place, bytes }) => ({ place: `${place} while it runs`, bytes })),
        ...filesBelow(stage.data),
      ];
      const core = [stage.folder, stage.data].flatMap((folder) =>
        readdirSync(folder).filter((name) => name.startsWith("core")),
      );
      const log = { place: `the log (${this.format})`, bytes: Buffer.from(err) };
      // The setup token is printed once, to the user who started the program.
      const printed = { place: "what it printed", bytes: Buffer.from(out) };
      const found = [
        ...search(this.secrets, [...files, log, ...this.answers, ...this.proc]),
        ...search(new Map([...this.secrets].filter(([name]) => name !== "set-up token")), [printed]),
      ];
      return [
        {
          claim: `no secret is in the log (${this.format}), the database and its log, backups, history, differences, exports, errors, other answers, the command line or the environment: neither in the clear nor in base64, hexadecimal, UTF-16, URL or JSON`,
          held: found.length === 0 && this.secrets.size >= 20 && err.length > 5_000,
          figure: `${this.secrets.size} secrets in ${formsOf("x y").size} or more forms, ${files.length} files, ${Math.round(err.length / 1024)} KiB of log, ${this.answers.length} answers: ${toldFinds(found)}`,
        },
        { ...scans, claim: `${scans.claim} (${this.format})` },
        { ...keys, claim: `${keys.claim} (${this.format})` },
        { ...inUrls, claim: `${inUrls.claim} (${this.format})` },
        { ...misplaced, claim: `${misplaced.claim} (${this.format})` },
        this.sealed({ v3Auth, v3Priv }),
        {
          claim: `all written files are readable by their owner only, and a crash leaves no core file (${this.format})`,
          held:
            openToOthers(stage.data).length === 0 &&
            existsSync(join(stage.data, "netledger.key")) &&
            (statSync(join(stage.data, "netledger.key")).mode & 0o777) === 0o600 &&
            core.length === 0 &&
            /^Max core file size +0 /.test(limit),
          figure: `${openToOthers(stage.data).join(", ") || "nothing is open to others"}; ${limit.replace(/\s+/g, " ")}; ${core.length} core files after SIGQUIT`,
        },
        this.teeth([...files, log, ...this.answers.slice(0, 3), ...this.proc]),
      ];
    } finally {
      agent.close();
      v3Agent.close();
      await stage.close();
    }
  }

  /** A new, distinctive secret with characters that every encoding treats differently. */
  private invent(name: string): string {
    const secret = `c9 ${this.random.bytes(9).toBase64()}/é&"${this.random.bytes(6).toHex()}`;
    return this.keep(name, secret);
  }

  private keep(name: string, secret: string): string {
    this.secrets.set(name, secret);
    return secret;
  }

  /** Sends a request, and keeps the answer for the search. */
  private async ask(
    method: string,
    path: string,
    body: unknown,
    headers: ReadonlyArray<readonly [string, string]>,
  ): Promise<RawAnswer> {
    const answer = await this.stage.send(method, path, body, headers);
    this.answers.push({
      place: `the answer to ${method} ${path.slice(0, 60)}`,
      bytes: Buffer.from(answer.whole, "latin1"),
    });
    return answer;
  }

  private async claim(): Promise<[string, string]> {
    const { stage } = this;
    this.keep("set-up token", stage.running.setupToken);
    const password = this.invent("password");
    await this.ask(
      "POST",
      "/api/auth/setup",
      {
        setup_token: this.invent("guessed set-up token"),
        organization_name: "Acme",
        network_name: "Main",
        email: OWNER_EMAIL,
        password,
      },
      [],
    );
    const claimed = await stage.send(
      "POST",
      "/api/auth/setup",
      {
        setup_token: stage.running.setupToken,
        organization_name: "Acme",
        network_name: "Main",
        email: OWNER_EMAIL,
        password,
      },
      [],
    );
    dataOf(claimed);
    return this.session("session of the claim", claimed);
  }

  private session(name: string, answer: RawAnswer): [string, string] {
    return ["Cookie", `session_id=${this.keep(name, sessionOf(answer) ?? "")}`];
  }

  private async people(owner: [string, string]): Promise<void> {
    const { stage } = this;
    const password = this.secrets.get("password") as string;
    await this.ask("POST", "/api/auth/login", { email: OWNER_EMAIL, password: this.invent("wrong password") }, []);
    this.session("session of a sign-in", await stage.signIn(OWNER_EMAIL, password));
    const wanted = this.invent("new password");
    await this.ask(
      "PUT",
      "/api/auth/password",
      { current_password: this.invent("wrong current password"), new_password: wanted },
      [owner],
    );
    dataOf(await this.ask("PUT", "/api/auth/password", { current_password: password, new_password: wanted }, [owner]));
    const person = dataOf(
      await this.ask(
        "POST",
        "/api/v1/users",
        { email: "person@acme.example", role: "Member", password: this.invent("password of a new user") },
        [owner, ["Idempotency-Key", "a-user"]],
      ),
    );
    dataOf(
      await this.ask(
        "PUT",
        `/api/v1/users/${person.id}`,
        { email: "person@acme.example", role: "Member", password: this.invent("password set by an administrator") },
        [owner],
      ),
    );
    await this.ask("POST", "/api/v1/users", { email: "another@acme.example", role: "Member", password: "short" }, [
      owner,
    ]);
  }

  /** Keys are returned by the requests that create them, and by their repetitions. */
  private async keys(owner: [string, string]): Promise<Finding> {
    const { stage } = this;
    const me = dataOf(await this.ask("GET", "/api/auth/me", undefined, [owner]));
    const body = {
      organization_id: me.organization.id,
      user_id: me.id,
      name: "canary",
      permissions: "Owner",
      tags: [],
    };
    const create = () => stage.send("POST", "/api/v1/auth/keys", body, [owner, ["Idempotency-Key", REPEATED[0]]]);
    const [made, repeated] = [dataOf(await create()), dataOf(await create())];
    const key = this.keep("API key", made.key);
    const rotate = () =>
      stage.send("POST", `/api/v1/auth/keys/${made.api_key.id}/rotate`, undefined, [
        owner,
        ["Idempotency-Key", REPEATED[1]],
      ]);
    const [rotated, rotatedAgain] = [dataOf(await rotate()), dataOf(await rotate())];
    const anew = this.keep("rotated API key", rotated.key);
    await this.ask("GET", "/api/v1/hosts", undefined, [["Authorization", `Bearer ${key}`]]);
    const used = await this.ask("GET", "/api/v1/hosts", undefined, [["Authorization", `Bearer ${anew}`]]);
    for (const scheme of ["Basic", "Bearer  ", "Token", ""])
      await this.ask("GET", "/api/v1/hosts", undefined, [["Authorization", `${scheme} ${key}x`]]);
    return {
      claim: "a repeated request returns the same key, which is stored encrypted for that",
      held:
        repeated.key === key &&
        rotatedAgain.key === anew &&
        used.status === 200 &&
        this.kept().some((text) => text.includes(key)) &&
        this.kept().some((text) => text.includes(anew)),
      figure: `${this.kept().length} kept outcomes open with the key file, and hold the keys`,
    };
  }

  /** Stored outcomes of repeatable requests, opened with the appliance's own key. */
  private kept(): string[] {
    return this.withCopy((db, box) =>
      (
        db.query("SELECT caller_n, key, sealed FROM idempotency_keys").values() as Array<[number, string, Uint8Array]>
      ).flatMap(([callerN, hash, sealed]) => {
        const sent = REPEATED.find((key) => Bun.SHA256.hash(`${callerN} ${key}`, "hex") === hash);
        return sent === undefined ? [] : [box.open(sealed, `idempotency:${callerN}:${sent}`)];
      }),
    );
  }

  private async credentials(
    owner: [string, string],
    { v3Auth, v3Priv, community }: { v3Auth: string; v3Priv: string; community: string },
  ): Promise<{ ids: string[]; networkId: string }> {
    const me = dataOf(await this.ask("GET", "/api/auth/me", undefined, [owner]));
    const networkId = me.reachable_network_ids[0];
    const inline = (value: string) => ({ mode: "Inline", value });
    const v3 = (auth: string, priv: string) => ({
      type: "SnmpV3",
      security_name: "auditor",
      auth_protocol: "Sha1",
      auth_password: inline(auth),
      priv_protocol: "Aes128",
      priv_password: inline(priv),
    });
    // Each credential unknown to a device costs a timeout: the short form has one.
    const tried = new Set(this.isShort ? ["wrong", "right", "file"] : ["replaced", "v1", "wrong", "right", "file"]);
    const wish = (name: string, credential_type: Json) => ({
      organization_id: me.organization.id,
      name,
      credential_type,
      assigned_network_ids: tried.has(name) ? [networkId] : [],
      host_assignments: [],
      tags: [],
    });
    const create = async (name: string, type: Json) =>
      dataOf(
        await this.ask("POST", "/api/v1/credentials", wish(name, type), [
          owner,
          ["Idempotency-Key", name.replaceAll(" ", "-")],
        ]),
      );
    const replaced = await create("replaced", {
      type: "SnmpV2c",
      community: inline(this.invent("v2c community of before")),
    });
    const made = [
      replaced,
      await create("v1", { type: "SnmpV1", community: inline(this.invent("v1 community")) }),
      await create("wrong", v3(this.invent("wrong auth password"), this.invent("wrong priv password"))),
      await create("right", v3(v3Auth, v3Priv)),
      await create("file", { type: "SnmpV2c", community: { mode: "FilePath", path: FILE } }),
      await create("deleted", { type: "SnmpV2c", community: inline(this.invent("community of a deleted credential")) }),
    ];
    const put = async (record: Json, fields: Json) =>
      dataOf(await this.ask("PUT", `/api/v1/credentials/${record.id}`, { ...record, ...fields }, [owner]));
    const later = await put(replaced, { credential_type: { type: "SnmpV2c", community: inline(community) } });
    // Like a client that sends back its answer: the mask keeps the stored value.
    await put(later, { name: "replaced and named anew" });
    dataOf(await this.ask("DELETE", `/api/v1/credentials/${made[5]?.id}?cascade=true`, undefined, [owner]));
    const invalid: unknown[] = [
      wish("bad", { type: "SnmpV2c", community: this.invent("secret in the place of an object") }),
      wish("bad", { type: "SnmpV2c", community: { mode: "Inlin", value: this.invent("secret of a misspelled mode") } }),
      wish("bad", { type: "SnmpV2c", community: { mode: "Inline", value: [this.invent("secret in a list")] } }),
      wish("bad", { type: "SnmpV2c", comunity: inline(this.invent("secret in a misspelled field")) }),
      wish("bad", { type: "SnmpV4", community: inline(this.invent("secret of an unknown type")) }),
      wish("bad", {
        type: "SnmpV3",
        security_name: "a",
        auth_protocol: "None",
        auth_password: inline(this.invent("password that is too much")),
        priv_protocol: "None",
      }),
      {
        ...wish("bad", { type: "SnmpV1", community: inline("x") }),
        auth_pasword: this.invent("secret in an unknown field beside it"),
      },
      wish("bad", { type: "SnmpV2c", community: { mode: "FilePath", path: `../${this.invent("secret in a path")}` } }),
    ];
    for (const body of invalid) {
      const answer = await this.ask("POST", "/api/v1/credentials", body, [owner]);
      if (answer.status !== 400) throw new Error(`${JSON.stringify(body)}: ${answer.status}`);
    }
    for (const record of made.slice(0, 5)) {
      await this.ask("POST", `/api/v1/credentials/${record.id}/restore`, { at: record.updated_at, dry_run: true }, [
        owner,
      ]);
      if (record === replaced)
        await this.ask("POST", `/api/v1/credentials/${record.id}/restore`, { at: record.updated_at }, [owner]);
    }
    await this.ask("POST", `/api/v1/credentials/${made[5]?.id}/restore`, { at: made[5]?.updated_at }, [owner]);
    await put(dataOf(await this.ask("GET", `/api/v1/credentials/${replaced.id}`, undefined, [owner])), {
      credential_type: { type: "SnmpV2c", community: inline(community) },
    });
    return { ids: made.map((record) => record.id), networkId };
  }

  /** Scans with right and wrong credentials: devices answer, refuse and stay silent. */
  private async scans(owner: [string, string], networkId: string): Promise<Finding> {
    const seen: string[] = [];
    for (const commit of this.isShort ? [true] : [false, true]) {
      const scan = dataOf(
        await this.ask(
          "POST",
          "/api/v1/discovery/scans",
          { network_id: networkId, kind: "full", targets: Object.values(AGENTS[this.format]), commit },
          [owner],
        ),
      );
      const deadline = performance.now() + HANG_MS;
      for (;;) {
        // The scan's end closes its event stream.
        await this.ask("GET", `/api/v1/discovery/scans/${scan.id}/events`, undefined, [
          owner,
          ["Accept", "text/event-stream"],
        ]);
        const now = dataOf(await this.ask("GET", `/api/v1/discovery/scans/${scan.id}`, undefined, [owner]));
        if (!["Queued", "Running"].includes(now.status) || performance.now() > deadline) {
          seen.push(`${now.status}, ${now.outcome?.hosts?.devices} devices`);
          break;
        }
      }
      await this.ask("GET", `/api/v1/discovery/scans/${scan.id}/findings`, undefined, [owner]);
    }
    return {
      claim: "devices are read with the secrets, so that responding ones received them",
      held: seen.every((each) => each === "Completed, 2 devices"),
      figure: seen.join("; "),
    };
  }

  /** Secrets in wrong places. */
  private async misplaced(owner: [string, string]): Promise<Finding> {
    const { stage } = this;
    const broken = this.invent("password in a broken body");
    for (const body of [
      `{"email":"${OWNER_EMAIL}","password":${JSON.stringify(broken)}`,
      `{"password":${JSON.stringify(broken)},}`,
      `password=${encodeURIComponent(broken)}`,
      JSON.stringify([broken]),
      JSON.stringify(broken),
    ]) {
      await this.ask("POST", "/api/auth/login", body, []);
      await this.ask("POST", "/api/v1/credentials", body, [owner]);
    }
    await this.ask(
      "POST",
      "/api/auth/login",
      {
        email: OWNER_EMAIL,
        password: "x",
        pasword: this.invent("password in a misspelled field"),
        Password: this.invent("password in capitals"),
        secret: { deep: this.invent("password deep in an unknown field") },
      },
      [],
    );
    const key = this.secrets.get("API key") as string;
    const inUrl = encodeURIComponent(this.invent("secret in a URL"));
    const paths = [
      `/api/v1/hosts?api_key=${key}`,
      `/api/v1/hosts?access_token=${key}`,
      `/api/v1/hosts?token=${inUrl}`,
      `/api/v1/hosts?password=${inUrl}`,
      `/api/auth/login?email=a&password=${inUrl}`,
      `/api/v1/hosts?session_id=${inUrl}`,
      `/api/v1/auth/keys/${key}`,
      `/api/v1/auth/keys/${key.replace("_", "%5F")}/rotate`,
      `/${key}`,
      `/docs?x=${key}`,
      `/api/v1/hosts?search=${key}`,
    ];
    // With and without credentials: the refusal is due to the URL.
    const answers = [
      ...(await Promise.all(paths.map((path) => this.ask("GET", path, undefined, [owner])))),
      ...(await Promise.all(paths.map((path) => this.ask("GET", path, undefined, [])))),
    ];
    await stage.ask({
      path: "/api/v1/hosts",
      headers: [
        ["Authorization", `Bearer ${key}`],
        ["X-Request-Id", key],
        ["Referer", `https://x/?k=${key}`],
        ["User-Agent", key],
      ],
    });
    await this.ask("POST", "/api/v1/hosts", { name: "host", network_id: "x", api_key: key }, [owner]);
    const told = answers.filter(({ status }) => status !== 400);
    return {
      claim: "a key, a token or a password in a URL is refused with 400, from any caller on any path",
      held: told.length === 0,
      figure: `${answers.length} URLs: ${[...new Set(answers.map(({ status }) => status))].join(", ")}`,
    };
  }

  private async read(owner: [string, string], credentialIds: readonly string[]): Promise<void> {
    const from = "2000-01-01T00:00:00Z";
    const kinds = ["hosts", "credentials", "auth/keys", "users", "networks", "tags"];
    for (const kind of kinds) {
      for (const path of [`/api/v1/${kind}?limit=0`, `/api/v1/${kind}/export/csv`])
        await this.ask("GET", path, undefined, [owner]);
    }
    for (const id of credentialIds) await this.ask("GET", `/api/v1/credentials/${id}/history`, undefined, [owner]);
    for (const key of (memberOf(await this.ask("GET", "/api/v1/auth/keys", undefined, [owner]), "data") as Json[]) ??
      [])
      await this.ask("GET", `/api/v1/auth/keys/${key.id}/history`, undefined, [owner]);
    for (const path of [
      `/api/v1/diff?from=${from}`,
      `/api/v1/diff?from=${from}&format=csv`,
      "/api/v1/changes?after=0&limit=1000",
      "/api/v1/transactions?limit=0",
      "/api/v1/hosts?search=c9",
      "/api/openapi.json",
      "/api/v1/ledger",
    ])
      await this.ask("GET", path, undefined, [owner]);
  }

  private async backUp(owner: [string, string]): Promise<void> {
    const { name } = dataOf(await this.ask("POST", "/api/v1/backups", undefined, [owner]));
    for (const deadline = performance.now() + HANG_MS; performance.now() < deadline; ) {
      const { state } = dataOf(await this.ask("GET", `/api/v1/backups/${name}`, undefined, [owner]));
      if (state === "Done") return;
      if (state === "Failed") break;
    }
    throw new Error("the backup was not taken");
  }

  /** The secrets are stored, and only the key file opens them. */
  private sealed({ v3Auth, v3Priv }: { v3Auth: string; v3Priv: string }): Finding {
    const opened = (box: SecretBox | null) =>
      this.withCopy((db, own) =>
        (
          db
            .query(
              "SELECT r.id, s.field, s.sealed FROM credential_secrets s JOIN history_records r ON r.n = s.credential_n",
            )
            .values() as Array<[string, "community", Uint8Array]>
        ).map(([id, field, sealed]) => {
          try {
            return (box ?? own).open(sealed, secretContext(id, field));
          } catch {
            return null;
          }
        }),
      );
    const [own, other] = [opened(null), opened(new SecretBox(systemRandom.bytes(32), systemRandom))];
    return {
      claim: `credential secrets are in the database in encrypted form only: the key file opens every one, another key none (${this.format})`,
      held:
        own.length > 4 &&
        own.includes(v3Auth) &&
        own.includes(v3Priv) &&
        !own.includes(null) &&
        other.every((text) => text === null) &&
        !own.includes(this.secrets.get("community of a deleted credential") as string) &&
        !own.includes(this.secrets.get("v2c community of before") as string),
      figure: `${own.length} sealed secrets, ${own.filter((text) => text !== null).length} opened by the key file, ${other.filter((text) => text !== null).length} by another key; those of before and of the deleted credential are gone`,
    };
  }

  /** Reads a copy: a file in use should not be opened by another process. */
  private withCopy<T>(read: (db: Database, box: SecretBox) => T): T {
    const copy = this.stage.path("copy.db");
    for (const suffix of ["", "-wal"]) {
      const from = join(this.stage.data, `netledger.db${suffix}`);
      if (existsSync(from)) copyFileSync(from, `${copy}${suffix}`);
    }
    const db = new Database(copy);
    try {
      return read(db, new SecretBox(readFileSync(join(this.stage.data, "netledger.key")), systemRandom));
    } finally {
      db.close();
    }
  }

  /** A secret planted in each place and each form must be found there. */
  private teeth(places: readonly Haystack[]): Finding {
    const planted = `planted ${this.random.bytes(9).toBase64()}/é&"`;
    const secrets = new Map([["planted", planted]]);
    const plant = ({ place, bytes }: Haystack, piece: Buffer): Haystack => ({
      place,
      bytes: Buffer.concat([bytes.subarray(0, bytes.length >> 1), piece, bytes.subarray(bytes.length >> 1)]),
    });
    const missed: string[] = [];
    let tried = 0;
    const look = (place: Haystack, name: string, piece: Buffer) => {
      tried += 1;
      if (!search(secrets, [plant(place, piece)]).some((find: Find) => find.place === place.place))
        missed.push(`${name} in ${place.place}`);
    };
    for (const place of places) look(place, "raw", Buffer.from(planted));
    const [small] = [...places].sort((a, b) => a.bytes.length - b.bytes.length);
    if (small !== undefined) {
      for (const [name, piece] of formsOf(planted)) look(small, name, piece);
      // As encoded by others, with text before and after it.
      for (const before of ["", "a", "ab", "abc"])
        for (const encoding of ["base64", "base64url", "hex", "utf16le"] as const)
          look(
            small,
            `${encoding} after ${before.length}`,
            Buffer.from(
              Buffer.from(`${before}${planted}after`, encoding === "utf16le" ? "utf16le" : "utf8").toString(
                encoding === "utf16le" ? "latin1" : encoding,
              ),
              "latin1",
            ),
          );
    }
    const untouched = search(secrets, places);
    return {
      claim: `the search finds a secret planted in any of these places and forms (${this.format})`,
      held: missed.length === 0 && untouched.length === 0 && tried > 30,
      figure: missed.length === 0 ? `${tried} plantings, all found` : `not found: ${missed.slice(0, 5).join(", ")}`,
    };
  }
}
