// Live map of a network during a scan. The map page has an equivalent table.

import { useMemo, useRef } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResponse } from "../api/response.ts";
import { MapCanvas } from "../map/canvas.tsx";
import { diagramOf } from "../map/diagram.ts";
import type { Control } from "../map/picture.ts";
import { counted } from "../text/digits.ts";
import { go, hrefOf } from "../url/location.ts";

const LIVE_MS = 1_000;

/** Includes hosts without links, since initially there are no others. */
export function LiveMap({ networkId, isFinished }: { readonly networkId: string; readonly isFinished: boolean }) {
  const query = { network_id: networkId, include_isolated: true };
  const live = { how: "refresh", types: ["host", "if_entry"], network_id: networkId, everyMs: LIVE_MS } as const;
  const { data } = useResponse(read("/api/v1/topology", { query }), live);
  const control = useRef<Control | null>(null);
  const diagram = useMemo(() => (data === undefined ? null : diagramOf(data, null)), [data]);
  const marks = useMemo(() => ({ selectedId: null, path: new Set<string>(), found: null }), []);
  const href = hrefOf("/map", { network: networkId, isolated: "yes" });
  return (
    <section class="first-run-map">
      <h3>Map</h3>
      <div class="map-picture">
        {diagram !== null && (
          <MapCanvas
            diagram={diagram}
            marks={marks}
            // Rescales to fit whenever nodes or links are added.
            subject={`${networkId} ${diagram.nodes.length} ${diagram.links.length}`}
            control={control}
            onPress={(id) => id !== null && go(hrefOf(href, { chosen: id }))}
          />
        )}
      </div>
      <p class="aside">
        {diagram !== null && (
          <>
            {diagram.nodes.length === 0 && !isFinished
              ? "Devices appear here as they are found."
              : `${counted(diagram.nodes.length, "device", "devices")}, ${counted(diagram.links.length, "link", "links")}`}{" "}
          </>
        )}
        <a href={href}>Open the map</a>
      </p>
    </section>
  );
}
