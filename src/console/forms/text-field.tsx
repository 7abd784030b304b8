// Text field of the wizard: label, input, help, and error.

import type { ComponentChildren } from "preact";

interface TextFieldProps {
  /** Element id, used to focus the first invalid field. */
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly help?: string;
  /** Error message, or null. */
  readonly wrong: string | null;
  readonly type?: "text" | "email" | "password";
  readonly autoComplete?: string;
  readonly isRequired?: boolean;
  /** Shown next to the field. */
  readonly children?: ComponentChildren;
  onType(value: string): void;
}

export function TextField(props: TextFieldProps) {
  const { id, label, value, help, wrong, type = "text", autoComplete = "off", isRequired = true, children } = props;
  const about = [help === undefined ? "" : `${id}-help`, wrong === null ? "" : `${id}-wrong`].filter(Boolean);
  return (
    <div class="edit-field">
      <label for={id}>{label}</label>
      <div>
        <span class="field-line">
          <input
            id={id}
            type={type}
            value={value}
            autoComplete={autoComplete}
            autoCapitalize="none"
            spellcheck={false}
            dir="auto"
            aria-required={isRequired}
            aria-invalid={wrong !== null}
            aria-describedby={about.join(" ") || undefined}
            onInput={(event) => props.onType(event.currentTarget.value)}
          />
          {children}
        </span>
        {wrong !== null && (
          <p class="edit-wrong" id={`${id}-wrong`}>
            {wrong}
          </p>
        )}
        {help !== undefined && (
          <p class="aside" id={`${id}-help`}>
            {help}
          </p>
        )}
      </div>
    </div>
  );
}
