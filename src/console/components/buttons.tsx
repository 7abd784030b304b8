// Buttons, and links styled as buttons.

import type { ComponentChildren, JSX } from "preact";

interface ButtonProps extends Omit<JSX.IntrinsicElements["button"], "type" | "children" | "ref"> {
  readonly label: ComponentChildren;
}

/** Button for an action other than submitting a form. */
export function ActionButton({ label, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest}>
      {label}
    </button>
  );
}

interface LinkButtonProps extends Omit<JSX.IntrinsicElements["a"], "children" | "ref"> {
  readonly href: string;
  readonly label: ComponentChildren;
}

/** Link styled as a button. */
export function LinkButton({ label, href, ...rest }: LinkButtonProps) {
  return (
    <a class="button" href={href} {...rest}>
      {label}
    </a>
  );
}

/** Primary button that submits its form. */
export function SubmitButton({ label, ...rest }: ButtonProps) {
  return (
    <button type="submit" class="primary" {...rest}>
      {label}
    </button>
  );
}
