// Certificate in use while its files change, become invalid and expire.

import { beforeEach, expect, test } from "bun:test";
import { createLog } from "../../src/base/log.ts";
import { type TlsPair, TlsRefused } from "../../src/tls/pair.ts";
import { CertificateRenewal, CHECK_INTERVAL_MS, WARN_DAYS } from "../../src/tls/renewal.ts";
import { ManualTimers } from "../support/injected/manual-timers.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

let now: number;
let timers: ManualTimers;
let lines: string[];
let loaded: string[];
let onDisk: () => TlsPair;
beforeEach(() => {
  now = Date.UTC(2026, 10, 21);
  timers = new ManualTimers();
  lines = [];
  loaded = [];
});

function newPair(name: string, validDays = 90): TlsPair {
  const period = { validFrom: now - DAY_MS, validTo: now + validDays * DAY_MS };
  const names = { subject: "CN=a", issuer: "CN=a", names: "DNS:a" };
  return { certificate: name, privateKey: `key of ${name}`, fingerprint: name, ...names, ...period };
}

function startRenewal(pair: TlsPair): CertificateRenewal {
  onDisk = () => pair;
  const clock = { now: () => now };
  return new CertificateRenewal({
    read: async () => onDisk(),
    pair,
    apply: (next) => loaded.push(next.certificate),
    timers,
    clock,
    log: createLog({ write: (line) => lines.push(line.slice(25)), format: "text", clock }),
  });
}

test("a changed pair is loaded once when checked", async () => {
  const renewal = startRenewal(newPair("old"));
  await renewal.checkNow();
  expect(loaded).toEqual([]);
  const next = newPair("new");
  onDisk = () => next;
  await Promise.all([renewal.checkNow(), renewal.checkNow()]);
  expect(loaded).toEqual(["new"]);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toStartWith("INFO  certificate_taken_over fingerprint=new names=DNS:a valid_to=");
});

test("the files are checked every minute until closed", async () => {
  let checks = 0;
  const pair = newPair("old");
  const renewal = startRenewal(pair);
  onDisk = () => {
    checks += 1;
    return pair;
  };
  timers.advance(CHECK_INTERVAL_MS - 1);
  expect(checks).toBe(0);
  timers.advance(1);
  await renewal.checkNow();
  expect(checks).toBe(2);
  timers.advance(CHECK_INTERVAL_MS);
  await renewal.checkNow();
  expect(checks).toBe(4);
  renewal.close();
  expect(timers.pendingCount).toBe(0);
  await renewal.checkNow();
  expect(checks).toBe(4);
});

test("an unusable pair is reported once and changes nothing, until fixed", async () => {
  const renewal = startRenewal(newPair("old"));
  onDisk = () => {
    throw new TlsRefused("the key is not the key");
  };
  await renewal.checkNow();
  await renewal.checkNow();
  expect(loaded).toEqual([]);
  expect(lines).toEqual(['WARN  certificate_not_taken_over reason="the key is not the key" in_use=old']);
  onDisk = () => newPair("fixed");
  await renewal.checkNow();
  expect(loaded).toEqual(["fixed"]);
});

test("a near or past expiry is reported once a day", async () => {
  const renewal = startRenewal(newPair("old", WARN_DAYS + 1));
  await renewal.checkNow();
  expect(lines).toEqual([]);
  now += DAY_MS;
  await renewal.checkNow();
  await renewal.checkNow();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^WARN {2}certificate_expires valid_to=2026-12-06T00:00:00\.000Z fingerprint=old$/);
  now += WARN_DAYS * DAY_MS;
  await renewal.checkNow();
  expect(lines[1]).toStartWith("WARN  certificate_expired ");
});

test("a certificate that is not valid yet is reported at startup", () => {
  startRenewal({ ...newPair("early"), validFrom: now + 1 });
  expect(lines[0]).toStartWith("WARN  certificate_not_yet_valid ");
});
