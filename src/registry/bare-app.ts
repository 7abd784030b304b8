// App without a store, for its operation declarations. Cannot serve requests that need a store.

import { Counters } from "../base/counters.ts";
import { AllowedHosts } from "../http/allowed-hosts.ts";
import { createApp } from "./app.ts";

export function createBareApp(): ReturnType<typeof createApp> {
  return createApp({
    backend: {
      reader: placeholder(),
      writes: placeholder(),
      longReads: placeholder(),
      log: placeholder(),
      authorOf: () => placeholder(),
    },
    gate: placeholder(),
    signIn: placeholder(),
    watch: placeholder(),
    random: placeholder(),
    log: placeholder(),
    counters: new Counters(),
    clock: placeholder(),
    requestIdPrefix: "",
    monotonicMs: () => performance.now(),
    discovery: placeholder(),
    scans: placeholder(),
    backups: placeholder(),
    verifications: placeholder(),
    startedAt: 0,
    machine: placeholder(),
    served: () => null,
    billOfMaterials: async () => null,
    isReadOnly: false,
    isDemo: false,
    limitations: [],
    isTls: false,
    hosts: new AllowedHosts({ isLoopback: false, names: [] }),
    trustedProxies: [],
    awaitingResponse: new Set(),
    bodyChecks: null,
    timers: placeholder(),
    console: null,
  });
}

/** Placeholder that throws on any access. */
function placeholder<T extends object>(): T {
  return new Proxy({} as T, {
    get: (_target, name) => {
      throw new Error(`bare app: ${String(name)} requires a store`);
    },
  });
}
