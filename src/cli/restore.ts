// netledger restore: restores a backup into a data directory.

import { restoreBackup } from "../backup/restore.ts";
import { systemLog } from "../base/log.ts";
import { describeReport } from "../history/verify/verify.ts";
import { defineCommand, EXIT } from "./command.ts";
import { progressTo } from "./progress.ts";

export const restore = defineCommand(
  {
    name: "restore",
    summary: "verifies a backup and restores it into a data folder. The appliance must not be running.",
    always: ["file", "data", "replace", "dropSecrets"],
    maybe: [],
    operand: "file",
  },
  async ({ file, data, replace, dropSecrets }, { clock, random, print }) => {
    const { report, previous, secrets } = restoreBackup({
      file,
      directory: data,
      mayReplace: replace,
      mayDropSecrets: dropSecrets,
      now: clock.now(),
      random,
      onProgress: progressTo(systemLog(), clock, "restoring"),
    });
    const lines = [
      `Restored into ${data}. Users, passwords and API keys are those of the backup; everyone has to sign in again.`,
    ];
    if (previous !== null) lines.push(`The previous data was kept: ${previous}`);
    if (secrets.unreadable > 0)
      lines.push(
        `Dropped: ${secrets.total} sealed ${secrets.total === 1 ? "secret" : "secrets"} of credentials. Enter them again.`,
      );
    await print(`${describeReport(report)}${lines.join("\n")}\n`);
    return EXIT.done;
  },
);
