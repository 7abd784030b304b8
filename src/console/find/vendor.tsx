// Vendor or well-known use of a MAC address.

import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";

/** Empty if unknown. */
export function Vendor({ mac }: { readonly mac: string }) {
  const { data, isEarlier } = useAnswer(read("/api/v1/vendors/{mac}", { path: { mac } }));
  const told = data?.known_use ?? data?.vendor ?? null;
  return told === null || isEarlier ? null : <bdi class="aside">{told}</bdi>;
}
