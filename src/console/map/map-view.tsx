// Map layout: toolbar, picture, selected device and tables.

import { type MutableRef, useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useKeys } from "../components/keys.ts";
import { groupedDigits } from "../text/digits.ts";
import { isPast, vs } from "../time/at.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { MapCanvas } from "./canvas.tsx";
import { type Diagram, matchesIn, type Presence } from "./diagram.ts";
import { MapLegend } from "./map-legend.tsx";
import { MapTables } from "./map-tables.tsx";
import { type MapSubject, MapTools } from "./map-tools.tsx";
import type { Period } from "./period.ts";
import { PeriodTools } from "./period-tools.tsx";
import type { Control } from "./picture.ts";
import { type Repositioning, RepositioningTools, useRepositioning } from "./repositioning.tsx";
import { SelectedDevice } from "./selected-device.tsx";
import { shortestPath } from "./shortest-path.ts";
import { type Point, ZOOM_STEP } from "./viewport.ts";

interface MapViewProps {
  readonly diagram: Diagram;
  /** Null for one timestamp or a comparison of two. */
  readonly period: Period | null;
  readonly isPeriodLoading: boolean;
  readonly subject: MapSubject;
  readonly name: string;
  /** Network that owns the positions; null if unknown. */
  readonly networkId: string | null;
  /** Reloads the map. */
  readonly retry: () => void;
}

/** Selects a device as a history entry, so that Back undoes it; null clears the selection. */
function choose(id: string | null): void {
  go(hrefHere({ chosen: id }));
}

export function MapView({ diagram, period, isPeriodLoading, subject, name, networkId, retry }: MapViewProps) {
  const control = useRef<Control | null>(null);
  const [selectedId, pathFrom, search] = [parameter("chosen"), parameter("from_device"), parameter("search")];
  const found = useMemo(() => matchesIn(diagram, search), [diagram, search]);
  const path = useMemo(
    () => (pathFrom === null || selectedId === null ? null : shortestPath(diagram, pathFrom, selectedId)),
    [diagram, pathFrom, selectedId],
  );
  const marks = useMemo(() => {
    const ids = (path ?? []).flatMap(({ link, node }) => (link === null ? [node.id] : [node.id, link.id]));
    return { selectedId, found, path: new Set(pathFrom === null ? ids : [pathFrom, ...ids]) };
  }, [selectedId, found, path, pathFrom]);
  const isCompared = period !== null || vs.value !== null;
  const repositioning = useRepositioning({ networkId, id: selectedId, diagram, retry });
  useMapKeys(control, repositioning);
  const press = (id: string | null, point: Point) => {
    // Saves the viewport first, so that Back returns to it.
    control.current?.settle();
    if (repositioning.isOn) repositioning.setPosition(point);
    else choose(id);
  };
  const details = useRef<HTMLDivElement>(null);
  const shouldScroll = useRef(false);
  useLayoutEffect(() => {
    // On narrow screens, the details are far above the table that selected the device.
    const shown = shouldScroll.current ? details.current?.querySelector(".map-chosen") : null;
    shouldScroll.current = false;
    const top = shown?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > window.innerHeight) shown?.scrollIntoView();
  }, [selectedId]);
  const chooseAndCenter = useCallback((id: string) => {
    shouldScroll.current = true;
    control.current?.settle();
    choose(id);
    control.current?.center(id);
  }, []);
  return (
    <div class="map">
      <MapTools
        diagram={diagram}
        found={found}
        control={control}
        name={name}
        subject={subject}
        isOverPeriod={period !== null || isPeriodLoading}
        onFirst={chooseAndCenter}
      />
      {isPeriodLoading && (
        <p class="map-period" role="status">
          Loading the period…
        </p>
      )}
      {period !== null && !isPeriodLoading && <PeriodTools period={period} control={control} />}
      <div class="map-parts">
        <div class="map-picture">
          <MapCanvas
            diagram={diagram}
            marks={marks}
            subject={subject.key}
            draggedId={repositioning.isOn ? selectedId : null}
            control={control}
            onPress={press}
          />
          {isCompared && <ChangeCounts diagram={diagram} />}
          {diagram.nodes.length === 0 && period?.response.truncated !== true && (
            <EmptyNote isPeriod={period !== null} />
          )}
          <MapLegend isCompared={isCompared} isOverPeriod={period !== null} />
        </div>
        <div class="map-details" ref={details}>
          {selectedId !== null && (
            <>
              <SelectedDevice
                diagram={diagram}
                period={period}
                id={selectedId}
                pathFrom={pathFrom}
                path={path}
                onChoose={chooseAndCenter}
              />
              <RepositioningTools repositioning={repositioning} />
            </>
          )}
          <MapTables diagram={diagram} period={period} found={found} onChoose={chooseAndCenter} />
        </div>
      </div>
    </div>
  );
}

/** Shown inside the picture, so that the layout does not shift between timestamps. */
function EmptyNote({ isPeriod }: { readonly isPeriod: boolean }) {
  const text = isPeriod ? "No links in this period." : isPast.value ? "No links at this time." : "No links.";
  return <p class="note map-empty">{text} Links come from LLDP and CDP announcements: scan switches with SNMP.</p>;
}

/** Change counts in words, not only in colors. */
function ChangeCounts({ diagram }: { readonly diagram: Diagram }) {
  const all = [...diagram.nodes, ...diagram.links];
  const count = (value: Presence) => all.filter(({ presence }) => presence === value).length;
  const later = count("later");
  return (
    <p class="map-legend" role="status">
      <ins>{groupedDigits(count("appeared"))} appeared</ins> <del>{groupedDigits(count("vanished"))} vanished</del>
      {later > 0 && <span> {groupedDigits(later)} to appear</span>}
    </p>
  );
}

const STEP_PX = 60;

function useMapKeys(control: MutableRef<Control | null>, { isOn, moveBy }: Repositioning): void {
  const zoomBy = (factor: number) => () => control.current?.zoom(factor);
  // Arrow keys scroll the page unless the picture has focus.
  const move = (key: string, dx: number, dy: number) => ({
    key,
    meaning: "Move the map",
    press: () => {
      if (control.current?.hasFocus() !== true) return false;
      // A device moves in the arrow's direction; otherwise the viewport does.
      if (isOn) moveBy(-dx, -dy);
      else control.current.move(dx, dy);
    },
  });
  useKeys([
    { key: "+", meaning: "Zoom in", press: zoomBy(ZOOM_STEP) },
    { key: "=", meaning: "Zoom in", press: zoomBy(ZOOM_STEP) },
    { key: "-", meaning: "Zoom out", press: zoomBy(1 / ZOOM_STEP) },
    { key: "0", meaning: "Show all", press: () => control.current?.showAll() },
    move("ArrowLeft", STEP_PX, 0),
    move("ArrowRight", -STEP_PX, 0),
    move("ArrowUp", 0, STEP_PX),
    move("ArrowDown", 0, -STEP_PX),
  ]);
}
