// Pin button of a record page, for the list on the start page.

import { useState } from "preact/hooks";
import { asRefusal } from "../api/client.ts";
import { sentenceOf } from "../parts/problem.tsx";
import { may } from "./me.ts";
import { type Pinned, pins, setPinned } from "./pins.ts";

export function Pin({ kind, id }: Pinned) {
  const [problem, setProblem] = useState("");
  const isPinned = pins().some((each) => each.id === id);
  const toggle = () => {
    setProblem("");
    setPinned({ kind, id }, !isPinned).catch((cause: unknown) => setProblem(sentenceOf(asRefusal(cause))));
  };
  if (!may("setPreferences")) return null;
  return (
    <>
      <button type="button" aria-pressed={isPinned} title="Pin to the start page" onClick={toggle}>
        {isPinned ? "Pinned" : "Pin"}
      </button>
      <span class="aside" role="status">
        {problem}
      </span>
    </>
  );
}
