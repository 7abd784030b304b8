// Dialog with the keyboard shortcuts of the current page, opened with `?`.

import { keys, useKeys } from "../components/keys.ts";
import { ownValue } from "../text/own-value.ts";

const KEY_LABELS: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  " ": "Space",
  PageDown: "Page ↓",
  PageUp: "Page ↑",
};

const dialog: { current: HTMLDialogElement | null } = { current: null };

/** Opens the dialog. */
export function showKeys(): void {
  dialog.current?.showModal();
}

const KEYS = [{ key: "?", meaning: "Show keyboard shortcuts", press: showKeys }];

export function KeyList() {
  useKeys(KEYS);
  return (
    <dialog ref={(element) => void (dialog.current = element)} class="keys" aria-labelledby="keys-title">
      <form method="dialog">
        <h2 id="keys-title">Keyboard shortcuts</h2>
        <button type="submit">Close</button>
      </form>
      <dl>
        {keys.value.map(({ key, meaning }) => (
          <div key={key}>
            <dt>
              <kbd>{ownValue(KEY_LABELS, key) ?? key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
