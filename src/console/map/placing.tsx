// Gives the chosen device another place on the map of its network: for everybody, and at every instant.

import { useRef, useState } from "preact/hooks";
import { api, asRefusal, done } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { mapText } from "../text/map.ts";
import { isPast } from "../time/at.ts";
import type { Diagram } from "./diagram.ts";
import type { Point } from "./viewport.ts";

export interface Placing {
  /** Whether there is something to move, and one may. */
  readonly isPossible: boolean;
  readonly isOn: boolean;
  readonly turn: (isOn: boolean) => void;
  /** Where a person put it; it can be laid out again. */
  readonly isByPerson: boolean;
  /** @param where null gives its place up */
  readonly place: (where: Point | null) => void;
  /** In units of the map. */
  readonly shift: (dx: number, dy: number) => void;
  readonly problem: Refusal | null;
}

interface PlacingOptions {
  readonly networkId: string | null;
  /** Of what is chosen. */
  readonly id: string | null;
  readonly diagram: Diagram;
  /** Asks for the map once more. */
  readonly again: () => void;
}

export function usePlacing({ networkId, id, diagram, again }: PlacingOptions): Placing {
  const [movedId, setMovedId] = useState<string | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  // Keys come faster than answers.
  const lastPlace = useRef<(Point & { readonly id: string }) | null>(null);
  const node = id === null ? undefined : diagram.nodeById.get(id);
  const isPossible = node !== undefined && networkId !== null && !isPast.value && may("setMapPositions");
  const place = (where: Point | null) => {
    if (!isPossible || id === null || networkId === null) return;
    lastPlace.current = where === null ? null : { id, ...where };
    const position = where === null ? null : { x: Math.round(where.x), y: Math.round(where.y) };
    const writing = api.PUT("/api/v1/networks/{id}/map-positions", {
      params: { path: { id: networkId } },
      body: { nodes: { [id]: position } },
    });
    done(writing).then(
      () => {
        setProblem(null);
        again();
      },
      (cause: unknown) => setProblem(asRefusal(cause)),
    );
  };
  return {
    isPossible,
    isOn: isPossible && movedId === id,
    turn: (isOn) => {
      lastPlace.current = null;
      setMovedId(isOn ? id : null);
    },
    isByPerson: node?.node.position.placed === "person",
    place,
    shift: (dx, dy) => {
      const start = lastPlace.current?.id === id ? lastPlace.current : node;
      if (start !== undefined && start !== null) place({ x: start.x + dx, y: start.y + dy });
    },
    problem,
  };
}

export function PlacingTools({ placing }: { readonly placing: Placing }) {
  const { isPossible, isOn, turn, isByPerson, place, problem } = placing;
  if (!isPossible) return null;
  return (
    <div class="map-placing">
      <p class="map-ways">
        <button type="button" aria-pressed={isOn} onClick={() => turn(!isOn)}>
          {isOn ? mapText.placed : mapText.place}
        </button>
        {isByPerson && (
          <button type="button" onClick={() => place(null)}>
            {mapText.layOut}
          </button>
        )}
      </p>
      <p role="status">{isOn ? mapText.placing : ""}</p>
      {problem !== null && <Problem problem={problem} />}
    </div>
  );
}
