// Configuration from flags and environment: checked and frozen, or a one-sentence error.

import { describe, expect, test } from "bun:test";
import { resolve } from "node:path";
import { backup } from "../../src/cli/backup.ts";
import { type Form, OPTIONS, readConfig, UsageError, unknownVariables, variableOf } from "../../src/cli/config.ts";
import { helpOf, helpOverview } from "../../src/cli/help.ts";
import { keyCommands } from "../../src/cli/key.ts";
import { restore } from "../../src/cli/restore.ts";
import { serve } from "../../src/cli/serve.ts";
import { setup } from "../../src/cli/setup.ts";
import { userCliCommands } from "../../src/cli/user.ts";

const RUNS = { name: "serve", summary: "runs.", always: [], maybe: [] } as const;
const SERVE = {
  ...RUNS,
  always: ["listen", "data", "self", "acceptClock", "logFormat"],
  maybe: ["setupEmail", "networks"],
} as const;
const CREATE = {
  name: "thing create",
  summary: "makes.",
  always: ["data", "email", "passwordFile"],
  maybe: ["role"],
} as const;

function problem(args: string[], environment: Record<string, string> = {}, form: Form = SERVE): string {
  try {
    readConfig(form, args, environment);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return "";
}

describe("the configuration", () => {
  test("has defaults for everything", () => {
    expect(readConfig(SERVE, [], {})).toEqual({
      listen: { host: "127.0.0.1", port: 8080 },
      data: resolve("data"),
      self: false,
      acceptClock: false,
      logFormat: "text",
      setupEmail: null,
      networks: null,
    });
  });

  test("is frozen, including its values", () => {
    const config = readConfig(SERVE, ["--networks", "a,b"], {});
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.listen)).toBe(true);
    expect(Object.isFrozen(config.networks)).toBe(true);
  });

  test("accepts a value after its flag or attached to it", () => {
    expect(readConfig(SERVE, ["--listen", "10.0.0.1:80"], {}).listen).toEqual({ host: "10.0.0.1", port: 80 });
    expect(readConfig(SERVE, ["--listen=10.0.0.1:80"], {}).listen).toEqual({ host: "10.0.0.1", port: 80 });
    expect(readConfig(SERVE, ["--data=--odd="], {}).data).toBe(resolve("--odd="));
  });

  test("comes from the environment without a flag, and from the flag otherwise", () => {
    const environment = { NETLEDGER_LISTEN: "10.0.0.1:80", NETLEDGER_SELF: "true" };
    expect(readConfig(SERVE, [], environment)).toMatchObject({ listen: { host: "10.0.0.1", port: 80 }, self: true });
    const { listen, self } = readConfig(SERVE, ["--listen", "[::1]:81", "--no-self"], environment);
    expect({ listen, self }).toEqual({ listen: { host: "::1", port: 81 }, self: false });
  });

  test("treats an empty variable as absent", () => {
    const { listen, setupEmail } = readConfig(SERVE, [], { NETLEDGER_LISTEN: "", NETLEDGER_SETUP_EMAIL: "" });
    expect([listen.port, setupEmail]).toEqual([8080, null]);
  });

  test.each([
    ["127.0.0.1:8080", "127.0.0.1", 8080],
    ["0.0.0.0:0", "0.0.0.0", 0],
    ["[::1]:8080", "::1", 8080],
    ["[::]:65535", "::", 65_535],
    ["netledger.example:80", "netledger.example", 80],
  ])("accepts %s as a listen address", (text, host, port) => {
    expect(readConfig(SERVE, ["--listen", text], {}).listen).toEqual({ host, port });
  });

  const INVALID_LISTEN_ADDRESSES =
    "8080 :8080 127.0.0.1 127.0.0.1: 127.0.0.1:65536 127.0.0.1:-1 127.0.0.1:80x ::1:8080 [::1] " +
    "http://127.0.0.1:80 [fe80::1%eth0]:80 [:::]:80 [127.0.0.1]:80 127.0.0.256:80 127.1:80";
  test.each([...INVALID_LISTEN_ADDRESSES.split(" "), "a b:80"])("refuses %s as a listen address", (text) => {
    expect(problem(["--listen", text])).toStartWith("--listen must be HOST:PORT such as");
    expect(problem([], { NETLEDGER_LISTEN: text })).toStartWith("NETLEDGER_LISTEN must be HOST:PORT such as");
  });

  test.each([
    [["--lisen", "x"], 'the flag "--lisen" is unknown'],
    [["--lisen=x"], 'the flag "--lisen" is unknown'],
    [["--no-listen"], 'the flag "--no-listen" is unknown'],
    [["--email", "a@b"], 'the flag "--email" is unknown'],
    [["extra"], '"extra" is not valid: every setting is a flag'],
    [["-l", "x"], '"-l" is not valid: every setting is a flag'],
    [["--"], '"--" is not valid: every setting is a flag'],
    [["--data"], "--data needs a value: DIR"],
    [["--data", "--self"], "--data needs a value: DIR"],
    [["--data", ""], "--data must not be empty"],
    [["--data="], "--data must not be empty"],
    [["--self=true"], "--self takes no value"],
    [["--self", "true"], '"true" is not valid: every setting is a flag'],
    [["--data", "a", "--data", "a"], "--data is given more than once"],
    [["--self", "--no-self"], "--self is given more than once"],
    [["--log-format", "xml"], 'must be text or json, not "xml"'],
    [["--networks", "a,,b"], "--networks must be names or ids separated by commas"],
  ])("refuses %j", (args, message) => expect(problem(args)).toContain(message));

  test("refuses a variable that is neither true nor false", () => {
    expect(problem([], { NETLEDGER_SELF: "maybe" })).toBe('NETLEDGER_SELF must be true or false, not "maybe"');
    expect(readConfig(SERVE, [], { NETLEDGER_SELF: "0" }).self).toBe(false);
  });

  test("names missing required settings, and the alternatives", () => {
    const missing = problem(["--email", "a@b"], {}, CREATE);
    expect(missing).toBe("--password-file FILE is required (or NETLEDGER_PASSWORD_FILE)");
    const { passwordFile, role } = readConfig(CREATE, ["--email", "a@b"], { NETLEDGER_PASSWORD_FILE: "-" });
    expect({ passwordFile, role }).toEqual({ passwordFile: "-", role: null });
  });

  test("quotes a refused value briefly, on one line", () => {
    const message = problem(["--listen", `a\n${"b".repeat(1_000)}`]);
    expect(message).not.toContain("\n");
    expect(message.length).toBeLessThan(250);
  });
});

test("misspelled NETLEDGER_ variables are reported", () => {
  expect(unknownVariables({ NETLEDGER_LISTN: "x", NETLEDGER_DATA: "y", PATH: "z" })).toEqual(["NETLEDGER_LISTN"]);
});

test("two settings of one command never share a flag or a variable", () => {
  const forms = [serve, setup, ...userCliCommands, ...keyCommands, backup, restore].map((command) => command.form);
  for (const form of forms) {
    const flags = [...form.always, ...form.maybe].map((name) => OPTIONS[name].flag);
    expect([form.name, flags.filter((flag, position) => flags.indexOf(flag) !== position)]).toEqual([form.name, []]);
  }
});

describe("a positional setting", () => {
  const BACKUP = {
    name: "copy",
    summary: "copies.",
    always: ["file", "data", "replace"],
    maybe: [],
    operand: "file",
  } as const;

  test("is accepted at any position, by its flag and from the environment", () => {
    for (const args of ["x --data y", "--data y x", "--replace x --data=y", "--file x --data y"]) {
      const { file, data } = readConfig(BACKUP, args.split(" "), { NETLEDGER_FILE: "z" });
      expect([file, data]).toEqual([resolve("x"), resolve("y")]);
    }
    expect(readConfig(BACKUP, [], { NETLEDGER_FILE: "z" })).toMatchObject({ file: resolve("z") });
  });

  test.each([
    [[], "FILE is required (or NETLEDGER_FILE)"],
    [[""], "FILE must not be empty"],
    [["a", "b"], '"b" is not valid: every other setting is a flag'],
    [["a", "--file", "b"], "--file is given more than once"],
    [["-a"], '"-a" is not valid: every other setting is a flag'],
  ])("refuses %j", (args, message) => expect(problem(args, {}, BACKUP)).toBe(message));

  test("appears in the usage as its value only", () => {
    expect(helpOf([BACKUP])).toContain("usage: netledger copy FILE [--flag VALUE …]");
  });
});

describe("scan settings", () => {
  const SCANNING = { ...RUNS, always: ["snmpPort"], maybe: ["secretsFolder", "scanTcpPorts"] } as const;

  test("default to the SNMP port, the sweep's own port list and no secret files", () => {
    expect(readConfig(SCANNING, [], {})).toEqual({ snmpPort: 161, secretsFolder: null, scanTcpPorts: null });
    const environment = {
      NETLEDGER_SNMP_PORT: "1161",
      NETLEDGER_SECRETS_FOLDER: "secrets",
      NETLEDGER_SCAN_TCP_PORTS: "443, 22,443",
    };
    const expected = { snmpPort: 1161, secretsFolder: resolve("secrets"), scanTcpPorts: [22, 443] };
    expect(readConfig(SCANNING, [], environment)).toEqual(expected);
  });

  test.each(["0", "65536", "-1", "1e3", " 22x", "22,,23", "http"])("refuse %j as a port", (text) => {
    const rule = "must be a port from 1 to 65535, not ";
    expect(problem(["--scan-tcp-ports", text], {}, SCANNING)).toStartWith(`--scan-tcp-ports ${rule}`);
    expect(problem([], { NETLEDGER_SNMP_PORT: text }, SCANNING)).toStartWith(`NETLEDGER_SNMP_PORT ${rule}`);
  });
});

describe("the served host names", () => {
  const NAMES = { ...RUNS, maybe: ["hostName"] } as const;
  const names = (args: string[], environment = {}) => readConfig(NAMES, args, environment).hostName;

  test("default to none, and may be given in one or several flags", () => {
    expect(names([])).toBeNull();
    expect(names(["--host-name", "NetLedger.lan."])).toEqual(["netledger.lan"]);
    const severalFlags = ["--host-name", "a.example", "--host-name=b_c, inventory", "--host-name", "A.example"];
    expect(names(severalFlags)).toEqual(["a.example", "b_c", "inventory"]);
    expect(names([], { NETLEDGER_HOST_NAME: "a.example,b.example" })).toEqual(["a.example", "b.example"]);
    expect(names(["--host-name", "c"], { NETLEDGER_HOST_NAME: "a,b" })).toEqual(["c"]);
    expect(Object.isFrozen(names(["--host-name", "a"]))).toBe(true);
  });

  const INVALID_NAMES = "a.example:8080 http://a.example *.example a..example -a a,,b bücher.example .".split(" ");
  const LONG_NAMES = [`${"a".repeat(64)}.example`, "a.".repeat(127) + "a".repeat(10)];
  test.each([...INVALID_NAMES, "a b", ...LONG_NAMES])("are refused as %j", (text) => {
    const rule = "--host-name must be host names without a port, separated by commas, not ";
    expect(problem(["--host-name", text], {}, NAMES)).toStartWith(rule);
  });

  test.each(["10.0.0.5", "::1", "2001:db8::5"])("cannot be the address %s", (text) => {
    const expected = `--host-name must be host names; IP addresses are always accepted: not "${text}"`;
    expect(problem(["--host-name", `a.example,${text}`], {}, NAMES)).toBe(expected);
  });
});

describe("the trusted proxies", () => {
  const PROXIES = { ...RUNS, maybe: ["trustedProxy"] } as const;
  const texts = (args: string[], environment = {}) =>
    readConfig(PROXIES, args, environment).trustedProxy?.map(({ text }) => text);

  test("default to none, and may be addresses and blocks", () => {
    expect(readConfig(PROXIES, [], {}).trustedProxy).toBeNull();
    expect(texts(["--trusted-proxy", "10.0.0.1, 10.9.0.0/16,2001:DB8::1, 2001:db8:9::/48"])).toEqual(
      "10.0.0.1/32 10.9.0.0/16 2001:db8::1/128 2001:db8:9::/48".split(" "),
    );
    expect(texts([], { NETLEDGER_TRUSTED_PROXY: "127.0.0.1" })).toEqual(["127.0.0.1/32"]);
    expect(Object.isFrozen(readConfig(PROXIES, ["--trusted-proxy", "::1"], {}).trustedProxy)).toBe(true);
  });

  const INVALID_PROXIES = "10.0.0.1/8 10.0.0.1,,10.0.0.2 proxy.example 10.0.0.1:80 fe80::1%eth0 10.0.0.0/33 *";
  test.each(INVALID_PROXIES.split(" "))("are refused as %j", (text) => {
    const rule = "--trusted-proxy must be IP addresses and CIDR blocks without host bits, separated by commas, not ";
    expect(problem(["--trusted-proxy", text], {}, PROXIES)).toStartWith(rule);
  });

  test.each(["::ffff:10.0.0.1", "::ffff:0:0/96"])("are refused as %j, which contains no caller's address", (text) => {
    const expected = `NETLEDGER_TRUSTED_PROXY must have IPv4 addresses as such, not as "${text}"`;
    expect(problem([], { NETLEDGER_TRUSTED_PROXY: text }, PROXIES)).toBe(expected);
  });
});

describe("the help", () => {
  test("lists every setting of a command with its flag, variable, default and meaning", () => {
    const help = helpOf([SERVE]);
    for (const name of [...SERVE.always, ...SERVE.maybe]) {
      const option = OPTIONS[name];
      expect(help).toContain(`--${option.flag}`);
      expect(help).toContain(variableOf(option.flag));
      expect(help).toContain(option.meaning);
      if (option.fallback !== null && option.value !== null) expect(help).toContain(`Default: ${option.fallback}.`);
    }
  });

  test("shows required settings of a command in its usage", () => {
    const usage = "usage: netledger thing create --email EMAIL --password-file FILE [--flag VALUE …]";
    expect(helpOf([CREATE])).toContain(usage);
  });

  test("lists the program's commands and exit statuses", () => {
    const help = helpOverview([SERVE, CREATE], []);
    for (const text of ["serve", "thing create", "runs.", "makes.", "  3  the data is in use"])
      expect(help).toContain(text);
  });
});
