import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SecretFiles, SecretUnreadable } from "../../src/discovery/scans/secret-files.ts";
import { makePipe } from "../support/executable/special-files.ts";

let around: string;
let folder: string;
let files: SecretFiles;

beforeEach(() => {
  around = mkdtempSync(join(tmpdir(), "netledger-secrets-"));
  folder = join(around, "secrets");
  mkdirSync(join(folder, "site"), { recursive: true });
  files = new SecretFiles(folder);
});
afterEach(() => rmSync(around, { recursive: true, force: true }));

function problem(path: string, of: SecretFiles = files): string {
  try {
    of.read(path);
  } catch (error) {
    if (error instanceof SecretUnreadable) return error.message;
    throw error;
  }
  return "";
}

describe("a secret in a file", () => {
  test.each([
    ["a secret", "a secret"],
    ["a secret\n", "a secret"],
    ["a secret\r\n", "a secret"],
    ["a secret\n\n", "a secret\n"],
    [" a secret ", " a secret "],
    ["ünïcödé", "ünïcödé"],
  ])("%j becomes %j: one final line break is removed, and nothing else", (content, secret) => {
    writeFileSync(join(folder, "site", "community"), content);
    expect(files.read("site/community")).toBe(secret);
  });

  test("is read again each time", () => {
    writeFileSync(join(folder, "community"), "first");
    expect(files.read("community")).toBe("first");
    writeFileSync(join(folder, "community"), "second");
    expect(files.read("community")).toBe("second");
  });

  test("may be a link inside the folder, which itself may be one", () => {
    writeFileSync(join(folder, "site", "community"), "a secret");
    symlinkSync("site/community", join(folder, "current"));
    symlinkSync(folder, join(around, "linked"));
    expect(files.read("current")).toBe("a secret");
    expect(new SecretFiles(join(around, "linked")).read("site/community")).toBe("a secret");
  });

  test("is not read from outside the folder, by any path", () => {
    writeFileSync(join(around, "outside"), "not to be told");
    mkdirSync(join(around, "secrets-too"));
    writeFileSync(join(around, "secrets-too", "community"), "not to be told");
    symlinkSync(join(around, "outside"), join(folder, "link"));
    symlinkSync(around, join(folder, "up"));
    for (const path of ["link", "up/outside", "../outside", "../secrets-too/community"])
      expect(problem(path)).toBe(`the file ${path} is outside the folder of secrets`);
  });

  test.each([
    ["missing", () => {}, "the file missing does not exist"],
    ["empty", (at: string) => writeFileSync(at, "\n"), "the file empty is empty"],
    ["long", (at: string) => writeFileSync(at, "x".repeat(1_025)), "the file long is longer than 1024 characters"],
    ["huge", (at: string) => writeFileSync(at, "x".repeat(1_000_000)), "the file huge is longer than 1024 characters"],
    ["binary", (at: string) => writeFileSync(at, Uint8Array.of(0xff, 0xfe, 0x00)), "the file binary is not UTF-8"],
    ["folder", (at: string) => mkdirSync(at), "the file folder is not a regular file"],
  ])("that is %s is reported as such, without its content", (name, make, message) => {
    make(join(folder, name));
    expect(problem(name)).toBe(message);
  });

  test("is not read from outside even if a parent becomes a link in the meantime", async () => {
    mkdirSync(join(around, "outside"));
    for (const [at, content] of [
      [join(folder, "site"), "a secret"],
      [join(around, "outside"), "not to be told"],
    ] as const)
      writeFileSync(join(at, "community"), content);
    symlinkSync("../outside", join(folder, "link"));
    const swap = `const { renameSync } = require("node:fs"); process.chdir(process.argv[1]); process.stdout.write("begun");
      for (;;) for (const [from, to] of [["site", "kept"], ["link", "site"], ["site", "link"], ["kept", "site"]]) renameSync(from, to);`;
    const swapping = Bun.spawn([process.execPath, "-e", swap, folder], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    const begun = swapping.stdout.getReader();
    await begun.read();
    try {
      const told = new Set<string>();
      for (let reads = 0; reads < 40_000; reads += 1)
        try {
          told.add(files.read("site/community"));
        } catch (error) {
          if (!(error instanceof SecretUnreadable)) throw error;
        }
      expect([...told]).toEqual(["a secret"]);
    } finally {
      swapping.kill("SIGKILL");
      await Promise.all([swapping.exited, begun.cancel()]);
    }
  });

  test("may have the maximum length", () => {
    writeFileSync(join(folder, "long"), `${"ü".repeat(1_024)}\n`);
    expect(files.read("long")).toBe("ü".repeat(1_024));
  });

  test("that is a FIFO does not block", () => {
    makePipe(join(folder, "pipe"));
    expect(problem("pipe")).toBe("the file pipe is not a regular file");
  });

  test("is unavailable without a configured or existing folder", () => {
    expect(problem("x", new SecretFiles(null))).toBe("no folder of secrets is configured (--secrets-folder)");
    expect(problem("x", new SecretFiles(join(around, "nowhere")))).toBe("the folder of secrets does not exist");
  });
});
