// List of the keyboard shortcuts of the page: `?`.

import { keys, useKeys } from "../parts/keys.ts";
import { ownValue } from "../text/own-value.ts";

const SHOWN: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
  " ": "Space",
  PageDown: "Page ↓",
  PageUp: "Page ↑",
};

const dialog: { current: HTMLDialogElement | null } = { current: null };

/** Opens the list. */
export function showKeys(): void {
  dialog.current?.showModal();
}

const OWN = [{ key: "?", meaning: "Show the keys", press: showKeys }];

export function KeyList() {
  useKeys(OWN);
  return (
    <dialog ref={(element) => void (dialog.current = element)} class="keys" aria-labelledby="keys-title">
      <form method="dialog">
        <h2 id="keys-title">Keys</h2>
        <button type="submit">Close</button>
      </form>
      <dl>
        {keys.value.map(({ key, meaning }) => (
          <div key={key}>
            <dt>
              <kbd>{ownValue(SHOWN, key) ?? key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </dialog>
  );
}
