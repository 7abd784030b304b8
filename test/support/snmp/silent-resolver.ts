// Name lookups against a silent resolver, followed by a password hash: reports which completes first, and the results
// without a resolver. Takes a resolver file to mount as /etc/resolv.conf in a private mount namespace.

import { systemRandom } from "../../../src/base/random.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import { systemProbes } from "../../../src/discovery/scans/system-probes.ts";
import { ignoreSocketError } from "./agent.ts";

/** Address of a resolver that receives but never responds. */
export const SILENT_RESOLVER = "127.0.0.77";

if (import.meta.main) {
  await Bun.udpSocket({ hostname: SILENT_RESOLVER, port: 53, socket: { data: () => {}, error: ignoreSocketError } });
  const probes = systemProbes({
    snmpPort: 161,
    tcpPorts: [],
    timers: systemTimers,
    random: systemRandom,
    monotonicMs: () => performance.now(),
  });
  const { signal } = new AbortController();
  const self = await probes.addressesOf("localhost", signal);
  const names = Promise.all(
    Array.from({ length: 32 }, (_, index) => probes.addressesOf(`switch-${index}.example.org`, signal)),
  );
  const first = await Promise.race([
    names.then(() => "names"),
    Bun.password
      .hash("correct horse battery", { algorithm: "argon2id", memoryCost: 64, timeCost: 1 })
      .then(() => "password"),
  ]);
  process.stdout.write(JSON.stringify({ first, self, names: [...new Set(await names)] }));
  process.exit();
}
