// netledger prune: permanently thins the history, while no appliance is running.

import { formatBytes, sizeOf } from "../base/byte-size.ts";
import { formatInstant, type Instant, parseInstantOrAge } from "../base/instant.ts";
import { systemLog } from "../base/log.ts";
import type { Sql } from "../db/connection.ts";
import type { DataFiles } from "../db/files/data-directory.ts";
import { Reader } from "../db/reading/reader.ts";
import type { PruneOptions } from "../db/thinning.ts";
import { pruneHistory } from "../history/prune.ts";
import { type PrunePlan, planSteps, runPlan } from "../history/prune-plan.ts";
import { describeReport, RETENTION_TEXTS } from "../history/verify/verify.ts";
import { KINDS } from "../records/resources.ts";
import { checkClock } from "../server/store.ts";
import { defineCommand, EXIT, type ProcessIo } from "./command.ts";
import { type Config, UsageError } from "./config.ts";
import { checkpointLog, rewriteFile, upgradeSchema, withDiskErrors, withExclusiveDatabase } from "./data-at-rest.ts";
import { findData, withReadOnlyDatabase } from "./data-folder.ts";
import { progressTo } from "./progress.ts";

export const prune = defineCommand(
  {
    name: "prune",
    summary:
      "thins history permanently: drops everything before a date, except the states to keep. The appliance must not be running.",
    always: ["before", "dryRun", "vacuum", "data", "acceptClock"],
    maybe: ["keep"],
  },
  async (config, io) => {
    const request: PruneOptions = {
      before: parseBefore(config.before, io.clock.now()),
      keep: config.keep ?? "none",
    };
    const files = findData(config.data);
    if (config.dryRun) await preview(request, files, io);
    else await thin(request, config, files, io);
    return EXIT.done;
  },
);

type PruneConfig = Config<"vacuum" | "acceptClock">;

async function preview(request: PruneOptions, files: DataFiles, { clock, print }: ProcessIo): Promise<void> {
  const plan = await withReadOnlyDatabase(files, (db) =>
    runPlan(planSteps(db, request), progressTo(systemLog(), clock, "estimating")),
  );
  const segments = plan.segments.map(
    ({ first, last, resolution }) =>
      `Would be thinned: transactions ${first} to ${last}: ${RETENTION_TEXTS[resolution]}\n`,
  );
  await print(
    plan.dropped === 0
      ? describeNothing(request, plan)
      : `Would drop ${describeDropped(plan)}.\n${segments.join("")}Nothing was changed.\n`,
  );
}

async function thin(request: PruneOptions, config: PruneConfig, files: DataFiles, io: ProcessIo): Promise<void> {
  const { clock, print } = io;
  await withExclusiveDatabase(files, async (db) => {
    upgradeSchema(db, files);
    const log = systemLog();
    checkClock(new Reader(db, clock), { clock, acceptClock: config.acceptClock, log });
    const pruned = withDiskErrors(files, "nothing was pruned", () =>
      pruneHistory(db, KINDS, request, clock.now(), progressTo(log, clock, "pruning")),
    );
    if (pruned.report === null) await print(describeNothing(request, pruned));
    else await print(`Dropped ${describeDropped(pruned)}.\n${describeReport(pruned.report)}`);
    withDiskErrors(files, "the write-ahead log is merged at the next start", () => checkpointLog(db));
    if (config.vacuum)
      withDiskErrors(files, "the history was pruned, but the file was not rewritten", () => rewriteFile(db));
    await print(
      config.vacuum ? `${files.database} has ${formatBytes(sizeOf(files.database))}.\n` : describeFreeSpace(db, files),
    );
  });
}

function describeFreeSpace(db: Sql, files: DataFiles): string {
  const { freelist_count: pages } = db.$client.query("PRAGMA freelist_count").get() as { freelist_count: number };
  const { page_size: bytes } = db.$client.query("PRAGMA page_size").get() as { page_size: number };
  return `${files.database} has ${formatBytes(sizeOf(files.database))}, of which ${formatBytes(pages * bytes)} are free for new data; --vacuum returns them to the disk.\n`;
}

function describeDropped({ dropped: count, versions, droppedBytes, coverage, states }: PrunePlan): string {
  const notes =
    coverage === 0 ? "" : ` and ${coverage} ${coverage === 1 ? "note" : "notes"} about where credentials were sent`;
  return `${count} of ${versions} versions (${formatBytes(droppedBytes)} of documents)${notes}; ${states} ${states === 1 ? "state" : "states"} of the thinned history kept`;
}

function describeNothing({ before }: PruneOptions, { last }: PrunePlan): string {
  return last === 0
    ? `Nothing is older than ${formatInstant(before)}.\n`
    : `Nothing to drop before ${formatInstant(before)}: all data before it is needed for the states to keep.\n`;
}

/** @throws UsageError for anything but a past timestamp */
function parseBefore(text: string, now: Instant): Instant {
  const before = parseInstantOrAge(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text, now);
  // Ages in minutes and hours are probably mistakes when history is lost permanently: -3m is three minutes, not three
  // months.
  if (/^-\d+[smh]$/i.test(text)) throw new UsageError("--before takes an age in days or weeks, such as -365d or -52w");
  if (before === null)
    throw new UsageError(
      "--before must be a date such as 2026-01-01, an RFC 3339 timestamp with an offset, or an age such as -365d",
    );
  if (before > now) throw new UsageError("--before must not be in the future");
  return before;
}
