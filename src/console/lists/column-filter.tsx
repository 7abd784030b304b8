// Filter builder for a column: field, operator and value. Its result is filter text that can be edited further.

import { useEffect, useRef, useState } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { type DataOf, read } from "../api/client.ts";
import { quoted } from "../api/filter-text.ts";
import { fieldTitle } from "../names/custom-fields.ts";
import { Problem } from "../parts/problem.tsx";
import { Select } from "../parts/select.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { listText } from "../text/lists.ts";
import { ownValue } from "../text/own-value.ts";
import { exactNow } from "../time/clock.ts";
import { formatUtc } from "../time/instant.ts";
import { readSaid } from "../time/said.ts";
import { zone } from "../time/zone.ts";
import { go, hrefHere } from "../url/location.ts";
import { withCondition } from "./conditions.ts";
import type { AnyList } from "./list.ts";

type Fields = DataOf<"/api/v1/fields/{kind}">;

interface ColumnFilterProps {
  readonly list: AnyList;
  /** Column key. */
  readonly field: string;
  /** Current filter. */
  readonly filter: string;
  readonly close: () => void;
}

/** Fields meant by a filter on a reference: those with its name. */
const REFERRED: Readonly<Record<string, string>> = {
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
  const asked = read("/api/v1/fields/{kind}", { path: { kind: list.kind as never } });
  const { data, problem, again } = useAnswer(asked);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="column-filter" onClose={close} aria-labelledby="column-filter-title">
      <h2 id="column-filter-title">{listText.filterBy(fieldTitle(field))}</h2>
      {data !== undefined && <Condition known={data} field={field} filter={filter} close={close} />}
      {data === undefined && (
        <>
          {problem === undefined ? <Waiting /> : <Problem problem={problem} again={again} />}
          <p class="dialog-actions">
            <button type="button" onClick={close}>
              Cancel
            </button>
          </p>
        </>
      )}
    </dialog>
  );
}

interface ConditionProps extends Omit<ColumnFilterProps, "list"> {
  readonly known: Fields;
}

const INSTANT_OPERATORS: Readonly<Record<string, string>> = {
  "<": "is before",
  "<=": "is at the latest",
  ">": "is after",
  ">=": "is at the earliest",
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
  "": "at the instant shown",
  "-1d": "all the time for a day",
  "-7d": "all the time for 7 days",
  "-30d": "all the time for 30 days",
  "-90d": "all the time for 90 days",
};

/** Rendered only once the field's operators are known; earlier input would be lost. */
function Condition({ known, field, filter, close }: ConditionProps) {
  const first = useRef<HTMLSelectElement>(null);
  const named = known.fields.find(({ name }) => name === (ownValue(REFERRED, field) ?? field));
  const about = named ?? known.fields.find(({ name }) => name === field);
  const operators = (about?.operators ?? ["="]).filter((each) => each !== ":*");
  const [operator, setOperator] = useState<string | null>(null);
  useEffect(() => first.current?.focus(), []);
  const chosen = operator ?? (about?.values == null && operators.includes(":") ? ":" : (operators[0] ?? "="));
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const value = String(new FormData(event.currentTarget as HTMLFormElement).get("value") ?? "").trim();
    close();
    if (about === undefined || (value === "" && chosen !== ANY)) return;
    const meant = about.type === "instant" ? instantMeant(value) : value;
    const plain = about.type === "number" || about.type === "boolean" || /^[\d.]+[kMGT]$/.test(value);
    const now = chosen === ANY ? `${about.name}:*` : `${about.name} ${chosen} ${plain ? meant : quoted(meant)}`;
    const age = String(new FormData(event.currentTarget as HTMLFormElement).get("age") ?? "");
    const condition = age === "" ? now : `always(${now}, "${age}")`;
    go(hrefHere({ filter: withCondition(filter, condition) }));
  };
  return (
    <form onSubmit={submit}>
      <label>
        Comparison
        <select ref={first} value={chosen} onChange={(event) => setOperator(event.currentTarget.value)}>
          {operators.map((each) => (
            <option key={each} value={each}>
              {(about?.type === "instant" ? INSTANT_OPERATORS[each] : undefined) ?? OPERATORS[each] ?? each}
            </option>
          ))}
          <option value={ANY}>{OPERATORS[ANY]}</option>
        </select>
      </label>
      {chosen !== ANY && (
        <label htmlFor="column-filter-value">
          Value
          {about?.values == null ? (
            <input
              id="column-filter-value"
              name="value"
              autoComplete="off"
              spellcheck={false}
              placeholder={about?.type === "instant" ? "-24h, 2026-03-01 03:12" : undefined}
            />
          ) : (
            <Select id="column-filter-value" name="value" choices={about.values} />
          )}
        </label>
      )}
      {about?.over_time === true && (
        <label>
          How long
          <Select name="age" choices={Object.entries(AGES)} />
        </label>
      )}
      <p class="dialog-actions">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="submit" class="primary">
          Add to the filter
        </button>
      </p>
    </form>
  );
}

/** Reads a timestamp in the display time zone. An age stays relative, so that the filter moves with the time. */
function instantMeant(text: string): string {
  if (/^[-−]/.test(text)) return text;
  const said = readSaid(text, { nowMs: exactNow(), timeZone: zone.peek() });
  return said.type === "instant" ? formatUtc(said.ms) : text;
}

/** Operator for any value. */
const ANY = ":*";
