// Key file: created once by one of several processes, and rejected if invalid.

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadOrCreateKeyFile } from "../../src/base/key-file.ts";
import { type Random, systemRandom } from "../../src/base/random.ts";
import { makePipe } from "../support/executable/special-files.ts";

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "netledger-key-"));
  path = join(folder, "secrets.key");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const constant = (byte: number): Random => ({ bytes: (count) => new Uint8Array(count).fill(byte) });

describe("a missing key file", () => {
  test("is created with 32 random bytes, readable by its owner only, without leftovers", () => {
    const key = loadOrCreateKeyFile(path, constant(9));
    expect(key).toEqual(new Uint8Array(32).fill(9));
    expect(readFileSync(path).toHex()).toBe(key.toHex());
    expect(statSync(path).mode & 0o7777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["secrets.key"]);
  });

  test("is read the next time", () => {
    const key = loadOrCreateKeyFile(path, systemRandom);
    expect(loadOrCreateKeyFile(path, constant(1))).toEqual(key);
  });

  test("is read from another process that created it first", () => {
    let isFirst = true;
    const slowRandom: Random = {
      bytes: (count) => {
        if (isFirst) loadOrCreateKeyFile(path, constant(5));
        isFirst = false;
        return new Uint8Array(count).fill(6);
      },
    };
    expect(loadOrCreateKeyFile(path, slowRandom)).toEqual(new Uint8Array(32).fill(5));
    expect(readdirSync(folder)).toEqual(["secrets.key"]);
  });

  test("is the same for concurrent starts", async () => {
    const module = join(import.meta.dir, "../../src/base");
    const script = `
      import { loadOrCreateKeyFile } from ${JSON.stringify(`${module}/key-file.ts`)};
      import { systemRandom } from ${JSON.stringify(`${module}/random.ts`)};
      console.log(loadOrCreateKeyFile(${JSON.stringify(path)}, systemRandom).toHex());`;
    const processes = Array.from({ length: 6 }, () =>
      Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "pipe" }),
    );
    const keys = await Promise.all(processes.map(({ stdout }) => new Response(stdout).text()));
    expect(new Set(keys).size).toBe(1);
    expect(keys[0]?.trim()).toBe(readFileSync(path).toHex());
    expect(readdirSync(folder)).toEqual(["secrets.key"]);
  });

  test("is reported if its directory is missing", () => {
    const inMissingFolder = join(folder, "nowhere", "secrets.key");
    expect(() => loadOrCreateKeyFile(inMissingFolder, systemRandom)).toThrow("cannot be created (ENOENT)");
  });

  test("is not created through a dangling symbolic link, and the link is kept", () => {
    symlinkSync(join(folder, "gone"), path);
    expect(() => loadOrCreateKeyFile(path, systemRandom)).toThrow("broken symbolic link");
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(existsSync(join(folder, "gone"))).toBe(false);
  });
});

describe("an existing key file", () => {
  test.each([0, 16, 31, 33, 64])("is refused and kept if it has %d bytes", (size) => {
    const content = Buffer.alloc(size, 4);
    writeFileSync(path, content, { mode: 0o600 });
    expect(() => loadOrCreateKeyFile(path, systemRandom)).toThrow(`has ${size} bytes instead of 32`);
    expect(readFileSync(path)).toEqual(content);
  });

  test.each([0o640, 0o604, 0o660, 0o666, 0o610, 0o644])("is refused and kept if its mode is %o", (mode) => {
    writeFileSync(path, Buffer.alloc(32, 4));
    chmodSync(path, mode);
    expect(() => loadOrCreateKeyFile(path, systemRandom)).toThrow(`open to others (mode 0${mode.toString(8)})`);
    expect(statSync(path).mode & 0o777).toBe(mode);
  });

  test("is accepted if read-only", () => {
    writeFileSync(path, Buffer.alloc(32, 4));
    chmodSync(path, 0o400);
    expect(loadOrCreateKeyFile(path, systemRandom)).toEqual(new Uint8Array(32).fill(4));
  });

  test("is refused if another user owns it", () => {
    writeFileSync(path, Buffer.alloc(32, 4), { mode: 0o600 });
    const owner = statSync(path).uid;
    const problem = `owned by user ${owner}, but the program runs as user ${owner + 1}`;
    expect(() => loadOrCreateKeyFile(path, systemRandom, owner + 1)).toThrow(problem);
  });

  test("is followed if it is a symbolic link", () => {
    const target = join(folder, "elsewhere");
    writeFileSync(target, Buffer.alloc(32, 4), { mode: 0o600 });
    symlinkSync(target, path);
    expect(loadOrCreateKeyFile(path, systemRandom)).toEqual(new Uint8Array(32).fill(4));
  });

  test("is refused if it is a directory", () => {
    mkdirSync(path, { mode: 0o700 });
    expect(() => loadOrCreateKeyFile(path, systemRandom)).toThrow("is not a regular file");
  });

  test("is refused immediately if it is a FIFO", () => {
    makePipe(path);
    expect(() => loadOrCreateKeyFile(path, systemRandom)).toThrow("is not a regular file");
  });
});
