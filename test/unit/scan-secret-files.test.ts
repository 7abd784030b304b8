import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SecretFiles, SecretUnreadable } from "../../src/discovery/scans/secret-files.ts";
import { makePipe } from "../support/executable/special-files.ts";

let parent: string;
let folder: string;
let files: SecretFiles;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "netledger-secrets-"));
  folder = join(parent, "secrets");
  mkdirSync(join(folder, "site"), { recursive: true });
  files = new SecretFiles(folder);
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

function problem(path: string, secretFiles: SecretFiles = files): string {
  try {
    secretFiles.read(path);
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

  test("may be a link inside the directory, and the directory may be a link", () => {
    writeFileSync(join(folder, "site", "community"), "a secret");
    symlinkSync("site/community", join(folder, "current"));
    symlinkSync(folder, join(parent, "linked"));
    expect(files.read("current")).toBe("a secret");
    expect(new SecretFiles(join(parent, "linked")).read("site/community")).toBe("a secret");
  });

  test("is not read from outside the directory, by any path", () => {
    writeFileSync(join(parent, "outside"), "must not leak");
    mkdirSync(join(parent, "secrets-too"));
    writeFileSync(join(parent, "secrets-too", "community"), "must not leak");
    symlinkSync(join(parent, "outside"), join(folder, "link"));
    symlinkSync(parent, join(folder, "up"));
    for (const path of ["link", "up/outside", "../outside", "../secrets-too/community"])
      expect(problem(path)).toBe(`the file ${path} is outside the folder of secrets`);
  });

  test.each<[name: string, create: (path: string) => void, clause: string]>([
    ["missing", () => {}, "does not exist"],
    ["empty", (path) => writeFileSync(path, "\n"), "is empty"],
    ["long", (path) => writeFileSync(path, "x".repeat(1_025)), "is longer than 1024 characters"],
    ["huge", (path) => writeFileSync(path, "x".repeat(1_000_000)), "is longer than 1024 characters"],
    ["binary", (path) => writeFileSync(path, Uint8Array.of(0xff, 0xfe, 0x00)), "is not UTF-8"],
    ["folder", (path) => mkdirSync(path), "is not a regular file"],
  ])("is reported without its content if it is %s", (name, create, clause) => {
    create(join(folder, name));
    expect(problem(name)).toBe(`the file ${name} ${clause}`);
  });

  test("is not read from outside even if a parent becomes a link in the meantime", async () => {
    mkdirSync(join(parent, "outside"));
    writeFileSync(join(folder, "site", "community"), "a secret");
    writeFileSync(join(parent, "outside", "community"), "must not leak");
    symlinkSync("../outside", join(folder, "link"));
    const swapScript = `const { renameSync } = require("node:fs"); process.chdir(process.argv[1]); process.stdout.write("begun");
      for (;;) for (const [from, to] of [["site", "kept"], ["link", "site"], ["site", "link"], ["kept", "site"]]) renameSync(from, to);`;
    const swapper = Bun.spawn([process.execPath, "-e", swapScript, folder], {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
    });
    const output = swapper.stdout.getReader();
    await output.read();
    try {
      const contents = new Set<string>();
      for (let reads = 0; reads < 40_000; reads += 1)
        try {
          contents.add(files.read("site/community"));
        } catch (error) {
          if (!(error instanceof SecretUnreadable)) throw error;
        }
      expect([...contents]).toEqual(["a secret"]);
    } finally {
      swapper.kill("SIGKILL");
      await Promise.all([swapper.exited, output.cancel()]);
    }
  });

  test("may have the maximum length", () => {
    writeFileSync(join(folder, "long"), `${"ü".repeat(1_024)}\n`);
    expect(files.read("long")).toBe("ü".repeat(1_024));
  });

  test("does not block if it is a FIFO", () => {
    makePipe(join(folder, "pipe"));
    expect(problem("pipe")).toBe("the file pipe is not a regular file");
  });

  test("is unavailable without a configured or existing directory", () => {
    expect(problem("x", new SecretFiles(null))).toBe("no folder of secrets is configured (--secrets-folder)");
    expect(problem("x", new SecretFiles(join(parent, "nowhere")))).toBe("the folder of secrets does not exist");
  });
});
