// Asks the system's resolver, which says nothing, for many names, and then hashes a password: says which of the two is
// done first, and what is found without a resolver. Run with the file that names the resolver: /etc/resolv.conf, in a
// mount namespace of its own.

import { systemRandom } from "../../../src/base/random.ts";
import { systemTimers } from "../../../src/base/timers.ts";
import { systemProbes } from "../../../src/discovery/scans/system-probes.ts";
import { nobodyListens } from "./agent.ts";

/** Where the resolver is that hears and does not speak. */
export const MUTE_RESOLVER = "127.0.0.77";

if (import.meta.main) {
  await Bun.udpSocket({ hostname: MUTE_RESOLVER, port: 53, socket: { data: () => {}, error: nobodyListens } });
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
    Array.from({ length: 32 }, (_, place) => probes.addressesOf(`switch-${place}.example.org`, signal)),
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
