// Who made what has a MAC address, or what the address is known for.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";

/** Nothing where nobody knows. */
export function Vendor({ mac }: { readonly mac: string }) {
  const { data, isEarlier } = useAnswer(read("/api/v1/vendors/{mac}", { path: { mac } }));
  const told = data?.known_use ?? data?.vendor ?? null;
  return told === null || isEarlier ? null : <bdi class="aside">{told}</bdi>;
}
