// Search box on every page; `/` focuses it.

import { useKeys } from "../components/keys.ts";
import { go, hrefOf, parameter, pathname } from "../url/location.ts";

const box: { current: HTMLInputElement | null } = { current: null };

const KEYS = [
  {
    key: "/",
    meaning: "Find anything",
    press: () => {
      box.current?.focus();
      box.current?.select();
    },
  },
];

export function FindBox() {
  useKeys(KEYS);
  const search = pathname.value === "/" ? (parameter("q") ?? "") : "";
  const find = (event: SubmitEvent) => {
    event.preventDefault();
    const text = (box.current?.value ?? "").trim();
    go(hrefOf("/", { q: text === "" ? null : text }));
  };
  return (
    <search class="find-box">
      <form onSubmit={find}>
        <input
          // A new search in the URL resets the input.
          key={search}
          ref={(element) => void (box.current = element)}
          type="search"
          name="q"
          defaultValue={search}
          placeholder="IP, MAC, name, serial, VLAN, interface…  /"
          aria-label="Find anything"
          autoComplete="off"
          spellcheck={false}
          maxLength={200}
        />
      </form>
    </search>
  );
}
