// Log page: follows the latest lines, newest at the bottom. Scrolling up pauses it.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../parts/copy.ts";
import { Problem } from "../parts/problem.tsx";
import { Select } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { logText } from "../text/appliance.ts";
import { settingsText } from "../text/settings.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { type FollowedLog, type LogLevel, type LogLine, useLog } from "./log-follow.ts";
import { SettingsPage } from "./settings-page.tsx";

const LEVELS: readonly LogLevel[] = ["info", "warn", "error"];
/** Tolerance for the end of the log, smaller than any scroll step. */
const NEAR_PX = 8;
const SHOWN_MS = 1_500;

export function LogPage() {
  const level = LEVELS.find((each) => each === parameter("level")) ?? "info";
  const filter = parameter("filter") ?? "";
  const log = useLog(may("listLogLines"), level, filter);
  return (
    <SettingsPage title={settingsText.tabs.log} operation="listLogLines" forbidden={settingsText.ownersAlone}>
      <p class="prose">{logText.says}</p>
      <Choices key={filter} level={level} filter={filter} />
      {log.problem !== null && <Problem problem={log.problem} />}
      {log.isRestarted && <p class="note">{logText.restarted}</p>}
      {log.dropped > 0 && <p class="note">{logText.dropped(log.dropped)}</p>}
      {!log.isLoaded && log.problem === null && <Waiting />}
      {log.isLoaded && <Lines key={`${level} ${filter}`} log={log} />}
    </SettingsPage>
  );
}

function Choices({ level, filter }: { readonly level: LogLevel; readonly filter: string }) {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const asked = String(new FormData(event.currentTarget as HTMLFormElement).get("filter")).trim();
    go(hrefHere({ filter: asked === "" ? null : asked }));
  };
  return (
    <form class="log-choices" onSubmit={submit}>
      <label>
        {logText.level}{" "}
        <Select
          value={level}
          choices={LEVELS.map((each) => [each, logText.levels[each] ?? each])}
          onChoose={(value) => go(hrefHere({ level: value === "info" ? null : value }))}
        />
      </label>
      <label class="log-filter">
        {logText.filter} <input type="search" name="filter" defaultValue={filter} placeholder={logText.filterSays} />
      </label>
      <button type="submit">{logText.apply}</button>
    </form>
  );
}

function Lines({ log: { lines } }: { readonly log: FollowedLog }) {
  const box = useRef<HTMLElement>(null);
  /** Lines shown while paused; null while following. */
  const [held, setHeld] = useState<readonly LogLine[] | null>(null);
  const shown = held ?? lines;
  const last = lines.at(-1)?.sequence ?? 0;
  useLayoutEffect(() => {
    if (held === null && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [held, last]);
  const scrolled = () => {
    const { current } = box;
    if (current === null) return;
    const isAtEnd = current.scrollHeight - current.scrollTop - current.clientHeight < NEAR_PX;
    if (!isAtEnd && held === null) setHeld(lines);
  };
  const missing = held === null ? 0 : lines.filter(({ sequence }) => sequence > (held.at(-1)?.sequence ?? 0)).length;
  return (
    <>
      <p class="log-tools">
        <button type="button" onClick={() => setHeld(held === null ? lines : null)}>
          {held === null ? logText.pause : logText.follow}
        </button>
        <CopyAll lines={shown} />
        <span class="aside" role="status">
          {held === null ? `${logText.count(lines.length)}, ${logText.following}` : logText.paused(missing)}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <section ref={box} class="log" tabIndex={0} aria-label={logText.lines} onScroll={scrolled}>
        {shown.length === 0 && <p>{logText.none}</p>}
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
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    if (!(await copyText(`${lines.map(({ text }) => text).join("\n")}\n`))) return;
    setCopied(true);
    setTimeout(setCopied, SHOWN_MS, false);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {isCopied ? logText.copied : logText.copy}
    </button>
  );
}
