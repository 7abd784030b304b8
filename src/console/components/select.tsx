// `<select>` with its options as data.

import type { JSX } from "preact";

/** Value and label; a string is both. */
export type SelectChoice = string | readonly [value: string, label: string];

type SelectProps = Omit<JSX.IntrinsicElements["select"], "value" | "onChange" | "children" | "ref"> & {
  readonly choices: readonly SelectChoice[];
  /** Selected value; omitted where a form reads the element by name. */
  readonly value?: string;
  onChoose?(value: string): void;
};

export function Select({ choices, value, onChoose, ...rest }: SelectProps) {
  const valueProps = value === undefined ? {} : { value };
  return (
    <select {...rest} {...valueProps} onChange={(event) => onChoose?.(event.currentTarget.value)}>
      {choices.map((choice) => {
        const [key, label] = typeof choice === "string" ? [choice, choice] : choice;
        return (
          <option key={key} value={key} {...(value === undefined ? {} : { selected: key === value })}>
            {label}
          </option>
        );
      })}
    </select>
  );
}

/** Choices for records: id and name. */
export function choicesOf(
  records: readonly { readonly id: string; readonly name: string }[],
): readonly (readonly [string, string])[] {
  return records.map(({ id, name }) => [id, name] as const);
}
