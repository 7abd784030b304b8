// App without a store, for its operation declarations. Must not serve any request that needs a store.

import { Counters } from "../base/counters.ts";
import { AllowedHosts } from "../http/allowed-hosts.ts";
import { createApp } from "./app.ts";

export function createBareApp(): ReturnType<typeof createApp> {
  return createApp({
    backend: { reader: absent(), writes: absent(), longReads: absent(), log: absent(), authorOf: () => absent() },
    gate: absent(),
    signIn: absent(),
    watch: absent(),
    random: absent(),
    log: absent(),
    counters: new Counters(),
    clock: absent(),
    requestIdPrefix: "",
    monotonicMs: () => performance.now(),
    discovery: absent(),
    scans: absent(),
    backups: absent(),
    verifications: absent(),
    startedAt: 0,
    machine: absent(),
    served: () => null,
    bill: async () => null,
    isReadOnly: false,
    isDemo: false,
    limitations: [],
    isTls: false,
    hosts: new AllowedHosts({ isLoopback: false, names: [] }),
    trustedProxies: [],
    answering: new Set(),
    bodyChecks: null,
    timers: absent(),
    console: null,
  });
}

/** Placeholder that throws on any access. */
function absent<T extends object>(): T {
  return new Proxy({} as T, {
    get: (_target, name) => {
      throw new Error(`bare app: there is no store to ask for ${String(name)}`);
    },
  });
}
