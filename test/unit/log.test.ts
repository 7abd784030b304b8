// Log lines: format, excluded characters, and hidden values.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createLog, isSecretFieldName, LOG_VALUE_MAX_LENGTH, type Log, type LogFormat } from "../../src/base/log.ts";

const AT = "2026-11-21T09:15:00.123Z";

function newLog(format: LogFormat): { log: Log; lines: string[] } {
  const lines: string[] = [];
  return { log: createLog({ write: (line) => lines.push(line), format, clock: { now: () => Date.parse(AT) } }), lines };
}

const text = (event: string, fields?: Record<string, unknown>, format: LogFormat = "text"): string => {
  const { log, lines } = newLog(format);
  log.info(event, fields);
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
};

const json = (event: string, fields?: Record<string, unknown>): Record<string, unknown> =>
  JSON.parse(text(event, fields, "json"));

describe("an unwritable log line", () => {
  const lines: string[] = [];
  const write = () => {
    throw new Error("ENOSPC");
  };
  const log = createLog({ write, format: "text", clock: { now: () => Date.parse(AT) } });

  test("is dropped silently if nothing depends on it", () => {
    for (const writeLine of [log.info, log.warn, log.error]) writeLine("e");
    expect(log.recent.last(9, () => true).lines).toHaveLength(3);
  });

  test("is an error if its event must not happen without it", () => {
    expect(() => log.audit("scan_started")).toThrow("Nothing was done: the log cannot be written.");
    expect(log.recent.last(9, ({ event }) => event === "scan_started").lines).toEqual([]);
    const { log: workingLog, lines: written } = newLog("text");
    workingLog.audit("scan_started", { by: "Ada" });
    expect(written).toEqual([`${AT} INFO  scan_started by=Ada`]);
  });

  test("is written through the path that reports errors if it is an audit line", () => {
    const writeOrThrow = (line: string) => lines.push(line);
    const reliableLog = createLog({ write: () => {}, writeOrThrow, format: "text", clock: { now: () => 0 } });
    reliableLog.info("dropped");
    reliableLog.audit("written");
    expect(lines.map((line) => line.slice(31))).toEqual(["written"]);
  });
});

describe("a text log line", () => {
  test("is timestamp, level, event, fields", () => {
    const fields = { method: "GET", path: "/api/v1/tags", status: 200, took_ms: 1.5, cached: false, actor: null };
    const expected = "method=GET path=/api/v1/tags status=200 took_ms=1.5 cached=false actor=null";
    expect(text("request answered", fields)).toBe(`${AT} INFO  request answered ${expected}`);
  });

  test("names each level", () => {
    const { log, lines } = newLog("text");
    log.info("a");
    log.warn("b");
    log.error("c");
    expect(lines).toEqual([`${AT} INFO  a`, `${AT} WARN  b`, `${AT} ERROR c`]);
  });

  test("quotes values that resemble another field", () => {
    const line = text("e", { a: "x b=y", c: "", d: 'say "so"', "odd name": 1, "f=g": 2 });
    expect(line).toBe(`${AT} INFO  e a="x b=y" c="" d="say \\"so\\"" "odd name"=1 "f=g"=2`);
  });

  test("prints objects and lists as JSON", () => {
    const line = text("e", { list: [1, "a b"], object: { deep: true } });
    expect(line).toBe(`${AT} INFO  e list=[1,"a b"] object={"deep":true}`);
  });
});

describe("an API key", () => {
  const key = `nlk_${"Ab3d".repeat(10)}xyz`;

  test("appears in no line, except for its identifying characters", () => {
    for (const line of [
      text(`asked with ${key}`),
      text("e", { path: `/api/v1/auth/keys/${key}/rotate`, list: [{ [key]: key }], cause: new Error(`no ${key}`) }),
      JSON.stringify(json("e", { path: `/${key.replace("_", "%5F")}?x` })),
    ]) {
      expect(line).not.toContain(key.slice(8));
      expect(line).toContain("[hidden]");
    }
    expect(text("e", { path: `/a/${key}/b` })).toBe(`${AT} INFO  e path=/a/nlk_[hidden]/b`);
    expect(text("e", { mask: "nlk_Ab3d…" })).toBe(`${AT} INFO  e mask="nlk_Ab3d…"`);
  });

  test("is not partly visible when a long value is truncated", () => {
    expect(text("e", { value: `${"x".repeat(LOG_VALUE_MAX_LENGTH - 20)}${key}` })).not.toContain("Ab3dAb3d");
  });
});

describe("a JSON log line", () => {
  test("is one object with the fields next to timestamp, level and event", () => {
    const fields = { port: 8080, networks: ["a"], nothing: null };
    expect(json("started", fields)).toEqual({ at: AT, level: "info", event: "started", ...fields });
  });

  test("renames a field that has a reserved name", () => {
    const renamed = { at_: 1, level_: 2, event_: 3 };
    expect(json("e", { at: 1, level: 2, event: 3 })).toEqual({ at: AT, level: "info", event: "e", ...renamed });
  });
});

describe("external values", () => {
  const hostile = "\n \r\n \u001b[2J \u0000 \u007f \u009b31m \u2028 \u2029 \u202e \u2066 \ud800"
    .split(" ")
    .map((characters) => `a${characters}b`);
  const dangerous = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;

  test.each(hostile)("cannot start a line or control a terminal: %j", (value) => {
    for (const fields of [{ value }, { [value]: 1 }, { deep: [{ value }] }, { error: new Error(value) }]) {
      expect(text("e", fields)).not.toMatch(dangerous);
      const { log, lines } = newLog("json");
      log.error(value, fields);
      expect(lines[0]).not.toMatch(dangerous);
    }
    expect(text(value)).not.toMatch(dangerous);
    expect(json("e", { value }).value).toBe(value);
  });

  test("cannot fill the disk with one value", () => {
    expect(text("e", { value: "x".repeat(1_000_000) }).length).toBeLessThan(LOG_VALUE_MAX_LENGTH + 100);
  });
});

describe("secret fields", () => {
  const secretNames = [
    ..."password new_password auth_password passphrase pwd secret clientSecret secrets token".split(" "),
    ..."setup_token key api_key apiKey X-API-Key keys authorization Authorization cookie".split(" "),
    ..."Set-Cookie session session_id community bearer PASSWORD_HASH".split(" "),
  ];

  test.each(secretNames)("are never printed: %s", (name) => {
    for (const value of ["hunter2hunter2", ["hunter2hunter2"], { value: "hunter2hunter2" }])
      for (const fields of [{ [name]: value }, { deep: { deeper: [{ [name]: value }] } }]) {
        expect(text("e", fields)).not.toContain("hunter2");
        expect(text("e", fields)).toContain("[hidden]");
        expect(JSON.stringify(json("e", fields))).not.toContain("hunter2");
      }
  });

  test.each(["name", "path", "request_id", "key_id", "apiKeyId", "api_key_ids", "status", "passed", "actor"])(
    "%s is not secret",
    (name) => expect(isSecretFieldName(name)).toBe(false),
  );

  test("show only their length if they are bytes", () => {
    const line = text("e", { value: new Uint8Array(32).fill(65), buffer: Buffer.from("hunter2") });
    expect(line).toBe(`${AT} INFO  e value="[32 bytes]" buffer="[7 bytes]"`);
  });
});

describe("logging", () => {
  test("never throws for any value", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const primitives = [10n ** 30n, Symbol("s"), Number.NaN];
    const objects = [cycle, () => 1, new Date(Number.NaN), new Map([["a", 1]]), Object.create(null), [undefined]];
    for (const value of [...primitives, ...objects, { toJSON: () => 1n }])
      expect(json("e", { value })).toHaveProperty("value");
  });

  test("never throws even if reading the value does", () => {
    const value = {
      get broken(): never {
        throw new Error("no");
      },
    };
    expect(text("e", { value })).toBe(`${AT} INFO  e fields=[unreadable]`);
  });

  test("omits undefined values", () => {
    expect(text("e", { gone: undefined, here: 1 })).toBe(`${AT} INFO  e here=1`);
  });
});

test("an error is printed with name, message, location and cause, on one line", () => {
  const printed = String(json("crashed", { error: new TypeError("boom", { cause: new Error("spark") }) }).error);
  expect(printed).toContain("TypeError");
  expect(printed).toContain("boom");
  expect(printed).toContain("log.test.ts");
  expect(printed).toContain("caused by Error: spark");
});

test("the program's own log writes to standard error directly, and survives a closed pipe", async () => {
  const module = JSON.stringify(join(import.meta.dir, "../../src/base/log.ts"));
  const script = `import { systemLog } from ${module}; systemLog().info("100%% %s", { a: "%d %o" }); console.log("after");`;
  const program = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" });
  const [out, error] = await Promise.all([new Response(program.stdout).text(), new Response(program.stderr).text()]);
  expect(out).toBe("after\n");
  expect(error).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO {2}100%% %s a="%d %o"\n$/);

  const closedPipeScript = 'exec 3>&1; "$0" -e "$1" 2>&1 >&3 | true';
  const withClosedPipe = Bun.spawn(["sh", "-c", closedPipeScript, process.execPath, script], { stdout: "pipe" });
  expect(await new Response(withClosedPipe.stdout).text()).toBe("after\n");
});
