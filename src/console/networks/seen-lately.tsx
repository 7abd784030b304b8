// Number of used addresses seen recently, and a list of the others. Present only: last-seen times have no history.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { groupedDigits } from "../text/digits.ts";
import { hrefOf } from "../url/location.ts";

const LATELY = "-30d";

export function SeenLately({ id }: { readonly id: string }) {
  const inSubnet = `subnet_id = "${id}"`;
  const countOf = (filter: string) => read("/api/v1/ip-addresses", { query: { filter, limit: 1 } });
  const live = { how: "refresh", types: ["ip_address"], everyMs: 5_000 } as const;
  const all = useAnswer(countOf(inSubnet), live).meta?.pagination.total_count;
  const unseen = `${inSubnet} AND last_seen_at < "${LATELY}"`;
  const old = useAnswer(countOf(unseen), live).meta?.pagination.total_count;
  if (all === undefined || old === undefined) return <span class="aside">…</span>;
  return (
    <>
      {groupedDigits(all - old)} of {groupedDigits(all)} addresses in the last 30 days{" "}
      {old > 0 && <a href={hrefOf("/addresses", { filter: unseen })}>{groupedDigits(old)} not</a>}
    </>
  );
}
