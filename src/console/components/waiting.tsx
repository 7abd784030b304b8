// Loading indicator: empty at first, then a message, without a layout shift.

import { useEffect, useState } from "preact/hooks";

/** Shorter loading times go unnoticed. */
const NOTICEABLE_MS = 300;
const SLOW_MS = 4_000;

export function Waiting() {
  const [stage, setStage] = useState<"brief" | "noticed" | "slow">("brief");
  useEffect(() => {
    const timers = [setTimeout(setStage, NOTICEABLE_MS, "noticed"), setTimeout(setStage, SLOW_MS, "slow")];
    return () => timers.forEach(clearTimeout);
  }, []);
  return (
    <p class="waiting" role="status">
      {stage === "brief" ? "" : stage === "noticed" ? "Loading…" : "This takes a while…"}
    </p>
  );
}
