// Active certificate while its files change, become invalid and expire.

import { beforeEach, expect, test } from "bun:test";
import { createLog } from "../../src/base/log.ts";
import { type TlsPair, TlsRefused } from "../../src/tls/pair.ts";
import { CertificateRenewal, LOOK_MS, WARN_DAYS } from "../../src/tls/renewal.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let now: number;
let timers: ManualTimers;
let lines: string[];
let taken: string[];
let onDisk: () => TlsPair;
beforeEach(() => {
  now = Date.UTC(2026, 10, 21);
  timers = new ManualTimers();
  lines = [];
  taken = [];
});

function pairCalled(name: string, validDays = 90): TlsPair {
  return {
    certificate: name,
    privateKey: `key of ${name}`,
    fingerprint: name,
    subject: "CN=a",
    issuer: "CN=a",
    names: "DNS:a",
    validFrom: now - DAY_MS,
    validTo: now + validDays * DAY_MS,
  };
}

function begin(pair: TlsPair): CertificateRenewal {
  onDisk = () => pair;
  const clock = { now: () => now };
  return new CertificateRenewal({
    read: async () => onDisk(),
    pair,
    take: (next) => taken.push(next.certificate),
    timers,
    clock,
    log: createLog({ write: (line) => lines.push(line.slice(25)), format: "text", clock }),
  });
}

test("a changed pair is loaded once when checked", async () => {
  const renewal = begin(pairCalled("old"));
  await renewal.look();
  expect(taken).toEqual([]);
  const next = pairCalled("new");
  onDisk = () => next;
  await Promise.all([renewal.look(), renewal.look()]);
  expect(taken).toEqual(["new"]);
  expect(lines).toEqual([
    expect.stringMatching(/^INFO {2}certificate_taken_over fingerprint=new names=DNS:a valid_to=/),
  ]);
});

test("the files are checked every minute until closed", async () => {
  let looks = 0;
  const pair = pairCalled("old");
  const renewal = begin(pair);
  onDisk = () => {
    looks += 1;
    return pair;
  };
  timers.advance(LOOK_MS - 1);
  expect(looks).toBe(0);
  timers.advance(1);
  await renewal.look();
  expect(looks).toBe(2);
  timers.advance(LOOK_MS);
  await renewal.look();
  expect(looks).toBe(4);
  renewal.close();
  expect(timers.pendingCount).toBe(0);
  await renewal.look();
  expect(looks).toBe(4);
});

test("an unusable pair is reported once and changes nothing, until fixed", async () => {
  const renewal = begin(pairCalled("old"));
  onDisk = () => {
    throw new TlsRefused("the key is not the key");
  };
  await renewal.look();
  await renewal.look();
  expect(taken).toEqual([]);
  expect(lines).toEqual(['WARN  certificate_not_taken_over reason="the key is not the key" in_use=old']);
  onDisk = () => pairCalled("mended");
  await renewal.look();
  expect(taken).toEqual(["mended"]);
});

test("a near or past expiry is reported once a day", async () => {
  const renewal = begin(pairCalled("old", WARN_DAYS + 1));
  await renewal.look();
  expect(lines).toEqual([]);
  now += DAY_MS;
  await renewal.look();
  await renewal.look();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^WARN {2}certificate_expires valid_to=2026-12-06T00:00:00\.000Z fingerprint=old$/);
  now += WARN_DAYS * DAY_MS;
  await renewal.look();
  expect(lines[1]).toStartWith("WARN  certificate_expired ");
});

test("a certificate that is not valid yet is reported at startup", () => {
  begin({ ...pairCalled("early"), validFrom: now + 1 });
  expect(lines[0]).toStartWith("WARN  certificate_not_yet_valid ");
});
