// Network selection: one network or all. In the address, and remembered for the next visit.

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { useAnswer } from "../api/answer.ts";
import { read } from "../api/client.ts";
import { nameOf } from "../names/names.ts";
import { at, network } from "../time/at.ts";
import { keep, kept, NETWORK } from "../url/kept.ts";
import { go, hrefHere, location } from "../url/location.ts";

/** Restores the network of the last visit unless the address has parameters. */
export function rememberNetwork(): void {
  const last = kept(NETWORK);
  if (last !== null && network.peek() === null && location.peek().search === "")
    go(hrefHere({ network: last }), "replace");
}

/** Selected network that does not exist now or is not accessible. */
export const unlistedNetwork = signal<string | null>(null);

export function NetworkSwitcher() {
  const { data } = useAnswer(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }), {
    how: "refresh",
    types: ["network"],
  });
  const networks = data ?? [];
  const chosen = network.value;
  const isUnlisted = data !== undefined && chosen !== null && networks.every(({ id }) => id !== chosen);
  useEffect(() => {
    unlistedNetwork.value = isUnlisted ? chosen : null;
  }, [isUnlisted, chosen]);
  if (networks.length < 2 && chosen === null) return null;
  const choose = (event: Event) => {
    const value = (event.currentTarget as HTMLSelectElement).value || null;
    keep(NETWORK, value);
    go(hrefHere({ network: value }));
  };
  return (
    <label class="network">
      <span class="unseen">Network</span>
      <select value={chosen ?? ""} onChange={choose}>
        <option value="">All networks</option>
        {networks.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        {chosen !== null && networks.every(({ id }) => id !== chosen) && (
          <option value={chosen}>
            {data === undefined ? "…" : (nameOf("network", chosen, at.value) ?? "another network")}
          </option>
        )}
      </select>
    </label>
  );
}
