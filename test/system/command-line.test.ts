// Command line: help of every command, exit statuses, and ignored input.

import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { connect } from "node:net";
import { resolve } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { EXECUTABLE, OWNER, PASSWORD, Sandbox } from "../support/executable/executable.ts";
import { receivedText } from "../support/executable/received-text.ts";
import { sandboxForAll } from "../support/executable/sandboxes.ts";

const COMMANDS = [
  ..."serve setup".split(" "),
  ..."list create disable enable password".split(" ").map((name) => `user ${name}`),
  ..."list create disable enable delete".split(" ").map((name) => `key ${name}`),
  ..."verify prune compact backup restore".split(" "),
  ..."netbox phpipam".split(" ").map((name) => `import ${name}`),
  ..."openapi version".split(" "),
];
const SETUP = "--setup-organization Acme --setup-network Main --setup-email owner@acme.example --setup-password-file";

const sandbox = sandboxForAll();
const wordsOf = (line: string): string[] => line.match(/\S+/g) ?? [];

describe("help", () => {
  test("lists every command and exit status of the program", async () => {
    for (const args of [["--help"], ["-h"], ["help"]]) {
      const help = await sandbox.run(args);
      expect([help.code, help.err]).toEqual([0, ""]);
      const commandList = help.out.split("\n\n").find((part) => part.startsWith("  ")) ?? "";
      expect(commandList.split("\n").map((line) => line.trim().split(/ {2,}/)[0])).toEqual(COMMANDS);
      for (const status of [0, 1, 2, 3, 4]) expect(help.out).toMatch(new RegExp(`^  ${status}  `, "m"));
    }
  });

  test("prints a topic's handbook page without escape codes, within the terminal width", async () => {
    const topics = readdirSync(resolve(import.meta.dir, "../../src/handbook"))
      .filter((name) => name.endsWith(".md") && name !== "contents.md")
      .map((name) => name.replace(".md", ""));
    const overview = await sandbox.run(["help"]);
    for (const topic of topics) {
      expect(overview.out).toMatch(new RegExp(`^  ${topic} +\\S`, "m"));
      const page = await sandbox.run(["help", topic]);
      expect([topic, page.code, page.err]).toEqual([topic, 0, ""]);
      expect(page.out).not.toMatch(/\u001b|`|\]\(/);
      // Lines to paste are not wrapped.
      const longLines = page.out.split("\n").filter((line) => line.length > 100 && !line.startsWith("    "));
      expect([topic, longLines]).toEqual([topic, []]);
    }
    const backup = await sandbox.run(["help", "backup"]);
    expect(backup.out).toStartWith("Backup and restore\n==================\n\n    netledger backup /backups/monday.db");
    expect(backup.out).toContain("verify (→ verifying)");
  });

  test("is the command's own for a command without a topic", async () => {
    expect((await sandbox.run(["help", "serve"])).out).toBe((await sandbox.run(["serve", "--help"])).out);
    expect((await sandbox.run(["help", "user", "create"])).out).toStartWith("netledger user create: creates a user.");
  });

  test.each(COMMANDS)("is printed for %s without side effects", async (command) => {
    const help = await sandbox.command(...command.split(" "), "--help");
    expect([help.code, help.err]).toEqual([0, ""]);
    expect(help.out).toStartWith(`netledger ${command}: `);
    expect(help.out).toContain(`usage: netledger ${command}`);
    expect(existsSync(sandbox.data)).toBe(false);
  });

  test.each(["user", "key", "import"])("lists all options of %s", async (group) => {
    const help = await sandbox.run([group, "--help"]);
    for (const command of COMMANDS.filter((name) => name.startsWith(`${group} `)))
      expect(help.out).toContain(`usage: netledger ${command}`);
  });
});

describe("invalid input is refused with status 2 and one line", () => {
  const REFUSALS: Readonly<Record<string, string>> = {
    "": "a command is required; see netledger --help",
    frobnicate: 'there is no command "frobnicate"; see netledger --help',
    "help tiem": 'there is no page about "tiem"; similar pages: time; see netledger --help',
    "help tls": 'there is no page about "tls"; similar pages: running, ',
    "help xyzzyx": 'there is no page about "xyzzyx"; see netledger --help',
    "--data x": 'there is no command "--data"; see netledger --help',
    user: "user is one of user list, user create, user disable, user enable, user password; see netledger user --help",
    "user frobnicate":
      "user is one of user list, user create, user disable, user enable, user password; see netledger user --help",
    "serve --lisen x": 'the flag "--lisen" is unknown; see netledger serve --help',
    "serve --listen 80":
      '--listen must be HOST:PORT such as 127.0.0.1:8080 or [::1]:8080, not "80"; see netledger serve --help',
    "serve --host-name a.example --host-name b.example:80":
      '--host-name must be host names without a port, separated by commas, not "b.example:80"; see netledger serve --help',
    "serve --trusted-proxy proxy.example":
      '--trusted-proxy must be IP addresses and CIDR blocks without host bits, separated by commas, not "proxy.example"; see netledger serve --help',
    "serve --self":
      "--self is for the unattended set-up: give --setup-organization and the others as well; see netledger serve --help",
    "serve --setup-email a@b":
      "--setup-organization, --setup-network, --setup-email and --setup-password-file must be given together; see netledger serve --help",
    backup: "FILE is required (or NETLEDGER_FILE); see netledger backup --help",
    "backup a b": '"b" is not valid: every other setting is a flag; see netledger backup --help',
    "restore a --file b": "--file is given more than once; see netledger restore --help",
    "serve --read-only x --setup-organization A --setup-network N --setup-email a@b --setup-password-file p":
      "--read-only serves a backup as it is: it cannot be combined with a set-up; see netledger serve --help",
    "verify --head 12":
      '--head must be SEQUENCE:HASH, the number and the hash of a transaction as verify and GET /api/v1/ledger show them, not "12"; see netledger verify --help',
    prune: "--before DATE is required (or NETLEDGER_BEFORE); see netledger prune --help",
    "prune --before 2026-02-30":
      "--before must be a date such as 2026-01-01, an RFC 3339 timestamp with an offset, or an age such as -365d; see netledger prune --help",
    "prune --before 9999-01-01": "--before must not be in the future; see netledger prune --help",
    "prune --before 2026-01-01 --keep weekly":
      '--keep must be daily or monthly, not "weekly"; see netledger prune --help',
    "import netbox": "URL is required (or NETLEDGER_SOURCE); see netledger import --help",
    "import phpmyadmin": "import is one of import netbox, import phpipam; see netledger import --help",
    "import phpipam https://ipam.example.com":
      "--app-id ID is required (or NETLEDGER_APP_ID); see netledger import --help",
    "import netbox netbox.example.com":
      'URL must be an address such as https://netbox.example.com, not "netbox.example.com"; see netledger import --help',
    "import netbox https://user:pass@netbox.example.com":
      "URL must be an address without a user, password, query or fragment; see netledger import --help",
    "import netbox https://netbox.example.com --key nlk_x":
      "--key would expose it to every user of this machine; use NETLEDGER_KEY or a file; see netledger import --help",
    "version --data x": 'the flag "--data" is unknown; see netledger version --help',
    "setup --organization A": "--network NAME is required (or NETLEDGER_NETWORK); see netledger setup --help",
    "setup --organization A --network N --email nobody --password-file /nowhere":
      "--email must be an e-mail address; see netledger setup --help",
    "setup --organization A --network N --email a@b --password-file /nowhere":
      "--password-file /nowhere cannot be read (ENOENT); see netledger setup --help",
    "user create --email a@b --role King --password-file -":
      "--role must be one of Owner, Admin, Member, Viewer; see netledger user --help",
    "key create --email a@b --name k --allowed-sources 10.0.0.1/8":
      '--allowed-sources must be IP addresses and CIDR blocks without host bits, separated by commas, not "10.0.0.1/8"; see netledger key --help',
    [`key create --email a@b --name k --allowed-sources ${Array(101).fill("::1").join()}`]:
      "--allowed-sources must have 1 to 100 items; see netledger key --help",
    "key create --email a@b --name k --expires-at soon":
      "--expires-at must be an RFC 3339 timestamp with an offset, such as 2026-11-21T09:15:00.123Z; see netledger key --help",
  };

  test.each<[string[], string]>([
    ...Object.entries(REFUSALS).map(([line, message]): [string[], string] => [wordsOf(line), message]),
    [
      ["setup", "--organization", " ", ...wordsOf("--network N --email a@b --password-file /nowhere")],
      "--organization must not be blank or contain control characters; see netledger setup --help",
    ],
  ])("%j", async (args, message) => {
    const result = await sandbox.run(args);
    expect([result.code, result.out]).toEqual([2, ""]);
    expect(result.err).toStartWith(`netledger: ${message}`);
    expect(result.err.trimEnd()).not.toContain("\n");
  });

  test("a short password, without echoing it", async () => {
    const args = wordsOf("setup --organization A --network N --email a@b --password-file -");
    const result = await sandbox.run(args, { stdin: "secret\n" });
    expect(result.code).toBe(2);
    expect(result.err).toStartWith("netledger: --password-file -: the password must have at least 10 characters");
    expect(result.err).not.toContain("secret");
  });

  test.each([
    ["blank", " ".repeat(10)],
    ["one character", "1111111111"],
    ["the e-mail address", OWNER],
  ])("an easily guessed password, in any command that sets one: %s", async (_case, stdin) => {
    for (const line of ["setup --organization A --network N", "user create --role Viewer", "user password"]) {
      const args = wordsOf(`${line} --email ${OWNER} --password-file - --data ${sandbox.data}`);
      const result = await sandbox.run(args, { stdin });
      expect([result.code, result.out]).toEqual([2, ""]);
      expect(result.err).toStartWith("netledger: --password-file -: the password must ");
      expect(result.err).not.toContain(stdin);
    }
  });
});

test("the program prints its version and the versions of its components", async () => {
  const { code, out, err } = await sandbox.run(["version"]);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(
    /^netledger \d+\.\d+\.\d+\napi 1\nschema \d+\nbun \d+\.\d+\.\d+\nsqlite 3\.\d+\.\d+\nplatform \w+-\w+\n$/,
  );
  expect(out).toStartWith(`netledger ${manifest.version}\n`);
  expect((await sandbox.run(["--version"])).out).toBe(out);
});

test("a closed output pipe is not a failure", async () => {
  const finished = await sandbox.run(["-c", `"$0" openapi | head -c 10 >&2; exit "\${PIPESTATUS[0]}"`, EXECUTABLE], {
    command: ["bash"],
  });
  expect(finished).toMatchObject({ code: 0, err: '{"openapi"' });
});

test("files in the working directory are ignored", async () => {
  const folder = sandbox.path("trap");
  mkdirSync(folder);
  await Bun.write(`${folder}/bunfig.toml`, 'preload = ["./trap.ts"]\n[install]\nregistry = "http://127.0.0.1:1"\n');
  await Bun.write(`${folder}/trap.ts`, 'console.log("TRAPPED"); process.exit(99);');
  await Bun.write(
    `${folder}/.env`,
    "NETLEDGER_LISTEN=not-an-address\nNETLEDGER_LOG_FORMAT=json\nNODE_ENV=development\n",
  );
  await Bun.write(`${folder}/.env.production`, "NETLEDGER_LISTEN=not-an-address\n");
  await Bun.write(
    `${folder}/package.json`,
    '{"type":"commonjs","name":"trap","version":"99.0.0","imports":{"#x":"./trap.ts"}}',
  );
  await Bun.write(`${folder}/tsconfig.json`, "{ this is no JSON");
  await Bun.write(`${folder}/netledger.json`, '{"listen":"not-an-address"}');

  const version = await sandbox.run(["version"], { cwd: folder });
  expect([version.code, version.err]).toEqual([0, ""]);
  const running = await sandbox.serve([], { cwd: folder });
  expect(running.lines[0]).toStartWith(`netledger ${manifest.version} listens on http://127.0.0.1:`);
  await running.waitForLog("INFO  started");
  const end = await running.stop();
  expect([end.code, end.out.includes("TRAPPED")]).toEqual([0, false]);
});

describe("settings from the environment", () => {
  test("apply without a flag, and a flag takes precedence", async () => {
    const otherFolder = sandbox.path("from-environment");
    const env = { NETLEDGER_DATA: otherFolder, NETLEDGER_LISTEN: "127.0.0.1:0", NETLEDGER_LOG_FORMAT: "json" };
    const child = await sandbox.serve([], { env });
    expect(child.lines[1]).toBe(`Its data is in ${sandbox.data}`);
    await child.waitForLog('"event":"started"');
    await child.stop();
    const missing = await sandbox.run(["user", "list"], { env });
    expect(missing).toMatchObject({
      code: 3,
      err: `netledger: There is no data in ${otherFolder}: create it with netledger serve or netledger setup.\n`,
    });
  });

  test("are logged if misspelled", async () => {
    const running = await sandbox.serve([], { env: { NETLEDGER_LISTN: "127.0.0.1:9" } });
    expect(running.log).toContain("WARN  variable_not_known name=NETLEDGER_LISTN");
    await running.stop();
  });
});

test("no request can inject a log line", async () => {
  const running = await sandbox.serve();
  const { port } = new URL(running.url);
  const forged = "2026-01-01T00:00:00.000Z INFO  forged";
  const heads = [
    `GET /api/v1/hosts HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\u0085${forged}\r\n`,
    `GET /api/v1/hosts HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a\u001b[2K${forged}\r\n`,
    `GET /api/v1/hosts HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: a event=forged\r\n`,
    `GET /api/v1/hosts?x=%0A${encodeURIComponent(forged)} HTTP/1.1\r\nHost: localhost\r\n`,
    `GET /api/v1/%0A${encodeURIComponent(forged)} HTTP/1.1\r\nHost: localhost\r\n`,
    `GET /api/v1/hosts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${forged}\r\n`,
    `GET /api/v1/hosts HTTP/1.1\r\nHost: localhost\r\nCookie: session_id=${forged}\r\n`,
  ];
  for (const head of heads)
    expect(await raw(Number(port), `${head}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 4\d\d /);
  const valid = await running.client().get("hosts", { "x-request-id": "ticket-4711" });
  expect(valid.headers.get("x-request-id")).toBe("ticket-4711");
  await running.waitForLog("request_id=ticket-4711");
  const { err } = await running.stop();
  for (const line of err.trimEnd().split("\n")) {
    expect(line).toMatch(
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (INFO|WARN|ERROR) +(started|stopping|stopped|request_refused)( |$)/,
    );
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(line).not.toMatch(/event=forged|INFO {2}forged/);
  }
});

describe("unattended setup", () => {
  test("creates the organization once, before any request is served", async () => {
    const unattended = new Sandbox();
    try {
      const passwordFile = await unattended.passwordFile();
      const args = wordsOf(`${SETUP} ${passwordFile}`);
      const first = await unattended.serve(args);
      expect(first.lines[2]).toStartWith("Claimed: sign in at ");
      expect((await first.client().get("/api/auth/setup")).data).toEqual({ needed: false });
      const signedIn = await first.client().post("/api/auth/login", { email: OWNER, password: PASSWORD });
      expect(signedIn.status).toBe(200);
      expect(first.log).not.toContain(PASSWORD);
      expect(first.log).not.toContain("self_recorded");
      await first.stop();

      // Deleted after the first start, as is usual for secrets.
      await Bun.file(passwordFile).delete();
      const second = await unattended.serve(args);
      expect(second.log).toContain("INFO  setup_skipped");
      expect((await unattended.command("user", "list")).out.trim().split("\n")).toHaveLength(2);
    } finally {
      await unattended.close();
    }
  });

  test("accepts everything from the environment, and records the machine on request", async () => {
    const unattended = new Sandbox();
    try {
      const running = await unattended.serve([], {
        env: {
          NETLEDGER_SETUP_ORGANIZATION: "Acme",
          NETLEDGER_SETUP_NETWORK: "Main",
          NETLEDGER_SETUP_EMAIL: OWNER,
          NETLEDGER_SETUP_PASSWORD_FILE: await unattended.passwordFile(),
          NETLEDGER_SELF: "true",
        },
      });
      expect(running.log).toContain("INFO  self_recorded");
      const key = await unattended.command(...wordsOf(`key create --email ${OWNER} --name k`));
      const hosts = await running.withKey(key.out.trim()).get("hosts");
      expect(hosts.data).toHaveLength(1);
    } finally {
      await unattended.close();
    }
  });

  test("creates nothing with an invalid password, and reports it", async () => {
    const unattended = new Sandbox();
    try {
      const passwordFile = unattended.path("short");
      await Bun.write(passwordFile, "short\n");
      const result = await unattended.command(...wordsOf(`serve --listen 127.0.0.1:0 ${SETUP} ${passwordFile}`));
      expect([result.code, result.out]).toEqual([2, ""]);
      expect(result.err).toContain(
        `--setup-password-file ${passwordFile}: the password must have at least 10 characters`,
      );
      expect((await unattended.serve()).setupToken).not.toBe("");
    } finally {
      await unattended.close();
    }
  });
});

/** Sends raw bytes. @returns the response */
function raw(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1", () => socket.end(Buffer.from(text, "latin1")));
  return receivedText(socket);
}
