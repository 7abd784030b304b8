// Log page: follows the latest lines, newest at the bottom. Scrolling up pauses it.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { useCopying } from "../components/copy.ts";
import { Problem } from "../components/problem.tsx";
import { Select } from "../components/select.tsx";
import { Waiting } from "../components/waiting.tsx";
import { may } from "../session/me.ts";
import { counted } from "../text/digits.ts";
import { settingsText } from "../text/settings.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { SettingsPage } from "./settings-page.tsx";
import { type FollowedLog, type LogLevel, type LogLine, useLog } from "./use-log.ts";

const LEVELS: readonly LogLevel[] = ["info", "warn", "error"];
/** Distance that still counts as the end of the log, smaller than any scroll step. */
const NEAR_PX = 8;

export function LogPage() {
  const level = LEVELS.find((candidate) => candidate === parameter("level")) ?? "info";
  const filter = parameter("filter") ?? "";
  const log = useLog(may("listLogLines"), level, filter);
  return (
    <SettingsPage title={settingsText.tabs.log} operation="listLogLines" forbidden={settingsText.ownersOnly}>
      <p class="prose">
        The latest log lines since the start. Older lines are in standard error, as stored by the system.
      </p>
      <Choices key={filter} level={level} filter={filter} />
      {log.problem !== null && <Problem problem={log.problem} />}
      {log.isRestarted && <p class="note">The appliance was restarted: earlier lines were lost.</p>}
      {log.dropped > 0 && (
        <p class="note">{counted(log.dropped, "line was", "lines were")} dropped before they could be read.</p>
      )}
      {!log.isLoaded && log.problem === null && <Waiting />}
      {log.isLoaded && <Lines key={`${level} ${filter}`} log={log} />}
    </SettingsPage>
  );
}

const LOG_LEVELS: Readonly<Record<string, string>> = { info: "All", warn: "Warnings and errors", error: "Errors" };

function Choices({ level, filter }: { readonly level: LogLevel; readonly filter: string }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget as HTMLFormElement).get("filter")).trim();
    go(hrefHere({ filter: value === "" ? null : value }));
  };
  return (
    <form class="log-choices" onSubmit={submit}>
      <label>
        Level{" "}
        <Select
          value={level}
          choices={LEVELS.map((choice) => [choice, LOG_LEVELS[choice] ?? choice])}
          onChoose={(value) => go(hrefHere({ level: value === "info" ? null : value }))}
        />
      </label>
      <label class="log-filter">
        Filter <input type="search" name="filter" defaultValue={filter} placeholder={'event = "request_refused"'} />
      </label>
      <button type="submit">Apply</button>
    </form>
  );
}

function Lines({ log: { lines } }: { readonly log: FollowedLog }) {
  const container = useRef<HTMLElement>(null);
  /** Lines shown while paused; null while following. */
  const [pausedLines, setPausedLines] = useState<readonly LogLine[] | null>(null);
  const shown = pausedLines ?? lines;
  const last = lines.at(-1)?.sequence ?? 0;
  useLayoutEffect(() => {
    if (pausedLines === null && container.current !== null)
      container.current.scrollTop = container.current.scrollHeight;
  }, [pausedLines, last]);
  const handleScroll = () => {
    const { current } = container;
    if (current === null) return;
    const isAtEnd = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_PX;
    if (!isAtEnd && pausedLines === null) setPausedLines(lines);
  };
  const missing =
    pausedLines === null ? 0 : lines.filter(({ sequence }) => sequence > (pausedLines.at(-1)?.sequence ?? 0)).length;
  return (
    <>
      <p class="log-tools">
        <ActionButton
          label={pausedLines === null ? "Pause" : "Follow"}
          onClick={() => setPausedLines(pausedLines === null ? lines : null)}
        />
        <CopyAll lines={shown} />
        <span class="aside" role="status">
          {pausedLines === null
            ? `${counted(lines.length, "line", "lines")}, following`
            : missing === 0
              ? "Paused"
              : `Paused: ${counted(missing, "new line", "new lines")}`}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <section ref={container} class="log" tabIndex={0} aria-label="Log lines" onScroll={handleScroll}>
        {shown.length === 0 && <p>No lines.</p>}
        <ol>
          {shown.map(({ sequence, level, text }) => (
            <li key={sequence} class={`log-line log-${level}`}>
              {text}
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

function CopyAll({ lines }: { readonly lines: readonly LogLine[] }) {
  const [isCopied, copy] = useCopying();
  const copyAll = () => void copy(`${lines.map(({ text }) => text).join("\n")}\n`);
  return <ActionButton label={isCopied ? "Copied" : "Copy all"} onClick={copyAll} />;
}
