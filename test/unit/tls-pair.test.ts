// Certificate and key files from an operator: accepted pairs, and messages for all others.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type PairFiles, readTlsPair, TlsRefused } from "../../src/tls/pair.ts";
import { certificateNames, ensureSelfSigned, RENEW_DAYS, VALID_DAYS } from "../../src/tls/self-signed.ts";
import { makePipe } from "../support/executable/special-files.ts";
import { seededRandom } from "../support/injected/seeded-random.ts";
import {
  encrypted,
  type MadePair,
  make,
  makePair,
  makeRsaPair,
  otherKey,
  writePair,
} from "../support/tls/certificates.ts";

const NOW = Date.UTC(2026, 10, 21, 9);
const DAY_MS = 24 * 60 * 60 * 1000;
const clockAt = (at: number) => ({ now: () => at });

let folder: string;
let pair: MadePair;
let another: MadePair;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "netledger-tls-"));
  pair = await makePair(NOW);
  another = await makePair(NOW);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function problemOf(files: PairFiles): string {
  try {
    readTlsPair(files);
  } catch (error) {
    if (error instanceof TlsRefused) return error.message;
    throw error;
  }
  throw new Error("it was taken");
}

describe("a certificate and its key", () => {
  test("are accepted, with fingerprint, names and dates", () => {
    const taken = readTlsPair(writePair(folder, pair));
    expect(taken.certificate).toBe(pair.certificate);
    expect(taken.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    expect(taken.fingerprint).toBe(new X509Certificate(pair.certificate).fingerprint256);
    expect(taken.names).toContain("DNS:localhost");
    expect([taken.validFrom, taken.validTo]).toEqual([NOW, NOW + 90 * DAY_MS]);
  });

  test("are accepted with a chain after the certificate, comments, and in one file", () => {
    const chain = `Subject: CN = somebody\n${pair.certificate}\n${another.certificate}`;
    const files = writePair(folder, { certificate: chain, privateKey: pair.privateKey }, "chain");
    expect(readTlsPair(files).fingerprint).toBe(new X509Certificate(pair.certificate).fingerprint256);
    const both = writePair(
      folder,
      { certificate: pair.privateKey + pair.certificate, privateKey: pair.privateKey + pair.certificate },
      "both",
    );
    expect(readTlsPair(both).certificate).toContain("BEGIN CERTIFICATE");
  });

  test("are accepted even if expired, which is reported elsewhere", async () => {
    const old = await makePair(NOW - 400 * DAY_MS, 90);
    expect(readTlsPair(writePair(folder, old, "old")).validTo).toBe(NOW - 310 * DAY_MS);
  });

  test("are accepted with an RSA key long enough for clients, and refused otherwise", async () => {
    expect(readTlsPair(writePair(folder, await makeRsaPair(2_048, NOW), "rsa")).certificate).toContain(
      "BEGIN CERTIFICATE",
    );
    const short = writePair(folder, await makeRsaPair(1_024, NOW), "short");
    expect(() => readTlsPair(short)).toThrow(/^the key is an RSA key of 1024 bits: clients require at least 2048$/);
  });

  test.each([
    [
      "a key of another certificate",
      () => ({ ...pair, privateKey: otherKey() }),
      /^the key is not the key of the certificate in /,
    ],
    [
      "the chain in the wrong order",
      () => ({ certificate: another.certificate + pair.certificate, privateKey: pair.privateKey }),
      /^the certificate has the server's own certificate after others/,
    ],
    [
      "swapped files",
      () => ({ certificate: pair.privateKey, privateKey: pair.certificate }),
      /^the certificate holds a private key and no certificate: are the two files swapped\?$/,
    ],
    [
      "a certificate instead of a key",
      () => ({ ...pair, privateKey: pair.certificate }),
      /^the key holds a certificate and no private key/,
    ],
    [
      "an encrypted key",
      () => ({ ...pair, privateKey: encrypted(pair.privateKey) }),
      /^the key is encrypted, and netledger cannot ask for its passphrase/,
    ],
    [
      "a legacy encrypted key",
      () => ({
        ...pair,
        privateKey:
          "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END RSA PRIVATE KEY-----\n",
      }),
      /^the key is encrypted/,
    ],
    [
      "texts that are not PEM",
      () => ({ certificate: "hello", privateKey: "hello" }),
      /^the certificate is not PEM: there is no -----BEGIN CERTIFICATE-----/,
    ],
    [
      "a key that is not PEM",
      () => ({ ...pair, privateKey: "hello" }),
      /^the key is not PEM: there is no -----BEGIN PRIVATE KEY-----/,
    ],
    ["an empty certificate", () => ({ ...pair, certificate: "" }), /^the certificate is not PEM/],
    [
      "a damaged certificate",
      () => ({ ...pair, certificate: pair.certificate.replace(/\n[A-Za-z0-9+/]{20}/, "\nAAAAAAAAAAAAAAAAAAAA") }),
      /^the certificate is damaged: its certificate 1 of 1/,
    ],
    [
      "a damaged key",
      () => ({ ...pair, privateKey: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" }),
      /^the key is damaged/,
    ],
    ["DER", () => ({ ...pair, certificate: "0\u0082" }), /^the certificate is DER or PKCS #12 and not PEM/],
    [
      "an endless file",
      () => ({ ...pair, certificate: "x".repeat(2_000_000) }),
      /^the certificate has 2000000 bytes, more than the maximum of 1048576/,
    ],
  ])("are refused for %s", (_what, madeOf, said) => {
    const problem = problemOf(writePair(folder, madeOf() as MadePair, "wrong"));
    expect(problem).toMatch(said);
    expect(problem).not.toContain(pair.privateKey.split("\n")[1] as string);
  });

  test("are refused for a missing or irregular file", () => {
    const files = writePair(folder, pair, "gone");
    rmSync(files.privateKey.path);
    expect(problemOf(files)).toBe("the key cannot be read (ENOENT)");
    mkdirSync(files.privateKey.path);
    expect(problemOf(files)).toBe("the key is a folder, not a file");
    rmdirSync(files.privateKey.path);
    makePipe(files.privateKey.path);
    expect(problemOf(files)).toBe("the key is not a regular file");
  });
});

describe("the self-signed pair", () => {
  const filesIn = (name: string) => {
    mkdirSync(join(folder, name));
    return { certificate: join(folder, name, "a.crt"), privateKey: join(folder, name, "a.key") };
  };
  const random = seededRandom(7);

  test("is created once, readable by its owner only, for the given names, and reused", async () => {
    const files = filesIn("first");
    const made = await ensureSelfSigned(
      files,
      ["localhost", "inventory.example", "10.2.3.4", "fd00::1"],
      make,
      clockAt(NOW),
      random,
    );
    expect(made.isNew).toBe(true);
    expect(statSync(files.privateKey).mode & 0o777).toBe(0o600);
    const certificate = new X509Certificate(readFileSync(files.certificate));
    expect([
      certificate.checkHost("inventory.example"),
      certificate.checkIP("10.2.3.4"),
      certificate.checkIP("fd00::1"),
      certificate.checkHost("elsewhere.example"),
    ]).toEqual(["inventory.example", "10.2.3.4", "fd00::1", undefined]);
    expect(certificate.ca).toBe(false);
    expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect([made.pair.validFrom, made.pair.validTo]).toEqual([NOW - DAY_MS, NOW + VALID_DAYS * DAY_MS]);
    const again = await ensureSelfSigned(files, ["other.example"], make, clockAt(NOW + DAY_MS), random);
    expect([again.isNew, again.pair.fingerprint]).toEqual([false, made.pair.fingerprint]);
  });

  test("is renewed with the same key before it expires", async () => {
    const files = filesIn("renewed");
    const made = await ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random);
    const still = await ensureSelfSigned(
      files,
      ["localhost"],
      make,
      clockAt(NOW + (VALID_DAYS - RENEW_DAYS) * DAY_MS - 1),
      random,
    );
    expect(still.isNew).toBe(false);
    const renewed = await ensureSelfSigned(
      files,
      ["localhost"],
      make,
      clockAt(NOW + (VALID_DAYS - RENEW_DAYS) * DAY_MS),
      random,
    );
    expect(renewed.isNew).toBe(true);
    expect(renewed.pair.fingerprint).not.toBe(made.pair.fingerprint);
    expect(renewed.pair.privateKey).toBe(made.pair.privateKey);
  });

  test("is renewed with the same key if created under a clock that was ahead", async () => {
    const files = filesIn("ahead");
    const ahead = await ensureSelfSigned(files, ["localhost"], make, clockAt(NOW + 300 * DAY_MS), random);
    const mended = await ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random);
    expect([mended.isNew, mended.pair.validFrom, mended.pair.privateKey === ahead.pair.privateKey]).toEqual([
      true,
      NOW - DAY_MS,
      true,
    ]);
  });

  test("is refused if others can read its key, and if the existing files are invalid", async () => {
    const files = filesIn("open");
    await ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random);
    chmodSync(files.privateKey, 0o640);
    expect(ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random)).rejects.toThrow(
      `${files.privateKey} is open to others (mode 0640): make it 0600 with chmod`,
    );
    chmodSync(files.privateKey, 0o600);
    writeFileSync(files.privateKey, "nonsense");
    expect(ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random)).rejects.toThrow("is not PEM");
    rmSync(files.certificate);
    expect(ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random)).rejects.toThrow(
      "holds no key usable for a certificate",
    );
  });

  test.each<[string, (path: string) => void, string]>([
    ["a folder", (path) => mkdirSync(path, { mode: 0o700 }), "is a folder, not a file"],
    ["a named pipe", makePipe, "is not a regular file"],
    ["a link that leads nowhere", (path) => symlinkSync("/nowhere/at/all", path), "cannot be read (ENOENT)"],
    ["a link to itself", (path) => symlinkSync(path, path), "cannot be read (ELOOP)"],
  ])("is refused if its key is %s, which stays", async (what, put, problem) => {
    const files = filesIn(what);
    put(files.privateKey);
    const before = lstatSync(files.privateKey).ino;
    const refused = await ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random).catch((error) => error);
    expect([refused.name, refused.message]).toEqual(["TlsRefused", `${files.privateKey} ${problem}`]);
    expect(lstatSync(files.privateKey).ino).toBe(before);
  });

  test("is not written through a link at the temporary path", async () => {
    const files = filesIn("through");
    const elsewhere = join(folder, "theirs");
    writeFileSync(elsewhere, "theirs");
    for (const path of [files.certificate, files.privateKey]) symlinkSync(elsewhere, `${path}.new`);
    expect((await ensureSelfSigned(files, ["localhost"], make, clockAt(NOW), random)).isNew).toBe(true);
    expect(readFileSync(elsewhere, "utf8")).toBe("theirs");
  });

  test("covers the names by which the listener is reachable", () => {
    expect(certificateNames("10.2.3.4", "Inventory", ["10.9.9.9"])).toEqual([
      "localhost",
      "inventory",
      "10.2.3.4",
      "127.0.0.1",
      "::1",
    ]);
    expect(certificateNames("0.0.0.0", "a.example", ["10.9.9.9", "fd00::0001", "127.0.0.1"])).toEqual(
      "localhost a.example 10.9.9.9 fd00::1 127.0.0.1 ::1".split(" "),
    );
    expect(certificateNames("::", "not a name", [])).toEqual(["localhost", "127.0.0.1", "::1"]);
  });
});
