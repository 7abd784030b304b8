// Layout of the map: toolbar, picture, selected device and tables.

import { type MutableRef, useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { useKeys } from "../parts/keys.ts";
import { groupedDigits } from "../text/digits.ts";
import { isPast, vs } from "../time/at.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import { MapCanvas } from "./canvas.tsx";
import { ChosenDevice } from "./chosen-device.tsx";
import { type Diagram, foundIn, type Presence } from "./diagram.ts";
import { MapKey } from "./map-key.tsx";
import { MapTables } from "./map-tables.tsx";
import { type MapSubject, MapTools } from "./map-tools.tsx";
import type { Period } from "./period.ts";
import { PeriodTools } from "./period-tools.tsx";
import type { Control } from "./picture.ts";
import { type Placing, PlacingTools, usePlacing } from "./placing.tsx";
import { wayBetween } from "./shortest-way.ts";
import { type Point, ZOOM_STEP } from "./viewport.ts";

interface MapViewProps {
  readonly diagram: Diagram;
  /** Null for one timestamp or a comparison of two. */
  readonly period: Period | null;
  readonly isPeriodComing: boolean;
  readonly subject: MapSubject;
  readonly name: string;
  /** Network that owns the positions; null if unknown. */
  readonly networkId: string | null;
  /** Reloads the map. */
  readonly again: () => void;
}

/** Selects a device as a history entry, so that Back undoes it; null clears the selection. */
function choose(id: string | null): void {
  go(hrefHere({ chosen: id }));
}

export function MapView({ diagram, period, isPeriodComing, subject, name, networkId, again }: MapViewProps) {
  const control = useRef<Control | null>(null);
  const [chosenId, wayFrom, sought] = [parameter("chosen"), parameter("from_device"), parameter("search")];
  const found = useMemo(() => foundIn(diagram, sought), [diagram, sought]);
  const way = useMemo(
    () => (wayFrom === null || chosenId === null ? null : wayBetween(diagram, wayFrom, chosenId)),
    [diagram, wayFrom, chosenId],
  );
  const marks = useMemo(() => {
    const ids = (way ?? []).flatMap(({ over, node }) => (over === null ? [node.id] : [node.id, over.id]));
    return { chosenId, found, way: new Set(wayFrom === null ? ids : [wayFrom, ...ids]) };
  }, [chosenId, found, way, wayFrom]);
  const isCompared = period !== null || vs.value !== null;
  const placing = usePlacing({ networkId, id: chosenId, diagram, again });
  useMapKeys(control, placing);
  const press = (id: string | null, where: Point) => {
    // Saves the viewport first, so that Back returns to it.
    control.current?.settle();
    if (placing.isOn) placing.place(where);
    else choose(id);
  };
  const beside = useRef<HTMLDivElement>(null);
  const isSought = useRef(false);
  useLayoutEffect(() => {
    // On narrow screens, the details are far above the table that selected the device.
    const shown = isSought.current ? beside.current?.querySelector(".map-chosen") : null;
    isSought.current = false;
    const top = shown?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > window.innerHeight) shown?.scrollIntoView();
  }, [chosenId]);
  const chooseAndCentre = useCallback((id: string) => {
    isSought.current = true;
    control.current?.settle();
    choose(id);
    control.current?.centre(id);
  }, []);
  return (
    <div class="map">
      <MapTools
        diagram={diagram}
        found={found}
        control={control}
        name={name}
        subject={subject}
        isOverPeriod={period !== null || isPeriodComing}
        onFirst={chooseAndCentre}
      />
      {isPeriodComing && (
        <p class="map-period" role="status">
          Looking through the period…
        </p>
      )}
      {period !== null && !isPeriodComing && <PeriodTools period={period} control={control} />}
      <div class="map-parts">
        <div class="map-picture">
          <MapCanvas
            diagram={diagram}
            marks={marks}
            subject={subject.key}
            carriedId={placing.isOn ? chosenId : null}
            control={control}
            onPress={press}
          />
          {isCompared && <Counts diagram={diagram} />}
          {diagram.nodes.length === 0 && period?.answer.truncated !== true && <Empty isPeriod={period !== null} />}
          <MapKey isCompared={isCompared} isOverPeriod={period !== null} />
        </div>
        <div class="map-beside" ref={beside}>
          {chosenId !== null && (
            <>
              <ChosenDevice
                diagram={diagram}
                period={period}
                id={chosenId}
                wayFrom={wayFrom}
                way={way}
                onChoose={chooseAndCentre}
              />
              <PlacingTools placing={placing} />
            </>
          )}
          <MapTables diagram={diagram} period={period} found={found} onChoose={chooseAndCentre} />
        </div>
      </div>
    </div>
  );
}

/** Inside the picture, so that the layout does not shift between timestamps. */
function Empty({ isPeriod }: { readonly isPeriod: boolean }) {
  const said = isPeriod
    ? "No links were known here in this period."
    : isPast.value
      ? "No links were known here then."
      : "No links are known here.";
  return (
    <p class="note map-empty">
      {said} Links come from what devices tell of their neighbors by LLDP and CDP: scan switches with SNMP.
    </p>
  );
}

/** Change counts in words as well as in colors. */
function Counts({ diagram }: { readonly diagram: Diagram }) {
  const all = [...diagram.nodes, ...diagram.links];
  const count = (wanted: Presence) => all.filter(({ presence }) => presence === wanted).length;
  const later = count("later");
  return (
    <p class="map-legend" role="status">
      <ins>{groupedDigits(count("appeared"))} appeared</ins> <del>{groupedDigits(count("vanished"))} vanished</del>
      {later > 0 && <span> {groupedDigits(later)} still to come</span>}
    </p>
  );
}

const STEP = 60;

function useMapKeys(control: MutableRef<Control | null>, placing: Placing): void {
  const latest = useRef(placing);
  latest.current = placing;
  const keys = useMemo(() => {
    const zoom = (key: string, factor: number, meaning: string) => ({
      key,
      meaning,
      press: () => control.current?.zoom(factor),
    });
    // Arrow keys scroll the page unless the picture has focus.
    const move = (key: string, dx: number, dy: number) => ({
      key,
      meaning: "Move the map",
      press: () => {
        if (control.current?.hasFocus() !== true) return false;
        // A device moves in the arrow's direction; otherwise the viewport does.
        if (latest.current.isOn) latest.current.shift(-dx, -dy);
        else control.current.move(dx, dy);
      },
    });
    return [
      zoom("+", ZOOM_STEP, "Zoom in"),
      zoom("=", ZOOM_STEP, "Zoom in"),
      zoom("-", 1 / ZOOM_STEP, "Zoom out"),
      { key: "0", meaning: "Show all", press: () => control.current?.showAll() },
      move("ArrowLeft", STEP, 0),
      move("ArrowRight", -STEP, 0),
      move("ArrowUp", 0, STEP),
      move("ArrowDown", 0, -STEP),
    ];
  }, [control]);
  useKeys(keys);
}
