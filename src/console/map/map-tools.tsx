// Toolbar above the map: search, extent, zoom and download.

import type { MutableRef } from "preact/hooks";
import { ActionButton } from "../components/buttons.tsx";
import { Select } from "../components/select.tsx";
import { counted } from "../text/digits.ts";
import { isolated } from "../text/isolated.ts";
import { at } from "../time/at.ts";
import { go, hrefHere, parameter } from "../url/location.ts";
import type { Diagram } from "./diagram.ts";
import { savePng, saveSvg } from "./export.ts";
import { TimeLapseLink } from "./period-tools.tsx";
import type { Control } from "./picture.ts";
import { ZOOM_STEP } from "./viewport.ts";

/** Subject of the map, without timestamps. */
export interface MapSubject {
  /** The picture keeps its position while this key is the same. */
  readonly key: string;
  readonly hostId: string | null;
  readonly hops: number;
}

interface MapToolsProps {
  readonly diagram: Diagram;
  readonly found: ReadonlySet<string> | null;
  readonly control: MutableRef<Control | null>;
  readonly name: string;
  readonly subject: MapSubject;
  readonly isOverPeriod: boolean;
  /** Called with the first match. */
  readonly onFirst: (id: string) => void;
}

const HOPS = [1, 2, 3, 4, 5];

export function MapTools({ diagram, found, control, name, subject, isOverPeriod, onFirst }: MapToolsProps) {
  const { hostId, hops } = subject;
  const goToFirst = (event: Event) => {
    event.preventDefault();
    const [first] = found ?? [];
    if (first !== undefined) onFirst(first);
  };
  return (
    <div class="map-tools">
      <form onSubmit={goToFirst}>
        <label>
          <span class="visually-hidden">Find on the map</span>
          <input
            type="search"
            placeholder="Find on the map"
            value={parameter("search") ?? ""}
            onInput={({ currentTarget }) => go(hrefHere({ search: currentTarget.value || null }), "replace")}
          />
        </label>
      </form>
      <span role="status">{found === null ? "" : counted(found.size, "device found", "devices found")}</span>
      {hostId === null ? (
        <label>
          <input
            type="checkbox"
            checked={parameter("isolated") === "yes"}
            onChange={({ currentTarget }) => go(hrefHere({ isolated: currentTarget.checked ? "yes" : null }))}
          />{" "}
          Devices without links
        </label>
      ) : (
        <>
          <label>
            Links away{" "}
            <Select
              value={String(hops)}
              choices={HOPS.map(String)}
              onChoose={(value) => go(hrefHere({ hops: value }))}
            />
          </label>
          <a href={hrefHere({ host: null, hops: null, view: null })}>Entire network</a>
        </>
      )}
      {!isOverPeriod && <TimeLapseLink />}
      <span class="map-zoom">
        <ActionButton label="−" aria-label="Zoom out" onClick={() => control.current?.zoom(1 / ZOOM_STEP)} />
        <ActionButton label="+" aria-label="Zoom in" onClick={() => control.current?.zoom(ZOOM_STEP)} />
        <ActionButton label="Show all" onClick={() => control.current?.showAll()} />
        <SaveButtons control={control} name={name} isEmpty={diagram.nodes.length === 0} />
      </span>
    </div>
  );
}

/** Limit for the map's name: file systems allow 255 bytes, and a character takes up to four. */
const FILE_NAME_MAX = 50;

interface SaveButtonsProps {
  readonly control: MutableRef<Control | null>;
  readonly name: string;
  readonly isEmpty: boolean;
}

function SaveButtons({ control, name, isEmpty }: SaveButtonsProps) {
  const time = at.value ?? "now";
  const file = `map-${name.slice(0, FILE_NAME_MAX)}-${time}`.replace(/[^\p{L}\p{N}.-]+/gu, "-");
  const save = (action: (currentControl: Control) => unknown) => () => {
    if (control.current !== null) void action(control.current);
  };
  return (
    <>
      <ActionButton
        label="SVG"
        disabled={isEmpty}
        onClick={save((currentControl) => saveSvg(currentControl, `Map of ${isolated(name)}, ${time}`, file))}
      />
      <ActionButton label="PNG" disabled={isEmpty} onClick={save((currentControl) => savePng(currentControl, file))} />
    </>
  );
}
