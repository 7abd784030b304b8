// Form field: name, input, help text and error.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { shownName } from "../names/shown-name.ts";
import { DueTimes } from "../parts/due-times.tsx";
import { choicesOf, Select, type SelectChoice } from "../parts/select.tsx";
import { ifTypeSaid } from "../text/if-types.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal, formatUtc, parseInstant } from "../time/instant.ts";
import { readSaid } from "../time/said.ts";
import { zone } from "../time/zone.ts";
import { type Choice, choiceOf, choicesRead } from "./choices.ts";
import type { FormField, Typed, Values } from "./field.ts";
import { helpSaid } from "./field-help.ts";
import { FoundHost } from "./found-host.tsx";
import { Row } from "./row.tsx";

interface FieldControlProps {
  readonly field: FormField;
  readonly typed: Typed;
  /** Record of the field. */
  readonly record: Values;
  /** Error; null for none. */
  readonly wrong: string | null;
  /** Content below the field: concurrent changes. */
  readonly children?: ComponentChildren;
  onType(typed: Typed): void;
}

export function nameOfField({ name, label }: FormField): string {
  return label ?? fieldTitle(name);
}

/** Multi-line fields. */
const LONG = new Set(["description", "sys_descr"]);

export function FieldControl({ field, typed, record, wrong, children, onType }: FieldControlProps) {
  return (
    <Row
      id={`edit-${field.name.replace(".", "-")}`}
      label={nameOfField(field)}
      help={helpOf(field, typed)}
      wrong={wrong}
      control={(described) => (
        <Input field={field} typed={typed} record={record} described={described} onType={onType} />
      )}
    >
      {field.name === "cron" && typeof typed === "string" && (
        <DueTimes cron={typed} timezone={String(record.timezone ?? "")} />
      )}
      {children}
    </Row>
  );
}

/** Name of an interface type; otherwise the API's description of the field. */
function helpOf(field: FormField, typed: Typed): string | null {
  const { name, type } = field;
  const description = helpSaid(field);
  if (type === "lines") return [description, "One per line."].filter(Boolean).join(" ");
  if (type === "instant")
    return [description, "An instant, such as 2026-03-01 03:12 or -24h."].filter(Boolean).join(" ");
  // The preview of due times explains the syntax.
  if (name === "cron") return null;
  if (name === "if_type") {
    const { word, beside } = ifTypeSaid(Number(typed));
    return typed === "" ? description : `${word} ${beside}`.trim();
  }
  return name === "tags" ? null : description;
}

interface InputProps extends Pick<FieldControlProps, "field" | "typed" | "record" | "onType"> {
  readonly described: Readonly<Record<string, unknown>> & { readonly id: string };
}

const FLAGS: readonly SelectChoice[] = [
  ["true", "yes"],
  ["false", "no"],
];

function Input({ field, typed, record, described, onType }: InputProps) {
  const { type, name, choices, isNullable, isRequired } = field;
  const onInput = (event: Event) => onType((event.currentTarget as HTMLInputElement).value);
  if (type === "boolean")
    return (
      <span class="edit-switch">
        <input
          {...described}
          type="checkbox"
          checked={typed === true}
          onChange={(event) => onType(event.currentTarget.checked)}
        />
      </span>
    );
  if (name === "host_id" && typeof typed === "string")
    return <FoundHost hostId={typed} record={record} described={described} onFound={(id) => onType(id)} />;
  if (type === "choices" && typeof typed === "object")
    return <Ticked {...{ choices: choices ?? [], typed, described, onType }} />;
  if (type === "id" || type === "ids") return <Chosen {...{ field, typed, record, described, onType }} />;
  if (typeof typed !== "string") return null;
  if (type === "instant") return <InstantInput typed={typed} described={described} onType={onType} />;
  if (type === "flag" || type === "choice") {
    const none = isRequired ? "choose one" : "none";
    const values = type === "flag" ? FLAGS : (choices ?? []);
    const hasNone = type === "flag" || isNullable || typed === "";
    return (
      <Select
        {...described}
        value={typed}
        choices={[...(hasNone ? [["", none] as const] : []), ...values]}
        onChoose={onType}
      />
    );
  }
  if (LONG.has(name) || type === "lines")
    return <textarea {...described} rows={3} value={typed} dir="auto" onInput={onInput} />;
  return (
    <input
      {...described}
      type={type === "date" ? "date" : "text"}
      inputMode={type === "integer" ? "numeric" : type === "number" ? "decimal" : "text"}
      autoComplete="off"
      dir="auto"
      value={typed}
      onInput={onInput}
    />
  );
}

/** Timestamp input in any notation of the time bar, with the parsed timestamp below. */
function InstantInput({
  typed,
  described,
  onType,
}: Pick<InputProps, "described" | "onType"> & { readonly typed: string }) {
  const [said, setSaid] = useState(typed);
  const ms = parseInstant(typed);
  const type = (text: string) => {
    setSaid(text);
    onType(instantSaid(text));
  };
  return (
    <>
      <input
        {...described}
        type="text"
        autoComplete="off"
        value={said}
        onInput={(event) => type(event.currentTarget.value)}
      />
      {ms !== null && said !== typed && <output> {formatLocal(ms, zone.value)}</output>}
    </>
  );
}

/** Timestamp in API format; text that is unreadable or ambiguous stays unchanged. */
function instantSaid(text: string): string {
  const said = readSaid(text, { nowMs: exactNow(), timeZone: zone.value });
  if (said.type === "now") return formatUtc(exactNow());
  return said.type === "instant" ? formatUtc(said.ms) : text;
}

interface TickedProps extends Pick<InputProps, "described" | "onType"> {
  readonly choices: readonly string[];
  readonly typed: readonly string[];
}

/** Checkboxes for a small set of values. */
function Ticked({ choices, typed, described, onType }: TickedProps) {
  const { id, ...about } = described;
  return (
    <fieldset {...about} class="edit-several">
      {choices.map((choice, position) => (
        <label key={choice}>
          <input
            id={position === 0 ? id : undefined}
            type="checkbox"
            checked={typed.includes(choice)}
            onChange={({ currentTarget: { checked } }) =>
              onType(checked ? [...typed, choice] : typed.filter((each) => each !== choice))
            }
          />{" "}
          {kindWords(choice)[1]}
        </label>
      ))}
    </fieldset>
  );
}

/** Selection of one or several records. */
function Chosen({ field, typed, record, described, onType }: InputProps) {
  const { data } = useAnswer(choicesRead(field, record));
  const choices = (data ?? []).map(choiceOf);
  const nameOf = (id: string) => shownName(id, choices.find((choice) => choice.id === id)?.name);
  if (typeof typed === "string")
    return (
      <Select
        {...described}
        value={typed}
        choices={[
          ["", field.isRequired ? "choose one" : "none"],
          ...(typed === "" || choices.some(({ id }) => id === typed) ? [] : [[typed, nameOf(typed)] as const]),
          ...choicesOf(choices),
        ]}
        onChoose={onType}
      />
    );
  if (typeof typed === "boolean") return null;
  return <Several {...{ field, typed, choices, described, onType, nameOf }} />;
}

interface SeveralProps extends Pick<InputProps, "field" | "described" | "onType"> {
  readonly typed: readonly string[];
  readonly choices: readonly Choice[];
  nameOf(id: string): string;
}

function Several({ field, typed, choices, described, onType, nameOf }: SeveralProps) {
  const left = choices.filter(({ id }) => !typed.includes(id));
  return (
    <div class="edit-several">
      {typed.map((id) => (
        <button
          key={id}
          type="button"
          class="edit-chosen"
          aria-label={`Remove ${nameOf(id)}`}
          onClick={() => onType(typed.filter((each) => each !== id))}
        >
          <bdi>{nameOf(id)}</bdi> <span aria-hidden="true">×</span>
        </button>
      ))}
      <Select
        {...described}
        value=""
        choices={[["", `Add to ${nameOfField(field)}`], ...choicesOf(left)]}
        onChoose={(id) => id !== "" && onType([...typed, id])}
      />
    </div>
  );
}
