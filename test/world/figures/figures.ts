// All figures of a run, collected scan by scan.

import { KINDS, type Kind } from "../oracle/expectation.ts";
import { BCubed } from "./b-cubed.ts";
import { DETAIL_NAMES, type Detail, newDetails } from "./details.ts";
import { Episodes } from "./episodes.ts";
import { Presence, Share } from "./presence.ts";
import { Versions } from "./versions.ts";

/** Names and values of a finished run; shares from 0 to 1, counts unchanged. */
export type FigureValues = Readonly<Record<FigureName, number>>;

export type FigureName =
  | "devicePrecision"
  | "deviceRecall"
  | "stationPrecision"
  | "stationRecall"
  | "wholeDevices"
  | "exactDevices"
  | "correctEnds"
  | Detail
  | `${Kind}Precision`
  | `${Kind}Recall`
  | "presencePrecision"
  | "presenceRecall"
  | "places"
  | "conflictPrecision"
  | "conflictRecall"
  | "unfoundedVersions"
  | "quietVersions"
  | "pastInstants";

export class Figures {
  readonly devices = new BCubed();
  readonly stations = new BCubed();
  readonly presence = Object.fromEntries(KINDS.map((kind) => [kind, new Presence()])) as Readonly<
    Record<Kind, Presence>
  >;
  /** For each scan and device: whether it had exactly the expected records. */
  readonly exactDevices = new Share();
  /** For each record that a scan ended: whether it was no longer expected. */
  readonly correctEnds = new Share();
  readonly details = newDetails();
  readonly conflicts = new Episodes();
  readonly versions = new Versions();
  readonly places = new Share();
  readonly past = new Share();

  values(): FigureValues {
    const byKind = KINDS.flatMap((kind) => [
      [`${kind}Precision`, this.presence[kind].precision],
      [`${kind}Recall`, this.presence[kind].recall],
    ]);
    const mean = (part: "precision" | "recall") =>
      KINDS.reduce((sum, kind) => sum + this.presence[kind][part], 0) / KINDS.length;
    return {
      devicePrecision: this.devices.precision,
      deviceRecall: this.devices.recall,
      stationPrecision: this.stations.precision,
      stationRecall: this.stations.recall,
      wholeDevices: this.devices.whole,
      exactDevices: this.exactDevices.value,
      correctEnds: this.correctEnds.value,
      ...(Object.fromEntries(DETAIL_NAMES.map((name) => [name, this.details[name].value])) as Record<Detail, number>),
      ...(Object.fromEntries(byKind) as Record<`${Kind}${"Precision" | "Recall"}`, number>),
      presencePrecision: mean("precision"),
      presenceRecall: mean("recall"),
      places: this.places.value,
      conflictPrecision: this.conflicts.precision,
      conflictRecall: this.conflicts.recall,
      unfoundedVersions: this.versions.unfoundedShare,
      quietVersions: this.versions.onQuietDays,
      pastInstants: this.past.value,
    };
  }
}
