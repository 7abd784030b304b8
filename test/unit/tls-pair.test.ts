// Certificate and key files from an operator: accepted pairs, and an error message for every other pair.

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
  type CertificatePair,
  encryptKey,
  generateCertificate,
  generateKey,
  makePair,
  makeRsaPair,
  writePair,
} from "../support/tls/certificates.ts";

const NOW = Date.UTC(2026, 10, 21, 9);
const DAY_MS = 24 * 60 * 60 * 1000;
const clockAt = (at: number) => ({ now: () => at });

let folder: string;
let pair: CertificatePair;
let otherPair: CertificatePair;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "netledger-tls-"));
  pair = await makePair(NOW);
  otherPair = await makePair(NOW);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LEGACY_ENCRYPTED = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA";
const pem = (label: string, text: string) => `-----BEGIN ${label}-----\n${text}\n-----END ${label}-----\n`;
const damaged = (text: string) => text.replace(/\n[A-Za-z0-9+/]{20}/, `\n${"A".repeat(20)}`);

function problemOf(files: PairFiles): string {
  try {
    readTlsPair(files);
  } catch (error) {
    if (error instanceof TlsRefused) return error.message;
    throw error;
  }
  throw new Error("the pair was accepted");
}

describe("a certificate and its key", () => {
  test("are accepted, with fingerprint, names and dates", () => {
    const accepted = readTlsPair(writePair(folder, pair));
    expect(accepted.certificate).toBe(pair.certificate);
    expect(accepted.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/);
    expect(accepted.fingerprint).toBe(new X509Certificate(pair.certificate).fingerprint256);
    expect(accepted.names).toContain("DNS:localhost");
    expect([accepted.validFrom, accepted.validTo]).toEqual([NOW, NOW + 90 * DAY_MS]);
  });

  test("are accepted with a chain after the certificate, with comments, and in one file", () => {
    const chain = `Subject: CN = somebody\n${pair.certificate}\n${otherPair.certificate}`;
    const files = writePair(folder, { certificate: chain, privateKey: pair.privateKey }, "chain");
    expect(readTlsPair(files).fingerprint).toBe(new X509Certificate(pair.certificate).fingerprint256);
    const text = pair.privateKey + pair.certificate;
    const both = writePair(folder, { certificate: text, privateKey: text }, "both");
    expect(readTlsPair(both).certificate).toContain("BEGIN CERTIFICATE");
  });

  test("are accepted even if expired, since expiry is reported elsewhere", async () => {
    const old = await makePair(NOW - 400 * DAY_MS, 90);
    expect(readTlsPair(writePair(folder, old, "old")).validTo).toBe(NOW - 310 * DAY_MS);
  });

  test("are accepted with an RSA key long enough for clients, and refused otherwise", async () => {
    const long = writePair(folder, await makeRsaPair(2_048, NOW), "rsa");
    expect(readTlsPair(long).certificate).toContain("BEGIN CERTIFICATE");
    const short = writePair(folder, await makeRsaPair(1_024, NOW), "short");
    expect(() => readTlsPair(short)).toThrow(/^the key is an RSA key of 1024 bits: clients require at least 2048$/);
  });

  function expectProblem(wrong: CertificatePair, file: "the certificate " | "the key ", expected: RegExp): void {
    const problem = problemOf(writePair(folder, wrong, "wrong"));
    expect(problem).toStartWith(file);
    expect(problem.slice(file.length)).toMatch(expected);
    expect(problem).not.toContain(pair.privateKey.split("\n")[1] as string);
  }

  test("are refused if the chain is in the wrong order", () => {
    const certificate = otherPair.certificate + pair.certificate;
    expectProblem({ ...pair, certificate }, "the certificate ", /^has the server's own certificate after others/);
  });

  test.each<[name: string, createCertificate: () => string, problem: RegExp]>([
    ["its key", () => pair.privateKey, /^holds a private key instead of a certificate: are the two files swapped\?$/],
    ["other text", () => "hello", /^is not PEM: it contains no -----BEGIN CERTIFICATE-----/],
    ["no text", () => "", /^is not PEM/],
    ["a damaged one", () => damaged(pair.certificate), /^is damaged: its certificate 1 of 1/],
    ["DER", () => "0\u0082", /^is DER or PKCS #12, not PEM/],
    ["too much", () => "x".repeat(2_000_000), /^has 2000000 bytes, more than the maximum of 1048576/],
  ])("are refused with %s for a certificate, regardless of the key", (_case, createCertificate, problem) => {
    for (const privateKey of [pair.privateKey, pair.certificate, "hello"])
      expectProblem({ certificate: createCertificate(), privateKey }, "the certificate ", problem);
  });

  test.each<[name: string, createKey: () => string, problem: RegExp]>([
    ["another certificate's", generateKey, /^is not the key of the certificate in /],
    ["a certificate", () => pair.certificate, /^holds a certificate instead of a private key/],
    ["encrypted text", () => encryptKey(pair.privateKey), /^is encrypted, and netledger cannot ask for its passphrase/],
    ["legacy encrypted text", () => pem("RSA PRIVATE KEY", LEGACY_ENCRYPTED), /^is encrypted/],
    ["other text", () => "hello", /^is not PEM: it contains no -----BEGIN PRIVATE KEY-----/],
    ["a damaged one", () => pem("PRIVATE KEY", "AAAA"), /^is damaged/],
  ])("are refused with %s for a key", (_case, createKey, problem) =>
    expectProblem({ ...pair, privateKey: createKey() }, "the key ", problem),
  );

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
  const ensure = (files: ReturnType<typeof filesIn>, at = NOW, names = ["localhost"]) =>
    ensureSelfSigned(files, names, generateCertificate, clockAt(at), random);

  test("is created once, readable by its owner only, for the given names, and reused", async () => {
    const files = filesIn("first");
    const created = await ensure(files, NOW, ["localhost", "inventory.example", "10.2.3.4", "fd00::1"]);
    expect(created.isNew).toBe(true);
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
    expect([created.pair.validFrom, created.pair.validTo]).toEqual([NOW - DAY_MS, NOW + VALID_DAYS * DAY_MS]);
    const reused = await ensure(files, NOW + DAY_MS, ["other.example"]);
    expect([reused.isNew, reused.pair.fingerprint]).toEqual([false, created.pair.fingerprint]);
  });

  test("is renewed with the same key before it expires", async () => {
    const files = filesIn("renewed");
    const created = await ensure(files);
    const unchanged = await ensure(files, NOW + (VALID_DAYS - RENEW_DAYS) * DAY_MS - 1);
    expect(unchanged.isNew).toBe(false);
    const renewed = await ensure(files, NOW + (VALID_DAYS - RENEW_DAYS) * DAY_MS);
    expect(renewed.isNew).toBe(true);
    expect(renewed.pair.fingerprint).not.toBe(created.pair.fingerprint);
    expect(renewed.pair.privateKey).toBe(created.pair.privateKey);
  });

  test("is renewed with the same key if created under a clock that was ahead", async () => {
    const files = filesIn("ahead");
    const ahead = await ensure(files, NOW + 300 * DAY_MS);
    const repaired = await ensure(files);
    expect([repaired.isNew, repaired.pair.validFrom]).toEqual([true, NOW - DAY_MS]);
    expect(repaired.pair.privateKey).toBe(ahead.pair.privateKey);
  });

  test("is refused if others can read its key, and if the existing files are invalid", async () => {
    const files = filesIn("open");
    await ensure(files);
    chmodSync(files.privateKey, 0o640);
    const problem = `${files.privateKey} is open to others (mode 0640): make it 0600 with chmod`;
    expect(ensure(files)).rejects.toThrow(problem);
    chmodSync(files.privateKey, 0o600);
    writeFileSync(files.privateKey, "nonsense");
    expect(ensure(files)).rejects.toThrow("is not PEM");
    rmSync(files.certificate);
    expect(ensure(files)).rejects.toThrow("holds no key usable for a certificate");
  });

  test.each<[string, (path: string) => void, string]>([
    ["a directory", (path) => mkdirSync(path, { mode: 0o700 }), "is a folder, not a file"],
    ["a named pipe", makePipe, "is not a regular file"],
    ["a dangling link", (path) => symlinkSync("/nowhere/at/all", path), "cannot be read (ENOENT)"],
    ["a link to itself", (path) => symlinkSync(path, path), "cannot be read (ELOOP)"],
  ])("is refused if its key is %s, which is left unchanged", async (kind, createEntry, problem) => {
    const files = filesIn(kind);
    createEntry(files.privateKey);
    const before = lstatSync(files.privateKey).ino;
    const refused = await ensure(files).catch((error) => error);
    expect([refused.name, refused.message]).toEqual(["TlsRefused", `${files.privateKey} ${problem}`]);
    expect(lstatSync(files.privateKey).ino).toBe(before);
  });

  test("is not written through a link at the temporary path", async () => {
    const files = filesIn("through");
    const otherFile = join(folder, "other");
    writeFileSync(otherFile, "other");
    for (const path of [files.certificate, files.privateKey]) symlinkSync(otherFile, `${path}.new`);
    expect((await ensure(files)).isNew).toBe(true);
    expect(readFileSync(otherFile, "utf8")).toBe("other");
  });

  test("covers the names by which the listener is reachable", () => {
    expect(certificateNames("10.2.3.4", "Inventory", ["10.9.9.9"])).toEqual(
      "localhost inventory 10.2.3.4 127.0.0.1 ::1".split(" "),
    );
    expect(certificateNames("0.0.0.0", "a.example", ["10.9.9.9", "fd00::0001", "127.0.0.1"])).toEqual(
      "localhost a.example 10.9.9.9 fd00::1 127.0.0.1 ::1".split(" "),
    );
    expect(certificateNames("::", "not a name", [])).toEqual(["localhost", "127.0.0.1", "::1"]);
  });
});
