// Submitted fields of a form (WHATWG HTML, section 4.10.21.4): happy-dom also includes disabled fields, and a value for
// an unselected choice.

import type { HTMLFormElement, HTMLInputElement, HTMLSelectElement } from "happy-dom";

/** Bun's FormData, so that it can be sent, filled from a form of a page. */
export class PageFormData extends FormData {
  constructor(form?: HTMLFormElement) {
    super();
    if (form !== undefined) for (const [name, value] of entriesOf(form)) this.append(name, value);
  }
}

function* entriesOf(form: HTMLFormElement): Generator<readonly [string, string]> {
  for (const element of form.elements as unknown as Iterable<HTMLInputElement>) {
    const { name, type, tagName } = element;
    if (name === "" || element.disabled || element.closest("fieldset[disabled], datalist") !== null) continue;
    if (tagName === "SELECT") {
      for (const option of (element as unknown as HTMLSelectElement).options)
        if (option.selected && !option.disabled) yield [name, option.value];
    } else if (tagName === "TEXTAREA") yield [name, element.value];
    else if (tagName !== "INPUT" || /^(?:button|image|reset|submit)$/.test(type)) continue;
    else if (type === "file") throw new Error("file fields are not supported in page tests.");
    else if (!/^(?:checkbox|radio)$/.test(type) || element.checked) yield [name, element.value];
  }
}
