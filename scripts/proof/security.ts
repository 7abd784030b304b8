// Security, as somebody would try it who is not asked in: sign-in flooded and timed, sessions planted, pages of other sites, secrets looked
// for, rights stretched.

import type { Finding, Part, Table } from "./part.ts";
import { proveAttacks } from "./security/attacks.ts";
import { proveEncryption } from "./security/encryption.ts";
import { proveFlood } from "./security/flood.ts";
import { proveForeignPages } from "./security/foreign-pages.ts";
import { proveSecrets } from "./security/secrets.ts";
import { proveSessions } from "./security/sessions.ts";
import { proveTiming } from "./security/timing.ts";

export const security: Part = {
  name: "security",
  title: "Security",
  prove: async (proving) => {
    const findings: Finding[] = [];
    const tables: Table[] = [];
    const chapter = async <T>(name: string, prove: () => Promise<T>): Promise<T> => {
      proving.say(name);
      return prove();
    };
    // What measures goes first, one after the other, as nothing else of ours runs then.
    findings.push(...(await chapter("a flood of sign-ins", () => proveFlood(proving))));
    const timing = await chapter("the time that sign-ins take", () => proveTiming(proving));
    findings.push(...timing.findings);
    tables.push(timing.table);
    const [secrets, ...others] = await chapter("sessions, other sites' pages, attacks, TLS, and secrets looked for", () =>
      Promise.all([proveSecrets(proving), proveSessions(proving), proveForeignPages(proving), proveEncryption(proving), proveAttacks(proving)] as const),
    );
    findings.push(...secrets.findings, ...others.flat());
    return { findings, tables, leftOut: secrets.leftOut };
  },
};
