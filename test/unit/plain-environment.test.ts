// Uniform test environment, independent of the host's programs and settings.

import { expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

test("tests and their child processes have no proxy, locale, zone, umask, ping or runtime options from the host", () => {
  const folder = mkdtempSync(join(tmpdir(), "netledger-plain-"));
  try {
    for (const name of ["fping", "ping", "other-program"]) {
      writeFileSync(join(folder, name), "#!/bin/sh\n");
      chmodSync(join(folder, name), 0o755);
    }
    const preload = resolve(import.meta.dir, "../support/injected/plain-environment.ts");
    const report =
      'const found = Bun.spawnSync(["sh", "-c", "env; umask; for name in fping ping other-program; do command -v $name; done"]); process.stdout.write(found.stdout);';
    const run = Bun.spawnSync(
      ["sh", "-c", 'umask 077; exec "$@"', "sh", process.execPath, "--preload", preload, "-e", report],
      {
        env: {
          ...process.env,
          PATH: `${folder}:${process.env.PATH}`,
          ...{ TZ: "Asia/Kolkata", LANG: "de_DE.UTF-8", LC_ALL: "de_DE.UTF-8", NO_COLOR: "1" },
          ...{ HTTP_PROXY: "http://127.0.0.1:9", https_proxy: "http://127.0.0.1:9" },
          ...{ MIMALLOC_PURGE_DELAY: "-1", BUN_JSC_useFTLJIT: "0" },
        },
      },
    );
    const lines = run.stdout.toString().trimEnd().split("\n");
    expect(lines).toEqual(expect.arrayContaining(["TZ=UTC", "LANG=C.UTF-8", "0022"]));
    expect(lines.filter((line) => /proxy|COLOR|LC_|Kolkata|de_DE|MIMALLOC|BUN_JSC/i.test(line))).toEqual([]);
    expect(lines.filter((line) => /^\/.*(ping|other-program)$/.test(line))).toEqual([
      expect.stringMatching(/\/netledger-path-\w+\/other-program$/),
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
