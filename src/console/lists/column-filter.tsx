// Filter dialog for a column: field, operator and value. Produces filter text that can still be edited.

import { useEffect, useRef, useState } from "preact/hooks";
import { type DataOf, read } from "../api/client.ts";
import { quoted } from "../api/filter-text.ts";
import { useResponse } from "../api/response.ts";
import { ActionButton, SubmitButton } from "../components/buttons.tsx";
import { ResponseState } from "../components/response-state.tsx";
import { Select } from "../components/select.tsx";
import { fieldTitle } from "../names/custom-fields.ts";
import { listText } from "../text/lists.ts";
import { ownValue } from "../text/own-value.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc } from "../time/instant.ts";
import { parseTimeInput } from "../time/parse-time-input.ts";
import { zone } from "../time/zone.ts";
import { go, hrefHere } from "../url/location.ts";
import { withCondition } from "./conditions.ts";
import type { AnyList } from "./list.ts";

interface ColumnFilterProps {
  readonly list: AnyList;
  /** Column key. */
  readonly field: string;
  /** Current filter. */
  readonly filter: string;
  readonly close: () => void;
}

/** Fields that a filter on a reference compares: the name of the referenced record. */
const NAME_FIELDS: Readonly<Record<string, string>> = {
  host_id: "host.name",
  network_id: "network.name",
  subnet_id: "subnet.cidr",
  native_vlan_id: "native_vlan.number",
  vlan_ids: "vlan.number",
  tags: "tags.name",
  ip_addresses: "ip_addresses.ip_address",
};

export function ColumnFilter({ list, field, filter, close }: ColumnFilterProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const request = read("/api/v1/fields/{kind}", { path: { kind: list.kind as never } });
  const { data, problem, retry } = useResponse(request);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="column-filter" onClose={close} aria-labelledby="column-filter-title">
      <h2 id="column-filter-title">{listText.filterBy(fieldTitle(field))}</h2>
      {data !== undefined && <Condition definitions={data} field={field} filter={filter} close={close} />}
      {data === undefined && (
        <>
          <ResponseState problem={problem} retry={retry} />
          <p class="dialog-actions">
            <ActionButton label="Cancel" onClick={close} />
          </p>
        </>
      )}
    </dialog>
  );
}

interface ConditionProps extends Omit<ColumnFilterProps, "list"> {
  readonly definitions: DataOf<"/api/v1/fields/{kind}">;
}

const INSTANT_OPERATORS: Readonly<Record<string, string>> = {
  "<": "is before",
  "<=": "is at or before",
  ">": "is after",
  ">=": "is at or after",
};

const OPERATORS: Readonly<Record<string, string>> = {
  "=": "is",
  "!=": "is not",
  "<": "is less than",
  "<=": "is at most",
  ">": "is more than",
  ">=": "is at least",
  ":": "contains",
  ":*": "has a value",
};

const AGES: Readonly<Record<string, string>> = {
  "": "at the shown time",
  "-1d": "continuously for a day",
  "-7d": "continuously for 7 days",
  "-30d": "continuously for 30 days",
  "-90d": "continuously for 90 days",
};

/** Form for the condition. Rendered only once the field's operators are known, so that no input is lost. */
function Condition({ definitions, field, filter, close }: ConditionProps) {
  const operatorSelect = useRef<HTMLSelectElement>(null);
  const nameField = definitions.fields.find(({ name }) => name === (ownValue(NAME_FIELDS, field) ?? field));
  const fieldInfo = nameField ?? definitions.fields.find(({ name }) => name === field);
  const operators = (fieldInfo?.operators ?? ["="]).filter((name) => name !== ANY);
  const [operator, setOperator] = useState<string | null>(null);
  useEffect(() => operatorSelect.current?.focus(), []);
  const selectedOperator =
    operator ?? (fieldInfo?.values == null && operators.includes(":") ? ":" : (operators[0] ?? "="));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const value = String(form.get("value") ?? "").trim();
    close();
    if (fieldInfo === undefined || (value === "" && selectedOperator !== ANY)) return;
    const literal = fieldInfo.type === "instant" ? instantLiteral(value) : value;
    const isUnquoted = fieldInfo.type === "number" || fieldInfo.type === "boolean" || /^[\d.]+[kMGT]$/.test(value);
    const operation = selectedOperator === ANY ? ANY : ` ${selectedOperator} ${isUnquoted ? literal : quoted(literal)}`;
    const comparison = `${fieldInfo.name}${operation}`;
    const age = String(form.get("age") ?? "");
    const condition = age === "" ? comparison : `always(${comparison}, "${age}")`;
    go(hrefHere({ filter: withCondition(filter, condition) }));
  };
  return (
    <form onSubmit={submit}>
      <label>
        Comparison
        <select
          ref={operatorSelect}
          value={selectedOperator}
          onChange={(event) => setOperator(event.currentTarget.value)}
        >
          {operators.map((name) => (
            <option key={name} value={name}>
              {(fieldInfo?.type === "instant" ? INSTANT_OPERATORS[name] : undefined) ?? OPERATORS[name] ?? name}
            </option>
          ))}
          <option value={ANY}>{OPERATORS[ANY]}</option>
        </select>
      </label>
      {selectedOperator !== ANY && (
        <label htmlFor="column-filter-value">
          Value
          {fieldInfo?.values == null ? (
            <input
              id="column-filter-value"
              name="value"
              autoComplete="off"
              spellcheck={false}
              placeholder={fieldInfo?.type === "instant" ? "-24h, 2026-03-01 03:12" : undefined}
            />
          ) : (
            <Select id="column-filter-value" name="value" choices={fieldInfo.values} />
          )}
        </label>
      )}
      {fieldInfo?.over_time === true && (
        <label>
          How long
          <Select name="age" choices={Object.entries(AGES)} />
        </label>
      )}
      <p class="dialog-actions">
        <ActionButton label="Cancel" onClick={close} />
        <SubmitButton label="Add to the filter" />
      </p>
    </form>
  );
}

/** Parses a timestamp in the display time zone. An age stays relative, so that the filter moves with time. */
function instantLiteral(text: string): string {
  if (/^[-−]/.test(text)) return text;
  const parsed = parseTimeInput(text, { nowMs: exactNow(), timeZone: zone.peek() });
  return parsed.type === "instant" ? formatUtc(parsed.ms) : text;
}

/** Operator that matches any value. */
const ANY = ":*";
