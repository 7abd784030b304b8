// Repositioning of the selected device on its network's map, for all users and timestamps.

import { useRef, useState } from "preact/hooks";
import { api, asRefusal, done } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { Problem } from "../parts/problem.tsx";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import type { Diagram } from "./diagram.ts";
import type { Point } from "./viewport.ts";

export interface Placing {
  /** Whether a device is selected and the user may move it. */
  readonly isPossible: boolean;
  readonly isOn: boolean;
  readonly turn: (isOn: boolean) => void;
  /** Whether a person set the position, which can be reset. */
  readonly isByPerson: boolean;
  /** @param where null resets the position */
  readonly place: (where: Point | null) => void;
  /** Map units. */
  readonly shift: (dx: number, dy: number) => void;
  readonly problem: Refusal | null;
}

interface PlacingOptions {
  readonly networkId: string | null;
  /** Selected device. */
  readonly id: string | null;
  readonly diagram: Diagram;
  /** Reloads the map. */
  readonly again: () => void;
}

export function usePlacing({ networkId, id, diagram, again }: PlacingOptions): Placing {
  const [movedId, setMovedId] = useState<string | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  // Key presses arrive faster than responses.
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
          {isOn ? "Done" : "Move it"}
        </button>
        {isByPerson && (
          <button type="button" onClick={() => place(null)}>
            Reset layout
          </button>
        )}
      </p>
      <p role="status">
        {isOn
          ? "Drag it, or click where it should go, or move it by the arrow keys once the picture has the focus."
          : ""}
      </p>
      {problem !== null && <Problem problem={problem} />}
    </div>
  );
}
