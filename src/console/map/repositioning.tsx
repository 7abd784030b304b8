// Repositioning of the selected device on its network's map, for all users and timestamps.

import { useRef, useState } from "preact/hooks";
import { api, asRefusal, unwrap } from "../api/client.ts";
import type { Refusal } from "../api/refusal.ts";
import { ActionButton } from "../components/buttons.tsx";
import { Problem } from "../components/problem.tsx";
import { may } from "../session/me.ts";
import { isPast } from "../time/at.ts";
import type { Diagram } from "./diagram.ts";
import type { Point } from "./viewport.ts";

export interface Repositioning {
  /** Whether a device is selected and the user may move it. */
  readonly isPossible: boolean;
  readonly isOn: boolean;
  readonly toggle: (isOn: boolean) => void;
  /** Whether a user set the position; it can then be reset. */
  readonly isManual: boolean;
  /** @param point null resets the position */
  readonly setPosition: (point: Point | null) => void;
  /** Moves the device by a distance in map units. */
  readonly moveBy: (dx: number, dy: number) => void;
  readonly problem: Refusal | null;
}

interface RepositioningOptions {
  readonly networkId: string | null;
  /** Selected device. */
  readonly id: string | null;
  readonly diagram: Diagram;
  /** Reloads the map. */
  readonly retry: () => void;
}

export function useRepositioning({ networkId, id, diagram, retry }: RepositioningOptions): Repositioning {
  const [movedId, setMovedId] = useState<string | null>(null);
  const [problem, setProblem] = useState<Refusal | null>(null);
  // Key presses arrive faster than responses.
  const lastPosition = useRef<(Point & { readonly id: string }) | null>(null);
  const node = id === null ? undefined : diagram.nodeById.get(id);
  const isPossible = node !== undefined && networkId !== null && !isPast.value && may("setMapPositions");
  const setPosition = (point: Point | null) => {
    if (!isPossible || id === null || networkId === null) return;
    lastPosition.current = point === null ? null : { id, ...point };
    const position = point === null ? null : { x: Math.round(point.x), y: Math.round(point.y) };
    const request = api.PUT("/api/v1/networks/{id}/map-positions", {
      params: { path: { id: networkId } },
      body: { nodes: { [id]: position } },
    });
    unwrap(request).then(
      () => {
        setProblem(null);
        retry();
      },
      (cause: unknown) => setProblem(asRefusal(cause)),
    );
  };
  return {
    isPossible,
    isOn: isPossible && movedId === id,
    toggle: (isOn) => {
      lastPosition.current = null;
      setMovedId(isOn ? id : null);
    },
    isManual: node?.node.position.placed === "person",
    setPosition,
    moveBy: (dx, dy) => {
      const start = lastPosition.current?.id === id ? lastPosition.current : node;
      if (start !== undefined && start !== null) setPosition({ x: start.x + dx, y: start.y + dy });
    },
    problem,
  };
}

export function RepositioningTools({ repositioning }: { readonly repositioning: Repositioning }) {
  const { isPossible, isOn, toggle, isManual, setPosition, problem } = repositioning;
  if (!isPossible) return null;
  return (
    <div class="map-placing">
      <p class="map-ways">
        <ActionButton label={isOn ? "Done" : "Move device"} aria-pressed={isOn} onClick={() => toggle(!isOn)} />
        {isManual && <ActionButton label="Reset layout" onClick={() => setPosition(null)} />}
      </p>
      <p role="status">
        {isOn ? "Drag the device, click its new position, or use the arrow keys while the picture has focus." : ""}
      </p>
      {problem !== null && <Problem problem={problem} />}
    </div>
  );
}
