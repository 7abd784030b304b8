// Network switcher: one network or all. The choice is in the URL and remembered for the next visit.

import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { choicesOf, Select } from "../components/select.tsx";
import { awaitNames, nameOf, storeNames } from "../names/names.ts";
import { at, network } from "../time/at.ts";
import { NETWORK, readStored, writeStored } from "../url/local-storage.ts";
import { go, hrefHere, location } from "../url/location.ts";

/** Restores the network of the last visit unless the URL has parameters. */
export function rememberNetwork(): void {
  const lastNetwork = readStored(NETWORK);
  if (lastNetwork !== null && network.peek() === null && location.peek().search === "")
    go(hrefHere({ network: lastNetwork }), "replace");
}

/** Selected network that does not exist now or is not accessible. */
export const unlistedNetwork = signal<string | null>(null);

export function NetworkSwitcher() {
  const { data, problem } = useResponse(read("/api/v1/networks", { query: { limit: 0, order_by: "name" } }), {
    how: "refresh",
    types: ["network"],
  });
  const networks = data ?? [];
  const networkId = network.value;
  const isOther = networkId !== null && networks.every(({ id }) => id !== networkId);
  const isUnlisted = data !== undefined && isOther;
  useLayoutEffect(() => {
    if (data === undefined && problem === undefined) return awaitNames("network");
    storeNames("network", networks);
  }, [data, problem]);
  useEffect(() => {
    unlistedNetwork.value = isUnlisted ? networkId : null;
  }, [isUnlisted, networkId]);
  if (networks.length < 2 && networkId === null) return null;
  const choose = (value: string | null) => {
    writeStored(NETWORK, value);
    go(hrefHere({ network: value }));
  };
  const otherName = (id: string) => nameOf("network", id, at.value) ?? "another network";
  const otherChoices = isOther ? [[networkId, data === undefined ? "…" : otherName(networkId)] as const] : [];
  return (
    <label class="network">
      <span class="visually-hidden">Network</span>
      <Select
        value={networkId ?? ""}
        choices={[["", "All networks"], ...choicesOf(networks), ...otherChoices]}
        onChoose={(value) => choose(value || null)}
      />
    </label>
  );
}
