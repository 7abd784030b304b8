// Select element with its options as data.

import type { JSX } from "preact";

/** A text alone is its own label. */
export type SelectChoice = string | readonly [value: string, label: string];

type SelectProps = Omit<JSX.IntrinsicElements["select"], "value" | "onChange" | "children" | "ref"> & {
  readonly choices: readonly SelectChoice[];
  /** Omitted where a form reads it by name. */
  readonly value?: string;
  onChoose?(value: string): void;
};

export function Select({ choices, value, onChoose, ...about }: SelectProps) {
  const chosen = value === undefined ? {} : { value };
  return (
    <select {...about} {...chosen} onChange={(event) => onChoose?.(event.currentTarget.value)}>
      {choices.map((each) => {
        const [key, label] = typeof each === "string" ? [each, each] : each;
        return (
          <option key={key} value={key} {...(value === undefined ? {} : { selected: key === value })}>
            {label}
          </option>
        );
      })}
    </select>
  );
}

/** Records as choices, by name. */
export function choicesOf(
  records: readonly { readonly id: string; readonly name: string }[],
): readonly (readonly [string, string])[] {
  return records.map(({ id, name }) => [id, name] as const);
}
