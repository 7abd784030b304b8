// Security, as somebody would try it who is not asked in: sign-in flooded and timed, sessions planted, pages of other sites, secrets looked
// for, rights stretched.

import type { Finding, Part, Table } from "./part.ts";
import { proveAttacks } from "./security/attacks.ts";
import { proveCrowding } from "./security/crowding.ts";
import { proveEncryption } from "./security/encryption.ts";
import { proveFlood } from "./security/flood.ts";
import { proveForeignPages } from "./security/foreign-pages.ts";
import { proveLateRights } from "./security/late-rights.ts";
import { proveSecrets } from "./security/secrets.ts";
import { proveSentSecrets } from "./security/sent-secrets.ts";
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
    findings.push(...(await chapter("one caller's thousands of requests at once", () => proveCrowding(proving))));
    const timing = await chapter("the time that sign-ins take", () => proveTiming(proving));
    findings.push(...timing.findings);
    tables.push(timing.table);
    findings.push(...(await chapter("rights that are taken away from who waits", () => proveLateRights(proving))));
    const [secrets, sent, ...others] = await chapter(
      "sessions, other sites' pages, attacks, TLS, secrets looked for, and whom they are sent to",
      () =>
        Promise.all([
          proveSecrets(proving),
          proveSentSecrets(proving),
          proveSessions(proving),
          proveForeignPages(proving),
          proveEncryption(proving),
          proveAttacks(proving),
        ] as const),
    );
    findings.push(...secrets.findings, ...sent.findings, ...others.flat());
    return { findings, tables, leftOut: [...secrets.leftOut, ...sent.leftOut] };
  },
};
