// Log page: follows the latest lines, newest at the bottom. Scrolling up pauses it.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { copyText } from "../parts/copy.ts";
import { Problem } from "../parts/problem.tsx";
import { Select } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { may } from "../session/me.ts";
import { counted } from "../text/digits.ts";
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
      <p class="prose">
        The last lines since the start, as the log has them. Older ones are in standard error, where the system keeps
        it.
      </p>
      <Choices key={filter} level={level} filter={filter} />
      {log.problem !== null && <Problem problem={log.problem} />}
      {log.isRestarted && <p class="note">The appliance was started again: the lines begin with that.</p>}
      {log.dropped > 0 && (
        <p class="note">{counted(log.dropped, "line was", "lines were")} gone before they were read.</p>
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
    const asked = String(new FormData(event.currentTarget as HTMLFormElement).get("filter")).trim();
    go(hrefHere({ filter: asked === "" ? null : asked }));
  };
  return (
    <form class="log-choices" onSubmit={submit}>
      <label>
        Level{" "}
        <Select
          value={level}
          choices={LEVELS.map((each) => [each, LOG_LEVELS[each] ?? each])}
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
          {held === null ? "Pause" : "Follow"}
        </button>
        <CopyAll lines={shown} />
        <span class="aside" role="status">
          {held === null
            ? `${counted(lines.length, "line", "lines")}, following`
            : missing === 0
              ? "Paused"
              : `Paused: ${counted(missing, "new line", "new lines")}`}
        </span>
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable */}
      <section ref={box} class="log" tabIndex={0} aria-label="Lines of the log" onScroll={scrolled}>
        {shown.length === 0 && <p>No line yet.</p>}
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
      {isCopied ? "Copied" : "Copy all"}
    </button>
  );
}
