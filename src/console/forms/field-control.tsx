// Generated form field: label, input, help text and error.

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useResponse } from "../api/response.ts";
import { DueTimes } from "../components/due-times.tsx";
import { choicesOf, Select, type SelectChoice } from "../components/select.tsx";
import { kindWords } from "../kinds/kinds.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { shownName } from "../names/shown-name.ts";
import { ifTypeLabel } from "../text/if-types.ts";
import { exactNow } from "../time/clock.ts";
import { formatLocal, formatUtc, parseInstant } from "../time/instant.ts";
import { parseTimeInput } from "../time/parse-time-input.ts";
import { zone } from "../time/zone.ts";
import { type Choice, choiceOf, choicesRead } from "./choices.ts";
import type { FormField, Typed, Values } from "./field.ts";
import { helpText } from "./field-help.ts";
import { HostSearchField } from "./host-search-field.tsx";
import { Row } from "./row.tsx";

interface FieldControlProps {
  readonly field: FormField;
  readonly typed: Typed;
  /** The record, as edited so far. */
  readonly record: Values;
  /** Error; null for none. */
  readonly error: string | null;
  /** Content below the field, such as a conflict. */
  readonly children?: ComponentChildren;
  onType(typed: Typed): void;
}

export function titleOfField({ name, label }: FormField): string {
  return label ?? fieldTitle(name);
}

/** Fields with a multi-line input. */
const LONG = new Set(["description", "sys_descr"]);

export function FieldControl({ field, typed, record, error, children, onType }: FieldControlProps) {
  return (
    <Row
      id={`edit-${field.name.replace(".", "-")}`}
      label={titleOfField(field)}
      help={helpOf(field, typed)}
      error={error}
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

/** Help text: the name of the interface type, or the API's description of the field. */
function helpOf(field: FormField, typed: Typed): string | null {
  const { name, type } = field;
  const description = helpText(field);
  if (type === "lines") return [description, "One per line."].filter(Boolean).join(" ");
  if (type === "instant") return [description, "A time, such as 2026-03-01 03:12 or -24h."].filter(Boolean).join(" ");
  // The list of next run times explains the syntax.
  if (name === "cron") return null;
  if (name === "if_type") {
    const { word, detail } = ifTypeLabel(Number(typed));
    return typed === "" ? description : `${word} ${detail}`.trim();
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
    return <HostSearchField hostId={typed} record={record} described={described} onFound={(id) => onType(id)} />;
  if (type === "choices" && typeof typed === "object")
    return <CheckboxSet {...{ choices: choices ?? [], typed, described, onType }} />;
  if (type === "id" || type === "ids") return <RecordSelect {...{ field, typed, record, described, onType }} />;
  if (typeof typed !== "string") return null;
  if (type === "instant") return <InstantInput typed={typed} described={described} onType={onType} />;
  if (type === "flag" || type === "choice") {
    const none = isRequired ? "Choose…" : "none";
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

type InstantInputProps = Pick<InputProps, "described" | "onType"> & { readonly typed: string };

/** Timestamp input in any notation that the time bar accepts, followed by the parsed timestamp. */
function InstantInput({ typed, described, onType }: InstantInputProps) {
  const [entered, setEntered] = useState(typed);
  const ms = parseInstant(typed);
  const type = (text: string) => {
    setEntered(text);
    onType(normalizedInstant(text));
  };
  return (
    <>
      <input
        {...described}
        type="text"
        autoComplete="off"
        value={entered}
        onInput={(event) => type(event.currentTarget.value)}
      />
      {ms !== null && entered !== typed && <output> {formatLocal(ms, zone.value)}</output>}
    </>
  );
}

/** Timestamp in API format; unreadable or ambiguous text is returned unchanged. */
function normalizedInstant(text: string): string {
  const entered = parseTimeInput(text, { nowMs: exactNow(), timeZone: zone.value });
  if (entered.type === "now") return formatUtc(exactNow());
  return entered.type === "instant" ? formatUtc(entered.ms) : text;
}

interface CheckboxSetProps extends Pick<InputProps, "described" | "onType"> {
  readonly choices: readonly string[];
  readonly typed: readonly string[];
}

/** Checkboxes for a small set of values. */
function CheckboxSet({ choices, typed, described, onType }: CheckboxSetProps) {
  const { id, ...rest } = described;
  return (
    <fieldset {...rest} class="edit-multiple">
      {choices.map((choice, index) => (
        <label key={choice}>
          <input
            id={index === 0 ? id : undefined}
            type="checkbox"
            checked={typed.includes(choice)}
            onChange={({ currentTarget: { checked } }) =>
              onType(checked ? [...typed, choice] : typed.filter((value) => value !== choice))
            }
          />{" "}
          {kindWords(choice)[1]}
        </label>
      ))}
    </fieldset>
  );
}

/** Select for one or several records. */
function RecordSelect({ field, typed, record, described, onType }: InputProps) {
  const { data } = useResponse(choicesRead(field, record));
  const choices = (data ?? []).map(choiceOf);
  const nameOf = (id: string) => shownName(id, choices.find((choice) => choice.id === id)?.name);
  if (typeof typed === "string")
    return (
      <Select
        {...described}
        value={typed}
        choices={[
          ["", field.isRequired ? "Choose…" : "none"],
          ...(typed === "" || choices.some(({ id }) => id === typed) ? [] : [[typed, nameOf(typed)] as const]),
          ...choicesOf(choices),
        ]}
        onChoose={onType}
      />
    );
  if (typeof typed === "boolean") return null;
  return <RecordsSelect {...{ field, typed, choices, described, onType, nameOf }} />;
}

interface RecordsSelectProps extends Pick<InputProps, "field" | "described" | "onType"> {
  readonly typed: readonly string[];
  readonly choices: readonly Choice[];
  nameOf(id: string): string;
}

function RecordsSelect({ field, typed, choices, described, onType, nameOf }: RecordsSelectProps) {
  const remaining = choices.filter(({ id }) => !typed.includes(id));
  return (
    <div class="edit-multiple">
      {typed.map((id) => (
        <button
          key={id}
          type="button"
          class="edit-selected"
          aria-label={`Remove ${nameOf(id)}`}
          onClick={() => onType(typed.filter((typedId) => typedId !== id))}
        >
          <bdi>{nameOf(id)}</bdi> <span aria-hidden="true">×</span>
        </button>
      ))}
      <Select
        {...described}
        value=""
        choices={[["", `Add to ${titleOfField(field)}`], ...choicesOf(remaining)]}
        onChoose={(id) => id !== "" && onType([...typed, id])}
      />
    </div>
  );
}
